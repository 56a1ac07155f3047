package import NavigationHub

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
    if !isStaging {
      try prepareUnsynced()
      if let poison { throw poison }
      try undoingOnError { () throws(JournalError) in try begin.run() }
      census.draft = census.stored
      batch.begin(census.stored.through + 1)
      isStaging = true
    }
    try undoingOnError { () throws(JournalError) in
      var index = batch.collect(records, from: 0)
      while index < records.count {
        switch records[index] {
        case .row: try storeGroup()
        case .snapshot(let snapshot):
          try insert(snapshot)
          index += 1
        }
        index = batch.collect(records, from: index)
      }
    }
  }

  /// Makes the staged parts of a batch durable, together.
  package func commitStaged() throws(JournalError) {
    guard isStaging else { return }
    try undoingOnError { () throws(JournalError) in
      try storeGroup()
      // Snapshots have no order that would show a missing one, so the census goes with them.
      if batch.hasSnapshots { try metadata.write(census.draft) }
      try end.run()
    }
    isStaging = false
    census.stored = census.draft
    for record in batch.records { ledger.add(record) }
    commits += 1
  }

  /// Drops the staged parts of a batch.
  package func discardStaged() {
    guard isStaging else { return }
    database.rollBack()
    isStaging = false
  }

  /// Stores the rows that are collected, if any, and begins the next group.
  private func storeGroup() throws(JournalError) {
    guard batch.group.records > 0 else { return }
    batch.group.seal()
    let checksum = batch.group.checksum
    census.draft.through = batch.group.last
    census.draft.count(rows: batch.group.records, checksum: checksum)
    try write(batch.group, checksum, with: insertGroup)
    batch.group.begin(batch.group.last + 1)
  }

  /// Runs a statement with the columns of a group.
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

  /// Runs `body` in one transaction; on any error nothing of it stays.
  func transaction(_ body: () throws(JournalError) -> Void) throws(JournalError) {
    precondition(!isStaging, "a transaction inside a staged batch")
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
      isStaging = false
      // A sync that failed once may succeed falsely when it is tried again.
      if case .syncFailed = error { poison = error }
      throw error
    }
  }
}

/// A record of a batch without its body.
enum StagedRecord: Hashable {
  case row(RowNote)
  case snapshot(SnapshotHeader)
}

/// The batch being written.
struct StagedBatch: ~Copyable {
  /// The rows that are not in the database yet; pruning collects here what is left of a group.
  var group = RowGroup()
  /// What is to be noted once the batch is stored.
  var records: [StagedRecord] = []
  /// Whether there are snapshots among them, whose census must go with the batch.
  var hasSnapshots = false

  /// Begins a batch whose first row has this sequence.
  mutating func begin(_ sequence: UInt64) {
    group.begin(sequence)
    records.removeAll(keepingCapacity: true)
    hasSnapshots = false
  }

  /// Collects rows from `index` on, up to a snapshot or a row that finds the group full.
  ///
  /// - Returns: where it ended.
  mutating func collect(_ batch: [JournalRecord], from index: Int) -> Int {
    var index = index
    while index < batch.count, case .row(let row) = batch[index] {
      if group.isFull(for: row.body.count) { break }
      let next = group.last + 1
      precondition(row.sequence == next, "sequence \(row.sequence) where \(next) is next")
      records.append(.row(group.append(row)))
      index += 1
    }
    return index
  }
}
