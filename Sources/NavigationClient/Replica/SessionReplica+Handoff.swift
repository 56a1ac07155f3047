import NavigationCore

/// Everything of one nav that a session holds, on its way to another session.
struct NavHandoff: Sendable {
  let nav: String
  var watches: [(key: SessionReplica.WatchKey, watch: SessionReplica.Watch)] = []
  /// The requests without an answer, oldest first; the next daemon gets the same octets.
  var flights: [SessionReplica.Flight] = []
  /// The roles, and the lease that the session takes again, or whose caller waits for an answer.
  var duties: [Duties.Key: Duties.Duty] = [:]
}

extension SessionReplica {
  /// Takes everything of a nav out of the session; later messages about it are ignored.
  ///
  /// Roles, questions and leases have ended with the move of the nav, as at the end of a session.
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
    asked = asked.filter { $0.value.nav != nav }
    confirmed.remove(nav)
    handoff.flights = releaseFlights(of: nav)
    outputs.append(contentsOf: releaseDuties(of: nav, into: &handoff))
    return (handoff, outputs + (phase == .open ? sendWaiting() : []))
  }

  /// Takes the requests without a nav out of the session.
  mutating func releaseRest() -> NavHandoff {
    NavHandoff(nav: "", flights: releaseFlights(of: nil))
  }

  private mutating func releaseFlights(of nav: String?) -> [Flight] {
    var released = flights.filter { $0.nav == nav }
    flights.removeAll { $0.nav == nav }
    for index in released.indices { released[index].withdraw() }
    return released
  }

  private mutating func releaseDuties(
    of nav: String, into handoff: inout NavHandoff
  ) -> [SessionOutput] {
    var outputs = void { $0.nav == nav }
    for (id, request) in duties.requests.sorted(by: { $0.key < $1.key })
    where request.key.nav == nav {
      duties.requests[id] = nil
      if request.isEnd, duties.all[request.key] == nil { outputs.append(request.key.ended) }
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

  /// Takes over everything of a nav, and requests it if the session is open.
  mutating func adopt(_ handoff: NavHandoff, at now: UInt64) -> [SessionOutput] {
    var outputs: [SessionOutput] = []
    isDivided = true
    // In the order of `open`, and for its reasons.
    for (key, watch) in handoff.watches.sorted(by: { $0.watch.order < $1.watch.order }) {
      watches[key] = watch
      if phase == .open { outputs.append(contentsOf: ask(key)) }
    }
    let (roles, lease) = Duties.keys(of: handoff.nav)
    for key in [roles, lease] { duties.all[key] = handoff.duties[key] }
    // Behind the others, so that no more are sent than the daemon accepts.
    flights.append(contentsOf: handoff.flights)
    guard phase == .open else { return outputs }
    outputs += request(roles) + request(lease) + dropUnsendable(at: now)
    return outputs + sendWaiting()
  }

  var navs: Set<String> {
    Set(watches.keys.map(\.nav)).union(flights.compactMap(\.nav))
      .union(duties.all.keys.map(\.nav)).union(duties.requests.values.map(\.key.nav))
  }

  var isIdle: Bool {
    flights.isEmpty && watches.isEmpty && duties.all.isEmpty && duties.requests.isEmpty
  }

  /// The nav of an unanswered request; nil if no request about a nav has this id.
  func nav(of id: UInt64) -> String? {
    asked[id]?.nav ?? duties.requests[id]?.key.nav ?? flights.first { $0.id == id }?.nav
  }
}

extension ErrReply {
  /// Whether the request may succeed unchanged, now or later.
  var isPostponing: Bool { retryPolicy == .later || retryPolicy == .same }

  /// Where the nav is, if this daemon does not have it; nil for all other errors.
  package var whereabouts: Whereabouts? {
    switch knownCode {
    case .moved: daemon.map { .moved(to: $0) }
    case .busy where reason == "no-owner": .unowned(after: after ?? 0)
    default: nil
    }
  }
}
