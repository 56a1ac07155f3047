package import NavigationCore

extension ClusterReplica {
  /// Handles a new connection; there are no outputs if the link was closed meanwhile.
  ///
  /// `place` is the endpoint to which it is connected; nil if the caller does not know it.
  package mutating func connected(
    _ link: LinkID, to place: String? = nil, at now: UInt64
  ) -> [ClusterOutput] {
    guard let index = index(of: link) else { return [] }
    members[index].place = place ?? members[index].place
    members[index].failures = 0
    let twin = members.indices.first { twin in
      twin != index && place != nil && members[twin].place == place
        && members[twin].session.isOpen
    }
    // A second session with the same daemon would end the one that is open.
    if let twin, !members[index].session.isOpen {
      return merge(link, into: members[twin].link, at: now)
    }
    return run(link, at: now) { $0.connected(at: now) }
  }

  /// Handles the loss of a connection; libzmq or the caller makes another one.
  package mutating func disconnected(_ link: LinkID, at now: UInt64) -> [ClusterOutput] {
    run(link, at: now) { $0.disconnected() }
  }

  /// Handles an attempt to connect that has failed; `isFinal` if another one would fail too.
  package mutating func failed(
    _ link: LinkID, isFinal: Bool = false, at now: UInt64
  ) -> [ClusterOutput] {
    guard let index = index(of: link) else { return [] }
    members[index].failures += 1
    if members[index].lostAt == nil { members[index].lostAt = now }
    guard isFinal || members[index].failures >= Self.unreachableFailures else { return [] }
    return replace(link, at: now)
  }

  /// Handles a message; see `SessionReplica.receive`.
  package mutating func receive(
    _ message: ServerMessage, verb: ServerVerb?, octets: Int, from link: LinkID = .first,
    at now: UInt64
  ) -> [ClusterOutput] {
    if case .bye(why: "fenced", _) = message, isOwnFence(link, at: now) {
      let next = members.first { $0.link != link && $0.session.isGreeting }
      if let next { return merge(link, into: next.link, at: now) }
      return run(link, at: now) { $0.receiveUnreadable(at: now) }
    }
    if !journeys.isEmpty, case .ok(let reply) = message { arrive(reply.id, at: link) }
    return run(link, at: now) { $0.receive(message, verb: verb, octets: octets, at: now) }
  }

  /// Notes that a daemon has the nav of a request: a later move is none of a cycle.
  private mutating func arrive(_ id: UInt64, at link: LinkID) {
    guard let index = index(of: link), let nav = members[index].session.nav(of: id) else { return }
    journeys[nav]?.moves = 0
  }

  /// Whether another session of this client may have ended the one of a link.
  ///
  /// Two addresses can lead to one daemon, which keeps the session whose `hello` it gets last. The
  /// two can arrive in another order than they were sent.
  private func isOwnFence(_ link: LinkID, at now: UInt64) -> Bool {
    let others = members.lazy.filter { $0.link != link }.map(\.greetedAt)
    let newest = max(others.max() ?? 0, formerlyGreetedAt)
    return newest > 0 && now < newest + Self.ownFenceMilliseconds
  }

  /// Handles an unreadable message: the session must end.
  package mutating func receiveUnreadable(
    from link: LinkID = .first, at now: UInt64
  ) -> [ClusterOutput] {
    run(link, at: now) { $0.receiveUnreadable(at: now) }
  }

  package mutating func tick(at now: UInt64) -> [ClusterOutput] {
    guard !isAlone else {
      return run(members[0].link, at: now) { $0.tick(at: now) }
    }
    var outputs = request(nil) { $0.dropUnsendable(at: now) }
    for link in members.map(\.link) {
      outputs += run(link, at: now) { $0.tick(at: now) }
      outputs += retire(link, at: now)
      guard let index = index(of: link), let lostAt = members[index].lostAt,
        isReplaceable(index), now >= lostAt + Self.unreachableMilliseconds
      else { continue }
      outputs += replace(link, at: now)
    }
    let ready = pauses.filter { $0.value.until <= now }
    for (nav, pause) in ready.sorted(by: { $0.key < $1.key }) {
      pauses[nav] = nil
      let handoff = withSession(nil) { $0.release(nav) }.handoff
      outputs += settle(handoff, at: pause.next, now)
    }
    dropJourneys(at: now)
    return outputs
  }

  /// Ends a session that holds nothing, after a while.
  private mutating func retire(_ link: LinkID, at now: UInt64) -> [ClusterOutput] {
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

  /// Removes a session that holds nothing any more, or that is over with the client.
  mutating func remove(_ link: LinkID) -> [ClusterOutput] {
    guard let index = index(of: link), index > 0 else { return [] }
    formerlyGreetedAt = max(formerlyGreetedAt, members.remove(at: index).greetedAt)
    homes = homes.filter { $0.value != link }
    return [.close(link)]
  }

  /// Changes a session, and performs what its outputs ask of the other sessions.
  private mutating func run(
    _ link: LinkID, at now: UInt64, _ body: (inout SessionReplica) -> [SessionOutput]
  ) -> [ClusterOutput] {
    guard let index = index(of: link) else { return [] }
    let before = members[index].session.phase
    members[index].session.isReplaceable =
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
    var isSeed: Bool { members[0].link == link }
    for output in outputs {
      switch output {
      case .send(let verb, let body): results.append(.send(link, verb, body))
      case .reconnect(let at):
        guard let index = index(of: link) else { break }
        results.append(.connect(link, members[index].address, at: at))
      case .event(.opened(let welcome)):
        guard let index = index(of: link) else { break }
        members[index].welcome = welcome
        if isSeed { results.append(.event(.opened(welcome))) }
      case .event(.lost): results += lost(link)
      case .event(.closed(let end)):
        results += close(end)
      case .event(let event): results.append(.event(event))
      case .elsewhere(let nav, let whereabouts):
        results += relocate(nav, from: link, whereabouts, at: now)
      case .replaced(let end):
        results += end.isFence ? close(end) : replace(link, at: now)
      }
    }
    if case .event(.opened(let welcome))? = outputs.first(where: \.isOpening) {
      results += mergeOlder(welcome, into: link, at: now)
    }
    return results
  }

  /// Reports the loss of a session: as a whole for the seed, else for each mirror.
  func lost(_ link: LinkID) -> [ClusterOutput] {
    guard let index = index(of: link), index > 0 else {
      return [.dropUnsent(link), .event(.lost)]
    }
    let navs = members[index].session.mirroredNavs.sorted()
    return [.dropUnsent(link)] + navs.map { .event(.changed(nav: $0, .suspect)) }
  }

  /// Ends all sessions for good; the callers of all requests learn of it by the event.
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

  func hasRequest(_ id: UInt64) -> Bool { flights.contains { $0.id == id } }
}

extension SessionOutput {
  fileprivate var isOpening: Bool { if case .event(.opened) = self { true } else { false } }
}

extension SessionEnd {
  /// Whether another process has taken over the identity of the client.
  fileprivate var isFence: Bool { self == .dismissed(why: "fenced") }
}
