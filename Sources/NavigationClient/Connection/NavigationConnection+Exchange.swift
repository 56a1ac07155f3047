package import NavigationCore
import RuntimePaths
import ZeroMQ

extension NavigationConnection {
  /// One request without a session, and its way to the daemon that has its nav.
  private struct Exchange {
    let verb: ClientVerb
    let id: UInt64
    let body: [UInt8]
    /// How often the client has sent the request, less the answers that it was not performed.
    var sends = 0
    /// The newest answer of a daemon that does not have the nav.
    var refused: Reply?
    /// The number of times that the client went to another daemon.
    var moves = 0
    /// When the client sends the request again; nil if it waits for no daemon.
    var pausedUntil: UInt64?
    /// The number of failed attempts to connect to the daemon that another one named.
    var failures = 0
    /// The deadline of the connection to that daemon; nil if there is one.
    var connectsUntil: UInt64?

    /// The earlier of `pausedUntil` and `connectsUntil`; nil without either.
    var wakeAt: UInt64? { [pausedUntil, connectsUntil].compactMap { $0 }.min() }
  }

  /// The number of moves after which the client returns the answer `moved` to its caller.
  private static let maximumMoves = 16

  /// Performs one round trip without a session; after a reconnect, it sends the request again.
  ///
  /// If a daemon names another one (`moved`), the function connects to it. If the nav has no daemon
  /// for now (`busy`, `no-owner`), it asks again until the deadline.
  mutating func exchange(
    _ verb: ClientVerb, _ id: UInt64, _ body: [UInt8], until deadline: Deadline
  ) throws(ConnectionError) -> Reply {
    guard body.count <= ErrReply.defaultMaximumBody else {
      let refusal = ErrReply.tooLarge(id, body.count, limit: ErrReply.defaultMaximumBody)
      return Reply(result: .failure(refusal), body: refusal.body.bytes)
    }
    var exchange = Exchange(verb: verb, id: id, body: body)
    try send(&exchange)
    while true {
      for event in try wait(until: deadline.earlier(than: exchange.wakeAt)) {
        if let reply = try take(event, &exchange) { return reply }
      }
      if let time = exchange.pausedUntil, Deadline(at: time).hasPassed {
        exchange.pausedUntil = nil
        try send(&exchange)
      }
      if let time = exchange.connectsUntil, Deadline(at: time).hasPassed {
        returnToConfigured(&exchange)
      }
      guard !deadline.hasPassed else {
        if let refused = exchange.refused { return refused }
        throw timeoutError(isChange: verb == .op)
      }
    }
  }

  private mutating func send(_ exchange: inout Exchange) throws(ConnectionError) {
    // Without a session, the client has seen nothing.
    let seen: UInt64? = exchange.sends > 0 ? 0 : nil
    try send(exchange.verb, ClientMessageWriter.again(exchange.verb, exchange.body, seen: seen))
    exchange.sends += 1
  }

  /// Handles an event of the link; returns the reply to the request if the event has it.
  private mutating func take(
    _ event: Link.Event, _ exchange: inout Exchange
  ) throws(ConnectionError) -> Reply? {
    switch event {
    case .message(.ok(let reply), _, let body) where reply.id == exchange.id:
      return Reply(result: .success(reply), body: body)
    // An `err` for an unreadable request has no id; it is this request's, as no other is pending.
    case .message(.err(let refusal), _, let body)
    where refusal.id == exchange.id || refusal.id == nil:
      let reply = Reply(result: .failure(refusal), body: body)
      return try follow(refusal, &exchange, reply) ? nil : reply
    case .connected:
      exchange.failures = 0
      exchange.connectsUntil = nil
      if exchange.pausedUntil == nil { try send(&exchange) }
    case .failed where exchange.moves > 0:
      exchange.failures += 1
      if exchange.failures == ClusterReplica.unreachableFailures { returnToConfigured(&exchange) }
    case .refused where exchange.moves > 0: returnToConfigured(&exchange)
    case .cannotConnect: returnToConfigured(&exchange)
    case .message, .unreadable, .disconnected, .refused, .failed: try throwIfHopeless(on: event)
    }
    return nil
  }

  /// Connects to the daemon that a refusal names; returns false if it is the answer for the caller.
  private mutating func follow(
    _ refusal: ErrReply, _ exchange: inout Exchange, _ reply: Reply
  ) throws(ConnectionError) -> Bool {
    guard let whereabouts = refusal.whereabouts, exchange.moves < Self.maximumMoves else {
      return false
    }
    exchange.refused = reply
    exchange.sends -= 1
    let now = SystemClock.bootMilliseconds()
    switch whereabouts {
    case .unowned(let after): exchange.pausedUntil = now + max(after, 10)
    case .moved(let address):
      exchange.moves += 1
      exchange.failures = 0
      // The first two at once, then ever more slowly, because the daemons name each other.
      let pause = exchange.moves <= 2 ? 0 : Self.pauses.pause(after: exchange.moves - 2)
      exchange.connectsUntil = now + pause + ClusterReplica.unreachableMilliseconds
      links.connect(.first, to: address, at: now + pause)
    }
    return true
  }

  /// Connects to the configured addresses again, because the daemon that another one named is lost.
  private mutating func returnToConfigured(_ exchange: inout Exchange) {
    exchange.moves += 1
    exchange.failures = 0
    exchange.connectsUntil = nil
    let pause = Self.pauses.pause(after: exchange.moves)
    links.connect(.first, to: nil, at: SystemClock.bootMilliseconds() + pause)
  }

  /// The first and the longest pause between moves, in milliseconds.
  private static let pauses: ClosedRange<UInt64> = 50...800
}

/// The reply of the daemon to a ping.
package struct Pong: Hashable, Sendable {
  /// The id of the daemon's run, which changes with each start.
  package var boot: Epoch
  /// The daemon's wall clock, in milliseconds since 1970.
  package var time: UInt64
}

extension NavigationConnection {
  /// Sends a ping and waits for the daemon's answer; without a session only.
  package mutating func ping(
    timeout: Duration = defaultTimeout
  ) throws(ConnectionError) -> Pong {
    precondition(!hasSession, "a ping within a session")
    let deadline = Deadline(timeout)
    let id = takeID()
    let body = ClientMessageWriter.pingOrBye(id: id)
    try send(.ping, body)
    while true {
      for event in try wait(until: deadline) {
        switch event {
        case .message(.pong(id, let boot, let time), _, _): return Pong(boot: boot, time: time)
        case .connected: try send(.ping, body)
        case .message, .unreadable, .disconnected, .refused, .failed, .cannotConnect:
          try throwIfHopeless(on: event)
        }
      }
      guard !deadline.hasPassed else { throw timeoutError(isChange: false) }
    }
  }

  /// Sends a read that takes long, such as a backup, and polls its progress; without a session.
  ///
  /// After a loss of the connection, the client waits `defaultTimeout` for the daemon, and sends the
  /// request again. `question` polls the progress, `interval` after each reply to it; `report` gets
  /// these replies.
  package mutating func get(
    _ request: GetRequest, timeout: Duration, polling question: GetRequest?,
    every interval: Duration,
    report: (OkReply) -> Void
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
      for event in try wait(until: limit.earlier(than: next?.milliseconds)) {
        switch event {
        case .message(.ok(let reply), _, let body) where reply.id == request.id:
          return Reply(result: .success(reply), body: body)
        case .message(.err(let refusal), _, let body) where refusal.id == request.id:
          return Reply(result: .failure(refusal), body: body)
        case .message(.ok(let reply), _, _) where reply.id == question?.id:
          report(reply)
          next = Deadline(interval)
        case .message(.err(let refusal), _, _) where refusal.id == question?.id:
          next = Deadline(interval)
        case .connected:
          try send(.get, body)
          limit = deadline
          next = question.map { _ in Deadline(interval) }
        case .disconnected:
          limit = Deadline(Self.defaultTimeout).earlier(than: deadline.milliseconds)
        case .message, .unreadable, .refused, .failed, .cannotConnect:
          try throwIfHopeless(on: event)
        }
      }
      guard !limit.hasPassed else { throw timeoutError(isChange: false) }
    }
  }
}
