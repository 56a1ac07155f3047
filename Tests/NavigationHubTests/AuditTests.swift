import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

/// What is noted of refusals and overrides, and the limit of ops per second.
@Suite struct AuditTests {
  @Test func `every override is noted with who did it, once it is durable`() throws {
    let stage = try Stage(["A", "B", "C"])
    let before = stage.world.notices.count
    try stage.owner.must(Stage.pop, Stage.any)
    let notice = try #require(stage.world.notices.last)
    #expect(stage.world.notices.count == before + 1)
    #expect(notice.kind == .overridden && notice.code == "override" && notice.level == .info)
    #expect(notice.nav == "kiosk" && notice.principal == "uid:1000" && notice.client == "c1")
    #expect(notice.revision == UInt64(stage.revision))
    stage.world.journal.isFailing = true
    #expect(try stage.owner.op(Stage.pop, Stage.any).code == "storage")
    #expect(stage.world.notices.count == before + 1)
  }

  @Test func `what is done with a guard, and what is refused by a rule, is not noted`() throws {
    let stage = try Stage()
    let before = stage.world.notices.count
    try stage.owner.must(Stage.pop, #""if":{"top":"B"}"#)
    #expect(try stage.owner.op(Stage.pop).code == "guard-required")
    #expect(try stage.owner.op(Stage.pop, #""if":{"top":"X"}"#).code == "desync")
    #expect(try stage.owner.op(Stage.push("A"), Stage.any).code == "duplicate-screen")
    #expect(try stage.owner.get("state").verb == .ok)
    #expect(try stage.owner.get("state", nav: "nobody").code == "no-nav")
    #expect(stage.world.notices.count == before)
  }

  @Test func `a skipped veto is noted`() throws {
    let stage = try Stage(["A", "B"], #""veto":{"policy":"allow","required":true}"#)
    let before = stage.world.notices.count
    try stage.owner.must(Stage.push("C"))
    #expect(stage.world.notices.count == before + 1)
    #expect(stage.world.notices.last?.code == "veto-skipped")
    #expect(stage.world.notices.last?.kind == .overridden)
  }

  @Test func `a refusal in a batch that cannot be stored is noted once`() throws {
    let stage = try Stage()
    let other = Client(stage.world, 20, user: 2000)
    var access = Access()
    access.grants = [Access.Grant(.user(1000), try #require(NavGlob("*")), .all)]
    try stage.world.turn([.access(access)])
    stage.world.journal.isFailing = true
    let push = stage.owner.message("op", stage.owner.opBody(Stage.push("C"), Stage.any))
    let before = stage.world.notices.count
    let get = other.message("get", #"{"id":1,"nav":"kiosk"}"#)
    let sent = try stage.world.turn([push, get])
    #expect(sent.to(other).codes == ["forbidden"])
    #expect(stage.world.notices.count == before + 1)
  }

  @Test func `who is fenced and who takes another's client id is noted`() throws {
    let world = World()
    let first = try world.client(1)
    let second = Client(world, 2, client: first.client)
    try second.hello()
    #expect(try first.op(Stage.push("A")).code == "fenced")
    #expect(world.notices.last?.code == "fenced")
    let thief = Client(world, 3, user: 2000, client: first.client)
    #expect(try thief.hello().code == "forbidden")
    #expect(world.notices.last?.principal == "uid:2000")
  }

  private func limited() -> World { World { $0.opsPerSecond = 3 } }

  /// The answers to so many ops in the same moment.
  private func codes(_ client: Client, _ count: Int, loose: Bool) throws -> [String] {
    let more = loose ? #""client":"\#(client.client)""# : ""
    return try (0..<count).map { _ in try client.op(Stage.push("A"), more).code ?? "ok" }
  }

  @Test(arguments: [false, true])
  func `no connection sends more ops in a second than the limit`(isLoose: Bool) throws {
    let world = limited()
    let client = isLoose ? Client(world) : try world.client()
    #expect(try codes(client, 5, loose: isLoose) == ["no-nav", "no-nav", "no-nav", "busy", "busy"])
    world.advance(1000)
    #expect(try codes(client, 1, loose: isLoose) == ["no-nav"])
    let other = Client(world, 2)
    #expect(try other.op(Stage.pop, #""client":"\#(other.client)""#).code == "no-nav")
  }

  @Test func `neither a new session nor none begins the second anew`() throws {
    let world = limited()
    let client = Client(world)
    #expect(try codes(client, 3, loose: true).last == "no-nav")
    try client.hello()
    #expect(try codes(client, 1, loose: false) == ["busy"])
    try client.send("bye", #"{"id":\#(client.nextID())}"#)
    #expect(try codes(client, 1, loose: true) == ["busy"])
    world.advance(1000)
    for _ in 0..<3 {
      try client.hello()
      _ = try codes(client, 1, loose: false)
    }
    try client.hello()
    #expect(try codes(client, 1, loose: false) == ["busy"])
  }

  @Test func `nothing is kept of connections that are gone`() throws {
    let world = limited()
    for number in 1...50 as ClosedRange<UInt64> {
      let client = Client(world, number)
      _ = try codes(client, 1, loose: true)
      try world.turn([.closed(client.connection)])
    }
    #expect(world.hub.sessions.rates.isEmpty)
  }
}
