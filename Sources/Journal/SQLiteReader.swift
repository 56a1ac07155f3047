import NavigationCore
import NavigationHub

/// Reads an SQLite journal on a connection of its own, which cannot write.
final class SQLiteReader: JournalEngineReader {
  private let database: Database
  private let selectGroup: Statement
  private let selectSnapshot: Statement
  private let selectDataVersion: Statement
  private let beginReadTransaction: Statement
  private let endReadTransaction: Statement

  /// Opens the journal of a directory, after an engine has opened it.
  ///
  /// With `isFrozen`, the engine was opened on a read-only file system.
  init(directory: String, isFrozen: Bool = false) throws(JournalError) {
    database = try Database(
      path: directory + "/" + Journal.fileName, readOnly: true, frozen: isFrozen)
    try Schema.verify(database)
    selectGroup = try database.prepare(Schema.selectGroup)
    selectDataVersion = try database.prepare("PRAGMA data_version")
    beginReadTransaction = try database.prepare("BEGIN")
    endReadTransaction = try database.prepare("COMMIT")
    selectSnapshot = try database.prepare(
      "SELECT \(SnapshotRow.columns) FROM snapshot WHERE nav = ?1 AND rev <= ?2 "
        + "ORDER BY rev DESC LIMIT 1")
  }

  var name: String { database.path }

  /// Uses one transaction, because each read outside of one locks and unlocks the file.
  func reading<Value>(
    _ body: () throws(JournalError) -> Value
  ) throws(JournalError) -> Value {
    try beginReadTransaction.run(.reading)
    do throws(JournalError) {
      let value = try body()
      try endReadTransaction.run(.reading)
      return value
    } catch {
      database.rollBack()
      throw error
    }
  }

  func dataVersion() throws(JournalError) -> Int64? {
    defer { selectDataVersion.reset() }
    return try selectDataVersion.step(.reading) ? selectDataVersion.integer(0) : nil
  }

  func readGroup(
    from sequence: UInt64, of shard: Shard, _ consume: GroupConsumer
  ) throws(JournalError) -> Bool {
    try selectGroup.readGroup(from: sequence, name, consume)
  }

  /// Returns false, because reading groups one by one costs no more in a file.
  func readGroups(
    from first: UInt64, through last: UInt64, of shard: Shard, _ consume: GroupConsumer
  ) throws(JournalError) -> Bool { false }

  func snapshot(nav: UInt64, notAfter revision: UInt64) throws(JournalError) -> SnapshotRow? {
    selectSnapshot.bind(1, nav)
    selectSnapshot.bind(2, min(revision, UInt64(Int64.max)))
    defer { selectSnapshot.reset() }
    guard try selectSnapshot.step(.reading) else { return nil }
    return try selectSnapshot.readCurrentSnapshot(name)
  }
}
