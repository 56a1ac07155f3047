package import NavigationCore
import RuntimePaths
import ZeroMQ

extension NavigationConnection {
  /// One request without a session, and its way to the daemon that has its nav.
  private struct Exchange {
    let verb: ClientVerb
    let id: UInt64
    let body: [UInt8]
    /// The number of sends, less the refusals by daemons that do not have the nav.
    var unrefusedSends = 0
    /// The newest answer of a daemon that does not have the nav.
    var lastRefusal: Reply?
    /// The number of times that the client went to another daemon.
    var moves = 0
    /// When the client sends the request again to a nav without an owner; nil without that wait.
    var pausedUntil: UInt64?
    /// The number of failed attempts to connect to the daemon that another one named.
    var failures = 0
    /// The time by which that connection must be established; nil while it is.
    var connectDeadline: UInt64?

    /// The earlier of `pausedUntil` and `connectDeadline`; nil without either.
    var wakeAt: UInt64? { [pausedUntil, connectDeadline].compactMap { $0 }.min() }
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
        if let reply = try handle(event, &exchange) { return reply }
      }
      if let time = exchange.pausedUntil, Deadline(at: time).hasPassed {
        exchange.pausedUntil = nil
        try send(&exchange)
      }
      if let time = exchange.connectDeadline, Deadline(at: time).hasPassed {
        returnToConfigured(&exchange)
      }
      guard !deadline.hasPassed else {
        if let refusal = exchange.lastRefusal { return refusal }
        throw timeoutError(isChange: verb == .op)
      }
    }
  }

  private mutating func send(_ exchange: inout Exchange) throws(ConnectionError) {
    // Without a session, the client has seen nothing.
    let row: UInt64? = exchange.unrefusedSends > 0 ? 0 : nil
    let body = ClientMessageWriter.repeated(exchange.verb, exchange.body, seenRow: row)
    try send(exchange.verb, body)
    exchange.unrefusedSends += 1
  }

  /// Handles an event of the link; returns the reply to the request if the event has it.
  private mutating func handle(
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
      exchange.connectDeadline = nil
      if exchange.pausedUntil == nil { try send(&exchange) }
    case .connectFailed where exchange.moves > 0:
      exchange.failures += 1
      if exchange.failures == ClusterReplica.unreachableFailures { returnToConfigured(&exchange) }
    case .refused where exchange.moves > 0: returnToConfigured(&exchange)
    case .cannotOpenSocket: returnToConfigured(&exchange)
    case .message, .unreadable, .disconnected, .refused, .connectFailed:
      try throwIfHopeless(on: event)
    }
    return nil
  }

  /// Connects to the daemon that a refusal names, or waits; false if the caller gets the refusal.
  private mutating func follow(
    _ refusal: ErrReply, _ exchange: inout Exchange, _ reply: Reply
  ) throws(ConnectionError) -> Bool {
    guard let whereabouts = refusal.whereabouts, exchange.moves < Self.maximumMoves else {
      return false
    }
    exchange.lastRefusal = reply
    exchange.unrefusedSends -= 1
    let now = SystemClock.bootMilliseconds()
    switch whereabouts {
    case .unowned(let after): exchange.pausedUntil = now + max(after, 10)
    case .moved(let address):
      exchange.moves += 1
      exchange.failures = 0
      // The first two at once, then ever more slowly, because the daemons name each other.
      let pause = exchange.moves <= 2 ? 0 : Self.movePauses.pause(after: exchange.moves - 2)
      exchange.connectDeadline = now + pause + ClusterReplica.unreachableMilliseconds
      links.connect(.first, to: address, at: now + pause)
    }
    return true
  }

  /// Connects to the configured addresses again, because the daemon that another one named is lost.
  private mutating func returnToConfigured(_ exchange: inout Exchange) {
    exchange.moves += 1
    exchange.failures = 0
    exchange.connectDeadline = nil
    let pause = Self.movePauses.pause(after: exchange.moves)
    links.connect(.first, to: nil, at: SystemClock.bootMilliseconds() + pause)
  }

  /// The first and the longest pause between moves, in milliseconds.
  private static let movePauses: ClosedRange<UInt64> = 50...800
}

/// The reply of the daemon to a ping.
package struct Pong: Hashable, Sendable {
  /// The id of the daemon's run, which changes with each start.
  package var boot: Epoch
  /// The daemon's wall clock, in milliseconds since 1970.
  package var millisecondsSince1970: UInt64
}

extension NavigationConnection {
  /// Sends a ping and waits for the daemon's answer; the connection must have no session.
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
        case .message(.pong(id, let boot, let time), _, _):
          return Pong(boot: boot, millisecondsSince1970: time)
        case .connected: try send(.ping, body)
        case .message, .unreadable, .disconnected, .refused, .connectFailed, .cannotOpenSocket:
          try throwIfHopeless(on: event)
        }
      }
      guard !deadline.hasPassed else { throw timeoutError(isChange: false) }
    }
  }

  /// Sends a long read, such as a backup, and polls its progress; no session may be open.
  ///
  /// After a loss of the connection, the client waits `defaultTimeout` for the daemon, and sends the
  /// request again. It sends `question` first and then `interval` after each reply to `question`;
  /// `report` gets these replies.
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
        case .message, .unreadable, .refused, .connectFailed, .cannotOpenSocket:
          try throwIfHopeless(on: event)
        }
      }
      guard !limit.hasPassed else { throw timeoutError(isChange: false) }
    }
  }
}
