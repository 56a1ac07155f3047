import CLinux
import Journal
import NavigationCore
import NavigationHub
import RuntimePaths
import Systemd
import TransportGuard
import ZeroMQ

/// The main loop of navd: it receives messages, lets the hub decide, commits changes, and answers.
///
/// It decides nothing about navs. It owns every socket, and the journal while the writer is idle.
struct ServerLoop: ~Copyable {
  var hub: Hub
  // I/O.
  var router: GuardedRouter
  var sockets: ListeningSockets
  let writer: JournalWriter
  var history: HistoryReaders
  let backups: BackupWorker
  let log: Log
  /// The shards of a cluster that this daemon serves; nil outside of one.
  var served: ServedShards?
  /// Whether the journal is on another machine: the writer makes each commit, and another daemon can
  /// take the journal over.
  let isJournalRemote: Bool
  // Deciding values.
  var configuration: ServingConfiguration
  var access: WatchedAccess
  var batches = EventBatches()
  var pageIns = PageIns<ReceivedEvent>()
  var messageReader: ClientMessageReader
  var polling = BusyPollPolicy(processors: Int(navd_processor_count()))
  var maintenance: MaintenanceSchedule
  var workStatus = WorkStatus()
  var backupSchedule: BackupSchedule
  /// The administrators' questions about the configuration, which the loop answers before the next
  /// turn.
  var questions: [ConfigurationQuestion] = []

  /// The maximum number of messages in one turn; with more, handshakes would wait too long.
  static let messagesPerTurn = 256
  /// The amount of `Hub.work` in one turn from which on other messages wait for the next turn.
  ///
  /// With a quarter of this limit, 64 ops for 100 watches each took several commits, and throughput
  /// fell to 84 %.
  static let workPerTurn = 1 << 20

  init(
    hub: consuming Hub, journal: any JournalStore, shards: ServedShards?,
    router: consuming GuardedRouter, sockets: ListeningSockets, log: Log,
    configuration: ServingConfiguration, access: AccessControl
  ) {
    messageReader = hub.makeReader()
    self.hub = hub
    self.router = router
    self.sockets = sockets
    writer = JournalWriter(journal: journal)
    served = shards
    isJournalRemote = journal.place.directory == nil
    history = HistoryReaders(journal.place)
    backups = BackupWorker(journal.place)
    self.log = log
    self.access = WatchedAccess(
      access, keyDirectory: configuration.current.access.keyDirectory)
    self.configuration = configuration
    maintenance = MaintenanceSchedule(at: Instant.now().boot)
    backupSchedule = BackupSchedule(BackupSchedule.Rules(), newest: nil, at: Instant.now())
  }

  /// Serves until a stop signal arrives.
  ///
  /// After an error, the journal is as after a crash.
  mutating func run(signals: Int32, watchdog: consuming Watchdog) throws {
    var poller = Poller()
    try router.watch(by: &poller)
    let answers = poller.add(descriptor: history.descriptor)
    let copies = poller.add(descriptor: backups.reports.descriptor)
    let stop = poller.add(descriptor: signals)
    let progress = poller.add(descriptor: writer.descriptor)
    let keys = poller.add(descriptor: access.watch.descriptor)
    let places = poller.add(descriptor: sockets.watch.descriptor)
    let shards = served.map { poller.add(descriptor: $0.keeper.news.descriptor) }
    try prepare()
    var isStopping = false
    var turnsWithoutPoll = 0
    while !isStopping {
      if isJournalRemote, try !awaitLease(signals: signals, &watchdog) { continue }
      var wasBusy = try receiveMessages(isAwaited: false)
      turnsWithoutPoll += 1
      // A busy router is read again without a poll; the other descriptors are polled every ninth
      // turn at the latest.
      if turnsWithoutPoll <= 8, !wasBusy { wasBusy = try pollForMessages() }
      if !wasBusy || turnsWithoutPoll > 8 || batches.waitingCount > 0 {
        var timeout = wasBusy || !questions.isEmpty ? 0 : sleepTime(Instant.now(), watchdog.wakeAt)
        if timeout != 0, !batches.areDurable, !writer.arm() { timeout = 0 }
        turnsWithoutPoll = 0
        router.watchMessages(pageIns.mayReceive, by: &poller)
        _ = try poller.wait(milliseconds: timeout)
        let mayReceive = try router.handleReadiness(of: poller, access.control)
        if poller.isReadable(answers) { try takeAnswers() }
        if poller.isReadable(copies) { takeBackup() }
        if poller.isReadable(progress) { writer.disarm() }
        if poller.isReadable(stop) { isStopping = try mustStop(afterSignalsFrom: signals) }
        if poller.isReadable(keys) { rereadKeys() }
        if poller.isReadable(places) { restoreSocketPaths() }
        if let shards, poller.isReadable(shards) { takeShardNews() }
        if !wasBusy, mayReceive { _ = try receiveMessages(isAwaited: true) }
        polling.endWait(at: SystemClock.monotonicNanoseconds())
      }
      let now = Instant.now()
      if watchdog.isDue(at: now.boot) {
        notify(.watchdog)
        log.flush()
      }
      // Held events are dropped: their clients get a `bye`, and repeat unanswered ops later.
      if isStopping { batches.append(.stop) }
      try answerQuestions()
      try turn(at: now)
    }
    writer.awaitCheckpoint()
    history.close()
  }

  /// Does the work that must be done before the first message is received.
  private mutating func prepare() throws {
    if access.watch.isBlind || sockets.watch.isBlind {
      log(
        .warning,
        "this user has no inotify instance left: navd reads new keys at a reload only, and restores "
          + "no replaced socket; raise fs.inotify.max_user_instances, and restart navd")
    }
    writer.journal.countTime(until: Instant.now().boot)
    restoreSocketPaths()
    // Keys may have been revoked before the watch began.
    rereadKeys()
    scheduleBackups()
    // Opened now, while descriptors and files are there, instead of for the first nav to be revived.
    if !isJournalRemote || hub.hasDormantNavs { history.open() }
    if let directory = writer.journal.place.directory { sockets.watch.add(directory.path) }
    measureConstants()
    router.takeConnectionEvents()
    try router.admit(access.control)
  }

  /// Removes the socket files, so that connecting clients fail at once, and lets libzmq send its
  /// queues.
  func close() throws {
    sockets.removeFiles()
    try router.allowLinger()
  }
}

extension Instant {
  static func now() -> Instant {
    Instant(boot: SystemClock.bootMilliseconds(), wall: SystemClock.wallMilliseconds())
  }
}

// One turn: handle the events at hand, commit the changes, send the answers.

extension ServerLoop {
  /// The number of events after which their records are passed to the writer.
  private static let eventsPerPart = 16
  /// The number of unloaded or loaded navs from which navd returns freed memory to the kernel.
  static let navsWorthMemoryTrim = 64

  /// Performs one turn: takes the writer's progress, then handles the events at hand and due work.
  mutating func turn(at now: Instant) throws {
    try takeProgress(at: now)
    if !router.events.isEmpty {
      batches.append(router.events)
      router.events.removeAll(keepingCapacity: true)
    }
    if maintenance.mustExamineFiles(at: now.boot) { examine() }
    if !router.peersOweTooMuch {
      batches.takeWaiting(upTo: Self.messagesPerTurn, cost: Self.workPerTurn)
      if let wakeAt = hub.wakeAt, wakeAt <= now.boot { batches.append(.wake) }
    }
    if !batches.areDurable, mustAwaitBatches(at: now) { try awaitBatches(at: now) }
    if served != nil { try moveShards(at: now) }
    if batches.areDurable, !writer.isCheckpointing { try maintain(at: now) }
    startDueBackup(at: now)
    if hub.hasDormantNavs || !pageIns.isEmpty { try pageIn() }
    try handleEvents(at: now)
    try router.takeDue(at: now.boot)
    reportNotices()
  }

  /// Handles the events at hand as one batch, and commits it here or passes it to the writer.
  private mutating func handleEvents(at now: Instant) throws {
    let isAlone = batches.areDurable
    let hasGet = batches.hasGet
    let events = batches.beginBatch()
    guard !events.isEmpty else { return }
    maintenance.noteEvents(at: now.boot)
    if hasGet { measureGauges(at: now) }
    // Nothing is decided that only a file without a name would have.
    if maintenance.problem != nil { return try rollBack(at: now) }
    let commitsHere =
      isAlone && !isJournalRemote
      && (events.count < JournalWriter.largeBatch || writer.commitsAreShort)
    let end = hub.eventCost + (router.peersOweTooMuch ? 0 : Self.workPerTurn)
    for index in events.indices {
      let before = hub.eventCost
      if before >= end, batches.postpone(index) { continue }
      hub.handle(events[index], at: now)
      if batches.chargesPrincipals { batches.charge(index, hub.eventCost - before) }
      guard !hub.isUnsound else {
        batches.movePostponedToBacklog(&pageIns)
        return try decideAgain(at: now)
      }
      // The writer inserts a part of a large batch while the rest of it is decided.
      if !commitsHere, index % Self.eventsPerPart == Self.eventsPerPart - 1 {
        writer.stage(hub.takeRecords())
      }
    }
    batches.movePostponedToBacklog(&pageIns)
    let records = hub.takeRecords()
    // During a checkpoint, or if more ops are about to arrive, the batch goes to the writer's queue.
    if commitsHere, !hub.mayDecideDuringCommit || !writer.workerShouldCommit(records.count) {
      try commit(records, at: now)
    } else {
      let mayDecideDuringCommit = hub.mayDecideDuringCommit
      if mayDecideDuringCommit { hub.seal() }
      writer.submit(records)
      if !mayDecideDuringCommit { try awaitBatches(at: now) }
    }
  }

  /// Rolls back the newest batch, in which an op broke an invariant, and decides its events again.
  private mutating func decideAgain(at now: Instant) throws {
    while !batches.isNewestAlone {
      writer.awaitProgress()
      try takeProgress(at: now)
    }
    // If an earlier batch could not be stored, everything was taken back already.
    guard hub.isUnsound else { return }
    writer.discard()
    try reload(hub.rollBackUnsound())
    batches.retryAll()
    try handleEvents(at: now)
  }

  /// Performs the effects of a durable batch: messages, requests to the history, log entries.
  mutating func carryOut(_ output: HubOutput) throws {
    try router.send(output)
    if !output.requests.isEmpty { history.ask(output.requests) }
    if output.startsBackup { backups.start(.requestedByClient) }
    questions += output.questions
    for wish in output.clusterCommands { served?.keeper.store(wish) }
    // A sweep has made navs dormant: they are read again from the journal. To give their memory back
    // takes 22 ms for 290 MB, at most once in `nav-idle-seconds`.
    if output.unloadedNavs > 0 { history.open() }
    if output.unloadedNavs >= Self.navsWorthMemoryTrim { navd_trim_memory() }
    for connection in output.endedConnections { router.discardOutbox(of: connection) }
    for notice in output.notices { log(LogEntry(notice)) }
  }

  // The end of commits: durable batches, failures and roll-back.

  /// Commits the batch that has just begun on the loop thread; no other batch is in flight.
  mutating func commit(_ records: JournalRecords, at now: Instant) throws {
    let timing: CommitMeasurement?
    do {
      timing = try writer.commit(records)
    } catch {
      return try fail(error, at: now)
    }
    batches.completeOldest()
    if !records.isEmpty { noteStored(at: now) }
    try carryOut(hub.committed(at: now))
    if let timing { measure(timing) }
  }

  /// Releases the batches that the writer has completed, or rolls back those that failed.
  mutating func takeProgress(at now: Instant) throws {
    let progress = writer.takeProgress()
    if let error = progress.checkpointFailure { try failMaintenance(error, at: now) }
    if progress.hasLogReader { maintenance.noteLogReader(at: now.boot) }
    if !progress.timings.isEmpty { noteStored(at: now) }
    for _ in 0..<progress.completedBatches {
      batches.completeOldest()
      try carryOut(hub.committed(at: now))
    }
    for timing in progress.timings { measure(timing) }
    if let error = progress.failure { try fail(error, at: now) }
  }

  /// Whether the loop must wait until all batches in flight are durable before it goes on.
  ///
  /// While batches are in flight, the hub may decide ops only. Every other event reads or changes
  /// what is durable.
  func mustAwaitBatches(at now: Instant) -> Bool {
    !hub.mayDecideDuringCommit || batches.areFull || !batches.areOnlyOps
      || maintenance.isOverdue(at: now.boot) || maintenance.problem != nil
  }

  /// Waits until every batch is durable or has failed; in a long wait, it answers reads.
  mutating func awaitBatches(at now: Instant) throws {
    while !batches.areDurable {
      writer.awaitProgress(milliseconds: JournalWriter.slowCommitMilliseconds)
      try takeProgress(at: now)
      // In a cluster, the lease may end meanwhile, and another daemon have newer states.
      guard !batches.areDurable, !isJournalRemote, pageIns.isEmpty else { continue }
      _ = try receiveMessages(isAwaited: false)
      try answerAhead(at: now)
    }
  }

  /// Answers the reads at hand that concern durable states only; all other events stay at hand.
  private mutating func answerAhead(at now: Instant) throws {
    guard !batches.areOnlyOps else { return }
    var waiting = batches.connectionsInFlight
    var isBehindAccess = false
    for received in batches.takeAtHand() {
      if case .access = received.event { isBehindAccess = true }
      if let connection = received.event.connection {
        if !isBehindAccess, !waiting.contains(connection),
          let output = hub.answerAhead(received.event, at: now)
        {
          batches.subtractAnswered(received)
          try carryOut(output)
          continue
        }
        waiting.insert(connection)
      }
      batches.putBack(received)
    }
  }

  mutating func noteStored(at now: Instant) {
    if maintenance.noteStored(at: now.boot) { reportStorage(nil) }
  }

  mutating func fail(_ error: JournalError, at now: Instant) throws {
    switch error {
    case .fenced(_, let lost) where error.isRetryable:
      // Other shards go on: their events are decided again.
      let lostShards = Set(lost)
      let requests = hub.rollBack(isStorageFailing: false)
      try reload(requests.filter { !lostShards.contains(Shard(ofNav: $0.nav)) })
      batches.retryAll()
      try loseShards(lost, at: now)
    case _ where error.isRetryable:
      if maintenance.noteFailedCommit(error) { reportStorage(error.description) }
      try rollBack(at: now)
    case .syncFailed, .fenced:
      // The state of the disk is unknown, or is another's. navd answers nothing more, and the next
      // process reads the journal.
      _ = hub.rollBack()
      hub.handle(.stop, at: now)
      try router.send(hub.committed(at: now))
      try router.allowLinger()
      throw error
    default: throw error
    }
  }

  mutating func reload(_ requests: [ReloadRequest]) throws {
    for request in requests {
      let (snapshot, rows) = try history.snapshotAndRows(of: request)
      try hub.reload(request, snapshot: snapshot, rows: rows)
    }
  }

  /// Rolls back the batches that are not durable, and handles their events again; the hub then
  /// refuses every change.
  private mutating func rollBack(at now: Instant) throws {
    try reload(hub.rollBack())
    for event in batches.takeAll() { hub.handle(event, at: now) }
    precondition(hub.takeRecords().isEmpty, "records while the journal takes none")
    try carryOut(hub.committed(at: now))
  }

  // Messages that have arrived.

  /// Receives a limited number of messages; returns whether there were any.
  ///
  /// `isAwaited` says that the router was empty when it was last read.
  mutating func receiveMessages(isAwaited: Bool) throws -> Bool {
    var count = 0
    // Without others, libzmq keeps what its peers send too early.
    guard
      batches.waitingCount < Self.messagesPerTurn || router.peersOweTooMuch
        || router.hasSeveralPrincipals
    else { return false }
    while count < Self.messagesPerTurn, batches.mayReceive, pageIns.mayReceive {
      guard try router.receive() else { break }
      count += 1
      batches.noteReceived(router.receivedBytes)
      takeMessage()
      // Reading an empty socket costs two system calls. So where messages come one at a time, each
      // is handled without looking for another. One that came meanwhile is found in the next turn.
      if count == 1, isAwaited, polling.messagesArriveOneByOne { return true }
    }
    if count > 0 { polling.noteReceived(count, isAwaited: isAwaited) }
    return count > 0
  }

  // Never inlined, so that its instructions can be counted by its name.
  @inline(never)
  private mutating func takeMessage() {
    // Messages are decoded here, while they are received. Handling them later then needs none of
    // the reader's code and buffers in the processor's caches.
    guard let event = router.readEvent(&messageReader, access.control) else { return }
    if hub.isTracing { hub.traceReceived(event, body: router.receivedBody, at: Instant.now()) }
    guard let flooder = batches.append(consume event) else { return }
    router.disconnect(flooder, "it sent more than navd keeps waiting for one user or key")
  }

  /// Polls for messages for as long as `polling` allows; returns whether there are any.
  ///
  /// It does not poll while the writer has batches, because the writer needs the processor, nor
  /// while there is other work.
  mutating func pollForMessages() throws -> Bool {
    guard batches.areDurable, batches.isEmpty, router.events.isEmpty, pageIns.mayReceive
    else { return false }
    let start = SystemClock.monotonicNanoseconds()
    polling.beginWait(at: start)
    let limit = polling.pollingLimit
    var last = start
    while last - start < limit {
      if try receiveMessages(isAwaited: true) {
        polling.endWait(at: SystemClock.monotonicNanoseconds())
        return true
      }
      let now = SystemClock.monotonicNanoseconds()
      guard polling.mustPollAgain(afterPollTaking: now - last) else { return false }
      last = now
    }
    return false
  }
}
