import CJournal
import Glibc
import RuntimePaths

/// The action during which SQLite reported an error; the same code means different things in each.
enum DatabaseAction {
  case opening
  case reading
  case writing
}

/// A connection to an SQLite file, with the statements prepared on it.
///
/// It is not `Sendable`: SQLite's mutex is off, so one thread at a time uses it.
@safe final class Database {
  let path: String
  private var handle: OpaquePointer?
  private var statements: [Statement] = []
  /// The number of pages in the write-ahead log after the last commit; SQLite's hook writes it.
  private let walPageCounter: UnsafeMutablePointer<Int32>

  /// Makes SQLite distinguish failed reads, and a quota that is used up, from other errors; runs once in
  /// the process.
  private static let distinguishErrors: Void = {
    let isInstalled = navd_sqlite3_distinguish_errors()
    assert(isInstalled != 0, "SQLite has no system calls for reads and writes")
  }()

  /// Opens an existing file; with `creating`, makes the file if there is none.
  ///
  /// With `frozen`, nobody can write to the file, because its file system is read-only.
  init(
    path: String, creating: Bool = false, readOnly: Bool = false, frozen: Bool = false
  ) throws(JournalError) {
    self.path = path
    Self.distinguishErrors
    unsafe walPageCounter = .allocate(capacity: 1)
    unsafe walPageCounter.initialize(to: 0)
    var flags = readOnly || frozen ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE
    flags |= SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    if creating { flags |= SQLITE_OPEN_CREATE }
    // The index of the write-ahead log is then in memory that all connections of this process share:
    // a full disk has no room for a file. It keeps other processes out, as `DirectoryLock` does.
    var (name, system) = (path, "unix-excl")
    if frozen {
      // The lock of `unix-excl` needs a writable file. Without `immutable`, SQLite would create a log.
      system = "unix-none"
      if try !exists(path + "-wal") {
        flags |= SQLITE_OPEN_URI
        name = "file:\(percentEncoded(path, keeping: "/"))?immutable=1"
      }
    }
    let code = unsafe sqlite3_open_v2(name, &handle, flags, system)
    guard code == SQLITE_OK else { throw failure(code, .opening) }
    if frozen { try execute("PRAGMA locking_mode=EXCLUSIVE", .opening) }
    // SQLite makes no checkpoint by itself, neither at close nor in a commit. Such a checkpoint
    // would move rows into the file that no census covers.
    unsafe sqlite3_busy_timeout(handle, 500)
    unsafe navd_sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    unsafe navd_sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1)
    unsafe sqlite3_wal_hook(
      handle,
      { context, _, _, pages in
        unsafe context?.assumingMemoryBound(to: Int32.self).pointee = pages
        return SQLITE_OK
      }, walPageCounter)
  }

  deinit {
    close()
    unsafe walPageCounter.deallocate()
  }

  var walPages: Int {
    get { Int(unsafe walPageCounter.pointee) }
    set { unsafe walPageCounter.pointee = Int32(clamping: newValue) }
  }

  /// Whether SQLite can only read the file, because of its permissions or its header.
  var isReadOnly: Bool { unsafe sqlite3_db_readonly(handle, "main") == 1 }

  /// Prepares a statement, which lives until the connection is closed.
  func prepare(_ sql: String, _ action: DatabaseAction = .opening) throws(JournalError) -> Statement
  {
    var prepared: OpaquePointer?
    let code = unsafe sqlite3_prepare_v3(
      handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
    guard code == SQLITE_OK, let prepared = unsafe prepared else { throw failure(code, action) }
    let statement = unsafe Statement(prepared, path: path)
    statements.append(statement)
    return statement
  }

  /// Runs one or more SQL statements, and discards their rows.
  func execute(_ sql: String, _ action: DatabaseAction) throws(JournalError) {
    let code = unsafe sqlite3_exec(handle, sql, nil, nil, nil)
    guard code == SQLITE_OK else { throw failure(code, action) }
  }

  /// Runs one statement and returns the integer in its first column; 0 if it returns no row.
  func integer(_ sql: String, _ action: DatabaseAction = .reading) throws(JournalError) -> Int64 {
    let statement = try prepare(sql, action)
    defer {
      statement.finalize()
      statements.removeLast()
    }
    return try statement.step(action) ? statement.integer(0) ?? 0 : 0
  }

  /// Rolls a failed transaction back, unless SQLite has already done so.
  func rollBack() {
    guard unsafe handle != nil && sqlite3_get_autocommit(handle) == 0 else { return }
    unsafe sqlite3_exec(handle, "ROLLBACK", nil, nil, nil)
  }

  /// Moves pages from the write-ahead log into the file; returns the log's pages, and how many were
  /// moved.
  ///
  /// With `emptyingLog`, it also waits for readers, up to 500 ms, and truncates the log to 0 bytes.
  func checkpoint(emptyingLog: Bool) throws(JournalError) -> (logPages: Int, movedPages: Int) {
    var pages: Int32 = 0
    var moved: Int32 = 0
    let mode = emptyingLog ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE
    let code = unsafe sqlite3_wal_checkpoint_v2(handle, nil, mode, &pages, &moved)
    guard code == SQLITE_OK || code & 0xff == SQLITE_BUSY else { throw failure(code, .writing) }
    return (Int(pages), Int(moved))
  }

  /// Makes this empty database a copy of another one, as the open transaction of `source` sees it.
  ///
  /// Other connections may go on writing to `source`. `progress` gets the number of pages copied,
  /// and of all pages. After an error, the copy is incomplete.
  func copy(
    of source: Database, progress: (_ pagesDone: Int, _ totalPages: Int) -> Void
  ) throws(JournalError) {
    guard let backup = unsafe sqlite3_backup_init(handle, "main", source.handle, "main") else {
      throw failure(unsafe sqlite3_errcode(handle), .writing)
    }
    var code = SQLITE_OK
    // In steps of 256 pages, to report progress. The transaction of `source` makes the copy
    // consistent.
    while code == SQLITE_OK {
      code = unsafe sqlite3_backup_step(backup, Self.pagesPerBackupStep)
      let total = Int(unsafe sqlite3_backup_pagecount(backup))
      progress(total - Int(unsafe sqlite3_backup_remaining(backup)), total)
    }
    let end = unsafe sqlite3_backup_finish(backup)
    guard code == SQLITE_DONE, end == SQLITE_OK else {
      throw failure(code == SQLITE_DONE ? end : code, .writing)
    }
  }

  private static let pagesPerBackupStep: Int32 = 256

  /// Closes the connection; with `removingLog`, the last connection also removes the write-ahead log.
  func close(removingLog: Bool = false) {
    guard let open = unsafe handle else { return }
    for statement in statements { statement.finalize() }
    statements = []
    if removingLog { unsafe navd_sqlite3_db_config(open, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0) }
    unsafe sqlite3_close_v2(open)
    unsafe handle = nil
  }

  private func failure(_ code: Int32, _ action: DatabaseAction) -> JournalError {
    unsafe JournalError(code: code, connection: handle, path: path, action: action)
  }
}

extension JournalError {
  /// Translates an SQLite code, by the action during which it occurred.
  init(code: Int32, connection: OpaquePointer?, path: String, action: DatabaseAction) {
    let raised = unsafe sqlite3_system_errno(connection)
    let systemError = raised > navd_sqlite3_failed_read ? raised - navd_sqlite3_failed_read : raised
    var reason = unsafe String(cString: sqlite3_errstr(code))
    if unsafe connection != nil { reason = unsafe String(cString: sqlite3_errmsg(connection)) }
    let isInputOutput = [SQLITE_IOERR, SQLITE_CANTOPEN].contains(code & 0xff)
    if isInputOutput, systemError != 0 {
      reason += unsafe " (\(String(cString: strerror(systemError))), code \(code))"
    }

    switch (code & 0xff, action) {
    case (SQLITE_CORRUPT, _), (SQLITE_NOTADB, _):
      self = .damaged(path: path, what: reason)
    // SQLITE_IOERR_FSYNC and SQLITE_IOERR_DIR_FSYNC. Swift does not import these C expressions.
    case (SQLITE_IOERR, _) where [4, 5].contains(code >> 8):
      self = .syncFailed(path: path, reason: reason)
    case (SQLITE_FULL, _),
      (SQLITE_IOERR, _) where systemError == ENOSPC || systemError == EDQUOT,
      // SQLite first tries to make a missing log, then to read it, and reports the second error.
      (SQLITE_CANTOPEN, _) where systemError == ENOENT && hasNoFreeInode(beside: path):
      self = .full(path: path)
    // SQLITE_IOERR_WRITE, SQLITE_IOERR_TRUNCATE and SQLITE_IOERR_DELETE, also in a start.
    case (SQLITE_IOERR, _) where [3, 6, 10].contains(code >> 8):
      self = .writeFailed(path: path, reason: reason)
    case (SQLITE_READONLY, .opening), (SQLITE_READONLY, .reading):
      self = .unwritable(path: path, reason: reason)
    case (SQLITE_ERROR, .opening), (SQLITE_ERROR, .reading):
      // The statements are constants, so an error in one means that the schema is another.
      self = .damaged(path: path, what: reason)
    case (SQLITE_IOERR, .opening), (SQLITE_IOERR, .reading),
      (SQLITE_IOERR, _) where code == SQLITE_IOERR | (1 << 8):
      self = .readFailed(path: path, reason: reason)
    case (SQLITE_BUSY, .opening), (SQLITE_BUSY, .reading):
      self = .unusable(
        path: path, reason: "another program has it open",
        remedy: "end that program; to find it, type: fuser -v \(path)")
    case (_, .opening), (_, .reading):
      self = .unreadable(path: path, reason: reason)
    case (_, .writing):
      self = .writeFailed(path: path, reason: reason)
    }
  }
}
