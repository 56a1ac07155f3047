package import NavigationCore

/// The journal: an SQLite database with the rows in the order of their sequence, and with
/// snapshots.
///
/// Rows that are committed together are stored in groups. A group is one row of the database.
///
/// One thread at a time uses it. The caller calls `open`, then `replay` once, then `commit`, with
/// `checkpoint` and `maintain` in quiet moments, and at last `close`. If `commit` returns, its
/// records are stored. If it throws, none of them is, except after `.syncFailed`, when this is
/// unknown.
package final class Journal {
  /// The name of the journal's file in its directory.
  package static let fileName = "journal.sqlite"

  /// The directory of the journal.
  package let directory: String
  /// Whether acknowledged rows may be missing, so that every nav needs a new epoch.
  ///
  /// It stays true, and every commit is synced, until `epochsRenewed()`.
  package internal(set) var mustRenewEpochs: Bool

  let database: Database
  let metadata: Metadata
  let durability: Durability
  /// The kernel's id of this boot, as the caller passed it.
  package let bootID: String
  /// The rules by which history is kept; a change counts from the next `maintain` on.
  package var retention: Retention
  let insertGroup: Statement
  let insertSnapshot: Statement
  let selectSnapshotChecksum: Statement
  let selectGroup: Statement
  let replaceGroup: Statement
  let deleteGroup: Statement
  let deleteSnapshot: Statement
  let beginStatement: Statement
  let commitStatement: Statement
  var lock: DirectoryLock?
  var ledger = Ledger()
  var closing: [UInt64] = []
  var state: SyncState
  var pruning = Pruning()
  var isSynchronous = true
  var reserve: LogReserve
  var isReplayed = false
  var poison: JournalError?
  var commits: UInt64 = 0
  /// The census of the stored records, and the census after the open transaction commits.
  var census = (stored: Census(), draft: Census())
  /// Whether a batch is partly written.
  var isStaging = false
  var batch = StagedBatch()

  /// Locks the directory, makes an empty journal if there is none, and checks the format.
  ///
  /// `bootID` is the kernel's id of this boot. `holder` names this process in the error of another
  /// process that finds the lock, such as `navd serving ipc:///…`.
  package static func open(
    directory: String, durability: Durability, bootID: String, retention: Retention, holder: String
  ) throws(JournalError) -> Journal {
    let lock = try DirectoryLock(directory: directory, holder: holder)
    try prepareFile(directory)
    return try Journal(directory, durability, bootID, retention, lock)
  }

  private init(
    _ directory: String, _ durability: Durability, _ bootID: String, _ retention: Retention,
    _ lock: consuming DirectoryLock
  ) throws(JournalError) {
    self.directory = directory
    self.durability = durability
    self.bootID = bootID
    self.retention = retention
    let path = directory + "/" + Self.fileName
    reserve = LogReserve(path: path + "-wal")
    let logDamage = try LogScan.damage(path: path + "-wal")
    database = try Database(path: path)
    try Schema.verify(database)
    try database.execute("PRAGMA cell_size_check=ON; PRAGMA synchronous=FULL", .opening)
    // Exclusive locking mode measured the same (173 against 177 µs for a synced commit), and would
    // keep readers out.
    try database.execute("PRAGMA journal_mode=WAL; PRAGMA cache_size=-8192", .opening)
    // Fails now if the file cannot be written, instead of at the first operation.
    try database.execute("BEGIN IMMEDIATE; ROLLBACK", .opening)
    guard !database.isReadOnly else {
      throw .unwritable(path: path, reason: "it, or its own header, allows reading only")
    }
    metadata = try Metadata(database)
    insertGroup = try database.prepare(
      "INSERT INTO log(\(Schema.groupColumns)) VALUES(?1, ?2, ?3, ?4, ?5, ?6)")
    insertSnapshot = try database.prepare(
      "INSERT OR REPLACE INTO snapshot(\(Schema.snapshotColumns)) VALUES(?1, ?2, ?3, ?4, ?5, ?6)")
    selectSnapshotChecksum = try database.prepare(
      "SELECT sum FROM snapshot WHERE nav = ?1 AND rev = ?2")
    selectGroup = try database.prepare(Schema.selectGroup)
    replaceGroup = try database.prepare(
      "UPDATE log SET last = ?2, size = ?3, sum = ?4, heads = ?5, bodies = ?6 WHERE seq = ?1")
    deleteGroup = try database.prepare("DELETE FROM log WHERE seq = ?1")
    deleteSnapshot = try database.prepare("DELETE FROM snapshot WHERE nav = ?1 AND rev = ?2")
    beginStatement = try database.prepare("BEGIN IMMEDIATE")
    commitStatement = try database.prepare("COMMIT")
    state = try metadata.state()
    closing = try metadata.closing()
    mustRenewEpochs = state != .clean && state != .dirty(bootID: bootID)
    self.lock = consume lock
    // After unsynced commits were lost, any part of the log may be missing, so its damage is no
    // error.
    if let logDamage, !mustRenewEpochs { throw .damaged(path: path, what: logDamage) }
  }

  /// The sequence of the newest row; 0 if there never was one.
  package var lastSequence: UInt64 { census.stored.through }

  /// The number of pages in the write-ahead log after the last commit.
  ///
  /// The caller makes a `checkpoint` when it exceeds a limit.
  package var walPages: Int { database.walPages }

  /// The lowest revision of a nav that can be rebuilt; 0 if the history is complete.
  package func floor(of nav: UInt64) -> UInt64 { ledger.entry(nav)?.floor ?? 0 }

  /// Makes the file if there is none, so that a power failure leaves no file or a complete one.
  private static func prepareFile(_ directory: String) throws(JournalError) {
    _ = try JournalRestoration.complete(in: directory)
    let path = directory + "/" + fileName
    if try exists(path) { return }
    guard try !exists(path + "-wal") else {
      throw .damaged(path: path, what: "it is missing, but its write-ahead log is there")
    }
    let draft = path + ".new"
    try removeFile(draft)
    try removeFile(draft + "-journal")
    try createPrivateFile(draft)
    try Schema.create(at: draft)
    try renameFile(draft, path)
    try DirectoryLock.sync(directory: directory)
  }
}

// Commits.

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
      try undoingOnError { () throws(JournalError) in try beginStatement.run() }
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
      try commitStatement.run()
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
      try beginStatement.run()
      try body()
      try commitStatement.run()
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
    // A span lends the rows; a subscript of the array would copy them.
    let rows = part.rows.span
    while next < end {
      let body = part.body(of: next)
      if group.isFull(for: body.count) { break }
      let (expected, found) = (group.last + 1, rows[next].header.sequence)
      precondition(found == expected, "sequence \(found) where \(expected) is next")
      let note = group.append(rows[next].header, part.bodies.span.extracting(body))
      records.append(.row(note))
      next += 1
    }
  }
}

// Syncs and checkpoints.

extension Journal {
  /// Prepares a commit that is not synced in mode `relaxed`.
  ///
  /// Before the first one, it stores durably that some commits are not synced.
  func prepareUnsynced() throws(JournalError) {
    // While `mustRenewEpochs` is true, the stored state stays and commits are synced.
    guard durability == .relaxed, !mustRenewEpochs else { return try setSynchronous(true) }
    let dirty = SyncState.dirty(bootID: bootID)
    if state != dirty { try store(dirty) }
    try setSynchronous(false)
  }

  /// Notes that the new epochs, which `mustRenewEpochs` asked for, are committed.
  package func epochsRenewed() throws(JournalError) {
    guard mustRenewEpochs else { return }
    try store(.clean)
    mustRenewEpochs = false
  }

  /// Stores durably that every nav needs a new epoch at the next start.
  ///
  /// After that, the caller may only call `close`.
  package func renewEpochsAtNextStart() throws(JournalError) {
    try store(Self.restored)
    mustRenewEpochs = true
  }

  /// Whether `mustRenewEpochs` is true because the journal was restored from a backup.
  package var isRestored: Bool { mustRenewEpochs && state == Self.restored }

  /// The state that a restoration stores: dirty, with an id that no boot has.
  private static let restored = SyncState.dirty(bootID: "")

  /// Makes everything committed durable, also in mode `relaxed`.
  package func syncNow() throws(JournalError) {
    if let poison { throw poison }
    guard !mustRenewEpochs, state != .clean else { return }
    try store(.clean)
  }

  /// Moves rows from the write-ahead log into the file; callers do this in quiet moments.
  ///
  /// It writes and syncs the file, which takes some milliseconds for 1,000 pages. If a reader is at
  /// work, some pages may stay for the next call.
  package func checkpoint() throws(JournalError) {
    try checkpoint(emptying: false)
  }

  func checkpoint(emptying: Bool) throws(JournalError) {
    precondition(isReplayed, "checkpoint before replay")
    try transaction { () throws(JournalError) in try metadata.write(census.stored) }
    do throws(JournalError) {
      let (pages, moved) = try database.checkpoint(emptying: emptying)
      if moved >= pages { database.walPages = 0 }
      if emptying { reserve.forget() }
    } catch {
      if case .syncFailed = error { poison = error }
      throw error
    }
  }

  /// Syncs everything, stores that the journal is clean, and releases the lock.
  ///
  /// No other method may be called afterwards.
  package func close() throws(JournalError) {
    var isTidy = false
    defer {
      // SQLite must not move rows at close, unless a census that covers them is stored.
      database.close(tidy: isTidy)
      lock = nil
    }
    if let poison { throw poison }
    guard isReplayed else { return }
    try setSynchronous(true)
    try syncNow()
    try checkpoint(emptying: true)
    isTidy = true
  }

  /// Stores the state in a synced commit, which also syncs everything committed before.
  private func store(_ new: SyncState) throws(JournalError) {
    try setSynchronous(true)
    try transaction { () throws(JournalError) in try metadata.write(new) }
    state = new
  }

  func setSynchronous(_ on: Bool) throws(JournalError) {
    guard on != isSynchronous else { return }
    try database.execute("PRAGMA synchronous=\(on ? "FULL" : "NORMAL")", .writing)
    isSynchronous = on
  }
}
