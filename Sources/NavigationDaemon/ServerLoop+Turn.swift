import Journal
import NavigationSync
import RuntimePaths
import ZeroMQ

// One turn: decide, make durable, send.

extension ServerLoop {
  /// Handles the events at hand, and what the writer has completed.
  mutating func turn(at now: Instant) throws {
    try takeProgress(at: now)
    events += afterthoughts
    afterthoughts.removeAll(keepingCapacity: true)
    if let wakeAt = hub.wakeAt, wakeAt <= now.boot { events.append(.wake) }
    if !inFlight.isEmpty, mustStandStill(at: now) { try standStill(at: now) }
    if inFlight.isEmpty, !writer.isBusy { try maintain(at: now) }
    if events.isEmpty {
      // What was received came from nobody who is heard.
      eventBytes = 0
    } else {
      busyAt = now.boot
      try handleEvents(at: now)
    }
    reviveSome(at: now)
    try retry()
    takeDueConnections(at: now)
    if let due = audit.dueAt, due <= now.boot { auditConnections(at: now) }
  }

  /// Decides the events as one batch and makes it durable, now or later.
  private mutating func handleEvents(at now: Instant) throws {
    let batch = events
    events = []
    // The next turn mostly has as many; to grow step by step costs more than the room.
    events.reserveCapacity(batch.count)
    if batch.contains(where: \.isGet) { handInGauges(at: now) }
    let isSmall = inFlight.isEmpty && batch.count < Self.eventsWorthOverlapping
    for index in batch.indices {
      try handle(batch[index], at: now)
      // The writer inserts a part of a large batch while the rest of it is decided.
      if index % Self.eventsPerPart == Self.eventsPerPart - 1 { writer.stage(hub.takeRecords()) }
    }
    let records = hub.takeRecords()
    inFlight.append(batch)
    inFlightBytes.append(eventBytes)
    eventBytes = 0
    // During a checkpoint, or if more ops are about to arrive, the batch goes to the writer's queue.
    let waits = hub.maySeal && (writer.isBusy || writer.expectsMore(than: records.count))
    if isSmall, !waits {
      let timing: CommitTiming?
      do {
        timing = try writer.commit(records)
      } catch {
        return try fail(error, at: now)
      }
      inFlight = []
      inFlightBytes = []
      if !records.isEmpty { noteStored(at: now) }
      try release(hub.committed(at: now))
      if let timing { measure(timing) }
    } else {
      let maySeal = hub.maySeal
      if maySeal { hub.seal() }
      writer.submit(records)
      if !maySeal { try standStill(at: now) }
    }
  }

  private mutating func handle(_ event: HubEvent, at now: Instant) throws {
    if hub.hasDormantNavs, let request = hub.dormant(for: event) {
      let (snapshot, rows) = try chainReader().chain(of: request)
      try hub.revive(request, snapshot: snapshot, rows: rows)
    }
    hub.handle(event, at: now)
  }

  /// Reads what is committed while the writer writes.
  mutating func chainReader() throws -> JournalReader {
    if let reader { return reader }
    let reader = try JournalReader.open(directory: writer.journal.directory)
    self.reader = reader
    return reader
  }

  /// Takes what was read of the journal.
  mutating func take(_ answers: [HistoryAnswer]) throws {
    for var answer in answers {
      if answer.failure != nil, let request = hub.revival(by: answer) {
        // Read once more here, where an error says whether a start could end differently.
        let (snapshot, rows) = try chainReader().chain(of: request)
        answer = HistoryAnswer(token: answer.token, snapshot: snapshot, rows: rows)
      }
      if try !hub.revive(by: answer) { events.append(.history(answer)) }
    }
  }

  /// Revives dormant navs a few at a time while there is nothing else to do.
  private mutating func reviveSome(at now: Instant) {
    guard hub.hasDormantNavs, !hub.isReviving, events.isEmpty, isQuiet(at: now) else { return }
    history.ask(hub.requestDormant(atMost: Self.revivedAtATime))
  }

  private func isQuiet(at now: Instant) -> Bool {
    events.isEmpty && now.boot >= busyAt + Self.quietTime
  }

  /// Releases the batches that have become durable meanwhile, or takes back those that cannot.
  private mutating func takeProgress(at now: Instant) throws {
    switch writer.takePutAwayProblem() {
    case .failed(let error): try failMaintenance(error, at: now)
    case .isRead: putAwayDue = now.boot + 1_000
    case nil: break
    }
    guard !inFlight.isEmpty else { return }
    for _ in 0..<writer.takeCompleted() {
      inFlight.removeFirst()
      inFlightBytes.removeFirst()
      noteStored(at: now)
      try release(hub.committed(at: now))
    }
    for timing in writer.takeTimings() { measure(timing) }
    guard let error = writer.takeFailure() else { return }
    try fail(error, at: now)
  }

  /// Whether something is due that the batches under way must not be changed by.
  ///
  /// Only ops may be decided meanwhile; anything else shows or changes what is durable.
  private func mustStandStill(at now: Instant) -> Bool {
    !hub.maySeal || inFlight.count >= Self.batchesInFlight
      || inFlightBytes.reduce(0, +) > Self.bytesInFlight || !events.allSatisfy(\.isOp)
      || maintenanceDue.map { $0 + 10_000 <= now.boot } ?? false
  }

  mutating func standStill(at now: Instant) throws {
    while !inFlight.isEmpty {
      writer.awaitProgress()
      try takeProgress(at: now)
    }
  }

  private mutating func release(_ output: HubOutput) throws {
    try send(output)
    if !output.requests.isEmpty { history.ask(output.requests) }
    if output.startsBackup { backups.start() }
    for connection in output.dropped { connections.forgetOutbox(of: connection) }
    for notice in output.notices { report(notice) }
  }

  private mutating func noteStored(at now: Instant) {
    if isStorageFailing { reportStorage("the journal can be written again") }
    isStorageFailing = false
    if maintenanceDue == nil { maintenanceDue = now.boot + 30_000 }
  }

  private mutating func fail(_ error: JournalError, at now: Instant) throws {
    switch error {
    case .full, .writeFailed:
      if !isStorageFailing { reportStorage(error.description) }
      isStorageFailing = true
      try rollBack(at: now)
    case .syncFailed:
      // What is on the disk is unknown: nothing more is answered, the next process reads it.
      _ = hub.rollBack()
      hub.handle(.stop, at: now)
      try send(hub.committed(at: now))
      try letLastWordsLeave()
      throw DaemonError.journal(error)
    case .locked, .damaged, .newer, .unreadable, .unwritable: throw DaemonError.journal(error)
    }
  }

  /// Takes back what is not durable and decides its events again, with every change refused.
  private mutating func rollBack(at now: Instant) throws {
    let requests = hub.rollBack()
    let reader = try chainReader()
    for request in requests {
      let (snapshot, rows) = try reader.chain(of: request)
      try hub.reload(request, snapshot: snapshot, rows: rows)
    }
    for event in inFlight.joined() { try handle(event, at: now) }
    inFlight = []
    inFlightBytes = []
    precondition(hub.takeRecords().isEmpty, "records while the journal takes none")
    try release(hub.committed(at: now))
  }

  private func reportStorage(_ text: String) {
    log(LogEntry(.error, text, kind: .journalFailed))
    notify(.status(text))
  }

  private func report(_ notice: Notice) {
    let level: LogLevel = notice.level == .warning ? .warning : .info
    let kind: LogEntry.Kind =
      switch notice.kind {
      case .diverged: .diverged
      case .faulty: .faulty
      case .refused: .refused
      case .overridden: .overridden
      }
    var entry = LogEntry(
      level, notice.text, kind: kind, nav: notice.nav, revision: notice.revision,
      client: notice.client)
    entry.principal = notice.principal
    entry.code = notice.code
    log(entry)
  }

  func notify(_ notifications: ServiceNotification...) {
    do {
      try ServiceManager.notify(notifications)
    } catch {
      log(LogEntry(.warning, error.description))
    }
  }

  /// Puts the write-ahead log away and prunes history, in slices and preferably when idle: a gap
  /// between two messages is no idleness.
  private mutating func maintain(at now: Instant) throws {
    let isQuiet = isQuiet(at: now)
    do throws(JournalError) {
      if writer.walPages > (isQuiet ? Self.quietPages : Self.busyPages), putAwayDue <= now.boot {
        return writer.putAway()
      }
      guard let due = maintenanceDue, due <= now.boot, isQuiet || due + 10_000 <= now.boot else {
        return
      }
      let report = try writer.journal.maintain(now: now.wall, budget: 2000)
      for floor in report.floors {
        events.append(.floor(nav: floor.nav, revision: floor.revision))
      }
      for nav in report.needsSnapshot { events.append(.snapshotWanted(nav: nav)) }
      maintenanceDue =
        report.hasMore || !report.needsSnapshot.isEmpty ? now.boot + 100 : nil
    } catch {
      try failMaintenance(error, at: now)
    }
  }

  private mutating func failMaintenance(_ error: JournalError, at now: Instant) throws {
    switch error {
    case .full, .writeFailed:
      maintenanceDue = now.boot + 10_000
      putAwayDue = now.boot + 10_000
      if !isStorageFailing { reportStorage(error.description) }
    case .syncFailed, .locked, .damaged, .newer, .unreadable, .unwritable:
      throw DaemonError.journal(error)
    }
  }

  /// How long to sleep: until the hub, the watchdog, maintenance or a full socket wants attention, or
  /// the moment is quiet and there are dormant navs.
  func sleepTime(_ now: Instant, _ feedAt: UInt64?) -> Int {
    if !afterthoughts.isEmpty || !events.isEmpty { return 0 }
    if hasWaitingAdmissions { return gate.roomForConnections > 0 ? 0 : 10 }
    var until = min(hub.wakeAt ?? .max, feedAt ?? .max)
    // While the log is put away, nothing else can be done to the journal.
    let soonest = writer.isBusy ? now.boot + 10 : 0
    if let maintenanceDue { until = min(until, max(maintenanceDue, soonest)) }
    if inFlight.isEmpty, writer.walPages > Self.quietPages {
      until = min(until, max(busyAt + Self.quietTime, putAwayDue, soonest))
    }
    if hub.hasDormantNavs, !hub.isReviving { until = min(until, busyAt + Self.quietTime) }
    if !waiting.isEmpty { until = min(until, now.boot + 100) }
    until = min(until, connections.wakeAt ?? .max, audit.dueAt ?? .max)
    guard until < .max else { return -1 }
    return until <= now.boot ? 0 : Int(min(until - now.boot, 3_600_000))
  }
}
