package import NavigationProtocol

/// The client's twin of the daemon for one session: watches, ops in flight, credit and liveness.
///
/// No clock, no I/O. What happened goes in with the time in milliseconds on a clock that never
/// jumps; what must follow comes out, in order. Randomness comes from a seed. A session is opened
/// anew after every loss of the connection, and goes on with the same watches and ops.
package struct SessionReplica: Sendable {
  /// How far the session is.
  package enum Phase: Hashable, Sendable {
    /// Nothing is connected.
    case unconnected
    /// `hello` was sent; everything but its answer belongs to an earlier session.
    case greeting(nonce: String)
    /// The session is open.
    case open
    /// The daemon wants none of us any more; nothing will come.
    case closed
  }

  /// One view of one nav.
  struct WatchKey: Hashable {
    var nav: String
    var view: View
  }

  struct Watch {
    var replica: Replica
    /// Place among the watches, in order of their first request.
    var order: UInt64
    /// Desynchronisations since the mirror was last seen to be right.
    var faults = 0
    /// When to ask again; nil while an answer is awaited or diffs follow.
    var retryAt: UInt64?
  }

  /// A request that is not answered: the octets to send again, unchanged, after a new connection.
  struct Flight {
    var id: UInt64
    var verb: ClientVerb
    var body: [UInt8]
    var isSent = false
  }

  /// The least and the greatest time before a new connection, in milliseconds.
  package static let backOffMilliseconds: ClosedRange<UInt64> = 100...5000
  /// How soon after a move another one counts as going in circles, in milliseconds.
  static let quickMoveMilliseconds: UInt64 = 60_000
  /// How many requests the daemon takes before it has answered the first.
  package static let maximumSentRequests = 64

  /// The largest body that the daemon takes, as far as is known, in octets.
  var maximumBody = ErrReply.usualMaximumBody

  /// The identity for deduplication.
  package let client: ClientID
  /// What people call the client.
  package let name: String
  let wantedWindow: UInt64
  let wantedHeartbeat: UInt64
  /// How far the session is.
  package internal(set) var phase = Phase.unconnected
  var heartbeat: UInt64
  var window: UInt64
  var used: UInt64 = 0
  var upTo: UInt64
  var lastHeard: UInt64 = 0
  /// Connections lost since a session was last open.
  var attempts = 0
  var nextID: UInt64 = 1
  var flights: [Flight] = []
  var watches: [WatchKey: Watch] = [:]
  var asked: [UInt64: WatchKey] = [:]
  /// Roles as a delegate, the questions that are open, and display leases.
  var duties = Duties()
  /// Places that the daemon sent us on to, one soon after the other, and when it last did so.
  var moves: (count: Int, at: UInt64)?
  var random: SeededGenerator

  /// Makes a session that is not connected.
  ///
  /// - Parameters:
  ///   - client: the identity of this run of the process.
  ///   - name: what people call the client.
  ///   - window: octets of unconfirmed state to ask for, clamped to 16 KiB … 1 MiB.
  ///   - heartbeat: milliseconds of silence to ask for, clamped to 1 … 60 s.
  ///   - seed: where nonces and back-off times come from; must be random.
  package init(
    client: ClientID, name: String = "", window: UInt64 = 65536, heartbeat: UInt64 = 5000,
    seed: UInt64
  ) {
    self.client = client
    self.name = name
    wantedWindow = min(max(window, 16384), 1_048_576)
    wantedHeartbeat = min(max(heartbeat, 1000), 60000)
    self.window = wantedWindow
    self.heartbeat = wantedHeartbeat
    upTo = wantedWindow
    random = SeededGenerator(seed: seed)
  }

  /// The mirror of a full watch, even while it is suspect.
  package func mirror(of nav: String) -> Mirror? { replica(of: nav)?.mirror }

  /// The replica of a full watch.
  package func replica(of nav: String) -> Replica? {
    watches[WatchKey(nav: nav, view: .full)]?.replica
  }

  /// When `tick` must be called at the latest; nil while nothing is awaited.
  package var wakeAt: UInt64? {
    switch phase {
    case .unconnected, .closed: return nil
    case .greeting: return silenceEndsAt
    case .open:
      let end = min(silenceEndsAt, duties.wakeAt ?? .max)
      return watches.values.lazy.compactMap(\.retryAt).reduce(end) { min($0, $1) }
    }
  }

  /// The first millisecond at which silence counts as loss.
  var silenceEndsAt: UInt64 { lastHeard + 3 * heartbeat + 1 }

  /// A time before the next attempt: full jitter below a bound that doubles up to 5 s.
  mutating func backOff(_ attempt: Int) -> UInt64 {
    let range = Self.backOffMilliseconds
    let bound = min(range.upperBound, range.lowerBound << UInt64(min(attempt, 16)))
    return random.next() % (bound + 1)
  }

  mutating func takeID() -> UInt64 {
    defer { nextID += 1 }
    return nextID
  }
}

/// What must follow from what happened to a session, in order.
package enum SessionOutput: Sendable {
  /// Send this message; drop it if the connection is lost before it could be handed over.
  case send(ClientVerb, [UInt8])
  /// Give the connection up and make another at this time.
  case reconnect(at: UInt64)
  /// Give the connection up for good and make one to another place, not before this time.
  case move(to: String, at: UInt64)
  /// Tell the user of the session.
  case event(SessionEvent)
  /// Tell the user of the session about its roles and leases; nothing comes if there are none.
  case duty(DutyEvent)
}

/// What the user of a session is told.
package enum SessionEvent: Sendable {
  /// The session is open.
  case opened(Welcome)
  /// The session is lost; no mirror is synced until it is open again.
  case lost
  /// The daemon wants none of us any more; every request and watch is over.
  case closed(SessionEnd)
  /// A request was answered.
  case answered(id: UInt64, Result<OkReply, ErrReply>)
  /// A request waits for a transition.
  case queued(id: UInt64, position: UInt64)
  /// A mirror changed, or what is known about it.
  case changed(nav: String, MirrorChange)
  /// The newest value of a conflated view.
  case latest(Latest)
  /// Something happened without a revision.
  case ephemeral(EphemeralEvent)
  /// A watch is over.
  case watchEnded(nav: String, view: View, WatchOutcome)
}

/// What happened to a mirror.
package enum MirrorChange: Hashable, Sendable {
  /// It went on by one revision.
  case applied(Mirror, Diff)
  /// It was replaced by a snapshot; revisions in between were perhaps skipped.
  case replaced(Mirror, why: String?)
  /// It is as new as the daemon's again, without a change.
  case resumed(Mirror)
  /// It is not known to be right until one of the others comes.
  case suspect
}

/// Why a watch is over.
package enum WatchOutcome: Hashable, Sendable {
  /// The daemon ended it: `closed`, `forbidden`, or `moved` to an endpoint.
  case ended(why: String, endpoint: String?)
  /// The daemon refused it.
  case refused(ErrReply)
}

/// Why a session will not be opened again.
package enum SessionEnd: Hashable, Sendable {
  /// `hello` was refused.
  case refused(ErrReply)
  /// The daemon said `bye` for good: `fenced` or `revoked`.
  case dismissed(why: String)
}
