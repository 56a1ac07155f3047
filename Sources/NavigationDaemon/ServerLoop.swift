import CLinux
import Journal
import NavigationSync
import RuntimePaths
import ZeroMQ

/// The daemon's one thread: receives, lets the hub decide, makes durable, sends.
///
/// It decides nothing about navs. It owns every socket and the journal; nothing else touches them.
struct ServerLoop: ~Copyable {
  var hub: Hub
  let writer: JournalWriter
  var listener: Listener
  let gate: InboundGate
  let history: HistoryWorker
  let backups: BackupWorker
  /// Reads the journal for what cannot wait; opened when it is needed first.
  var reader: JournalReader?
  let log: Log
  var configuration: Configuration
  /// How to read it again, nil where that is not wanted.
  var reloading: Reloading?
  var access: AccessControl
  /// Readable when the keys may have changed.
  var keyWatch = KeyWatch()
  /// Readable when another file may be where clients find ours.
  var placeWatch = PlaceWatch()
  var connections = Connections()
  var audit = ConnectionAudit()
  /// Whether somebody asks to be let in and is not answered yet for want of room.
  var hasWaitingAdmissions = false
  /// The connections whose outbox is not empty.
  var waiting: [ConnectionID] = []
  /// What may still be sent before it is reckoned anew what is unread.
  var unsentRoom = 0
  /// When to say again that there are too few descriptors.
  var shortageReportDue: UInt64 = 0
  /// The events that have come up and are to be handled next.
  var events: [HubEvent] = []
  /// The batches with the writer, oldest first; their events are handled again if one cannot be
  /// stored.
  var inFlight: [[HubEvent]] = []
  /// The bytes of the messages in `events`, and in each of the batches with the writer.
  var eventBytes = 0
  var inFlightBytes: [Int] = []
  /// When there was something to do last.
  var busyAt: UInt64 = 0
  /// Events that came up while sending, for the next turn.
  var afterthoughts: [HubEvent] = []
  var received = Multipart(capacity: 5)
  var messageReader: ClientMessageReader
  /// The verb of the last message.
  var verb: [UInt8] = []
  /// Whether the last message that was waited for came alone.
  var isOneAtATime = false
  /// Carries the body of what goes to many.
  var shared = Message()
  var busyPoll = BusyPollPolicy(processors: Int(navd_processor_count()))
  /// Since when there is nothing to do, in nanoseconds.
  var waitingSince: UInt64?
  var maintenanceDue: UInt64?
  /// When to put the write-ahead log away at the earliest.
  var putAwayDue: UInt64 = 0
  var isStopping = false
  var isStorageFailing = false
  /// When the file system may be asked again for figures.
  var gaugesDue: UInt64 = 0

  /// Events from which on committing a batch is worth another thread.
  static let eventsWorthOverlapping = 8
  /// Events whose records the writer is given at a time.
  static let eventsPerPart = 16
  /// Batches with the writer at a time; beyond, the loop waits.
  static let batchesInFlight = 64
  /// Messages taken in one turn; more would let handshakes and others wait.
  static let messagesPerTurn = 256
  /// The bytes after which no more messages are taken in one turn; what is read of a message may take
  /// ten times its own.
  static let bytesPerTurn = 1 << 20
  /// The bytes of messages with the writer, beyond which the loop waits.
  static let bytesInFlight = 8 << 20
  /// Dormant navs whose history is asked for at a time: everybody waits while one is revived, 8 ms if
  /// it has a thousand rows.
  static let revivedAtATime = 1
  /// Milliseconds without an event that make a quiet moment.
  static let quietTime: UInt64 = 100
  /// Pages of the write-ahead log that are put away in a quiet moment, and at the latest when the
  /// loop commits by itself.
  static let quietPages = 250
  static let busyPages = 1000

  init(
    hub: consuming Hub, journal: Journal, listener: consuming Listener, gate: InboundGate,
    history: HistoryWorker, log: Log, configuration: Configuration, access: AccessControl
  ) {
    messageReader = hub.makeReader()
    self.hub = hub
    writer = JournalWriter(journal: journal)
    self.listener = listener
    self.gate = gate
    self.history = history
    backups = BackupWorker(directory: journal.directory, bootID: journal.bootID)
    self.log = log
    self.configuration = configuration
    self.access = access
  }

  /// Serves until a stop signal comes.
  ///
  /// - Parameters:
  ///   - signals: has the signals to stop, and to read the configuration again.
  ///   - watchdog: how often to tell the service manager that the loop makes progress, in
  ///     milliseconds; nil for never.
  /// - Throws: any error that `DaemonFailure` knows; the journal is left as a crash would leave it.
  mutating func run(signals: Int32, watchdog: UInt64?) throws {
    var poller = Poller()
    // Each socket is read until it is empty before the loop sleeps, so signs are enough.
    let messages = try poller.addSigns(of: listener.router)
    let admissions = try poller.addSigns(of: listener.admission)
    let changes = poller.add(descriptor: gate.events.descriptor)
    let answers = poller.add(descriptor: history.descriptor)
    let copies = poller.add(descriptor: backups.descriptor)
    let stop = poller.add(descriptor: signals)
    let progress = poller.add(descriptor: writer.descriptor)
    keyWatch.start(configuration.access.keyDirectory)
    let keys = poller.add(descriptor: keyWatch.descriptor)
    placeWatch.start(listener.sockets.compactMap(\.path))
    let places = poller.add(descriptor: placeWatch.descriptor)
    reclaimPlaces()
    // Who was revoked before there was a watch.
    rereadKeys()
    // Opened now, while there are descriptors, and not for the first one who asks.
    if hub.hasDormantNavs { _ = try chainReader() }
    handInConstants()
    // Clients come back now; what nobody asks for has time.
    busyAt = Self.now().boot
    takeConnectionEvents()
    try admit()
    var fedAt: UInt64 = 0
    var turnsWithoutPoll = 0
    while !isStopping {
      var wasBusy = try receiveMessages(isAwaited: false)
      turnsWithoutPoll += 1
      // A busy socket is read again without asking whether it is readable; the others are asked
      // now and then all the same.
      if turnsWithoutPoll <= 8, !wasBusy { wasBusy = try lookForMessages() }
      if !wasBusy || turnsWithoutPoll > 8 {
        var timeout = wasBusy ? 0 : sleepTime(Self.now(), watchdog.map { fedAt + $0 })
        if timeout != 0, !inFlight.isEmpty, !writer.arm() { timeout = 0 }
        turnsWithoutPoll = 0
        _ = try poller.wait(milliseconds: timeout)
        if poller.isReadable(changes) { takeConnectionEvents() }
        if poller.isReadable(admissions) || hasWaitingAdmissions { try admit() }
        if poller.isReadable(answers) {
          try take(history.takeAnswers())
        }
        if poller.isReadable(copies) { takeBackup() }
        if poller.isReadable(progress) { writer.disarm() }
        if poller.isReadable(stop) { try takeSignals(signals) }
        if poller.isReadable(keys) { rereadKeys() }
        if poller.isReadable(places) { reclaimPlaces() }
        if !wasBusy, poller.isReadable(messages) { _ = try receiveMessages(isAwaited: true) }
        endWait()
      }
      let now = Self.now()
      if let watchdog, now.boot >= fedAt + watchdog {
        fedAt = now.boot
        notify(.watchdog)
        log.flush()
      }
      if isStopping { events.append(.stop) }
      try turn(at: now)
    }
    writer.rest()
  }

  /// Looks for messages for as long as it is cheaper than to sleep; returns whether there are any.
  ///
  /// Not while the writer has batches, whose thread needs the processor, nor while there is
  /// something else to do.
  private mutating func lookForMessages() throws -> Bool {
    guard inFlight.isEmpty, events.isEmpty, afterthoughts.isEmpty else { return false }
    let start = SystemClock.monotonicNanoseconds()
    waitingSince = start
    let limit = busyPoll.limit
    var last = start
    while last - start < limit {
      if try receiveMessages(isAwaited: true) {
        endWait()
        return true
      }
      let now = SystemClock.monotonicNanoseconds()
      guard busyPoll.goesOn(afterLook: now - last) else { return false }
      last = now
    }
    return false
  }

  /// Notes how long there was nothing to do, if that was so.
  private mutating func endWait() {
    guard let start = waitingSince else { return }
    waitingSince = nil
    busyPoll.noteWait(SystemClock.monotonicNanoseconds() - start)
  }

  /// Removes the sockets, so that clients see at once that nobody listens, and lets the last words
  /// leave.
  func close() throws {
    listener.removeFiles()
    try letLastWordsLeave()
  }

  /// Has libzmq write what was sent before the socket is closed; it would drop it otherwise.
  ///
  /// That takes no time where peers read. One that does not cannot make it longer than this.
  func letLastWordsLeave() throws { try listener.router.set(.linger(milliseconds: 1000)) }

  static func now() -> Instant {
    Instant(boot: SystemClock.bootMilliseconds(), wall: SystemClock.wallMilliseconds())
  }
}
