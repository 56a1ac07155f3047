package import NavigationHub
package import NavigationProtocol
package import ZeroMQ

/// The daemon's ROUTER, with all that keeps its peers from harming the process.
///
/// It admits peers, receives from them, sends to them, and disconnects the peers that exceed a limit.
/// docs/transport-guard.md says what libzmq does by itself, and what happens here instead.
///
/// One thread uses it: the loop. What follows for the hub waits in `events`, and what the log is to
/// have in `incidents`.
package struct GuardedRouter: ~Copyable {
  /// The limits that the peers are kept to.
  package struct Limits: Hashable, Sendable {
    /// The longest frame that is read; libzmq closes the connection of a longer one.
    package var frameBytes: Int
    /// The most bytes that libzmq may have received, over all connections, and the loop has not yet
    /// taken.
    package var unreadBytes: Int
    /// Everything together that peers have not read, in bytes.
    package var unsentBytes: Int
    /// The most connections of this machine, and the most over networks.
    package var connections: Int
    /// The most connections of one user or key.
    package var connectionsPerPrincipal: Int

    /// Makes limits.
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

  /// Whether messages that wait take about the memory that they are counted for.
  package let copiesReceived: Bool
  /// What the hub has to handle next; the owner takes it.
  package var events: [HubEvent] = []
  /// What the log is to have; the owner takes it.
  package var incidents: [Incident] = []

  let socket: Socket
  var admission: ZAPHandler
  /// The descriptors of the listening sockets.
  let listening: [Int32]
  let gate: InboundGate
  var connections = Connections()
  var audit = ConnectionAudit()
  private(set) var limits: Limits
  /// Whether a peer waits for the answer to its request for admission, for want of room.
  var hasWaitingAdmissions = false
  /// The connections whose outbox is not empty.
  var waiting: [ConnectionID] = []
  var unsent: UnsentBudget
  var received = Multipart(capacity: 5)
  /// Carries the body of a message that goes to many.
  var shared = Message()
  /// When the log may have the next line about a want of descriptors.
  var shortageReportDue: UInt64 = 0
  var figures = Figures()
  /// Where the owner's poller watches it.
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

  /// Applies other limits; the longest frame stays as it was at the start.
  package mutating func apply(_ limits: Limits) {
    self.limits = limits
    unsent.limit = limits.unsentBytes
    gate.setTotalLimit(limits.unreadBytes)
  }

  // What the owner waits for.

  /// Has a poller watch for all that needs the owner.
  ///
  /// Signs are enough for messages, because the owner reads until the router is empty before it sleeps.
  package mutating func watch(by poller: inout Poller) throws(ZeroMQError) {
    watched = (
      try poller.addSigns(of: socket), try poller.addSigns(of: admission),
      poller.add(descriptor: gate.events.descriptor)
    )
  }

  /// Does what the poller has seen, and answers the requests for admission.
  ///
  /// - Parameters:
  ///   - poller: the one that watches, after a wait.
  ///   - authority: decides on peers.
  /// - Returns: whether messages may have come.
  /// - Throws: what libzmq refused.
  package mutating func attend(
    to poller: borrowing Poller, _ authority: some PeerAuthority
  ) throws(ZeroMQError) -> Bool {
    guard let watched else { return false }
    if poller.isReadable(watched.changes) { takeConnectionEvents() }
    if poller.isReadable(watched.admissions) || hasWaitingAdmissions { try admit(authority) }
    return poller.isReadable(watched.messages)
  }

  /// When it needs the owner without a sign, in milliseconds of the boot clock; nil for never.
  package func wakeAt(_ now: UInt64) -> UInt64? {
    var due = [connections.wakeAt, audit.dueAt].compactMap { $0 }
    if !waiting.isEmpty { due.append(now + 100) }
    if hasWaitingAdmissions { due.append(gate.roomForConnections > 0 ? now : now + 10) }
    return due.min()
  }

  /// Does what is due: connections whose time is up, messages that wait for peers, the audit.
  package mutating func takeDue(at now: UInt64) throws(ZeroMQError) {
    try retry()
    takeDueConnections(at: now)
    if let due = audit.dueAt, due <= now { auditConnections(at: now) }
  }

  /// Gives libzmq a second to write what was sent, before the router is closed; it would drop it otherwise.
  ///
  /// That takes no time where peers read.
  package func linger() throws(ZeroMQError) { try socket.set(.linger(milliseconds: 1000)) }
}

// Messages that peers send.

extension GuardedRouter {
  /// Takes the next message, without waiting; returns whether there was one.
  ///
  /// If there was none, nothing more can come from the connections that were closed before.
  package mutating func receive() throws(ZeroMQError) -> Bool {
    if try socket.receive(into: &received) { return true }
    gate.noteEmpty()
    for id in connections.noteEmpty() { end(id) }
    return false
  }

  /// The bytes of the message at hand.
  package var receivedBytes: Int { received.byteCount }

  /// Reads the message at hand; nil if its sender is not listened to.
  package mutating func readEvent(
    _ reader: inout ClientMessageReader, _ authority: some PeerAuthority
  ) -> HubEvent? {
    guard received.count >= 2 else { return nil }
    // A peer that names its routing id is disconnected before it can send anything.
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

  /// Reads the message whose verb is in the frame at `first`, where libzmq has put it.
  private static func event(
    _ received: borrowing Multipart, _ first: Int, from id: ConnectionID, _ peer: Peer,
    reader: inout ClientMessageReader
  ) -> HubEvent {
    HubEvent(
      frame: received[first].bytes, body: received[first + 1].bytes, from: id, peer,
      reader: &reader)
  }

  /// Enters the sender of a first message; nil for one that may not speak, or has ended.
  private mutating func firstMessage(
    _ id: ConnectionID, _ authority: some PeerAuthority
  ) -> Int? {
    // The connection was accepted before it sent anything.
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

  /// Reports to the gate that the message is off the socket.
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
    // The first frame is the socket's.
    gate.noteTaken(
      descriptor, cookie: cookie, bytes: received.byteCount - Connections.automaticIDBytes,
      frames: received.count + received.droppedFrames - 1)
  }
}
