package import NavigationCore

/// The client's state machine for all daemons of a cluster: one session for each endpoint.
///
/// The daemons divide the navs among themselves (protocol.md, 17). A nav starts at the *seed*, the
/// session with a configured address. When a daemon answers that it does not have a nav,
/// everything of the nav moves to the session with the daemon that has it: watches with their
/// mirrors, unanswered requests, roles and leases. The move does not disturb other navs.
///
/// It has no clock and does no I/O; see `SessionReplica`. With one daemon, the seed is the only
/// session.
package struct ClusterReplica: Sendable {
  /// The session with one daemon of the cluster, and the state of its connection.
  struct Member {
    let link: LinkID
    /// The address that another daemon named; nil for the configured addresses.
    var address: DaemonAddress?
    /// The endpoint of the present connection; nil if the caller does not know it.
    var connectedEndpoint: String?
    var session: SessionReplica
    /// The time of the newest `hello`.
    var greetedAt: UInt64 = 0
    /// The answer to the newest `hello`.
    var welcome: Welcome?
    /// Since when the session has not been open; nil while it is open.
    var lostAt: UInt64?
    /// The number of failed attempts to connect since `lostAt`.
    var failures = 0
    /// When to end the session if it stays idle; nil while it is not idle.
    var closesAt: UInt64?
  }

  /// The recent moves of a nav from daemon to daemon.
  struct MoveHistory {
    /// The number of moves since a daemon last answered for the nav, or reported no owner.
    var moves = 0
    /// The number of moves that named no daemon, so that the client asked any of them.
    var anyDaemonAsks = 0
    var lastMoveAt: UInt64
  }

  /// A nav's wait before the client asks a daemon for it again.
  struct Pause {
    var until: UInt64
    /// The daemon to ask after the pause; nil for any.
    var next: DaemonAddress?
  }

  /// The time in which a further move of a nav counts as part of a cycle among daemons.
  ///
  /// The client follows the first two moves at once. It waits before each further move, longer each
  /// time.
  static let quickMoveMilliseconds: UInt64 = 10_000
  /// How long a daemon may be without a session before the client asks others for its navs.
  package static let unreachableMilliseconds: UInt64 = 3000
  /// The number of failed attempts to connect after which the client asks others for the navs.
  package static let unreachableFailures = 4
  /// How long a session that has nothing to do stays open for the next request.
  static let idleMilliseconds: UInt64 = 10_000
  /// How long after its `hello` on one link the client may be the cause of `fenced` on another.
  static let ownHelloFenceMilliseconds: UInt64 = 30_000
  /// The least value of `navLinksLimit`.
  static let minimumNavLinksLimit = 4096

  /// The sessions; the seed is the first.
  var members: [Member]
  /// The link to the daemon that has the nav, for navs neither at the seed nor in `pauses`.
  var navLinks: [String: LinkID] = [:]
  /// The number of entries at which the client removes those of unused navs from `navLinks`.
  var navLinksLimit = minimumNavLinksLimit
  var moveHistories: [String: MoveHistory] = [:]
  /// When the client removes the old entries of `moveHistories`; nil if it has none.
  var moveHistoriesExpireAt: UInt64?
  /// The navs for which the client waits before it asks a daemon.
  var pauses: [String: Pause] = [:]
  /// Has the watches, requests and duties of the navs in `pauses`; it is never connected.
  var pausedNavsSession: SessionReplica
  /// The time of the newest `hello` among the links that are closed.
  var newestClosedGreeting: UInt64 = 0
  private var linkCount: UInt64 = 1
  private let makeSession: @Sendable (_ seed: UInt64) -> SessionReplica
  var random: SeededGenerator

  /// Makes a client that is not connected; see `SessionReplica.init`.
  ///
  /// The caller connects `LinkID.first` to the configured addresses.
  package init(
    client: ClientID, name: String = "", window: UInt64 = 65536, heartbeat: UInt64 = 5000,
    seed: UInt64
  ) {
    makeSession = {
      SessionReplica(client: client, name: name, window: window, heartbeat: heartbeat, seed: $0)
    }
    members = [Member(link: .first, session: makeSession(seed))]
    pausedNavsSession = makeSession(seed)
    random = SeededGenerator(seed: seed &+ 1)
  }

  /// The state of the session with the seed.
  package var phase: SessionReplica.Phase { members[0].session.phase }

  package var name: String { pausedNavsSession.name }

  package var client: ClientID { pausedNavsSession.client }

  /// When the caller must call `tick` at the latest; nil while no deadline runs.
  package var wakeAt: UInt64? {
    var wakeAt = members[0].session.wakeAt
    guard !hasOnlySeed else { return wakeAt }
    func note(_ time: UInt64?) {
      if let time { wakeAt = min(wakeAt ?? .max, time) }
    }
    for index in members.indices {
      note(members[index].session.wakeAt)
      note(members[index].closesAt)
      if hasAlternative(toMember: index) {
        note(members[index].lostAt.map { $0 + Self.unreachableMilliseconds })
      }
    }
    note(pausedNavsSession.wakeAt)
    for pause in pauses.values { note(pause.until) }
    return wakeAt
  }

  /// The endpoint of the daemon that has a nav; nil if the client does not know it.
  package func endpoint(of nav: String) -> String? {
    memberIndex(ofNav: nav).flatMap { members[$0].connectedEndpoint }
  }

  /// Whether the seed is the only session, at a configured address, and no nav has moved.
  var hasOnlySeed: Bool {
    members.count == 1 && members[0].address == nil && pauses.isEmpty
      && moveHistoriesExpireAt == nil
  }

  /// Whether the client can ask another daemon, or another address, for the navs of a member.
  func hasAlternative(toMember index: Int) -> Bool {
    index > 0 || members[0].address != nil || members.contains { $0.session.isOpen }
  }

  /// The index in `members` of the session of a link; nil if it has ended.
  func index(of link: LinkID) -> Int? { members.firstIndex { $0.link == link } }

  /// The index in `members` of the session of a nav; nil while the nav is in `pauses`.
  func memberIndex(ofNav nav: String) -> Int? {
    if navLinks.isEmpty, pauses.isEmpty { return 0 }
    if pauses[nav] != nil { return nil }
    return navLinks[nav].flatMap { index(of: $0) } ?? 0
  }

  mutating func addMember(_ address: DaemonAddress, at now: UInt64) -> Int {
    linkCount += 1
    let session = makeSession(random.next())
    members.append(
      Member(
        link: LinkID(number: linkCount), address: address, connectedEndpoint: address.endpoint,
        session: session, lostAt: now))
    return members.count - 1
  }

  /// Changes the session of a member, or with nil `pausedNavsSession`.
  ///
  /// It lends the counters of the seed to that session, so that they rise over all sessions.
  mutating func withSession<Value>(
    _ index: Int?, _ body: (inout SessionReplica) -> Value
  ) -> Value {
    guard let index else {
      pausedNavsSession.counters = members[0].session.counters
      defer { members[0].session.counters = pausedNavsSession.counters }
      return body(&pausedNavsSession)
    }
    guard index > 0 else { return body(&members[0].session) }
    members[index].session.counters = members[0].session.counters
    defer { members[0].session.counters = members[index].session.counters }
    return body(&members[index].session)
  }
}

/// Identifies a connection of a client; the client uses no number twice.
package struct LinkID: Hashable, Sendable {
  package let number: UInt64

  /// The connection to the configured addresses.
  package static let first = LinkID(number: 1)
}

/// An output of a client, which the caller must perform; the outputs are in order.
package enum ClusterOutput: Sendable {
  /// Send this message; drop it if the connection is lost first.
  case send(LinkID, ClientVerb, [UInt8])
  /// Connect this link at this time to an address, or with nil to the configured ones.
  ///
  /// First close the connection that the link has, if any.
  case connect(LinkID, DaemonAddress?, at: UInt64)
  /// Close the connection for good, after the messages sent so far have left.
  case close(LinkID)
  /// Drop the messages of this link that have not left, because its session is lost.
  case dropUnsent(LinkID)
  /// Pass this event to the program; `opened` and `lost` are about the seed.
  case event(SessionEvent)
}
