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
      // If its batch lost shards, the stop is decided again.
      while isStopping, batches.retriedCount > 0 { try turn(at: Instant.now()) }
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

// What the decisions of `CommitLoop` need, and lead to.

extension ServerLoop: CommitLoop {
  /// The number of unloaded or loaded navs from which navd returns freed memory to the kernel.
  static let navsWorthMemoryTrim = 64

  var limits: TurnLimits { TurnLimits() }
  // Nothing is decided that only a file without a name would have.
  var refusesChanges: Bool { maintenance.problem != nil }
  var peersOweTooMuch: Bool { router.peersOweTooMuch }

  /// Performs one turn: takes the writer's progress, then handles the events at hand and due work.
  mutating func turn(at now: Instant) throws {
    try takeProgress(at: now)
    if !router.events.isEmpty {
      batches.append(router.events)
      router.events.removeAll(keepingCapacity: true)
    }
    if maintenance.mustExamineFiles(at: now.boot) { examine() }
    try takeTurn(at: now)
    try router.takeDue(at: now.boot)
    reportNotices()
  }

  func mustRest(at now: Instant) -> Bool { maintenance.isOverdue(at: now.boot) }

  mutating func workBetweenBatches(at now: Instant) throws {
    if served != nil { try moveShards(at: now) }
    if batches.areDurable, !writer.isCheckpointing { try maintain(at: now) }
    startDueBackup(at: now)
  }

  mutating func prepareBatch(readsState: Bool, at now: Instant) {
    maintenance.noteEvents(at: now.boot)
    if readsState { measureGauges(at: now) }
  }

  @inline(__always)
  mutating func handle(_ event: HubEvent, at now: Instant) { hub.handle(event, at: now) }

  mutating func commitHere(_ records: JournalRecords, at now: Instant) throws(JournalError)
    -> CommitMeasurement?
  {
    let timing = try writer.commit(records)
    if !records.isEmpty { noteStored(at: now) }
    return timing
  }

  mutating func takeProgressOfWriter(at now: Instant) throws -> CommitProgress {
    let progress = writer.takeProgress()
    if let error = progress.checkpointFailure { try failMaintenance(error, at: now) }
    if progress.hasLogReader { maintenance.noteLogReader(at: now.boot) }
    if !progress.timings.isEmpty { noteStored(at: now) }
    return progress
  }

  mutating func noteStored(at now: Instant) {
    if maintenance.noteStored(at: now.boot) { reportStorage(nil) }
  }

  mutating func noteFailedCommit(_ error: JournalError) {
    if maintenance.noteFailedCommit(error) { reportStorage(error.description) }
  }

  mutating func snapshotAndRows(
    of request: ReloadRequest
  ) throws -> (snapshot: SnapshotRow?, rows: [JournalRow]) {
    try history.snapshotAndRows(of: request)
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

  mutating func sendLast(_ output: HubOutput) throws {
    try router.send(output)
    try router.allowLinger()
  }

  // Messages that have arrived.

  /// Receives a limited number of messages; returns whether there were any.
  ///
  /// `isAwaited` says that the router was empty when it was last read.
  mutating func receiveMessages(isAwaited: Bool) throws -> Bool {
    var count = 0
    // Without others, libzmq keeps what its peers send too early.
    guard
      batches.waitingCount < limits.messages || router.peersOweTooMuch
        || router.hasSeveralPrincipals
    else { return false }
    while count < limits.messages, batches.mayReceive, pageIns.mayReceive {
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
