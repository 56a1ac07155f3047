import NavigationHub
import NavigationProtocol

extension Journal {
  /// Deletes a slice of what retention no longer promises, and says what it needs to go on.
  ///
  /// A nav's floor is only ever raised to a revision whose snapshot is stored, and rows up to that
  /// snapshot's row go over several calls. A closed nav is forgotten at once, also by `replay`,
  /// and its rows go likewise, the closing row last.
  ///
  /// `now` is wall-clock time in milliseconds since 1970; at most `budget` rows are read and navs
  /// looked at.
  package func maintain(now: UInt64, budget: Int) throws(JournalError) -> MaintenanceReport {
    precondition(isReplayed, "maintain before replay")
    precondition(budget > 0, "a budget of \(budget) rows does nothing")
    let plan = makePlan(now: now, budget: budget)
    var report = MaintenanceReport()
    report.needsSnapshot = plan.needsSnapshot
    if !plan.raised.isEmpty || !plan.closed.isEmpty {
      try carryOut(plan)
      report.forgotten = plan.closed
      for (nav, _) in plan.raised {
        report.floors.append(.init(nav: nav, revision: ledger[nav].floor))
      }
    }
    if pruning.isActive { report.deletedRows = try deleteSlice(budget) }
    report.freedPages = try vacuumSlice()
    report.hasMore = pruning.isActive || report.freedPages > 0
    return report
  }

  /// Takes up what the last process had not deleted when it ended.
  func resumePruning() {
    let closing = Set(closing)
    for entry in ledger.entries {
      let last = closing.contains(entry.nav) ? entry.headSequence : entry.doomed
      pruning.include(entry.oldestSequence, last)
    }
  }

  private func makePlan(now: UInt64, budget: Int) -> RetentionPlan {
    if pruning.entry >= ledger.entries.count { pruning.entry = 0 }
    let end = min(ledger.entries.count, pruning.entry + budget)
    let slice = ledger.entries[pruning.entry..<end]
    pruning.entry = end
    // What is being deleted must be gone before more is sacrificed.
    let excess = pruning.isActive ? 0 : max(0, ledger.bytes - retention.bytes)
    var plan = RetentionPlan(slice, retention, now: now, excess: excess)
    plan.closed.removeAll { closing.contains($0) }
    return plan
  }

  /// Deletes the snapshots that a plan gives up and notes the navs it forgets, in one transaction.
  private func carryOut(_ plan: RetentionPlan) throws(JournalError) {
    try prepareUnsynced()
    try transaction { () throws(JournalError) in
      census.draft = census.stored
      for (nav, keeping) in plan.raised {
        try deleteSnapshots(nav, ledger[nav].snapshots.prefix(keeping))
      }
      for nav in plan.closed { try deleteSnapshots(nav, ledger[nav].snapshots[...]) }
      if !plan.closed.isEmpty { try metadata.write(closing: closing + plan.closed) }
      try metadata.write(census.draft)
    }
    census.stored = census.draft
    closing += plan.closed
    for (nav, keeping) in plan.raised {
      ledger[nav].snapshots.removeFirst(keeping)
      ledger[nav].isWhole = false
      pruning.include(ledger[nav].oldestSequence, ledger[nav].doomed)
    }
    for nav in plan.closed {
      ledger[nav].snapshots = []
      pruning.include(ledger[nav].oldestSequence, ledger[nav].headSequence)
    }
  }

  private func deleteSnapshots(
    _ nav: UInt64, _ snapshots: ArraySlice<NavEntry.Snapshot>
  ) throws(JournalError) {
    for snapshot in snapshots {
      deleteSnapshot.bind(1, nav)
      deleteSnapshot.bind(2, snapshot.revision)
      try deleteSnapshot.run()
      census.draft.discount(snapshotChecksum: snapshot.checksum)
    }
  }

  /// Looks at the next `budget` rows and deletes those that must go.
  private func deleteSlice(_ budget: Int) throws(JournalError) -> Int {
    try prepareUnsynced()
    let closing = Set(closing)
    var slice = PruningSlice(next: pruning.next, last: pruning.last, budget: budget)
    var remaining: [UInt64] = []
    try transaction { () throws(JournalError) in
      census.draft = census.stored
      while !slice.isDone { try prune(&slice, closing) }
      let gone = slice.deleted.reduce(into: [UInt64: Int]()) { $0[$1.nav, default: 0] += 1 }
      remaining = self.closing.filter { (ledger.entry($0)?.rows ?? 0) > gone[$0, default: 0] }
      if remaining != self.closing { try metadata.write(closing: remaining) }
      try metadata.write(census.draft)
    }
    census.stored = census.draft
    for row in slice.deleted { ledger.remove(row) }
    for nav in closing.subtracting(remaining) { ledger.remove(nav) }
    self.closing = remaining
    pruning.next = slice.next
    return slice.deleted.count
  }

  /// Looks at the next group of a slice, deletes it if none of its rows may stay, and writes it
  /// anew, under the same key, if some may.
  ///
  /// What must go goes at once: a nav's rows are gone from its first on, with none left between.
  private func prune(_ slice: inout PruningSlice, _ closing: Set<UInt64>) throws(JournalError) {
    guard let (found, records) = try survivors(of: &slice, closing), records > batch.group.records
    else {
      return
    }
    census.draft.discount(rows: records, checksum: found.checksum)
    guard batch.group.records > 0 else {
      deleteGroup.bind(1, found.first)
      return try deleteGroup.run()
    }
    batch.group.seal()
    let checksum = batch.group.checksum
    census.draft.count(rows: batch.group.records, checksum: checksum)
    try write(batch.group, checksum, with: replaceGroup)
  }

  /// Finds the next group of a slice, and collects in `batch.group` what is to stay of it.
  ///
  /// - Returns: the group with the number of its rows; nil at the end of the slice.
  private func survivors(
    of slice: inout PruningSlice, _ closing: Set<UInt64>
  ) throws(JournalError) -> (StoredGroup, records: Int)? {
    selectGroup.bind(1, slice.next)
    defer { selectGroup.reset() }
    guard try selectGroup.step(.reading) else {
      slice.next = slice.last + 1
      return nil
    }
    var result: (StoredGroup, records: Int)?
    let path = database.path
    try selectGroup.unpackedGroup(damage: { JournalError.damaged(path: path, what: $0) }) {
      (found, heads, bodies) throws(JournalError) in
      var cursor = RecordCursor(first: found.first)
      var records = 0
      batch.group.begin(found.first)
      while cursor.next(in: heads) {
        records += 1
        let row = cursor.header
        guard cursor.body.upperBound <= bodies.count else { break }
        let isDoomed =
          closing.contains(row.nav) || row.sequence <= ledger.entry(row.nav)?.doomed ?? 0
        if slice.takes(row), isDoomed {
          slice.deleted.append(RowNote(row, bodyCount: cursor.body.count))
        } else {
          batch.group.append(row, bodies.extracting(cursor.body))
        }
      }
      guard cursor.hasEnded(heads, at: found.last, bodyCount: bodies.count) else {
        throw JournalError.damaged(path: path, what: "\(found.name) cannot be told apart")
      }
      if slice.budget > 0 { slice.next = max(slice.next, found.last + 1) }
      result = (found, records)
    }
    return result
  }

  /// Gives some free pages back to the file system when a quarter of the file is free.
  private func vacuumSlice() throws(JournalError) -> Int {
    let free = try database.integer("PRAGMA freelist_count")
    guard free > 256, try free > database.integer("PRAGMA page_count") / 4 else { return 0 }
    try prepareUnsynced()
    if let poison { throw poison }
    do throws(JournalError) {
      try database.execute("PRAGMA incremental_vacuum(64)", .writing)
    } catch {
      database.rollBack()
      if case .syncFailed = error { poison = error }
      throw error
    }
    return try Int(free - database.integer("PRAGMA freelist_count"))
  }
}

extension Journal {
  /// Figures for people and monitors.
  package struct Statistics: Hashable, Sendable {
    /// Size of the file in bytes.
    package var fileBytes: Int
    /// Size of the write-ahead log's file in bytes; it keeps its size when it is emptied.
    package var walBytes: Int
    /// Rows stored.
    package var rows: UInt64
    /// Snapshots stored.
    package var snapshots: UInt64
    /// Navs with rows or snapshots.
    package var navs: Int
    /// Bytes of all rows, as `Retention.bytes` counts them.
    package var rowBytes: Int
    /// Batches committed since `open`.
    package var commits: UInt64
  }

  /// The sizes of the journal's file and of its write-ahead log's, in bytes; 0 where there is no
  /// telling.
  ///
  /// Any thread may ask: the files are looked up by their names.
  package var fileSizes: (journal: Int, log: Int) {
    let path = directory + "/" + Self.fileName
    let sizes = [path, path + "-wal"].map { path in
      do throws(JournalError) { return try fileSize(path) ?? 0 } catch { return 0 }
    }
    return (sizes[0], sizes[1])
  }

  /// The figures now; it asks the file system for two of them.
  package func statistics() throws(JournalError) -> Statistics {
    let path = directory + "/" + Self.fileName
    return Statistics(
      fileBytes: try fileSize(path) ?? 0, walBytes: try fileSize(path + "-wal") ?? 0,
      rows: census.stored.rows, snapshots: census.stored.snapshots, navs: ledger.entries.count,
      rowBytes: ledger.bytes, commits: commits)
  }
}
