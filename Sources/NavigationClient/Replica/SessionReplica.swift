package import NavigationCore

/// The client's state machine for one session with a daemon: its watches, requests without an
/// answer, flow control and liveness.
///
/// It has no clock and does no I/O. Callers pass each event with the time, in milliseconds of a
/// monotonic clock, and perform the outputs in order. Randomness comes from a seed. After every
/// loss of the connection it opens a new session, with the same watches and requests.
package struct SessionReplica: Sendable {
  /// The state of the session.
  package enum Phase: Hashable, Sendable {
    case unconnected
    /// The client has sent `hello`; all messages except the answer belong to an earlier session.
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

  /// A watch of one view, which the client requests again in each new session.
  struct Watch {
    var replica: Replica
    /// Whether the daemon waits for the nav while it does not exist, instead of an error.
    var waits = false
    /// The id of the first request for the watch; a new session requests its watches in this order.
    var order: UInt64
    /// The number of faults since the daemon last confirmed the mirror.
    var faults = 0
    /// The time at which to request the watch again; nil unless the daemon has put it off.
    var retryAt: UInt64?
  }

  /// A request without an answer yet, with the octets that the client repeats after a reconnect.
  struct PendingRequest {
    var id: UInt64
    var verb: ClientVerb
    /// The nav of the request; nil for a request about the daemon itself.
    var nav: String?
    var body: [UInt8]
    /// Whether the client has sent the request on this connection.
    var isUnderWay = false
    /// When to send the request again; nil unless the daemon has put it off.
    var retryAt: UInt64?
    /// The number of sends, less the refusals by daemons that do not have the nav.
    var unrefusedSends = 0
    /// The principal under which the client first sent it; nil before, and outside clusters.
    var sentAsPrincipal: String?
    /// The time from which on the client does not send the request any more; nil for no limit.
    var sendUntil: UInt64?
    /// The newest journal row of the nav's shard that the client had seen at the first send.
    var seenRow: UInt64 = 0

    /// Whether a daemon may have performed the request.
    var mayBeDone: Bool { unrefusedSends > 0 }

    /// When the request fails as `expired`; nil while it is under way, or without a limit.
    var expiresAt: UInt64? { isUnderWay ? nil : sendUntil }

    mutating func markUnsent() { (isUnderWay, retryAt) = (false, nil) }
  }

  /// The upper bound of the random pause before a new connection, in milliseconds.
  ///
  /// The bound begins at the least value and doubles with each attempt up to the greatest.
  package static let backOffMilliseconds: ClosedRange<UInt64> = 100...5000
  /// The number of navs in `confirmedNavs` at which the client forgets all of them.
  static let maximumConfirmedNavs = 4096

  /// The largest body of a message that the daemon accepts, in octets.
  var maximumBody = ErrReply.defaultMaximumBody
  /// The maximum number of unanswered requests that the client sends.
  var maximumSentRequests = 64
  /// The client's principal, under which a cluster remembers its ops; nil outside a cluster.
  var principal: String?

  /// The client's random identity, by which the daemon recognises repeated ops.
  package let client: ClientID
  package let name: String
  let requestedWindow: UInt64
  let requestedHeartbeat: UInt64
  package internal(set) var phase = Phase.unconnected
  var heartbeat: UInt64
  var window: UInt64
  var usedCreditTotal: UInt64 = 0
  var grantedCreditTotal: UInt64
  var lastMessageAt: UInt64 = 0
  /// The number of new connections requested since the session was last open.
  var reconnectAttempts = 0
  /// The numbers that all sessions of the client share; `ClusterReplica` copies them.
  var counters = Counters()
  var pending: [PendingRequest] = []
  var watches: [WatchKey: Watch] = [:]
  var watchRequests: [UInt64: WatchKey] = [:]
  var duties = Duties()
  /// Whether the daemon belongs to a cluster, which divides the navs among its daemons.
  ///
  /// In a cluster, the client sends only one request about a nav until the daemon has answered it.
  /// Otherwise a daemon that takes the nav over meanwhile could refuse one op and perform the next.
  var isInCluster = false
  /// The navs that the daemon has answered for in this session; empty unless `isInCluster`.
  var confirmedNavs: Set<String> = []
  /// Whether another session takes over the watches, requests and duties if this one ends for good.
  var hasSuccessor = false
  var random: SeededGenerator

  /// Makes a session that is not connected.
  ///
  /// `client` is the identity of this run of the process. `window` is in octets, clamped to 16 KiB
  /// … 1 MiB; `heartbeat` is in milliseconds, clamped to 1 … 60 s. Nonces and pauses come from
  /// `seed`, which must be random.
  package init(
    client: ClientID, name: String = "", window: UInt64 = 65536, heartbeat: UInt64 = 5000,
    seed: UInt64
  ) {
    self.client = client
    self.name = name
    requestedWindow = min(max(window, 16384), 1_048_576)
    requestedHeartbeat = min(max(heartbeat, 1000), 60000)
    self.window = requestedWindow
    self.heartbeat = requestedHeartbeat
    grantedCreditTotal = requestedWindow
    random = SeededGenerator(seed: seed)
  }

  /// The replica of the full watch of a nav; nil without such a watch.
  package func replica(of nav: String) -> Replica? {
    watches[WatchKey(nav: nav, view: .full)]?.replica
  }

  /// When the caller must call `tick` at the latest; nil while no deadline runs.
  package var wakeAt: UInt64? {
    let requestEnd = pending.lazy.compactMap(\.expiresAt).min()
    switch phase {
    case .closed: return nil
    case .unconnected: return requestEnd
    case .greeting: return min(silenceEndsAt, requestEnd ?? .max)
    case .open:
      let retry = pending.lazy.compactMap(\.retryAt).min()
      let end = min(silenceEndsAt, duties.wakeAt ?? .max, requestEnd ?? .max, retry ?? .max)
      return watches.values.lazy.compactMap(\.retryAt).reduce(end) { min($0, $1) }
    }
  }

  /// When silence counts as a lost connection: three heartbeat intervals after the last message.
  var silenceEndsAt: UInt64 { lastMessageAt + 3 * heartbeat }

  /// Returns a random pause before the next attempt, uniform from 0 to the bound (full jitter), in
  /// milliseconds; see `backOffMilliseconds`.
  mutating func backOff(_ attempt: Int) -> UInt64 {
    random.next() % (Self.backOffMilliseconds.pause(after: attempt) + 1)
  }

  mutating func takeID() -> UInt64 {
    defer { counters.nextID += 1 }
    return counters.nextID
  }

  /// The numbers that rise over all sessions of a client.
  struct Counters: Sendable {
    var nextID: UInt64 = 1
    /// The number of sessions that the client has opened so far.
    var sessionCount: UInt64 = 0
    /// The newest journal row of each shard that a daemon has reported; and the number of shards.
    var (newestRows, shardCount): ([Shard: UInt64], Int) = ([:], 1)

    func row(of nav: String?) -> UInt64 {
      nav.flatMap { newestRows[Shard(ofName: $0, among: shardCount)] } ?? 0
    }

    mutating func noteRow(_ row: UInt64?, of nav: String?) {
      // A virtual nav has rows of all shards.
      guard let row, let nav, !nav.hasPrefix("$") else { return }
      newestRows[Shard(ofName: nav, among: shardCount)] = max(row, self.row(of: nav))
    }
  }
}

/// An output of the session, which the caller must perform; outputs are in order.
package enum SessionOutput: Sendable {
  /// Send this message; drop it if the connection is lost first.
  case send(ClientVerb, [UInt8])
  /// Close the connection, and connect again at this time.
  case reconnect(at: UInt64)
  /// Move everything of this nav to another session, because this daemon does not have the nav.
  case navElsewhere(nav: String, Whereabouts)
  /// The session has ended for good; another session must take over everything that it holds.
  case handOverAll(after: SessionEnd)
  case event(SessionEvent)

  static func duty(_ event: DutyEvent) -> SessionOutput { .event(.duty(event)) }
}

/// The place of a nav that the daemon of a session does not have.
package enum Whereabouts: Hashable, Sendable {
  /// Another daemon has the nav; nil if the refusal names none.
  case moved(to: DaemonAddress?)
  /// No daemon has the nav for now; ask again after these milliseconds.
  case unowned(retryMilliseconds: UInt64)
}

/// An event of a session, for the program that uses the client.
package enum SessionEvent: Sendable {
  case opened(Welcome)
  /// The session is lost, and all mirrors are out of sync until the next session is open.
  case lost
  /// The session has ended for good, with all its requests and watches.
  case closed(SessionEnd)
  case answered(id: UInt64, Result<OkReply, ErrReply>)
  /// A request waits: an op behind a transition or a question, at this position from 1; a watch
  /// for its nav, with position 0.
  case queued(id: UInt64, position: UInt64)
  /// A mirror has changed, or may differ from its nav.
  case changed(nav: String, MirrorChange)
  /// The newest value of a watched view other than `full`; it may skip values in between.
  case latest(Latest)
  /// The daemon sent events of a nav that make no revision, such as the progress of a gesture.
  case ephemeral(EphemeralEvent)
  /// Messages of other clients, which this client traces.
  case traced(TracedMessages)
  case watchEnded(nav: String, view: View, WatchOutcome)
  /// An event of the client's delegate roles or display leases.
  case duty(DutyEvent)
}

/// A change of a mirror, or of what the client knows about it.
package enum MirrorChange: Hashable, Sendable {
  /// A diff advanced the mirror by one revision.
  case applied(Mirror, Diff)
  /// A snapshot replaced the mirror; revisions may have been skipped.
  case replaced(Mirror, why: String?)
  /// The daemon resumed the watch; the mirror is unchanged, and diffs follow.
  case resumed(Mirror)
  /// A mark of the daemon has confirmed the unchanged mirror.
  case proven(Mirror)
  /// The mirror may be wrong until one of the other changes follows.
  case suspect
}

/// The reason why a watch has ended.
package enum WatchOutcome: Hashable, Sendable {
  /// The daemon ended the watch as `closed`, `forbidden`, or `moved` to an endpoint.
  case ended(why: String, endpoint: String?)
  case refused(ErrReply)

  init(_ end: WatchEnd) { self = .ended(why: end.why, endpoint: end.daemon?.endpoint) }
}

/// The reason why the client does not open a session again.
package enum SessionEnd: Hashable, Sendable {
  /// The daemon refused `hello`.
  case refused(ErrReply)
  /// The daemon sent `bye` for good: `fenced` or `revoked`.
  case dismissed(why: String)
}
