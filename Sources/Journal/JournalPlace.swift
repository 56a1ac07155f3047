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
  package var durability: Durability
  package var bootID: String
  /// Whether its journal is open on a read-only file system.
  package private(set) var isFrozen = false

  /// Makes a place; `open` makes the directory.
  package init(path: String, durability: Durability, bootID: String) {
    self.path = path
    self.durability = durability
    self.bootID = bootID
  }

  package var directory: JournalDirectory? { self }

  /// Locks the directory, makes it if there is none, and opens its journal.
  ///
  /// `holder` names this process in the error of another process that finds the lock, such as
  /// `navd serving ipc:///…`.
  package func open(retention: Retention, holder: String) throws(JournalError) -> Journal {
    let engine = try SQLiteEngine(
      directory: path, durability: durability, bootID: bootID, holder: holder)
    var place = self
    place.isFrozen = engine.isFrozen
    return try Journal(engine, in: place, retention: retention)
  }

  package func openReader() throws(JournalError) -> JournalReader {
    JournalReader(try SQLiteReader(directory: path, isFrozen: isFrozen))
  }
}
