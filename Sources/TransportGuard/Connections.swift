import NavigationCore
import NavigationHub
import ZeroMQ

/// The table of all connections, from the accept(2) of each until its last message is read.
///
/// A pure state machine. It takes observations and returns their consequences:
///
/// | observation | reported by |
/// | --- | --- |
/// | accepted, before anything else of the connection | `sparingAccept`, on libzmq's thread |
/// | closed: the descriptor is gone | `reportedClose`, on libzmq's thread |
/// | a request for admission | the ZAP handler |
/// | the first message | the loop, which has read it |
/// | the socket is empty: no message of a closed connection waits | the loop |
/// | time | the loop |
///
/// Laws, in any order of the observations: `openCount` is the number of descriptors that were
/// accepted and are not closed. A closed connection is removed once the socket was empty, or after
/// ``closedLifetime``. The end of each connection with an id is returned exactly once.
struct Connections {
  /// The milliseconds for which a closed connection stays in the table if the socket is never
  /// empty.
  static let closedLifetime: UInt64 = 500
  /// The milliseconds in which a connection over a network must send its first message.
  static let firstMessageTime: UInt64 = 10_000
  /// How often the table postpones that deadline for a connection that may have sent something.
  static let maximumPostponements = 3

  private var slotsByID = NumberIndex()
  // Not `Slots`, which is generic and in another module: the compiler would not specialise it here,
  // and each message accesses its connection ten times.
  private var connections: [Connection] = []
  private var freeSlots: [Int] = []
  private var openSlots: [Int32: Int] = [:]
  /// The number of open connections of each user, and under nil of those over networks.
  ///
  /// It is maintained instead of computed. With a scan at each acceptance, strangers that connect
  /// and close could keep the loop busy.
  private(set) var openCounts: [UInt32?: Int] = [:]
  /// The slots of closed connections, the oldest first.
  private var closedSlots: [Int] = []
  /// The earliest deadline of a first message, or an earlier time; nil without a deadline.
  private var firstMessageDueAt: UInt64?

  var openCount: Int { openSlots.count }

  /// The number of connections in the table, open or closed.
  var count: Int { connections.count - freeSlots.count }

  /// The slots in use, in ascending order.
  var usedSlots: [Int] { connections.indices.filter { connections[$0].acceptance.descriptor >= 0 } }

  /// The connections that have sent a message, with their ids.
  var speaking: [(id: ConnectionID, slot: Int)] {
    usedSlots.compactMap { slot in connections[slot].id.map { ($0, slot) } }
  }

  /// The slot of a connection that has sent a message; nil if there is none with this id.
  func slot(of id: ConnectionID) -> Int? { slotsByID.find(id.number) }

  func slot(behind descriptor: Int32) -> Int? { openSlots[descriptor] }

  subscript(_ slot: Int) -> Connection {
    // Yields the element instead of a copy, which would retain each member.
    _read { yield connections.span[slot] }
    _modify { yield &connections[slot] }
  }

  /// The length of a routing id that libzmq assigns, in bytes: a zero byte and 32 bits.
  static let automaticIDBytes = 5

  /// The number in a routing id that libzmq assigned; nil for one that the peer chose.
  static func automaticID(_ routingID: Span<UInt8>) -> ConnectionID? {
    guard routingID.count == automaticIDBytes, routingID[0] == 0 else { return nil }
    var number: UInt64 = 0
    for index in 1..<5 { number = number << 8 | UInt64(routingID[index]) }
    return ConnectionID(number)
  }

  // Observations.

  /// Enters an accepted connection, which was not entered before; returns its slot.
  ///
  /// Times are milliseconds of a monotonic clock, here and in all functions of the table.
  @discardableResult
  mutating func noteAccepted(_ acceptance: Acceptance, at now: UInt64) -> Int {
    // The kernel reused the number, so the connection that had it is closed.
    if let former = openSlots[acceptance.descriptor] { close(former, at: now) }
    let slot = freeSlots.popLast() ?? connections.count
    var connection = Connection(acceptance)
    if acceptance.origin == .network { connection.firstMessageDue = now + Self.firstMessageTime }
    if let due = connection.firstMessageDue {
      firstMessageDueAt = min(firstMessageDueAt ?? due, due)
    }
    if slot == connections.count { connections.append(.vacant) }
    connections[slot] = connection
    openSlots[acceptance.descriptor] = slot
    openCounts[acceptance.origin.user, default: 0] += 1
    return slot
  }

  /// Notes that a connection's descriptor was closed; ignores one with another `cookie`.
  mutating func noteClosed(_ descriptor: Int32, cookie: UInt64, at now: UInt64) {
    guard let slot = openSlots[descriptor], connections[slot].acceptance.cookie == cookie else {
      return
    }
    close(slot, at: now)
  }

  /// Notes that a connection's descriptor was closed, by the kernel's number of its socket.
  ///
  /// O(n); the audit calls it for connections that the kernel no longer has.
  mutating func noteClosed(cookie: UInt64, at now: UInt64) {
    for slot in openSlots.values where connections[slot].acceptance.cookie == cookie {
      return close(slot, at: now)
    }
  }

  private mutating func close(_ slot: Int, at now: UInt64) {
    let acceptance = connections[slot].acceptance
    openSlots[acceptance.descriptor] = nil
    let left = openCounts[acceptance.origin.user, default: 1] - 1
    openCounts[acceptance.origin.user] = left > 0 ? left : nil
    connections[slot].isOpen = false
    if connections[slot].id == nil { moveAdmissionToSilent(from: slot) }
    connections[slot].firstMessageDue = nil
    connections[slot].outbox.noteRead()
    connections[slot].removalDue = now + Self.closedLifetime
    closedSlots.append(slot)
  }

  /// Notes the first message of a connection, and gives the connection its id.
  ///
  /// A message names its descriptor, which the kernel may have given to another connection since, and
  /// the number of the admission of its connection. The latter exceeds the count of admissions at the acceptance of its connection,
  /// but not the count at the next acceptance with that descriptor. The result is nil
  /// if the connection is no longer in the table.
  mutating func noteFirstMessage(
    _ id: ConnectionID, _ routingID: [UInt8], from peer: Peer, key: CurvePublicKey?,
    admission: UInt64, descriptor: Int32
  ) -> Int? {
    guard let slot = slot(of: admission, behind: descriptor), connections[slot].id == nil else {
      return nil
    }
    if connections[slot].admission != admission {
      // Another silent connection of the same origin holds this admission: exchange the two. A
      // closed connection has passed its admission on already, perhaps to one that was admitted
      // since.
      if connections[slot].isOpen,
        let other = usedSlots.first(where: { connections[$0].admission == admission })
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
    slotsByID.insert(slot, id.number)
    return slot
  }

  private func slot(of admission: UInt64, behind descriptor: Int32) -> Int? {
    // The newest first: it is the last connection that was accepted before the admission.
    if let slot = openSlots[descriptor], connections[slot].acceptance.admissionsBefore < admission {
      return slot
    }
    return closedSlots.last {
      connections[$0].acceptance.descriptor == descriptor
        && connections[$0].acceptance.admissionsBefore < admission
    }
  }

  /// Notes that the socket was empty, so that no message of a closed connection waits; returns the
  /// ids of the closed connections whose end the hub must handle.
  mutating func noteSocketEmpty() -> [ConnectionID] {
    guard !closedSlots.isEmpty else { return [] }
    defer { closedSlots.removeAll(keepingCapacity: true) }
    return closedSlots.compactMap { remove($0) }
  }

  /// Removes a connection; returns its id if the hub must handle its end.
  private mutating func remove(_ slot: Int) -> ConnectionID? {
    let (id, isEvicted) = (connections[slot].id, connections[slot].isEvicted)
    connections[slot] = .vacant
    freeSlots.append(slot)
    guard let id else { return nil }
    slotsByID.remove(id.number)
    return isEvicted ? nil : id
  }

  // Deadlines.

  /// The time at which `takeDue` may have work, in milliseconds, or an earlier time; nil for never.
  var wakeAt: UInt64? {
    guard let first = closedSlots.first, let removal = connections[first].removalDue else {
      return firstMessageDueAt
    }
    return min(removal, firstMessageDueAt ?? removal)
  }

  /// Removes closed connections after ``closedLifetime``; finds those whose first message is late.
  ///
  /// Returns the ids whose end the hub must handle, and the slots of silent connections, each once
  /// unless the caller postpones its deadline.
  mutating func takeDue(at now: UInt64) -> (ended: [ConnectionID], silent: [Int]) {
    let late = closedSlots.prefix { (connections[$0].removalDue ?? 0) <= now }.count
    let ended = closedSlots.prefix(late).compactMap { remove($0) }
    closedSlots.removeFirst(late)
    guard let firstMessageDueAt, firstMessageDueAt <= now else { return (ended, []) }
    let silent = usedSlots.filter { (connections[$0].firstMessageDue ?? .max) <= now }
    for slot in silent { connections[slot].firstMessageDue = nil }
    self.firstMessageDueAt = usedSlots.compactMap { connections[$0].firstMessageDue }.min()
    return (ended, silent)
  }

  /// Postpones the deadline of a silent connection by ``firstMessageTime``; false after
  /// ``maximumPostponements`` times.
  mutating func postpone(_ slot: Int, at now: UInt64) -> Bool {
    guard connections[slot].postponements < Self.maximumPostponements else { return false }
    connections[slot].postponements += 1
    let due = now + Self.firstMessageTime
    connections[slot].firstMessageDue = due
    firstMessageDueAt = min(firstMessageDueAt ?? due, due)
    return true
  }
}

/// An accepted connection, as the kernel describes it.
struct Acceptance: Hashable, Sendable {
  /// The descriptor, which the kernel can give to another connection after close(2).
  var descriptor: Int32
  /// The kernel's number of the socket (SO_COOKIE), unique since the machine started.
  var cookie: UInt64
  var origin: Connection.Origin
  /// The number of admissions answered before the acceptance, which belong to other connections.
  var admissionsBefore: UInt64
}

/// One connection, from its acceptance until its last message is read.
struct Connection: Sendable {
  /// The origin of a connection, as far as the kernel knows it.
  enum Origin: Hashable, Sendable {
    case process(user: UInt32, number: Int32)
    case network

    /// The origin that a connection of this peer must have.
    init(_ peer: Peer) {
      switch peer {
      case .local(let user, _, let process, _): self = .process(user: user, number: process)
      case .key: self = .network
      case .actor: preconditionFailure("the transport knows no actors")
      }
    }
  }

  let acceptance: Acceptance
  /// Whether the descriptor is open; messages of a closed connection can wait in the socket until
  /// the loop has read all messages.
  var isOpen = true
  /// The number of the connection's admission; 0 before it is admitted.
  ///
  /// Until the first message, the number may belong to another connection of the same origin.
  var admission: UInt64 = 0
  /// The admitted peer, which sends all messages of the connection.
  var peer: Peer
  /// The number by which the hub knows the connection; nil before its first message.
  var id: ConnectionID?
  /// The routing id that libzmq assigned: a zero byte and a 32-bit counter.
  ///
  /// ``InboundGate`` rejects peers that choose their own.
  var routingID: [UInt8] = []
  /// The key that the peer proved; nil for a peer on this machine.
  var key: CurvePublicKey?
  /// Whether the peer puts an empty frame before its messages, as REQ does.
  var isEnveloped = false
  /// The deadline of the first message, in milliseconds; nil if there is none.
  var firstMessageDue: UInt64?
  var postponements = 0
  /// The time at which the table removes the closed connection even if the socket never was empty,
  /// in milliseconds; nil while it is open.
  var removalDue: UInt64?
  var outbox = Outbox()
  /// Whether navd has evicted the peer: navd sends it nothing more, and has ended its session.
  var isEvicted = false
  /// Whether the peer's key is no longer authorised, so that navd ignores all its messages.
  var isRevoked = false

  init(_ acceptance: Acceptance) {
    self.acceptance = acceptance
    // A placeholder until the admission: no key has an empty name.
    peer = .key(name: "", address: "")
  }

  /// Whether navd handles messages of the peer.
  var isListenedTo: Bool { !isEvicted && !isRevoked }

  static let vacant = Connection(
    Acceptance(descriptor: -1, cookie: 0, origin: .network, admissionsBefore: 0))
}

extension Peer {
  /// Whether both peers are the same user or key, so that rights and limits are common to them.
  func isOfSamePrincipal(as other: Peer) -> Bool {
    switch (self, other) {
    case (.local(let user, _, _, _), .local(let another, _, _, _)): user == another
    case (.key(let name, _), .key(let another, _)): name == another
    case (.local, .key), (.key, .local): false
    case (.actor, _), (_, .actor): preconditionFailure("the transport knows no actors")
    }
  }
}
