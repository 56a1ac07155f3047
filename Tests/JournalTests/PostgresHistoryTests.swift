import Foundation
import NavigationCore
import NavigationHub
import PostgresServer
import Testing

@testable import Journal
@testable import PostgresJournal

/// Whether a shard still has the history that clients have seen: the decision, and what a server shows.
@Suite struct PostgresHistoryTests {
  private static let home = PostgresIdentity(lineage: "7:00000001:5:740", start: "1")
  private static let restarted = PostgresIdentity(lineage: home.lineage, start: "2")
  private static let promoted = PostgresIdentity(lineage: "7:00000002:5:740", start: "2")

  /// What a process knows, what it finds, and what follows.
  struct Case: Sendable, CustomTestStringConvertible {
    var name: String
    var found = PostgresHistoryTests.home
    var hasLease = true
    var isRenewalStored = true
    var isCommitting = false
    var stored: PostgresHistory.Count? = PostgresHistory.Count(ownerEpoch: 3, commits: 10)
    var verdict = PostgresHistory.Verdict.complete(isCommitStored: false)

    var testDescription: String { name }
  }

  private static func count(_ epoch: Int64, _ commits: Int64) -> PostgresHistory.Count {
    PostgresHistory.Count(ownerEpoch: epoch, commits: commits)
  }

  static let cases = [
    Case(name: "a lost connection"),
    Case(name: "a lost connection for longer than the lease", hasLease: false),
    Case(
      name: "a commit that was stored", isCommitting: true, stored: count(3, 11),
      verdict: .complete(isCommitStored: true)),
    Case(name: "a commit that was not stored", isCommitting: true),
    Case(name: "a commit that nobody sent", stored: count(3, 11), verdict: .lost),
    Case(name: "two commits", isCommitting: true, stored: count(3, 12), verdict: .lost),
    Case(name: "a commit less", stored: count(3, 9), verdict: .lost),
    Case(name: "an earlier owner", stored: count(2, 10), verdict: .lost),
    Case(name: "a later owner", stored: count(4, 8), verdict: .taken),
    Case(name: "no row", stored: nil, verdict: .taken),
    Case(name: "a server that was started again", found: restarted),
    Case(
      name: "a server that was away for longer than the lease", found: restarted, hasLease: false),
    Case(
      name: "a data directory from before the last renewal", found: restarted, hasLease: false,
      isRenewalStored: false, verdict: .lost),
    Case(name: "a promotion within the lease", found: promoted),
    Case(
      name: "a promotion within the lease with a stored commit", found: promoted,
      isCommitting: true, stored: count(3, 11), verdict: .complete(isCommitStored: true)),
    Case(
      name: "a promoted server that lacks a commit", found: promoted, stored: count(3, 9),
      verdict: .lost),
    Case(
      name: "a promotion after the lease, with the same numbers", found: promoted, hasLease: false,
      verdict: .doubtful),
  ]

  @Test("a shard of a process that lost its connection", arguments: cases)
  func verdict(one: Case) {
    let witness = PostgresHistory.Reconnection(
      former: Self.home, found: one.found, hasLease: one.hasLease,
      isRenewalStored: one.isRenewalStored)
    let found = witness.verdict(
      Self.count(3, 10), isCommitting: one.isCommitting, one.stored)
    #expect(found == one.verdict)
  }

  @Test func `a part of a transaction, and what was doubtful before, is lost`() {
    let witness = PostgresHistory.Reconnection(
      former: Self.home, found: Self.home, hasLease: true, isRenewalStored: true)
    let shards = (0..<4).map { Shard($0) }
    let own = Dictionary(uniqueKeysWithValues: shards.map { ($0, Self.count(3, 10)) })
    var stored = own
    stored[shards[0]] = Self.count(3, 11)
    let divided = witness.verdicts(own, [shards[0], shards[1]], stored, [shards[2]])
    #expect(divided.shards { $0 == .lost } == Array(shards[..<3]))
    #expect(divided[shards[3]] == .complete(isCommitStored: false))
  }

  @Test func `who takes a shard renews its epochs unless the database is the last owner's`() {
    func loss(_ server: String, isMarked: Bool = false) -> HistoryLoss? {
      PostgresHistory.loss(server, isMarked: isMarked, in: Self.home)
    }
    #expect(loss(Self.home.text) == nil)
    #expect(loss(Self.restarted.text) == .crash && loss(Self.promoted.text) == .crash)
    #expect(loss("7:00000001") == .crash)
    #expect(loss(Self.home.text, isMarked: true) == .backup)
    #expect(PostgresIdentity(Self.home.text) == Self.home)
    #expect(PostgresIdentity(nil) == nil)
  }
}

/// Each of these would serve other contents under the epoch that clients know.
extension PostgresHistoryTests {
  /// The shards of which a commit says that they must be loaded again.
  private func lost(_ journal: Journal, _ records: [JournalRecord]) -> [Shard] {
    let error = #expect(throws: JournalError.self) { try journal.commit(records) }
    guard case .fenced(_, let shards)? = error else {
      Issue.record("\(String(describing: error))")
      return []
    }
    return shards
  }

  @Test func `a standby that lags is promoted while a member has no lease: a new epoch`() throws {
    let primary = try PostgresServer()
    let standby = try PostgresServer(standbyOf: primary, options: ["cluster_name=standby"])
    try primary.requireStandby()
    let stage = try PostgresStage(primary)
    func place(_ name: String) throws -> PostgresPlace {
      try PostgresPlace(
        conninfo: PostgresServer.conninfo(stage.database, on: [primary, standby]),
        member: ClusterMember(name: name, endpoint: "ipc:///\(name)", leaseLeft: 0),
        lease: 60_000
      ) { _ in }
    }
    var writer = Writer(seed: 1)
    let former = try stage.open(place("one"))
    _ = try former.contents()
    try former.commit(writer.batch(5))
    // Somebody mends the standby, and lets the server confirm alone.
    standby.kill()
    try primary.sql("ALTER SYSTEM RESET synchronous_standby_names")
    try primary.sql("SELECT pg_reload_conf()")
    try stage.expireLeases()
    let next = try stage.open(place("two"))
    _ = try next.contents()
    var lost = writer
    try next.commit(lost.batch(7))
    primary.kill()
    try standby.start()
    try standby.promote()
    // The first one was silent meanwhile.
    let cluster = try stage.cluster(of: former)
    cluster.heldLease?.lease.end = 0
    #expect(self.lost(former, writer.peek(1)) == [.first])
    #expect(cluster.lease?.end == 0, "it must not answer about the shard any more")
    cluster.drop([.first])
    // The keeper has its own connection, which was lost too.
    _ = try? cluster.keeper.read()
    let again = try stage.take(by: cluster)
    #expect(try again.contents().rows == writer.rows)
    #expect(again.mustRenewEpochs && !again.isRestored)
    try again.epochsRenewed(before: 0)
    #expect(try !stage.take(by: cluster).mustRenewEpochs)
  }

  @Test func `a batch is not stored behind the back of a shard that is in doubt`() throws {
    let stage = try PostgresStage()
    var writer = Writer(seed: 6)
    let journal = try stage.open()
    _ = try journal.contents()
    let cluster = try stage.cluster(of: journal)
    try cluster.adopt(cluster.keeper.take([Shard(9)]))
    try journal.commit(writer.batch(2))
    try stage.sql("UPDATE navd.shard SET epoch = epoch - 1 WHERE id = 9")
    try stage.endConnections()
    let batch = writer.batch(1)
    #expect(lost(journal, batch) == [Shard(9)])
    #expect(cluster.lease?.end == 0)
    cluster.drop([Shard(9)])
    try journal.commit(batch)
    try stage.close(journal)
    #expect(try stage.open().contents().rows == writer.rows)
  }

  @Test func `a shard is not served whose take-over the server of the commits lacks`() throws {
    let stage = try PostgresStage()
    let cluster = try PostgresCluster(stage.place(), retention: Retention())
    let there = cluster.identity
    for isLacking in [true, false] {
      let taken = try cluster.keeper.take([.first])
      #expect(taken.count == 1)
      if isLacking {
        try stage.sql("UPDATE navd.shard SET epoch = epoch - 1, owner = 'two' WHERE id = 0")
      }
      // A commit has found another server since.
      cluster.identity = PostgresIdentity(lineage: "7:00000001:5:740", start: "1")
      var found: JournalError?
      do { try cluster.adopt(taken) } catch { found = error }
      #expect(found == (isLacking ? .fenced(path: cluster.name, shards: [.first]) : nil))
      #expect(cluster.identity == there)
      cluster.release([.first], to: nil)
      try stage.sql("UPDATE navd.shard SET owner = NULL WHERE id = 0")
    }
  }

  /// Found by Tests/Model, which now has it as TAKE_OWN_WITHOUT_DELAY: two daemons answered about a nav.
  @Test(arguments: [
    "UPDATE navd.shard SET owner = 'one', server = '7:00000001:5:740@1' WHERE id = 0",
    // Another database, as after a promotion, which may lack that somebody took the shard.
    "UPDATE navd.version SET number = number",
  ])
  func `its own shard, or nobody's, waits for the lease that a promotion may have lost`(
    change: String
  ) throws {
    let stage = try PostgresStage()
    let cluster = try PostgresCluster(stage.place(lease: 2000), retention: Retention())
    try stage.sql(change)
    #expect(try cluster.keeper.take([.first]).isEmpty)
    let end = ContinuousClock.now + .seconds(120)
    var taken: [Journal] = []
    while taken.isEmpty, ContinuousClock.now < end {
      taken = try cluster.keeper.take([.first])
    }
    #expect(taken.map(\.mustRenewEpochs) == [true])
  }

  @Test func `a commit is synchronous whatever the server, the database or the user has`() throws {
    let stage = try PostgresStage()
    try stage.server.sql("ALTER DATABASE \(stage.database) SET synchronous_commit = off")
    let connection = try stage.place().connect()
    func value() throws -> String? {
      let show = PostgresCommand("SELECT current_setting('synchronous_commit')")
      return try connection.run([show], until: UInt64.max / 4)[0].first
    }
    #expect(try value() == "on")
    try stage.server.sql("ALTER DATABASE \(stage.database) SET synchronous_commit = remote_apply")
    let second = try stage.place().connect()
    let show = PostgresCommand("SHOW synchronous_commit")
    #expect(try second.run([show], until: UInt64.max / 4)[0].first == "remote_apply")
  }

  @Test("nothing is confirmed while", arguments: ["fsync", "full_page_writes"])
  func unsafe(setting: String) throws {
    let server = try PostgresServer()
    let stage = try PostgresStage(server)
    var writer = Writer(seed: 2)
    let journal = try stage.open()
    _ = try journal.contents()
    try journal.commit(writer.batch(2))
    func set(_ value: String) throws {
      try server.sql("ALTER SYSTEM SET \(setting) = \(value)")
      try server.sql("SELECT pg_reload_conf()")
      #expect(try eventually { try server.sql("SHOW \(setting)") == value })
    }
    try set("off")
    let batch = writer.peek(3)
    var error: JournalError?
    // Its process of the server reads the file at its next statement.
    #expect(
      try eventually {
        do {
          try stage.cluster(of: journal).checkpoint()
          return false
        } catch let found as JournalError {
          error = found
          return true
        }
      })
    #expect(error?.description.contains("\(setting) is off") == true)
    error = #expect(throws: JournalError.self) { try journal.commit(batch) }
    guard case .writeFailed? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    try set("on")
    #expect(
      try eventually {
        (try? stage.cluster(of: journal).checkpoint()) != nil
      })
    try journal.commit(writer.batch(3))
    try stage.close(journal)
    #expect(try stage.open().contents().rows == writer.rows)
  }

  @Test(
    "rows that are missing, or too many, are damage",
    arguments: [
      "DELETE FROM navd.log WHERE last = (SELECT max(last) FROM navd.log)", "TRUNCATE navd.log",
      "UPDATE navd.shard SET seq = 0, commits = 0 WHERE id = 0",
      "UPDATE navd.shard SET seq = seq - 1 WHERE id = 0",
      "UPDATE navd.shard SET seq = seq + 1 WHERE id = 0",
      "TRUNCATE navd.log, navd.fact; UPDATE navd.shard SET seq = 1 WHERE id = 0",
    ])
  func missing(change: String) throws {
    let stage = try PostgresStage()
    var writer = Writer(seed: 3)
    let journal = try stage.open()
    _ = try journal.contents()
    for _ in 0..<4 { try journal.commit(writer.batch(3)) }
    _ = try stage.cluster(of: journal).keeper.read()
    try stage.close(journal)
    try stage.sql(change)
    let error = #expect(throws: JournalError.self) { try stage.open().contents() }
    guard case .damaged? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func `a shard without its row is reported, and the others are served`() throws {
    let stage = try PostgresStage()
    let warnings = Warnings()
    let cluster = try PostgresCluster(
      stage.place("one", warn: { warnings.append($0) }), retention: Retention())
    try stage.sql("DELETE FROM navd.shard WHERE id = 7")
    _ = try cluster.keeper.read()
    #expect(warnings.all.contains { $0.contains("navd.shard has 1023 of 1024 rows") })
    #expect(try cluster.keeper.take([.first, Shard(7)]).map(\.shard) == [.first])
  }

  /// How an administrator goes back to an earlier state.
  enum Restore: String, CaseIterable {
    case dump, rows, directory, copy, database
  }

  static let restores: [(Restore, Bool)] = [
    (.dump, true), (.rows, true), (.directory, true), (.dump, false), (.copy, false),
    (.database, false),
  ]

  @Test("an earlier state needs new epochs, and nobody has to ask for them", arguments: restores)
  func restored(_ restore: Restore, isUnderMember: Bool) throws {
    let isPhysical = restore == .directory || restore == .copy
    let server = try isPhysical ? PostgresServer() : PostgresServer.shared.get()
    let stage = try PostgresStage(server)
    var writer = Writer(seed: 4)
    let journal = try stage.open()
    _ = try journal.contents()
    try journal.commit(writer.batch(5))
    var lost = writer
    let old = try server.save(stage.database, isData: restore == .rows)
    if isPhysical { try server.saveDirectory() }
    try journal.commit(lost.batch(4))
    var serving = server
    var database = stage.database
    // What has loaded the shard lets go of its tables at the keeper's next turn.
    _ = try? stage.cluster(of: journal).keeper.read()
    if !isUnderMember { try stage.close(journal) }
    switch restore {
    case .dump: try server.restore(old, in: database)
    case .rows:
      try server.restore(
        "TRUNCATE navd.member, navd.shard, navd.log, navd.snapshot, navd.fact, navd.takeover, "
          + "navd.version;\n" + old, in: database)
    case .directory: try server.putDirectoryBack()
    case .copy: serving = try PostgresServer(beside: server)
    case .database:
      database = try server.makeDatabase()
      try server.restore(old, in: database)
    }
    if isUnderMember, [.dump, .rows, .directory].contains(restore) {
      #expect(self.lost(journal, lost.peek(1)) == [.first])
    }
    let place = try PostgresPlace(
      conninfo: serving.conninfo(database),
      member: ClusterMember(name: "one", endpoint: "ipc:///one", leaseLeft: 0), lease: 60_000
    ) { _ in }
    let again = try stage.open(place)
    #expect(try again.contents().rows == writer.rows)
    #expect(again.mustRenewEpochs)
    try again.epochsRenewed(before: 0)
    try stage.close(again)
    #expect(try !stage.open(place).mustRenewEpochs)
  }

  @Test func `a daemon that starts in the middle of a restore makes no tables of its own`() throws {
    let server = try PostgresServer.shared.get()
    let stage = try PostgresStage(server)
    var writer = Writer(seed: 5)
    let journal = try stage.open()
    _ = try journal.contents()
    try journal.commit(writer.batch(5))
    let old = try server.save(stage.database)
    _ = try stage.cluster(of: journal).keeper.read()
    try stage.close(journal)
    let begin = try #require(old.range(of: "CREATE SCHEMA navd")).lowerBound
    let end = try #require(old.range(of: "COPY navd.version")).lowerBound
    // Between DROP and CREATE, and between two tables.
    var from = old.startIndex
    for place in [begin, end] {
      try server.restore(String(old[from..<place]), in: stage.database)
      let error = #expect(throws: JournalError.self) { try stage.open() }
      #expect(error?.description.contains("restore") == true, "\(String(describing: error))")
      from = place
    }
    try server.restore(String(old[from...]), in: stage.database)
    let again = try stage.open()
    #expect(try again.contents().rows == writer.rows)
    #expect(again.mustRenewEpochs)
  }
}

/// What a place has reported.
final class Warnings: @unchecked Sendable {
  private let lock = NSLock()
  private var found: [String] = []

  func append(_ text: String) { lock.withLock { found.append(text) } }

  var all: [String] { lock.withLock { found } }
}
