import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

@Suite struct RollBackTests {
  static let push = #"{"push":{"screen":{"id":"wifi"}}}"#

  @Test func `an op whose commit fails is refused and leaves all as it was`() throws {
    let world = World()
    let client = try world.kiosk()
    try client.watch()
    let before = try world.standing("kiosk")
    world.journal.isFailing = true
    let replies = try client.send("op", client.opBody(Self.push))
    #expect(replies.map(\.code) == ["storage"])
    #expect(replies[0].json["retry"] as? String == "later")
    #expect(try world.standing("kiosk") == before)
    #expect(try client.get("state").verb == .ok)
    world.journal.isFailing = false
    #expect(try client.must(Self.push).revision == 2)
  }

  @Test func `the octets refused with storage run when they come again`() throws {
    let world = World()
    let client = try world.kiosk()
    let body = client.opBody(Self.push)
    world.journal.isFailing = true
    #expect(try client.ask("op", body).code == "storage")
    world.journal.isFailing = false
    #expect(try client.ask("op", body).verb == .ok)
    #expect(try client.ask("op", body).revision == 2)
  }

  @Test func `failed commits do not use up the ops in flight`() throws {
    let world = World { $0.inflight = 4 }
    let client = try world.kiosk()
    world.journal.isFailing = true
    for _ in 0..<10 { #expect(try client.op(Self.push).code == "storage") }
    world.journal.isFailing = false
    try client.must(Self.push)
  }

  @Test func `closing and creating the same name in one failed batch keeps the old nav`() throws {
    let world = World()
    let client = try world.kiosk()
    let old = try world.entry("kiosk").number
    world.journal.isFailing = true
    let replies = try world.turn([
      client.message("op", client.opBody(#"{"nav.close":{}}"#, #""if":{"rev":1}"#)),
      client.message("op", client.opBody(#"{"nav.create":{"root":{"id":"new"}}}"#)),
    ])
    #expect(replies.map(\.code) == ["storage", "nav-exists"])
    #expect(try world.entry("kiosk").number == old)
    world.journal.isFailing = false
    try client.must(Self.push)
    try world.restart()
    #expect(try world.entry("kiosk").controller.stack.map(\.id.text) == ["home", "wifi"])
  }

  @Test func `creating and closing in one failed batch leaves nothing`() throws {
    let world = World()
    let client = try world.client()
    world.journal.isFailing = true
    let replies = try world.turn([
      client.message("op", client.opBody(#"{"nav.create":{"root":{"id":"a"}}}"#)),
      client.message("op", client.opBody(#"{"nav.close":{}}"#, #""if":{"rev":1}"#)),
    ])
    // Whoever does not own a nav learns nothing of it, not even that it is gone.
    #expect(replies.map(\.code) == ["storage", "forbidden"])
    world.journal.isFailing = false
    try client.must(#"{"nav.create":{"root":{"id":"a"}}}"#)
  }

  @Test func `last words are said although the batch failed`() throws {
    let world = World()
    let client = try world.kiosk()
    let other = Client(world, 2, client: client.client)
    world.journal.isFailing = true
    let replies = try world.turn([
      client.message("op", client.opBody(Self.push)),
      other.message(
        "hello", #"{"ver":[1,1],"client":"\#(client.client)","nonce":"n2"}"#),
    ])
    let byes = replies.filter { $0.verb == .bye }
    #expect(byes.map(\.connection) == [client.connection])
    #expect(byes.first?.json["why"] as? String == "fenced")
    #expect(world.dropped == [client.connection])
    #expect(replies.contains { $0.verb == .welcome })
  }

  @Test func `a stop in a failed batch says goodbye`() throws {
    let world = World()
    let client = try world.kiosk()
    world.journal.isFailing = true
    let replies = try world.turn([client.message("op", client.opBody(Self.push)), .stop])
    #expect(replies.filter { $0.verb == .bye }.count == 1)
  }

  @Test func `an answer of the history in a failed batch is not lost`() throws {
    let world = World()
    let client = try world.kiosk()
    world.holdsHistory = true
    try client.send("get", #"{"id":90,"nav":"kiosk","what":"log"}"#)
    let answer = world.journal.answer(try #require(world.requests.first))
    world.journal.isFailing = true
    let replies = try world.turn([
      client.message("op", client.opBody(Self.push)), .history(answer),
    ])
    #expect(replies.contains { $0.id == 90 && $0.verb == .ok })
  }

  @Test func `malformed messages of a failed batch count once`() throws {
    let world = World()
    let client = try world.kiosk()
    world.journal.isFailing = true
    try world.turn([
      client.message("op", client.opBody(Self.push)), client.withWrongFrames,
    ])
    #expect(try client.ask("ping", #"{"id":99}"#).verb == .pong)
    world.journal.isFailing = false
    try world.turn([client.withWrongFrames])
    #expect(try client.must(Self.push).verb == .ok)
    let last = try world.turn([client.withWrongFrames])
    #expect(last.map(\.verb) == [.err, .bye])
  }

  @Test func `a failed creation is not in the directory of those who began to look`() throws {
    let world = World()
    let client = try world.kiosk()
    world.journal.isFailing = true
    let replies = try world.turn([
      client.message("op", client.opBody(#"{"nav.create":{"root":{"id":"a"}}}"#, nav: "ghost")),
      client.message("watch", #"{"id":50,"nav":"$navs"}"#),
    ])
    var mirror = NaiveMirror()
    for message in replies { try mirror.apply(message, nav: "$navs") }
    #expect(mirror.ids == ["kiosk"])
  }

  @Test func `a mirror can resume from the revision that a failed batch left`() throws {
    let world = World { $0.resumeRevisions = 1 }
    let client = try world.kiosk()
    try client.must(Self.push)
    let digest = try world.entry("kiosk").digest
    world.journal.isFailing = true
    try world.turn(
      (0..<3).map { client.message("op", client.opBody(#"{"push":{"screen":{"id":"x\#($0)"}}}"#)) })
    #expect(try world.entry("kiosk").digest == digest)
    world.journal.isFailing = false
    let epoch = try world.entry("kiosk").epoch.text
    let replies = try client.watch(
      #""from":{"epoch":"\#(epoch)","rev":2,"dig":"\#(digest.text)"}"#)
    #expect(replies.first?.json["mode"] as? String == "resume")
    let after = try client.send("op", client.opBody(#"{"push":{"screen":{"id":"y"}}}"#))
    #expect(after.map(\.verb) == [.diff, .ok])
  }

  @Test func `what a failed batch drove out of the remembered ops comes back`() throws {
    let world = World { $0.rememberedOps = 2 }
    let client = try world.kiosk()
    let first = client.opBody(Self.push)
    let reply = try client.ask("op", first)
    try client.must(#"{"push":{"screen":{"id":"b"}}}"#)
    world.journal.isFailing = true
    try client.op(#"{"push":{"screen":{"id":"c"}}}"#)
    #expect(try client.ask("op", first).text == reply.text)
  }

  @Test func `a watch begun in a failed batch works`() throws {
    let world = World()
    let client = try world.kiosk()
    world.journal.isFailing = true
    let replies = try world.turn([
      client.message("op", client.opBody(Self.push)),
      client.message("watch", #"{"id":50,"nav":"kiosk"}"#),
    ])
    #expect(replies.map(\.verb) == [.err, .ok, .snap])
    var mirror = NaiveMirror()
    for message in replies { try mirror.apply(message) }
    world.journal.isFailing = false
    for message in try client.send("op", client.opBody(Self.push)) { try mirror.apply(message) }
    #expect(mirror.ids == ["home", "wifi"])
  }

  /// A daemon of a cluster with `kiosk` in memory and `other` dormant, in different shards.
  private func clustered() throws -> (World, Client) {
    var inspections = Inspections()
    inspections.stateInspection = { $0.environment.content.owner == nil ? [] : ["planted"] }
    let world = try ShardStage(1, inspections: inspections) { $0.navIdle = 60_000 }.worlds[0]
    let client = try world.client()
    for nav in ["kiosk", "other"] {
      try client.must(#"{"nav.create":{"root":{"id":"home"}}},{"attach":{}}"#, nav: nav)
    }
    for _ in 0..<3 { try world.wait(60_000) }
    try client.get("state")
    #expect(world.hub.dormantNavs.count == 1)
    return (world, client)
  }

  /// `torture simulate 971514`.
  @Test func `a transition left open by a failed commit has no row behind the closing`() throws {
    let stage = try Stage(["A"])
    try stage.send(stage.owner, Stage.push("B"), Stage.animated)
    stage.world.journal.isFailing = true
    let waiting = Stage.any + #","onBusy":"queue""#
    let queued = stage.owner.message("op", stage.owner.opBody(Stage.pop, waiting))
    let create = stage.owner.message(
      "op", stage.owner.opBody(#"{"nav.create":{"root":{"id":"x"}}}"#, nav: "other"))
    try stage.world.turn([queued, create])
    stage.world.journal.isFailing = false
    stage.world.advance(2000)
    let close = stage.owner.message("op", stage.owner.opBody(#"{"nav.close":{}}"#, Stage.any))
    try stage.world.turn([close, .wake])
    let number = try #require(stage.world.journal.rows.first).nav
    #expect(stage.world.journal.rows.last { $0.nav == number }?.kind == .closed)
  }

  /// Lets `kiosk` go, and `other` take its slot, which is returned.
  private func replace(in world: World) throws -> NavSlot {
    let slot = try #require(world.hub.navs.slot(of: "kiosk"))
    world.hub.release([Shard(ofName: "kiosk", among: Shard.count)], to: nil, at: world.now)
    try world.revive(try #require(world.hub.dormantNavs.first), in: &world.hub)
    #expect(world.hub.navs.slot(of: "other") == slot)
    return slot
  }

  @Test func `the roles at a nav that has moved do not come back at the nav in its slot`() throws {
    let (world, client) = try clustered()
    let body = #"{"id":\#(client.nextID()),"nav":"kiosk","roles":["veto"]}"#
    #expect(try client.ask("delegate", body).verb == .ok)
    let slot = try replace(in: world)
    _ = world.hub.rollBack(isStorageFailing: false)
    #expect(world.hub.coordinations[slot] == nil && !world.hub.coordinations.hasUnrecordedEndings)
  }

  @Test func `a frozen nav that has moved leaves the nav in its slot frozen or not`() throws {
    let (world, client) = try clustered()
    let lease = #"{"id":\#(client.nextID()),"nav":"kiosk","take":true}"#
    world.hub.handle(client.message("lease", lease), at: world.now)
    #expect(try world.entry("kiosk").fault == "planted")
    let slot = try replace(in: world)
    world.hub.freeze(slot, ["a test"])
    _ = world.hub.rollBack(isStorageFailing: false)
    #expect(try world.entry("other").fault == "a test")
  }
}
