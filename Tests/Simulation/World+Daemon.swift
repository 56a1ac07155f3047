import NavigationCore
import NavigationDaemon
import NavigationHub

// Starts, turns and deaths of the daemon.

extension World {
  /// Starts the daemon from the journal.
  mutating func start() {
    guard !isUp else { return }
    boot += 1
    trace { world in "start \(world.boot), journal to \(world.journal.lastSequence)" }
    if boot > 1 { count { $0.restarts += 1 } }
    var hub = Hub(
      configuration: scenario.configuration, shards: shardCount, seed: random.next(),
      inspections: inspections)
    guard shardCount == 1 else {
      (self.hub, isUp) = (hub, true)
      return adopt(shardsElsewhere)
    }
    guard replay(into: &hub) else { return }
    (self.hub, isUp) = (hub, true)
    for name in scenario.navs { compareReplayed(name) }
    isUp = false
    let renews =
      store?.hasLostRows ?? journal.mustRenewEpochs && sabotage != .keepEpochs
    if renews { journal.mayLackRows = [.first] }
    hub.finishReplay(renewsEpochs: renews, lastSequence: journal.lastSequence, at: daemonNow)
    let records = hub.takeRecords()
    if isFaulty, random.chance(scenario.faults.crashBeforeCommit) {
      return endProcess(withMachine: false)
    }
    let newest = hub.newestRow(of: .first)
    guard completes(commit([records])),
      completes(store?.epochsRenewed(before: newest) ?? .done)
    else { return }
    if renews { journal.skip(to: newest, of: .first) }
    journal.mustRenewEpochs = false
    if store == nil { journal.sync() }
    let output = hub.committed(at: daemonNow)
    demand(output.messages.isEmpty, "a fresh hub talks")
    (self.hub, isUp) = (hub, true)
    (isMachineGone, hasPutBack) = (false, false)
    for name in scenario.navs { compareRecovered(name) }
  }

  /// What the daemon ends because it was restarted is at most one revision, with that cause.
  mutating func compareRecovered(_ name: String, in other: Hub? = nil) {
    guard let (place, state) = probe(name, in: other), let head = facts.heads[name] else { return }
    demand(head.place == place, "\(name) is at \(place.revision), stored is \(head.place.revision)")
    let isIdle =
      state.contains("\"phase\":") == false && state.contains("\"owner\":") == false
    demand(isIdle, "\(name) was restarted with something open: \(state)")
    facts.states[place] = state
  }

  /// What was replayed must be what was there before.
  private mutating func compareReplayed(_ name: String) {
    guard let (place, state) = probe(name) else {
      return demand(facts.heads[name] == nil, "\(name) is gone after the restart")
    }
    guard let head = facts.heads[name] else { return violation("\(name) came back from the dead") }
    demand(head.place == place, "\(name) is at \(place.revision), stored is \(head.place.revision)")
    if let known = facts.states[place] {
      demand(known == state, "\(name)@\(place.revision) was replayed as another state")
    }
    facts.states[place] = state
  }

  /// The process is gone, and what it had not stored or not sent with it.
  mutating func crash(_ why: String, withMachine isMachineLost: Bool = false) {
    guard isUp else { return }
    endStore(withMachine: isMachineLost)
    trace { _ in "crash: \(why)\(isMachineLost ? ", with the machine" : "")" }
    isUp = false
    (events, historyRequests) = ([], [])
    (pageIns, pageRequests, readNavs) = (PageIns(), [], [])
    (batches, writer) = (EventBatches(), SimulatedWriter())
    (openBatches, durableBatches, facts.tentative) = ([], [], [])
    isJournalGone = false
    for id in links.map(\.id) { breakLink(id) }
  }

  /// The process says goodbye, and ends.
  private mutating func stopOrderly() {
    for id in links.filter(\.isOpen).map(\.id) where random.chance(700) { while deliver(id) {} }
    closeStore()
    crash("stopped")
  }

  mutating func loseMachine() {
    guard store == nil else { return endProcess(withMachine: true) }
    crash("machine lost")
    restartMachine()
    // The database of a cluster has machines of its own.
    if shardCount > 1 { return }
    let lost = journal.loseUnsynced(&random)
    trace { _ in "lost \(lost.count) rows" }
    if !lost.isEmpty { count { $0.renewals += 1 } }
    facts.lose(lost, kept: journal.rows)
  }

  /// Somebody stops the daemon and puts an older copy of its journal back.
  mutating func putBack() {
    guard shardCount == 1 else { return moveShards() }
    crash("an older journal comes back")
    if let store {
      hasPutBack = store.putBack()
      wasPutBack = wasPutBack || hasPutBack
      return
    }
    let lost = journal.goBack(&random)
    trace { _ in "went back by \(lost.count) rows" }
    if !lost.isEmpty { count { $0.returns += 1 } }
    facts.goBack(lost, kept: journal.rows)
  }

  /// Lets navd's loop take a turn.
  mutating func takeTurn() {
    guard isUp else { return }
    turn += 1
    drawTurn()
    let isStopping = events.contains { if case .stop = $0 { true } else { false } }
    repeat {
      let isAlive = attempt { world throws in
        _ = world.receiveMessages(isAwaited: true)
        try world.takeProgress(at: world.daemonNow)
        world.takeEvents()
        try world.takeTurn(at: world.daemonNow)
      }
      guard isAlive else { return }
    } while isStopping && batches.retriedCount > 0
    let (isDelayed, inFlight) = (batches.waitingCount > 0, batches.inFlightCount)
    count { load in
      load.delays += isDelayed ? 1 : 0
      load.inFlight = max(load.inFlight, inFlight)
    }
    if isStopping {
      demand(batches.areDurable, "the daemon stops with batches that are not stored")
      return stopOrderly()
    }
    if turn % 16 == 0, batches.areDurable, let name = random.pick(scenario.navs),
      facts.heads[name] != nil, isHere(name)
    {
      verify(name)
    }
  }

  /// Returns whether the daemon lives after a part of its loop.
  mutating func attempt(_ part: (inout World) throws -> Void) -> Bool {
    do {
      try part(&self)
    } catch {
      if isUp { violation("the loop has ended: \(error)") }
    }
    return isUp
  }

  /// Reads the state of a nav off a copy of the hub, or of another one, which nobody notices.
  ///
  /// With `twice`, nil if a second question finds another revision.
  func probe(
    _ name: String, in other: Hub? = nil, twice: Bool = false
  ) -> (place: Place, state: String)? {
    let bodies = ask("{\"id\":1,\"nav\":\"\(name)\"}", in: other, times: twice ? 2 : 1)
    var places: Set<Place> = []
    for body in bodies {
      guard let epoch = body.epoch, let revision = body.number(behind: "\"rev\":") else {
        return nil
      }
      places.insert(Place(epoch: epoch, revision: revision))
    }
    guard let body = bodies.last, let start = body.position(of: ",\"value\":"),
      let place = places.first, places.count == 1, bodies.count == (twice ? 2 : 1)
    else { return nil }
    return (place, Array(body[(start + 9)..<(body.count - 1)]).text)
  }

  /// The hub's own check of a nav.
  mutating func verify(_ name: String) {
    let body = ask("{\"id\":1,\"nav\":\"\(name)\",\"what\":\"verify\"}").last
    demand(
      body?.position(of: "\"value\":{\"ok\":true,") != nil, "verify: \(body?.text ?? "nothing")")
  }

  /// The bodies of the `ok` replies of a copy of the hub.
  private func ask(_ body: String, in other: Hub? = nil, times: Int = 1) -> [[UInt8]] {
    guard isUp else { return [] }
    var copy = other ?? hub
    let connection = ConnectionID(UInt64.max)
    let peer = Peer.local(user: 0, group: 0, process: 0)
    var reader = copy.makeReader()
    let event = HubEvent(
      frame: ClientVerb.get.frame.span, body: body.utf8.span, from: connection, peer,
      reader: &reader)
    if let request = copy.dormant(for: event) {
      let (snapshot, rows) = journal.chain(of: request.nav, to: request.newestRow)
      // What cannot be revived is not known to the copy, which the caller sees.
      try? copy.revive(request, snapshot: snapshot, rows: rows)
    }
    for _ in 0..<times { copy.handle(event, at: daemonNow) }
    _ = copy.takeRecords()
    var messages: [Outgoing] = []
    for _ in 0...copy.sealedCount { messages += copy.committed(at: daemonNow).messages }
    return messages.filter { $0.connection == connection && $0.verb == .ok }.map(\.body)
  }

  /// Performs the effects of a durable batch.
  mutating func dispatch(_ output: HubOutput) {
    // No event may be handled while a nav is unsound, a read included.
    for name in ["$navs", "$clients"] where !hub.isUnsound {
      // While nobody looks, asking begins a new revision, and what it shows is shown to nobody.
      if let (place, state) = probe(name, twice: true) {
        facts.virtualStates[name, default: [:]][place] = state
      }
    }
    historyRequests.append(contentsOf: output.requests)
    for message in output.messages where message.verb == .bye {
      if let index = index(of: message.connection) { links[index].isDismissed = true }
    }
    for message in sabotaged(output.messages) { send(message) }
    for connection in output.endedConnections { trace { _ in "drop \(connection.number)" } }
  }
}
