import CLinux
package import NavigationSync

extension NavigationConnection {
  /// Opens a session, and waits until it is open.
  ///
  /// - Parameter timeout: how long to wait.
  /// - Throws: `noAnswer`, or `closed` when the daemon refuses.
  package mutating func openSession(
    timeout: Duration = defaultTimeout
  ) throws(ConnectionError) {
    guard !hasSession else { return }
    hasSession = true
    let deadline = Deadline(timeout)
    try interpret(session.connected(at: monotonicMilliseconds()), body: [])
    while session.phase != .open {
      try turn(until: deadline)
      guard session.phase == .open || !deadline.hasPassed else {
        throw timeUp(isChange: false)
      }
    }
  }

  /// Follows a nav; what it is, and every change, comes out of `next`.
  ///
  /// - Parameters:
  ///   - nav: the name of the nav.
  ///   - view: what to follow of it.
  ///   - mirror: a stored mirror to resume from.
  ///   - start: without a mirror, where one was; the snapshot then says what is wrong with it.
  /// - Throws: `system` when it cannot be handed over.
  package mutating func watch(
    _ nav: String, view: View = .full, mirror: Mirror? = nil, start: MirrorPosition? = nil
  ) throws(ConnectionError) {
    try interpret(session.watch(nav, view: view, mirror: mirror, start: start), body: [])
  }

  /// Stops following a nav.
  package mutating func unwatch(_ nav: String, view: View = .full) throws(ConnectionError) {
    try interpret(session.unwatch(nav, view: view), body: [])
  }

  /// Sends a change without waiting for its answer, which `next` tells.
  ///
  /// - Parameters:
  ///   - request: all but the id and the operations, which are not looked at.
  ///   - operations: one JSON object an operation.
  /// - Returns: the id that the answer will carry.
  /// - Throws: `system` when it cannot be handed over.
  package mutating func submit(
    _ request: OpRequest, operations: [[UInt8]]
  ) throws(ConnectionError) -> UInt64 {
    let (id, outputs) = session.perform(request, operations: operations)
    try interpret(outputs, body: [])
    return id
  }

  /// Whether the display lease of a nav is held, as far as is known.
  package func holdsLease(of nav: String) -> Bool { session.holdsLease(of: nav) }

  /// The mirror of a watched nav, and whether guards may be built from it.
  package func replica(of nav: String) -> Replica? { session.replica(of: nav) }

  /// Plays roles for a nav, in this session and those after it; `nextEvent` tells the questions.
  package mutating func delegate(
    _ nav: String, _ registration: DelegateRegistration
  ) throws(ConnectionError) {
    try interpret(session.delegate(nav, registration), body: [])
  }

  /// Answers a question with a JSON value; too late, it is dropped.
  package mutating func answer(_ ask: AskID, value: [UInt8]) throws(ConnectionError) {
    try interpret(session.answer(ask, value: value), body: [])
  }

  /// Takes the display lease of a nav or gives it back; `nextEvent` tells what became of it.
  package mutating func lease(
    _ nav: String, _ wish: LeaseWish, isKept: Bool = false
  ) throws(ConnectionError) {
    try interpret(session.lease(nav, wish, isKept: isKept), body: [])
  }

  /// Waits for the next thing to tell of a session without roles and leases.
  ///
  /// What is told about those is passed over.
  ///
  /// - Parameter timeout: how long at most; nil for ever.
  /// - Returns: what happened; nil when time is up.
  /// - Throws: `closed` when the session is over for good and everything was told.
  package mutating func next(timeout: Duration? = nil) throws(ConnectionError) -> SessionEvent? {
    let deadline = timeout.map { Deadline($0) }
    while true {
      guard let event = try nextEvent(until: deadline) else { return nil }
      if case .session(let event) = event { return event }
    }
  }

  /// Waits for the next thing to tell.
  ///
  /// - Parameter timeout: how long at most; nil for ever.
  /// - Returns: what happened; nil when time is up or the descriptor of `connect` woke this.
  /// - Throws: `closed` when the session is over for good and everything was told.
  package mutating func nextEvent(
    timeout: Duration? = nil
  ) throws(ConnectionError) -> ConnectionEvent? {
    try nextEvent(until: timeout.map { Deadline($0) })
  }

  private mutating func nextEvent(
    until deadline: Deadline?
  ) throws(ConnectionError) -> ConnectionEvent? {
    while true {
      if !events.isEmpty { return events.removeFirst() }
      try turn(until: deadline)
      guard events.isEmpty else { continue }
      if isWoken || deadline?.hasPassed == true { return nil }
    }
  }

  /// Whether the descriptor that ends a wait can be read.
  private var isWoken: Bool {
    guard let wake else { return false }
    var entry = pollfd(fd: wake, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&entry, 1, 0) > 0
  }

  /// Says bye and stops; the daemon forgets the session at once.
  ///
  /// Waits a moment for the answer: what a process sent and has not left yet when it ends is lost.
  package mutating func leave() throws(ConnectionError) {
    guard hasSession else { return }
    let farewell = session.leave()
    guard !farewell.isEmpty else { return }
    try interpret(farewell, body: [])
    let deadline = Deadline(.seconds(1))
    while !deadline.hasPassed {
      for event in try wait(until: deadline) where Self.endsLeave(event) { return }
    }
  }

  /// Whether nothing more is to be awaited after a bye: only its answer is about nothing.
  private static func endsLeave(_ event: Link.Event) -> Bool {
    switch event {
    case .message(.ok(let reply), _, _): reply.nav == nil && reply.value == nil
    case .disconnected, .refused: true
    case .message, .unreadable, .connected: false
    }
  }

  mutating func awaitReply(
    _ id: UInt64, _ outputs: [SessionOutput], until deadline: Deadline, isChange: Bool,
    whenQueued: (UInt64) -> Void = { _ in }
  ) throws(ConnectionError) -> Reply {
    awaited.insert(id)
    defer { awaited.remove(id) }
    try interpret(outputs, body: [])
    while true {
      while let position = takeQueued(id) { whenQueued(position) }
      if let reply = replies.removeValue(forKey: id) { return reply }
      guard !deadline.hasPassed else {
        _ = session.forget(id)
        throw timeUp(isChange: isChange)
      }
      try turn(until: deadline)
    }
  }

  /// The place at which a request waits, if that was told and nobody has taken it yet.
  private mutating func takeQueued(_ id: UInt64) -> UInt64? {
    for (index, event) in events.enumerated() {
      guard case .session(.queued(id, let position)) = event else { continue }
      events.remove(at: index)
      return position
    }
    return nil
  }

  /// Waits once and does everything that follows.
  private mutating func turn(until deadline: Deadline?) throws(ConnectionError) {
    if case .closed = session.phase { throw .unreachable(endpoint: endpoint) }
    let now = monotonicMilliseconds()
    if let at = reconnectAt, at <= now {
      reconnectAt = nil
      link = try Self.open(endpoint, as: identity, wake: wake)
    }
    let timer = reconnectAt ?? session.wakeAt
    let limit = deadline ?? Deadline(at: .max)
    for event in try wait(until: limit.earlier(than: timer)) { try handle(event) }
    try interpret(session.tick(at: monotonicMilliseconds()), body: [])
    try interpret(session.confirm(), body: [])
  }

  private mutating func handle(_ event: Link.Event) throws(ConnectionError) {
    guard reconnectAt == nil else { return }
    let now = monotonicMilliseconds()
    switch event {
    case .message(let message, let verb, let body):
      let outputs = session.receive(message, verb: verb, octets: body.count, at: now)
      try interpret(outputs, body: body)
    case .unreadable: try interpret(session.receiveUnreadable(at: now), body: [])
    case .connected: try interpret(session.connected(at: now), body: [])
    case .disconnected: try interpret(session.disconnected(), body: [])
    case .refused(let refusal): throw .refused(endpoint: endpoint, refusal)
    }
  }

  private mutating func interpret(
    _ outputs: [SessionOutput], body: [UInt8]
  ) throws(ConnectionError) {
    for output in outputs {
      switch output {
      case .send(let verb, let body): try send(verb, body)
      case .reconnect(let at):
        link.dropUnsent()
        reconnectAt = at
      case .move(let endpoint, let at):
        link.dropUnsent()
        self.endpoint = endpoint
        reconnectAt = at
      case .event(.closed(let end)): throw .closed(end)
      case .event(.answered(let id, let result)) where awaited.contains(id):
        replies[id] = Reply(result: result, body: body)
      case .event(let event): events.append(.session(event))
      case .duty(let event): events.append(.duty(event))
      }
    }
  }
}

/// What `nextEvent` tells.
package enum ConnectionEvent: Sendable {
  /// About the session, its watches and requests.
  case session(SessionEvent)
  /// About roles as a delegate and display leases.
  case duty(DutyEvent)
}
