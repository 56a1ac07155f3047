import NavigationCore
import PostgresServer
import RuntimePaths
import Testing

@testable import Journal
@testable import PostgresJournal

/// The rows that each commit changes are found by their places.
@Suite struct PostgresPlaceTests {
  @Test func `while a snapshot is open, no commit is dearer than those before it`() throws {
    let stage = try PostgresStage()
    var writer = Writer(seed: 12)
    try stage.close(stage.open())
    let dump = try stage.place().connect()
    let far = UInt64.max / 4
    _ = try dump.run(
      ["BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT 1 FROM navd.shard"]
        .map { PostgresCommand($0) }, until: far)
    var buffers: [Int] = []
    let rounds = 4
    for round in 1...rounds {
      let journal = try stage.open()
      _ = try journal.contents()
      for _ in 0..<500 { try journal.commit(writer.batch(1, navs: 1)) }
      // The server publishes what a connection has done when it ends.
      try stage.close(journal)
      #expect(
        try eventually {
          let updates = try stage.sql(
            "SELECT n_tup_upd FROM pg_stat_all_tables WHERE relid = 'navd.shard'::regclass")
          return Int(updates) ?? 0 >= round * 500
        })
      let found = try stage.sql(
        """
        SELECT sum(heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit)
        FROM pg_statio_all_tables WHERE relname IN ('member', 'shard')
        """)
      buffers.append((Int(found) ?? 0) - buffers.reduce(0, +))
    }
    #expect(buffers[rounds - 1] < buffers[0] * 3 / 2, "\(buffers)")
    _ = try dump.run([PostgresCommand("COMMIT")], until: far)
    #expect(try stage.open().contents().rows == writer.rows)
  }

  @Test(arguments: [
    "UPDATE navd.member SET draining = false", "UPDATE navd.shard SET wanted = NULL WHERE id = 0",
  ])
  func `a commit that waits for another change of its rows is stored`(change: String) throws {
    let stage = try PostgresStage()
    var writer = Writer(seed: 13)
    let journal = try stage.open()
    _ = try journal.contents()
    try journal.commit(writer.batch(1, navs: 1))
    let other = try stage.place().connect()
    let far = UInt64.max / 4
    _ = try other.run(["BEGIN", change].map { PostgresCommand($0) }, until: far)
    let batch = writer.batch(1, navs: 1)
    let committing = Opening { [journal = Unchecked(journal)] in
      try journal.value.commit(batch)
    }
    try stage.awaitBlocked()
    _ = try other.run([PostgresCommand("COMMIT")], until: far)
    try committing.value()
    try stage.close(journal)
    #expect(try stage.open().contents().rows == writer.rows)
  }

  /// The results that nobody took would pass for those of the next statements.
  @Test func `a connection whose answer came too late answers nothing more`() throws {
    let stage = try PostgresStage()
    let connection = try stage.place().connect()
    let soon = { SystemClock.monotonicMilliseconds() + 50 }
    #expect(throws: PostgresError.self) {
      try connection.run([PostgresCommand("SELECT pg_sleep(0.3)")], until: soon())
    }
    let late = PostgresCommand("SELECT 1"), both = [late, PostgresCommand("SELECT 2")]
    let until = SystemClock.monotonicMilliseconds() + 20_000
    #expect(throws: PostgresError.self) { try connection.run(both, until: until) }
    #expect(throws: PostgresError.self) { try connection.awaitNotification(or: -1, until: until) }
  }
}
