import CLinux
import NavigationSync

// What peers leave unread: in our outboxes, in the socket's queues and in the kernel.
//
// libzmq counts messages, not bytes, and does not tell what waits for one peer. But what the kernel
// still has for a peer can be asked: if that is little, the socket's queue is empty.

extension ServerLoop {
  /// Notes that so much more is on its way to peers; it is the socket's if a slot is given.
  mutating func noteUnsent(_ bytes: Int, handedTo slot: Int?) {
    if let slot { connections[slot].handedBytes += bytes }
    unsentRoom -= bytes
    if unsentRoom < 0 { reckonUnsent() }
  }

  /// Whether a peer has left so much unread that the socket is handed nothing more for it.
  mutating func isBehind(_ slot: Int) -> Bool {
    connections[slot].handedBytes > Self.handedBytes && !hasRead(slot)
  }

  /// Whether a peer has read nearly everything; then it owes nothing.
  private mutating func hasRead(_ slot: Int) -> Bool {
    if connections[slot].isOpen,
      navd_unread_bytes(connections[slot].acceptance.descriptor) > Self.kernelBytes
    {
      return false
    }
    connections[slot].handedBytes = 0
    return true
  }

  /// Adds up what is unread, and cuts off those who left the most while it is too much.
  private mutating func reckonUnsent() {
    let limit = configuration.limits.unsentTotalBytes
    var debts: [(id: ConnectionID, slot: Int, bytes: Int)] = []
    var total = 0
    for (id, slot) in connections.speaking {
      if connections[slot].handedBytes > 0 { _ = hasRead(slot) }
      let bytes = connections[slot].handedBytes + connections[slot].outboxBytes
      guard bytes > 0 else { continue }
      debts.append((id, slot, bytes))
      total += bytes
    }
    debts.sort { $0.bytes < $1.bytes }
    while total > limit, let most = debts.popLast() {
      let principal = connections[most.slot].peer.principal
      log(
        LogEntry(
          .warning, "\(principal) is cut off, who left \(most.bytes) of \(total) bytes unread",
          kind: .limited))
      cutOff(most.id, most.slot)
      total -= most.bytes
    }
    unsentRoom = max(limit - total, limit / 16)
  }

  /// Gives up a peer that does not read, with everything that waits for it.
  mutating func cutOff(_ id: ConnectionID, _ slot: Int) {
    connections[slot].isAbandoned = true
    connections[slot].handedBytes = 0
    connections.forgetOutbox(of: id)
    waiting.removeAll { $0 == id }
    afterthoughts.append(.closed(id))
    // The socket frees what it holds for a peer only when the connection ends.
    shutDown(slot)
  }

  /// Ends a connection by shutting its socket down; libzmq then closes the descriptor.
  func shutDown(_ slot: Int) {
    let acceptance = connections[slot].acceptance
    // libzmq may just have closed it, and accepted another one with the same number.
    guard connections[slot].isOpen, navd_socket_cookie(acceptance.descriptor) == acceptance.cookie
    else { return }
    navd_cut(acceptance.descriptor)
  }

  /// What one peer may leave unread in the socket; beyond, it waits in the outbox.
  private static let handedBytes = 8 << 20
  /// What the kernel may hold for a peer that reads.
  private static let kernelBytes: Int32 = 65_536
}
