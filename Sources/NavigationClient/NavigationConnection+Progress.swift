package import NavigationSync

extension NavigationConnection {
  /// Reads once what takes long, and asks meanwhile how far it has come; without a session.
  ///
  /// A daemon that goes away has the time of a usual request to come back, and is asked again.
  /// - Parameters:
  ///   - request: what to read; its id is filled in here.
  ///   - timeout: how long to wait for the answer.
  ///   - question: what to ask meanwhile, at once and then again and again; nil for nothing.
  ///   - interval: how long to wait between an answer to the question and the next one.
  ///   - tell: told each answer to the question.
  /// - Returns: what the daemon answered to the request.
  /// - Throws: `noAnswer` when time is up, else what became of the connection.
  package mutating func get(
    _ request: GetRequest, timeout: Duration, asking question: GetRequest?,
    every interval: Duration,
    tell: (OkReply) -> Void
  ) throws(ConnectionError) -> Reply {
    precondition(!hasSession, "progress is asked for without a session")
    let deadline = Deadline(timeout)
    var request = request
    request.id = takeID()
    let body = ClientMessageWriter.get(request)
    try send(.get, body)
    var question = question
    var limit = deadline
    // Nil while an answer is awaited.
    var next: Deadline? = question.map { _ in Deadline(.zero) }
    while true {
      if next?.hasPassed == true, question != nil {
        next = nil
        let id = takeID()
        question?.id = id
        if let question { try send(.get, ClientMessageWriter.get(question)) }
      }
      for event in try wait(until: next.map { $0.earlier(than: limit) } ?? limit) {
        switch event {
        case .message(.ok(let reply), _, let body) where reply.id == request.id:
          return Reply(result: .success(reply), body: body)
        case .message(.err(let refusal), _, let body) where refusal.id == request.id:
          return Reply(result: .failure(refusal), body: body)
        case .message(.ok(let reply), _, _) where reply.id == question?.id:
          tell(reply)
          next = Deadline(interval)
        case .message(.err(let refusal), _, _) where refusal.id == question?.id:
          next = Deadline(interval)
        case .connected:
          try send(.get, body)
          limit = deadline
          next = question.map { _ in Deadline(interval) }
        case .disconnected: limit = deadline.earlier(than: Deadline(Self.defaultTimeout))
        case .message, .unreadable, .refused: try endRequest(on: event)
        }
      }
      guard !limit.hasPassed else { throw timeUp(isChange: false) }
    }
  }
}
