import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

/// What a refused guard says of the last change of the top.
@Suite struct TopChangeTests {
  /// Refuses an op of a client; returns what the refusal says.
  private func since(_ client: Client, _ nav: String = "kiosk") throws -> NSDictionary? {
    let error = try client.op(Stage.pop, nav: nav, Stage.guarded("rev", "9999"))
    #expect(error.code == "desync")
    return error.json["since"] as? NSDictionary
  }

  @Test func `a refused pop says who popped, and when`() throws {
    let stage = try Stage(["A", "B"])
    let remote = try stage.world.client(2, user: 1001)
    stage.world.advance(5000)
    let time = stage.world.now.wall
    try remote.must(Stage.pop, Stage.guarded(top: "B"))
    stage.world.advance(2000)
    let error = try stage.owner.op(Stage.pop, Stage.guarded(top: "B"))
    #expect(
      error.text.contains(
        #","retry":"resync","since":{"rev":2,"t":\#(time),"cause":"api","by":{"name":"c2","#
          + #""principal":"uid:1001","pid":4711},"popped":"B"},"nav":"kiosk""#), "\(error.text)")
  }

  @Test func `an edit below and beside the top is not its change, a push onto it is`() throws {
    let stage = try Stage(["A", "B", "C"])
    let first: NSDictionary = [
      "rev": 1, "t": stage.world.now.wall, "cause": "api",
      "by": ["name": "c1", "principal": "uid:1000", "pid": 4711],
    ]
    #expect(try since(stage.owner) == first)
    stage.world.advance(1)
    try stage.done(#"{"item.set":{"screen":"C","title":"T"}}"#)
    try stage.done(Stage.setStack("B", "C"))
    #expect(try since(stage.owner) == first)
    try stage.done(Stage.setStack("C", "B"))
    #expect(try since(stage.owner)?["covered"] as? String == "C")
    #expect(try since(stage.owner)?["rev"] as? Int == 4)
    try stage.done(#"{"segue":{"kind":"show","screen":{"id":"D"}}}"#)
    #expect(try since(stage.owner)?["cause"] as? String == "segue")
    // Gone and made anew in one revision: the top is the same screen again.
    try stage.done("\(Stage.pop),\(Stage.push("D"))")
    #expect(try since(stage.owner)?["rev"] as? Int == 5)
  }

  @Test func `an op without a session is named by what it says of itself`() throws {
    let world = World()
    let owner = try world.kiosk()
    let tool = Client(world, 3, user: 1002)
    let more = #""client":"\#(tool.client)","name":"tool""#
    try tool.must(Stage.push("a"), more)
    let by: NSDictionary = ["name": "tool", "principal": "uid:1002", "pid": 4711]
    #expect(try since(owner)?["by"] as? NSDictionary == by)
    #expect(try since(owner)?["covered"] as? String == "home")
  }

  @Test func `a client that may not read is not told`() throws {
    var access = Access(daemonUser: 7)
    access.grants = [
      Access.Grant(.user(1000), try #require(NavGlob("*")), .all),
      Access.Grant(.user(1001), try #require(NavGlob("*")), [.push, .pop]),
    ]
    let world = World()
    try world.turn([.access(access)])
    let owner = try world.kiosk()
    let blind = try world.client(2, user: 1001)
    #expect(try since(owner) != nil)
    let error = try blind.op(Stage.pop, Stage.guarded(top: "b"))
    #expect(error.code == "desync")
    #expect(error.json["since"] == nil, "\(error.text)")
  }

  @Test func `the same octets give the same refusal, however late`() throws {
    let stage = try Stage(["A", "B"])
    try stage.done(Stage.pop)
    let body = stage.owner.opBody(Stage.pop, Stage.guarded(top: "B"))
    let refused = try stage.owner.ask("op", body)
    #expect(refused.json["since"] != nil)
    stage.world.advance(60_000)
    try stage.done(Stage.push("C"))
    #expect(try stage.owner.ask("op", body).text == refused.text)
  }

  @Test func `a commit that fails changes nothing of it`() throws {
    let stage = try Stage(["A", "B"])
    try stage.done(Stage.pop)
    let before = try since(stage.owner)
    stage.world.journal.isFailing = true
    stage.world.advance(10)
    #expect(try stage.owner.op(Stage.push("C")).code == "storage")
    #expect(try since(stage.owner) == before)
    stage.world.journal.isFailing = false
    #expect(try since(stage.owner) == before)
  }

  @Test func `a new epoch does not speak of the one before`() throws {
    let stage = try Stage(["A", "B"])
    try stage.done(Stage.pop)
    try stage.world.restart(renewsEpochs: true)
    let client = try stage.world.client(3)
    #expect(try since(client) == nil)
    try client.must(Stage.push("C"))
    #expect(try since(client)?["rev"] as? Int == 3)
  }

  @Test func `it takes a nav 56 octets`() {
    #expect(MemoryLayout<TopChange?>.stride <= 56)
  }

  @Test(arguments: UInt64(1)...6)
  func `every refusal says what reading the whole journal says`(seed: UInt64) throws {
    let world = World { $0.snapshotEvery = 7 }
    var generator = LawGenerator(seed: seed)
    var clients = try (1...3).map { try world.client(UInt64($0), user: UInt32($0) - 1) }
    try clients[1].must(#"{"nav.create":{"root":{"id":"s0"}}},{"attach":{}}"#)
    var twin = TopTwin()
    var changes = 0
    for step in 0..<200 {
      world.advance(1 + generator.below(20))
      let client = generator.pick(clients)
      switch generator.below(24) {
      case 0, 6, 7: try world.wait(1100)
      case 1: try world.turn([.snapshotWanted(nav: 1)])
      case 2:
        let body = #"{"id":\#(client.nextID()),"nav":"kiosk","take":true,"force":true}"#
        try client.send("lease", body)
      case 3, 4:
        world.journal.isFailing = true
        try client.send("op", client.opBody(generator.ops(), Stage.any))
        world.journal.isFailing = false
      case 5:
        try world.restart(renewsEpochs: generator.below(4) == 0)
        let ids = clients.map(\.id)
        clients = try (1...3).map { try world.client(UInt64($0), user: UInt32($0) - 1) }
        for (client, id) in zip(clients, ids) { client.id = id }
      default: try client.send("op", client.opBody(generator.ops(), generator.more()))
      }
      if let running = try world.entry("kiosk").controller.transition.content.running {
        generator.transition = Int(running.id.number)
      }
      let before = twin.since
      try twin.read(world.journal.rows)
      if twin.since != before { changes += 1 }
      let asker = clients[Int(generator.below(3))]
      #expect(try since(asker) == twin.since, "seed \(seed), step \(step)")
    }
    #expect(changes >= 5, "seed \(seed)")
  }
}

/// Reads every row of the journal, and remembers the whole stack.
private struct TopTwin {
  private var count = 0
  private var ids: [String] = []
  private(set) var since: NSDictionary?

  mutating func read(_ rows: [JournalRow]) throws {
    for row in rows[count...] {
      let object = try JSONSerialization.jsonObject(with: Data(row.json())) as? [String: Any]
      try take(row, try #require(object))
    }
    count = rows.count
  }

  private mutating func take(_ row: JournalRow, _ body: [String: Any]) throws {
    switch row.kind {
    case .epoch: since = nil
    case .created:
      let screens = try #require(body["screens"] as? [[String: Any]])
      ids = screens.compactMap { $0["id"] as? String }
      since = entry(row, cause: "api", body, former: nil)
    case .changed:
      let diff = try #require(body["diff"] as? [String: Any])
      let former = ids.last
      for change in try #require(diff["ch"] as? [[String: Any]]) {
        guard let at = change["at"] as? Int else { continue }
        let count = try #require(change["del"] as? [String]).count
        let new = try #require(change["ins"] as? [[String: Any]])
        ids.replaceSubrange(at..<at + count, with: new.compactMap { $0["id"] as? String })
      }
      guard ids.last != former else { return }
      since = entry(row, cause: try #require(diff["cause"] as? String), body, former: former)
    case .closed, .report: break
    }
  }

  private func entry(
    _ row: JournalRow, cause: String, _ body: [String: Any], former: String?
  ) -> NSDictionary {
    var entry: [String: Any] = ["rev": row.revision, "t": row.time, "cause": cause]
    if let by = body["by"] as? [String: Any] {
      entry["by"] = by.filter { ["name", "principal", "pid"].contains($0.key) }
    }
    if let former { entry[ids.contains(former) ? "covered" : "popped"] = former }
    return entry as NSDictionary
  }
}
