package import NavigationCore

extension Journal {
  /// Stores the records of one batch, all or none; with durability `sync`, durably.
  ///
  /// The rows of the batch continue `lastSequence` without a gap. The revisions of a nav's
  /// snapshots never decrease; a snapshot replaces one of the same revision.
  ///
  /// - Throws: `.full` or `.writeFailed` if nothing was stored and the same batch may be tried
  ///   again; `.syncFailed` if the process must exit.
  package func commit(_ records: JournalRecords) throws(JournalError) {
    try stage(records)
    try commitStaged()
  }

  /// Writes a part of a batch, which counts only after `commitStaged` returns.
  ///
  /// The caller may stage parts while it still decides later ones, and from different threads, as
  /// long as one thread at a time uses the journal.
  ///
  /// - Throws: the errors of `commit`; all staged parts of the batch are then gone.
  package func stage(_ records: JournalRecords) throws(JournalError) {
    precondition(isReplayed, "commit before replay")
    guard !records.isEmpty else { return }
    if !isStaging {
      try prepareUnsynced()
      if let poison { throw poison }
      try undoingOnError { () throws(JournalError) in try begin.run() }
      census.draft = census.stored
      batch.begin(census.stored.through + 1)
      isStaging = true
    }
    try undoingOnError { () throws(JournalError) in
      var next = 0
      for entry in records.snapshots {
        try stage(records, &next, to: entry.rowsBefore)
        try insert(entry.snapshot)
      }
      try stage(records, &next, to: records.rows.count)
    }
  }

  /// Collects the rows from `next` up to `end`, and stores the groups that become full.
  private func stage(
    _ records: JournalRecords, _ next: inout Int, to end: Int
  ) throws(JournalError) {
    batch.collect(records, &next, to: end)
    while next < end {
      try storeGroup()
      batch.collect(records, &next, to: end)
    }
  }

  /// Commits the staged parts of a batch in one transaction.
  package func commitStaged() throws(JournalError) {
    guard isStaging else { return }
    try undoingOnError { () throws(JournalError) in
      try storeGroup()
      // A missing snapshot leaves no gap in a sequence, so the census is stored with the snapshots.
      if batch.hasSnapshots { try metadata.write(census.draft) }
      try end.run()
    }
    isStaging = false
    census.stored = census.draft
    for record in batch.records { ledger.add(record) }
    commits += 1
    if isSynchronous { reserve.extend(pages: walPages) }
  }

  /// Drops the staged parts of a batch.
  package func discardStaged() {
    guard isStaging else { return }
    database.rollBack()
    isStaging = false
  }

  /// Stores the collected rows as a group, if there are any, and begins the next group.
  private func storeGroup() throws(JournalError) {
    guard batch.group.records > 0 else { return }
    batch.group.seal()
    let checksum = batch.group.checksum
    census.draft.through = batch.group.last
    census.draft.count(rows: batch.group.records, checksum: checksum)
    try write(batch.group, checksum, with: insertGroup)
    batch.group.begin(batch.group.last + 1)
  }

  /// Runs a statement with the columns of a group as parameters.
  func write(
    _ group: borrowing RowGroup, _ checksum: UInt64, with statement: Statement
  ) throws(JournalError) {
    statement.bind(1, group.first)
    statement.bind(2, group.last)
    statement.bind(3, group.packedFrom)
    statement.bind(4, checksum)
    try statement.run(5, group.heads, 6, group.storedBodies)
  }

  private func insert(_ snapshot: SnapshotRow) throws(JournalError) {
    let last = ledger.entry(snapshot.nav)?.snapshots.last?.revision ?? 0
    precondition(snapshot.revision >= last, "snapshot \(snapshot.revision) after \(last)")
    let checksum = snapshot.checksum
    if let replaced = try checksumOfSnapshot(snapshot.nav, snapshot.revision) {
      census.draft.discount(snapshotChecksum: replaced)
    }
    census.draft.count(snapshotChecksum: checksum)
    insertSnapshot.bind(1, snapshot.nav)
    insertSnapshot.bind(2, snapshot.revision)
    insertSnapshot.bind(3, snapshot.sequence)
    insertSnapshot.bind(4, snapshot.time)
    insertSnapshot.bind(5, checksum)
    try insertSnapshot.run(6, snapshot.body.span)
    batch.hasSnapshots = true
    batch.records.append(.snapshot(SnapshotHeader(snapshot, checksum: checksum)))
  }

  private func checksumOfSnapshot(_ nav: UInt64, _ revision: UInt64) throws(JournalError) -> UInt64?
  {
    selectSnapshotChecksum.bind(1, nav)
    selectSnapshotChecksum.bind(2, revision)
    defer { selectSnapshotChecksum.reset() }
    guard try selectSnapshotChecksum.step(.writing) else { return nil }
    return selectSnapshotChecksum.integer(0).map { UInt64(bitPattern: $0) }
  }

  /// Runs `body` in one transaction; rolls the transaction back after any error.
  func transaction(_ body: () throws(JournalError) -> Void) throws(JournalError) {
    precondition(!isStaging, "a transaction inside a staged batch")
    if let poison { throw poison }
    try undoingOnError { () throws(JournalError) in
      try begin.run()
      try body()
      try end.run()
    }
  }

  /// Runs a part of a transaction; rolls the whole transaction back after any error.
  private func undoingOnError(_ body: () throws(JournalError) -> Void) throws(JournalError) {
    do throws(JournalError) {
      try body()
    } catch {
      database.rollBack()
      isStaging = false
      // After a failed sync, the next sync may succeed although data was lost.
      if case .syncFailed = error { poison = error }
      throw error
    }
  }
}

/// A row or snapshot of a batch, without its body.
enum StagedRecord: Hashable {
  case row(RowNote)
  case snapshot(SnapshotHeader)
}

/// The batch that is being written.
struct StagedBatch: ~Copyable {
  /// The rows that are not in the database yet; pruning collects the rows of a group that stay
  /// here.
  var group = RowGroup()
  /// The records to add to the ledger once the batch is committed.
  var records: [StagedRecord] = []
  /// Whether the batch has snapshots, so that the census must be stored with it.
  var hasSnapshots = false

  /// Begins an empty batch.
  ///
  /// `sequence` is the number of its first row.
  mutating func begin(_ sequence: UInt64) {
    group.begin(sequence)
    records.removeAll(keepingCapacity: true)
    hasSnapshots = false
  }

  /// Collects the rows from `next` up to `end`, or until the group is full.
  ///
  /// `next` is then the first row that was not collected.
  mutating func collect(_ part: borrowing JournalRecords, _ next: inout Int, to end: Int) {
    while next < end {
      let body = part.body(of: next)
      if group.isFull(for: body.count) { break }
      let (expected, found) = (group.last + 1, part.rows[next].header.sequence)
      precondition(found == expected, "sequence \(found) where \(expected) is next")
      let note = group.append(part.rows[next].header, part.bodies.span.extracting(body))
      records.append(.row(note))
      next += 1
    }
  }
}
