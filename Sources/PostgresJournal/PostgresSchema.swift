import Journal
import NavigationCore

/// The tables of a journal in PostgreSQL, and the settings of a server that would break its promise.
///
/// Every table of records has the number of the shard first.
enum PostgresSchema {
  /// The version of the form, which rises with every change that older daemons cannot read.
  static let version: Int64 = 3

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
      commits bigint NOT NULL, seq bigint NOT NULL, restored boolean NOT NULL, server text)
      WITH (fillfactor = 50)
    """,
    """
    INSERT INTO navd.shard(id, epoch, commits, seq, restored)
    SELECT id, 0, 0, 0, false FROM generate_series(0, \(Shard.count - 1)) AS id
    """,
    """
    CREATE TABLE navd.log(
      shard bigint, seq bigint, last bigint NOT NULL, size bigint NOT NULL, sum bigint NOT NULL,
      heads bytea NOT NULL, bodies bytea NOT NULL, PRIMARY KEY(shard, seq))
    """,
    // navd compresses the bodies itself.
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
  static func prepare(
    _ connection: PostgresConnection, _ name: String, until deadline: UInt64
  ) throws(JournalError) {
    var found: Int64
    do throws(PostgresError) {
      found = try version(connection, until: deadline)
      if found == 0 { found = try make(connection, until: deadline) }
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
    return rows[0].integer(0, 0) ?? 0
  }

  /// Makes the tables, unless another daemon has; returns their version.
  private static func make(
    _ connection: PostgresConnection, until deadline: UInt64
  ) throws(PostgresError) -> Int64 {
    let steps = [
      // Daemons that start at the same time make them one after the other.
      "SELECT pg_advisory_xact_lock(1851880810)", "CREATE SCHEMA IF NOT EXISTS navd",
      "CREATE TABLE IF NOT EXISTS navd.version(number bigint PRIMARY KEY)",
    ]
    _ = try connection.run(
      [PostgresCommand("BEGIN")] + steps.map { PostgresCommand($0) }, until: deadline)
    let found = try version(connection, until: deadline)
    let rest = found == 0 ? tables + ["INSERT INTO navd.version VALUES(\(version))"] : []
    // One round trip for each, because a later statement is prepared with the tables of an earlier.
    for statement in rest + ["COMMIT"] {
      _ = try connection.run([PostgresCommand(statement)], until: deadline)
    }
    return found == 0 ? version : found
  }

  /// The settings of a server by which it could lose what it has confirmed.
  struct Settings: Sendable {
    /// Whether a commit waits until a standby has it.
    let isSynchronous: Bool
    /// Why navd must not use the server; nil if it may.
    var refusal: String?
    /// What the administrator should know, each in one line.
    var warnings: [String] = []

    /// Judges the values of settings by their names.
    init(_ values: [String: String]) {
      isSynchronous = !(values["synchronous_standby_names"] ?? "").isEmpty
      for name in ["fsync", "full_page_writes"] where values[name] != "on" {
        refusal =
          "\(name) is \(values[name] ?? "unknown"), so a power failure loses what the server has "
          + "confirmed; set \(name) = on"
        return
      }
      guard ["on", "remote_apply"].contains(values["synchronous_commit"]) else {
        refusal =
          "synchronous_commit is \(values["synchronous_commit"] ?? "unknown"), so the server "
          + "confirms what it has not stored; set it to on for the user or the database of navd"
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

    static let names = [
      "fsync", "full_page_writes", "synchronous_commit", "synchronous_standby_names",
      "data_checksums",
    ]
  }

  static func settings(
    _ connection: PostgresConnection, until deadline: UInt64
  ) throws(PostgresError) -> Settings {
    let commands = Settings.names.map { PostgresCommand("SELECT current_setting('\($0)', true)") }
    let results = try connection.run(commands, until: deadline)
    return Settings(
      Dictionary(
        uniqueKeysWithValues: zip(Settings.names, results.map { $0.text(0, 0) ?? "unknown" })))
  }
}
