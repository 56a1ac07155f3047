package import NavigationCore
package import ZeroMQ

/// The daemon's ROUTER socket, guarded against harm by its peers.
///
/// It admits peers, receives from them, sends to them, and disconnects those that exceed a limit.
/// docs/transport-guard.md explains what libzmq does by itself, and what the guard does instead.
///
/// One thread uses it: the loop. It collects events for the hub in `events`, and lines for the log
/// in `incidents`.
package struct GuardedRouter: ~Copyable {
  /// The limits for peers.
  package struct Limits: Hashable, Sendable {
    /// The maximum size of a frame; libzmq closes the connection of a peer that sends a longer one.
    package var frameBytes: Int
    /// The maximum of bytes, over all connections, that libzmq has received and the loop has not
    /// taken.
    package var unreadBytes: Int
    /// The maximum of bytes that all peers together may leave unread.
    package var unsentBytes: Int
    /// The maximum of connections on this machine, and the same maximum over networks.
    package var connections: Int
    /// The maximum of connections of one user or key.
    package var connectionsPerPrincipal: Int

    /// Makes limits; all of them are in bytes or connections.
    package init(
      frameBytes: Int, unreadBytes: Int, unsentBytes: Int, connections: Int,
      connectionsPerPrincipal: Int
    ) {
      self.frameBytes = frameBytes
      self.unreadBytes = unreadBytes
      self.unsentBytes = unsentBytes
      self.connections = connections
      self.connectionsPerPrincipal = connectionsPerPrincipal
    }
  }

  /// Whether libzmq copies what it receives, so that a waiting message takes about the memory that
  /// is counted for it.
  package let copiesReceived: Bool
  /// The events that the hub must handle next; the owner removes them.
  package var events: [HubEvent] = []
  /// The lines for the log; the owner removes them.
  package var incidents: [Incident] = []

  let socket: Socket
  var admission: ZAPHandler
  /// The descriptors of the listening sockets.
  let listening: [Int32]
  let gate: InboundGate
  var connections = Connections()
  var audit = ConnectionAudit()
  private(set) var limits: Limits
  /// Whether a request for admission waits, because there was no room for what the peer may send.
  var hasWaitingAdmissions = false
  /// The connections whose outbox has messages.
  var waiting: [ConnectionID] = []
  var unsent: UnsentBudget
  var received = Multipart(capacity: 5)
  /// The body of a message for several peers, while it is being sent.
  var shared = Message()
  /// The earliest time of the next log line about scarce descriptors, in milliseconds.
  var shortageReportDue: UInt64 = 0
  var figures = Figures()
  /// The places in the owner's poller.
  private var watched: (messages: Poller.Slot, admissions: Poller.Slot, changes: Poller.Slot)?

  init(
    socket: consuming Socket, admission: consuming ZAPHandler, gate: InboundGate,
    listening: [Int32], limits: Limits, copiesReceived: Bool
  ) {
    self.socket = socket
    self.admission = admission
    self.gate = gate
    self.listening = listening
    self.limits = limits
    self.copiesReceived = copiesReceived
    unsent = UnsentBudget(limit: limits.unsentBytes)
  }

  /// Applies new limits, except that of the frame size, which is fixed at the start.
  package mutating func apply(_ limits: Limits) {
    self.limits = limits
    unsent.limit = limits.unsentBytes
    gate.setTotalLimit(limits.unreadBytes)
  }

  // The events that the owner's poller waits for.

  /// Adds the sources of this router's work to a poller.
  ///
  /// For messages the poller watches libzmq's edge-triggered descriptor. That suffices, because the
  /// owner reads until the router is empty before it sleeps.
  package mutating func watch(by poller: inout Poller) throws(ZeroMQError) {
    watched = (
      try poller.addSigns(of: socket), try poller.addSigns(of: admission),
      poller.add(descriptor: gate.events.descriptor)
    )
  }

  /// Handles what the poller has seen, and answers requests for admission.
  ///
  /// - Parameters:
  ///   - poller: the poller given to `watch`, after a wait.
  ///   - authority: decides which peers may connect.
  /// - Returns: whether there may be messages.
  /// - Throws: libzmq's error.
  package mutating func attend(
    to poller: borrowing Poller, _ authority: some PeerAuthority
  ) throws(ZeroMQError) -> Bool {
    guard let watched else { return false }
    if poller.isReadable(watched.changes) { takeConnectionEvents() }
    if poller.isReadable(watched.admissions) || hasWaitingAdmissions { try admit(authority) }
    return poller.isReadable(watched.messages)
  }

  /// The time at which `takeDue` or `attend` has work without an event, in milliseconds of the boot
  /// clock; nil for never.
  package func wakeAt(_ now: UInt64) -> UInt64? {
    var due = [connections.wakeAt, audit.dueAt].compactMap { $0 }
    if !waiting.isEmpty { due.append(now + 100) }
    if hasWaitingAdmissions { due.append(gate.roomForConnections > 0 ? now : now + 10) }
    return due.min()
  }

  /// Does the work that is due: messages that wait for peers, deadlines of connections, the audit.
  package mutating func takeDue(at now: UInt64) throws(ZeroMQError) {
    try retry()
    takeDueConnections(at: now)
    if let due = audit.dueAt, due <= now { auditConnections(at: now) }
  }

  /// Lets libzmq take up to 1 s to write its queues when the router is closed; otherwise it drops
  /// them.
  ///
  /// If the peers read, this takes no time.
  package func linger() throws(ZeroMQError) { try socket.set(.linger(milliseconds: 1000)) }
}

// Messages from peers.

extension GuardedRouter {
  /// Receives the next message without blocking; returns whether there was one.
  ///
  /// After false, no more messages can come from the connections that were closed before.
  package mutating func receive() throws(ZeroMQError) -> Bool {
    if try socket.receive(into: &received) { return true }
    gate.noteEmpty()
    for id in connections.noteEmpty() { end(id) }
    return false
  }

  /// The bytes of the message received last.
  package var receivedBytes: Int { received.byteCount }

  /// Reads the message received last; returns nil if its sender is not admitted, evicted or
  /// revoked.
  package mutating func readEvent(
    _ reader: inout ClientMessageReader, _ authority: some PeerAuthority
  ) -> HubEvent? {
    guard received.count >= 2 else { return nil }
    // The gate disconnects a peer that chooses its routing id before the peer can send a message.
    guard let id = Connections.automaticID(received[0].bytes) else { return nil }
    let known = connections.slot(of: id) ?? firstMessage(id, authority)
    noteTaken(known)
    guard let slot = known, connections[slot].isHeard else { return nil }
    let isEnveloped = received[1].count == 0
    if connections[slot].isEnveloped != isEnveloped { connections[slot].isEnveloped = isEnveloped }
    let peer = connections[slot].peer
    let first = isEnveloped ? 2 : 1
    guard received.count == first + 2, received.droppedFrames == 0 else {
      return .unreadable(id, peer, .frameCount)
    }
    return Self.event(received, first, from: id, peer, reader: &reader)
  }

  /// Reads the message whose verb is in the frame at `first`, in libzmq's memory.
  private static func event(
    _ received: borrowing Multipart, _ first: Int, from id: ConnectionID, _ peer: Peer,
    reader: inout ClientMessageReader
  ) -> HubEvent {
    HubEvent(
      frame: received[first].bytes, body: received[first + 1].bytes, from: id, peer,
      reader: &reader)
  }

  /// Enters the id of a connection with its first message; nil if the peer may not connect, or the
  /// connection is gone.
  private mutating func firstMessage(
    _ id: ConnectionID, _ authority: some PeerAuthority
  ) -> Int? {
    // The queue has had its acceptance since before it sent anything.
    takeConnectionEvents()
    let last = received.count - 1
    guard let descriptor = received[last].sourceDescriptor,
      let address = received[last].peerAddress,
      let (admission, userID) = received[last].userID.flatMap(Self.readUserID),
      let (peer, key) = authority.peer(address, userID: userID)
    else { return nil }
    return connections.noteFirstMessage(
      id, received[0].copyBytes(), from: peer, key: key, admission: admission,
      descriptor: descriptor)
  }

  /// Reports to the gate that the loop has taken the message.
  @inline(__always)
  private func noteTaken(_ slot: Int?) {
    let descriptor: Int32
    let cookie: UInt64
    if let slot {
      (descriptor, cookie) = (
        connections[slot].acceptance.descriptor, connections[slot].acceptance.cookie
      )
    } else {
      guard let source = received[received.count - 1].sourceDescriptor else { return }
      (descriptor, cookie) = (source, gate.cookie(of: source))
    }
    // The first frame is the routing id, which the socket adds.
    gate.noteTaken(
      descriptor, cookie: cookie, bytes: received.byteCount - Connections.automaticIDBytes,
      frames: received.count + received.droppedFrames - 1)
  }
}
