import Glibc
import Journal
import NavigationCore
import RuntimePaths
import Synchronization

/// A journal in PostgreSQL, for as long as this process has the lease.
///
/// The row of `navd.shard` has the epoch of the lease and the number of commits. Each commit is one
/// round trip: it raises that number only if the epoch and the number are still this engine's, and
/// else fails as a whole. Changing the row also renews the lease. A take-over changes the row
/// too, so it waits for a commit that is under way, and every later commit of the former owner fails.
///
/// If the connection is lost during a commit, its outcome is unknown. The engine then connects again
/// and raises the epoch, which waits for the old transaction or ends it. The stored number of commits
/// tells whether the commit was stored; if it was not, the engine sends it again.
final class PostgresEngine: JournalEngine {
  let place: PostgresPlace
  private(set) var connection: PostgresConnection?
  /// The epoch of the lease.
  private var epoch: Int64 = 0
  /// The number of commits in the database, and the sequence of the last row.
  private var stored: Int64 = 0
  private(set) var sequence: UInt64 = 0
  /// A name of this process, so that another one with the same member name is another owner.
  private let process: String
  /// The system identifier and the timeline of the server, and whether it awaits a standby.
  private var server: String?
  private let isSynchronous: Bool
  /// The statements of the open transaction, and its last sequence; nil if none is open.
  private var transaction: (commands: [PostgresCommand], last: UInt64)?
  private var checkpoints = 0
  private let bytes = Atomic<Int>(0)

  private(set) var mustRenewEpochs = false
  private(set) var isRestored = false
  /// The lease by the clock of this process.
  private(set) var lease: JournalLease?

  /// The number of groups or snapshots read in one round trip.
  static let page = 64

  /// Connects, checks the server, makes the tables if there are none, and takes the lease.
  ///
  /// - Throws: `.locked` while another daemon has the lease.
  init(_ place: PostgresPlace) throws(JournalError) {
    self.place = place
    do throws(SystemError) {
      process = String(try randomUInt64(), radix: 16)
    } catch {
      throw .unreadable(path: place.name, reason: "\(error)")
    }
    // A daemon that waits for the lease asks often, so it keeps its connection.
    let candidate: PostgresCandidate
    if let kept = place.candidate.take() {
      candidate = kept
    } else {
      candidate = try Self.candidate(place)
    }
    isSynchronous = candidate.settings.isSynchronous
    do throws(JournalError) {
      try take(candidate)
    } catch {
      if case .locked = error { place.candidate.keep(candidate) }
      throw error
    }
    for warning in candidate.settings.warnings { place.warn("\(place.name): \(warning)") }
  }

  /// Connects, checks the server, and makes the tables if there are none.
  private static func candidate(
    _ place: PostgresPlace
  ) throws(JournalError) -> PostgresCandidate {
    let connection: PostgresConnection
    let settings: PostgresSchema.Settings
    do throws(PostgresError) {
      connection = try place.connect()
      settings = try PostgresSchema.settings(connection, until: place.deadline())
      if let refusal = settings.refusal { throw PostgresError.unreachable(refusal) }
    } catch {
      throw .unreadable(path: place.name, reason: error.text)
    }
    try PostgresSchema.prepare(connection, place.name, until: place.deadline())
    // A connection was lost while this daemon waited: the server was away. If the lease has ended
    // meanwhile, the daemon that served can still have it again, and with it the epochs of navs.
    let pause = place.candidate.hasWaited ? place.lease / 5 : 0
    return PostgresCandidate(
      connection: connection, settings: settings,
      notBefore: SystemClock.bootMilliseconds() + pause)
  }

  var name: String { place.name }

  /// Gives up a connection that was lost; the next commit connects again.
  func disconnect() { connection = nil }

  /// The identity of the data: another system identifier is another database, and a new timeline
  /// began with a promotion or a recovery to a point in time.
  private static func identity(
    _ connection: PostgresConnection, _ place: PostgresPlace
  ) throws(PostgresError) -> String? {
    let result = try connection.run(
      [
        PostgresCommand(
          """
          SELECT system_identifier::text || ':' ||
            substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) FROM pg_control_system()
          """)
      ], until: place.deadline())
    return result[0].text(0, 0)
  }
}

// The lease.

extension PostgresEngine {
  private static let leaseInSQL = "clock_timestamp() + $1 * interval '1 millisecond'"

  /// The lease that a statement sent now renews.
  ///
  /// It is counted from before the statement is sent, so it never ends later here than there.
  private func leaseFromNow() -> JournalLease {
    let now = SystemClock.bootMilliseconds()
    return JournalLease(
      renewal: now + place.lease / 3, end: now + place.lease - place.margin)
  }

  /// Records the owner of an epoch of the lease, and deletes old records.
  ///
  /// - Parameters:
  ///   - owner: the parameter with the name of the owner.
  ///   - server: the parameter with the identity of the server.
  /// - Returns: two parts of a `WITH`, behind one named `taken` that has the epoch.
  private static func note(_ owner: String, _ server: String) -> String {
    """
    noted AS (
      INSERT INTO navd.takeover(shard, epoch, owner, at, server)
      SELECT 0, epoch, \(owner), clock_timestamp(), \(server) FROM taken
    ), forgotten AS (
      DELETE FROM navd.takeover WHERE shard = 0 AND epoch < (SELECT epoch FROM taken) - 10000
    )
    """
  }

  private func take(_ candidate: PostgresCandidate) throws(JournalError) {
    let connection = candidate.connection
    let lease: JournalLease
    let results: [PostgresResult]
    do throws(PostgresError) {
      // A standby can have been promoted since the last attempt.
      server = try Self.identity(connection, place)
      lease = leaseFromNow()
      let mayTake: Int64 = candidate.notBefore <= SystemClock.bootMilliseconds() ? 1 : 0
      results = try connection.run(
        [
          PostgresCommand(
            """
            WITH taken AS (
              UPDATE navd.shard SET owner = $2, process = $4, epoch = epoch + 1,
                leased_until = \(Self.leaseInSQL), server = COALESCE(server, $3)
              WHERE id = 0 AND (owner = $2 OR leased_until IS NULL
                OR leased_until < clock_timestamp() AND $5 = 1)
              RETURNING epoch, seq, restored::int, server, commits
            ), \(Self.note("$2", "$3")) SELECT epoch, seq, restored, server, commits FROM taken
            """, .integer(Int64(place.lease)), .text(place.owner), .text(server ?? ""),
            .text(process), .integer(mayTake)),
          PostgresCommand("SELECT owner FROM navd.shard WHERE id = 0"),
        ], until: place.deadline())
    } catch {
      guard case .refused(PostgresError.lockTimeout, _) = error else {
        throw .unreadable(path: name, reason: error.text)
      }
      endSilent(connection)
      throw .locked(path: name, by: "a commit under way")
    }
    guard results[0].count == 1, let epoch = results[0].integer(0, 0),
      let sequence = results[0].bits(0, 1), let stored = results[0].integer(0, 4)
    else { throw .locked(path: name, by: "navd on \(results[1].text(0, 0) ?? "another machine")") }
    self.connection = connection
    self.epoch = epoch
    self.stored = stored
    self.sequence = sequence
    isRestored = results[0].integer(0, 2) == 1
    // After a promotion or a recovery, nobody here knows whether the server has everything.
    mustRenewEpochs = isRestored || results[0].text(0, 3) != server ?? ""
    self.lease = lease
  }

  /// Ends the processes of the server that hold the row of the lease for a daemon that is silent in
  /// the middle of a commit, if the lease has ended.
  ///
  /// Such a daemon has lost its power or its network. The server would wait for it for hours.
  private func endSilent(_ connection: PostgresConnection) {
    do throws(PostgresError) {
      _ = try connection.run(
        [
          PostgresCommand(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity, navd.shard
            WHERE id = 0 AND (leased_until IS NULL OR leased_until < clock_timestamp())
              AND datname = current_database() AND usename = current_user
              AND application_name = 'navd' AND wait_event = 'ClientRead' AND state <> 'idle'
              AND pid <> pg_backend_pid()
            """)
        ], until: place.deadline())
    } catch {
      // The next attempt finds out about the connection.
    }
  }

  /// Renews the lease during a long replay.
  func renewIfDue() throws(JournalError) {
    guard let lease, lease.renewal <= SystemClock.bootMilliseconds() else { return }
    try begin()
    try commit()
  }

  func epochsRenewed() throws(JournalError) {
    guard mustRenewEpochs else { return }
    try change(
      PostgresCommand(
        "UPDATE navd.shard SET restored = false, server = $1 WHERE id = 0", .text(server ?? "")))
    mustRenewEpochs = false
    isRestored = false
  }

  func renewEpochsAtNextStart() throws(JournalError) {
    try change(PostgresCommand("UPDATE navd.shard SET restored = true WHERE id = 0"))
    mustRenewEpochs = true
    isRestored = true
  }

  private func change(_ command: PostgresCommand) throws(JournalError) {
    try begin()
    add(command)
    do throws(JournalError) {
      try commit()
    } catch {
      rollBack()
      throw error
    }
  }
}

// One transaction.

extension PostgresEngine {
  func begin() throws(JournalError) {
    precondition(transaction == nil, "a transaction inside a transaction")
    transaction = ([], sequence)
  }

  /// Notes the last sequence of the open transaction.
  func note(last: UInt64) { transaction?.last = last }

  /// Adds a statement to the open transaction.
  func add(_ command: PostgresCommand) {
    precondition(transaction != nil, "a change outside a transaction")
    transaction?.commands.append(command)
  }

  func rollBack() { transaction = nil }

  func commit() throws(JournalError) {
    guard let transaction else { preconditionFailure("no transaction is open") }
    let giveUp = SystemClock.monotonicMilliseconds() + PostgresPlace.longestOutage
    while true {
      switch send(transaction.commands, last: transaction.last) {
      case .stored: return noteStored(transaction.last)
      case .notStored(let error): throw error
      case .unknown(let reason):
        connection = nil
        if try isStored(until: giveUp, reason) { return noteStored(transaction.last) }
      }
    }
  }

  private func noteStored(_ last: UInt64) {
    stored += 1
    sequence = last
    transaction = nil
  }

  /// How a commit ended.
  private enum Outcome {
    case stored
    case notStored(JournalError)
    case unknown(String)
  }

  private func send(_ commands: [PostgresCommand], last: UInt64) -> Outcome {
    guard let connection else { return .unknown("the connection was lost") }
    let fence = PostgresCommand(
      // Without a row, the division by zero fails, and the whole transaction with it. To look at the
      // result first would take a second round trip.
      """
      WITH fence AS (UPDATE navd.shard
        SET seq = $4, commits = commits + 1, leased_until = \(Self.leaseInSQL)
        WHERE id = 0 AND epoch = $2 AND commits = $3 RETURNING id) SELECT 1 / count(*) FROM fence
      """, .integer(Int64(place.lease)), .integer(epoch), .integer(stored), .bits(last))
    let lease = leaseFromNow()
    do throws(PostgresError) {
      _ = try connection.run(
        [PostgresCommand("BEGIN"), fence] + commands + [PostgresCommand("COMMIT")],
        until: place.deadline())
      guard !connection.isUnreplicated else {
        return .unknown("somebody cancelled the wait for the standby")
      }
      self.lease = lease
      return .stored
    } catch {
      guard case .refused(let state, _) = error else { return .unknown(error.text) }
      do throws(PostgresError) {
        _ = try connection.run([PostgresCommand("ROLLBACK")], until: place.deadline())
      } catch {
        self.connection = nil
      }
      switch state {
      case "22012": return .notStored(fenced)
      case "53100": return .notStored(.full(path: name))
      default: return .notStored(.writeFailed(path: name, reason: error.text))
      }
    }
  }

  private var fenced: JournalError { .fenced(path: name) }

  /// Finds out whether a commit of unknown outcome is stored.
  ///
  /// - Throws: `.fenced` if another daemon has the lease; `.syncFailed` if no server was reached
  ///   until `giveUp`, or if the server may lack what was confirmed.
  private func isStored(until giveUp: UInt64, _ reason: String) throws(JournalError) -> Bool {
    var reason = reason
    while SystemClock.monotonicMilliseconds() < giveUp {
      switch reconnect() {
      case .lease(let found) where found == stored || found == stored + 1:
        return found == stored + 1
      case .lease(let found):
        throw .syncFailed(path: name, reason: "it has \(found) commits, not \(stored)")
      case .replaced:
        throw .syncFailed(
          path: name, reason: "the server was replaced while this daemon had no lease")
      case .fenced: throw .fenced(path: name)
      case .unreachable(let text): reason = text
      }
      _ = poll(nil, 0, PostgresPlace.pause)
    }
    throw .syncFailed(path: name, reason: reason)
  }

  /// How an attempt to connect again ended.
  private enum Reconnection {
    /// This daemon has the lease; the server has this number of commits.
    case lease(commits: Int64)
    /// Another daemon has the lease.
    case fenced
    /// Another server may lack what a daemon confirmed that had the lease meanwhile.
    case replaced
    case unreachable(String)
  }

  /// Connects again, and raises the epoch of this engine's own lease.
  private func reconnect() -> Reconnection {
    do throws(PostgresError) {
      let connection = try place.connect()
      let settings = try PostgresSchema.settings(connection, until: place.deadline())
      if let refusal = settings.refusal { return .unreachable(refusal) }
      let found = try Self.identity(connection, place)
      // With a synchronous standby, the take-over of another daemon would be on this server too.
      let mayLack = !isSynchronous && (lease?.end ?? 0) <= SystemClock.bootMilliseconds()
      if found != server, mayLack { return .replaced }
      return try retake(connection, on: found)
    } catch {
      return .unreachable(error.text)
    }
  }

  private func retake(
    _ connection: PostgresConnection, on server: String?
  ) throws(PostgresError) -> Reconnection {
    let lease = leaseFromNow()
    let result: PostgresResult
    do throws(PostgresError) {
      result = try connection.run(
        [
          PostgresCommand(
            // A promoted server that has this engine's commits has everything that was confirmed.
            """
            WITH taken AS (
              UPDATE navd.shard SET epoch = epoch + 1, leased_until = \(Self.leaseInSQL),
                server = CASE WHEN commits IN ($4, $4 + 1) THEN $5 ELSE server END
              WHERE id = 0 AND process = $2 AND epoch >= $3 RETURNING epoch, commits, owner
            ), \(Self.note("taken.owner", "$5")) SELECT epoch, commits FROM taken
            """, .integer(Int64(place.lease)), .text(process), .integer(epoch), .integer(stored),
            .text(server ?? ""))
        ], until: place.deadline())[0]
    } catch {
      if case .refused(PostgresError.lockTimeout, _) = error { endSilent(connection) }
      throw error
    }
    guard !connection.isUnreplicated else {
      return .unreachable("somebody cancels the wait for the standby")
    }
    guard result.count == 1, let epoch = result.integer(0, 0), let found = result.integer(0, 1)
    else { return .fenced }
    self.epoch = epoch
    self.server = server
    self.connection = connection
    self.lease = lease
    return .lease(commits: found)
  }
}

// Upkeep.

extension PostgresEngine {
  /// 0: the server has its own log, and its own checkpoints.
  var logPages: Int { 0 }

  /// Stores the facts, which also renews the lease.
  func checkpoint(
    emptying: Bool, _ facts: () throws(JournalError) -> Void
  ) throws(JournalError) {
    try begin()
    do throws(JournalError) {
      try facts()
      try commit()
    } catch {
      rollBack()
      throw error
    }
    if checkpoints.isMultiple(of: Self.checkpointsPerMeasurement) { measure() }
    checkpoints += 1
  }

  private static let checkpointsPerMeasurement = 8

  private func measure() {
    do throws(JournalError) {
      let result = try read(
        PostgresCommand(
          """
          SELECT pg_total_relation_size('navd.log') + pg_total_relation_size('navd.snapshot')
          """))
      bytes.store(Int(clamping: result.integer(0, 0) ?? 0), ordering: .relaxed)
    } catch {
      // The figure stays as it was; the next commit finds out about the connection.
    }
  }

  /// Does nothing: the server syncs each commit.
  func syncNow() throws(JournalError) {}

  /// Does nothing: the server frees space by itself.
  func vacuumSlice() throws(JournalError) -> Int { 0 }

  var sizes: (journal: Int, log: Int) { (bytes.load(ordering: .relaxed), 0) }

  /// Gives the lease back, so that the next daemon need not wait for its end.
  func close(isTidy: Bool) {
    defer { connection = nil }
    do throws(PostgresError) {
      _ = try connection?.run(
        [
          PostgresCommand(
            "UPDATE navd.shard SET leased_until = NULL WHERE id = 0 AND epoch = $1",
            .integer(epoch))
        ], until: place.deadline())
    } catch {
      // The lease ends by itself.
    }
  }
}
