import NavigationCore

/// A reference to a session; `client` shows whether another client has reused the slot.
struct SessionRef: Hashable, Sendable {
  var slot: SessionSlot
  var client: ClientID
}

/// A client as the author of ops: the values that all its ops have in common.
///
/// A session has one `OpClient` for all its ops, which pass it on by one reference. In a cluster, the
/// key is for the shard that the session used last.
final class OpClient: Sendable {
  let author: Author
  let key: RememberedOps.Key

  init(name: String, _ client: ClientID, _ peer: Peer, _ shard: Shard = .first) {
    author = Author(name: name, principal: peer.principal, pid: peer.process)
    key = RememberedOps.Key(principal: peer.principal, client: client, shard: shard)
  }
}

/// One client's session, from its `hello` to its end.
struct Session: Sendable {
  // The members that every message to the session needs are close together in memory.
  var connection: ConnectionID
  var window: UInt64
  var hasNoFlowControl: Bool
  /// Whether the socket takes no more messages for the connection now.
  var isBlocked = false
  /// The octets sent so far under flow control.
  var sentOctets: UInt64 = 0
  var creditLimit: UInt64
  /// Whether the session's messages wait for the next wake, because the last output was full.
  var waitsForTurn = false
  var lastSentAt: UInt64
  var lastHeardAt: UInt64
  var peer: Peer
  var role: Role
  var client: ClientID
  var opClient: OpClient
  var heartbeat: UInt64
  /// The number of the last `ask` that the session was sent.
  var lastAsk: UInt64 = 0
  /// The number of ops whose batch is not durable, or that wait for the history.
  var opsInFlight = 0
  /// Malformed messages so far; the third ends the session.
  var malformedCount = 0
  /// The ops that navd has answered since the session began.
  var answeredOps: UInt64 = 0
  /// The watches that wait for navs, and whether a batch that is not durable has decided them.
  var waitingWatches: [(request: WatchRequest, isDecided: Bool)] = []
  /// The number of divergence reports in the present period of ten seconds.
  var divergenceReports: (period: UInt64, count: Int) = (0, 0)

  init(
    connection: ConnectionID, window: UInt64, hasNoFlowControl: Bool, at time: UInt64, peer: Peer,
    role: Role, client: ClientID, name: String, heartbeat: UInt64
  ) {
    self.connection = connection
    self.window = window
    self.hasNoFlowControl = hasNoFlowControl
    creditLimit = window
    lastSentAt = time
    lastHeardAt = time
    self.peer = peer
    self.role = role
    self.client = client
    opClient = OpClient(name: name, client, peer)
    self.heartbeat = heartbeat
  }

  var author: Author { opClient.author }

  var key: RememberedOps.Key { opClient.key }

  /// The name from the client's `hello`.
  var name: String { author.name }

  /// Counts a divergence report; returns whether to record it in the journal.
  ///
  /// A session records at most 8 reports in ten seconds, because more would show nothing new.
  mutating func mayRecordDivergence(at now: Instant) -> Bool {
    let period = now.boot / 10_000
    if divergenceReports.period != period { divergenceReports = (period, 0) }
    divergenceReports.count += 1
    return divergenceReports.count <= Self.reportsInTenSeconds
  }

  private static let reportsInTenSeconds = 8

  var hasCredit: Bool { !isBlocked && (hasNoFlowControl || sentOctets < creditLimit) }

  /// The most octets of a message of several diffs; nil if the session may be sent nothing now.
  ///
  /// At most 60 KiB, and less with a small window, so that one watch does not keep the others
  /// waiting.
  var maximumDiffsOctets: Int? {
    guard hasCredit, !waitsForTurn else { return nil }
    return hasNoFlowControl ? 60 * 1024 : min(60 * 1024, max(32 * 1024, Int(window / 2)))
  }

  static let vacant = Session(
    connection: ConnectionID(0), window: 0, hasNoFlowControl: false, at: 0,
    peer: .local(user: 0, group: 0, process: 0), role: .ui, client: ClientID(high: 0, low: 0),
    name: "", heartbeat: 0)
}

/// The sessions by slot, connection and client id, and the fences and op rates of connections.
///
/// Laws:
/// - A connection has at most one session, and so has a client id. Both indexes lead to slots in
///   use.
/// - `countsByPrincipal` has the number of sessions of each principal that has any.
/// - A fenced connection has no session.
///
/// Only `insert` and `remove` change which slots are in use.
struct Sessions: Sendable {
  private var slots = Slots<Session>()
  private var byConnection = NumberIndex()
  private var byClient: [ClientID: SessionSlot] = [:]
  private var countsByPrincipal: [String: Int] = [:]
  /// The connections whose client id another connection took over.
  private var fenced: Set<ConnectionID> = []
  /// The actors of the connections of gateways.
  ///
  /// A connection keeps its actor when the session ends: it never gets the rights of its gateway.
  private var actors: [ConnectionID: SessionActor] = [:]
  /// The ops of each connection in its newest second, if there is a limit.
  private(set) var rates: [ConnectionID: (second: UInt64, count: Int)] = [:]
  /// Whether a batch that is not durable has decided watches that waited for navs.
  private var decidesWaitingWatches = false

  var count: Int { slots.count }

  /// The slots in use, ascending; O(n).
  var indices: [SessionSlot] { slots.indices }

  subscript(_ slot: SessionSlot) -> Session {
    @inline(__always) unsafeAddress { unsafe slots.address(of: slot) }
    @inline(__always) unsafeMutableAddress { unsafe slots.mutableAddress(of: slot) }
  }

  func slot(of connection: ConnectionID) -> SessionSlot? {
    let slot = byConnection.find(connection.number).map { SessionSlot($0) }
    assert(slot.map { slots[$0].connection == connection } ?? true, "another connection's session")
    return slot
  }

  func slot(of client: ClientID) -> SessionSlot? {
    let slot = byClient[client]
    assert(slot.map { slots[$0].client == client } ?? true, "another client's session")
    return slot
  }

  func count(of principal: String) -> Int { countsByPrincipal[principal, default: 0] }

  func isLive(_ slot: SessionSlot) -> Bool { slots.isLive(slot) }

  /// Whether a session has not ended.
  func isLive(_ ref: SessionRef) -> Bool {
    slots.isLive(ref.slot) && slots[ref.slot].client == ref.client
  }

  /// Makes a reference to the session in a slot; it may be kept after the session has ended.
  func reference(to slot: SessionSlot) -> SessionRef {
    assert(isLive(slot), "slot \(slot.number) is vacant")
    return SessionRef(slot: slot, client: slots[slot].client)
  }

  /// Whether a session may be opened; one that replaces another session always may.
  func hasRoom(
    for client: ClientID, of principal: String, on connection: ConnectionID,
    _ limits: borrowing HubConfiguration
  ) -> Bool {
    if slot(of: connection) != nil || slot(of: client) != nil { return true }
    return count < limits.sessions && count(of: principal) < limits.sessionsPerPrincipal
  }

  /// Opens a session; the caller has ended former sessions of its connection and its client.
  mutating func insert(_ session: Session) -> SessionSlot {
    precondition(slot(of: session.connection) == nil, "the connection has a session")
    precondition(slot(of: session.client) == nil, "the client has a session")
    fenced.remove(session.connection)
    let slot = slots.insert(session)
    byConnection.insert(slot.number, session.connection.number)
    byClient[session.client] = slot
    countsByPrincipal[session.peer.principal, default: 0] += 1
    assert(byConnection.count == byClient.count && byClient.count == slots.count)
    return slot
  }

  mutating func remove(_ slot: SessionSlot) {
    let session = slots[slot]
    assert(self.slot(of: session.connection) == slot && self.slot(of: session.client) == slot)
    byConnection.remove(session.connection.number)
    byClient[session.client] = nil
    let left = count(of: session.peer.principal) - 1
    assert(left >= 0, "\(session.peer.principal) has \(left) sessions")
    countsByPrincipal[session.peer.principal] = left == 0 ? nil : left
    slots.remove(slot, leaving: .vacant)
    assert(byConnection.count == byClient.count && byClient.count == slots.count)
  }

  /// Notes that a message of a connection arrived; returns the slot of its session.
  mutating func noteMessage(on connection: ConnectionID, at now: Instant) -> SessionSlot? {
    guard let slot = slot(of: connection) else { return nil }
    slots[slot].lastHeardAt = now.boot
    return slot
  }

  // Connections, with a session or without.

  /// The actor of a connection; nil if it has had none.
  func actor(of connection: ConnectionID) -> SessionActor? {
    actors.isEmpty ? nil : actors[connection]
  }

  /// Notes the actor for whom a gateway speaks on a connection.
  mutating func note(_ actor: SessionActor, of connection: ConnectionID) {
    actors[connection] = actor
  }

  /// Whether another connection took over this connection's client id.
  func isFenced(_ connection: ConnectionID) -> Bool {
    !fenced.isEmpty && fenced.contains(connection)
  }

  /// Marks a connection, whose session has ended, so that its ops are refused until its next
  /// `hello`.
  mutating func fence(_ connection: ConnectionID) {
    assert(slot(of: connection) == nil, "a fenced connection has a session")
    fenced.insert(connection)
  }

  /// Forgets a closed connection; returns the slot of its session, which the caller must end.
  mutating func forget(_ connection: ConnectionID) -> SessionSlot? {
    fenced.remove(connection)
    rates[connection] = nil
    actors[connection] = nil
    return slot(of: connection)
  }

  /// Counts an op of a connection; returns the milliseconds to wait if it exceeds `limit` a second.
  ///
  /// The connection is counted, not the session, because a client can open another session by one
  /// message.
  mutating func delay(of connection: ConnectionID, over limit: Int, at now: Instant) -> UInt64? {
    guard limit > 0 else { return nil }
    let second = now.boot / 1000
    var rate = rates[connection] ?? (second, 0)
    if rate.second != second { rate = (second, 0) }
    assert(rate.count >= 0, "\(rate.count) ops in this second")
    rate.count += 1
    rates[connection] = rate
    return rate.count > limit ? 1000 - now.boot % 1000 : nil
  }

  // Ops in flight.

  /// Counts an op that is decided but not yet durable.
  mutating func beginOp(of slot: SessionSlot) {
    assert(isLive(slot))
    slots[slot].opsInFlight += 1
  }

  /// Ends the ops in flight of a batch that is durable, and counts one answer for each.
  mutating func finishOps(of changes: [Undo]) {
    for index in changes.indices {
      if case .inFlight(let slot) = changes[index] { finishOp(of: slot, answers: 1) }
    }
  }

  /// Ends one op in flight of a session and counts its answers; skips a session that has ended.
  mutating func finishOp(of slot: SessionSlot, answers: UInt64) {
    guard slots.isLive(slot), slots[slot].opsInFlight > 0 else { return }
    slots[slot].opsInFlight -= 1
    slots[slot].answeredOps += answers
  }

  // The watches that wait for navs.

  mutating func forgetWaitingWatches(_ nav: String, _ view: View, of slot: SessionSlot) {
    slots[slot].waitingWatches.removeAll { $0.request.nav == nav && $0.request.view == view }
  }

  /// Marks the watches that wait for a nav as decided, and returns these watches.
  mutating func decideWaitingWatches(_ nav: String) -> [(slot: SessionSlot, request: WatchRequest)]
  {
    var decided: [(slot: SessionSlot, request: WatchRequest)] = []
    for slot in indices {
      for (index, wait) in slots[slot].waitingWatches.enumerated()
      where wait.request.nav == nav && !wait.isDecided {
        slots[slot].waitingWatches[index].isDecided = true
        decided.append((slot, wait.request))
      }
    }
    if !decided.isEmpty { decidesWaitingWatches = true }
    return decided
  }

  /// Forgets the decided watches when everything is durable.
  mutating func forgetDecidedWatches() {
    guard decidesWaitingWatches else { return }
    decidesWaitingWatches = false
    for slot in indices { slots[slot].waitingWatches.removeAll(where: \.isDecided) }
  }

  /// Makes the watches of a nav wait again after a rollback of its creation.
  mutating func undecideWaitingWatches(_ nav: String) {
    guard decidesWaitingWatches else { return }
    for slot in indices {
      for index in slots[slot].waitingWatches.indices
      where slots[slot].waitingWatches[index].request.nav == nav {
        slots[slot].waitingWatches[index].isDecided = false
      }
    }
  }

  // All sessions.

  /// Gives each session the role of its peer; returns whether one has changed.
  mutating func renewRoles(by access: Access) -> Bool {
    var hasChanged = false
    for slot in indices {
      let role = access.role(of: slots[slot].peer)
      guard role != slots[slot].role else { continue }
      slots[slot].role = role
      hasChanged = true
    }
    return hasChanged
  }

  /// The slots of the sessions with the most answered ops, those first, at most `count`; O(n log
  /// n).
  func busiest(_ count: Int) -> [SessionSlot] {
    assert(count >= 0)
    let active = indices.filter { slots[$0].answeredOps > 0 }
      .sorted { (slots[$1].answeredOps, $0) < (slots[$0].answeredOps, $1) }
    return Array(active.prefix(count))
  }
}
