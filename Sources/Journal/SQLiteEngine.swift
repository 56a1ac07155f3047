import NavigationCore
import NavigationHub

/// A journal in an SQLite file of a directory, which one process at a time has locked.
///
/// With durability `relaxed`, commits are not synced. Before the first one, the engine stores durably
/// that some are not, and in which boot of the machine. If the next process finds another boot, rows
/// may be missing, and every nav needs a new epoch.
final class SQLiteEngine: JournalEngine {
  /// Why acknowledged rows may be lost, so that every commit is synced; nil if none can be.
  private(set) var rowLoss: HistoryLoss?

  let database: Database
  private let facts: FactTable
  private let durability: Durability
  private let bootID: String
  private let insertGroup: Statement
  private let replaceGroup: Statement
  private let deleteGroup: Statement
  private let selectGroup: Statement
  private let insertSnapshot: Statement
  private let deleteSnapshot: Statement
  private let beginStatement: Statement
  private let commitStatement: Statement
  private var lock: DirectoryLock?
  private var syncState: SyncState
  private var isSynchronous = true
  private var logReserve: LogReserve
  private let fileWatch: JournalFileWatch

  /// Locks the directory, which it makes if there is none, makes an empty journal if there is none,
  /// and checks the format.
  ///
  /// Throws `.newer` or `.older` before it changes the directory, `.locked` if another process has
  /// the lock, or else the reason why it cannot use the file.
  init(
    directory: String, durability: Durability, bootID: String, holder: String
  ) throws(JournalError) {
    let path = directory + "/" + Journal.fileName
    for file in [directory, directory + "/lock", path, path + "-wal"] {
      try checkOwner(file, in: directory)
    }
    try MigrationPlan.checkFormat(directory: directory)
    let lock = try DirectoryLock(directory: directory, holder: holder)
    try Self.prepareFile(directory, path)
    self.durability = durability
    self.bootID = bootID
    logReserve = LogReserve(path: path + "-wal")
    let logBytes = try fileSize(path + "-wal")
    let logDamage = try LogScan.damage(path: path + "-wal")
    let isFrozen = isOnReadOnlySystem(path)
    database = try Database(path: path, frozen: isFrozen)
    try Schema.verify(database)
    try database.execute("PRAGMA cell_size_check=ON; PRAGMA synchronous=FULL", .opening)
    // Exclusive locking mode measured the same (173 against 177 µs for a synced commit), and would
    // keep readers out.
    try database.execute("PRAGMA journal_mode=WAL", .opening)
    // Fails now if the file cannot be written, instead of at the first operation.
    if !isFrozen { try database.execute("BEGIN IMMEDIATE; ROLLBACK", .opening) }
    // SQLite has just made the log, and perhaps navd the journal. SQLite forgoes the sync of the
    // log's name if it cannot open the directory.
    if !isFrozen, logBytes == nil { try syncFile(directory) }
    guard !database.isReadOnly || isFrozen else {
      throw .unwritable(path: path, reason: "it, or its own header, allows reading only")
    }
    facts = try FactTable(database)
    insertGroup = try database.prepare(
      "INSERT INTO log(\(StoredGroup.columns)) VALUES(?1, ?2, ?3, ?4, ?5)")
    insertSnapshot = try database.prepare(
      "INSERT OR REPLACE INTO snapshot(\(SnapshotRow.columns)) VALUES(?1, ?2, ?3, ?4, ?5, ?6)")
    selectGroup = try database.prepare(Schema.selectGroup)
    replaceGroup = try database.prepare(
      "UPDATE log SET last = ?2, sum = ?3, heads = ?4, bodies = ?5 WHERE seq = ?1")
    deleteGroup = try database.prepare("DELETE FROM log WHERE seq = ?1")
    deleteSnapshot = try database.prepare("DELETE FROM snapshot WHERE nav = ?1 AND rev = ?2")
    beginStatement = try database.prepare("BEGIN IMMEDIATE")
    commitStatement = try database.prepare("COMMIT")
    syncState = try Metadata(facts).state()
    let isWhole = syncState == .clean || syncState == .dirty(bootID: bootID)
    rowLoss = isWhole ? nil : syncState == Self.restoredState ? .backup : .crash
    fileWatch = JournalFileWatch(directory: directory, database: path, isReadOnly: isFrozen)
    self.lock = consume lock
    // After unsynced commits were lost, any part of the log may be missing, so its damage is no
    // error.
    if let logDamage, rowLoss == nil { throw .damaged(path: path, what: logDamage) }
    guard let pages = try Metadata(facts).minimumLogPages(), rowLoss == nil else { return }
    guard logBytes ?? -1 < Int(pages) * LogScan.frameBytes else { return }
    // The one that SQLite has just made would look right to the next start.
    if logBytes == nil { try unlinkFile(path + "-wal") }
    throw .damaged(path: path, what: "its write-ahead log is missing, or cut short")
  }

  /// Whether the journal was opened on a read-only file system, so that the engine only reads.
  var isMountedReadOnly: Bool { fileWatch.isReadOnly }
  var shard: Shard { .first }
  var problem: JournalError? { fileWatch.problem }

  var name: String { database.path }

  /// Makes the file if there is none, so that a power failure leaves no file or a complete one.
  private static func prepareFile(_ directory: String, _ path: String) throws(JournalError) {
    _ = try JournalRestoration.completeReplacement(in: directory)
    if try exists(path) { return }
    guard try !exists(path + "-wal") else {
      throw .damaged(path: path, what: "it is missing, but its write-ahead log is there")
    }
    let draft = path + ".new"
    try unlinkFile(draft)
    try unlinkFile(draft + "-journal")
    try createPrivateFile(draft)
    try Schema.create(at: draft)
    try renameFile(draft, path)
  }

  // Reading.

  func fact(_ key: JournalFact) throws(JournalError) -> [UInt8]? { try facts.fact(key) }

  func newestSequence() throws(JournalError) -> UInt64 {
    let select = try database.prepare("SELECT last FROM log ORDER BY seq DESC LIMIT 1")
    defer { select.reset() }
    guard try select.step(.reading) else { return 0 }
    return select.unsigned(0) ?? 0
  }

  func readSnapshots(
    _ consume: (SnapshotRow) throws(JournalError) -> Void
  ) throws(JournalError) {
    let select = try database.prepare(
      "SELECT \(SnapshotRow.columns) FROM snapshot ORDER BY nav, rev")
    defer { select.reset() }
    while try select.step(.reading) { try consume(select.readCurrentSnapshot(name)) }
  }

  func readGroups(_ consume: GroupConsumer) throws(JournalError) {
    let select = try database.prepare("SELECT \(StoredGroup.columns) FROM log ORDER BY seq")
    defer { select.reset() }
    while try select.step(.reading) { try select.readCurrentGroup(name, consume) }
  }

  func readGroup(from sequence: UInt64, _ consume: GroupConsumer) throws(JournalError) -> Bool {
    try selectGroup.readGroup(from: sequence, name, consume)
  }

  // One transaction.

  func begin() throws(JournalError) {
    try prepareRelaxedCommit()
    try beginStatement.run()
  }

  func store(
    _ group: StoredGroup, _ heads: Span<UInt8>, _ bodies: Span<UInt8>, replacing: Bool
  ) throws(JournalError) {
    let statement = replacing ? replaceGroup : insertGroup
    statement.bind(1, group.first)
    statement.bind(2, group.last)
    statement.bind(3, group.checksum)
    try statement.run(4, heads, 5, bodies)
  }

  func deleteGroup(_ first: UInt64) throws(JournalError) {
    deleteGroup.bind(1, first)
    try deleteGroup.run()
  }

  func insert(_ snapshot: SnapshotRow, checksum: UInt64) throws(JournalError) {
    insertSnapshot.bind(1, snapshot.nav)
    insertSnapshot.bind(2, snapshot.revision)
    insertSnapshot.bind(3, snapshot.sequence)
    insertSnapshot.bind(4, snapshot.time)
    insertSnapshot.bind(5, checksum)
    try insertSnapshot.run(6, snapshot.body.span)
  }

  func deleteSnapshot(nav: UInt64, revision: UInt64) throws(JournalError) {
    deleteSnapshot.bind(1, nav)
    deleteSnapshot.bind(2, revision)
    try deleteSnapshot.run()
  }

  func store(_ key: JournalFact, _ bytes: [UInt8]) throws(JournalError) {
    try facts.store(key, bytes)
  }

  func commit() throws(JournalError) {
    try commitStatement.run()
    if isSynchronous { logReserve.extend(pages: walPages) }
  }

  func rollBack() { database.rollBack() }

  /// Runs `body` in a transaction, whatever the durability.
  private func transaction(_ body: () throws(JournalError) -> Void) throws(JournalError) {
    do throws(JournalError) {
      try beginStatement.run()
      try body()
      try commitStatement.run()
    } catch {
      database.rollBack()
      throw error
    }
  }

  // Syncs.

  /// The state that a restoration stores: dirty, with an id that no boot has.
  private static let restoredState = SyncState.dirty(bootID: "")

  func skip(to lastSequence: UInt64) {}

  func epochsRenewed() throws(JournalError) {
    guard rowLoss != nil else { return }
    try store(.clean)
    rowLoss = nil
  }

  func renewEpochsAtNextStart() throws(JournalError) {
    try store(Self.restoredState)
    rowLoss = .backup
  }

  func syncNow() throws(JournalError) {
    guard rowLoss == nil, syncState != .clean else { return }
    try store(.clean)
  }

  /// Turns syncs off in mode `relaxed`; before that, stores durably that some commits are unsynced.
  private func prepareRelaxedCommit() throws(JournalError) {
    // While rows may be lost, the stored state stays and commits are synced.
    guard durability == .relaxed, rowLoss == nil else { return try setSynchronous(true) }
    let dirty = SyncState.dirty(bootID: bootID)
    if syncState != dirty { try store(dirty) }
    try setSynchronous(false)
  }

  /// Stores the state in a synced commit, which also syncs everything committed before.
  private func store(_ new: SyncState) throws(JournalError) {
    try setSynchronous(true)
    try transaction { () throws(JournalError) in try Metadata(facts).write(new) }
    syncState = new
  }

  private func setSynchronous(_ on: Bool) throws(JournalError) {
    guard on != isSynchronous else { return }
    try database.execute("PRAGMA synchronous=\(on ? "FULL" : "NORMAL")", .writing)
    isSynchronous = on
  }

  // Upkeep.

  /// The lease, which is nil: the lock of the directory ends with the process.
  var lease: JournalLease? { nil }

  var walPages: Int { database.walPages }

  func checkpoint(
    emptyingLog: Bool, _ write: () throws(JournalError) -> Void
  ) throws(JournalError) {
    try transaction(write)
    let (pages, moved) = try database.checkpoint(emptyingLog: emptyingLog)
    if moved >= pages { database.walPages = 0 }
    if emptyingLog { logReserve.noteTruncation() }
  }

  /// Returns up to 64 free pages to the file system, if more than a quarter of the file is free.
  func vacuumSlice() throws(JournalError) -> Int {
    let free = try database.integer("PRAGMA freelist_count")
    guard free > 256, try free > database.integer("PRAGMA page_count") / 4 else { return 0 }
    try prepareRelaxedCommit()
    try database.execute("PRAGMA incremental_vacuum(64)", .writing)
    return try Int(free - database.integer("PRAGMA freelist_count"))
  }

  var fileSizes: (journal: Int, log: Int) {
    let sizes = [name, name + "-wal"].map { path in
      do throws(JournalError) { return try fileSize(path) ?? 0 } catch { return 0 }
    }
    return (sizes[0], sizes[1])
  }

  func close(isCheckpointed: Bool) {
    database.close(removingLog: isCheckpointed)
    lock = nil
  }
}

struct FactTable: JournalFacts {
  let name: String
  private let select: Statement
  private let replace: Statement
  private let storeAction: DatabaseAction

  /// Prepares the statements; `action` decides which error a failed `store` throws.
  init(_ database: Database, action: DatabaseAction = .writing) throws(JournalError) {
    name = database.path
    storeAction = action
    let cases = JournalFact.allCases.map { "WHEN \($0.rawValue) THEN '\($0.key)'" }
    let key = "CASE ?1 \(cases.joined(separator: " ")) END"
    select = try database.prepare("SELECT value FROM meta WHERE key = \(key)")
    replace = try database.prepare("INSERT OR REPLACE INTO meta(key, value) VALUES(\(key), ?2)")
  }

  func fact(_ key: JournalFact) throws(JournalError) -> [UInt8]? {
    defer { select.reset() }
    select.bind(1, key.rawValue)
    guard try select.step(.opening) else { return nil }
    // A value of another type has no checksum.
    return select.bytes(0) ?? []
  }

  func store(_ key: JournalFact, _ bytes: [UInt8]) throws(JournalError) {
    replace.bind(1, key.rawValue)
    try replace.run(2, bytes.span, storeAction)
  }
}

extension Statement {
  /// Reads the group that covers a sequence, or else the next one, by `Schema.selectGroup`.
  func readGroup(
    from sequence: UInt64, _ path: String, _ consume: GroupConsumer
  ) throws(JournalError) -> Bool {
    guard Int64(exactly: sequence) != nil else { return false }
    bind(1, sequence)
    defer { reset() }
    guard try step(.reading) else { return false }
    try readCurrentGroup(path, consume)
    return true
  }
}
