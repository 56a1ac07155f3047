import CLinux
import Journal
import NavigationProtocol
import NavigationHub
import RuntimePaths
import TransportGuard
import ZeroMQ

/// The daemon's one thread: receives, lets the hub decide, makes durable, sends.
///
/// It decides nothing about navs. It owns every socket and the journal; nothing else touches them.
/// Its members are either handles of I/O or values that decide, each with laws of its own.
struct ServerLoop: ~Copyable {
  var hub: Hub
  // I/O.
  /// The connections of all peers.
  var router: GuardedRouter
  let sockets: ListeningSockets
  let writer: JournalWriter
  var history: HistoryAccess
  let backups: BackupWorker
  let log: Log
  // Values that decide.
  var configuration: ServingConfiguration
  var access: WatchedAccess
  var batches = EventBatches()
  var messageReader: ClientMessageReader
  var polling = BusyPollPolicy(processors: Int(navd_processor_count()))
  var maintenance: MaintenanceSchedule

  /// Messages taken in one turn; more would let handshakes and others wait.
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

  /// Serves until a stop signal comes.
  ///
  /// - Parameters:
  ///   - signals: has the signals to stop, and to read the configuration again.
  ///   - watchdog: decides when to report progress to the service manager.
  /// - Throws: any error that `DaemonFailure` knows; the journal is left as a crash would leave it.
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
      // A busy socket is read again without asking whether it is readable; the others are asked
      // now and then all the same.
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
    writer.rest()
  }

  /// Does what must be done before the first message is taken.
  private mutating func prepare() throws {
    reclaimPlaces()
    // Keys may have been revoked before there was a watch.
    rereadKeys()
    // Opened now, while there are descriptors, and not with the first request.
    if hub.hasDormantNavs { try history.open() }
    handInConstants()
    router.takeConnectionEvents()
    try router.admit(access.control)
  }

  /// Removes the sockets, so that clients see at once that nobody listens, and lets the last words
  /// leave.
  func close() throws {
    sockets.removeFiles()
    try router.linger()
  }

  static func now() -> Instant {
    Instant(boot: SystemClock.bootMilliseconds(), wall: SystemClock.wallMilliseconds())
  }
}
