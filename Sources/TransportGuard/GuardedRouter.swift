import CLinux
import NavigationCore
package import NavigationHub
import RuntimePaths
package import ZeroMQ

/// The daemon's ROUTER socket, guarded against harm by its peers.
///
/// It admits peers, receives from them, sends to them, and disconnects those that exceed a limit.
/// docs/security.md explains what libzmq does by itself, and what the guard does instead.
///
/// One thread uses it: the loop. It collects events for the hub in `events`, and lines for the log
/// in `notices`.
package struct GuardedRouter: ~Copyable {
  /// The limits for peers.
  package struct Limits: Hashable, Sendable {
    /// The maximum of bytes, over all connections, that libzmq has received and the loop has not
    /// taken; above it, navd disconnects the peer that sent most.
    package var unreadBytes = 128 << 20
    /// The maximum of bytes that all peers together may leave unread; above it, navd disconnects the
    /// peer with most.
    package var unsentBytes = 256 << 20
    /// The maximum of local connections; connections over networks have a maximum of the same size.
    package var connections = 4096
    /// The maximum of connections of one principal, which is a user or a key.
    package var connectionsPerPrincipal = 256

    package init() {}
  }

  /// Whether libzmq copies what it receives, so that a waiting message uses no more memory than
  /// navd counts for it.
  package let copiesReceived: Bool
  /// The events that the hub must handle next; the owner removes them.
  package var events: [HubEvent] = []
  /// The lines for the log; the owner removes them.
  package var notices: [Notice] = []

  let socket: Socket
  var zapHandler: ZAPHandler
  /// The descriptors of the listening sockets.
  let listeningDescriptors: [Int32]
  let gate: InboundGate
  var connections = Connections()
  var audit = ConnectionAudit()
  private(set) var limits: Limits
  /// Whether a ZAP request waits until the limit has room for what the peer may send.
  var hasWaitingAdmissions = false
  /// The connections whose outbox has messages.
  var waitingToSend: [ConnectionID] = []
  var unsentBudget: UnsentBudget
  /// When the router may next add up the unread bytes of all peers, in milliseconds.
  private var unreadSumDue: UInt64 = 0
  var receivedMessage = Multipart(capacity: 5)
  /// The body of a message for several peers, while it is being sent.
  var sharedBody = Message()
  /// The earliest time of the next log line about scarce descriptors, in milliseconds.
  var shortageReportDue: UInt64 = 0
  var figures = Figures()
  /// The slots in the owner's poller; nil before `watch`.
  private var pollerSlots: (messages: Poller.Slot, admissions: Poller.Slot, changes: Poller.Slot)?
  /// Whether the owner's poller waits for messages.
  private var watchesMessages = true

  init(
    socket: consuming Socket, admission: consuming ZAPHandler, gate: InboundGate,
    listening: [Int32], limits: Limits, copiesReceived: Bool
  ) {
    self.socket = socket
    self.zapHandler = admission
    self.gate = gate
    self.listeningDescriptors = listening
    self.limits = limits
    self.copiesReceived = copiesReceived
    unsentBudget = UnsentBudget(limit: limits.unsentBytes)
  }

  package mutating func apply(_ limits: Limits) {
    self.limits = limits
    unsentBudget.limit = limits.unsentBytes
    gate.setTotalByteLimit(limits.unreadBytes)
  }

  // The events that the owner's poller waits for.

  /// Adds the sockets and the descriptor that give this router work to a poller.
  ///
  /// For messages the poller watches libzmq's edge-triggered descriptor. That suffices, because the
  /// owner reads until the router is empty before it sleeps.
  package mutating func watch(by poller: inout Poller) throws(ZeroMQError) {
    pollerSlots = (
      try poller.addSignal(of: socket), try poller.addSignal(of: zapHandler.socket),
      poller.add(descriptor: gate.events.descriptor)
    )
  }

  /// Sets whether a poller waits for messages too; an owner that reads none now must not be woken
  /// by them.
  package mutating func watchMessages(_ isWanted: Bool, by poller: inout Poller) {
    guard let pollerSlots, isWanted != watchesMessages else { return }
    watchesMessages = isWanted
    poller.watch(pollerSlots.messages, for: isWanted ? .readable : [])
  }

  /// Handles events of the poller, and answers ZAP requests; returns whether messages may wait.
  ///
  /// `poller` is that given to `watch`, after a wait.
  package mutating func handleReadiness(
    of poller: borrowing Poller, _ authority: some PeerAuthority
  ) throws(ZeroMQError) -> Bool {
    guard let pollerSlots else { return false }
    if poller.isReadable(pollerSlots.changes) { takeConnectionEvents() }
    if poller.isReadable(pollerSlots.admissions) || hasWaitingAdmissions { try admit(authority) }
    return poller.isReadable(pollerSlots.messages)
  }

  /// The time on the boot clock, in milliseconds, at which `takeDue` or `handleReadiness` has work
  /// without an event; nil for never.
  package func wakeAt(_ now: UInt64) -> UInt64? {
    var due = [connections.wakeAt, audit.dueAt].compactMap { $0 }
    if !waitingToSend.isEmpty { due.append(now + 100) }
    if hasWaitingAdmissions { due.append(gate.roomForConnections > 0 ? now : now + 10) }
    if unsentBudget.mustAddUp(held: Message.heldOctets) { due.append(max(now, unreadSumDue)) }
    if gate.mustTrimMemory { due.append(now + 500) }
    return due.min()
  }

  /// Does the work that is due: sends waiting messages, enforces deadlines, audits connections.
  package mutating func takeDue(at now: UInt64) throws(ZeroMQError) {
    try sendWaiting()
    gate.noteUnsentBytes()
    if !unsentBudget.mustAddUp(held: Message.heldOctets) {
      unsentBudget.noteWithinLimit()
    } else if now >= unreadSumDue {
      unreadSumDue = now + 10
      limitUnreadBytes(at: now)
    }
    takeDueConnections(at: now)
    if let due = audit.dueAt, due <= now { auditConnections(at: now) }
  }

  /// Lets libzmq take up to 1 s to write its queues when the router is closed; otherwise it drops
  /// them.
  ///
  /// If the peers read, this takes no time.
  package func allowLinger() throws(ZeroMQError) { try socket.set(.linger(milliseconds: 1000)) }
}

// Messages from peers.

extension GuardedRouter {
  /// Whether connections of more than one user or key are open; O(connections).
  package var hasSeveralPrincipals: Bool {
    let admitted = connections.usedSlots.filter {
      connections[$0].isOpen && connections[$0].admission != 0
    }
    return admitted.contains {
      !connections[$0].peer.isOfSamePrincipal(as: connections[admitted[0]].peer)
    }
  }

  /// Receives the next message without blocking; returns whether there was one.
  ///
  /// After false, no message of the connections that were closed before can follow.
  package mutating func receive() throws(ZeroMQError) -> Bool {
    if try socket.receive(into: &receivedMessage) { return true }
    gate.noteSocketEmpty()
    for id in connections.noteSocketEmpty() { end(id) }
    return false
  }

  package var receivedBytes: Int { receivedMessage.byteCount }

  /// Converts the message received last into an event for the hub.
  ///
  /// The result is nil if its sender is not admitted, or is evicted or revoked.
  package mutating func readEvent(
    _ reader: inout ClientMessageReader, _ authority: some PeerAuthority
  ) -> HubEvent? {
    guard receivedMessage.count >= 2 else { return nil }
    // The gate disconnects a peer that chooses its routing id before the peer can send a message.
    guard let id = Connections.automaticID(receivedMessage[0].bytes) else { return nil }
    let known = connections.slot(of: id) ?? noteFirstMessage(id, authority)
    noteTaken(known)
    guard let slot = known, connections[slot].isListenedTo else { return nil }
    let isEnveloped = receivedMessage[1].count == 0
    if connections[slot].isEnveloped != isEnveloped { connections[slot].isEnveloped = isEnveloped }
    let peer = connections[slot].peer
    let first = isEnveloped ? 2 : 1
    guard receivedMessage.count == first + 2, receivedMessage.droppedFrames == 0 else {
      return .unreadable(id, peer, .wrongFrameCount)
    }
    return HubEvent(
      frame: receivedMessage[first].bytes, body: receivedMessage[first + 1].bytes, from: id, peer,
      reader: &reader)
  }

  /// A copy of the last frame of the message received last.
  package var receivedBody: [UInt8] {
    receivedMessage.count == 0 ? [] : receivedMessage[receivedMessage.count - 1].copyBytes()
  }

  /// Gives a connection its id with its first message, and returns its slot in the table.
  ///
  /// The result is nil if the peer may not connect, or the connection is gone.
  private mutating func noteFirstMessage(
    _ id: ConnectionID, _ authority: some PeerAuthority
  ) -> Int? {
    // The acceptance of the connection has been queued since before its first byte.
    takeConnectionEvents()
    let last = receivedMessage.count - 1
    guard let descriptor = receivedMessage[last].sourceDescriptor,
      let address = receivedMessage[last].peerAddress,
      let (admission, userID) = receivedMessage[last].userID.flatMap(Self.readUserID),
      let (peer, key) = authority.peer(address, userID: userID)
    else { return nil }
    return connections.noteFirstMessage(
      id, receivedMessage[0].copyBytes(), from: peer, key: key, admission: admission,
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
      guard let source = receivedMessage[receivedMessage.count - 1].sourceDescriptor else { return }
      (descriptor, cookie) = (source, gate.cookie(of: source))
    }
    // The first frame is the routing id, which the socket adds.
    gate.noteTaken(
      descriptor, cookie: cookie, bytes: receivedMessage.byteCount - Connections.automaticIDBytes,
      frames: receivedMessage.count + receivedMessage.droppedFrames - 1)
  }
}

// Messages to peers, and peers that do not read.
//
// libzmq limits messages, not bytes, and does not report what waits for one peer. The kernel
// reports how many bytes it still has for a peer. If these are few, libzmq's queue is empty.

extension GuardedRouter {
  /// Sends messages; keeps a message that its peer cannot take now, and sends it later.
  package mutating func send(_ output: HubOutput) throws(ZeroMQError) {
    // The index of the body in `sharedBody`. A body for several peers is copied into libzmq's memory
    // once.
    var sharedIndex = -1
    for index in output.deliveries.indices {
      let delivery = output.deliveries[index]
      let body = delivery.bodyIndex
      let next = index + 1
      if body != sharedIndex, next < output.deliveries.count,
        output.deliveries[next].bodyIndex == body
      {
        sharedBody = Message(copying: output.bodies[body])
        sharedIndex = body
      }
      guard let slot = connections.slot(of: delivery.connection), !connections[slot].isEvicted
      else { continue }
      var result = SendResult.wouldBlock
      if connections[slot].outbox.isEmpty, !isBehind(slot) {
        result = try transmit(
          delivery.verb, output.bodies[body], isShared: body == sharedIndex, to: slot)
      }
      switch result {
      case .sent: noteHandedOver(output.bodies[body].count, slot)
      case .wouldBlock: enqueue(output.message(delivery), slot)
      // The peer is gone. Its `closed` event is queued already.
      case .unreachable: break
      }
    }
    if sharedIndex >= 0 { sharedBody = Message() }
  }

  package mutating func discardOutbox(of id: ConnectionID) {
    if let slot = connections.slot(of: id) { connections[slot].outbox.discard() }
  }

  /// Passes one message to the socket, all frames or none; if `isShared`, its body is `sharedBody`.
  private mutating func transmit(
    _ verb: ServerVerb, _ body: [UInt8], isShared: Bool = false, to slot: Int
  ) throws(ZeroMQError) -> SendResult {
    let routingID = connections[slot].routingID
    let isEnveloped = connections[slot].isEnveloped
    let head = verb.frame
    if isShared {
      return try socket.send(
        to: routingID.span, isEnveloped: isEnveloped, head: head.span, sharing: &sharedBody)
    }
    return try socket.send(
      to: routingID.span, isEnveloped: isEnveloped, head: head.span, body: body.span)
  }

  /// Keeps a message for a peer whose queue is full; evicts the peer if too many bytes wait for it.
  private mutating func enqueue(_ message: Outgoing, _ slot: Int) {
    let id = message.connection
    if connections[slot].outbox.isEmpty {
      waitingToSend.append(id)
      events.append(.blocked(id))
    }
    connections[slot].outbox.append(message)
    if connections[slot].outbox.isOverfull {
      return disconnect(id, "it left \(connections[slot].outbox.unreadBytes) bytes unread")
    }
    unsentBudget.noteUncounted(message.body.count + Message.overheadOctets)
  }

  /// Sends the messages that wait for peers, as far as libzmq accepts them now.
  mutating func sendWaiting() throws(ZeroMQError) {
    guard !waitingToSend.isEmpty else { return }
    let ids = waitingToSend
    waitingToSend.removeAll(keepingCapacity: true)
    for id in ids { try sendWaiting(to: id) }
  }

  private mutating func sendWaiting(to id: ConnectionID) throws(ZeroMQError) {
    guard let slot = connections.slot(of: id) else { return }
    while let message = connections[slot].outbox.first, !isBehind(slot) {
      let result = try transmit(message.verb, message.body, to: slot)
      if result == .unreachable { return discardOutbox(of: id) }
      if result == .wouldBlock { break }
      connections[slot].outbox.handOverFirst()
    }
    if connections[slot].outbox.isEmpty {
      events.append(.unblocked(id))
    } else {
      waitingToSend.append(id)
    }
  }

  // The functions below count what peers leave unread in outboxes, libzmq's queues and the kernel.

  /// Counts a message that the socket took.
  private mutating func noteHandedOver(_ bytes: Int, _ slot: Int) {
    connections[slot].outbox.noteHandedOver(bytes)
    if bytes < Message.longPayloadOctets {
      unsentBudget.noteUncounted(bytes + Message.overheadOctets)
    }
  }

  /// Whether the peers leave so many bytes unread that navd must not make further answers now.
  package var peersOweTooMuch: Bool { unsentBudget.isExceeded(held: Message.heldOctets) }

  /// Whether a peer leaves so many bytes unread that its messages wait here, not in libzmq.
  private mutating func isBehind(_ slot: Int) -> Bool {
    connections[slot].outbox.mayBeBehind && !hasRead(slot)
  }

  /// Whether a peer has read nearly everything; if so, its count of unread bytes becomes 0.
  private mutating func hasRead(_ slot: Int) -> Bool {
    if connections[slot].isOpen,
      navd_has_read(connections[slot].acceptance.descriptor, Self.kernelBytesOfReadingPeer) == 0
    {
      return false
    }
    connections[slot].outbox.noteRead()
    return true
  }

  /// The maximum of bytes that the kernel holds for a peer that navd regards as reading.
  private static let kernelBytesOfReadingPeer: Int32 = 65_536

  /// Adds up the unread bytes of all peers; while they exceed the limit, evicts the peer with most.
  private mutating func limitUnreadBytes(at now: UInt64) {
    var debts: [UnsentBudget.Debt] = []
    var uncounted = 0
    for (id, slot) in connections.speaking {
      let isReading = hasRead(slot)
      let outbox = connections[slot].outbox
      uncounted += outbox.waitingBytes + outbox.shortMessageBytes
      // libzmq may hold something for a peer that reads nothing now, and had read before.
      let bytes = max(outbox.unreadBytes, isReading ? 0 : 1)
      if bytes > 0 { debts.append(UnsentBudget.Debt(id: id, bytes: bytes)) }
    }
    let held = Message.heldOctets
    let excess = unsentBudget.debtsToDisconnect(debts, uncounted: uncounted, held: held, at: now)
    for (debt, total) in excess {
      disconnect(debt.id, "it left \(debt.bytes) of \(total) bytes unread")
    }
  }

  /// Disconnects a peer: drops its messages, ends its session, shuts its connection down.
  package mutating func disconnect(_ id: ConnectionID, _ reason: String) {
    guard let slot = connections.slot(of: id) else { return }
    let text = "\(connections[slot].peer.principal) is disconnected: \(reason)"
    notices.append(Notice(.limitExceeded, .warning, text))
    connections[slot].isEvicted = true
    connections[slot].outbox = Outbox()
    waitingToSend.removeAll { $0 == id }
    events.append(.closed(id))
    // libzmq frees its queue for a peer only when the connection ends.
    shutDown(slot)
  }
}
