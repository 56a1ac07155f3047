import NavigationProtocol

/// The daemon's memory: rows in the order of their sequence, and snapshots beside them.
///
/// Rows that are committed together lie in groups, each of which is one row of the database.
///
/// One thread owns it. The order of use is `open`, `replay` once, then `commit` with `checkpoint`
/// and `maintain` in quiet moments, and `close`. What `commit` returns from is stored; what it
/// throws from is not there, except after `.syncFailed`, when nobody knows.
package final class Journal {
  /// The file in the directory.
  package static let fileName = "journal.sqlite"

  /// The directory that was opened.
  package let directory: String
  /// Whether acknowledged rows may be missing, so that every nav needs a new epoch.
  ///
  /// Stays `true`, and every commit stays synced, until `epochsRenewed()`.
  package internal(set) var mustRenewEpochs: Bool

  let database: Database
  let metadata: Metadata
  let durability: Durability
  /// The kernel's id of this boot, as it was handed in.
  package let bootID: String
  /// How much history is kept; a change counts from the next `maintain` on.
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
  var isReplayed = false
  var poison: JournalError?
  var commits: UInt64 = 0
  /// The census of what is stored, and of what will be once the open transaction is committed.
  var census = (stored: Census(), draft: Census())
  /// Whether a batch is being written.
  var isStaging = false
  var batch = StagedBatch()

  /// Locks the directory, makes an empty journal if there is none, and checks that it is ours.
  ///
  /// `bootID` is the kernel's id of this boot; `holder` is what the next one who tries is told,
  /// such as `navd serving ipc:///…`.
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
    let logDamage = try LogScan.damage(path: path + "-wal")
    database = try Database(path: path)
    try Schema.verify(database)
    try database.execute("PRAGMA cell_size_check=ON; PRAGMA synchronous=FULL", .opening)
    // An exclusive locking mode measured the same (173 against 177 µs for a synced commit), and
    // would keep readers out.
    try database.execute("PRAGMA journal_mode=WAL; PRAGMA cache_size=-8192", .opening)
    // A file that cannot be written is found out now, not at the first operation.
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
    // After a loss that was foreseen, any part of the log may be missing.
    if let logDamage, !mustRenewEpochs { throw .damaged(path: path, what: logDamage) }
  }

  /// The sequence of the last row, 0 when there never was one.
  package var lastSequence: UInt64 { census.stored.through }

  /// Pages in the write-ahead log after the last commit; a bound on it says when to `checkpoint`.
  package var walPages: Int { database.walPages }

  /// The revision below which a nav's history cannot be rebuilt, 0 when it is complete.
  package func floor(of nav: UInt64) -> UInt64 { ledger.entry(nav)?.floor ?? 0 }

  /// Makes the file if there is none, so that a power cut leaves none or a whole one.
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
  /// Before the first commit that is not synced, notes durably that there are such.
  func prepareUnsynced() throws(JournalError) {
    // While epochs must be renewed the note of the lost boot stays, and commits are synced.
    guard durability == .relaxed, !mustRenewEpochs else { return try setSynchronous(true) }
    let dirty = SyncState.dirty(bootID: bootID)
    if state != dirty { try store(dirty) }
    try setSynchronous(false)
  }

  /// Tells the journal that the new epochs, which `mustRenewEpochs` asked for, are committed.
  package func epochsRenewed() throws(JournalError) {
    guard mustRenewEpochs else { return }
    try store(.clean)
    mustRenewEpochs = false
  }

  /// Notes durably that every nav needs a new epoch at the next start; nothing may be committed
  /// behind it but `close`.
  package func renewEpochsAtNextStart() throws(JournalError) {
    try store(Self.restored)
    mustRenewEpochs = true
  }

  /// Whether `mustRenewEpochs` because the journal was restored from a backup.
  package var isRestored: Bool { mustRenewEpochs && state == Self.restored }

  /// The state with the id of no boot.
  private static let restored = SyncState.dirty(bootID: "")

  /// Makes everything committed durable, in mode `relaxed` too.
  package func syncNow() throws(JournalError) {
    if let poison { throw poison }
    guard !mustRenewEpochs, state != .clean else { return }
    try store(.clean)
  }

  /// Moves rows from the write-ahead log into the file; to be called off the commit path.
  ///
  /// It writes and syncs the file, so it takes some milliseconds per thousand pages. A reader at
  /// work may leave a part for the next call.
  package func checkpoint() throws(JournalError) {
    try checkpoint(emptying: false)
  }

  func checkpoint(emptying: Bool) throws(JournalError) {
    precondition(isReplayed, "checkpoint before replay")
    try transaction { () throws(JournalError) in try metadata.write(census.stored) }
    do throws(JournalError) {
      let (pages, moved) = try database.checkpoint(emptying: emptying)
      if moved >= pages { database.walPages = 0 }
    } catch {
      if case .syncFailed = error { poison = error }
      throw error
    }
  }

  /// Syncs everything, notes that all is clean, and gives up the lock; nothing may be called after.
  package func close() throws(JournalError) {
    var isTidy = false
    defer {
      // Without a census of what it moves, SQLite must not move anything as it closes.
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

  /// Notes the state in a synced commit, which syncs everything written before it too.
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
