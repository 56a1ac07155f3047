import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

@testable import Journal
@testable import NavigationDaemon
@testable import TransportGuard

/// Dormant navs in the loop: the clients that wait for them, and those that do not.
///
/// A stage takes the answers of the history thread when the test asks for them, so that a nav is
/// being read for as long as the test wants.
@Suite(.timeLimit(.minutes(1))) struct PagingTests {
  /// Lends a loop with sessions of clients 1 to 3, the loaded nav `hot`, and dormant navs.
  private func withDormant(
    _ navs: [String] = ["a", "b", "c"],
    inspection: (@Sendable (_ screens: [String]) -> [String])? = nil,
    _ body: (inout LoopStage, String) throws -> Void
  ) throws {
    try withTemporaryDirectory { directory in
      do {
        var stage = try LoopStage(directory)
        try stage.turn([stage.hello(9)])
        for nav in navs {
          try stage.turn([stage.op(9, LoopStage.create, nav: nav)])
          try stage.turn([stage.op(9, LoopStage.push("s"), nav: nav)])
        }
        try stage.close()
      }
      var stage = try LoopStage(directory, inspection: inspection)
      try stage.turn((1...3).map { stage.hello($0) })
      try stage.turn([stage.op(3, LoopStage.create, nav: "hot")])
      #expect(stage.count(.ok) == 1)
      try body(&stage, directory)
    }
  }

  @Test func `a dormant nav is revived by the first message about it, and no sooner`() throws {
    try withDormant { stage, _ in
      try stage.turn([stage.op(2, #"{"pop":{}}"#, nav: "b")])
      #expect(stage.loop.pageIns.count == 1 && stage.count(.ok) == 1)
      try stage.answer()
      #expect(stage.loop.pageIns.isEmpty && stage.count(.ok) == 2)
      stage.pass(MaintenanceSchedule.quietTime)
      try stage.turn()
      #expect(stage.loop.hub.dormantNavs.map(\.nav) == [1, 3])
      try stage.turn([stage.op(2, #"{"pop":{}}"#, nav: "c")])
      try stage.answer()
      #expect(stage.count(.ok) == 3 && stage.sink.take().isEmpty)
      try stage.close()
    }
  }

  @Test("rule 9: a client of a loaded nav is answered while another nav is being read")
  func otherNavs() throws {
    try withDormant { stage, directory in
      try stage.turn([
        stage.op(1, #"{"pop":{}}"#, nav: "a"), stage.op(3, LoopStage.push("x"), nav: "hot"),
      ])
      #expect(stage.count(.ok) == 2)
      try stage.turn([stage.op(3, LoopStage.push("y"), nav: "hot")])
      #expect(stage.count(.ok) == 3)
      // Behind the first message of its connection.
      try stage.turn([stage.op(1, LoopStage.push("z"), nav: "hot")])
      #expect(stage.count(.ok) == 3 && stage.loop.pageIns.count == 2)
      // The loop sleeps meanwhile.
      #expect(stage.loop.sleepTime(stage.now, nil) > 0)
      try stage.answer()
      #expect(stage.count(.ok) == 5)
      try stage.close()
      let hot = try LoopStage.rows(directory).filter { $0.nav == 4 }
      #expect(hot.map(\.revision) == [1, 2, 3, 4])
    }
  }

  @Test func `a connection goes on in order from one dormant nav to the next, then ends`() throws {
    try withDormant { stage, directory in
      try stage.turn([
        stage.op(1, LoopStage.push("1"), nav: "a"), stage.op(2, LoopStage.push("2"), nav: "a"),
        stage.op(1, LoopStage.push("3"), nav: "b"), stage.op(1, LoopStage.push("4"), nav: "hot"),
        .closed(ConnectionID(1)), stage.op(2, LoopStage.push("5"), nav: "b"),
        .snapshotWanted(nav: 3), .snapshotWanted(nav: 3),
      ])
      #expect(stage.loop.pageIns.count == 7 && stage.count(.ok) == 1)
      try stage.answerAll()
      #expect(stage.count(.ok) == 6)
      #expect(stage.loop.hub.dormantNavs == [])
      try stage.close()
      let rows = try LoopStage.rows(directory).dropFirst(7)
      #expect(rows.map(\.nav).filter { $0 == 1 }.count == 2)
      let screens = try rows.compactMap { row in
        try String(decoding: row.json(), as: UTF8.self).firstMatch(of: /"id":"(\d)"/).map { $0.1 }
      }
      #expect(screens == ["1", "2", "3", "4", "5"] || screens == ["1", "3", "4", "2", "5"])
    }
  }

  @Test(arguments: [1, 20])
  func `a commit that fails loses and doubles nothing that is held`(ops: Int) throws {
    try withDormant { stage, directory in
      let other = try Database(path: directory + "/" + Journal.fileName)
      try other.execute("BEGIN IMMEDIATE", .writing)
      var events = (0..<ops).map { stage.op(1, LoopStage.push("f\($0)"), nav: "hot") }
      events.append(stage.op(1, LoopStage.push("1"), nav: "a"))
      events += (0..<ops).map { stage.op(1, LoopStage.push("g\($0)"), nav: "hot") }
      try stage.turn(events)
      try stage.settle()
      #expect(stage.count(.refused(.storage)) == UInt64(ops))
      #expect(stage.loop.pageIns.count == ops + 1)
      // Revived in a batch that fails, too.
      try stage.answerAll()
      try stage.settle()
      #expect(stage.count(.refused(.storage)) == UInt64(2 * ops + 1))
      #expect(stage.loop.hub.dormantNavs.map(\.nav) == [2, 3])
      try other.execute("ROLLBACK", .writing)
      other.close()
      try stage.turn([stage.op(1, LoopStage.push("2"), nav: "a")])
      #expect(stage.count(.ok) == 2)
      try stage.close()
      #expect(try LoopStage.rows(directory).filter { $0.nav == 1 }.map(\.revision) == [1, 2, 3])
    }
  }

  @Test func `events that are decided again do not get behind those that are held`() throws {
    try withDormant(inspection: { $0.contains("bug") ? ["planted"] : [] }) { stage, directory in
      try stage.turn([stage.op(2, LoopStage.create, nav: "other")])
      try stage.turn([
        stage.op(1, LoopStage.push("1"), nav: "hot"),
        stage.op(1, LoopStage.push("bug"), nav: "other"),
        stage.op(1, LoopStage.push("2"), nav: "a"), stage.op(1, LoopStage.push("3"), nav: "hot"),
      ])
      try stage.settle()
      #expect(stage.count(.refused(.internal)) == 1 && stage.count(.ok) == 3)
      #expect(stage.loop.pageIns.count == 2)
      try stage.answerAll()
      #expect(stage.count(.ok) == 5)
      try stage.close()
      let hot = try LoopStage.rows(directory).filter { $0.nav == 4 }
      #expect(hot.map(\.revision) == [1, 2, 3])
    }
  }

  @Test func `a get and the end of a connection wait for the batches in flight, as always`() throws
  {
    try withDormant { stage, _ in
      try stage.turn([stage.message(1, "get", #"{"id":1,"nav":"a"}"#), .closed(ConnectionID(1))])
      awaitReadable(stage.loop.history.descriptor)
      // A large batch is with the writer when the answer comes.
      try stage.turn((0..<20).map { stage.op(3, LoopStage.push("s\($0)"), nav: "hot") })
      try stage.loop.takeAnswers()
      #expect(!stage.loop.batches.areOnlyOps && stage.loop.batches.hasGet)
      try stage.turn()
      #expect(stage.loop.batches.areDurable && stage.loop.pageIns.isEmpty)
      #expect(stage.count(.ok) == 21)
      try stage.close()
    }
  }

  @Test func `the loop receives no more while too much is held`() throws {
    try withDormant { stage, _ in
      try stage.turn([stage.op(1, LoopStage.push("1"), nav: "a")])
      let pings = PageIns<ReceivedEvent>.maximumHeldEvents - 1
      try stage.turn((0..<pings).map { stage.message(1, "ping", #"{"id":\#($0 + 9)}"#) })
      #expect(!stage.loop.pageIns.mayReceive)
      let (received, looked) = (
        try stage.loop.receiveMessages(isAwaited: false), try stage.loop.pollForMessages()
      )
      #expect(!received && !looked)
      try stage.answer()
      #expect(stage.loop.pageIns.isEmpty && stage.loop.pageIns.mayReceive)
      try stage.close()
    }
  }

  @Test func `while peers owe too much, navs that were read are taken, and old revisions wait`()
    throws
  {
    try withDormant { stage, _ in
      let old = HistoryRequest(token: 7, nav: 2, newestRow: 4, part: .rows(from: 1, through: 2))
      stage.loop.history.ask([old])
      awaitReadable(stage.loop.history.descriptor)
      let pings = PageIns<ReceivedEvent>.maximumHeldEvents - 1
      try stage.turn(
        [stage.op(1, LoopStage.push("1"), nav: "a")]
          + (0..<pings).map { stage.message(1, "ping", #"{"id":\#($0 + 9)}"#) })
      stage.loop.router.unsentBudget.noteUncounted(1 << 40)
      while stage.loop.pageIns.count > 0 { try stage.loop.takeAnswers() }
      let isTaken = stage.loop.batches.atHand.contains {
        if case .history = $0 { true } else { false }
      }
      let before = stage.loop.router.peersOweTooMuch
      #expect(before && stage.loop.pageIns.mayReceive && !isTaken)
      try stage.turn()
      #expect(stage.loop.hub.dormantNavs.map(\.nav) == [2, 3])
      // The client gets its answer when the others have read.
      #expect(stage.count(.ok) == 1 && stage.loop.batches.waitingCount == pings + 1)
      let after = stage.loop.router.peersOweTooMuch
      #expect(!after)
      try stage.turn()
      try stage.settle()
      awaitReadable(stage.loop.history.descriptor)
      #expect(stage.count(.ok) == 2 && stage.loop.history.takeAnswer()?.token == 7)
      try stage.close()
    }
  }

  @Test func `a message that must wait for a later turn is not overtaken by those that were held`()
    throws
  {
    try withDormant { stage, directory in
      try stage.turn([stage.op(1, LoopStage.push("1"), nav: "a")])
      awaitReadable(stage.loop.history.descriptor)
      try stage.loop.takeAnswers()
      stage.loop.router.unsentBudget.noteUncounted(1 << 40)
      try stage.turn([
        stage.op(1, LoopStage.push("2"), nav: "b"), stage.op(1, LoopStage.push("3"), nav: "c"),
      ])
      #expect(stage.count(.ok) == 1)
      awaitReadable(stage.loop.history.descriptor)
      try stage.loop.takeAnswers()
      try stage.turn()
      try stage.answerAll()
      #expect(stage.count(.ok) == 4)
      try stage.close()
      #expect(try LoopStage.rows(directory).suffix(3).map(\.nav) == [1, 2, 3])
    }
  }

  @Test func `a stop does not wait for what is held`() throws {
    try withDormant { stage, directory in
      try stage.turn([stage.op(1, LoopStage.push("1"), nav: "a"), .stop])
      #expect(stage.count(.ok) == 1)
      stage.loop.history.close()
      try stage.close()
      #expect(try LoopStage.rows(directory).count == 7)
    }
  }

  @Test func `a nav that cannot be replayed ends the loop`() throws {
    try withDormant { stage, directory in
      let other = try Database(path: directory + "/" + Journal.fileName)
      try other.execute("DROP TABLE log", .writing)
      other.close()
      try stage.turn([stage.op(1, LoopStage.push("1"), nav: "a")])
      awaitReadable(stage.loop.history.descriptor)
      var failure: DaemonError?
      do { try stage.loop.takeAnswers() } catch { failure = DaemonError(error) }
      #expect(failure?.kind == .journalFailed)
    }
  }
}
