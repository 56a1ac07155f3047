import Foundation
import NavigationCore
import NavigationHub
import PostgresServer
import Testing

@testable import Journal
@testable import PostgresJournal

/// The laws of an engine, with the numbers of `JournalEngine`; each runs on every engine.
@Suite struct JournalEngineLaws {
  @Test("1: what was committed is read after a crash", arguments: TestedEngine.allCases)
  func durable(engine: TestedEngine) throws {
    let stage = try engine.stage()
    var writer = Writer(seed: 1)
    let journal = try stage.open()
    _ = try journal.contents()
    for size in [1, 64, 65, 200] { try journal.commit(writer.batch(size)) }
    let snapshot = writer.snapshot(nav: 2)
    try journal.commit([.snapshot(snapshot)] + writer.batch(3))
    try journal.stage(writer.peek(30))
    try stage.crash()
    let again = try stage.open()
    let contents = try again.contents()
    #expect(contents.rows == writer.rows)
    #expect(contents.snapshots == [snapshot])
    #expect(again.lastSequence == writer.sequence && !again.mustRenewEpochs)
    try again.commit(writer.batch(2))
    try stage.close(again)
    #expect(try stage.open().contents().rows == writer.rows)
  }

  @Test(
    "2: a refused commit stores nothing, and can be tried again", arguments: TestedEngine.allCases)
  func atomic(engine: TestedEngine) throws {
    let stage = try engine.stage()
    var writer = Writer(seed: 2)
    let journal = try stage.open()
    _ = try journal.contents()
    try journal.commit(writer.batch(10))
    let before = writer.rows
    let batch = writer.batch(400) + [.snapshot(writer.snapshot(nav: 1))]
    try stage.refuseRows(true, journal)
    for _ in 0..<3 {
      #expect(throws: JournalError.self) { try journal.commit(batch) }
      #expect(journal.lastSequence == 10)
      #expect(try stage.reader().row(at: 11) == nil)
    }
    #expect(try stage.reader().row(at: 10) == before.last)
    try stage.refuseRows(false, journal)
    try journal.commit(batch)
    try stage.close(journal)
    #expect(try stage.open().contents().rows == writer.rows)
  }

  @Test("3: what was rolled back is not stored", arguments: TestedEngine.allCases)
  func rolledBack(engine: TestedEngine) throws {
    let stage = try engine.stage()
    var writer = Writer(seed: 3)
    let journal = try stage.open()
    _ = try journal.contents()
    try journal.commit(writer.batch(5))
    try journal.stage(writer.peek(100))
    journal.discardStaged()
    try journal.commit(writer.batch(3))
    try stage.close(journal)
    #expect(try stage.open().contents().rows == writer.rows)
  }

  @Test("4: only one process at a time can commit", arguments: TestedEngine.allCases)
  func exclusive(engine: TestedEngine) throws {
    let stage = try engine.stage()
    let journal = try stage.open()
    _ = try journal.contents()
    let error = #expect(throws: JournalError.self) { try stage.open(as: "another") }
    guard case .locked? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    try stage.close(journal)
    _ = try stage.open(as: "another").contents()
  }

  @Test(
    "5: groups and snapshots are read in order, over many pages", arguments: TestedEngine.allCases)
  func ordered(engine: TestedEngine) throws {
    let stage = try engine.stage()
    var writer = Writer(seed: 5)
    let journal = try stage.open()
    _ = try journal.contents()
    for _ in 0..<150 {
      try journal.commit(
        writer.batch(2, navs: 90) + [.snapshot(writer.snapshot(nav: writer.rows.last?.nav ?? 1))])
    }
    try stage.close(journal)
    let contents = try stage.open().contents()
    #expect(contents.rows == writer.rows)
    #expect(
      contents.snapshots.map(\.nav)
        == Set(writer.heads.keys).intersection(contents.snapshots.map(\.nav)).sorted())
    let reader = try stage.reader()
    for nav in writer.heads.keys {
      let written = writer.rows.filter { $0.nav == nav }
      #expect(
        try reader.history(
          of: nav, from: try #require(writer.heads[nav]).sequence, downTo: 0, limit: .max)
          == written.reversed())
    }
  }

  @Test("nothing that an engine has lost is served", arguments: TestedEngine.allCases)
  func complete(engine: TestedEngine) throws {
    let stage = try engine.stage()
    var writer = Writer(seed: 6)
    let journal = try stage.open()
    _ = try journal.contents()
    for _ in 0..<5 { try journal.commit(writer.batch(3)) }
    try stage.close(journal)
    try stage.deleteGroup(7)
    let error = #expect(throws: JournalError.self) { try stage.open().contents() }
    guard case .damaged? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }
}

/// The engines that the laws are about.
enum TestedEngine: String, CaseIterable {
  case sqlite, postgres

  /// An empty place of this engine.
  func stage() throws -> any EngineStage {
    switch self {
    case .sqlite: try SQLiteStage()
    case .postgres: try PostgresStage()
    }
  }
}

/// A place, and what happens to it.
protocol EngineStage: AnyObject {
  /// Opens the journal as a process with this name would.
  func open(as name: String, retention: Retention) throws -> Journal
  /// Opens a reader.
  func reader() throws -> JournalReader
  /// Closes a journal, and gives the place to the next process.
  func close(_ journal: Journal) throws
  /// Ends the process without its help.
  func crash() throws
  /// Lets the database refuse more rows, or accept them again.
  func refuseRows(_ isOn: Bool, _ journal: Journal) throws
  /// Deletes a group behind the journal's back.
  func deleteGroup(_ first: UInt64) throws
}

extension EngineStage {
  func open(as name: String = "one", retention: Retention = Retention()) throws -> Journal {
    try open(as: name, retention: retention)
  }
}

final class SQLiteStage: EngineStage {
  private var directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  func open(as name: String, retention: Retention) throws -> Journal {
    try Journal.open(directory.path, retention: retention)
  }

  func reader() throws -> JournalReader { try JournalReader.open(directory: directory.path) }

  func close(_ journal: Journal) throws { try journal.close() }

  func crash() throws { directory = try directory.copy() }

  func refuseRows(_ isOn: Bool, _ journal: Journal) throws {
    try journal.sqlite.execute("PRAGMA max_page_count = \(isOn ? 30 : 1_000_000)", .reading)
  }

  func deleteGroup(_ first: UInt64) throws {
    let database = try Database(path: directory.file)
    try database.execute("DELETE FROM log WHERE seq = \(first)", .writing)
  }
}

/// `@unchecked Sendable`: `lock` guards the clusters.
final class PostgresStage: EngineStage, @unchecked Sendable {
  let server: PostgresServer
  let database: String

  init(_ server: PostgresServer? = nil) throws {
    self.server = try server ?? PostgresServer.shared.get()
    database = try self.server.makeDatabase()
  }

  /// The member of each journal that a test has open.
  private var clusters: [(journal: Journal, cluster: PostgresCluster)] = []
  private let lock = NSLock()

  func place(
    _ name: String = "one", lease: UInt64 = 60_000,
    warn: @escaping @Sendable (String) -> Void = { _ in }
  ) throws -> PostgresPlace {
    try PostgresPlace(
      conninfo: server.conninfo(database),
      member: ClusterMember(name: name, endpoint: "ipc:///\(name)", leaseLeft: 0),
      lease: lease,
      warn: warn)
  }

  func open(as name: String, retention: Retention) throws -> Journal {
    try open(place(name), retention: retention)
  }

  /// Joins as a member, and takes the first shard.
  func open(_ place: PostgresPlace, retention: Retention = Retention()) throws -> Journal {
    let cluster = try PostgresCluster(place, retention: retention)
    return try take(by: cluster)
  }

  func take(by cluster: PostgresCluster) throws -> Journal {
    _ = try cluster.keeper.read()
    // As if the time of a lease had passed since.
    (cluster.keeper as? PostgresKeeper)?.doubtfulNotBefore = 0
    guard let taken = try cluster.keeper.take([.first]).first else {
      throw JournalError.locked(path: cluster.name, by: "another member")
    }
    try cluster.adopt([taken])
    lock.withLock { clusters.append((taken, cluster)) }
    return taken
  }

  func cluster(of journal: Journal) throws -> PostgresCluster {
    let found = lock.withLock { clusters.first { $0.journal === journal }?.cluster }
    return try #require(found)
  }

  func close(_ journal: Journal) throws {
    try journal.close()
    try cluster(of: journal).close()
  }

  func reader() throws -> JournalReader { try place().openReader() }

  /// The next process has the same name, and so takes the lease of this one.
  func crash() throws {}

  func refuseRows(_ isOn: Bool, _ journal: Journal) throws {
    try sql(
      isOn
        ? "ALTER TABLE navd.log ADD CONSTRAINT \"full\" CHECK (last < 100)"
        : "ALTER TABLE navd.log DROP CONSTRAINT \"full\"")
  }

  func deleteGroup(_ first: UInt64) throws {
    try sql("DELETE FROM navd.log WHERE seq = \(first)")
  }

  @discardableResult func sql(_ text: String) throws -> String {
    try server.sql(text, in: database)
  }
}
