package import NavigationSync

extension Journal {
  /// Stores the records of one batch, all or none, durably in mode `sync`.
  ///
  /// The rows continue `lastSequence` without a gap, in the order of the batch; a nav's snapshots
  /// never go back, and one of the same revision replaces the other.
  ///
  /// - Throws: `.full`, `.writeFailed`: nothing is stored, the same batch may be tried again;
  ///   `.syncFailed`: the process must exit.
  package func commit(_ records: [JournalRecord]) throws(JournalError) {
    try stage(records)
    try commitStaged()
  }

  /// Writes a part of a batch, which counts only when `commitStaged` returns.
  ///
  /// A batch may be staged while its later parts are still being decided, and on another thread,
  /// as long as one at a time uses the journal.
  /// - Throws: as `commit`; all parts of the batch are gone then.
  package func stage(_ records: [JournalRecord]) throws(JournalError) {
    precondition(isReplayed, "commit before replay")
    guard !records.isEmpty else { return }
    if staged == nil {
      try prepareUnsynced()
      if let poison { throw poison }
      try undoingOnError { () throws(JournalError) in try begin.run() }
      census.draft = census.stored
      snapshotChecksums.removeAll(keepingCapacity: true)
      staged = []
    }
    checkOrder(records)
    try undoingOnError { () throws(JournalError) in try insert(records) }
    staged?.append(contentsOf: records)
  }

  /// Makes the staged parts of a batch durable, together.
  package func commitStaged() throws(JournalError) {
    guard let records = staged else { return }
    try undoingOnError { () throws(JournalError) in
      // Snapshots have no order that would show a missing one, so the census goes with them.
      if !snapshotChecksums.isEmpty { try metadata.write(census.draft) }
      try end.run()
    }
    staged = nil
    note(records)
    commits += 1
  }

  private func checkOrder(_ records: [JournalRecord]) {
    var next = census.draft.through + 1
    for record in records {
      switch record {
      case .row(let row):
        precondition(row.sequence == next, "sequence \(row.sequence) where \(next) is next")
        precondition(row.previous < row.sequence, "row \(row.sequence) must follow its previous")
        next += 1
      case .snapshot(let snapshot):
        let last = ledger.entry(snapshot.nav)?.snapshots.last?.revision ?? 0
        precondition(snapshot.revision >= last, "snapshot \(snapshot.revision) after \(last)")
      }
    }
  }

  private func insert(_ records: [JournalRecord]) throws(JournalError) {
    for record in records {
      switch record {
      case .row(let row): try insert(row)
      case .snapshot(let snapshot): try insert(snapshot)
      }
    }
  }

  private func insert(_ row: JournalRow) throws(JournalError) {
    let checksum = RowHeader(row).checksum(body: row.body.span)
    census.draft.through = row.sequence
    census.draft.count(rowChecksum: checksum)
    insertRow.bind(1, row.sequence)
    insertRow.bind(2, row.nav)
    insertRow.bind(3, row.revision)
    insertRow.bind(4, row.previous)
    insertRow.bind(5, row.time)
    insertRow.bind(6, UInt64(row.kind.rawValue))
    insertRow.bind(7, UInt64(checksum))
    try insertRow.run(8, row.body)
  }

  private func insert(_ snapshot: SnapshotRow) throws(JournalError) {
    let checksum = snapshot.checksum
    snapshotChecksums.append(checksum)
    if let replaced = try checksumOfSnapshot(snapshot.nav, snapshot.revision) {
      census.draft.discount(snapshotChecksum: replaced)
    }
    census.draft.count(snapshotChecksum: checksum)
    insertSnapshot.bind(1, snapshot.nav)
    insertSnapshot.bind(2, snapshot.revision)
    insertSnapshot.bind(3, snapshot.sequence)
    insertSnapshot.bind(4, snapshot.time)
    insertSnapshot.bind(5, UInt64(checksum))
    try insertSnapshot.run(6, snapshot.body)
  }

  private func checksumOfSnapshot(_ nav: UInt64, _ revision: UInt64) throws(JournalError) -> UInt32?
  {
    selectSnapshotChecksum.bind(1, nav)
    selectSnapshotChecksum.bind(2, revision)
    defer { selectSnapshotChecksum.reset() }
    guard try selectSnapshotChecksum.step(.writing) else { return nil }
    return selectSnapshotChecksum.integer(0).flatMap { UInt32(exactly: $0) }
  }

  /// Brings the ledger up to what is now in the file.
  private func note(_ records: [JournalRecord]) {
    census.stored = census.draft
    var stored = snapshotChecksums.makeIterator()
    for record in records {
      switch record {
      case .row(let row): ledger.add(RowHeader(row), bodyCount: row.body.count)
      case .snapshot(let snapshot): ledger.add(snapshot, checksum: stored.next() ?? 0)
      }
    }
  }

  /// Runs `body` in one transaction; on any error nothing of it stays.
  func transaction(_ body: () throws(JournalError) -> Void) throws(JournalError) {
    precondition(staged == nil, "a transaction inside a staged batch")
    if let poison { throw poison }
    try undoingOnError { () throws(JournalError) in
      try begin.run()
      try body()
      try end.run()
    }
  }

  /// Runs a part of a transaction; on any error nothing of the transaction stays.
  private func undoingOnError(_ body: () throws(JournalError) -> Void) throws(JournalError) {
    do throws(JournalError) {
      try body()
    } catch {
      database.rollBack()
      staged = nil
      // A sync that failed once may succeed falsely when it is tried again.
      if case .syncFailed = error { poison = error }
      throw error
    }
  }
}
