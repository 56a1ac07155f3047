import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

/// Ways around the rules of access that were once open.
@Suite struct AccessEdgeTests {
  /// A stage where user 2000 has these rights on every nav, and its session.
  private func stage(_ rights: Rights) throws -> (Stage, Client) {
    let stage = try Stage(["A", "B", "C"])
    var access = Access()
    let all = try #require(NavGlob("*"))
    access.grants = [
      Access.Grant(.user(Client.user), all, .all), Access.Grant(.user(2000), all, rights),
    ]
    try stage.world.turn([.access(access)])
    let other = Client(stage.world, 20, user: 2000)
    try other.hello()
    return (stage, other)
  }

  /// Shows one button, which is called as what it does.
  private static func button(_ action: String) -> String {
    #"{"item.set":{"screen":"C","leftItems":[{"id":"\#(action)","title":"b","action":"\#(action)"}]}}"#
  }

  private static func activate(_ action: String) -> String {
    #"{"button.activate":{"button":"\#(action)"}}"#
  }

  @Test func `a button that pops takes the right to pop`() throws {
    let (stage, other) = try stage([.read, .push])
    try stage.owner.must(Self.button("nav.pop"), Stage.any)
    #expect(try other.op(Self.activate("nav.pop"), Stage.any).code == "forbidden")
    // Nor by making one, in the same message or before.
    #expect(
      try other.op("\(Self.button("nav.pop")),\(Self.activate("nav.pop"))", Stage.any).code
        == "forbidden")
    #expect(stage.stack == ["A", "B", "C"])
    try stage.owner.must(Self.button("app.help"), Stage.any)
    #expect(try other.op(Self.activate("app.help"), Stage.any).verb == .ok)
  }

  @Test(arguments: ["push", "show", "segue"])
  func `a push that can pop takes the right to pop`(name: String) throws {
    let (stage, other) = try stage([.read, .push])
    let kind = name == "segue" ? #""kind":"show","# : ""
    for policy in ["popTo", "update"] {
      let op = #"{"\#(name)":{\#(kind)"screen":"B","onDuplicate":"\#(policy)"}}"#
      #expect(try other.op(op, Stage.any).code == "forbidden")
    }
    #expect(stage.stack == ["A", "B", "C"])
    let op = #"{"\#(name)":{\#(kind)"screen":"B","onDuplicate":"moveToTop"}}"#
    #expect(try other.op(op, #""animated":false"#).verb == .ok)
    #expect(stage.stack == ["A", "C", "B"])
  }

  @Test func `who may only pop may press back, and nothing else`() throws {
    let (stage, other) = try stage([.read, .pop])
    try stage.owner.must(Self.button("app.help"), Stage.any)
    #expect(try other.op(Self.activate("app.help"), Stage.any).code == "forbidden")
    try stage.owner.must(Self.button("nav.pop"), Stage.any)
    #expect(try other.op(Self.activate("nav.pop"), Stage.any).verb == .ok)
    #expect(stage.stack == ["A", "B"])
  }

  @Test(arguments: [
    (#"{"pop":{}}"#, #""if":{"top":"x"}"#, "desync"),
    (#"{"pop":{}}"#, #""if":{"stack":["A"]}"#, "desync"),
    (#"{"pop":{}}"#, #""if":{"dig":"000000000000000000000000"}"#, "desync"),
    (#"{"revert":{"rev":999}}"#, #""if":{"any":true}"#, "compacted"),
  ])
  func `who may not read is told the code and not what there is`(
    op: String, guards: String, code: String
  ) throws {
    let (stage, other) = try stage([.push, .pop])
    let reply = try other.op(op, guards)
    #expect(reply.code == code, "\(reply.text)")
    for member in ["epoch", "rev", "dig", "depth", "top", "floor"] {
      #expect(reply.json[member] == nil, "\(reply.text)")
    }
    let entry = try stage.world.entry("kiosk")
    for secret in ["is C", "[A, B, C]", entry.digest.text, entry.epoch.text] {
      #expect(!reply.text.contains(secret), "\(reply.text)")
    }
  }

  @Test func `closing without a guard and taking the display by force are noted`() throws {
    let (stage, _) = try stage(.all)
    try stage.lease(stage.viewer)
    let admin = Client(stage.world, 30, user: 0)
    try admin.hello()
    try stage.lease(admin, force: true)
    #expect(stage.world.notices.last?.code == "forced")
    #expect(stage.world.notices.last?.principal == "uid:0")
    try stage.owner.must(#"{"nav.close":{}}"#, Stage.any)
    #expect(stage.world.notices.last?.code == "override")
    #expect(stage.world.notices.last?.nav == "kiosk")
  }

  @Test func `an op in the queue of one who loses the display is answered`() throws {
    let (stage, other) = try stage([.read, .push, .pop])
    try stage.lease(other)
    let transition = try stage.animate("D")
    let body = other.opBody(#"{"pop":{}}"#, "\(Stage.any),\(Stage.queued)")
    try stage.world.turn([other.message("op", body)])
    var access = Access()
    access.grants = [
      Access.Grant(.user(Client.user), try #require(NavGlob("*")), .all),
      Access.Grant(.user(2000), try #require(NavGlob("*")), .read),
    ]
    try stage.world.turn([.access(access)])
    let sent = try stage.send(stage.owner, Stage.complete(transition))
    #expect(sent.to(other).codes == ["forbidden"])
  }

  @Test func `reports of divergence do not fill the journal`() throws {
    let (stage, other) = try stage(.read)
    let before = stage.world.journal.rows.count
    for _ in 0..<100 {
      try other.watch(
        #""bad":{"epoch":"0123456789abcdef","rev":1,"dig":"000000000000000000000000"}"#)
    }
    #expect((1...8).contains(stage.world.journal.rows.count - before))
  }

  @Test func `a refused read names the nav`() throws {
    let (stage, other) = try stage([.push])
    #expect(try other.watch().codes == ["forbidden"])
    #expect(stage.world.notices.last?.nav == "kiosk")
  }

  @Test func `ops that were forgotten are not new when more are remembered`() {
    var configuration = HubConfiguration()
    configuration.rememberedOps = 4
    var remembered = RememberedOps(limits: configuration)
    let key = RememberedOps.Key(principal: "uid:1", client: ClientID(high: 0, low: 1))
    for id in 1...10 {
      let entry = RememberedOps.Entry(
        id: UInt64(id), octets: BodyHash(bits: UInt64(id)), isOk: true, reply: [])
      remembered.remember(entry, of: key, row: 0, at: 0)
    }
    configuration.rememberedOps = 64
    remembered.reconfigure(configuration)
    for id in 1...6 {
      guard case .tooOld = remembered.verdict(on: UInt64(id), octets: BodyHash(bits: 0), of: key)
      else {
        Issue.record("op \(id) would be done again")
        continue
      }
    }
    guard case .decided = remembered.verdict(on: 7, octets: BodyHash(bits: 7), of: key) else {
      Issue.record("op 7 is remembered")
      return
    }
  }
}
