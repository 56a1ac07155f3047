@testable import NavigationCore
@testable import NavigationHub
import Testing

/// Ops with `dry`, protocol §9.8: the answer that the op would get; nothing is changed.
@Suite struct RehearsalTests {
  private static let dry = #""dry":true,"if":{"any":true}"#

  @Test func `a rehearsal answers with the state that it would lead to, and changes nothing`()
    throws
  {
    let stage = try Stage()
    try stage.same { () throws in
      let reply = try stage.owner.must(Stage.push("C"), Self.dry)
      #expect(reply.json["dry"] as? Bool == true && reply.json["changed"] as? Bool == true)
      #expect(reply.revision == stage.revision + 1 && reply.json["top"] as? String == "C")
      let state = try #require(reply.json["state"] as? [String: Any])
      let screens = try #require(state["screens"] as? [[String: Any]])
      #expect(screens.compactMap { $0["id"] as? String } == ["A", "B", "C"])
      #expect((state["resolved"] as? [String: Any])?["top"] as? String == "C")
    }
    #expect(try stage.owner.must(Stage.push("C")).json["top"] as? String == "C")
  }

  @Test func `a rehearsal is not remembered: the same octets without dry are performed`() throws {
    let stage = try Stage()
    let id = stage.owner.nextID()
    func body(_ more: String) -> String {
      #"{"id":\#(id),"nav":"kiosk","if":{"any":true}\#(more),"do":[{"pop":{}}]}"#
    }
    for _ in 0..<2 {
      let sent = try stage.world.turn([stage.owner.message("op", body(#","dry":true"#))])
      #expect(sent.to(stage.owner).map(\.verb) == [.ok])
    }
    #expect(stage.stack == ["A", "B"])
    let sent = try stage.world.turn([stage.owner.message("op", body(""))])
    #expect(sent.to(stage.owner).last?.json["changed"] as? Bool == true)
    #expect(stage.stack == ["A"])
  }

  @Test func `a rehearsal works while the journal takes nothing`() throws {
    let stage = try Stage()
    stage.world.journal.isFailing = true
    #expect(try stage.owner.op(Stage.push("X"), Stage.any).code == "storage")
    let reply = try stage.owner.must(Stage.push("C"), Self.dry)
    #expect(reply.json["top"] as? String == "C")
  }

  @Test func `delegates are listed and not asked`() throws {
    let stage = try Stage()
    let judge = try stage.world.client(2)
    let artist = try stage.world.client(3)
    try stage.delegate(judge, "veto")
    try stage.delegate(artist, "animator", "interaction")
    let sent = try stage.send(
      stage.owner, Stage.pop, #""dry":true,"animated":true,"if":{"any":true}"#)
    #expect(!sent.contains { $0.verb == .ask })
    let delegates = try #require(sent.to(stage.owner).last?.json["delegates"] as? [[String: Any]])
    #expect(delegates.map { $0["name"] as? String } == ["c2", "c3"])
    #expect(delegates.map { $0["roles"] as? [String] } == [["veto"], ["animator"]])
  }

  @Test func `a required delegate that is missing refuses a rehearsal too`() throws {
    let stage = try Stage(["A", "B"], #""veto":{"required":true}"#)
    #expect(try stage.owner.op(Stage.pop, Self.dry).code == "delegate-timeout")
  }

  @Test func `refusals are those of the op, without an event or a memory`() throws {
    let stage = try Stage(["A", "B"])
    try stage.owner.must(#"{"screen.set":{"screen":"B","canPop":false}}"#)
    let sent = try stage.send(stage.owner, #"{"ui.backTap":{}}"#, Self.dry)
    #expect(sent.map(\.code) == ["pop-blocked"])
    #expect(try stage.owner.op(Stage.pop, #""dry":true"#).code == "guard-required")
    #expect(try stage.owner.op(Stage.pop, #""dry":true,"if":{"top":"A"}"#).code == "desync")
    #expect(try stage.owner.op(Stage.pop, #""dry":7"#).code == "invalid-argument")
  }

  @Test func `creating and closing are rehearsed too`() throws {
    let stage = try Stage()
    let reply = try stage.owner.must(
      #"{"nav.create":{"root":{"id":"R"}}}"#, nav: "other", #""dry":true"#)
    #expect(reply.json["top"] as? String == "R")
    #expect(try stage.owner.op(Stage.push("X"), nav: "other").code == "no-nav")
    #expect(
      try stage.owner.op(#"{"nav.create":{}}"#, #""dry":true"#).code == "nav-exists")
    try stage.owner.must(#"{"nav.close":{}}"#, Self.dry)
    #expect(stage.stack == ["A", "B"])
  }

  @Test func `an op that would wait is told its place`() throws {
    let stage = try Stage()
    try stage.animate("C")
    let reply = try stage.owner.must(Stage.push("D"), #""dry":true,"onBusy":"queue""#)
    #expect(reply.json["pos"] as? Int == 1 && reply.json["state"] == nil)
    #expect(try stage.owner.op(Stage.push("D"), #""dry":true"#).code == "transition-in-progress")
  }

  @Test func `a revert is rehearsed from the history`() throws {
    let stage = try Stage()
    try stage.owner.must(Stage.push("C"))
    let reply = try stage.owner.must(#"{"revert":{"rev":1}}"#, Self.dry)
    #expect(reply.json["dry"] as? Bool == true, "\(reply.text)")
    #expect(stage.stack == ["A", "B", "C"])
  }

  @Test func `without the right read the state is not in the answer`() throws {
    let stage = try Stage()
    #expect(try stage.owner.must(Stage.push("C"), Self.dry).json["state"] != nil)
    var access = Access()
    access.grants = [Access.Grant(.user(2000), try #require(NavGlob("*")), .push)]
    try stage.world.turn([.access(access)])
    let other = Client(stage.world, 20, user: 2000)
    try other.hello()
    #expect(try other.must(Stage.push("C"), Self.dry).json["state"] == nil)
    #expect(try other.op(Stage.pop, Self.dry).code == "forbidden")
  }
}
