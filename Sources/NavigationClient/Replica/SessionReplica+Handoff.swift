import NavigationCore

/// Everything that a session has for one nav, while the client moves it to another session.
struct NavHandoff: Sendable {
  let nav: String
  var watches: [(key: SessionReplica.WatchKey, watch: SessionReplica.Watch)] = []
  /// The requests without an answer, oldest first; the client sends the same octets again.
  var pending: [SessionReplica.PendingRequest] = []
  /// The delegate roles; and the display lease, if the client takes it again or has no answer yet.
  var duties: [Duties.Key: Duties.Duty] = [:]
}

extension SessionReplica {
  /// Takes everything of a nav out of the session, which then ignores messages about the nav.
  ///
  /// Roles, questions and leases end with the move of the nav, as at the end of a session.
  mutating func release(_ nav: String) -> (handoff: NavHandoff, outputs: [SessionOutput]) {
    var handoff = NavHandoff(nav: nav)
    var outputs: [SessionOutput] = []
    for view in View.allCases {
      let key = WatchKey(nav: nav, view: view)
      guard var watch = watches.removeValue(forKey: key) else { continue }
      let wasSynced = watch.replica.isSynced
      watch.replica.disconnect()
      watch.retryAt = nil
      handoff.watches.append((key, watch))
      if wasSynced { outputs.append(.event(.changed(nav: nav, .suspect))) }
    }
    watchRequests = watchRequests.filter { $0.value.nav != nav }
    confirmedNavs.remove(nav)
    handoff.pending = releaseRequests(of: nav)
    outputs.append(contentsOf: releaseDuties(of: nav, into: &handoff))
    return (handoff, outputs + (phase == .open ? sendWaiting() : []))
  }

  /// Takes the requests that are about no nav out of the session.
  mutating func releaseRequestsWithoutNav() -> NavHandoff {
    NavHandoff(nav: "", pending: releaseRequests(of: nil))
  }

  private mutating func releaseRequests(of nav: String?) -> [PendingRequest] {
    var released = pending.filter { $0.nav == nav }
    pending.removeAll { $0.nav == nav }
    for index in released.indices { released[index].markUnsent() }
    return released
  }

  private mutating func releaseDuties(
    of nav: String, into handoff: inout NavHandoff
  ) -> [SessionOutput] {
    var outputs = voidQuestions { $0.nav == nav }
    for (id, request) in duties.requests.sorted(by: { $0.key < $1.key })
    where request.dutyKey.nav == nav {
      duties.requests[id] = nil
      if request.isEnd, duties.all[request.dutyKey] == nil {
        outputs.append(request.dutyKey.endEvent)
      }
    }
    let (roles, lease) = Duties.keys(of: nav)
    // The loss of the session has interrupted them already.
    if phase == .open, duties.all[roles] != nil { outputs.append(.duty(.interrupted(nav: nav))) }
    outputs.append(contentsOf: loseLease(lease))
    for key in [roles, lease] {
      handoff.duties[key] = duties.all.removeValue(forKey: key)
      handoff.duties[key]?.retryAt = nil
    }
    return outputs
  }

  /// Adds the watches, requests and duties of a nav, and sends them if the session is open.
  mutating func adopt(_ handoff: NavHandoff, at now: UInt64) -> [SessionOutput] {
    var outputs: [SessionOutput] = []
    isInCluster = true
    // In the order of `open`, and for its reasons.
    for (key, watch) in handoff.watches.sorted(by: { $0.watch.order < $1.watch.order }) {
      watches[key] = watch
      if phase == .open { outputs.append(contentsOf: sendWatch(key)) }
    }
    let (roles, lease) = Duties.keys(of: handoff.nav)
    for key in [roles, lease] { duties.all[key] = handoff.duties[key] }
    // Behind the others, so that no more are sent than the daemon accepts.
    pending.append(contentsOf: handoff.pending)
    guard phase == .open else { return outputs }
    outputs += requestDuty(roles) + requestDuty(lease) + dropUnsendable(at: now)
    return outputs + sendWaiting()
  }

  /// The navs with a watch, a duty or an unanswered request in this session.
  var navs: Set<String> {
    Set(watches.keys.map(\.nav)).union(pending.compactMap(\.nav))
      .union(duties.all.keys.map(\.nav)).union(duties.requests.values.map(\.dutyKey.nav))
  }

  /// Whether the session has no watch, no duty and no unanswered request.
  var isIdle: Bool {
    pending.isEmpty && watches.isEmpty && duties.all.isEmpty && duties.requests.isEmpty
  }

  /// The nav of an unanswered request; nil if no request about a nav has this id.
  func nav(of id: UInt64) -> String? {
    watchRequests[id]?.nav ?? duties.requests[id]?.dutyKey.nav ?? pending.first { $0.id == id }?.nav
  }
}

extension ErrReply {
  /// Whether the client may repeat the refused request unchanged, now or later.
  var isRetryable: Bool { retryPolicy == .later || retryPolicy == .sameAfterCorrection }

  /// Where the nav is, if the error says that this daemon does not have it; else nil.
  package var whereabouts: Whereabouts? {
    switch knownCode {
    case .moved: daemon.map { .moved(to: $0) }
    case .busy where reason == "no-owner": .unowned(retryMilliseconds: after ?? 0)
    default: nil
    }
  }
}
