package import NavigationCore

extension NavigationConnection {
  /// Sends a read that takes long, such as a backup, and polls its progress; without a session.
  ///
  /// After a loss of the connection, the daemon has `defaultTimeout` to come back; the request is
  /// then sent again.
  /// `question` polls the progress, `interval` after each reply to it; `tell` gets these replies.
  package mutating func get(
    _ request: GetRequest, timeout: Duration, asking question: GetRequest?,
    every interval: Duration,
    tell: (OkReply) -> Void
  ) throws(ConnectionError) -> Reply {
    precondition(!hasSession, "progress is asked for without a session")
    let deadline = Deadline(timeout)
    var request = request
    request.id = takeID()
    let body = ClientMessageWriter.message(request)
    try send(.get, body)
    var question = question
    var limit = deadline
    // When to poll next; nil while a poll has no reply yet.
    var next: Deadline? = question.map { _ in Deadline(.zero) }
    while true {
      if next?.hasPassed == true, question != nil {
        next = nil
        let id = takeID()
        question?.id = id
        if let question { try send(.get, ClientMessageWriter.message(question)) }
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
        case .message, .unreadable, .refused, .failed, .impossible: try endRequest(on: event)
        }
      }
      guard !limit.hasPassed else { throw timeUp(isChange: false) }
    }
  }
}
