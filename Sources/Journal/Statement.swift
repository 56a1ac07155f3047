import CJournal
import NavigationCore

/// A prepared statement; its `Database` owns it and finalises it at close.
@safe final class Statement {
  private var handle: OpaquePointer?
  private let path: String

  fileprivate var openHandle: OpaquePointer {
    guard let handle = unsafe handle else { preconditionFailure("statement used after close") }
    return unsafe handle
  }

  init(_ handle: OpaquePointer, path: String) {
    unsafe self.handle = handle
    self.path = path
  }

  /// Frees the statement, which must not be used afterwards.
  func finalize() {
    unsafe sqlite3_finalize(handle)
    unsafe handle = nil
  }

  func reset() { unsafe sqlite3_reset(openHandle) }

  /// Moves to the next row of the result; returns false if there is none.
  func step(_ action: DatabaseAction) throws(JournalError) -> Bool {
    let code = unsafe sqlite3_step(openHandle)
    switch code {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default:
      let failure = unsafe JournalError(
        code: code, connection: sqlite3_db_handle(openHandle), path: path, action: action)
      reset()
      throw failure
    }
  }

  /// Runs a statement that returns no rows.
  func run(_ action: DatabaseAction = .writing) throws(JournalError) {
    while try step(action) {}
    reset()
  }

  /// Binds an integer to the parameter `index`, counted from 1.
  func bind(_ index: Int32, _ value: UInt64) {
    unsafe sqlite3_bind_int64(openHandle, index, Int64(bitPattern: value))
  }

  /// Runs a statement with `bytes` as the parameter `index`, without copying them.
  func run(
    _ index: Int32, _ bytes: Span<UInt8>, _ action: DatabaseAction = .writing
  ) throws(JournalError) {
    // SQLite reads the bytes while the statement runs, so it must run while they are borrowed.
    try bind(index, bytes, action) { () throws(JournalError) in try run(action) }
  }

  /// Runs a statement with two blobs as parameters, without copying them.
  func run(
    _ index: Int32, _ bytes: Span<UInt8>, _ index2: Int32, _ bytes2: Span<UInt8>
  ) throws(JournalError) {
    try bind(index, bytes, .writing) { () throws(JournalError) in
      try bind(index2, bytes2, .writing) { () throws(JournalError) in try run() }
    }
  }

  /// Binds bytes to a parameter while `body` runs.
  private func bind(
    _ index: Int32, _ bytes: Span<UInt8>, _ action: DatabaseAction,
    _ body: () throws(JournalError) -> Void
  ) throws(JournalError) {
    try unsafe bytes.withUnsafeBytes { (buffer) throws(JournalError) in
      // A null pointer would bind NULL, not an empty blob.
      let code =
        unsafe buffer.isEmpty
        ? sqlite3_bind_zeroblob(openHandle, index, 0)
        : sqlite3_bind_blob64(openHandle, index, buffer.baseAddress, UInt64(buffer.count), nil)
      defer { unsafe sqlite3_clear_bindings(openHandle) }
      guard code == SQLITE_OK else {
        throw unsafe JournalError(
          code: code, connection: sqlite3_db_handle(openHandle), path: path, action: action)
      }
      try body()
    }
  }

  /// The integer in a column of the current row; nil if it has another type.
  func integer(_ column: Int32) -> Int64? {
    guard unsafe sqlite3_column_type(openHandle, column) == SQLITE_INTEGER else { return nil }
    return unsafe sqlite3_column_int64(openHandle, column)
  }

  /// The integer in a column of the current row; nil if it is negative or of another type.
  func unsigned(_ column: Int32) -> UInt64? {
    integer(column).flatMap { UInt64(exactly: $0) }
  }

  /// The text in a column of the current row; nil if it has another type.
  func text(_ column: Int32) -> String? {
    guard unsafe sqlite3_column_type(openHandle, column) == SQLITE_TEXT,
      let text = unsafe sqlite3_column_text(openHandle, column)
    else { return nil }
    return unsafe String(cString: text)
  }

  /// Reads the blob in a column of the current row in place; returns nil if it has another type.
  @discardableResult
  func withBlob<Result, Failure: Error>(
    _ column: Int32, _ read: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    guard unsafe sqlite3_column_type(openHandle, column) == SQLITE_BLOB else { return nil }
    let start = unsafe sqlite3_column_blob(openHandle, column)
    let count = Int(unsafe sqlite3_column_bytes(openHandle, column))
    let buffer = unsafe UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count)
    return try read(unsafe Span<UInt8>(_unsafeBytes: buffer))
  }

  /// A copy of the blob in a column of the current row; nil if it has another type.
  func bytes(_ column: Int32) -> [UInt8]? {
    withBlob(column) { [UInt8](copying: $0) }
  }
}
