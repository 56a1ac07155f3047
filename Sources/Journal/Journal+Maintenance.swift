import NavigationCore
import NavigationHub

extension Journal {
  /// Deletes a part of the history that retention no longer keeps, and reports what it did.
  ///
  /// `maintain` raises a nav's floor, its oldest readable revision, only to a revision with a
  /// stored snapshot. The rows up to that snapshot's row are deleted over several calls. When a
  /// closed nav is old enough, `maintain` forgets it, and `replay` omits it from then on. Its rows
  /// are deleted in the same way, the closing row last.
  ///
  /// `now` is the boot clock in milliseconds. A call examines at most `budget` rows and `budget` navs.
  package func maintain(now: UInt64, budget: Int) throws(JournalError) -> MaintenanceReport {
    try maintain(now: now, budget: budget, excessBytes: max(0, ledger.bytes - retention.bytes))
  }

  /// Does the same as `maintain(now:budget:)`; the caller says by how many bytes all rows together
  /// exceed their limit.
  package func maintain(
    now: UInt64, budget: Int, excessBytes: Int
  ) throws(JournalError) -> MaintenanceReport {
    precondition(isReplayed, "maintain before replay")
    precondition(budget > 0, "a budget of \(budget) rows does nothing")
    countTime(until: now)
    let plan = makePlan(navBudget: budget, excessBytes: excessBytes)
    var report = MaintenanceReport()
    report.needsSnapshot = plan.needsSnapshot
    if !plan.shortenedHistories.isEmpty || !plan.forgotten.isEmpty {
      try carryOut(plan)
      report.forgotten = plan.forgotten
      for (nav, _) in plan.shortenedHistories {
        report.floors.append(.init(nav: nav, revision: ledger[nav].floorRevision))
      }
    }
    if pruning.isActive { report.deletedRows = try deleteExpiredRows(examining: budget) }
    let freedPages = try rememberingSyncFailure { () throws(JournalError) in
      try engine.vacuumSlice()
    }
    // After a crash, all rows look younger than they are by so many milliseconds at most.
    if ages.countedMilliseconds >= agesWrittenMilliseconds + 600_000 {
      try transaction { () throws(JournalError) in try writeCensusAndAges(census.stored) }
    }
    report.rowsLeft = pruning.sequencesLeft
    // A plan that changed something may change more, and each round examines all navs.
    let mayPlanMore =
      !report.floors.isEmpty || !report.forgotten.isEmpty
      || pruning.nextEntryIndex < ledger.entries.count
    report.hasMore = pruning.isActive || freedPages > 0 || mayPlanMore
    return report
  }

  package func countTime(until now: UInt64) { ages.advance(to: now, newestSequence: lastSequence) }

  /// Writes a census, and the ages of rows, in the open transaction.
  func writeCensusAndAges(_ census: Census) throws(JournalError) {
    try metadata.write(census)
    try metadata.write(ages)
    agesWrittenMilliseconds = ages.countedMilliseconds
  }

  /// Resumes the deletions that the last process had not finished.
  func resumePruning() {
    let deletedNavs = Set(deletedNavs)
    for entry in ledger.entries {
      let last = deletedNavs.contains(entry.nav) ? entry.headSequence : entry.deletionEnd
      pruning.include(entry.oldestSequence, last)
    }
  }

  private func makePlan(navBudget: Int, excessBytes: Int) -> RetentionPlan {
    if pruning.nextEntryIndex >= ledger.entries.count { pruning.nextEntryIndex = 0 }
    let end = min(ledger.entries.count, pruning.nextEntryIndex + navBudget)
    let slice = ledger.entries[pruning.nextEntryIndex..<end]
    pruning.nextEntryIndex = end
    // Rows marked for deletion are deleted before more history is given up.
    var plan = RetentionPlan(slice, retention, ages, excess: pruning.isActive ? 0 : excessBytes)
    plan.forgotten.removeAll { deletedNavs.contains($0) }
    return plan
  }

  /// Deletes the plan's snapshots and stores which navs it forgets, in one transaction.
  private func carryOut(_ plan: RetentionPlan) throws(JournalError) {
    try transaction { () throws(JournalError) in
      census.draft = census.stored
      for (nav, keeping) in plan.shortenedHistories {
        try deleteSnapshots(nav, ledger[nav].snapshots.prefix(keeping))
      }
      for nav in plan.forgotten { try deleteSnapshots(nav, ledger[nav].snapshots[...]) }
      if !plan.forgotten.isEmpty { try metadata.write(deletedNavs: deletedNavs + plan.forgotten) }
      try writeCensusAndAges(census.draft)
    }
    census.stored = census.draft
    deletedNavs += plan.forgotten
    for (nav, keeping) in plan.shortenedHistories {
      ledger[nav].snapshots.removeFirst(keeping)
      ledger[nav].hasWholeHistory = false
      pruning.include(ledger[nav].oldestSequence, ledger[nav].deletionEnd)
    }
    for nav in plan.forgotten {
      ledger[nav].snapshots = []
      pruning.include(ledger[nav].oldestSequence, ledger[nav].headSequence)
    }
  }

  private func deleteSnapshots(
    _ nav: UInt64, _ snapshots: ArraySlice<LedgerEntry.Snapshot>
  ) throws(JournalError) {
    for snapshot in snapshots {
      try engine.deleteSnapshot(nav: nav, revision: snapshot.revision)
      census.draft.discount(snapshotChecksum: snapshot.checksum)
    }
  }

  /// Examines the next `budget` rows and deletes those that retention no longer keeps.
  private func deleteExpiredRows(examining budget: Int) throws(JournalError) -> Int {
    let deletedNavs = Set(deletedNavs)
    var slice = PruningSlice(
      nextSequence: pruning.nextSequence, lastSequence: pruning.lastSequence, rowBudget: budget)
    var remaining: [UInt64] = []
    try transaction { () throws(JournalError) in
      census.draft = census.stored
      while !slice.isDone { try prune(&slice, deletedNavs) }
      let gone = slice.deleted.reduce(into: [UInt64: Int]()) { $0[$1.nav, default: 0] += 1 }
      remaining = self.deletedNavs.filter { (ledger.entry($0)?.rows ?? 0) > gone[$0, default: 0] }
      if remaining != self.deletedNavs { try metadata.write(deletedNavs: remaining) }
      try writeCensusAndAges(census.draft)
    }
    census.stored = census.draft
    for row in slice.deleted { ledger.remove(row) }
    for nav in deletedNavs.subtracting(remaining) { ledger.remove(nav) }
    self.deletedNavs = remaining
    pruning.nextSequence = slice.nextSequence
    return slice.deleted.count
  }

  /// Examines the next group of a slice, and deletes the rows that retention no longer keeps.
  ///
  /// It deletes the group if no row stays, and otherwise rewrites it under the same key. A nav's
  /// rows are deleted in ascending order without a gap, so none is left between deleted ones.
  private func prune(_ slice: inout PruningSlice, _ deletedNavs: Set<UInt64>) throws(JournalError) {
    guard let (found, records) = try collectSurvivors(of: &slice, deletedNavs),
      records > batch.group.records
    else {
      return
    }
    census.draft.discount(rows: records, checksum: found.checksum)
    guard batch.group.records > 0 else {
      return try engine.deleteGroup(found.first)
    }
    let checksum = batch.group.checksum
    census.draft.count(rows: batch.group.records, checksum: checksum)
    try store(batch.group, checksum, replacing: true)
  }

  /// Finds the next group of a slice, and the number of its rows; nil at the end of the slice.
  ///
  /// It collects the rows that stay in `batch.group`.
  private func collectSurvivors(
    of slice: inout PruningSlice, _ deletedNavs: Set<UInt64>
  ) throws(JournalError) -> (StoredGroup, rowCount: Int)? {
    var result: (StoredGroup, rowCount: Int)?
    let isThere = try engine.readGroup(from: slice.nextSequence) {
      (found, heads, bodies) throws(JournalError) in
      var cursor = RecordCursor(first: found.first)
      var records = 0
      batch.group.begin(found.first)
      while cursor.next(in: heads) {
        records += 1
        let row = cursor.header
        guard cursor.bodyRange.upperBound <= bodies.count else { break }
        let isDoomed =
          deletedNavs.contains(row.nav) || row.sequence <= ledger.entry(row.nav)?.deletionEnd ?? 0
        if slice.spendBudget(on: row), isDoomed {
          slice.deleted.append(RowSummary(row, bodyBytes: cursor.bodyRange.count))
        } else {
          batch.group.append(row, bodies.extracting(cursor.bodyRange))
        }
      }
      guard cursor.hasEnded(heads, at: found.last, bodyBytes: bodies.count) else {
        throw damage("\(found.name) cannot be separated")
      }
      if slice.rowBudget > 0 { slice.nextSequence = max(slice.nextSequence, found.last + 1) }
      result = (found, records)
    }
    if !isThere { slice.nextSequence = slice.lastSequence + 1 }
    return result
  }

  package var fileSizes: (journal: Int, log: Int) { engine.fileSizes }

  /// The bytes of all rows, counted as for `Retention.bytes`.
  package var rowBytes: Int { ledger.bytes }
}
