/// Where a journal is kept: a directory, or a database of another machine.
///
/// Any thread may use it. A process opens its journal once, and then readers as it needs them.
package protocol JournalPlace: Sendable {
  /// Opens a reader, after the journal is open.
  func openReader() throws(JournalError) -> JournalReader
  /// The directory of the files; nil if another machine keeps them.
  var directory: JournalDirectory? { get }
}

/// A directory with the journal in an SQLite file.
package struct JournalDirectory: JournalPlace {
  package var path: String
  package var bootID: String
  /// Whether its journal is open on a read-only file system.
  package var isMountedReadOnly = false

  package var directory: JournalDirectory? { self }

  package func openReader() throws(JournalError) -> JournalReader {
    JournalReader(try SQLiteReader(directory: path, isFrozen: isMountedReadOnly))
  }
}
