import NavigationCore
import NavigationHub

// The daemon's shell: turns, commits and failures of them, starts and deaths.

extension World {
  /// Starts the daemon from the journal.
  mutating func start() {
    guard hub == nil else { return }
    boot += 1
    trace { world in "start \(world.boot), journal to \(world.journal.lastSequence)" }
    if boot > 1 { count { $0.restarts += 1 } }
    var hub = Hub(
      configuration: scenario.configuration, shards: shardCount, seed: random.next(),
      inspections: inspections)
    guard shardCount == 1 else {
      self.hub = hub
      return adopt(shardsElsewhere)
    }
    guard replay(into: &hub) else { return }
    self.hub = hub
    for name in scenario.navs { compareReplayed(name) }
    self.hub = nil
    let renews =
      store?.hasLostRows ?? journal.mustRenewEpochs && sabotage != .keepEpochs
    hub.finishReplay(renewsEpochs: renews, lastSequence: journal.lastSequence, at: daemonNow)
    let records = hub.takeRecords()
    if isFaulty, random.chance(scenario.faults.crashBeforeCommit) {
      return endProcess(withMachine: false)
    }
    guard completes(commit(records)), completes(store?.epochsRenewed() ?? .done) else { return }
    journal.mustRenewEpochs = false
    if store == nil { journal.sync() }
    let output = hub.committed(at: daemonNow)
    demand(output.messages.isEmpty, "a fresh hub talks")
    self.hub = hub
    (isMachineGone, hasPutBack) = (false, false)
    for name in scenario.navs { compareRecovered(name) }
  }

  /// What the daemon ends because it was restarted is at most one revision, with that cause.
  mutating func compareRecovered(_ name: String) {
    guard let (place, state) = probe(name), let head = facts.heads[name] else { return }
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
    guard hub != nil else { return }
    endStore(withMachine: isMachineLost)
    trace { _ in "crash: \(why)\(isMachineLost ? ", with the machine" : "")" }
    hub = nil
    events = []
    historyRequests = []
    (pageIns, pageRequests) = (PageIns(), [])
    facts.tentative = []
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

  /// What was decided together, and is to be stored together.
  private struct Decided {
    var taken: [Taken]
    var records: JournalRecords
    var tentative: [(place: Place, state: String)]
    /// Whether an op broke an invariant: it must be taken back when those before it are durable.
    var isUnsound = false
  }

  /// Takes what is at hand, stores what follows, sends what follows from that.
  mutating func takeTurn() {
    guard hub != nil else { return }
    let taken = pageIn(collect())
    guard !taken.isEmpty else { return }
    turn += 1
    var batches = decide(taken)
    if isFaulty, random.chance(scenario.faults.crashBeforeCommit) {
      if sabotage == .acknowledgeEarly { dispatch() }
      return crash("before the commit")
    }
    while let batch = batches.first {
      if batch.isUnsound {
        batches = [decideAgain(batch.taken)]
        guard hub != nil else { return }
        continue
      }
      // The hub may assume that a reload finds what was stored, which the lost row breaks.
      if batches.contains(where: { !$0.records.isEmpty }), isFaulty, sabotage != .loseRow,
        random.chance(scenario.faults.failCommit)
      {
        failCommit(batches.flatMap(\.taken))
        guard hub != nil else { return }
        batches = [Decided(taken: [], records: JournalRecords(), tentative: [])]
      } else {
        facts.tentative = batch.tentative
        let outcome = commit(batch.records)
        if outcome == .refused {
          failCommit(batches.flatMap(\.taken))
          guard hub != nil else { return }
          batches = [Decided(taken: [], records: JournalRecords(), tentative: [])]
        } else if !survives(outcome) {
          return
        }
        if sabotage == .loseRow, !batch.records.isEmpty, random.chance(100) {
          journal.dropLastBatch()
        }
      }
      if isFaulty, random.chance(scenario.faults.crashAfterCommit) {
        return crash("between the commit and the send")
      }
      dispatch()
      batches.removeFirst()
    }
    if taken.contains(where: { if case .stop = $0.event { true } else { false } }) {
      return stopOrderly()
    }
    if turn % 16 == 0, let name = random.pick(scenario.navs), facts.heads[name] != nil, isHere(name)
    {
      verify(name)
    }
  }

  /// Decides the events as one batch, or ops at the end of them as more batches, as a shell does
  /// that decides while it stores.
  private mutating func decide(_ taken: [Taken]) -> [Decided] {
    var batches: [Decided] = []
    var rest = taken[...]
    // Behind a seal only ops may be handled.
    let ops = taken.reversed().prefix { $0.event.isOp }.count
    while !rest.isEmpty {
      let others = max(0, rest.count - ops)
      var size = max(1, others + random.below(rest.count - others + 1))
      handle(Array(rest.prefix(size)))
      if size < rest.count, !random.chance(600) || hub?.mayDecideDuringCommit != true,
        hub?.isUnsound == false
      {
        handle(Array(rest.dropFirst(size)))
        size = rest.count
      }
      if hub?.isUnsound == true {
        facts.tentative = []
        batches.append(
          Decided(
            taken: Array(rest), records: JournalRecords(), tentative: [], isUnsound: true))
        return batches
      }
      batches.append(
        Decided(
          taken: Array(rest.prefix(size)), records: takeRecords(), tentative: facts.tentative))
      facts.tentative = []
      rest = rest.dropFirst(size)
      if !rest.isEmpty { hub?.seal() }
    }
    return batches
  }

  /// Takes the batch at hand back, in which an op broke an invariant, and decides its events again.
  private mutating func decideAgain(_ taken: [Taken]) -> Decided {
    while hub?.isUnsound == true {
      trace { _ in "unsound" }
      count { $0.unsoundBatches += 1 }
      guard var hub = self.hub else { break }
      let isReloaded = reload(hub.rollBackUnsound(), &hub)
      self.hub = hub
      guard isReloaded else {
        crash("a nav cannot be read back")
        break
      }
      facts.tentative = []
      handle(taken)
    }
    defer { facts.tentative = [] }
    return Decided(taken: taken, records: takeRecords(), tentative: facts.tentative)
  }

  /// Returns false if the disk failed to read a nav, after which the daemon ends.
  private mutating func reload(_ requests: [ReloadRequest], _ hub: inout Hub) -> Bool {
    for request in requests {
      guard let (snapshot, rows) = chain(of: request) else { return false }
      do {
        try hub.reload(request, snapshot: snapshot, rows: rows)
      } catch {
        violation("nav \(request.nav) cannot be read back: \(error.what)")
      }
    }
    return true
  }

  private mutating func takeRecords() -> JournalRecords {
    guard var hub = self.hub else { return JournalRecords() }
    self.hub = nil
    defer { self.hub = hub }
    return hub.takeRecords()
  }

  /// The disk is full: everything goes back, and the events are handled once more.
  private mutating func failCommit(_ taken: [Taken]) {
    guard var hub = self.hub else { return }
    trace { _ in "commit failed" }
    count { $0.failedCommits += 1 }
    facts.tentative = []
    let isReloaded = reload(hub.rollBack(), &hub)
    self.hub = hub
    guard isReloaded else { return crash("a nav cannot be read back") }
    handle(taken)
    demand(takeRecords().isEmpty, "records while the journal takes none")
    facts.tentative = []
  }

  /// An event, the request that it was read from, and the nav it may change.
  struct Taken: HoldableEvent {
    var event: HubEvent
    var request: Request?
    var byteCount: Int { request?.body.count ?? 0 }

    init(event: HubEvent) { self.event = event }

    /// Reads a request as the daemon's shell reads what it receives.
    init(
      _ request: Request, from connection: ConnectionID, _ peer: Peer,
      reader: inout ClientMessageReader
    ) {
      self.request = request
      event = HubEvent(
        frame: request.verb.span, body: request.body.span, from: connection, peer, reader: &reader)
    }

    var changes: [String] { request?.changes.map { [$0] } ?? [] }
  }

  private mutating func collect() -> [Taken] {
    var taken = events.map { Taken(event: $0) }
    events = []
    if let wakeAt = hub?.wakeAt, wakeAt <= daemonNow.boot { taken.append(Taken(event: .wake)) }
    while let request = historyRequests.first, !isFaulty || random.chance(500) {
      historyRequests.removeFirst()
      taken.append(Taken(event: .history(answer(request))))
    }
    var budget = isFaulty ? 1 + random.below(scenario.turnEvents) : 1000
    if !pageIns.mayReceive { budget = 0 }
    for _ in 0..<budget {
      let waiting = links.indices.filter { !links[$0].requests.isEmpty }
      guard let index = random.pick(waiting) else { break }
      var request = links[index].requests.removeFirst()
      prepare(&request, index)
      taken.append(Taken(request, from: links[index].id, links[index].peer, reader: &reader))
      runTwice(request, index, &taken)
    }
    for link in links where !link.isOpen && link.requests.isEmpty && random.chance(600) {
      taken.append(Taken(event: .closed(link.id)))
      links.removeAll { $0.id == link.id }
    }
    return taken
  }

  /// The navs that an event may change: time and the end of a session may change any.
  private func changed(by item: Taken) -> [String] {
    switch item.event {
    case .message(_, _, let message):
      switch message {
      case .op, .watch, .unwatch, .get, .ping, .credit: return item.changes
      case .hello, .delegate, .answer, .lease, .bye: return scenario.navs
      case .cluster: return []
      }
    case .unreadable, .closed, .access, .revoked, .wake, .stop: return scenario.navs
    case .blocked, .unblocked, .history, .historyPruned, .snapshotWanted, .backupProgress, .backup,
      .cluster, .clusterCommandResult, .configured:
      return []
    }
  }

  private mutating func handle(_ taken: [Taken]) {
    for item in taken {
      note(item)
      demand(hub?.dormant(for: item.event) == nil, "an event about a dormant nav is handled")
      let time = daemonNow
      hub?.handle(item.event, at: time)
      if hub?.isUnsound == true { return }
      for name in changed(by: item) {
        if let (place, state) = probe(name) { facts.tentative.append((place, state)) }
      }
    }
  }

  private mutating func note(_ item: Taken) {
    switch (item.event, item.request) {
    case (.message(let id, _, _), let request?), (.unreadable(let id, _, _), let request?):
      hash.add(id.number, request.body)
      if let index = index(of: id) { links[index].heardAt = daemonNow.boot }
      noteCredit(id, request.verb, request.body)
      count { $0.requests += 1 }
      trace { _ in "→ \(id.number) \(request.verb.text) \(request.body.text)" }
    default: trace { _ in "event \(item.event)" }
    }
  }

  /// Revives the navs that have been read by now, and takes out the events that must wait for
  /// others, as a shell does.
  private mutating func pageIn(_ taken: [Taken]) -> [Taken] {
    var answers: [ReloadRequest] = []
    while let request = pageRequests.first, !isFaulty || random.chance(scenario.pageSpeed) {
      pageRequests.removeFirst()
      answers.append(request)
    }
    let released = pageIns.release(answers)
    for request in answers where hub?.dormant(request.nav) == request { revive(request) }
    var ready: [Taken] = []
    for item in released + taken where !pageIns.hold(item, for: hub?.dormant(for: item.event)) {
      ready.append(item)
    }
    pageRequests += pageIns.takeRequests()
    let held = pageIns.count
    count { $0.held = max($0.held, held) }
    return ready
  }

  /// Revives a nav from the journal as it is now.
  private mutating func revive(_ request: ReloadRequest) {
    count { $0.revivals += 1 }
    // If the read failed, the events wait again.
    guard let (snapshot, rows) = chain(of: request) else { return }
    do {
      try hub?.revive(request, snapshot: snapshot, rows: rows)
    } catch {
      violation("nav \(request.nav) cannot be revived: \(error.what)")
    }
  }

  /// Reads the state of a nav off a copy of the hub, which nobody notices.
  ///
  /// With `twice`, nil if a second question finds another revision.
  func probe(_ name: String, twice: Bool = false) -> (place: Place, state: String)? {
    let bodies = ask("{\"id\":1,\"nav\":\"\(name)\"}", times: twice ? 2 : 1)
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
  private func ask(_ body: String, times: Int = 1) -> [[UInt8]] {
    guard var copy = hub else { return [] }
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

  mutating func dispatch() {
    guard var hub = self.hub else { return }
    self.hub = nil
    let output = hub.committed(at: daemonNow)
    self.hub = hub
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
