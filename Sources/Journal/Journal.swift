import NavigationCore

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
  let begin: Statement
  let end: Statement
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
    begin = try database.prepare("BEGIN IMMEDIATE")
    end = try database.prepare("COMMIT")
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
