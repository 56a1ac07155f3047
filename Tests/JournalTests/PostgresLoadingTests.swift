import NavigationCore
import NavigationHub
import PostgresServer
import Testing

@testable import Journal
@testable import PostgresJournal

/// How the records of shards that were taken together are read.
@Suite struct PostgresLoadingTests {
  /// Makes a database with these numbers of rows in the shards 1 to 3, and a snapshot of each nav of
  /// shard 2.
  private func stage(_ counts: [Int]) throws -> (PostgresStage, contents: [Shard: Contents]) {
    let stage = try PostgresStage()
    let cluster = try PostgresCluster(stage.place(), retention: Retention())
    let taken = try cluster.keeper.take((1...3).map { Shard($0) })
    var contents: [Shard: Contents] = [:]
    for (one, count) in zip(taken, counts) {
      #expect(try one.contents() == Contents())
      try cluster.adopt([one])
      var writer = Writer(seed: UInt64(count))
      var snapshots: [SnapshotRow] = []
      for place in 1...UInt64(count) {
        let nav = one.shard.navNumber(ofNth: place)
        // Each commit stores a group.
        try one.commit([.row(writer.row(nav: nav))])
        if one.shard == Shard(2) { snapshots.append(writer.snapshot(nav: nav)) }
      }
      try one.commit(snapshots.map { .snapshot($0) })
      contents[one.shard] = Contents(snapshots: snapshots, rows: writer.rows)
    }
    try cluster.close()
    return (stage, contents)
  }

  private func open(_ stage: PostgresStage) throws -> PostgresCluster {
    try PostgresCluster(stage.place("two"), retention: Retention())
  }

  @Test func `shards that are taken together have all of their records`() throws {
    // These are three full parts, as they are fetched.
    let (stage, contents) = try stage([256, 300, 212])
    let cluster = try open(stage)
    let taken = try cluster.keeper.take((0...4).map { Shard($0) })
    #expect(taken.map(\.shard.number) == [0, 1, 2, 3, 4])
    for one in taken {
      #expect(try one.contents() == contents[one.shard] ?? Contents())
    }
    try cluster.close()
  }

  @Test func `a damaged shard does not change what the others have`() throws {
    let (stage, contents) = try stage([3, 4, 5])
    try stage.sql("UPDATE navd.log SET sum = sum + 1 WHERE shard = 2 AND seq = 3")
    let cluster = try open(stage)
    for one in try cluster.keeper.take((1...3).map { Shard($0) }) {
      if one.shard == Shard(2) {
        #expect(throws: JournalError.self) { try one.contents() }
      } else {
        #expect(try one.contents() == contents[one.shard])
      }
    }
    try cluster.close()
  }

  @Test func `a shard whose reading has ended is not taken for an empty one`() throws {
    let (stage, contents) = try stage([3, 300, 5])
    let cluster = try open(stage)
    let first = try cluster.keeper.take([Shard(1), Shard(2)])
    #expect(try first[0].contents() == contents[Shard(1)])
    let next = try cluster.keeper.take([Shard(3)])
    #expect(throws: JournalError.self) { try first[1].contents() }
    #expect(try next[0].contents() == contents[Shard(3)])
    // The same process takes it again.
    let again = try cluster.keeper.take([Shard(2)])
    #expect(try again[0].contents() == contents[Shard(2)])
    try cluster.close()
  }
}
