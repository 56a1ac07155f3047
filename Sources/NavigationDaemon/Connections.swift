import NavigationSync
import ZeroMQ

/// The peers of the ROUTER as the hub numbers them, in slots.
///
/// A routing id is libzmq's: a zero octet and 32 bits, which it does not use twice soon. Peers choose
/// none, see ``InboundGate``.
struct Connections {
  /// What is known of one peer.
  struct Connection: Sendable {
    var routingID: [UInt8]
    var peer: Peer
    /// The key that it proved, over a network.
    var key: CurvePublicKey?
    /// Whether the peer puts an empty frame before its messages, as REQ does.
    var isEnveloped = false
    /// The descriptor its first message came from; a hint only, the kernel uses numbers again.
    var descriptor: Int32?
    /// Tells it from a later one behind the same descriptor.
    var cookie: UInt64 = 0
    /// What the socket did not take, in order.
    var outbox: [Outgoing] = []
    var outboxBytes = 0
    /// What the socket took since the peer had last read nearly everything.
    var handedBytes = 0
    /// Whether the peer is given up: nothing is sent to it any more.
    var isAbandoned = false
    /// Whether its descriptor was closed, so that the next who uses its routing id may be another.
    var isDoubted = false
    /// Whether its key is not authorised any more: nothing is taken from it.
    var isRevoked = false

    /// Whether what it sends is taken.
    var isHeard: Bool { !isAbandoned && !isRevoked }

    static let vacant = Connection(
      routingID: [], peer: .local(user: 0, group: 0, process: 0), key: nil, descriptor: nil)
  }

  private var slots = ConnectionSlots()
  // Not `Slots`, which is another module's: what is generic there is not made for this type here, and
  // a message looks into its connection ten times.
  private var connections: [Connection] = []
  private var live: [Bool] = []
  private var free: [Int] = []
  private var descriptors: [Int32: ConnectionID] = [:]
  /// Who of this machine is connected, also those that have not said anything.
  var attendance = Attendance()

  var count: Int { connections.count - free.count }

  /// The slots in use, ascending.
  private var indices: [Int] { live.indices.filter { live[$0] } }

  /// The number of connections of one user, or by one key, that have not ended.
  func count(of peer: Peer) -> Int {
    indices.count {
      !connections[$0].isDoubted && connections[$0].peer.isOfSamePrincipal(as: peer)
    }
  }

  /// Those that are by a key, each with its number.
  var keyed: [(id: ConnectionID, slot: Int)] {
    indices.filter { connections[$0].key != nil }.compactMap { slot in
      id(of: connections[slot].routingID).map { ($0, slot) }
    }
  }

  /// All peers, each with its number.
  var all: [(id: ConnectionID, slot: Int)] {
    indices.compactMap { slot in
      id(of: connections[slot].routingID).map { ($0, slot) }
    }
  }

  private func id(of routingID: [UInt8]) -> ConnectionID? {
    Self.automaticID(routingID.span)
  }

  /// Where a peer is, if it is known.
  func slot(of id: ConnectionID) -> Int? { slots[id] }

  /// The peer in a slot.
  subscript(_ slot: Int) -> Connection {
    // Lent, not copied: a copy retains each of its members.
    _read { yield connections.span[slot] }
    _modify { yield &connections[slot] }
  }

  /// How long an automatic routing id is: a zero octet and 32 bits.
  static let automaticIDBytes = 5

  /// The number that stands for an automatic routing id; nil for one that the peer chose.
  static func automaticID(_ routingID: Span<UInt8>) -> ConnectionID? {
    guard routingID.count == automaticIDBytes, routingID[0] == 0 else { return nil }
    var number: UInt64 = 0
    for index in 1..<5 { number = number << 8 | UInt64(routingID[index]) }
    return ConnectionID(number)
  }

  /// Enters a peer that speaks for the first time; returns its slot.
  mutating func add(_ id: ConnectionID, _ connection: Connection) -> Int {
    let slot = free.popLast() ?? connections.count
    if slot == connections.count {
      connections.append(connection)
      live.append(true)
    } else {
      connections[slot] = connection
      live[slot] = true
    }
    slots[id] = slot
    if let descriptor = connection.descriptor { descriptors[descriptor] = id }
    return slot
  }

  /// Forgets a peer.
  mutating func remove(_ id: ConnectionID) {
    guard let slot = slots[id] else { return }
    let connection = connections[slot]
    connections[slot] = .vacant
    live[slot] = false
    free.append(slot)
    slots[id] = nil
    if let descriptor = connection.descriptor, descriptors[descriptor] == id {
      descriptors[descriptor] = nil
    }
  }

  /// Gives up what waits for a peer.
  mutating func forgetOutbox(of id: ConnectionID) {
    guard let slot = slots[id] else { return }
    connections[slot].outbox = []
    connections[slot].outboxBytes = 0
  }

  /// The peer that was last seen behind a descriptor.
  func connection(behind descriptor: Int32) -> ConnectionID? { descriptors[descriptor] }
}

extension Peer {
  /// Whether rights and limits are the same for both.
  func isOfSamePrincipal(as other: Peer) -> Bool {
    switch (self, other) {
    case (.local(let user, _, _), .local(let another, _, _)): user == another
    case (.key(let name, _), .key(let another, _)): name == another
    case (.local, .key), (.key, .local): false
    }
  }
}
