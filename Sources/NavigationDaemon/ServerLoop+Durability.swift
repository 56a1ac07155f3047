import Journal
import NavigationCore
import TransportGuard

// The end of commits: durable batches, failures and roll-back.

extension ServerLoop {
  /// Commits the batch that has just begun on the loop thread; no other batch is in flight.
  mutating func commit(_ records: JournalRecords, at now: Instant) throws {
    let timing: CommitTiming?
    do {
      timing = try writer.commit(records)
    } catch {
      return try fail(error, at: now)
    }
    batches.completeOldest()
    if !records.isEmpty { noteStored(at: now) }
    try release(hub.committed(at: now))
    if let timing { measure(timing) }
  }

  /// Releases the batches that the writer has completed, or rolls back those that failed.
  mutating func takeProgress(at now: Instant) throws {
    switch writer.takeCheckpointProblem() {
    case .failed(let error): try failMaintenance(error, at: now)
    case .isRead: maintenance.noteReader(at: now.boot)
    case nil: break
    }
    guard !batches.areDurable else { return }
    for _ in 0..<writer.takeCompleted() {
      batches.completeOldest()
      noteStored(at: now)
      try release(hub.committed(at: now))
    }
    for timing in writer.takeTimings() { measure(timing) }
    guard let error = writer.takeFailure() else { return }
    try fail(error, at: now)
  }

  /// Whether the loop must wait until all batches in flight are durable before it goes on.
  ///
  /// While batches are in flight, the hub may decide ops only. Every other event reads or changes
  /// what is durable.
  func mustStandStill(at now: Instant) -> Bool {
    !hub.maySeal || batches.areFull || !batches.areOps
      || maintenance.isOverdue(at: now.boot)
  }

  /// Waits until every batch is durable or has failed.
  mutating func standStill(at now: Instant) throws {
    while !batches.areDurable {
      writer.awaitProgress()
      try takeProgress(at: now)
    }
  }

  private mutating func noteStored(at now: Instant) {
    if maintenance.noteStored(at: now.boot) { reportStorage("the journal can be written again") }
  }

  private mutating func fail(_ error: JournalError, at now: Instant) throws {
    switch error {
    case .full, .writeFailed:
      if maintenance.noteFailedCommit() { reportStorage(error.description) }
      try rollBack(at: now)
    case .syncFailed:
      // The state of the disk is unknown. navd answers nothing more, and the next process reads the
      // journal.
      _ = hub.rollBack()
      hub.handle(.stop, at: now)
      try router.send(hub.committed(at: now))
      try router.linger()
      throw DaemonError.journal(error)
    case .locked, .damaged, .newer, .unreadable, .unwritable: throw DaemonError.journal(error)
    }
  }

  /// Reads navs back from the journal.
  mutating func reload(_ requests: [ReloadRequest]) throws {
    for request in requests {
      let (snapshot, rows) = try history.chain(of: request)
      try hub.reload(request, snapshot: snapshot, rows: rows)
    }
  }

  /// Rolls back the batches that are not durable, and handles their events again; the hub then
  /// refuses every change.
  private mutating func rollBack(at now: Instant) throws {
    try reload(hub.rollBack())
    for event in batches.takeAll() { try handle(event, at: now) }
    precondition(hub.takeRecords().isEmpty, "records while the journal takes none")
    try release(hub.committed(at: now))
  }
}
