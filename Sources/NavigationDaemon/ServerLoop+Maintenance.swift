import Journal
import NavigationHub
import TransportGuard

// What is done without being asked for: checkpoints, pruning, revivals; and when to wake for it.

extension ServerLoop {
  /// Dormant navs whose history is asked for at a time: everybody waits while one is revived, 8 ms if
  /// it has a thousand rows.
  private static let revivedAtATime = 1

  /// Flushes the write-ahead log and prunes history, in slices.
  mutating func maintain(at now: Instant) throws {
    do throws(JournalError) {
      // An event that waits to be handled is busy too.
      if !batches.atHand.isEmpty { maintenance.noteEvents(at: now.boot) }
      if maintenance.mustCheckpoint(writer.walPages, at: now.boot) { return writer.putAway() }
      guard maintenance.mustPrune(at: now.boot) else { return }
      let report = try writer.journal.maintain(now: now.wall, budget: 2000)
      for floor in report.floors {
        batches.append(.floor(nav: floor.nav, revision: floor.revision))
      }
      for nav in report.needsSnapshot { batches.append(.snapshotWanted(nav: nav)) }
      maintenance.notePruned(
        hasMore: report.hasMore || !report.needsSnapshot.isEmpty, at: now.boot)
    } catch {
      try failMaintenance(error, at: now)
    }
  }

  mutating func failMaintenance(_ error: JournalError, at now: Instant) throws {
    switch error {
    case .full, .writeFailed:
      maintenance.noteFailure(at: now.boot)
      if !maintenance.isStorageFailing { reportStorage(error.description) }
    case .syncFailed, .locked, .damaged, .newer, .unreadable, .unwritable:
      throw DaemonError.journal(error)
    }
  }

  /// Revives dormant navs a few at a time while there is nothing else to do.
  mutating func reviveSome(at now: Instant) {
    guard hub.hasDormantNavs, !hub.isReviving, batches.atHand.isEmpty,
      maintenance.isQuiet(at: now.boot)
    else { return }
    history.ask(hub.requestDormant(atMost: Self.revivedAtATime))
  }

  /// Takes what was read of the journal.
  mutating func takeAnswers() throws {
    for var answer in history.takeAnswers() {
      if answer.failure != nil, let request = hub.revival(by: answer) {
        // Read once more here, where an error says whether a start could end differently.
        let (snapshot, rows) = try history.chain(of: request)
        answer = HistoryAnswer(token: answer.token, snapshot: snapshot, rows: rows)
      }
      if try !hub.revive(by: answer) { batches.append(.history(answer)) }
    }
  }

  /// How long to sleep, in milliseconds; -1 until something can be read.
  mutating func sleepTime(_ now: Instant, _ watchdogAt: UInt64?) -> Int {
    if !router.events.isEmpty || !batches.atHand.isEmpty { return 0 }
    let upkeepAt = maintenance.wakeAt(
      pages: batches.areDurable ? writer.walPages : 0,
      hasDormantNavs: hub.hasDormantNavs && !hub.isReviving,
      // While the log is flushed, nothing else can be done to the journal.
      soonest: writer.isBusy ? now.boot + 10 : 0)
    let due = [hub.wakeAt, watchdogAt, router.wakeAt(now.boot), upkeepAt].compactMap { $0 }.min()
    guard let due else { return -1 }
    return due <= now.boot ? 0 : Int(min(due - now.boot, 3_600_000))
  }
}
