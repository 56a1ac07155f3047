package import NavigationCore

extension ClusterReplica {
  /// Handles a new connection of a link, to `endpoint` if the caller knows it.
  ///
  /// It does nothing if the client has closed the link meanwhile.
  package mutating func connected(
    _ link: LinkID, to endpoint: String? = nil, at now: UInt64
  ) -> [ClusterOutput] {
    guard let index = index(of: link) else { return [] }
    members[index].connectedEndpoint = endpoint ?? members[index].connectedEndpoint
    members[index].failures = 0
    let twin = members.indices.first { twin in
      twin != index && endpoint != nil && members[twin].connectedEndpoint == endpoint
        && members[twin].session.isOpen
    }
    // A second session with the same daemon would end the one that is open.
    if let twin, !members[index].session.isOpen {
      return merge(link, into: members[twin].link, at: now)
    }
    return run(link, at: now) { $0.connected(at: now) }
  }

  /// Handles the loss of a connection; libzmq or the caller then connects again.
  package mutating func disconnected(_ link: LinkID, at now: UInt64) -> [ClusterOutput] {
    run(link, at: now) { $0.disconnected() }
  }

  /// Handles a failed attempt to connect; `isFinal` if further attempts would fail too.
  package mutating func failed(
    _ link: LinkID, isFinal: Bool = false, at now: UInt64
  ) -> [ClusterOutput] {
    guard let index = index(of: link) else { return [] }
    members[index].failures += 1
    if members[index].lostAt == nil { members[index].lostAt = now }
    guard isFinal || members[index].failures >= Self.unreachableFailures else { return [] }
    return moveNavs(awayFrom: link, at: now)
  }

  /// Handles a message of a daemon; see `SessionReplica.receive`.
  package mutating func receive(
    _ message: ServerMessage, verb: ServerVerb?, octets: Int, from link: LinkID = .first,
    at now: UInt64
  ) -> [ClusterOutput] {
    if case .bye(why: "fenced", _) = message, mayBeFencedByOwnHello(link, at: now) {
      let next = members.first { $0.link != link && $0.session.isGreeting }
      if let next { return merge(link, into: next.link, at: now) }
      return run(link, at: now) { $0.receiveUnreadable(at: now) }
    }
    if !moveHistories.isEmpty, case .ok(let reply) = message { resetMoves(reply.id, at: link) }
    return run(link, at: now) { $0.receive(message, verb: verb, octets: octets, at: now) }
  }

  /// Resets the number of moves of a nav, because a daemon has answered for the nav.
  private mutating func resetMoves(_ id: UInt64, at link: LinkID) {
    guard let index = index(of: link), let nav = members[index].session.nav(of: id) else { return }
    moveHistories[nav]?.moves = 0
  }

  /// Whether a `hello` of this client itself may have ended the session of a link.
  ///
  /// Two addresses can lead to one daemon, which keeps the session whose `hello` arrives last. Two
  /// connections can deliver them in another order than the client sent them.
  private func mayBeFencedByOwnHello(_ link: LinkID, at now: UInt64) -> Bool {
    let others = members.lazy.filter { $0.link != link }.map(\.greetedAt)
    let newest = max(others.max() ?? 0, newestClosedGreeting)
    return newest > 0 && now < newest + Self.ownHelloFenceMilliseconds
  }

  /// Handles an unreadable message: ends the session, and connects again.
  package mutating func receiveUnreadable(
    from link: LinkID = .first, at now: UInt64
  ) -> [ClusterOutput] {
    run(link, at: now) { $0.receiveUnreadable(at: now) }
  }

  package mutating func tick(at now: UInt64) -> [ClusterOutput] {
    guard !hasOnlySeed else {
      return run(members[0].link, at: now) { $0.tick(at: now) }
    }
    var outputs = request(nil) { $0.dropUnsendable(at: now) }
    for link in members.map(\.link) {
      outputs += run(link, at: now) { $0.tick(at: now) }
      outputs += closeIfIdle(link, at: now)
      guard let index = index(of: link), let lostAt = members[index].lostAt,
        hasAlternative(toMember: index), now >= lostAt + Self.unreachableMilliseconds
      else { continue }
      outputs += moveNavs(awayFrom: link, at: now)
    }
    let ready = pauses.filter { $0.value.until <= now }
    for (nav, pause) in ready.sorted(by: { $0.key < $1.key }) {
      pauses[nav] = nil
      let handoff = withSession(nil) { $0.release(nav) }.handoff
      outputs += assign(handoff, at: pause.next, now)
    }
    dropOldHistories(at: now)
    return outputs
  }

  /// Ends a session that has been idle for `idleMilliseconds`, unless it is the seed.
  private mutating func closeIfIdle(_ link: LinkID, at now: UInt64) -> [ClusterOutput] {
    guard let index = index(of: link), index > 0, members[index].session.isIdle else {
      if let index = index(of: link) { members[index].closesAt = nil }
      return []
    }
    guard let closesAt = members[index].closesAt else {
      members[index].closesAt = now + Self.idleMilliseconds
      return []
    }
    guard closesAt <= now else { return [] }
    return request(index) { $0.leave() } + remove(link)
  }

  /// Removes a session that has nothing to do any more, or that ends with the client.
  mutating func remove(_ link: LinkID) -> [ClusterOutput] {
    guard let index = index(of: link), index > 0 else { return [] }
    newestClosedGreeting = max(newestClosedGreeting, members.remove(at: index).greetedAt)
    navLinks = navLinks.filter { $0.value != link }
    return [.close(link)]
  }

  /// Changes a session, and performs those of its outputs that concern other sessions.
  private mutating func run(
    _ link: LinkID, at now: UInt64, _ body: (inout SessionReplica) -> [SessionOutput]
  ) -> [ClusterOutput] {
    guard let index = index(of: link) else { return [] }
    let before = members[index].session.phase
    members[index].session.hasSuccessor =
      index > 0 || members.dropFirst().contains { $0.session.isOpen }
    let outputs = withSession(index, body)
    if members[index].session.phase != before {
      if members[index].session.isGreeting { members[index].greetedAt = now }
      let isOpen = members[index].session.isOpen
      members[index].lostAt = isOpen ? nil : members[index].lostAt ?? now
    }
    return perform(outputs, of: link, at: now)
  }

  private mutating func perform(
    _ outputs: [SessionOutput], of link: LinkID, at now: UInt64
  ) -> [ClusterOutput] {
    var results: [ClusterOutput] = []
    results.reserveCapacity(outputs.count)
    var opened: Welcome?
    for output in outputs {
      switch output {
      case .send(let verb, let body): results.append(.send(link, verb, body))
      case .reconnect(let at):
        guard let index = index(of: link) else { break }
        results.append(.connect(link, members[index].address, at: at))
      case .event(.opened(let welcome)):
        guard let index = index(of: link) else { break }
        members[index].welcome = welcome
        opened = welcome
        if index == 0 { results.append(.event(.opened(welcome))) }
      case .event(.lost): results += outputsOfLoss(link)
      case .event(.closed(let end)):
        results += close(end)
      case .event(let event): results.append(.event(event))
      case .navElsewhere(let nav, let whereabouts):
        results += relocate(nav, from: link, whereabouts, at: now)
      case .handOverAll(let end):
        // Another process has taken over the identity of the client.
        let isFence = end == .dismissed(why: "fenced")
        results += isFence ? close(end) : moveNavs(awayFrom: link, at: now)
      }
    }
    if let opened { results += mergeOlder(opened, into: link, at: now) }
    return results
  }

  /// Reports the loss of a session: as `lost` for the seed, else as `suspect` for each mirror.
  func outputsOfLoss(_ link: LinkID) -> [ClusterOutput] {
    guard let index = index(of: link), index > 0 else {
      return [.dropUnsent(link), .event(.lost)]
    }
    let navs = members[index].session.mirroredNavs.sorted()
    return [.dropUnsent(link)] + navs.map { .event(.changed(nav: $0, .suspect)) }
  }

  /// Ends all sessions for good; the event `closed` ends all requests of callers.
  private mutating func close(_ end: SessionEnd) -> [ClusterOutput] {
    let farewells = leave()
    let ends = members.dropFirst().map(\.link).flatMap { remove($0) }
    return farewells + ends + [.event(.closed(end))]
  }
}

extension SessionReplica {
  var isOpen: Bool { phase == .open }

  var isGreeting: Bool { if case .greeting = phase { true } else { false } }

  var mirroredNavs: [String] {
    watches.filter { $0.value.replica.mirror != nil }.map(\.key.nav)
  }

  func hasRequest(_ id: UInt64) -> Bool { pending.contains { $0.id == id } }
}
