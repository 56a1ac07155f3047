import NavigationHub
import ZeroMQ

/// Every fact about every connection, from its accept(2) until nothing of it is left.
///
/// A pure state machine; what is observed comes in, and what follows is returned:
///
/// | observed | by |
/// | --- | --- |
/// | accepted, before all else of that connection | `sparingAccept`, on libzmq's thread |
/// | closed: the descriptor is gone | `reportedClose`, on libzmq's thread |
/// | an admission is asked for | the ZAP handler |
/// | the first message | the loop, which has read it |
/// | the socket is empty: no message of a closed connection waits | the loop |
/// | time | the loop |
///
/// Laws, in whatever order these come: `openCount` is the number of descriptors that were accepted
/// and are not closed; of a connection that is closed nothing is left once the socket was empty, or
/// after ``patience``; the end of each connection that has spoken is returned exactly once.
struct Connections {
  /// How long a closed connection is kept while the socket is never found empty, in milliseconds.
  static let patience: UInt64 = 500
  /// How long a connection over a network may send no message, in milliseconds.
  static let silence: UInt64 = 10_000
  /// How often that is postponed for a connection that may have sent something.
  static let postponements = 3

  private var slots = ConnectionSlots()
  // Not `Slots`, which is another module's: what is generic there is not made for this type here, and
  // a message looks into its connection ten times.
  private var connections: [Connection] = []
  private var live: [Bool] = []
  private var free: [Int] = []
  /// The open connection behind each descriptor.
  private var open: [Int32: Int] = [:]
  /// The open connections of each user, and under nil those over networks.
  ///
  /// Counted as they come and go: with a scan for each acceptance, strangers that connect and close
  /// could keep the loop busy.
  private(set) var openCounts: [UInt32?: Int] = [:]
  /// The connections whose descriptors are closed, the oldest first.
  private var closed: [Int] = []
  /// When the first of those that have not spoken may be due; never too late.
  private var silentAt: UInt64?

  /// The number of connections that are open.
  var openCount: Int { open.count }

  /// The connections of which something is known, those that are closed too.
  var count: Int { connections.count - free.count }

  /// The slots in use, ascending.
  var indices: [Int] { live.indices.filter { live[$0] } }

  /// Those that have spoken, each with its number.
  var speaking: [(id: ConnectionID, slot: Int)] {
    indices.compactMap { slot in connections[slot].id.map { ($0, slot) } }
  }

  /// Where a peer is, if it has spoken.
  func slot(of id: ConnectionID) -> Int? { slots[id] }

  /// The open connection behind a descriptor.
  func slot(behind descriptor: Int32) -> Int? { open[descriptor] }

  /// The connection in a slot.
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

  // What is observed.

  /// Enters a connection that was accepted.
  ///
  /// - Parameters:
  ///   - acceptance: of another connection than all before.
  ///   - now: the time, in milliseconds of a clock that never goes back, as everywhere here.
  /// - Returns: its slot.
  @discardableResult
  mutating func noteAccepted(_ acceptance: Acceptance, at now: UInt64) -> Int {
    // The kernel gave the number again, so what was behind it is gone.
    if let former = open[acceptance.descriptor] { close(former, at: now) }
    let slot = free.popLast() ?? connections.count
    var connection = Connection(acceptance)
    if acceptance.origin == .network { connection.firstMessageDue = now + Self.silence }
    if let due = connection.firstMessageDue { silentAt = min(silentAt ?? due, due) }
    if slot == connections.count {
      connections.append(connection)
      live.append(true)
    } else {
      connections[slot] = connection
      live[slot] = true
    }
    open[acceptance.descriptor] = slot
    openCounts[acceptance.origin.user, default: 0] += 1
    return slot
  }

  /// Notes that the descriptor of a connection is gone.
  mutating func noteClosed(_ descriptor: Int32, cookie: UInt64, at now: UInt64) {
    guard let slot = open[descriptor], connections[slot].acceptance.cookie == cookie else { return }
    close(slot, at: now)
  }

  /// Notes that the descriptor of a connection is gone, by the kernel's number of the socket.
  ///
  /// O(n): for what the kernel is asked about afterwards.
  mutating func noteClosed(cookie: UInt64, at now: UInt64) {
    for slot in open.values where connections[slot].acceptance.cookie == cookie {
      return close(slot, at: now)
    }
  }

  private mutating func close(_ slot: Int, at now: UInt64) {
    let acceptance = connections[slot].acceptance
    open[acceptance.descriptor] = nil
    let left = openCounts[acceptance.origin.user, default: 1] - 1
    openCounts[acceptance.origin.user] = left > 0 ? left : nil
    connections[slot].isOpen = false
    if connections[slot].id == nil { passOnAdmission(of: slot) }
    connections[slot].firstMessageDue = nil
    connections[slot].outbox.noteRead()
    connections[slot].removalDue = now + Self.patience
    closed.append(slot)
  }

  /// Notes the first message of a connection.
  ///
  /// A message names the descriptor that it came by; the kernel may have reused the number since. It
  /// also names the number of its admission. That lies behind the acceptance of its own connection
  /// and before the acceptance of the next one with that descriptor.
  ///
  /// - Returns: its slot; nil for a connection that is not here any more.
  mutating func noteFirstMessage(
    _ id: ConnectionID, _ routingID: [UInt8], from peer: Peer, key: CurvePublicKey?,
    admission: UInt64, descriptor: Int32
  ) -> Int? {
    guard let slot = slot(of: admission, behind: descriptor), connections[slot].id == nil else {
      return nil
    }
    if connections[slot].admission != admission {
      // It was taken for another's of the same origin, which has not spoken yet. A connection that is
      // closed has left its own to another, which may have been admitted in its place since.
      if connections[slot].isOpen,
        let other = indices.first(where: { connections[$0].admission == admission })
      {
        connections[other].admission = connections[slot].admission
        connections[other].peer = connections[slot].peer
      }
      connections[slot].admission = admission
    }
    connections[slot].peer = peer
    connections[slot].key = key
    connections[slot].id = id
    connections[slot].routingID = routingID
    connections[slot].firstMessageDue = nil
    slots[id] = slot
    return slot
  }

  private func slot(of admission: UInt64, behind descriptor: Int32) -> Int? {
    // The newest first: of those accepted before the admission the last one is meant.
    if let slot = open[descriptor], connections[slot].acceptance.admissions < admission {
      return slot
    }
    return closed.last {
      connections[$0].acceptance.descriptor == descriptor
        && connections[$0].acceptance.admissions < admission
    }
  }

  /// Notes that the socket was empty, so nothing waits of those that were closed before.
  ///
  /// - Returns: the connections whose end the hub has to handle.
  mutating func noteEmpty() -> [ConnectionID] {
    guard !closed.isEmpty else { return [] }
    defer { closed.removeAll(keepingCapacity: true) }
    return closed.compactMap { remove($0) }
  }

  /// Forgets a connection; returns its number if the hub has to handle its end.
  private mutating func remove(_ slot: Int) -> ConnectionID? {
    let (id, isAbandoned) = (connections[slot].id, connections[slot].isAbandoned)
    connections[slot] = .vacant
    live[slot] = false
    free.append(slot)
    guard let id else { return nil }
    slots[id] = nil
    return isAbandoned ? nil : id
  }

  // What is due.

  /// What has become due.
  struct Due: Hashable {
    /// The connections whose end the hub has to handle.
    var ended: [ConnectionID] = []
    /// Open connections over a network whose first message did not come in time.
    var silent: [Int] = []
  }

  /// When something may be due, in milliseconds; never too late.
  var wakeAt: UInt64? {
    guard let first = closed.first, let removal = connections[first].removalDue else {
      return silentAt
    }
    return min(removal, silentAt ?? removal)
  }

  /// Takes what is due: each silent connection once, unless it is postponed.
  mutating func takeDue(at now: UInt64) -> Due {
    var due = Due()
    let late = closed.prefix { (connections[$0].removalDue ?? 0) <= now }.count
    due.ended = closed.prefix(late).compactMap { remove($0) }
    closed.removeFirst(late)
    guard let silentAt, silentAt <= now else { return due }
    for slot in indices where (connections[slot].firstMessageDue ?? .max) <= now {
      connections[slot].firstMessageDue = nil
      due.silent.append(slot)
    }
    self.silentAt = indices.compactMap { connections[$0].firstMessageDue }.min()
    return due
  }

  /// Waits once more for a silent connection.
  ///
  /// - Returns: false if that was done often enough.
  mutating func postpone(_ slot: Int, at now: UInt64) -> Bool {
    guard connections[slot].postponements < Self.postponements else { return false }
    connections[slot].postponements += 1
    let due = now + Self.silence
    connections[slot].firstMessageDue = due
    silentAt = min(silentAt ?? due, due)
    return true
  }
}
