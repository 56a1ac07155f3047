import CLinux
import Foundation
import NavigationCore
import NavigationHub
import PostgresServer
import RuntimePaths
import Synchronization
import Testing

@testable import Journal
@testable import PostgresJournal

/// What only a database on another machine can do to a journal.
@Suite struct PostgresEngineTests {
  /// Whether an error is that of a process whose place another has taken over.
  private func isFenced(_ error: JournalError?) -> Bool {
    if case .fenced? = error { true } else { false }
  }

  @Test func `after a take-over the former owner stores nothing, not even once`() throws {
    let stage = try PostgresStage()
    var writer = Writer(seed: 1)
    let former = try stage.open()
    _ = try former.contents()
    try former.commit(writer.batch(5))
    try stage.sql("UPDATE navd.member SET leased_until = clock_timestamp() - interval '1 ms'")
    let next = try stage.open(as: "two")
    _ = try next.contents()
    let batch = writer.peek(7)
    for _ in 0..<2 {
      #expect(isFenced(#expect(throws: JournalError.self) { try former.commit(batch) }))
    }
    let cluster = try stage.cluster(of: former)
    #expect(isFenced(#expect(throws: JournalError.self) { try cluster.checkpoint() }))
    #expect(isFenced(#expect(throws: JournalError.self) { try stage.close(former) }))
    try next.commit(writer.batch(2))
    try stage.close(next)
    #expect(try stage.open(as: "three").contents().rows == writer.rows)
    #expect(
      try stage.sql(
        """
        SELECT string_agg(coalesce(former, '') || ' to ' || owner || ': ' || shards, ', '
          ORDER BY number) FROM navd.takeover
        """) == " to one: 1, one to two: 1, two to three: 1")
  }

  @Test func `after an outage of the server, the daemon that served comes first`() throws {
    let stage = try PostgresStage()
    var writer = Writer(seed: 11)
    let serving = try stage.open()
    _ = try serving.contents()
    let waiting = try PostgresCluster(stage.place("two"), retention: Retention())
    func take() throws -> [Journal] {
      _ = try waiting.keeper.read()
      return try waiting.keeper.take([.first])
    }
    #expect(try take().isEmpty)
    // The outage is longer than the lease.
    try stage.endConnections()
    try stage.expireLeases()
    #expect(throws: JournalError.self, "its connection was lost") { try take() }
    #expect(try take().isEmpty)
    try serving.commit(writer.batch(2))
    #expect(try take().isEmpty)
    try stage.close(serving)
    #expect(try stage.take(by: waiting).contents().rows == writer.rows)
  }

  @Test func `a member whose lease has ended by its own clock does not take over itself`() throws {
    let stage = try PostgresStage()
    try stage.sql(
      """
      CREATE TABLE public.clock(late interval);
      INSERT INTO public.clock VALUES('0');
      ALTER FUNCTION pg_catalog.clock_timestamp() RENAME TO true_clock;
      CREATE FUNCTION pg_catalog.clock_timestamp() RETURNS timestamptz
      LANGUAGE sql VOLATILE AS 'SELECT true_clock() - late FROM public.clock'
      """)
    let cluster = try PostgresCluster(stage.place(), retention: Retention())
    _ = try stage.take(by: cluster).contents()
    try stage.expireLeases()
    #expect(try cluster.keeper.read().view.members.allSatisfy { $0.leaseLeft <= 0 })
    // Then somebody sets the server's clock back.
    try stage.sql("UPDATE public.clock SET late = '1 hour'")
    #expect(try cluster.keeper.read().view.members.allSatisfy { $0.leaseLeft <= 0 })
    _ = try cluster.keeper.take([.first])
    #expect(try stage.sql("SELECT count(process) FROM navd.member") == "1")
    try cluster.checkpoint()
  }

  @Test func `a server that refuses one commit for no lasting reason ends nobody`() throws {
    let stage = try PostgresStage()
    var writer = Writer(seed: 12)
    try stage.sql(
      """
      CREATE SEQUENCE public.answer START 100;
      ALTER FUNCTION pg_catalog.current_setting(text) RENAME TO true_setting;
      CREATE FUNCTION pg_catalog.current_setting(text) RETURNS text LANGUAGE plpgsql
      AS $$BEGIN RETURN CASE WHEN $1 = 'fsync' AND nextval('public.answer') = 1 THEN 'off'
        ELSE true_setting($1) END; END$$
      """)
    let journal = try stage.open()
    _ = try journal.contents()
    try journal.commit(writer.batch(1))
    try stage.sql("SELECT setval('public.answer', 1, false)")
    let batch = writer.batch(2)
    do {
      try journal.commit(batch)
    } catch JournalError.writeFailed {
      try journal.commit(batch)
    }
    #expect(try stage.sql("SELECT last_value > 1 FROM public.answer") == "t")
    try stage.close(journal)
    #expect(try stage.open().contents().rows == writer.rows)
  }

  @Test func `a take-over waits for a commit that is under way, and has its rows`() throws {
    let stage = try PostgresStage()
    var writer = Writer(seed: 2)
    let former = try stage.open()
    _ = try former.contents()
    try former.commit(writer.batch(1))
    // The lease ends while the server is in the middle of a commit of its owner, for which another
    // connection stands.
    try stage.expireLeases()
    let connection = try stage.place().connect()
    let far = UInt64.max / 4
    _ = try connection.run(
      [
        "BEGIN", "UPDATE navd.member SET draining = false",
        "UPDATE navd.shard SET seq = 1 WHERE id = 0",
      ]
      .map { PostgresCommand($0) }, until: far)
    let opening = Opening { try stage.open(as: "two").contents().rows }
    try stage.awaitBlocked()
    #expect(!opening.hasEnded)
    _ = try connection.run([PostgresCommand("COMMIT")], until: far)
    #expect(try opening.value() == writer.rows)
    #expect(isFenced(#expect(throws: JournalError.self) { try former.commit(writer.peek(1)) }))
  }

  @Test func `a commit without rows whose connection was lost is stored, or sent again`() throws {
    let stage = try PostgresStage()
    var writer = Writer(seed: 8)
    let journal = try stage.open()
    _ = try journal.contents()
    try journal.commit(writer.batch(20, navs: 1))
    try stage.endConnections()
    let snapshot = writer.snapshot(nav: 1)
    try journal.commit([.snapshot(snapshot)])
    try stage.endConnections()
    try stage.cluster(of: journal).checkpoint()
    try journal.commit(writer.batch(1, navs: 1))
    try stage.close(journal)
    let contents = try stage.open().contents()
    #expect(contents.snapshots == [snapshot] && contents.rows == writer.rows)
  }

  @Test func `of two processes with one name, the one that was taken over stores nothing`() throws {
    let stage = try PostgresStage()
    var writer = Writer(seed: 9)
    let former = try stage.open()
    _ = try former.contents()
    try former.commit(writer.batch(1))
    let lost = writer.peek(1)
    let next = try stage.open()
    _ = try next.contents()
    try next.commit(writer.batch(1))
    try stage.endConnections()
    #expect(isFenced(#expect(throws: JournalError.self) { try former.commit(lost) }))
    try next.commit(writer.batch(1))
    try stage.close(next)
    #expect(try stage.open().contents().rows == writer.rows)
  }

  @Test func `a server's process that waits for a silent daemon is ended after the lease`() throws {
    let stage = try PostgresStage()
    let place = try stage.place(lease: 1_000)
    _ = try stage.open(place)
    // A daemon whose machine lost its power in the middle of a commit: the server awaits the rest.
    let silent = try place.connect()
    _ = try silent.run(
      [
        "BEGIN", "UPDATE navd.member SET draining = false",
        "UPDATE navd.shard SET seq = 99 WHERE id = 0",
      ]
      .map { PostgresCommand($0) }, until: UInt64.max / 4)
    let waiting = try PostgresCluster(stage.place("two", lease: 1_000), retention: Retention())
    var next: Journal?
    #expect(
      try eventually {
        try? waiting.checkpoint()
        next = try? stage.take(by: waiting)
        return next != nil
      })
    #expect(try next?.contents() == Contents())
    // Attempts that were given up leave nothing on the server.
    #expect(
      try eventually {
        try stage.sql(
          "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
            + "AND wait_event_type = 'Lock'") == "0"
      })
    withExtendedLifetime(silent) {}
  }

  @Test func `a connection that ends in the middle of commits loses and doubles nothing`() throws {
    let stage = try PostgresStage()
    var writer = Writer(seed: 3)
    let journal = try stage.open()
    _ = try journal.contents()
    // Each connection may store something first, so that the commits get ahead on every machine.
    let enemy = Opening {
      var (ended, stored) = (0, "")
      while ended < 10 {
        let newest = try stage.sql("SELECT max(seq) FROM navd.shard")
        guard newest != stored else { continue }
        stored = newest
        let found = try stage.sql(
          """
          SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
          WHERE datname = '\(stage.database)' AND application_name LIKE 'navd %'
          """)
        ended += Int(found) ?? 0
      }
    }
    while !enemy.hasEnded { try journal.commit(writer.batch(5)) }
    try enemy.value()
    try stage.close(journal)
    #expect(try stage.open().contents().rows == writer.rows)
  }

  @Test func `a server that crashes and comes back delays a commit, and the lease goes on`() throws
  {
    let server = try PostgresServer()
    let stage = try PostgresStage(server)
    var writer = Writer(seed: 4)
    let journal = try stage.open()
    _ = try journal.contents()
    for round in 0..<3 {
      try journal.commit(writer.batch(30))
      server.kill()
      let starting = Opening { try server.start() }
      try journal.commit(writer.batch(30))
      try starting.value()
      #expect(journal.lastSequence == writer.sequence, "round \(round)")
      #expect(journal.lease != nil && !journal.mustRenewEpochs)
    }
    try stage.close(journal)
    #expect(try stage.open().contents().rows == writer.rows)
  }

  @Test func `a commit that nobody but the primary has is confirmed when the standby has it`()
    throws
  {
    let primary = try PostgresServer()
    let standby = try PostgresServer(standbyOf: primary, options: ["cluster_name=standby"])
    try primary.requireStandby()
    let stage = try PostgresStage(primary)
    var writer = Writer(seed: 5)
    let journal = try stage.open()
    _ = try journal.contents()
    try journal.commit(writer.batch(3))
    standby.kill()
    let batch = writer.batch(3)
    let committing = Opening { [journal = Unchecked(journal)] in
      try journal.value.commit(batch)
    }
    // Somebody cancels the wait; the row is then on the primary alone.
    try stage.awaitWait("SyncRep")
    #expect(
      try eventually {
        try stage.sql(
          """
          SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity
          WHERE wait_event = 'SyncRep' AND datname = '\(stage.database)'
          """) != "0"
      })
    try stage.awaitWait("SyncRep")
    #expect(!committing.hasEnded)
    try standby.start()
    try committing.value()
    primary.kill()
    try standby.promote()
    let there = try PostgresPlace(
      conninfo: standby.conninfo(stage.database),
      member: ClusterMember(name: "one", endpoint: "ipc:///one", leaseLeft: 0), lease: 60_000
    ) { _ in }
    let promoted = try stage.open(there)
    #expect(try promoted.contents().rows == writer.rows)
    // Nobody who was there can say that the standby has everything.
    #expect(promoted.mustRenewEpochs && !promoted.isRestored)
    try promoted.epochsRenewed(before: 1 << 40)
    try stage.close(promoted)
    let later = try stage.open(there)
    #expect(!later.mustRenewEpochs)
    #expect(try later.contents().rows == writer.rows)
    #expect(later.lastSequence == 1 << 40)
  }

  @Test(arguments: ["fsync", "full_page_writes"])
  func `a server that could lose what it has confirmed is refused by name`(name: String) {
    var values = ["fsync": "on", "full_page_writes": "on"]
    #expect(PostgresSchema.DurabilityVerdict(values).refusal == nil)
    values[name] = "off"
    #expect(PostgresSchema.DurabilityVerdict(values).refusal?.hasPrefix("\(name) is off") == true)
  }

  @Test func `what a lost server would take with it is a warning`() throws {
    let stage = try PostgresStage()
    let warnings = Mutex<[String]>([])
    let place = try PostgresPlace(
      conninfo: stage.server.conninfo(stage.database),
      member: ClusterMember(name: "one", endpoint: "ipc:///one", leaseLeft: 0)
    ) { text in warnings.withLock { $0.append(text) } }
    _ = try stage.open(place)
    let found = warnings.withLock { $0 }
    #expect(found.count == 1 && found[0].contains("synchronous_standby_names is empty"))
  }

  @Test func `tables of another version are not touched`() throws {
    let stage = try PostgresStage()
    try stage.close(stage.open())
    try stage.sql("UPDATE navd.version SET number = number + 1")
    let newer = #expect(throws: JournalError.self) { try stage.open() }
    try stage.sql("UPDATE navd.version SET number = number - 2")
    let older = #expect(throws: JournalError.self) { try stage.open() }
    let own = Int(PostgresSchema.version)
    guard case .newer(_, found: own + 1, supported: own)? = newer,
      case .older(_, found: own - 1, supported: own)? = older
    else {
      Issue.record("\(String(describing: newer)), \(String(describing: older))")
      return
    }
  }

  @Test func `daemons that start at once on an empty database make it once`() throws {
    let stage = try PostgresStage()
    let openings = (0..<4).map { number in
      Opening {
        do {
          _ = try stage.open(as: "\(number)")
          return true
        } catch JournalError.locked {
          return false
        }
      }
    }
    #expect(try openings.map { try $0.value() }.filter { $0 }.count == 1)
  }

  @Test("rule 8: another server's data needs new epochs, and an administrator can ask for them")
  func epochs() throws {
    let stage = try PostgresStage()
    let first = try stage.open()
    _ = try first.contents()
    #expect(!first.mustRenewEpochs)
    try stage.close(first)
    try stage.sql("UPDATE navd.shard SET server = '1:00000001'")
    let second = try stage.open()
    _ = try second.contents()
    #expect(second.mustRenewEpochs && !second.isRestored)
    // Until it is done, the next one has to do it.
    #expect(try stage.open().mustRenewEpochs)
    let third = try stage.open()
    _ = try third.contents()
    try third.epochsRenewed(before: 0)
    try third.renewEpochsAtNextStart()
    try stage.close(third)
    let fourth = try stage.open()
    #expect(fourth.mustRenewEpochs && fourth.isRestored)
  }

  @Test(
    "rule 10: a connection string with a password or a fault is refused without printing it",
    arguments: [
      "host=/x password=secret", "postgresql://navd:secret@db/navd", "hots=/x",
      "host=/x sslpassword=secret", "host=/x password=my secret",
      "postgresql://navd:%zzsecret@db/navd",
    ])
  func passwords(conninfo: String) {
    let error = #expect(throws: JournalError.self) {
      try PostgresPlace(
        conninfo: conninfo, member: ClusterMember(name: "one", endpoint: "", leaseLeft: 0)
      ) { _ in }
    }
    #expect(error?.description.contains("secret") == false)
  }

  @Test func `the lease counts from before the commit was sent`() throws {
    let stage = try PostgresStage()
    let cluster = try PostgresCluster(
      stage.place("one", lease: 10_000), retention: Retention())
    let before = SystemClock.bootMilliseconds()
    try cluster.checkpoint()
    let after = SystemClock.bootMilliseconds()
    let lease = try #require(cluster.lease)
    #expect(lease.end >= before + 9_000 && lease.end <= after + 9_000)
    #expect(lease.renewAt >= before + 3_333 && lease.renewAt <= after + 3_333)
  }
}

/// A function on a thread of its own, and its result.
final class Opening<Value: Sendable>: Sendable {
  private let result = Mutex<Result<Value, any Error>?>(nil)

  init(_ body: @escaping @Sendable () throws -> Value) {
    Thread.detachNewThread {
      let result = Result { try body() }
      self.result.withLock { $0 = result }
    }
  }

  var hasEnded: Bool { result.withLock { $0 != nil } }

  /// Waits for the end.
  func value() throws -> Value {
    _ = try eventually { hasEnded }
    return try #require(try result.withLock { try $0?.get() }, "it has not ended")
  }
}

/// A value that one thread at a time uses.
struct Unchecked<Value>: @unchecked Sendable {
  var value: Value

  init(_ value: Value) { self.value = value }
}

/// Waits until something is so, for at most a minute.
func eventually(_ isSo: () throws -> Bool) throws -> Bool {
  let end = Date(timeIntervalSinceNow: 60)
  while try !isSo() {
    guard Date() < end else { return false }
    _ = poll(nil, 0, 5)
  }
  return true
}

extension PostgresStage {
  /// Ends the leases of all members.
  func expireLeases() throws {
    try sql("UPDATE navd.member SET leased_until = clock_timestamp() WHERE process IS NOT NULL")
  }

  /// Ends all connections of daemons.
  func endConnections() throws {
    try sql(
      """
      SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name LIKE 'navd %'
      """)
  }

  /// Waits until a backend of this database waits for a lock.
  func awaitBlocked() throws { try awaitEvent("wait_event_type = 'Lock'") }

  /// Waits until a backend of this database waits for something.
  func awaitWait(_ name: String) throws { try awaitEvent("wait_event = '\(name)'") }

  private func awaitEvent(_ condition: String) throws {
    let isThere = try eventually {
      try server.sql(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = '\(database)' AND \(condition)")
        != "0"
    }
    #expect(isThere, "nobody waits: \(condition)")
  }
}
