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
    try perform(
      cluster.connected(.first, to: links.endpoint(of: .first), at: SystemClock.bootMilliseconds()))
    try awaitSession(until: deadline, or: .noAnswer(endpoint: endpoint, isChange: false))
  }

  /// Requests a watch or a duty, or ends one; `next` returns the events that follow.
  package mutating func request(
    _ makeRequest: (inout ClusterReplica) -> [ClusterOutput]
  ) throws(ConnectionError) {
    try perform(makeRequest(&cluster))
  }

  /// Sends a change without waiting, and returns its id; `next` returns its reply.
  ///
  /// The id and the operations of `request` are ignored. `operations` has one JSON object for each.
  /// After `limit`, a change that is not under way fails as `expired`.
  package mutating func submit(
    _ request: OpRequest, operations: [[UInt8]], within limit: Duration? = nil
  ) throws(ConnectionError) -> UInt64 {
    let (id, outputs) = cluster.perform(request, operations, within: limit, at: endpoint)
    try perform(outputs)
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
      try runOnce(until: deadline)
      guard events.isEmpty else { continue }
      if links.isWoken || deadline?.hasPassed == true { return nil }
    }
  }

  /// Sends `bye`, so that the daemon ends the session at once, and waits at most 1 s for the reply.
  ///
  /// A process that ends earlier can lose its last messages, which are still in libzmq's queue.
  package mutating func leave() throws(ConnectionError) {
    guard hasSession else { return }
    let farewell = cluster.leave()
    guard !farewell.isEmpty else { return }
    try perform(farewell)
    let deadline = Deadline(.seconds(1))
    while !deadline.hasPassed {
      for event in try wait(until: deadline) where Self.endsWaitForByeReply(event) { return }
    }
  }

  /// Whether an event is the reply to `bye`, the only one without nav and value, or a disconnect.
  private static func endsWaitForByeReply(_ event: Link.Event) -> Bool {
    switch event {
    case .message(.ok(let reply), _, _): reply.nav == nil && reply.value == nil
    case .disconnected, .refused: true
    case .message, .unreadable, .connected, .connectFailed, .cannotOpenSocket: false
    }
  }

  /// Waits for the reply to a request that `outputs` send.
  mutating func awaitReply(
    _ id: UInt64, _ outputs: [ClusterOutput], until deadline: Deadline, isChange: Bool,
    whenQueued: (UInt64) -> Void = { _ in }
  ) throws(ConnectionError) -> Reply {
    awaited.insert(id)
    defer { awaited.remove(id) }
    try perform(outputs)
    while true {
      while let position = takeQueuePosition(of: id) { whenQueued(position) }
      if let reply = replies.removeValue(forKey: id) { return reply }
      guard !deadline.hasPassed else {
        try perform(cluster.forget(id).outputs)
        throw timeoutError(isChange: isChange)
      }
      try runOnce(until: deadline)
    }
  }

  /// Takes the event with the position of a queued request; nil if there is none.
  private mutating func takeQueuePosition(of id: UInt64) -> UInt64? {
    for (index, event) in events.enumerated() {
      guard case .queued(id, let position) = event else { continue }
      events.remove(at: index)
      return position
    }
    return nil
  }

  /// Waits once, until the deadline at most, and handles the events of all links.
  mutating func runOnce(until deadline: Deadline?) throws(ConnectionError) {
    if case .closed = cluster.phase { throw .unreachable(endpoint: endpoint) }
    let limit = (deadline ?? Deadline(at: .max)).earlier(than: cluster.wakeAt)
    _ = try asSystemError(try links.wait(milliseconds: limit.remainingMilliseconds))
    for link in links.ids {
      for event in try asSystemError(try links.takeEvents(of: link)) { try handle(event, of: link) }
    }
    try perform(cluster.tick(at: SystemClock.bootMilliseconds()))
    try perform(cluster.grantCredit())
  }

  private mutating func handle(
    _ event: Link.Event, of link: LinkID
  ) throws(ConnectionError) {
    if case .refused(let refusal) = event, link == .first {
      throw .refused(endpoint: endpoint, refusal)
    }
    let body = if case .message(_, _, let body) = event { body } else { [UInt8]() }
    try perform(cluster.receive(event, of: link, at: links.endpoint(of: link)), body: body)
  }

  private mutating func perform(
    _ outputs: [ClusterOutput], body: [UInt8] = []
  ) throws(ConnectionError) {
    for output in outputs {
      switch output {
      case .send, .connect, .close, .dropUnsent: try asSystemError(try links.perform(output))
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

  /// Waits until the session is open; throws `unreachable` after the timeout, or a known reason.
  package mutating func awaitSession(timeout: Duration) throws(ConnectionError) {
    try awaitSession(until: Deadline(timeout), or: .unreachable(endpoint: endpoint))
  }

  private mutating func awaitSession(
    until deadline: Deadline, or error: ConnectionError
  ) throws(ConnectionError) {
    while cluster.phase != .open {
      try runOnce(until: deadline)
      guard cluster.phase == .open || !deadline.hasPassed else { throw refusal(or: error) }
    }
  }

  /// Handles messages and deadlines without waiting, until `takeEvent` has `eventLimit` events.
  ///
  /// It throws the error that ended the session for good.
  package mutating func serve(limit eventLimit: Int) throws(ConnectionError) {
    var isReady = true
    while isReady, events.count < eventLimit {
      try runOnce(until: Deadline(at: 0))
      // Sends read the sockets' signs too, so only a wait that finds nothing proves them read.
      isReady = try asSystemError(try links.wait(milliseconds: 0))
    }
  }

  package var hasEvents: Bool { !events.isEmpty }

  /// Takes the oldest event of those that `serve` found; nil if there is none.
  package mutating func takeEvent() -> SessionEvent? {
    events.isEmpty ? nil : events.removeFirst()
  }

  /// Updates the descriptor of the connection after `serve` or any other call.
  ///
  /// The descriptor becomes readable as soon as `serve` or `takeEvent` has work; with `isReady`, at
  /// once.
  package mutating func update(
    _ descriptor: inout EventDescriptor, isReady: Bool
  ) throws(ConnectionError) {
    var isReady = isReady || !events.isEmpty
    do throws(ZeroMQError) {
      if descriptor.generation != links.generation {
        try descriptor.watch(try links.signalDescriptors(), generation: links.generation)
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
