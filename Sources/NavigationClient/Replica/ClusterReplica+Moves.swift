import NavigationCore

extension ClusterReplica {
  /// Moves a nav to the daemon that has it, at once or after a pause.
  mutating func relocate(
    _ nav: String, from link: LinkID, _ whereabouts: Whereabouts, at now: UInt64
  ) -> [ClusterOutput] {
    guard let index = index(of: link) else { return [] }
    let (handoff, released) = withSession(index) { $0.release(nav) }
    let (wait, next) = plan(nav, whereabouts, at: now)
    let outputs = released.map { ClusterOutput($0, on: link) }
    guard wait > 0 else { return outputs + settle(handoff, at: next, now) }
    pauses[nav] = Pause(until: now + wait, next: next)
    homes[nav] = nil
    return outputs + request(nil) { $0.adopt(handoff, at: now) }
  }

  /// How long to wait before the next daemon is asked, and which; nil for any.
  private mutating func plan(
    _ nav: String, _ whereabouts: Whereabouts, at now: UInt64
  ) -> (wait: UInt64, next: DaemonAddress?) {
    var journey = journeys[nav] ?? Journey(lastAt: now)
    defer {
      journeys[nav] = journey
      journeysEndAt = journeysEndAt ?? now + Self.quickMoveMilliseconds
    }
    if now >= journey.lastAt + Self.quickMoveMilliseconds { journey.moves = 0 }
    journey.lastAt = now
    switch whereabouts {
    case .moved(let address):
      journey.moves += 1
      if address == nil { journey.turns += 1 }
      let moves = journey.moves
      return (moves <= 2 ? 0 : 1 + random.next() % Self.movePauses.pause(after: moves - 2), address)
    case .unowned(let after):
      // A daemon takes over. A random part spreads the clients that wait for it.
      journey.moves = 0
      journey.turns += 1
      return (1 + after + random.next() % (after / 4 + 10), nil)
    }
  }

  /// The longest pause before a move, in milliseconds.
  ///
  /// Until the lease of a daemon ends that was lost, the others name it. So a longer pause would
  /// delay the answer of the one that takes over.
  private static let movePauses: ClosedRange<UInt64> = 100...500

  mutating func dropJourneys(at now: UInt64) {
    guard let end = journeysEndAt, end <= now else { return }
    journeys = journeys.filter { now < $0.value.lastAt + Self.quickMoveMilliseconds }
    journeysEndAt = journeys.isEmpty ? nil : now + Self.quickMoveMilliseconds
  }

  /// Gives a nav to the session with a daemon, or with any daemon if `address` is nil.
  mutating func settle(
    _ handoff: NavHandoff, at address: DaemonAddress?, _ now: UInt64
  ) -> [ClusterOutput] {
    guard members[0].session.phase != .closed else { return [] }
    var outputs: [ClusterOutput] = []
    var index = address.map { find($0.endpoint) } ?? anyone(journeys[handoff.nav]?.turns ?? 0)
    if index == nil, let address {
      index = addMember(address, at: now)
      outputs.append(.connect(members[members.count - 1].link, address, at: now))
    }
    let place = index ?? 0
    homes[handoff.nav] = place == 0 ? nil : members[place].link
    members[place].closesAt = nil
    if homes.count > mostHomes { dropUnusedHomes() }
    return outputs + request(place) { $0.adopt(handoff, at: now) }
  }

  private mutating func dropUnusedHomes() {
    let used = members.dropFirst().reduce(into: Set<String>()) { $0.formUnion($1.session.navs) }
    homes = homes.filter { used.contains($0.key) }
    mostHomes = max(Self.leastHomes, 2 * homes.count)
  }

  private func find(_ endpoint: String) -> Int? {
    members.firstIndex { member in
      member.address?.endpoint == endpoint
        || (member.place == endpoint && member.session.isOpen)
    }
  }

  /// An open session, in turn; the seed if there is none.
  private func anyone(_ turn: Int) -> Int {
    let open = members.indices.filter { members[$0].session.isOpen }
    return open.isEmpty ? 0 : open[max(turn - 1, 0) % open.count]
  }

  /// Asks for the navs of a daemon elsewhere, because it cannot be reached.
  mutating func replace(_ link: LinkID, at now: UInt64) -> [ClusterOutput] {
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
    // The configured addresses again, after it has been at one that a daemon named.
    guard members[0].address != nil else { return [] }
    members[0].address = nil
    members[0].place = nil
    members[0].lostAt = now
    members[0].failures = 0
    return [.connect(link, nil, at: now)]
  }

  /// Moves everything of one session to another, which takes the place of the seed if need be.
  mutating func merge(_ link: LinkID, into other: LinkID, at now: UInt64) -> [ClusterOutput] {
    guard let index = index(of: link), let target = self.index(of: other), index != target else {
      return []
    }
    let wasOpen = members[index].session.isOpen
    // Its daemon has ended it, or it never was open.
    let losses = withSession(index) { $0.disconnected() }
    var outputs: [ClusterOutput] = []
    for case .event(.duty(let event)) in losses { outputs.append(.event(.duty(event))) }
    if wasOpen { outputs += lost(link) }
    let navs = members[index].session.navs.sorted()
    let handoffs = navs.map { nav in withSession(index) { $0.release(nav) } }
    let rest = withSession(index) { $0.releaseRest() }
    if index == 0 {
      members.swapAt(0, target)
      members[0].session.numbers = members[target].session.numbers
      members[0].closesAt = nil
      homes = homes.filter { $0.value != other }
    }
    for (handoff, released) in handoffs {
      outputs += released.map { ClusterOutput($0, on: link) }
      guard let place = self.index(of: other) else { continue }
      homes[handoff.nav] = place == 0 ? nil : other
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

  /// Joins older sessions with the same run of a daemon, which their daemon has ended, to a new one.
  mutating func mergeOlder(
    _ welcome: Welcome, into link: LinkID, at now: UInt64
  ) -> [ClusterOutput] {
    guard members.count > 1 else { return [] }
    let twins = members.filter { $0.link != link && $0.welcome?.boot == welcome.boot }
    return twins.filter { $0.session.isOpen }
      .flatMap { merge($0.link, into: link, at: now) }
  }
}
