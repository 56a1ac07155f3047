package import NavigationCore

/// The client's state machine for one session: watches, requests in flight, flow control and
/// liveness.
///
/// It has no clock and does no I/O. Callers pass each event with the time, in milliseconds of a
/// monotonic clock, and perform the outputs in order. Randomness comes from a seed. After every
/// loss of the connection it opens a new session, with the same watches and requests.
package struct SessionReplica: Sendable {
  /// The state of the session.
  package enum Phase: Hashable, Sendable {
    case unconnected
    /// `hello` was sent; all messages except its answer belong to an earlier session.
    case greeting(nonce: String)
    case open
    /// The session has ended for good, by the daemon or by `leave`.
    case closed
  }

  /// The key of a watch: one view of one nav.
  struct WatchKey: Hashable {
    var nav: String
    var view: View
  }

  struct Watch {
    var replica: Replica
    /// Whether it waits for a nav that does not exist, also when the nav was closed.
    var waits = false
    /// The place among the watches, in the order of their first request.
    var order: UInt64
    /// The number of faults since the mirror was last known to be right.
    var faults = 0
    /// The time at which to send the watch again; nil if it is sent or running.
    var retryAt: UInt64?
  }

  /// A request that is not answered: the octets to send again after a new connection.
  struct Flight {
    var id: UInt64
    var verb: ClientVerb
    /// The nav that it is about; nil for none.
    var nav: String?
    var body: [UInt8]
    /// Whether it was sent on this connection.
    var isSent = false
    /// When it is sent again that the daemon has put off; nil if it has not.
    var retryAt: UInt64?
    /// How often it was sent, except where a daemon answered that it had not performed it.
    var sends = 0
    /// The principal under which it was sent first; nil if a daemon outside clusters got it.
    var sentAs: String?
    /// The time from which on it is not sent any more, nor sent again; nil for none.
    var until: UInt64?
    /// The newest row of the nav's shard that the client had seen when it was sent first.
    var seen: UInt64 = 0

    /// Whether a daemon may have performed it.
    var wasSent: Bool { sends > 0 }

    /// When it ends without an answer; nil while it is under way.
    var endsAt: UInt64? { isSent ? nil : until }

    mutating func withdraw() { (isSent, retryAt) = (false, nil) }
  }

  /// The least and greatest upper bound of the pause before a new connection, in milliseconds.
  ///
  /// The pause is random, from 0 to that bound. The bound doubles with each attempt.
  package static let backOffMilliseconds: ClosedRange<UInt64> = 100...5000
  /// At how many navs `confirmed` is emptied.
  static let maximumConfirmed = 4096

  /// The largest body that the daemon accepts, as far as the client knows, in octets.
  var maximumBody = ErrReply.defaultMaximumBody
  /// The maximum of requests that the client sends before the first of them is answered.
  var maximumSentRequests = 64
  /// The client's name in the rules of the cluster; nil if the daemon is alone.
  var principal: String?

  /// The identity by which the daemon recognises repeated ops.
  package let client: ClientID
  package let name: String
  let wantedWindow: UInt64
  let wantedHeartbeat: UInt64
  package internal(set) var phase = Phase.unconnected
  var heartbeat: UInt64
  var window: UInt64
  var used: UInt64 = 0
  var upTo: UInt64
  var lastHeard: UInt64 = 0
  /// The number of times that the session asked for a new connection since it was last open.
  var attempts = 0
  /// The next numbers; `ClusterReplica` passes them from session to session.
  var numbers = Numbers()
  var flights: [Flight] = []
  var watches: [WatchKey: Watch] = [:]
  var asked: [UInt64: WatchKey] = [:]
  var duties = Duties()
  /// Whether the daemon may not have a nav, because the daemons of a cluster divide the navs.
  ///
  /// Then only one request about a nav is under way until the daemon has answered one. Otherwise a
  /// daemon that takes the nav over at this moment could refuse one op and perform the next.
  var isDivided = false
  /// The navs that the daemon has, by its answers in this session; only if `isDivided`.
  var confirmed: Set<String> = []
  /// Whether an end for good leaves the watches, requests and duties to another session.
  var isReplaceable = false
  var random: SeededGenerator

  /// Makes a session that is not connected.
  ///
  /// `client` is the identity of this run of the process. `window` is in octets, clamped to 16 KiB
  /// … 1 MiB; `heartbeat` is in milliseconds, clamped to 1 … 60 s. `seed`, of nonces and back-off
  /// times, must be random.
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

  /// The replica of a full watch, with its mirror; nil if there is none.
  package func replica(of nav: String) -> Replica? {
    watches[WatchKey(nav: nav, view: .full)]?.replica
  }

  /// The latest time of the next call of `tick`; nil while no deadline runs.
  package var wakeAt: UInt64? {
    let flightEnd = flights.lazy.compactMap(\.endsAt).min()
    switch phase {
    case .closed: return nil
    case .unconnected: return flightEnd
    case .greeting: return min(silenceEndsAt, flightEnd ?? .max)
    case .open:
      let retry = flights.lazy.compactMap(\.retryAt).min()
      let end = min(silenceEndsAt, duties.wakeAt ?? .max, flightEnd ?? .max, retry ?? .max)
      return watches.values.lazy.compactMap(\.retryAt).reduce(end) { min($0, $1) }
    }
  }

  /// When silence counts as a loss: three heartbeat intervals after the last message.
  var silenceEndsAt: UInt64 { lastHeard + 3 * heartbeat }

  /// Returns a random pause before the next attempt, uniform from 0 to the bound (full jitter), in
  /// milliseconds; see `backOffMilliseconds`.
  mutating func backOff(_ attempt: Int) -> UInt64 {
    random.next() % (Self.backOffMilliseconds.pause(after: attempt) + 1)
  }

  mutating func takeID() -> UInt64 {
    defer { numbers.id += 1 }
    return numbers.id
  }

  /// The numbers that must rise over all sessions of a client.
  struct Numbers: Sendable {
    var id: UInt64 = 1
    /// The number of sessions opened so far.
    var session: UInt64 = 0
    /// The newest row of each shard that a daemon has reported, and the number of shards.
    var (rows, shards): ([Shard: UInt64], Int) = ([:], 1)

    func row(of nav: String?) -> UInt64 {
      nav.flatMap { rows[Shard(ofName: $0, among: shards)] } ?? 0
    }

    mutating func note(_ row: UInt64?, of nav: String?) {
      // A virtual nav has rows of all shards.
      guard let row, let nav, !nav.hasPrefix("$") else { return }
      rows[Shard(ofName: nav, among: shards)] = max(row, self.row(of: nav))
    }
  }
}

/// An output of the session, which the caller must perform; outputs are in order.
package enum SessionOutput: Sendable {
  /// Send this message; drop it if the connection is lost first.
  case send(ClientVerb, [UInt8])
  /// Close the connection, and make another one at this time.
  case reconnect(at: UInt64)
  /// Take everything of this nav out of the session, because this daemon does not have the nav.
  case elsewhere(nav: String, Whereabouts)
  /// The session has ended for good, but another session can take over everything that it holds.
  case replaced(SessionEnd)
  case event(SessionEvent)

  static func duty(_ event: DutyEvent) -> SessionOutput { .event(.duty(event)) }
}

/// Where a nav is that the daemon does not have.
package enum Whereabouts: Hashable, Sendable {
  /// Another daemon has it; nil if the daemon named none.
  case moved(to: DaemonAddress?)
  /// No daemon has it for now; ask again after these milliseconds.
  case unowned(after: UInt64)
}

/// An event of the session, for its user.
package enum SessionEvent: Sendable {
  case opened(Welcome)
  /// The session is lost; no mirror is synced until the next one is open.
  case lost
  /// The session has ended for good, with all its requests and watches.
  case closed(SessionEnd)
  case answered(id: UInt64, Result<OkReply, ErrReply>)
  /// A request waits for a transition to end.
  case queued(id: UInt64, position: UInt64)
  /// A mirror changed, or is no longer known to be right.
  case changed(nav: String, MirrorChange)
  /// The newest value of a view that may skip values.
  case latest(Latest)
  /// The daemon sent events that make no revision.
  case ephemeral(EphemeralEvent)
  /// Messages of other clients, for which this one has asked.
  case traced(TracedMessages)
  case watchEnded(nav: String, view: View, WatchOutcome)
  /// There is none without requests for roles or leases.
  case duty(DutyEvent)
}

/// A change of a mirror.
package enum MirrorChange: Hashable, Sendable {
  /// A diff advanced it by one revision.
  case applied(Mirror, Diff)
  /// A snapshot replaced it; revisions may have been skipped.
  case replaced(Mirror, why: String?)
  /// The watch was resumed; the mirror is unchanged, and diffs follow.
  case resumed(Mirror)
  /// A mark of the daemon has proven it right; it is unchanged.
  case proven(Mirror)
  /// It may be wrong, until one of the other changes follows.
  case suspect
}

/// The reason why a watch is over.
package enum WatchOutcome: Hashable, Sendable {
  /// The daemon ended it: `closed`, `forbidden`, or `moved` to an endpoint.
  case ended(why: String, endpoint: String?)
  case refused(ErrReply)

  init(_ end: WatchEnd) { self = .ended(why: end.why, endpoint: end.daemon?.endpoint) }
}

/// The reason why a session will not be opened again.
package enum SessionEnd: Hashable, Sendable {
  /// The daemon refused `hello`.
  case refused(ErrReply)
  /// The daemon sent `bye` for good: `fenced` or `revoked`.
  case dismissed(why: String)
}
