/// The format of the database, and the statements for it.
enum Schema {
  /// The version of the format, which rises with every change that older versions cannot read.
  static let version: Int64 = 7
  /// "navj" in ASCII, which distinguishes a journal from other SQLite files.
  static let applicationID: Int64 = 0x6e61_766a

  /// The tables in the order of their names, with the exact text that SQLite stores for them.
  static let tables: [(name: String, sql: String)] = [
    (
      "log",
      "CREATE TABLE log(seq INTEGER PRIMARY KEY, last INTEGER, sum INTEGER, heads BLOB, "
        + "bodies BLOB)"
    ),
    ("meta", "CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID"),
    (
      "snapshot",
      "CREATE TABLE snapshot(nav INTEGER, rev INTEGER, seq INTEGER, t INTEGER, sum INTEGER, "
        + "body BLOB, PRIMARY KEY(nav, rev)) WITHOUT ROWID"
    ),
  ]

  /// Finds the group that contains the sequence ?1, or else the next group after it.
  static let selectGroup =
    "SELECT \(StoredGroup.columns) FROM log WHERE last >= ?1 AND "
    + "seq >= COALESCE((SELECT MAX(seq) FROM log WHERE seq <= ?1), 0) ORDER BY seq LIMIT 1"

  /// Makes an empty, synced journal at `path`, which the caller renames into place.
  static func create(at path: String) throws(JournalError) {
    let database = try Database(path: path, creating: true)
    // The page layout is fixed when the first table is created.
    try database.execute("PRAGMA page_size=4096; PRAGMA auto_vacuum=INCREMENTAL", .opening)
    try database.execute("PRAGMA synchronous=FULL; BEGIN IMMEDIATE", .opening)
    for table in tables { try database.execute(table.sql, .opening) }
    let metadata = Metadata(try FactTable(database, action: .opening))
    try metadata.write(Census())
    try metadata.write(.clean)
    try database.execute(
      "PRAGMA application_id=\(applicationID); PRAGMA user_version=\(version); COMMIT", .opening)
    database.close()
  }

  /// Throws unless the file is a journal of this version with exactly these tables.
  static func verify(_ database: Database) throws(JournalError) {
    let path = database.path
    let found = try database.integer("PRAGMA user_version")
    guard try database.integer("PRAGMA application_id") == applicationID else {
      throw .damaged(path: path, what: "the file does not carry the mark of a journal")
    }
    _ = try MigrationPlan(path: path, found: found, bytes: 0)
    let statement = try database.prepare("SELECT name, sql FROM sqlite_schema ORDER BY name")
    for table in tables {
      guard try statement.step(.opening), statement.text(0) == table.name,
        statement.text(1) == table.sql
      else { throw .damaged(path: path, what: "the table \(table.name) is not as it was made") }
    }
    guard try !statement.step(.opening) else {
      throw .damaged(path: path, what: "it has tables that no journal has")
    }
    statement.reset()
  }
}
