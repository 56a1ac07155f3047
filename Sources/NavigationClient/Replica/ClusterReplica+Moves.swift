import NavigationCore

extension ClusterReplica {
  /// Moves a nav to the session with the daemon that has it, at once or after a pause.
  mutating func relocate(
    _ nav: String, from link: LinkID, _ whereabouts: Whereabouts, at now: UInt64
  ) -> [ClusterOutput] {
    guard let index = index(of: link) else { return [] }
    let (handoff, released) = withSession(index) { $0.release(nav) }
    let (wait, next) = planMove(nav, whereabouts, at: now)
    let outputs = released.map { ClusterOutput($0, on: link) }
    guard wait > 0 else { return outputs + assign(handoff, at: next, now) }
    pauses[nav] = Pause(until: now + wait, next: next)
    navLinks[nav] = nil
    return outputs + request(nil) { $0.adopt(handoff, at: now) }
  }

  /// Decides how long to wait before the client asks the next daemon, and which; nil for any.
  private mutating func planMove(
    _ nav: String, _ whereabouts: Whereabouts, at now: UInt64
  ) -> (waitMilliseconds: UInt64, next: DaemonAddress?) {
    var history = moveHistories[nav] ?? MoveHistory(lastMoveAt: now)
    defer {
      moveHistories[nav] = history
      moveHistoriesExpireAt = moveHistoriesExpireAt ?? now + Self.quickMoveMilliseconds
    }
    if now >= history.lastMoveAt + Self.quickMoveMilliseconds { history.moves = 0 }
    history.lastMoveAt = now
    switch whereabouts {
    case .moved(let address):
      history.moves += 1
      if address == nil { history.anyDaemonAsks += 1 }
      let moves = history.moves
      return (moves <= 2 ? 0 : 1 + random.next() % Self.movePauses.pause(after: moves - 2), address)
    case .unowned(let after):
      // A daemon takes over. A random part spreads the clients that wait for it.
      history.moves = 0
      history.anyDaemonAsks += 1
      return (1 + after + random.next() % (after / 4 + 10), nil)
    }
  }

  /// The first and the longest pause before a move, in milliseconds.
  ///
  /// The other daemons name a lost daemon as owner until its lease ends. A longer pause would delay
  /// the answer of the daemon that takes over.
  private static let movePauses: ClosedRange<UInt64> = 100...500

  mutating func dropOldHistories(at now: UInt64) {
    guard let end = moveHistoriesExpireAt, end <= now else { return }
    moveHistories = moveHistories.filter { now < $0.value.lastMoveAt + Self.quickMoveMilliseconds }
    moveHistoriesExpireAt = moveHistories.isEmpty ? nil : now + Self.quickMoveMilliseconds
  }

  /// Moves everything of a nav to the session with a daemon, or with any if `address` is nil.
  mutating func assign(
    _ handoff: NavHandoff, at address: DaemonAddress?, _ now: UInt64
  ) -> [ClusterOutput] {
    guard members[0].session.phase != .closed else { return [] }
    var outputs: [ClusterOutput] = []
    var index =
      address.map { memberIndex(at: $0.endpoint) }
      ?? openMemberIndex(turn: moveHistories[handoff.nav]?.anyDaemonAsks ?? 0)
    if index == nil, let address {
      index = addMember(address, at: now)
      outputs.append(.connect(members[members.count - 1].link, address, at: now))
    }
    let place = index ?? 0
    navLinks[handoff.nav] = place == 0 ? nil : members[place].link
    members[place].closesAt = nil
    if navLinks.count > navLinksLimit { dropUnusedNavLinks() }
    return outputs + request(place) { $0.adopt(handoff, at: now) }
  }

  private mutating func dropUnusedNavLinks() {
    let used = members.dropFirst().reduce(into: Set<String>()) { $0.formUnion($1.session.navs) }
    navLinks = navLinks.filter { used.contains($0.key) }
    navLinksLimit = max(Self.minimumNavLinksLimit, 2 * navLinks.count)
  }

  private func memberIndex(at endpoint: String) -> Int? {
    members.firstIndex { member in
      member.address?.endpoint == endpoint
        || (member.connectedEndpoint == endpoint && member.session.isOpen)
    }
  }

  /// The index of an open session, a different one for each `turn`; of the seed if none is open.
  private func openMemberIndex(turn: Int) -> Int {
    let open = members.indices.filter { members[$0].session.isOpen }
    return open.isEmpty ? 0 : open[max(turn - 1, 0) % open.count]
  }

  /// Moves the navs of a daemon that the client cannot reach to other sessions or addresses.
  mutating func moveNavs(awayFrom link: LinkID, at now: UInt64) -> [ClusterOutput] {
    guard let index = index(of: link), !members[index].session.isOpen else { return [] }
    guard index == 0 else {
      var outputs: [ClusterOutput] = []
      for nav in members[index].session.navs.sorted() {
        outputs += relocate(nav, from: link, .moved(to: nil), at: now)
      }
      return outputs + remove(link)
    }
    if let next = members.first(where: { $0.session.isOpen }) {
      return merge(link, into: next.link, at: now)
    }
    // The seed was at an address that a daemon named, so it returns to the configured ones.
    guard members[0].address != nil else { return [] }
    members[0].address = nil
    members[0].connectedEndpoint = nil
    members[0].lostAt = now
    members[0].failures = 0
    return [.connect(link, nil, at: now)]
  }

  /// Moves everything of one session to another, which replaces the first one as seed if necessary.
  mutating func merge(_ link: LinkID, into other: LinkID, at now: UInt64) -> [ClusterOutput] {
    guard let index = index(of: link), let target = self.index(of: other), index != target else {
      return []
    }
    let wasOpen = members[index].session.isOpen
    // The daemon has ended the first session, or it never was open.
    let losses = withSession(index) { $0.disconnected() }
    var outputs: [ClusterOutput] = []
    for case .event(.duty(let event)) in losses { outputs.append(.event(.duty(event))) }
    if wasOpen { outputs += outputsOfLoss(link) }
    let navs = members[index].session.navs.sorted()
    let handoffs = navs.map { nav in withSession(index) { $0.release(nav) } }
    let rest = withSession(index) { $0.releaseRequestsWithoutNav() }
    if index == 0 {
      members.swapAt(0, target)
      members[0].session.counters = members[target].session.counters
      members[0].closesAt = nil
      navLinks = navLinks.filter { $0.value != other }
    }
    for (handoff, released) in handoffs {
      outputs += released.map { ClusterOutput($0, on: link) }
      guard let place = self.index(of: other) else { continue }
      navLinks[handoff.nav] = place == 0 ? nil : other
      outputs += request(place) { $0.adopt(handoff, at: now) }
    }
    if let place = self.index(of: other) {
      outputs += request(place) { $0.adopt(rest, at: now) }
    }
    if index == 0, let welcome = members[0].welcome, phase == .open {
      outputs.append(.event(.opened(welcome)))
    }
    return outputs + remove(link)
  }

  /// Moves everything of older sessions with the same run of a daemon to the newest one.
  ///
  /// The daemon has ended the older ones, because it keeps one session of a client.
  mutating func mergeOlder(
    _ welcome: Welcome, into link: LinkID, at now: UInt64
  ) -> [ClusterOutput] {
    guard members.count > 1 else { return [] }
    let twins = members.filter { $0.link != link && $0.welcome?.boot == welcome.boot }
    return twins.filter { $0.session.isOpen }
      .flatMap { merge($0.link, into: link, at: now) }
  }
}
