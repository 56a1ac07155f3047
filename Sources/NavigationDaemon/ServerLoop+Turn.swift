import Journal
import NavigationSync
import RuntimePaths
import ZeroMQ

// One turn: decide, make durable, send.

extension ServerLoop {
  /// Handles the events at hand as one batch, together with those decided early.
  mutating func turn(at now: Instant) throws {
    events += afterthoughts
    afterthoughts.removeAll(keepingCapacity: true)
    if let wakeAt = hub.wakeAt, wakeAt <= now.boot { events.append(.wake) }
    try maintain(at: now)
    guard !events.isEmpty || !decided.isEmpty else { return try retry() }
    decide(at: now)
    try makeDurable(at: now)
    let output = hub.committed(at: now)
    decided = early
    early.removeAll(keepingCapacity: true)
    try send(output.messages)
    if !output.requests.isEmpty { history.ask(output.requests) }
    for connection in output.dropped { connections.forgetOutbox(of: connection) }
    for notice in output.notices { report(notice) }
    try retry()
  }

  /// Lets the hub handle the events; the records of a large batch are handed on while it decides.
  private mutating func decide(at now: Instant) {
    hasStaged = false
    let batch = events
    events.removeAll(keepingCapacity: true)
    for index in batch.indices {
      hub.handle(batch[index], at: now)
      guard index % Self.eventsPerPart == Self.eventsPerPart - 1,
        batch.count - index > Self.eventsPerPart
      else { continue }
      let records = hub.takeRecords()
      guard !records.isEmpty else { continue }
      writer.stage(records)
      hasStaged = true
    }
    decided += batch
  }

  private mutating func makeDurable(at now: Instant) throws {
    let records = hub.takeRecords()
    guard hasStaged || !records.isEmpty else {
      overlapped = 0
      return
    }
    do {
      // Now and then a batch stands alone, so that what shows only durable states is served.
      if decided.count >= Self.eventsWorthOverlapping, overlapped < 8, !isStopping, hub.maySeal {
        overlapped += 1
        hub.seal()
        writer.beginCommit(records)
        while writer.isCommitting, events.isEmpty, early.count < Self.messagesPerTurn {
          if try !decideEarly(at: now) { _ = try commitPoller.wait(milliseconds: -1) }
        }
        try writer.finishCommit()
      } else {
        overlapped = 0
        try writer.commit(records)
      }
      if isStorageFailing { reportStorage("the journal can be written again") }
      isStorageFailing = false
      if maintenanceDue == nil { maintenanceDue = now.boot + 30_000 }
    } catch let error as JournalError {
      switch error {
      case .full, .writeFailed:
        if !isStorageFailing { reportStorage(error.description) }
        isStorageFailing = true
        try rollBack(at: now)
      case .syncFailed:
        // What is on the disk is unknown: nothing more is answered, the next process reads it.
        _ = hub.rollBack()
        hub.handle(.stop, at: now)
        try send(hub.committed(at: now).messages)
        throw DaemonError.journal(error)
      case .locked, .damaged, .newer, .unreadable, .unwritable: throw DaemonError.journal(error)
      }
    }
  }

  /// Decides the ops that have arrived while the batch before is being committed.
  ///
  /// Anything else waits for the next turn, and so does everything behind it, which keeps the order
  /// of each connection. Returns whether there was anything to decide.
  private mutating func decideEarly(at now: Instant) throws -> Bool {
    guard try receiveMessages() else { return false }
    let count = events.firstIndex { !$0.isOp } ?? events.count
    for index in 0..<count { hub.handle(events[index], at: now) }
    early += events[..<count]
    events.removeFirst(count)
    return true
  }

  /// Takes the batch back and decides its events again, with every change refused.
  private mutating func rollBack(at now: Instant) throws {
    let requests = hub.rollBack()
    let reader = try JournalReader.open(directory: writer.journal.directory)
    for request in requests {
      let snapshot = try reader.snapshot(nav: request.nav, notAfter: .max)
      let rows = try reader.history(
        of: request.nav, from: request.head, downTo: snapshot?.revision ?? 0, limit: Int.max)
      try hub.reload(request, snapshot: snapshot, rows: rows.reversed())
    }
    decided += early
    early.removeAll(keepingCapacity: true)
    for event in decided { hub.handle(event, at: now) }
    precondition(hub.takeRecords().isEmpty, "records while the journal takes none")
  }

  private func reportStorage(_ text: String) {
    log(LogEntry(.error, text, kind: .journalFailed))
    notify(.status(text))
  }

  private func report(_ notice: Notice) {
    let level: LogLevel = notice.level == .warning ? .warning : .info
    log(LogEntry(level, notice.text, kind: .diverged, nav: notice.nav, client: notice.client))
  }

  func notify(_ notification: ServiceNotification) {
    do {
      try ServiceManager.notify(notification)
    } catch {
      log(LogEntry(.warning, error.description))
    }
  }

  /// Puts the write-ahead log away and prunes history, in slices and preferably when idle.
  private mutating func maintain(at now: Instant) throws {
    let isQuiet = events.isEmpty && decided.isEmpty
    do throws(JournalError) {
      if writer.journal.walPages > (isQuiet ? Self.quietPages : Self.busyPages) {
        try writer.journal.checkpoint()
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
      switch error {
      case .full, .writeFailed:
        maintenanceDue = now.boot + 10_000
        if !isStorageFailing { reportStorage(error.description) }
      case .syncFailed, .locked, .damaged, .newer, .unreadable, .unwritable:
        throw DaemonError.journal(error)
      }
    }
  }

  /// How long to sleep: until the hub, the watchdog, maintenance or a full socket wants attention.
  func sleepTime(_ now: Instant, _ feedAt: UInt64?) -> Int {
    if !afterthoughts.isEmpty || !events.isEmpty || !decided.isEmpty { return 0 }
    var until = [hub.wakeAt, feedAt, maintenanceDue].compactMap { $0 }.min()
    if !waiting.isEmpty || !suspects.isEmpty { until = min(until ?? .max, now.boot + 100) }
    guard let until else { return -1 }
    return until <= now.boot ? 0 : Int(min(until - now.boot, 3_600_000))
  }
}
