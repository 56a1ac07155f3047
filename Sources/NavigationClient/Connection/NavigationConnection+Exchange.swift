package import NavigationCore
import RuntimePaths
import ZeroMQ

extension NavigationConnection {
  /// The state of one request without a session, on its way to the daemon that has its nav.
  private struct Exchange {
    let verb: ClientVerb
    let id: UInt64
    let body: [UInt8]
    /// How often it was sent, except where a daemon answered that it had not performed it.
    var sends = 0
    /// The newest answer of a daemon that does not have the nav.
    var refused: Reply?
    /// The number of daemons that named another one.
    var moves = 0
    /// Until when the request waits; nil if it is sent.
    var pausedUntil: UInt64?
    /// The number of failed attempts to connect to the daemon that was named.
    var failures = 0
    /// Until when that daemon may take to accept a connection; nil if it has.
    var connectsUntil: UInt64?

    /// When something is due; nil if nothing is.
    var wakeAt: UInt64? { [pausedUntil, connectsUntil].compactMap { $0 }.min() }
  }

  /// After how many daemons that name another one the answer `moved` is returned.
  private static let maximumMoves = 16

  /// One round trip without a session; after a loss, the request is sent again.
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
      if let time = exchange.connectsUntil, Deadline(at: time).hasPassed { goHome(&exchange) }
      guard !deadline.hasPassed else {
        if let refused = exchange.refused { return refused }
        throw timeUp(isChange: verb == .op)
      }
    }
  }

  private mutating func send(_ exchange: inout Exchange) throws(ConnectionError) {
    // Without a session, the client has seen nothing.
    let seen: UInt64? = exchange.sends > 0 ? 0 : nil
    try send(exchange.verb, ClientMessageWriter.again(exchange.verb, exchange.body, seen: seen))
    exchange.sends += 1
  }

  /// Handles an event of the link; returns the reply if this is it.
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
      if exchange.failures == ClusterReplica.unreachableFailures { goHome(&exchange) }
    case .refused where exchange.moves > 0: goHome(&exchange)
    case .impossible: goHome(&exchange)
    case .message, .unreadable, .disconnected, .refused, .failed: try endRequest(on: event)
    }
    return nil
  }

  /// Goes to the daemon that has the nav; returns false if the refusal is the answer.
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

  /// Asks at the configured addresses again, because the daemon that was named is not there.
  private mutating func goHome(_ exchange: inout Exchange) {
    exchange.moves += 1
    exchange.failures = 0
    exchange.connectsUntil = nil
    let pause = Self.pauses.pause(after: exchange.moves)
    links.connect(.first, to: nil, at: SystemClock.bootMilliseconds() + pause)
  }

  /// The pauses between moves, in milliseconds.
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
  /// Checks that the daemon's loop runs; not within a session, which sends heartbeats by itself.
  package mutating func ping(
    timeout: Duration = defaultTimeout
  ) throws(ConnectionError) -> Pong {
    precondition(!hasSession, "a ping within a session")
    let deadline = Deadline(timeout)
    let id = takeID()
    let body = ClientMessageWriter.id(id)
    try send(.ping, body)
    while true {
      for event in try wait(until: deadline) {
        switch event {
        case .message(.pong(id, let boot, let time), _, _): return Pong(boot: boot, time: time)
        case .connected: try send(.ping, body)
        case .message, .unreadable, .disconnected, .refused, .failed, .impossible:
          try endRequest(on: event)
        }
      }
      guard !deadline.hasPassed else { throw timeUp(isChange: false) }
    }
  }

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
