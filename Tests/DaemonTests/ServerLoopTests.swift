import CommandLineOptions
import Foundation
@testable import NavigationCore
@testable import NavigationHub
import RuntimePaths
import Testing

@testable import Journal
@testable import NavigationDaemon

/// The loop's turns: what becomes durable, what is taken back, and what is done unasked.
@Suite(.timeLimit(.minutes(1))) struct ServerLoopTests {
  /// Ops of a few clients on a few navs, of which some are refused.
  private static func ops(_ stage: inout LoopStage, seed: UInt64) -> [HubEvent] {
    var random = SeededGenerator(seed: seed)
    return (0..<80).map { number in
      let client = UInt64.random(in: 1...4, using: &random)
      let nav = ["a", "b", "c"].randomElement(using: &random) ?? "a"
      let screen = "s\(Int.random(in: 0..<9, using: &random))"
      switch Int.random(in: 0..<10, using: &random) {
      case 0, 1: return stage.op(client, LoopStage.create, nav: nav)
      case 2: return stage.op(client, #"{"pop":{}}"#, nav: nav)
      case 3: return stage.op(client, #"{"popTo":{"screen":"\#(screen)"}}"#, nav: nav)
      case 4: return stage.op(client, #"{"nav.close":{}}"#, nav: nav)
      case 5: return stage.message(client, "op", "{")
      default:
        let more = number % 3 == 0 ? "," + LoopStage.push("t\(number)") : ""
        return stage.op(client, LoopStage.push(screen) + more, nav: nav)
      }
    }
  }

  @Test func `lost shards leave the journal when the writer has left it`() throws {
    try withTemporaryDirectory { directory in
      var stage = try LoopStage(directory)
      try stage.open()
      let (cluster, writer) = (ScriptedCluster(), stage.loop.writer)
      stage.loop.served = ServedShards(
        journal: cluster, keeper: ShardKeeper(cluster, lease: 1000, seed: 1, log: stage.sink.log))
      var wasBusy: [Bool] = []
      cluster.onDrop = { _ in wasBusy.append(writer.isCheckpointing) }
      writer.startCheckpoint()
      try stage.loop.failMaintenance(.fenced(path: "test", shards: [Shard(9)]), at: stage.now)
      #expect(wasBusy == [false])
      try stage.close()
    }
  }

  @Test(arguments: 0..<2 as Range<UInt64>)
  func `how messages are grouped into turns changes nothing of what is stored`(
    seed: UInt64
  ) throws {
    var stored: [[JournalRow]] = []
    for grouping in 0..<3 {
      try withTemporaryDirectory { directory in
        var configuration = Configuration()
        (configuration.hub.inflight, configuration.hub.rememberedOps) = (4096, 4096)
        var stage = try LoopStage(directory, configuration)
        for client in 1...4 as ClosedRange<UInt64> { try stage.turn([stage.hello(client)]) }
        var random = SeededGenerator(seed: seed + 50)
        var events = Self.ops(&stage, seed: seed)[...]
        while !events.isEmpty {
          // One by one, in small turns that the loop commits, or in large ones, of which the writer
          // commits some.
          let most = [1, 7, 60][grouping]
          let count = min(Int.random(in: 1...most, using: &random), events.count)
          try stage.turn(Array(events.prefix(count)))
          events = events.dropFirst(count)
          if grouping == 2, Bool.random(using: &random) { try stage.settle() }
        }
        try stage.close()
        stored.append(try LoopStage.rows(directory))
      }
    }
    #expect(stored[0].count > 20)
    #expect(stored[0] == stored[1] && stored[0] == stored[2], "seed \(seed)")
  }

  /// Messages that cost much of a turn each; the nav has forty large screens.
  static let dear: [(verb: String, body: String)] = [
    ("get", #""nav":"kiosk""#), ("get", #""nav":"kiosk","what":"verify""#),
    ("watch", #""nav":"kiosk""#),
    ("op", #""nav":"kiosk","dry":true,"if":{"any":true},"do":[{"popToRoot":{}}]"#),
    ("op", #""nav":"kiosk","if":{"any":true},"do":[{"setStack":{"screens":["home"]}}]"#),
  ]

  @Test(arguments: dear.indices)
  func `a flood of one user keeps the op of another waiting for two turns at most`(_ kind: Int)
    throws
  {
    try withTemporaryDirectory { directory in
      var stage = try LoopStage(directory)
      try stage.open()
      let text = String(repeating: "x", count: 6000)
      for number in 0..<40 {
        let screen = #"{"push":{"screen":{"id":"s\#(number)","args":"\#(text)"}}}"#
        try stage.turn([stage.op(1, screen)])
      }
      try stage.settle()
      func serveOther(_ stage: inout LoopStage) throws {
        let client = String(repeating: "9", count: 32)
        let other = stage.message(
          9, "op",
          #"{"id":1,"client":"\#(client)","nav":"calm","do":[\#(LoopStage.create)]}"#,
          user: getuid() + 1)
        let before = stage.loop.hub.measurements[.ok]
        _ = stage.loop.batches.append(other)
        // The first message of the flood has no known cost, so the op waits behind it.
        for _ in 0..<2 { try stage.turn() }
        try stage.settle()
        #expect(stage.loop.hub.measurements[.ok] > before, "it waits behind the flood")
      }
      let (verb, body) = Self.dear[kind]
      for number in 0..<300 {
        _ = stage.loop.batches.append(stage.message(1, verb, "{\"id\":\(1000 + number),\(body)}"))
      }
      try stage.turn()
      try serveOther(&stage)
      // The last kind is dear only once.
      if kind < 4 { #expect(stage.loop.batches.waitingCount > 250, "a turn took too much work") }
      // The rest is handled in the turns that follow.
      while !stage.loop.batches.isEmpty { try stage.turn() }
      try stage.close()
    }
  }

  /// Keeps every other connection from writing to a journal while it lives.
  private func occupy(_ directory: String) throws -> Database {
    let other = try Database(path: directory + "/" + Journal.fileName)
    try other.execute("BEGIN IMMEDIATE", .writing)
    return other
  }

  @Test(arguments: [1, 20], [false, true])
  func `a commit that fails is taken back, its ops are refused as storage, and the log says so`(
    ops: Int, commitsAreShort: Bool
  ) throws {
    try withTemporaryDirectory { directory in
      var stage = try LoopStage(directory)
      if commitsAreShort { stage.makeCommitsShort() }
      try stage.open()
      let before = stage.loop.hub.totalSequence
      let other = try occupy(directory)
      try stage.turn((0..<ops).map { stage.op(1, LoopStage.push("s\($0)")) })
      try stage.settle()
      #expect(stage.loop.hub.totalSequence == before)
      #expect(stage.count(.refused(.storage)) == UInt64(ops))
      let entries = stage.sink.take()
      #expect(entries.count == 1 && entries.first?.kind == .journalFailed)
      #expect(entries.first?.message.hasSuffix("nothing was stored, it may be tried again") == true)
      #expect(entries.first?.level == .error)
      try other.execute("ROLLBACK", .writing)
      other.close()

      // The same op may be tried again: it was not decided.
      try stage.turn([stage.op(1, LoopStage.push("s0"))])
      try stage.settle()
      #expect(stage.loop.hub.totalSequence == before + 1)
      let end = stage.sink.take()
      #expect(end.map(\.message) == ["the journal can be written again"])
      #expect(end.map(\.level) == [.notice] && end.map(\.kind) == [nil])
      try stage.close()
      #expect(try LoopStage.rows(directory).map(\.revision) == [1, 2])
    }
  }

  @Test func `after a sync that failed no op in flight is answered or kept`() throws {
    try withTemporaryDirectory { directory in
      var stage = try LoopStage(directory)
      try stage.open()
      let before = (stage.count(.ok), stage.loop.hub.totalSequence)
      stage.loop.hub.handle(stage.op(1, LoopStage.push("s0")), at: stage.now)
      #expect(!stage.loop.hub.takeRecords().isEmpty)
      #expect(throws: JournalError.self) {
        try stage.loop.fail(.syncFailed(path: "test", reason: "EIO"), at: stage.now)
      }
      #expect((stage.count(.ok), stage.loop.hub.totalSequence) == before)
      try stage.close()
    }
  }

  @Test(arguments: [1, 20])
  func `a journal that is moved away takes no change within a second, until it is back`(
    ops: Int
  ) throws {
    try withTemporaryDirectory { parent in
      let directory = parent + "/state"
      var stage = try LoopStage(directory)
      try stage.open()
      let before = stage.loop.hub.totalSequence
      try FileManager.default.moveItem(atPath: directory, toPath: parent + "/away")
      stage.pass(1000)
      try stage.turn((0..<ops).map { stage.op(1, LoopStage.push("s\($0)")) })
      try stage.settle()
      #expect(stage.loop.hub.totalSequence == before)
      #expect(stage.count(.refused(.storage)) == UInt64(ops))
      #expect(stage.loop.maintenance.storageProblem?.contains("\(directory): it is gone") == true)
      let entries = stage.sink.take()
      #expect(entries.map(\.kind) == [.journalFailed] && entries.first?.level == .error)
      // Reads are served, and nothing is logged again.
      stage.pass(1000)
      try stage.turn([stage.message(1, "get", #"{"id":900,"nav":"kiosk","what":"state"}"#)])
      #expect(stage.sink.take().isEmpty)

      try FileManager.default.moveItem(atPath: parent + "/away", toPath: directory)
      stage.pass(1000)
      try stage.turn([stage.op(1, LoopStage.push("s0"))])
      try stage.settle()
      #expect(stage.loop.hub.totalSequence == before + 1)
      let end = stage.sink.take()
      #expect(end.map(\.message) == ["the journal can be written again"])
      #expect(end.map(\.level) == [.notice] && end.map(\.kind) == [nil])
      try stage.close()
      #expect(try LoopStage.rows(directory).map(\.revision) == [1, 2])
    }
  }

  @Test(arguments: [false, true])
  func `an op that breaks an invariant is refused alone, and its nav is frozen`(
    commitsAreShort: Bool
  ) throws {
    try withTemporaryDirectory { directory in
      var stage = try LoopStage(directory) { $0.contains("bug") ? ["planted"] : [] }
      if commitsAreShort { stage.makeCommitsShort() }
      try stage.open()
      try stage.turn([stage.op(1, LoopStage.create, nav: "other")])
      let before = stage.loop.hub.totalSequence
      var events: [HubEvent] = []
      for number in 0..<20 {
        events.append(stage.op(1, LoopStage.push("s\(number)"), nav: "other"))
        if number == 11 { events.append(stage.op(1, LoopStage.push("bug"))) }
      }
      try stage.turn(events)
      try stage.settle()
      #expect(stage.count(.refused(.internal)) == 1)
      #expect(stage.loop.hub.totalSequence == before + 20)
      try stage.turn([stage.op(1, LoopStage.push("good"))])
      #expect(stage.count(.refused(.frozen)) == 1)
      let faulty = stage.sink.take().filter { $0.kind == .navDamaged }
      #expect(faulty.first?.nav == "kiosk" && faulty.first?.level == .warning)
      try stage.close()
      #expect(try LoopStage.rows(directory).count == 22)
    }
  }

  @Test func `history is pruned in quiet moments, with the snapshots that it needs`() throws {
    try withTemporaryDirectory { directory in
      var configuration = Configuration()
      (configuration.retention.revisions, configuration.retention.revisionsPerSnapshot) = (10, 8)
      var stage = try LoopStage(directory, configuration)
      try stage.open()
      for number in 0..<40 {
        try stage.turn([stage.op(1, LoopStage.push("s\(number)"))])
        try stage.turn([stage.op(1, #"{"pop":{}}"#)])
      }
      let journal = try #require(stage.loop.writer.journal as? Journal)
      #expect(journal.floorRevision(of: 1) == 0, "nothing is due yet")
      // As the loop does, it is woken when it said. A turn with an event is no quiet moment.
      for _ in 0..<100 where journal.census.stored.rows >= 25 {
        let pause = stage.loop.sleepTime(stage.now, nil)
        stage.pass(pause > 0 ? UInt64(pause) : MaintenanceSchedule.quietTime)
        try stage.turn()
        stage.loop.writer.awaitCheckpoint()
      }
      #expect(journal.floorRevision(of: 1) > 60)
      try stage.close()
      let rows = try LoopStage.rows(directory)
      #expect(rows.count < 25 && rows.last?.revision == 81)
    }
  }

  @Test func `a date that jumps by days and decades deletes no history`() throws {
    try withTemporaryDirectory { directory in
      var configuration = Configuration()
      configuration.retention.revisionsPerSnapshot = 4
      let dates: [UInt64] = [1_732_147_200_000, 1_734_912_000_000, 0, 4_102_444_800_000]
      for (index, date) in dates.enumerated() {
        let client = UInt64(index) + 1
        var stage = try LoopStage(directory, configuration)
        try stage.turn([stage.hello(client)])
        for number in 0..<20 {
          stage.now.wall = number.isMultiple(of: 2) ? date : 946_684_800_000
          let title = #"{"screen.set":{"screen":"home","title":"\#(date) \#(number)"}}"#
          try stage.turn([stage.op(client, number == 0 ? LoopStage.create : title)])
          try stage.answerAll()
        }
        // Several runs of pruning, on both dates.
        for _ in 0..<10 {
          stage.loop.maintenance.noteRetentionChange(at: stage.now.boot)
          stage.now.boot += 60_000
          stage.now.wall = stage.now.wall == date ? 946_684_800_000 : date
          try stage.turn()
          try stage.settle()
        }
        let journal = try #require(stage.loop.writer.journal as? Journal)
        #expect(journal.floorRevision(of: 1) == 0)
        #expect(journal.ages.countedMilliseconds == (client * 9) * 60_000)
        try stage.close()
      }
      #expect(try LoopStage.rows(directory).count == 4 * 19 + 1)
    }
  }

  @Test func `pruning of many rows is shown until it is done`() throws {
    try withTemporaryDirectory { directory in
      var configuration = Configuration()
      configuration.daemon.durability = .relaxed
      (configuration.retention.revisions, configuration.retention.revisionsPerSnapshot) = (10, 100)
      var stage = try LoopStage(directory, configuration)
      try stage.open()
      for turn in 0..<50 {
        try stage.turn(
          (0..<50).map { number in
            stage.op(1, #"{"screen.set":{"screen":"home","title":"\#(turn) \#(number)"}}"#)
          })
        try stage.settle()
      }
      #expect(stage.count(.ok) == 2501)
      var shown: [UInt64] = []
      let journal = try #require(stage.loop.writer.journal as? Journal)
      for _ in 0..<100 where journal.census.stored.rows >= 200 {
        let pause = stage.loop.sleepTime(stage.now, nil)
        stage.pass(pause > 0 ? UInt64(pause) : MaintenanceSchedule.quietTime)
        try stage.turn()
        stage.loop.writer.awaitCheckpoint()
        stage.loop.measureBackups(at: stage.now)
        let (done, total) = (
          stage.loop.hub.measurements[.prunedRows], stage.loop.hub.measurements[.rowsToPrune]
        )
        #expect(done <= total)
        if total > 0 { shown.append(total - done) }
      }
      // A slice examines 2000 rows, so the first leaves some.
      let left = try #require(shown.first)
      #expect(left > 0 && left < 2000)
      #expect(
        stage.loop.workStatus[.prune] == nil && stage.loop.hub.measurements[.rowsToPrune] == 0)
      try stage.close()
    }
  }

  @Test func `the log is put away in a quiet moment, and never while a reader is at work in it`()
    throws
  {
    try withTemporaryDirectory { directory in
      var stage = try LoopStage(directory)
      try stage.open()
      var number = 0
      while stage.loop.writer.walPages <= MaintenanceSchedule.quietPages {
        number += 1
        try stage.turn([stage.op(1, LoopStage.push("s\(number)") + #",{"pop":{}}"#)])
      }
      try stage.settle()
      #expect(stage.loop.writer.walPages > MaintenanceSchedule.quietPages)
      let reader = try Database(path: directory + "/" + Journal.fileName, readOnly: true)
      try reader.execute("BEGIN; SELECT * FROM log", .reading)
      stage.pass(MaintenanceSchedule.quietTime)
      #expect(stage.loop.sleepTime(stage.now, nil) == 0)
      try stage.turn()
      stage.loop.writer.awaitCheckpoint()
      try stage.turn()
      // Not again and again, but a second later.
      stage.pass(999)
      #expect(stage.loop.sleepTime(stage.now, nil) == 1 && !stage.loop.writer.isCheckpointing)
      try reader.execute("COMMIT", .reading)
      reader.close()
      stage.pass(1)
      try stage.turn()
      stage.loop.writer.awaitCheckpoint()
      #expect(stage.loop.writer.walPages == 0)
      #expect(stage.sink.take().isEmpty)
      try stage.close()
    }
  }

  @Test func `the loop sleeps until the earliest of what is due, and not with events at hand`()
    throws
  {
    try withTemporaryDirectory { directory in
      var stage = try LoopStage(directory)
      #expect(stage.loop.sleepTime(stage.now, nil) == -1)
      #expect(stage.loop.sleepTime(stage.now, stage.now.boot + 250) == 250)
      #expect(stage.loop.sleepTime(stage.now, stage.now.boot - 1) == 0)
      #expect(stage.loop.sleepTime(stage.now, stage.now.boot + 1 << 40) == 3_600_000)
      stage.loop.batches.append(.wake)
      #expect(stage.loop.sleepTime(stage.now, nil) == 0)
      try stage.turn()
      #expect(stage.loop.sleepTime(stage.now, nil) == -1)
      try stage.close()
    }
  }

  @Test func `a backup that the loop was asked for is logged and can be restored`() throws {
    try withTemporaryDirectory { directory in
      let state = directory + "/state"
      var stage = try LoopStage(state)
      try stage.open()
      for number in 0..<5 { try stage.turn([stage.op(1, LoopStage.push("s\(number)"))]) }
      // During a checkpoint, commits are on their way to the disk.
      try stage.settle()
      stage.loop.backups.start(.requestedByClient)
      var entry: LogEntry?
      while entry == nil {
        awaitReadable(stage.loop.backups.reports.descriptor)
        stage.loop.takeBackup()
        entry = stage.sink.take().first
      }
      let found = try #require(
        entry?.message.wholeMatch(
          of: /backed up 1 nav to (.+\/backups\/navd-\d{8}T\d{6}Z-6\.db): (\d+) bytes, up to row 6/)
      )
      let path = String(found.1)
      let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
      #expect(size == Int(found.2) && entry?.kind == .backedUp && entry?.level == .notice)
      try stage.turn()
      try stage.close()

      var configuration = Configuration()
      configuration.daemon.stateDirectory = directory + "/other"
      try Daemon.restore(path, configuration, rules: LoopStage.rules, log: stage.sink.log)
      let rows = try LoopStage.rows(state)
      #expect(try LoopStage.rows(directory + "/other") == rows && rows.count == 6)
      #expect(
        stage.sink.take().last?.message
          == "restored 1 nav, up to row 6, from \(path) into \(directory)/other")
    }
  }
}
