import CLinux
package import NavigationCore
package import ZeroMQ

// Messages to peers, and peers that do not read.
//
// libzmq limits messages, not bytes, and does not report what waits for one peer. The kernel
// reports how many bytes it still has for a peer. If these are few, libzmq's queue is empty.

extension GuardedRouter {
  /// Sends messages; keeps a message that its peer cannot take now, and sends it later.
  package mutating func send(_ output: HubOutput) throws(ZeroMQError) {
    // The index of the body in `shared`. A body for several peers is copied into libzmq's memory
    // once.
    var sharedBody = -1
    for index in output.deliveries.indices {
      let delivery = output.deliveries[index]
      let body = delivery.body
      let next = index + 1
      if body != sharedBody, next < output.deliveries.count, output.deliveries[next].body == body {
        shared = Message(copying: output.bodies[body])
        sharedBody = body
      }
      guard let slot = connections.slot(of: delivery.connection), !connections[slot].isAbandoned
      else { continue }
      var result = SendResult.wouldBlock
      if connections[slot].outbox.isEmpty, !isBehind(slot) {
        result = try transmit(
          delivery.verb, output.bodies[body], isShared: body == sharedBody, to: slot)
      }
      switch result {
      case .sent:
        connections[slot].outbox.noteHanded(output.bodies[body].count)
        noteUnsent(output.bodies[body].count)
      case .wouldBlock: enqueue(output.message(delivery), slot)
      // The peer is gone. Its `closed` event is queued already.
      case .unreachable: break
      }
    }
    if sharedBody >= 0 { shared = Message() }
  }

  /// Drops the messages that wait for a peer.
  package mutating func discardOutbox(of id: ConnectionID) {
    if let slot = connections.slot(of: id) { connections[slot].outbox.discard() }
  }

  /// Passes one message to the socket, all frames or none; with `isShared`, the body is in
  /// `shared`.
  private mutating func transmit(
    _ verb: ServerVerb, _ body: [UInt8], isShared: Bool = false, to slot: Int
  ) throws(ZeroMQError) -> SendResult {
    let routingID = connections[slot].routingID
    let isEnveloped = connections[slot].isEnveloped
    let head = verb.frame
    if isShared {
      return try socket.send(
        to: routingID.span, isEnveloped: isEnveloped, head: head.span, sharing: &shared)
    }
    return try socket.send(
      to: routingID.span, isEnveloped: isEnveloped, head: head.span, body: body.span)
  }

  /// Keeps a message for a peer whose queue is full; evicts the peer if too many bytes wait for it.
  private mutating func enqueue(_ message: Outgoing, _ slot: Int) {
    let id = message.connection
    if connections[slot].outbox.isEmpty {
      waiting.append(id)
      events.append(.blocked(id))
    }
    connections[slot].outbox.append(message)
    if connections[slot].outbox.isOverfull {
      reportUnread("\(connections[slot].outbox.debt)", slot)
      return evict(id, slot)
    }
    noteUnsent(message.body.count)
  }

  /// Sends the messages that wait, as far as the sockets accept them now.
  mutating func retry() throws(ZeroMQError) {
    guard !waiting.isEmpty else { return }
    let ids = waiting
    waiting.removeAll(keepingCapacity: true)
    for id in ids { try drain(id) }
  }

  private mutating func drain(_ id: ConnectionID) throws(ZeroMQError) {
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
      waiting.append(id)
    }
  }

  // The functions below count what peers leave unread in outboxes, libzmq's queues and the kernel.

  private mutating func noteUnsent(_ bytes: Int) {
    if unsent.note(bytes) { reckonUnsent() }
  }

  /// Whether a peer has left so much unread that the socket gets no more messages for it.
  private mutating func isBehind(_ slot: Int) -> Bool {
    connections[slot].outbox.mayBeBehind && !hasRead(slot)
  }

  /// Whether a peer has read nearly everything; if so, its count of unread bytes becomes 0.
  private mutating func hasRead(_ slot: Int) -> Bool {
    if connections[slot].isOpen,
      navd_unread_bytes(connections[slot].acceptance.descriptor) > Self.kernelBytes
    {
      return false
    }
    connections[slot].outbox.noteRead()
    return true
  }

  /// The bytes that the kernel may hold for a peer that reads.
  private static let kernelBytes: Int32 = 65_536

  /// Adds up the unread bytes of all peers, and evicts those with the most while the limit is
  /// exceeded.
  private mutating func reckonUnsent() {
    var debts: [UnsentBudget.Debt] = []
    for (id, slot) in connections.speaking {
      if connections[slot].outbox.handedBytes > 0 { _ = hasRead(slot) }
      let bytes = connections[slot].outbox.debt
      if bytes > 0 { debts.append(UnsentBudget.Debt(id: id, slot: slot, bytes: bytes)) }
    }
    for (debt, total) in unsent.reckon(debts) {
      reportUnread("\(debt.bytes) of \(total)", debt.slot)
      evict(debt.id, debt.slot)
    }
  }

  /// Reports that a peer is disconnected for the bytes that it left unread.
  private mutating func reportUnread(_ bytes: String, _ slot: Int) {
    let principal = connections[slot].peer.principal
    let text = "\(principal) is disconnected: it left \(bytes) bytes unread"
    incidents.append(Incident(.warning, .limited, text))
  }

  /// Evicts a peer that does not read: drops its messages, ends its session, shuts its connection
  /// down.
  private mutating func evict(_ id: ConnectionID, _ slot: Int) {
    connections[slot].isAbandoned = true
    connections[slot].outbox = Outbox()
    waiting.removeAll { $0 == id }
    events.append(.closed(id))
    // libzmq frees its queue for a peer only when the connection ends.
    shutDown(slot)
  }
}
