package import NavigationCore

/// The client's state machine for all daemons of a cluster: one session for each endpoint.
///
/// The daemons divide the navs among themselves (protocol.md, 17). A nav starts at the *seed*, the
/// session with a configured address. When a daemon answers that it does not have a nav,
/// everything of the nav moves to the session with the daemon that has it: watches with their
/// mirrors, unanswered requests, roles and leases. Other navs are not disturbed.
///
/// It has no clock and does no I/O; see `SessionReplica`. With one daemon, there is only the seed.
package struct ClusterReplica: Sendable {
  struct Member {
    let link: LinkID
    /// The address; nil for the configured ones.
    var address: DaemonAddress?
    /// The endpoint of the present connection, as far as it is known.
    var place: String?
    var session: SessionReplica
    /// The time of the newest `hello`.
    var greetedAt: UInt64 = 0
    /// The answer to the newest `hello`.
    var welcome: Welcome?
    /// Since when there has been no open session; nil while there is one.
    var lostAt: UInt64?
    /// The number of failed attempts to connect since then.
    var failures = 0
    /// When to end the session, which holds nothing; nil while it holds something.
    var closesAt: UInt64?
  }

  /// The recent moves of a nav.
  struct Journey {
    /// The number of moves in quick succession, without an answer or a wait for an owner in between.
    var moves = 0
    /// The number of times that any daemon was to be asked.
    var turns = 0
    var lastAt: UInt64
  }

  /// The wait of a nav before the client asks again.
  struct Pause {
    var until: UInt64
    /// The daemon to ask then; nil for any.
    var next: DaemonAddress?
  }

  /// The milliseconds in which a further move of a nav counts as a cycle of daemons.
  ///
  /// The client follows the first two moves without an answer at once. From then on it waits before
  /// each, longer each time.
  static let quickMoveMilliseconds: UInt64 = 10_000
  /// How long a daemon may be without a session before its navs are asked for elsewhere.
  package static let unreachableMilliseconds: UInt64 = 3000
  /// After how many failed attempts to connect that happens, even if it is earlier.
  package static let unreachableFailures = 4
  /// How long a session that holds nothing stays open, for the next request.
  static let idleMilliseconds: UInt64 = 10_000
  /// How long after a `hello` of this client a session may be over because of it.
  static let ownFenceMilliseconds: UInt64 = 30_000
  /// The least number of entries in `homes` at which those of unused navs are dropped.
  static let leastHomes = 4096

  /// The sessions; the seed is the first.
  var members: [Member]
  /// The navs that are neither at the seed nor waiting, with their sessions.
  var homes: [String: LinkID] = [:]
  /// At how many entries in `homes` those of unused navs are dropped.
  var mostHomes = leastHomes
  var journeys: [String: Journey] = [:]
  /// When those are dropped from `journeys` whose last move is long ago; nil if there are none.
  var journeysEndAt: UInt64?
  /// The navs that wait; `waiting` holds what belongs to them.
  var pauses: [String: Pause] = [:]
  /// Holds what belongs to waiting navs; it is never connected.
  var waiting: SessionReplica
  /// The time of the newest `hello` on a link that is closed.
  var formerlyGreetedAt: UInt64 = 0
  private var links: UInt64 = 1
  private let makeSession: @Sendable (UInt64) -> SessionReplica
  var random: SeededGenerator

  /// Makes a client that is not connected; see `SessionReplica.init`.
  ///
  /// The caller connects `LinkID.first` to the configured addresses.
  package init(
    client: ClientID, name: String = "", heartbeat: UInt64 = 5000, seed: UInt64
  ) {
    makeSession = { SessionReplica(client: client, name: name, heartbeat: heartbeat, seed: $0) }
    members = [Member(link: .first, session: makeSession(seed))]
    waiting = makeSession(seed)
    random = SeededGenerator(seed: seed &+ 1)
  }

  /// The state of the session with the seed.
  package var phase: SessionReplica.Phase { members[0].session.phase }

  package var name: String { waiting.name }

  package var client: ClientID { waiting.client }

  /// The latest time of the next call of `tick`; nil while no deadline runs.
  package var wakeAt: UInt64? {
    var wakeAt = members[0].session.wakeAt
    guard !isAlone else { return wakeAt }
    func note(_ time: UInt64?) {
      if let time { wakeAt = min(wakeAt ?? .max, time) }
    }
    for index in members.indices {
      note(members[index].session.wakeAt)
      note(members[index].closesAt)
      if isReplaceable(index) {
        note(members[index].lostAt.map { $0 + Self.unreachableMilliseconds })
      }
    }
    note(waiting.wakeAt)
    for pause in pauses.values { note(pause.until) }
    return wakeAt
  }

  /// The endpoint of the daemon that has a nav, as far as it is known.
  package func place(of nav: String) -> String? { home(of: nav).flatMap { members[$0].place } }

  /// Whether there is only the seed, at a configured address, and no nav has moved.
  var isAlone: Bool {
    members.count == 1 && members[0].address == nil && pauses.isEmpty && journeysEndAt == nil
  }

  /// Whether navs of a member can be asked for elsewhere.
  func isReplaceable(_ index: Int) -> Bool {
    index > 0 || members[0].address != nil || members.contains { $0.session.isOpen }
  }

  /// The place of a session in `members`; nil if it has ended.
  func index(of link: LinkID) -> Int? { members.firstIndex { $0.link == link } }

  /// The member with the session of a nav; nil if the nav waits.
  func home(of nav: String) -> Int? {
    if homes.isEmpty, pauses.isEmpty { return 0 }
    if pauses[nav] != nil { return nil }
    return homes[nav].flatMap { index(of: $0) } ?? 0
  }

  mutating func addMember(_ address: DaemonAddress, at now: UInt64) -> Int {
    links += 1
    let session = makeSession(random.next())
    members.append(
      Member(
        link: LinkID(number: links), address: address, place: address.endpoint, session: session,
        lostAt: now))
    return members.count - 1
  }

  /// Changes the session of a nav; the numbers of messages rise over all sessions.
  mutating func withSession<Value>(
    _ index: Int?, _ body: (inout SessionReplica) -> Value
  ) -> Value {
    guard let index else {
      waiting.numbers = members[0].session.numbers
      defer { members[0].session.numbers = waiting.numbers }
      return body(&waiting)
    }
    guard index > 0 else { return body(&members[0].session) }
    members[index].session.numbers = members[0].session.numbers
    defer { members[0].session.numbers = members[index].session.numbers }
    return body(&members[index].session)
  }
}

/// Identifies a connection of a client; a number is never used again.
package struct LinkID: Hashable, Sendable {
  package let number: UInt64

  /// The connection to the configured addresses.
  package static let first = LinkID(number: 1)
}

/// An output of a client, which the caller must perform; outputs are in order.
package enum ClusterOutput: Sendable {
  /// Send this message; drop it if the connection is lost first.
  case send(LinkID, ClientVerb, [UInt8])
  /// Make this connection at this time, to an address or, if it is nil, to the configured ones.
  ///
  /// Close the connection first that the link has, if it has one.
  case connect(LinkID, DaemonAddress?, at: UInt64)
  /// Close the connection for good, after the messages sent so far have left.
  case close(LinkID)
  /// The session of this link is lost: drop the messages that have not left.
  case dropUnsent(LinkID)
  /// Pass this event to the user; `opened` and `lost` are about the seed.
  case event(SessionEvent)
}
