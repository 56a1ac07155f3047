package import NavigationCore
package import NavigationHub

/// The journal: rows in the order of their sequence, and snapshots, in a database that an engine
/// keeps.
///
/// In a cluster it has the rows of one shard.
/// Rows that are committed together are stored in groups. A group is one row of the database.
///
/// One thread at a time uses it. The caller calls `open`, then `replay` once, then `commit`, with
/// `checkpoint` and `maintain` in quiet moments, and at last `close`. If `commit` returns, its
/// records are stored. If it throws, none of them is, except after `.syncFailed`, when this is
/// unknown.
package final class Journal: JournalStore {
  package static let fileName = "journal.sqlite"

  package var retention: Retention

  package let place: any JournalPlace

  package let engine: any JournalEngine
  /// The file outside of the journal's directory with the number of the newest acknowledged row;
  /// nil without one.
  package var witness: JournalWitness?
  let metadata: Metadata
  var ledger = Ledger()
  var deletedNavs: [UInt64] = []
  var ages: RowAges
  /// `ages.countedMilliseconds` when the journal last stored the ages.
  var agesWrittenMilliseconds: UInt64
  var pruning = Pruning()
  var isReplayed = false
  /// Why the start could store nothing on a full or read-only disk; nil if it could.
  package var shortageAtStart: JournalError?
  /// The first failed sync, with which every later commit fails: a later sync could succeed
  /// although data was lost.
  private var syncFailure: JournalError?
  /// The census of the stored records, and the census after the open transaction commits.
  var census = (stored: Census(), draft: Census())
  var isStaging = false
  var batch = StagedBatch()

  /// Makes a journal in the database of an engine, which no other journal uses.
  package init(
    _ engine: any JournalEngine, in place: any JournalPlace, retention: Retention
  ) throws(JournalError) {
    self.engine = engine
    self.place = place
    self.retention = retention
    metadata = Metadata(engine)
    deletedNavs = try metadata.deletedNavs()
    ages = try metadata.ages()
    agesWrittenMilliseconds = ages.countedMilliseconds
  }

  /// Locks a directory and opens its journal; makes either if there is none.
  ///
  /// `holder` names this process in the error of another process that finds the lock, such as
  /// `navd serving ipc:///…`.
  package static func open(
    directory: String, durability: Durability, bootID: String, retention: Retention, holder: String
  ) throws(JournalError) -> Journal {
    let engine = try SQLiteEngine(
      directory: directory, durability: durability, bootID: bootID, holder: holder)
    let place = JournalDirectory(
      path: directory, bootID: bootID, isMountedReadOnly: engine.isMountedReadOnly)
    return try Journal(engine, in: place, retention: retention)
  }

  package var shard: Shard { engine.shard }

  package var name: String { engine.name }

  /// Whether every nav needs a new epoch; until `epochsRenewed()` it stays true, and every commit
  /// is synced.
  package var mustRenewEpochs: Bool { rowLoss != nil }

  /// Why acknowledged rows may be missing, so that every nav needs a new epoch; nil if none can be.
  package var rowLoss: HistoryLoss? {
    if let witness, witness.acknowledgedSequence > lastSequence { return .olderCopy }
    return engine.rowLoss
  }

  /// Notes that every nav has a new epoch; `lastSequence` is the row that the next one follows.
  package func epochsRenewed(before lastSequence: UInt64) throws(JournalError) {
    if lastSequence > self.lastSequence {
      census.draft = census.stored
      census.draft.lastSequence = lastSequence
      try transaction { () throws(JournalError) in
        try metadata.write(census.draft)
        engine.skip(to: lastSequence)
      }
      census.stored = census.draft
    }
    try rememberingSyncFailure { () throws(JournalError) in try engine.epochsRenewed() }
  }

  /// Makes the next start give every nav a new epoch; then the caller may only call `close`.
  package func renewEpochsAtNextStart() throws(JournalError) {
    try rememberingSyncFailure { () throws(JournalError) in try engine.renewEpochsAtNextStart() }
  }

  /// The sequence of the newest row; 0 if there never was one.
  package var lastSequence: UInt64 { census.stored.lastSequence }

  package var walPages: Int { engine.walPages }

  package var lease: JournalLease? { engine.lease }

  package var problem: JournalError? { engine.problem }

  /// The lowest revision of a nav that can be rebuilt; 0 if the history is complete.
  package func floorRevision(of nav: UInt64) -> UInt64 { ledger.entry(nav)?.floorRevision ?? 0 }
}

// Commits.

extension Journal {
  /// Writes a part of a batch while the caller decides later parts; one thread at a time stages.
  ///
  /// After an error, all staged parts of the batch are gone.
  package func stage(_ records: JournalRecords) throws(JournalError) {
    precondition(isReplayed, "commit before replay")
    guard !records.isEmpty else { return }
    if !isStaging {
      try rollingBackOnError { () throws(JournalError) in try engine.begin() }
      census.draft = census.stored
      batch.begin(census.stored.lastSequence + 1, mayLackRows: mustRenewEpochs)
      isStaging = true
    }
    try rollingBackOnError { () throws(JournalError) in
      var next = 0
      for entry in records.snapshots {
        try stageRows(records, &next, to: entry.rowsBefore)
        try insert(entry.snapshot)
      }
      try stageRows(records, &next, to: records.rows.count)
    }
  }

  /// Collects the rows from `next` up to `end`, and stores the groups that become full.
  private func stageRows(
    _ records: JournalRecords, _ next: inout Int, to end: Int
  ) throws(JournalError) {
    batch.collectRows(records, &next, to: end)
    while next < end {
      try storeStagedGroup()
      batch.collectRows(records, &next, to: end)
    }
  }

  package func commitStaged() throws(JournalError) {
    guard isStaging else { return }
    try rollingBackOnError { () throws(JournalError) in
      try writeStagedGroupAndCensus()
      try engine.commit()
    }
    noteStagedCommitted()
  }

  /// Writes the rest of the staged parts, so that only the commit of the engine is left to do.
  ///
  /// The journals of several shards are committed together: `writeStagedWithoutCommit` of each, one commit, then
  /// `noteStagedCommitted` of each, or `discardStaged`.
  package func writeStagedWithoutCommit() throws(JournalError) {
    try rollingBackOnError { () throws(JournalError) in try writeStagedGroupAndCensus() }
  }

  private func writeStagedGroupAndCensus() throws(JournalError) {
    try storeStagedGroup()
    // No gap in a sequence shows that a snapshot is lost: the census, stored with them, does.
    if batch.hasSnapshots { try metadata.write(census.draft) }
  }

  /// Notes that the engine has committed the staged parts.
  package func noteStagedCommitted() {
    isStaging = false
    census.stored = census.draft
    witness?.acknowledge(lastSequence)
    for record in batch.records { ledger.add(record) }
  }

  package func discardStaged() {
    guard isStaging else { return }
    engine.rollBack()
    isStaging = false
  }

  /// Stores the collected rows as a group, if there are any, and begins the next group.
  private func storeStagedGroup() throws(JournalError) {
    guard batch.group.records > 0 else { return }
    let checksum = batch.group.checksum
    census.draft.lastSequence = batch.group.last
    census.draft.count(rows: batch.group.records, checksum: checksum)
    try store(batch.group, checksum, replacing: false)
    batch.group.begin(batch.group.last + 1)
  }

  func store(
    _ group: borrowing RowGroup, _ checksum: UInt64, replacing: Bool
  ) throws(JournalError) {
    try engine.store(
      StoredGroup(first: group.first, last: group.last, checksum: checksum),
      group.heads, group.bodies, replacing: replacing)
  }

  private func insert(_ snapshot: SnapshotRow) throws(JournalError) {
    let last = ledger.entry(snapshot.nav)?.snapshots.last
    precondition(snapshot.revision >= last?.revision ?? 0, "snapshot \(snapshot.revision) too old")
    let checksum = snapshot.checksum
    if let replaced = batch.replacedChecksum(by: snapshot) ?? last?.checksum(of: snapshot) {
      census.draft.discount(snapshotChecksum: replaced)
    }
    census.draft.count(snapshotChecksum: checksum)
    try engine.insert(snapshot, checksum: checksum)
    batch.hasSnapshots = true
    batch.records.append(
      .snapshot(nav: snapshot.nav, LedgerEntry.Snapshot(snapshot, checksum: checksum)))
  }

  /// Runs `body` in one transaction; rolls the transaction back after any error.
  func transaction(_ body: () throws(JournalError) -> Void) throws(JournalError) {
    precondition(!isStaging, "a transaction inside a staged batch")
    try rollingBackOnError { () throws(JournalError) in
      try engine.begin()
      try body()
      try engine.commit()
    }
  }

  /// Runs a part of a transaction; rolls the whole transaction back after any error.
  private func rollingBackOnError(_ body: () throws(JournalError) -> Void) throws(JournalError) {
    do throws(JournalError) {
      try rememberingSyncFailure(body)
    } catch {
      engine.rollBack()
      isStaging = false
      throw error
    }
  }

  /// Runs a part of a commit or of maintenance; after a failed sync, every part fails.
  func rememberingSyncFailure<Result>(
    _ body: () throws(JournalError) -> Result
  ) throws(JournalError) -> Result {
    if let syncFailure { throw syncFailure }
    do throws(JournalError) {
      return try body()
    } catch {
      if case .syncFailed = error { syncFailure = error }
      throw error
    }
  }
}

/// A row or snapshot of a batch, without its body.
enum StagedRecord {
  case row(RowSummary)
  case snapshot(nav: UInt64, LedgerEntry.Snapshot)
}

/// The batch that is being written.
struct StagedBatch: ~Copyable {
  /// The rows that are not in the database yet; while pruning, the rows of a group that stay.
  var group = RowGroup()
  /// The records to add to the ledger once the batch is committed.
  var records: [StagedRecord] = []
  /// Whether the batch has snapshots, so that the census must be stored with it.
  var hasSnapshots = false
  /// Whether the first row may have a higher number than the next one, because rows were lost.
  private var mayLackRows = false

  /// Begins an empty batch; `sequence` is the number of its first row.
  mutating func begin(_ sequence: UInt64, mayLackRows: Bool) {
    self.mayLackRows = mayLackRows
    group.begin(sequence)
    records.removeAll(keepingCapacity: true)
    hasSnapshots = false
  }

  /// The checksum of a snapshot in the batch that a new one replaces; nil if there is none.
  func replacedChecksum(by new: SnapshotRow) -> UInt64? {
    guard hasSnapshots else { return nil }
    for case .snapshot(new.nav, let snapshot) in records.reversed() {
      if let checksum = snapshot.checksum(of: new) { return checksum }
    }
    return nil
  }

  /// Collects the rows from `next` up to `end`, or until the group is full.
  ///
  /// `next` is then the first row that was not collected.
  mutating func collectRows(_ part: borrowing JournalRecords, _ next: inout Int, to end: Int) {
    // A span lends the rows; a subscript of the array would copy them.
    let rows = part.rows.span
    while next < end {
      let body = part.body(of: next)
      if group.isFull(for: body.count) { break }
      let (expected, found) = (group.last + 1, rows[next].header.sequence)
      precondition(
        found == expected || mayLackRows && found > expected,
        "sequence \(found) where \(expected) is next")
      mayLackRows = false
      let note = group.append(rows[next].header, part.bodies.span.extracting(body))
      records.append(.row(note))
      next += 1
    }
  }
}

// Syncs and checkpoints.

extension Journal {
  /// Makes everything committed durable, also in mode `relaxed`.
  package func syncNow() throws(JournalError) {
    try rememberingSyncFailure { () throws(JournalError) in try engine.syncNow() }
  }

  /// Writes the pages of the log into the file and syncs it: some milliseconds for 1,000 pages.
  ///
  /// If a reader is at work, some pages may stay for the next call.
  package func checkpoint() throws(JournalError) {
    try checkpoint(emptyingLog: false, minimumLogPages: UInt64(engine.walPages))
  }

  /// Checkpoints the log; stores that the next start must find `pages` pages or more, nil for any.
  func checkpoint(emptyingLog: Bool, minimumLogPages pages: UInt64?) throws(JournalError) {
    precondition(isReplayed, "checkpoint before replay")
    try rememberingSyncFailure { () throws(JournalError) in
      try engine.checkpoint(emptyingLog: emptyingLog) { () throws(JournalError) in
        try writeCensusAndAges(census.stored)
        try metadata.write(minimumLogPages: pages)
      }
    }
  }

  /// Closes the journal; the caller may call no method afterwards.
  package func close() throws(JournalError) {
    var isCheckpointed = false
    // SQLite must not move rows at close, unless a census that covers them is stored.
    defer { engine.close(isCheckpointed: isCheckpointed) }
    guard isReplayed else { return }
    // SQLite would remove the log of another journal in its place.
    if let problem { throw problem }
    try syncNow()
    try checkpoint(emptyingLog: true, minimumLogPages: nil)
    isCheckpointed = true
  }
}
