import Journal
import NavigationCore
import NavigationHub
import TransportGuard

// Work that no client requested: checkpoints and pruning; and the time of the next wake-up for it.

extension ServerLoop {
  /// The number of rows that one slice of pruning examines in a database on another machine; the
  /// loop waits for each round trip.
  private static let remoteRowsPerSlice = 64

  /// Starts a checkpoint, or prunes a slice of the history, if that is due.
  mutating func maintain(at now: Instant) throws {
    do throws(JournalError) {
      // An event that waits to be handled counts as activity.
      if !batches.atHand.isEmpty { maintenance.noteEvents(at: now.boot) }
      if let lease = writer.lease, lease.renewAt <= now.boot { return writer.startCheckpoint() }
      if maintenance.mustCheckpoint(writer.walPages, at: now.boot) {
        return writer.startCheckpoint()
      }
      guard maintenance.mustPrune(at: now.boot) else { return }
      let report = try writer.journal.maintain(
        now: now.boot, budget: isJournalRemote ? Self.remoteRowsPerSlice : 2000)
      for floor in report.floors {
        batches.append(.historyPruned(nav: floor.nav, oldestRevision: floor.revision))
      }
      for nav in report.needsSnapshot { batches.append(.snapshotWanted(nav: nav)) }
      notePruning(report, at: now)
      maintenance.notePruned(
        hasMore: report.hasMore || !report.needsSnapshot.isEmpty, at: now.boot)
    } catch {
      try failMaintenance(error, at: now)
    }
  }

  /// Examines whether the files of the journal are still there, and reports a change.
  mutating func examine() {
    let found = writer.journal.problem
    guard maintenance.noteExamined(found) else { return }
    reportStorage(found?.description)
  }

  mutating func failMaintenance(_ error: JournalError, at now: Instant) throws {
    guard error.isRetryable else { throw error }
    if case .fenced(_, let lost) = error {
      // The batches in flight fail by the same error.
      if batches.areDurable { try loseShards(lost, at: now) }
    } else {
      maintenance.noteFailedMaintenance(at: now.boot)
      if maintenance.storageProblem == nil { reportStorage(error.description) }
    }
  }

  /// The milliseconds for which the loop can sleep; -1 to sleep until a descriptor is readable.
  mutating func sleepTime(_ now: Instant, _ watchdogAt: UInt64?) -> Int {
    // What is due waits until libzmq, which tells nobody, has freed memory.
    if router.peersOweTooMuch { return 1 }
    if !router.events.isEmpty || !batches.isEmpty { return 0 }
    let upkeepAt = maintenance.wakeAt(
      pages: batches.areDurable ? writer.walPages : 0,
      // During a checkpoint, nothing else can use the journal.
      soonest: writer.isCheckpointing ? now.boot + 10 : 0)
    // A commit in flight renews the lease, and so does a running checkpoint.
    let isIdle = batches.areDurable && !writer.isCheckpointing
    let renewal = isJournalRemote && isIdle ? writer.lease?.renewAt : nil
    let due = [
      hub.wakeAt, watchdogAt, router.wakeAt(now.boot), upkeepAt, renewal,
      served?.leaving.map(\.deadline).min(),
      backupSchedule.wakeAt(now),
    ]
    .compactMap { $0 }.min()
    guard let due else { return -1 }
    return due <= now.boot ? 0 : Int(min(due - now.boot, 3_600_000))
  }
}
