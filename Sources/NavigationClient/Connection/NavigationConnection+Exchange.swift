import NavigationCore
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
    guard body.count <= ErrReply.usualMaximumBody else {
      let refusal = ErrReply.tooLarge(id, body.count, limit: ErrReply.usualMaximumBody)
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
    let now = monotonicMilliseconds()
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
    links.connect(.first, to: nil, at: monotonicMilliseconds() + pause)
  }

  /// The pauses between moves, in milliseconds.
  private static let pauses: ClosedRange<UInt64> = 50...800
}
