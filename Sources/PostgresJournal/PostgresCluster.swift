import Glibc
import Journal
import NavigationCore
import NavigationHub
import RuntimePaths
import Synchronization

/// The journals of the shards that this process owns, in a PostgreSQL database.
///
/// The row of `navd.member` has the process, its generation and its lease; that of each shard in
/// `navd.shard` its owner's epoch and its number of commits. Each commit is one round trip: it renews
/// the lease, and changes the rows of its shards, only if all these are still this process's, and else
/// fails as a whole. A take-over changes the row of the member first. So it waits for a commit that is
/// under way, and every later commit of the former process fails.
///
/// If the connection is lost during a commit, its outcome is unknown. The cluster then connects again
/// and raises the generation, which waits for the old transaction or ends it. The stored numbers of
/// commits tell whether the commit was stored; if it was not, it is sent again.
final class PostgresCluster: ClusterJournal {
  let postgres: PostgresPlace
  var connection: PostgresConnection?
  /// The generation of this process; it rises with each new connection.
  var generation: Int64 = 0
  private(set) var shards: [Shard: (journal: Journal, engine: PostgresEngine)] = [:]
  /// The database that confirmed the last commit.
  var identity: PostgresIdentity
  /// The lease by the boot clock, and its end by the server's clock in microseconds.
  var heldLease: (lease: JournalLease, serverEndMicroseconds: Int64)?
  /// The shards of which the database may lack confirmed commits; this process must not serve them.
  var doubtfulShards: Set<Shard> = []
  var retention: Retention {
    didSet { for shard in shards.values { shard.journal.retention = retention } }
  }
  /// The position (`ctid`) of the member's row in its table after the last commit.
  var memberCTID: Int64 = 0
  private var staged: [JournalRecords] = []
  /// The error of the first commit with an unknown outcome; every later commit fails with it.
  private var unknownOutcome: JournalError?
  /// The shard whose history was pruned last; the next call goes on after it.
  private var lastPrunedShard: Shard?
  private var checkpointCount = 0
  private let measuredTableBytes = Atomic<Int>(0)
  /// Reads and changes which member serves which shard, for the thread of `ShardKeeper`.
  let keeper: any ClusterKeeper

  /// Connects, checks the server, makes the tables if there are none, and becomes a member.
  init(_ postgres: PostgresPlace, retention: Retention) throws(JournalError) {
    self.postgres = postgres
    self.retention = retention
    let connection = try postgres.reading { () throws(PostgresError) in
      let connection = try postgres.connectChecked()
      // Two connections that are open at once have two sessions.
      if try postgres.connect().backendPID == connection.backendPID {
        throw PostgresError.unreachable(PostgresError.poolerAdvice)
      }
      return connection
    }
    try PostgresSchema.prepareTables(
      connection, postgres.name,
      until: SystemClock.monotonicMilliseconds() + postgres.answerTimeoutMilliseconds)
    self.connection = connection
    identity = try postgres.reading { () throws(PostgresError) in
      try postgres.identity(connection)
    }
    let keeper = PostgresKeeper(postgres)
    self.keeper = keeper
    keeper.cluster = self
    try join(connection)
  }

  var place: any JournalPlace { postgres }
  /// The lease; an ended one while a shard is doubtful, so that the daemon first gives up that
  /// shard.
  var lease: JournalLease? {
    doubtfulShards.isEmpty ? heldLease?.lease : JournalLease(renewAt: 0, end: 0)
  }
  var name: String { postgres.name }
  var walPages: Int { 0 }
  var problem: JournalError? { nil }
  var fileSizes: (journal: Int, log: Int) { (measuredTableBytes.load(ordering: .relaxed), 0) }

  private func join(_ connection: PostgresConnection) throws(JournalError) {
    let lease = postgres.leaseFromNow()
    let member = postgres.member
    do throws(PostgresError) {
      let result = try connection.run([
        PostgresCommand(
          """
          INSERT INTO navd.member AS former(
            name, process, generation, leased_until, endpoint, key, web, draining)
          VALUES($2, $3, 1, \(Self.newLeaseEndSQL), $4, $5, $6, false)
          ON CONFLICT (name) DO UPDATE SET process = excluded.process,
            generation = former.generation + 1, leased_until = excluded.leased_until,
            endpoint = excluded.endpoint, key = excluded.key, web = excluded.web
          RETURNING generation, \(Self.leaseEndMicrosecondsSQL), ctid
          """, .integer(Int64(postgres.lease)), .text(member.name), .text(postgres.process),
          .text(member.endpoint), .text(member.key), .text(member.web)), Self.notificationCommand,
        Self.planningCommand,
      ])
      generation = result[0].integer(0, 0) ?? 0
      heldLease = (lease, result[0].integer(0, 1) ?? 0)
      memberCTID = result[0].integer(0, 2) ?? 0
    } catch {
      if case .refused(PostgresError.lockTimeout, _) = error { postgres.endLostPeers(connection) }
      throw .unreadable(path: name, reason: error.text)
    }
  }

  static let newLeaseEndSQL = "clock_timestamp() + $1 * interval '1 millisecond'"
  static let leaseEndMicrosecondsSQL = "(extract(epoch FROM leased_until) * 1000000)::bigint"

  /// Makes the planner read rows by `ctid` instead of scanning a small table.
  static let planningCommand = PostgresCommand("SELECT set_config('random_page_cost', '1', false)")

  /// Wakes the keepers of all members when the transaction is committed.
  static let notificationCommand = PostgresCommand("SELECT pg_notify('navd', '')")

  // The shards.

  func adopt(_ taken: [Journal]) throws(JournalError) {
    for journal in taken {
      guard let engine = journal.engine as? PostgresEngine else {
        preconditionFailure("a shard of another kind of database")
      }
      journal.retention = retention
      shards[journal.shard] = (journal, engine)
      doubtfulShards.remove(journal.shard)
      // The server of the commits may lack the take-over: the next connection judges all shards.
      if engine.identity != identity { connection = nil }
    }
    if connection == nil { try commit([]) }
  }

  func drop(_ lost: [Shard]) {
    for shard in lost { shards[shard] = nil }
    doubtfulShards.subtract(lost)
  }

  func release(_ leaving: [Shard], to member: String?) {
    drop(leaving)
    let numbers = leaving.map { Int64($0.number) }
    do throws(PostgresError) {
      _ = try connection?.run([
        PostgresCommand(
          """
          UPDATE navd.shard SET owner = $2, epoch = epoch + 1 WHERE id = ANY($1) AND owner = $3
            AND EXISTS(SELECT 1 FROM navd.member
              WHERE name = $3 AND process = $4 AND generation = $5)
          """, .integers(numbers), .text(member), .text(postgres.member.name),
          .text(postgres.process), .integer(generation)), Self.notificationCommand,
      ])
    } catch {
      connection = nil
    }
  }

  // One transaction of several shards.

  func stage(_ records: JournalRecords) throws(JournalError) {
    if !records.isEmpty { staged.append(records) }
  }

  func discardStaged() { staged = [] }

  func commitStaged() throws(JournalError) {
    guard !staged.isEmpty else { return }
    let parts = Self.recordsByShard(staged)
    staged = []
    var members: [(journal: Journal, engine: PostgresEngine)] = []
    do throws(JournalError) {
      for (shard, records) in parts {
        guard let member = shards[shard] else { throw .fenced(path: name, shards: [shard]) }
        try member.journal.stage(records)
        members.append(member)
        try member.journal.writeStagedWithoutCommit()
      }
      try commit(members.map(\.engine))
    } catch {
      for member in members { member.journal.discardStaged() }
      throw error
    }
    for member in members { member.journal.noteStagedCommitted() }
  }

  private static func recordsByShard(_ batch: [JournalRecords]) -> [(Shard, JournalRecords)] {
    var parts: [Shard: JournalRecords] = [:]
    for records in batch {
      var next = 0
      func addRows(before end: Int) {
        while next < end {
          let shard = Shard(ofNav: records.rows[next].header.nav)
          parts[shard, default: JournalRecords()].append(next, of: records)
          next += 1
        }
      }
      for entry in records.snapshots {
        addRows(before: entry.rowsBefore)
        parts[Shard(ofNav: entry.snapshot.nav), default: JournalRecords()].append(entry.snapshot)
      }
      addRows(before: records.rows.count)
    }
    // In one order, so that two transactions never wait for each other.
    return parts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// Commits the open transactions of some shards as one; without shards, it renews the lease.
  func commit(_ engines: [PostgresEngine]) throws(JournalError) {
    if let unknownOutcome { throw unknownOutcome }
    try throwIfDoubtful()
    let giveUp = SystemClock.monotonicMilliseconds() + PostgresPlace.longestOutageMilliseconds
    var moves = 0
    do throws(JournalError) {
      while true {
        switch sendCommit(of: engines) {
        case .stored: return noteCommitsStored(engines)
        case .notStored(let error): throw error
        case .rowMoved where SystemClock.monotonicMilliseconds() < giveUp:
          // Something that goes on changing the rows must not be answered by a storm of commits.
          if moves > 0 { _ = poll(nil, 0, PostgresPlace.reconnectPauseMilliseconds) }
          moves += 1
        case .rowMoved:
          throw JournalError.writeFailed(
            path: name, reason: "the server refuses the commit, and gives no reason that lasts")
        case .unknown(let reason):
          connection = nil
          if try isCommitStored(of: engines, until: giveUp, reason) {
            noteCommitsStored(engines)
            if engines.isEmpty { try throwIfDoubtful() }
            return
          }
          // Nothing of the batch is stored: the daemon decides it again, without the doubtful shards.
          try throwIfDoubtful()
        }
      }
    } catch {
      if case .syncFailed = error { unknownOutcome = error }
      throw error
    }
  }

  func throwIfDoubtful() throws(JournalError) {
    if !doubtfulShards.isEmpty { throw .fenced(path: name, shards: doubtfulShards.sorted()) }
  }

  private func noteCommitsStored(_ engines: [PostgresEngine]) {
    for engine in engines { engine.noteCommitStored() }
  }

  private enum CommitOutcome {
    case stored
    case notStored(JournalError)
    /// Not stored: somebody else changed a row at the same time, which gave it another `ctid`.
    case rowMoved
    case unknown(String)
  }

  private func sendCommit(of engines: [PostgresEngine]) -> CommitOutcome {
    guard let connection else { return .unknown("the connection was lost") }
    let lease = postgres.leaseFromNow()
    var commands = [PostgresCommand("BEGIN"), fenceCommand(engines, connection)]
    for engine in engines { commands += engine.transaction?.commands ?? [] }
    commands.append(PostgresCommand("COMMIT"))
    do throws(PostgresError) {
      let results = try connection.run(commands)
      guard !connection.isUnreplicated else {
        return .unknown("somebody cancelled the wait for the standby")
      }
      heldLease = (lease, results[1].integer(0, 1) ?? 0)
      memberCTID = results[1].integer(0, 2) ?? 0
      noteCTIDs(of: engines, results[1], 3)
      return .stored
    } catch {
      guard case .refused(let state, _) = error else { return .unknown(error.text) }
      do throws(PostgresError) {
        _ = try connection.run([PostgresCommand("ROLLBACK")])
        if state == "22012" {
          return try refusalReason(engines, connection).map(CommitOutcome.notStored) ?? .rowMoved
        }
      } catch {
        return .unknown(error.text)
      }
      switch state {
      case "53100": return .notStored(.full(path: name))
      default: return .notStored(.writeFailed(path: name, reason: error.text))
      }
    }
  }

  /// Notes the `ctid` of each shard's row; `rows` has them in the order of the shards.
  private func noteCTIDs(
    of engines: [PostgresEngine], _ rows: PostgresResult, _ column: Int32
  ) {
    for (row, engine) in engines.sorted(by: { $0.shard < $1.shard }).enumerated() {
      engine.shardCTID = row < rows.count ? rows.integer(row, column) ?? 0 : 0
    }
  }

  /// Renews the lease and counts a commit of each shard, or fails with the whole transaction.
  ///
  /// While a long transaction such as a dump is open, the server keeps every version of these rows.
  /// A search by key then reads all of them: 165 buffers for a commit after 10,000 commits. A
  /// search by the `ctid` of the last commit reads 6 buffers, always. If a row has another `ctid`
  /// by now, the statement fails, and `refusalReason` finds the new one.
  private func fenceCommand(
    _ engines: [PostgresEngine], _ connection: PostgresConnection
  ) -> PostgresCommand {
    let engines = engines.sorted { $0.shard < $1.shard }
    return PostgresCommand(
      // Where a row is missing, the division by zero fails, and the whole transaction with it. To look
      // at the result first would take a second round trip.
      """
      WITH fenced AS (
        UPDATE navd.member SET leased_until = \(Self.newLeaseEndSQL)
        WHERE ctid = ($10)[1] AND name = $2 AND process = $3 AND generation = $4
        RETURNING \(Self.leaseEndMicrosecondsSQL) AS ends, ctid AS place
      ), counted AS (
        UPDATE navd.shard SET seq = part.seq, commits = shard.commits + 1
        FROM unnest($5, $6, $7, $8) AS part(id, epoch, commits, seq)
        WHERE shard.ctid = ANY($11) AND shard.id = part.id AND shard.epoch = part.epoch
          AND shard.commits = part.commits
          AND EXISTS(SELECT 1 FROM fenced) RETURNING shard.id, shard.ctid AS place
      )
      SELECT 1 / ((SELECT count(*) FROM fenced) = 1 AND (SELECT count(*) FROM counted) = $9
        AND pg_backend_pid() = $12 AND \(PostgresSchema.DurabilityVerdict.areSafeSQL))::int,
        (SELECT ends FROM fenced), (SELECT place FROM fenced), counted.place
      FROM (SELECT) AS one LEFT JOIN counted ON true ORDER BY counted.id
      """, .integer(Int64(postgres.lease)), .text(postgres.member.name), .text(postgres.process),
      .integer(generation), .integers(engines.map { Int64($0.shard.number) }),
      .integers(engines.map(\.ownerEpoch)), .integers(engines.map(\.storedCommits)),
      .integers(engines.map { Int64(bitPattern: $0.transaction?.lastSequence ?? 0) }),
      .integer(Int64(engines.count)), .tids([memberCTID]), .tids(engines.map(\.shardCTID)),
      .integer(connection.backendPID))
  }

  /// Finds out why the server refused a commit; nil if a retry can succeed.
  ///
  /// Another member may have some of the shards, or another process this member's name; the
  /// database may lack commits; or the server may confirm commits that it does not keep.
  private func refusalReason(
    _ engines: [PostgresEngine], _ connection: PostgresConnection
  ) throws(PostgresError) -> JournalError? {
    let results = try connection.run([
      PostgresCommand(
        "SELECT ctid FROM navd.member WHERE name = $1 AND process = $2 AND generation = $3",
        .text(postgres.member.name), .text(postgres.process), .integer(generation)),
      PostgresCommand(
        "SELECT id, epoch, commits, ctid FROM navd.shard WHERE id = ANY($1) ORDER BY id",
        .integers(engines.map { Int64($0.shard.number) })),
      PostgresSchema.DurabilityVerdict.selectCommand,
      PostgresConnection.processCommand,
    ])
    if let refusal = PostgresSchema.DurabilityVerdict(results[2]).refusal {
      return .writeFailed(path: name, reason: refusal)
    }
    guard results[3].integer(0, 0) == connection.backendPID else {
      return .writeFailed(path: name, reason: PostgresError.poolerAdvice)
    }
    guard results[0].count == 1 else { return .fenced(path: name) }
    let stored = Self.counts(results[1])
    let changed = engines.filter { stored[$0.shard] != $0.expectedCount }
    // Another owner has raised the epoch of a shard. Otherwise commits are missing, or not ours.
    let lost = changed.filter { $0.ownerEpoch >= stored[$0.shard]?.ownerEpoch ?? .max }.map(\.shard)
    if !lost.isEmpty {
      _ = try connection.run([Self.markLostCommand(lost)])
      warn(of: lost)
    }
    memberCTID = results[0].integer(0, 0) ?? 0
    noteCTIDs(of: engines, results[1], 3)
    return changed.isEmpty ? nil : .fenced(path: name, shards: changed.map(\.shard))
  }

  // Upkeep.

  private static let checkpointsPerMeasurement = 8
  /// The number of shards that one call of `maintain` looks at.
  private static let shardsPerPruning = 64

  func checkpoint() throws(JournalError) {
    try commit([])
    if checkpointCount.isMultiple(of: Self.checkpointsPerMeasurement) { measureTables() }
    checkpointCount += 1
  }

  func countTime(until now: UInt64) {
    for shard in shards.values { shard.journal.countTime(until: now) }
  }

  /// Prunes the history of the next shard that has something to delete.
  ///
  /// If all shards together exceed the limit, each gives up history in proportion to its size.
  func maintain(now: UInt64, budget: Int) throws(JournalError) -> MaintenanceReport {
    var report = MaintenanceReport()
    let order = shards.keys.sorted()
    let total = shards.values.reduce(0) { $0 + $1.journal.rowBytes }
    let limit = retention.bytes / Shard.count * order.count
    var rest = order.filter { shard in lastPrunedShard.map { $0 < shard } ?? true }[...]
    for _ in 0..<Self.shardsPerPruning {
      guard let shard = rest.popFirst(), let journal = shards[shard]?.journal else { break }
      let excess = total > limit ? Double(total - limit) * Double(journal.rowBytes) : 0
      let part = try journal.maintain(
        now: now, budget: budget, excessBytes: total > 0 ? Int(excess / Double(total)) : 0)
      report.floors += part.floors
      report.needsSnapshot += part.needsSnapshot
      report.forgotten += part.forgotten
      report.deletedRows += part.deletedRows
      report.rowsLeft += part.rowsLeft
      // The same shard again, until it is done.
      report.hasMore = part.hasMore || part.deletedRows > 0
      if report.hasMore { break }
      lastPrunedShard = shard
    }
    report.hasMore = report.hasMore || !rest.isEmpty
    if !report.hasMore { lastPrunedShard = nil }
    return report
  }

  private func measureTables() {
    do throws(JournalError) {
      let result = try read(
        PostgresCommand(
          """
          SELECT pg_total_relation_size('navd.log') + pg_total_relation_size('navd.snapshot')
          """))
      measuredTableBytes.store(Int(clamping: result.integer(0, 0) ?? 0), ordering: .relaxed)
    } catch {
      // The figure stays as it was; the next commit finds out about the connection.
    }
  }

  /// Runs a statement that reads, on a new connection if the old one was lost.
  func read(_ command: PostgresCommand) throws(JournalError) -> PostgresResult {
    do throws(PostgresError) {
      if let connection {
        return try connection.run([command])[0]
      }
    } catch {
      guard case .unreachable = error else { throw .unreadable(path: name, reason: error.text) }
    }
    // Only a commit connects again, because that has to prove that this process is still the member.
    connection = nil
    try commit([])
    return try postgres.reading { () throws(PostgresError) in
      guard let connection else { throw PostgresError.unreachable("the connection was lost") }
      return try connection.run([command])[0]
    }
  }

  /// Leaves the cluster, so that the other members need not wait for the end of the lease.
  func close() throws(JournalError) {
    defer { connection = nil }
    // Whoever was taken over must not look as if it had ended in order.
    try commit([])
    do throws(PostgresError) {
      _ = try connection?.run([
        PostgresCommand(
          """
          UPDATE navd.member SET process = NULL, leased_until = NULL
          WHERE name = $1 AND process = $2 AND generation = $3
          """, .text(postgres.member.name), .text(postgres.process), .integer(generation)),
        Self.notificationCommand,
      ])
    } catch {
      // The lease ends by itself.
    }
  }
}

extension JournalRecords {
  fileprivate mutating func append(_ row: Int, of other: JournalRecords) {
    append(
      other.rows[row].header, body: other.bodies.span.extracting(other.body(of: row)))
  }
}
