package import Journal
import RuntimePaths

/// Checks a server before somebody trusts it with a journal.
///
/// The checks use a table of their own, which they make and drop, and no table of a journal.
package struct PostgresQualification {
  /// The result of one check of the server.
  package struct Check: Hashable, Sendable {
    /// What the server must do.
    package var promise: String
    /// Why the server does not keep the promise; nil if it does.
    package var failure: String?
  }

  private let place: PostgresPlace
  private let first: PostgresConnection
  private let second: PostgresConnection
  private var checks: [Check] = []

  /// The number of commits of the check of syncs.
  private static let commits: Int64 = 20

  /// Runs all checks, and returns them in the order in which they ran.
  ///
  /// The user of the database must be able to make a table in the schema `public`. Throws
  /// `.unreadable` if the server cannot be reached or refuses a statement of a check.
  package static func run(_ place: PostgresPlace) throws(JournalError) -> [Check] {
    try place.reading { () throws(PostgresError) in
      var qualification = PostgresQualification(
        place: place, first: try place.connect(), second: try place.connect())
      do throws(PostgresError) {
        try qualification.run()
      } catch {
        // The first connection can be in the middle of a transaction.
        _ = try? qualification.run(
          place.connect(), "DROP TABLE IF EXISTS public.navd_qualification")
        throw error
      }
      return qualification.checks
    }
  }

  private mutating func run() throws(PostgresError) {
    addCheck(
      "a connection keeps its session",
      first.backendPID == second.backendPID ? PostgresError.poolerAdvice : nil)
    let results = try first.run([PostgresSchema.DurabilityVerdict.selectCommand])
    let settings = PostgresSchema.DurabilityVerdict(results[0])
    addCheck("its settings keep what it has confirmed", settings.refusal)
    for warning in settings.warnings { addCheck("a lost server loses nothing", warning) }
    _ = try run(first, "DROP TABLE IF EXISTS public.navd_qualification")
    _ = try run(first, "CREATE TABLE public.navd_qualification(id bigint PRIMARY KEY, rev bigint)")
    _ = try run(first, "INSERT INTO public.navd_qualification VALUES(1, 0)")
    // A statement that waits for a row fails soon, and with that shows that it waited.
    _ = try run(second, "SET lock_timeout = '300ms'")
    try checkConcurrentUpdates()
    try checkFailedStatementAborts()
    try checkCommitsSync()
    try checkLostConnectionRollsBack()
    _ = try run(first, "DROP TABLE public.navd_qualification")
  }

  @discardableResult
  private func run(_ connection: PostgresConnection, _ sql: String...) throws(PostgresError)
    -> [PostgresResult]
  {
    try connection.run(sql.map { PostgresCommand($0) })
  }

  private mutating func addCheck(_ promise: String, _ failure: String?) {
    checks.append(Check(promise: promise, failure: failure))
  }

  /// Checks that of two connections that change a row from the same revision, one succeeds.
  private mutating func checkConcurrentUpdates() throws(PostgresError) {
    let change =
      "UPDATE public.navd_qualification SET rev = rev + 1 WHERE id = 1 AND rev = 0 RETURNING rev"
    try run(first, "BEGIN", change)
    var state = ""
    do throws(PostgresError) { try run(second, change) } catch {
      guard case .refused(let code, _) = error else { throw error }
      state = code
    }
    addCheck(
      "a change of a row waits for the one before it",
      state == "55P03" ? nil : "the second change did not wait (SQLSTATE \(state))")
    try run(first, "COMMIT")
    let late = try run(second, change)[0].count
    addCheck(
      "of two changes from one revision, one succeeds", late == 0 ? nil : "both changes succeeded")
  }

  /// Checks that a failed statement makes its whole transaction fail.
  private mutating func checkFailedStatementAborts() throws(PostgresError) {
    var failure: String? = "a transaction with a failed statement was committed"
    do throws(PostgresError) {
      try run(
        second, "BEGIN",
        "WITH fence AS (UPDATE public.navd_qualification SET rev = rev WHERE rev = -1 RETURNING id) "
          + "SELECT 1 / count(*) FROM fence",
        "UPDATE public.navd_qualification SET rev = 99 WHERE id = 1", "COMMIT")
    } catch {
      guard case .refused("22012", _) = error else { throw error }
      try run(second, "ROLLBACK")
      let found = try run(first, "SELECT rev FROM public.navd_qualification")[0].integer(0, 0)
      failure = found == 1 ? nil : "the rest of a transaction with a failed statement is stored"
    }
    addCheck("a fenced commit stores nothing", failure)
  }

  /// Checks that each commit raises the server's own count of syncs of its log.
  private mutating func checkCommitsSync() throws(PostgresError) {
    let before = try syncs()
    for _ in 0..<Self.commits {
      try run(first, "UPDATE public.navd_qualification SET rev = rev + 1")
    }
    let begin = SystemClock.monotonicMilliseconds()
    // The server publishes its counters after a moment.
    while try syncs() < before + Self.commits, SystemClock.monotonicMilliseconds() < begin + 3_000 {
      try run(first, "SELECT pg_sleep(0.05)")
    }
    let found = try syncs() - before
    addCheck(
      "each commit syncs the log",
      found >= Self.commits ? nil : "\(Self.commits) commits made \(found) syncs")
  }

  private func syncs() throws(PostgresError) -> Int64 {
    let known = try run(
      first,
      "SELECT 1 FROM pg_attribute WHERE attrelid = 'pg_stat_wal'::regclass AND attname = 'wal_sync'"
    )
    // From version 18 on, it counts them with all other writes and syncs.
    return try run(
      first,
      known[0].count > 0
        ? "SELECT wal_sync FROM pg_stat_wal"
        : "SELECT sum(fsyncs)::bigint FROM pg_stat_io WHERE object = 'wal'")[0].integer(0, 0) ?? 0
  }

  /// Checks that the server rolls back the transaction of a lost connection, and frees its locks.
  private mutating func checkLostConnectionRollsBack() throws(PostgresError) {
    let lost = try place.connect()
    let process =
      try run(
        lost, "BEGIN", "UPDATE public.navd_qualification SET rev = -7 WHERE id = 1",
        "SELECT pg_backend_pid()")[2].integer(0, 0) ?? 0
    try run(first, "SELECT pg_terminate_backend(\(process))::int")
    // Waits for the row, if the other one still holds it.
    try run(second, "SET lock_timeout = '5s'", "UPDATE public.navd_qualification SET rev = rev")
    let found = try run(first, "SELECT rev FROM public.navd_qualification")[0].integer(0, 0)
    addCheck(
      "a lost connection takes its transaction with it",
      found == -7 ? "a transaction without a commit is stored" : nil)
  }
}
