import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

/// Rights that change, and keys that are revoked, while clients are served.
@Suite struct AccessChangeTests {
  /// Access under which users have these rights everywhere, and others nothing.
  private func access(_ users: [UInt32: Rights]) throws -> HubEvent {
    var access = Access()
    let all = try #require(NavGlob("*"))
    access.grants = [Access.Grant(.user(4242), all, .read)]
    for (user, rights) in users { access.grants.append(Access.Grant(.user(user), all, rights)) }
    return .access(access)
  }

  private func client(_ world: World, _ number: UInt64, user: UInt32) throws -> Client {
    let client = Client(world, number, user: user)
    #expect(try client.hello().verb == .welcome)
    return client
  }

  @Test func `a watch ends when the right to read does`() throws {
    let stage = try Stage()
    let other = try client(stage.world, 20, user: 2000)
    for view in ["full", "bar", "top"] { try other.watch("\"view\":\"\(view)\"") }
    let sent = try stage.world.turn([access([1000: .all, 2000: .push])])
    #expect(sent.to(stage.viewer).isEmpty && sent.to(stage.owner).isEmpty)
    let ends = sent.to(other).filter { $0.verb == .end }
    #expect(Set(ends.compactMap { $0.json["view"] as? String }) == ["full", "bar", "top"])
    #expect(ends.allSatisfy { $0.json["why"] as? String == "forbidden" })
    let later = try stage.send(stage.owner, Stage.push("C"))
    #expect(later.to(other).isEmpty)
    #expect(try other.watch().codes == ["forbidden"])
    let hub = stage.world.hub
    let slot = try #require(hub.navs.slot(of: "kiosk"))
    #expect(hub.watches.of(nav: slot).count == 1)
  }

  @Test func `what was committed before the change is still told`() throws {
    let stage = try Stage()
    let other = try client(stage.world, 20, user: 2000)
    try other.watch()
    let push = stage.owner.message("op", stage.owner.opBody(Stage.push("C"), Stage.any))
    let after = stage.owner.message("op", stage.owner.opBody(Stage.push("D"), Stage.any))
    let sent = try stage.world.turn([push, access([1000: .all]), after]).to(other)
    // Nothing of a revision behind the change.
    let told = sent.diffs.compactMap { $0["rev"] as? Int }
    #expect(sent.last?.verb == .end)
    #expect(!told.contains(stage.revision), "\(told)")
  }

  @Test func `the directory of navs ends with the right to it`() throws {
    let stage = try Stage()
    let other = try client(stage.world, 20, user: 2000)
    try other.watch(nav: "$navs")
    let sent = try stage.world.turn([access([1000: .all, 2000: .read])]).to(other)
    #expect(sent.map(\.verb) == [.end])
  }

  @Test func `a delegate is not asked any more without the right to push`() throws {
    let stage = try Stage()
    let gate = try client(stage.world, 20, user: 2000)
    try stage.delegate(gate, "veto")
    let asked = try stage.send(stage.owner, Stage.push("C"))
    #expect(asked.to(gate).asked == ["shouldPush(C)"])
    let sent = try stage.world.turn([access([1000: .all, 2000: [.read, .pop]])])
    // Its silence is a timeout, as when it goes.
    #expect(sent.to(stage.owner).codes == ["delegate-timeout"])
    #expect(try stage.send(stage.owner, Stage.push("D")).to(stage.owner).codes == [])
    #expect(stage.stack == ["A", "B", "D"])
  }

  @Test func `the display is given back without the right to push`() throws {
    let stage = try Stage()
    let holder = try client(stage.world, 20, user: 2000)
    #expect(try stage.lease(holder).verb == .ok)
    #expect(stage.displayOwner == "c20")
    let sent = try stage.world.turn([access([1000: .all, 2000: .read])])
    #expect(stage.displayOwner == nil)
    #expect(sent.to(stage.viewer).causes == ["lease"])
    #expect(try stage.lease(stage.owner).verb == .ok)
  }

  @Test func `an op in the queue is judged by the rules of the moment it runs`() throws {
    let stage = try Stage()
    let other = try client(stage.world, 20, user: 2000)
    let transition = try stage.animate("C")
    let queued = try stage.send(other, Stage.pop, Stage.any + "," + Stage.queued)
    #expect(queued.to(other).map(\.verb) == [.queued])
    try stage.world.turn([access([1000: .all, 2000: [.read, .push]])])
    let sent = try stage.send(stage.owner, Stage.complete(transition))
    #expect(sent.to(other).codes == ["forbidden"])
    #expect(stage.stack == ["A", "B", "C"])
    let refused = stage.world.notices.filter { $0.kind == .refused }
    #expect(refused.map(\.principal) == ["uid:2000"])
  }

  @Test func `an op that waits for a delegate is judged again`() throws {
    let stage = try Stage()
    let other = try client(stage.world, 20, user: 2000)
    try stage.delegate(stage.owner, "veto")
    try stage.send(other, Stage.pop)
    try stage.world.turn([access([1000: .all, 2000: [.read, .push]])])
    let sent = try stage.answer(stage.owner, "true")
    #expect(sent.to(other).codes == ["forbidden"])
    #expect(stage.stack == ["A", "B"])
  }

  @Test func `an op without a session that waits for a delegate is judged again`() throws {
    let stage = try Stage()
    let other = Client(stage.world, 20, user: 2000)
    try stage.delegate(stage.owner, "veto")
    try stage.send(other, Stage.pop, Stage.any + #","client":"\#(other.client)""#)
    try stage.world.turn([access([1000: .all])])
    let sent = try stage.answer(stage.owner, "true")
    #expect(sent.to(other).codes == ["forbidden"])
    #expect(stage.stack == ["A", "B"])
  }

  @Test func `what waits for the history is judged again`() throws {
    let world = World { $0.resumeRevisions = 1 }
    let stage = try Stage(["A", "B", "C"], world: world)
    for id in ["D", "E", "F"] { try stage.send(stage.owner, Stage.push(id)) }
    let other = try client(world, 20, user: 2000)
    world.holdsHistory = true
    let body = #"{"id":\#(other.nextID()),"nav":"kiosk","at":2}"#
    let revert = other.opBody(#"{"revert":{"rev":2}}"#, Stage.any)
    let first = try world.turn([other.message("get", body), other.message("op", revert)])
    #expect(first.to(other).isEmpty)
    #expect(world.requests.count == 2)
    try world.turn([access([1000: .all, 2000: .push])])
    let stack = stage.stack
    world.holdsHistory = false
    let sent = try world.answerHistory()
    #expect(sent.to(other).codes == ["forbidden", "forbidden"])
    #expect(stage.stack == stack)
  }

  @Test func `a session's role in the list of clients changes`() throws {
    let world = World()
    let admin = try client(world, 1, user: 0)
    _ = try client(world, 2, user: 1000)
    try admin.watch(nav: "$clients")
    let sent = try world.turn([access([1000: .all])]).to(admin)
    #expect(sent.diffs.count == 1)
    #expect("\(sent.diffs)".contains("none"), "\(sent.map(\.text))")
  }

  @Test func `a revoked key ends its session with everything in it`() throws {
    let stage = try Stage()
    let peer = Peer.key(name: "panel", address: "192.0.2.1")
    var access = Access()
    access.keys = ["panel": .ui]
    try stage.world.turn([.access(access)])
    let panel = Client(stage.world, 30, peer: peer)
    try panel.hello()
    try panel.watch()
    try stage.delegate(panel, "veto")
    #expect(try stage.lease(panel).verb == .ok)
    access.keys = [:]
    let sent = try stage.world.turn([.revoked(panel.connection), .access(access)])
    #expect(sent.to(panel).last?.verb == .bye)
    #expect(sent.to(panel).last?.json["why"] as? String == "revoked")
    #expect(stage.world.hub.sessions.slot(of: panel.connection) == nil)
    #expect(stage.displayOwner == nil)
    #expect(try stage.send(stage.owner, Stage.push("C")).asked == [])
    #expect(stage.world.dropped == [panel.connection])
    let notice = stage.world.notices.last { $0.code == "revoked" }
    #expect(notice?.principal == "panel" && notice?.kind == .refused)
    #expect(try panel.op(Stage.push("Z"), #""client":"\#(panel.client)""#).code == "forbidden")
  }

  @Test func `a revoked key without a session is told so too`() throws {
    let world = World()
    let sent = try world.turn([.revoked(ConnectionID(3))])
    #expect(sent.map(\.verb) == [.bye])
    #expect(sent.first?.json["why"] as? String == "revoked")
  }

  @Test func `a change of access outlives a batch that cannot be stored`() throws {
    let stage = try Stage()
    let other = try client(stage.world, 20, user: 2000)
    try other.watch()
    stage.world.journal.isFailing = true
    let push = stage.owner.message("op", stage.owner.opBody(Stage.push("C"), Stage.any))
    let sent = try stage.world.turn([push, access([1000: .all])])
    #expect(sent.to(stage.owner).codes == ["storage"])
    #expect(sent.to(other).map(\.verb) == [.end])
  }
}
