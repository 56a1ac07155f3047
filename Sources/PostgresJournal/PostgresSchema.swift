import Journal
import NavigationCore

/// The tables of a journal in PostgreSQL, and the server settings on which its durability depends.
///
/// The first column of every table of records is the number of the shard.
enum PostgresSchema {
  /// The version of the tables, which rises with every change that older daemons cannot read.
  static let version: Int64 = 7

  /// The statements that make the tables of a new database.
  static let tables = [
    // A member without a process has ended, or was taken over. Every commit of a process compares
    // its process and generation, and renews its lease.
    """
    CREATE TABLE navd.member(
      name text PRIMARY KEY, process text, generation bigint NOT NULL, leased_until timestamptz,
      endpoint text NOT NULL, key text, web text, draining boolean NOT NULL)
      WITH (fillfactor = 50)
    """,
    // A shard is served by its owner, if that is a member with a process and a lease. `wanted` is
    // where an administrator has moved it.
    """
    CREATE TABLE navd.shard(
      id bigint PRIMARY KEY, epoch bigint NOT NULL, owner text, wanted text,
      commits bigint NOT NULL, seq bigint NOT NULL, restored boolean NOT NULL,
      server text NOT NULL)
      WITH (fillfactor = 50)
    """,
    // From the start, so that a promotion is noticed that loses the first take-over of a shard.
    """
    INSERT INTO navd.shard(id, epoch, commits, seq, restored, server)
    SELECT id, 0, 0, 0, false, \(PostgresIdentity.sql)
    FROM generate_series(0, \(Shard.count - 1)) AS id
    """,
    """
    CREATE TABLE navd.log(
      shard bigint, seq bigint, last bigint NOT NULL, sum bigint NOT NULL,
      heads bytea NOT NULL, bodies bytea NOT NULL, PRIMARY KEY(shard, seq))
    """,
    // The rows are short already.
    "ALTER TABLE navd.log ALTER heads SET STORAGE EXTERNAL, ALTER bodies SET STORAGE EXTERNAL",
    """
    CREATE TABLE navd.snapshot(
      shard bigint, nav bigint, rev bigint, seq bigint NOT NULL, t bigint NOT NULL,
      sum bigint NOT NULL, body bytea NOT NULL, PRIMARY KEY(shard, nav, rev))
    """,
    "CREATE TABLE navd.fact(shard bigint, key text, value bytea, PRIMARY KEY(shard, key))",
    // Who took shards, when, from whom, and on which server.
    """
    CREATE TABLE navd.takeover(
      number bigserial PRIMARY KEY, at timestamptz NOT NULL, owner text NOT NULL, former text,
      shards bigint NOT NULL, first bigint NOT NULL, last bigint NOT NULL, server text)
    """,
  ]

  /// Makes the tables of a new database; throws `.newer` or `.older` if another version made them,
  /// and changes nothing then.
  static func prepareTables(
    _ connection: PostgresConnection, _ name: String, until deadline: UInt64
  ) throws(JournalError) {
    var found: Int64
    do throws(PostgresError) {
      found = try version(connection, until: deadline)
      if found == 0 { found = try makeTables(connection, until: deadline) }
    } catch {
      switch error {
      case .refused: throw .unwritable(path: name, reason: error.text)
      case .unreachable: throw .unreadable(path: name, reason: error.text)
      }
    }
    guard found <= version else {
      throw .newer(path: name, found: Int(found), supported: Int(version))
    }
    guard found == version else {
      throw .older(path: name, found: Int(found), supported: Int(version))
    }
  }

  /// The version of the tables; 0 if there are none.
  private static func version(
    _ connection: PostgresConnection, until deadline: UInt64
  ) throws(PostgresError) -> Int64 {
    let table = PostgresCommand(
      """
      SELECT pg_has_role(nspowner, 'USAGE')::int FROM pg_class JOIN pg_namespace n
        ON n.oid = relnamespace WHERE nspname = 'navd' AND relname = 'version'
      """)
    let found = try connection.run([table], until: deadline)[0]
    guard found.count == 1 else { return 0 }
    guard found.integer(0, 0) == 1 else {
      throw .refused(state: "42501", message: "the schema navd belongs to another user")
    }
    let rows = try connection.run(
      [PostgresCommand("SELECT max(number) FROM navd.version")], until: deadline)
    guard let number = rows[0].integer(0, 0) else {
      throw .refused(state: "55000", message: "its tables are being restored")
    }
    return number
  }

  /// A setting of the database user, which marks that navd made its tables.
  ///
  /// Dumps do not contain it. A daemon that finds the mark and no tables does not create empty ones,
  /// which would mix with those of a restore.
  private static let roleMark = "navd has its tables here"

  private static let setRoleMark = """
    DO $$BEGIN EXECUTE format('ALTER ROLE CURRENT_USER IN DATABASE %I SET application_name = %L',
      current_database(), '\(roleMark)'); END$$
    """

  private static let findRoleMark = """
    SELECT format('ALTER ROLE %I IN DATABASE %I RESET application_name', rolname, datname)
    FROM pg_db_role_setting JOIN pg_roles r ON r.oid = setrole
      JOIN pg_database d ON d.oid = setdatabase
    WHERE rolname = current_user AND datname = current_database()
      AND 'application_name=\(roleMark)' = ANY(setconfig)
    """

  /// Makes the tables, unless another daemon has; returns their version.
  private static func makeTables(
    _ connection: PostgresConnection, until deadline: UInt64
  ) throws(PostgresError) -> Int64 {
    let begin = ["BEGIN", "SELECT pg_advisory_xact_lock(1851880810)"]
    // Daemons that start at the same time make them one after the other.
    _ = try connection.run(begin.map { PostgresCommand($0) }, until: deadline)
    let found = try version(connection, until: deadline)
    if found == 0,
      let remedy = try connection.run([PostgresCommand(findRoleMark)], until: deadline)[0].first
    {
      throw .refused(
        state: "55000",
        message: "the tables of navd are missing: wait for the restore to end, or make empty "
          + "tables after: \(remedy)")
    }
    let rest =
      found == 0
      ? [
        "CREATE SCHEMA IF NOT EXISTS navd", "CREATE TABLE navd.version(number bigint PRIMARY KEY)",
        "INSERT INTO navd.version VALUES(\(version))",
      ] + tables + [setRoleMark] : []
    // One round trip for each, because a later statement is prepared with the tables of an earlier.
    for statement in rest + ["COMMIT"] {
      _ = try connection.run([PostgresCommand(statement)], until: deadline)
    }
    return found == 0 ? version : found
  }

  /// The settings of a server by which it could lose what it has confirmed.
  struct DurabilityVerdict: Sendable {
    /// Why navd must not use the server; nil if it may.
    var refusal: String?
    /// What the administrator should know, each in one line.
    var warnings: [String] = []

    /// Judges the settings of a server, given as values by name.
    init(_ values: [String: String]) {
      for name in Self.requiredNames where values[name] != "on" {
        refusal =
          "\(name) is \(values[name] ?? "unknown"), so a power failure loses what the server has "
          + "confirmed; set \(name) = on"
        return
      }
      if values["synchronous_standby_names"] == "" {
        warnings.append(
          "synchronous_standby_names is empty: if the server is lost, so is what a standby does not "
            + "have yet")
      }
      if values["data_checksums"] != "on" {
        warnings.append("data_checksums are off: the server does not notice damage of its disk")
      }
    }

    private static let requiredNames = ["fsync", "full_page_writes"]
    private static let names = requiredNames + ["synchronous_standby_names", "data_checksums"]

    /// An SQL condition in each commit: whether a commit survives a power failure now.
    static let areSafeSQL = requiredNames.map { "current_setting('\($0)')::boolean" }
      .joined(separator: " AND ")

    static let selectCommand = PostgresCommand(
      "SELECT " + names.map { "current_setting('\($0)', true)" }.joined(separator: ", "))

    /// Judges the result of `selectCommand`.
    init(_ result: PostgresResult) {
      self.init(
        Dictionary(
          uniqueKeysWithValues: Self.names.enumerated().map { column, name in
            (name, result.text(0, Int32(column)) ?? "unknown")
          }))
    }
  }
}
