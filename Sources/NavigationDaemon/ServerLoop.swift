import CLinux
import Journal
import NavigationCore
import RuntimePaths
import TransportGuard
import ZeroMQ

/// The main loop of navd: it receives messages, lets the hub decide, commits the changes, and sends
/// the answers.
///
/// It decides nothing about navs. It owns every socket, and the journal while the writer is idle.
/// Its members are either handles of I/O or values that decide; each value has laws of its own.
struct ServerLoop: ~Copyable {
  var hub: Hub
  // I/O.
  /// The ROUTER socket with the connections of all peers.
  var router: GuardedRouter
  let sockets: ListeningSockets
  let writer: JournalWriter
  var history: HistoryAccess
  let backups: BackupWorker
  let log: Log
  // Deciding values.
  var configuration: ServingConfiguration
  var access: WatchedAccess
  var batches = EventBatches()
  var messageReader: ClientMessageReader
  var polling = BusyPollPolicy(processors: Int(navd_processor_count()))
  var maintenance: MaintenanceSchedule

  /// The maximum number of messages in one turn; with more, handshakes and other work would wait
  /// too long.
  static let messagesPerTurn = 256

  init(
    hub: consuming Hub, journal: Journal, router: consuming GuardedRouter,
    sockets: ListeningSockets, log: Log, configuration: ServingConfiguration,
    access: AccessControl
  ) {
    messageReader = hub.makeReader()
    self.hub = hub
    self.router = router
    self.sockets = sockets
    writer = JournalWriter(journal: journal)
    history = HistoryAccess(directory: journal.directory)
    backups = BackupWorker(directory: journal.directory, bootID: journal.bootID)
    self.log = log
    self.access = WatchedAccess(
      access, keyDirectory: configuration.current.access.keyDirectory)
    self.configuration = configuration
    maintenance = MaintenanceSchedule(at: Self.now().boot)
  }

  /// Serves until a stop signal arrives.
  ///
  /// - Parameters:
  ///   - signals: the descriptor of the signals to stop and to reload.
  ///   - watchdog: decides when to report progress to the service manager.
  /// - Throws: an error that `DaemonFailure` knows; the journal is then as after a crash.
  mutating func run(signals: Int32, watchdog: consuming Watchdog) throws {
    var poller = Poller()
    try router.watch(by: &poller)
    let answers = poller.add(descriptor: history.descriptor)
    let copies = poller.add(descriptor: backups.descriptor)
    let stop = poller.add(descriptor: signals)
    let progress = poller.add(descriptor: writer.descriptor)
    let keys = poller.add(descriptor: access.descriptor)
    let places = poller.add(descriptor: sockets.descriptor)
    try prepare()
    var isStopping = false
    var turnsWithoutPoll = 0
    while !isStopping {
      var wasBusy = try receiveMessages(isAwaited: false)
      turnsWithoutPoll += 1
      // A busy router is read again without a poll; the other descriptors are polled every ninth
      // turn at the latest.
      if turnsWithoutPoll <= 8, !wasBusy { wasBusy = try lookForMessages() }
      if !wasBusy || turnsWithoutPoll > 8 {
        var timeout = wasBusy ? 0 : sleepTime(Self.now(), watchdog.wakeAt)
        if timeout != 0, !batches.areDurable, !writer.arm() { timeout = 0 }
        turnsWithoutPoll = 0
        _ = try poller.wait(milliseconds: timeout)
        let mayReceive = try router.attend(to: poller, access.control)
        if poller.isReadable(answers) { try takeAnswers() }
        if poller.isReadable(copies) { takeBackup() }
        if poller.isReadable(progress) { writer.disarm() }
        if poller.isReadable(stop) { isStopping = try takeSignals(signals) }
        if poller.isReadable(keys) { rereadKeys() }
        if poller.isReadable(places) { reclaimPlaces() }
        if !wasBusy, mayReceive { _ = try receiveMessages(isAwaited: true) }
        polling.endWait(at: SystemClock.monotonicNanoseconds())
      }
      let now = Self.now()
      if watchdog.isDue(at: now.boot) {
        notify(.watchdog)
        log.flush()
      }
      if isStopping { batches.append(.stop) }
      try turn(at: now)
    }
    writer.awaitCheckpoint()
  }

  /// Does the work that must be done before the first message is received.
  private mutating func prepare() throws {
    reclaimPlaces()
    // Keys may have been revoked before the watch began.
    rereadKeys()
    // Opened now, while descriptors are available, instead of at the first request.
    if hub.hasDormantNavs { try history.open() }
    handInConstants()
    router.takeConnectionEvents()
    try router.admit(access.control)
  }

  /// Removes the socket files, so that connecting clients fail at once, and lets libzmq send its
  /// queues.
  func close() throws {
    sockets.removeFiles()
    try router.linger()
  }

  static func now() -> Instant {
    Instant(boot: SystemClock.bootMilliseconds(), wall: SystemClock.wallMilliseconds())
  }
}
