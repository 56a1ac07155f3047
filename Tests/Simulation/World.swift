import NavigationCore
import NavigationClient
package import NavigationDaemon
package import NavigationHub

/// What a run found.
package struct Report: Sendable {
  /// The seed that repeats it.
  package var seed: UInt64
  /// What must not have happened; empty for a good run.
  package var violations: [String] = []
  /// A checksum of every event and every message.
  package var traceHash: UInt64 = 0
  /// What happened, if a trace was asked for.
  package var trace: [String] = []
  /// How much happened.
  package var load = Load()

  /// Counts by which a run that tested nothing is told from one that tested much.
  package struct Load: Sendable {
    /// Changes acknowledged to a client.
    package var accepted = 0
    /// Messages that reached the hub.
    package var requests = 0
    /// Messages that reached a client.
    package var deliveries = 0
    /// Mirrors compared with the state of the hub.
    package var comparisons = 0
    /// Watches that were resumed.
    package var resumptions = 0
    /// Times the daemon was started again.
    package var restarts = 0
    /// Navs read from the journal because an event was about them.
    package var revivals = 0
    /// The most events that waited for dormant navs at a time.
    package var held = 0
    /// Turns that left messages for later ones, because their work took too long.
    package var delays = 0
    /// The most batches in flight at a time.
    package var inFlight = 0
    /// Answers that left before batches that were in flight.
    package var overtakings = 0
    /// Commits that failed because shards were lost.
    package var fences = 0
    /// Batches that could not be stored.
    package var failedCommits = 0
    /// Batches that were decided again because an op broke an invariant.
    package var unsoundBatches = 0
    /// Connections lost.
    package var lostConnections = 0
    /// Lost machines that cost acknowledged rows.
    package var renewals = 0
    /// Older journals that came back.
    package var returns = 0
    /// Answers from a record, compared with the first one.
    package var repetitions = 0
    /// Shards that came from the rest of a cluster.
    package var adoptions = 0
    /// Ops that another member of the cluster performed.
    package var strangers = 0
    /// Questions to delegates.
    package var questions = 0
    /// Ops that were refused because they may have been performed and forgotten.
    package var doubts = 0
    /// Answers from the journal's history.
    package var histories = 0
    /// Sends that had to wait for credit.
    package var starvations = 0
    /// Calls of the disk that failed, and processes that died in one.
    package var diskFaults = 0
    /// Runs in which a planted bug had an opportunity.
    package var sabotages = 0

    /// Makes counts of nothing.
    package init() {}

    /// Adds another run's counts.
    package mutating func add(_ other: Load) {
      accepted += other.accepted
      requests += other.requests
      deliveries += other.deliveries
      comparisons += other.comparisons
      resumptions += other.resumptions
      restarts += other.restarts
      revivals += other.revivals
      held = max(held, other.held)
      delays += other.delays
      inFlight = max(inFlight, other.inFlight)
      overtakings += other.overtakings
      fences += other.fences
      failedCommits += other.failedCommits
      unsoundBatches += other.unsoundBatches
      lostConnections += other.lostConnections
      renewals += other.renewals
      returns += other.returns
      repetitions += other.repetitions
      adoptions += other.adoptions
      strangers += other.strangers
      questions += other.questions
      doubts += other.doubts
      histories += other.histories
      starvations += other.starvations
      diskFaults += other.diskFaults
      sabotages += other.sabotages
    }
  }
}

/// One hub, a journal, many clients and everything between them, driven by one seed.
///
/// Law: equal seeds give equal runs, message by message.
package struct World: Sendable {
  var random: Randomness
  /// What delegates do, so that the other worlds are as they were without them.
  var duties: Randomness
  /// Whether clients are delegates and hold the display.
  let hasDuties: Bool
  var scenario: Scenario
  let sabotage: Sabotage?
  let isTracing: Bool
  /// One outside of a cluster.
  let shardCount: Int
  /// Why rows are missing in shards that no member has adopted since.
  var historyLosses: [Shard: HistoryLoss] = [:]
  private(set) var report: Report
  var hash = TraceHash()
  /// The clocks of the clients.
  var now = Instant(boot: 1_000_000, wall: 1_700_000_000_000)
  /// The milliseconds by which the boot clock of the daemon's machine is behind that of the clients.
  var bootLag: UInt64 = 0

  // The daemon.
  package var hub: Hub
  /// Whether it runs; `hub` means nothing while it is down.
  var isUp = false
  package var batches = EventBatches()
  package var pageIns = PageIns<ReceivedEvent>()
  package var limits = TurnLimits()
  package var writer = SimulatedWriter()
  package var peersOweTooMuch = false
  /// Whether the journal can take no commit.
  var isJournalGone = false
  /// The batches that are not durable, oldest first, as far as their events have been handled.
  var openBatches: [OpenBatch] = []
  /// The times of the decisions about durable batches; their messages leave next.
  var durableBatches: [UInt64] = []
  /// When what is sent now was decided.
  var decidedAt: UInt64 = 0
  var boot: UInt64 = 0
  var turn = 0
  var journal = JournalModel()
  /// The journal that ships, if the world has one beside the model.
  var store: (any WorldStore)?
  /// What may be stored, because the process died in the commit.
  var pending: PendingRecords?
  /// Whether the machine failed, or an older journal came back, since the last start.
  var (isMachineGone, hasPutBack) = (false, false)
  /// Whether an older journal ever came back.
  var wasPutBack = false
  var inspections = Inspections()
  /// Events beside messages that the daemon has not taken yet.
  var events: [HubEvent] = []
  /// What reads requests, as in the daemon's shell.
  var reader: ClientMessageReader
  var historyRequests: [HistoryRequest] = []
  /// What the history thread has not read yet, in order, and what it has read.
  var (pageRequests, readNavs): ([ReloadRequest], [ReloadRequest]) = ([], [])

  var links: [Link] = []
  var lastConnection: UInt64 = 0
  var clients: [Client] = []
  var facts = Facts()
  /// Whether faults still happen.
  var isFaulty = true

  init(
    seed: UInt64, choices: [UInt8] = [], isMember: Bool = false, sabotage: Sabotage?,
    isTracing: Bool,
    inspection: Inspections.CommitInspection? = nil,
    makeStore: ((UInt64, Scenario) -> any WorldStore)? = nil
  ) {
    random = choices.isEmpty ? Randomness(seed: seed) : Randomness(choices: choices)
    duties = Randomness(seed: seed &+ 0xD07E)
    hasDuties = choices.isEmpty && seed % 5 == 2
    scenario = Scenario(&random)
    if let inspection { inspections.commitInspection = inspection }
    reader = ClientMessageReader(maximumBytes: scenario.configuration.maximumRequestBytes)
    shardCount = isMember ? Shard.count : 1
    hub = Hub(configuration: scenario.configuration, shards: shardCount, seed: seed)
    limits.messages = random.pick(4, 256)
    limits.work = random.pick(2000, 20_000, 1 << 20)
    limits.eventsPerPart = random.pick(1, 3, 16)
    limits.largeBatch = random.pick(1, 2, 8)
    self.sabotage = sabotage
    self.isTracing = isTracing
    report = Report(seed: seed)
    // History has an age, and some machines are up for longer than that.
    if seed.isMultiple(of: 4) { now.boot += 45 * 86_400_000 }
    store = makeStore?(seed, scenario)
    // With a journal that syncs, a machine that fails takes nothing that was acknowledged.
    if store != nil, !scenario.isRelaxed { scenario.faults.loseMachine = random.pick(0, 5, 15) }
  }

  /// Runs one seed to its end.
  ///
  /// - Parameters:
  ///   - seed: the one source of chance.
  ///   - isMember: whether the daemon is one of a cluster, which has no store.
  ///   - sabotage: a bug to plant, for a check of the checker.
  ///   - isTracing: whether the report says what happened.
  ///   - inspection: what inspects, or corrupts, a nav after each op.
  ///   - makeStore: makes the journal that ships, on a simulated disk; the model alone by default.
  /// - Returns: what was found.
  package static func run(
    seed: UInt64, isMember: Bool = false, sabotage: Sabotage? = nil, isTracing: Bool = false,
    inspection: Inspections.CommitInspection? = nil,
    makeStore: ((UInt64, Scenario) -> any WorldStore)? = nil
  ) -> Report {
    var world = World(
      seed: seed, isMember: isMember, sabotage: sabotage, isTracing: isTracing,
      inspection: inspection,
      makeStore: makeStore)
    world.run { step, world in step < world.scenario.steps }
    return world.report
  }

  /// Runs what a fuzzer has chosen, as long as there are choices.
  ///
  /// - Parameters:
  ///   - choices: two octets for each choice, the first ones for the scenario.
  ///   - isTracing: whether the report says what happened.
  /// - Returns: what was found.
  package static func run(choices: [UInt8], isTracing: Bool = false) -> Report {
    var world = World(seed: 0, choices: choices, sabotage: nil, isTracing: isTracing)
    world.run { _, world in world.random.hasChoices }
    return world.report
  }

  private mutating func run(while goesOn: (Int, World) -> Bool) {
    trace { world in "scenario \(world.scenario)" }
    start()
    for _ in 0..<scenario.clients { clients.append(makeClient()) }
    var count = 0
    while report.violations.isEmpty, goesOn(count, self) {
      step()
      count += 1
    }
    if report.violations.isEmpty { heal() }
    report.traceHash = hash.bits
    report.load.diskFaults = store?.faults ?? 0
    store?.end(withMachine: false)
  }

  /// Notes what must not have happened.
  mutating func violation(_ text: String) {
    trace { _ in "VIOLATION \(text)" }
    if report.violations.count < 10 { report.violations.append(text) }
  }

  /// Demands that something holds.
  mutating func demand(_ holds: Bool, _ text: @autoclosure () -> String) {
    if !holds { violation(text()) }
  }

  mutating func trace(_ text: (World) -> String) {
    if isTracing { report.trace.append("\(now.boot) \(text(self))") }
  }

  mutating func count(_ change: (inout Report.Load) -> Void) { change(&report.load) }

  private mutating func step() {
    if shardCount > 1, random.chance(50) { moveShards() }
    switch random.below(100) {
    case 0..<36: if let client = random.pick(Array(clients.indices)) { act(client) }
    case 36..<62: takeTurn()
    case 62..<88: deliverSomewhere()
    case 88..<96: passTime(1 + random.below(scenario.clockStep))
    default: breakSomething()
    }
    reconnectClients()
  }

  mutating func passTime(_ milliseconds: Int) {
    now.boot += UInt64(milliseconds)
    now.wall += UInt64(milliseconds)
    for client in clients.indices {
      perform(clients[client].session.tick(at: now.boot), for: client)
    }
    if hasDuties { answerQuestions() }
    if random.chance(80) { syncStore() }
  }

  /// The clocks of the daemon.
  var daemonNow: Instant { Instant(boot: now.boot - bootLag, wall: now.wall) }

  /// The machine fails and starts again, with a boot clock that begins anew.
  mutating func restartMachine() { bootLag = now.boot - UInt64(random.below(5000)) }

  /// Somebody sets the wall clock.
  private mutating func jumpClock() {
    let times: [UInt64] = [
      0, 1_000_000_000_000, 4_102_444_800_000, now.wall + 3_600_000,
      now.wall - min(now.wall, 3_600_000),
    ]
    now.wall = random.pick(times) ?? now.wall
    trace { world in "the wall clock is set to \(world.now.wall)" }
  }

  private mutating func deliverSomewhere() {
    let waiting = links.indices.filter { links[$0].isOpen && !links[$0].deliveries.isEmpty }
    guard let link = random.pick(waiting) else { return }
    let id = links[link].id
    for _ in 0..<1 + random.below(6) { deliver(id) }
  }

  private mutating func breakSomething() {
    let faults = scenario.faults
    switch random.below(6) {
    case 0, 1: if random.chance(faults.loseConnection * 10) { loseSomeConnection() }
    case 2: if random.chance(faults.killClient * 10) { replaceSomeClient() }
    case 3:
      if random.chance(faults.crashBeforeCommit * 5) { crash("killed at rest") }
      if random.chance(faults.stopOrderly * 10), isUp { events.append(.stop) }
    case 4:
      if random.chance(faults.loseMachine * 50) { loseMachine() }
      if random.chance(faults.putBack * 50) { putBack() }
      if random.chance(faults.setClock * 50) { jumpClock() }
    default: maintainJournal()
    }
    if !isUp, random.chance(500) { start() }
  }

  private mutating func maintainJournal() {
    // The journal belongs to the writer while batches are in flight.
    guard isUp, batches.areDurable else { return }
    if let store {
      let known = events.count
      guard survives(store.maintain(at: daemonNow, &events)) else { return }
      for case .historyPruned(let nav, let floor) in events[known...] where !scenario.forgets {
        violation("history of nav \(nav) below \(floor) is given up, and is young")
      }
    } else if scenario.forgets, !scenario.isRelaxed, random.chance(500) {
      let limit = now.wall - min(now.wall, scenario.configuration.rememberedIdle)
      if let (nav, floor) = journal.prune(before: limit, &random) {
        trace { _ in "prune nav \(nav) to \(floor)" }
        events.append(.historyPruned(nav: nav, oldestRevision: floor))
      }
    }
    let numbers = facts.heads.values.map(\.number).sorted()
    if let nav = random.pick(numbers) { events.append(.snapshotWanted(nav: nav)) }
  }

  // After the faults.

  /// Lets everything come to rest, and demands that all agree.
  private mutating func heal() {
    isFaulty = false
    store?.isFaulty = false
    trace { _ in "heal" }
    var rounds = 0
    repeat {
      rounds += 1
      guard rounds < 240, report.violations.isEmpty else { break }
      if !isUp { start() }
      if shardCount > 1, rest() { adopt(shardsElsewhere) }
      passTime(250)
      reconnectClients()
      for client in clients.indices { watchEverything(client) }
      takeTurn()
      for id in links.filter(\.isOpen).map(\.id) { while deliver(id) {} }
      takeTurn()
    } while !isSettled
    guard report.violations.isEmpty else { return }
    let left = unsettled
    demand(left.isEmpty, "no convergence: \(left.joined(separator: "; "))")
    checkAtRest()
  }

  private var isSettled: Bool { unsettled.isEmpty }

  /// Who is not there yet, and why.
  private var unsettled: [String] {
    var found: [String] = batches.areDurable && batches.isEmpty ? [] : ["events wait"]
    for client in clients {
      guard client.session.phase == .open else {
        found.append("c\(client.number) is \(client.session.phase)")
        continue
      }
      if let waiting = client.unanswered.sorted().first {
        found.append("c\(client.number) waits for \(waiting)")
      }
      for name in scenario.navs {
        let head = facts.heads[name]?.place
        let mirror = client.session.replica(of: name)
        if let head {
          let isThere =
            mirror?.isSynced == true && mirror?.mirror?.epoch == head.epoch
            && mirror?.mirror?.revision.number == head.revision
          if !isThere { found.append("c\(client.number) lacks \(name)@\(head.revision)") }
        } else if mirror?.mirror != nil, mirror?.isSynced == true {
          found.append("c\(client.number) shows \(name), which is closed")
        }
      }
    }
    return found
  }

  private mutating func checkAtRest() {
    for (key, turn) in facts.acknowledged.sorted(by: { $0.value < $1.value }) {
      demand(
        facts.rows[key] != nil, "op \(key.op) of \(key.client), acknowledged in \(turn), is lost")
    }
    for name in scenario.navs where facts.heads[name] != nil { verify(name) }
    restartOnceMore()
  }

  private mutating func restartOnceMore() {
    crash("killed at the end")
    start()
  }
}
