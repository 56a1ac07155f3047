import CLinux
package import NavigationCore
import RuntimePaths
package import ZeroMQ

extension NavigationConnection {
  /// Opens a session and waits for the daemon's `welcome`; throws `closed` if the daemon refuses
  /// it.
  package mutating func openSession(
    timeout: Duration = defaultTimeout
  ) throws(ConnectionError) {
    guard !hasSession else { return }
    hasSession = true
    let deadline = Deadline(timeout)
    try interpret(
      cluster.connected(.first, to: links.place(of: .first), at: SystemClock.bootMilliseconds()))
    try awaitSession(until: deadline, or: .noAnswer(endpoint: endpoint, isChange: false))
  }

  /// Asks the sessions for a watch, a duty or its end; `next` returns what follows.
  package mutating func request(
    _ body: (inout ClusterReplica) -> [ClusterOutput]
  ) throws(ConnectionError) {
    try interpret(body(&cluster))
  }

  /// Sends a change without waiting, and returns its id; `next` returns its reply.
  ///
  /// The id and the operations of `request` are ignored. `operations` has one JSON object for each.
  /// Behind `limit`, a change that is not under way is `expired`.
  package mutating func submit(
    _ request: OpRequest, operations: [[UInt8]], within limit: Duration? = nil
  ) throws(ConnectionError) -> UInt64 {
    let (id, outputs) = cluster.perform(request, operations, within: limit, at: endpoint)
    try interpret(outputs)
    return id
  }

  /// Waits for the next event of the session.
  ///
  /// It returns nil after the timeout, or if the descriptor `wake` is readable. It throws `closed`
  /// if the session has ended for good and all events were returned.
  package mutating func next(timeout: Duration? = nil) throws(ConnectionError) -> SessionEvent? {
    let deadline = timeout.map { Deadline($0) }
    while true {
      if !events.isEmpty { return events.removeFirst() }
      try turn(until: deadline)
      guard events.isEmpty else { continue }
      if isWoken || deadline?.hasPassed == true { return nil }
    }
  }

  private var isWoken: Bool {
    guard let wake else { return false }
    var entry = pollfd(fd: wake, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&entry, 1, 0) > 0
  }

  /// Sends `bye`, so that the daemon ends the session at once.
  ///
  /// Waits at most 1 s for the reply. A process that ends earlier can lose its last messages, which
  /// are still in libzmq's queue.
  package mutating func leave() throws(ConnectionError) {
    guard hasSession else { return }
    let farewell = cluster.leave()
    guard !farewell.isEmpty else { return }
    try interpret(farewell)
    let deadline = Deadline(.seconds(1))
    while !deadline.hasPassed {
      for event in try wait(until: deadline) where Self.endsLeave(event) { return }
    }
  }

  /// Whether an event ends the wait after `bye`; only its reply has neither a nav nor a value.
  private static func endsLeave(_ event: Link.Event) -> Bool {
    switch event {
    case .message(.ok(let reply), _, _): reply.nav == nil && reply.value == nil
    case .disconnected, .refused: true
    case .message, .unreadable, .connected, .failed, .impossible: false
    }
  }

  mutating func awaitReply(
    _ id: UInt64, _ outputs: [ClusterOutput], until deadline: Deadline, isChange: Bool,
    whenQueued: (UInt64) -> Void = { _ in }
  ) throws(ConnectionError) -> Reply {
    awaited.insert(id)
    defer { awaited.remove(id) }
    try interpret(outputs)
    while true {
      while let position = takeQueued(id) { whenQueued(position) }
      if let reply = replies.removeValue(forKey: id) { return reply }
      guard !deadline.hasPassed else {
        try interpret(cluster.forget(id).outputs)
        throw timeUp(isChange: isChange)
      }
      try turn(until: deadline)
    }
  }

  /// Takes the event with the position of a queued request; nil if there is none.
  private mutating func takeQueued(_ id: UInt64) -> UInt64? {
    for (index, event) in events.enumerated() {
      guard case .queued(id, let position) = event else { continue }
      events.remove(at: index)
      return position
    }
    return nil
  }

  mutating func turn(until deadline: Deadline?) throws(ConnectionError) {
    if case .closed = cluster.phase { throw .unreachable(endpoint: endpoint) }
    let limit = (deadline ?? Deadline(at: .max)).earlier(than: cluster.wakeAt)
    _ = try ofSystem(try links.wait(milliseconds: limit.remainingMilliseconds))
    for link in links.ids {
      for event in try ofSystem(try links.takeEvents(of: link)) { try handle(event, of: link) }
    }
    try interpret(cluster.tick(at: SystemClock.bootMilliseconds()))
    try interpret(cluster.confirm())
  }

  private mutating func handle(
    _ event: Link.Event, of link: LinkID
  ) throws(ConnectionError) {
    if case .refused(let refusal) = event, link == .first {
      throw .refused(endpoint: endpoint, refusal)
    }
    let body = if case .message(_, _, let body) = event { body } else { [UInt8]() }
    try interpret(cluster.receive(event, of: link, at: links.place(of: link)), body: body)
  }

  private mutating func interpret(
    _ outputs: [ClusterOutput], body: [UInt8] = []
  ) throws(ConnectionError) {
    for output in outputs {
      switch output {
      case .send, .connect, .close, .dropUnsent: try ofSystem(try links.perform(output))
      case .event(.closed(let end)): throw .closed(end)
      case .event(.answered(let id, let result)) where awaited.contains(id):
        replies[id] = Reply(result: result, body: body)
      case .event(let event): events.append(event)
      }
    }
  }
}

// A session in the event loop of another library: nothing here waits.

extension NavigationConnection {
  /// Begins to connect and to open a session, without waiting for either.
  ///
  /// After `heartbeat` milliseconds of silence, the daemon sends a heartbeat. `serve` opens the
  /// session.
  package static func begin(
    to endpoint: String, as identity: NetworkIdentity?, name: String, heartbeat: UInt64
  ) throws(ConnectionError) -> NavigationConnection {
    var connection = try make(endpoint, as: identity, name: name, heartbeat: heartbeat)
    connection.hasSession = true
    return connection
  }

  private var isOpen: Bool { cluster.phase == .open }

  /// Waits until the session is open; throws `unreachable` after the timeout, or the reason why the
  /// session cannot open.
  package mutating func awaitSession(timeout: Duration) throws(ConnectionError) {
    try awaitSession(until: Deadline(timeout), or: .unreachable(endpoint: endpoint))
  }

  private mutating func awaitSession(
    until deadline: Deadline, or error: ConnectionError
  ) throws(ConnectionError) {
    while !isOpen {
      try turn(until: deadline)
      guard isOpen || !deadline.hasPassed else { throw refusal(or: error) }
    }
  }

  /// Handles everything that has arrived or is due, until `limit` events wait in `takeEvent`;
  /// throws the error that ended the session for good.
  package mutating func serve(limit: Int) throws(ConnectionError) {
    var isReady = true
    while isReady, events.count < limit {
      try turn(until: Deadline(at: 0))
      // Sends read the sockets' signs too, so only a wait that finds nothing proves them read.
      isReady = try ofSystem(try links.wait(milliseconds: 0))
    }
  }

  package var hasEvents: Bool { !events.isEmpty }

  /// Takes the oldest event, and handles nothing new; nil if there is none.
  package mutating func takeEvent() -> SessionEvent? {
    events.isEmpty ? nil : events.removeFirst()
  }

  /// Brings a descriptor up to date, after `serve` or any other call.
  ///
  /// It becomes readable as soon as `serve` or `takeEvent`, or with `isReady` the caller, has
  /// something to do.
  package mutating func update(
    _ descriptor: inout EventDescriptor, isReady: Bool
  ) throws(ConnectionError) {
    var isReady = isReady || !events.isEmpty
    do throws(ZeroMQError) {
      if descriptor.generation != links.generation {
        try descriptor.watch(try links.signs(), generation: links.generation)
      }
      // A send reads the signs of messages that have arrived, and nothing would show them again.
      if !isReady { isReady = try links.wait(milliseconds: 0) }
    } catch {
      throw .system(error)
    }
    let times = [cluster.wakeAt, links.dueAt].compactMap { $0 }
    descriptor.wake(at: times.min())
    descriptor.signal(isReady)
  }
}
