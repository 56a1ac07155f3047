@testable import NavigationCore
@testable import NavigationHub
import Testing

/// Watches that wait for a nav that does not exist.
@Suite struct AwaitedNavTests {
  static let creation = #"{"nav.create":{"root":{"id":"home","title":"Home"}}}"#

  /// Creates `kiosk`; returns what a client got meanwhile.
  private func create(_ world: World, by creator: Client, for client: Client) throws -> [Sent] {
    let start = world.sent.count
    try creator.must(Self.creation)
    return world.sent[start...].filter { $0.connection == client.connection }
  }

  @Test(arguments: ["full", "bar", "top"])
  func `a watch that waits is queued, and begins when another client creates the nav`(
    view: String
  ) throws {
    let world = World()
    let (client, creator) = (try world.client(1), try world.client(2))
    let more = #""wait":true,"view":"\#(view)""#
    let queued = try client.watch(more)
    #expect(queued.map(\.verb) == [.queued])
    #expect(queued.first?.id == client.id)
    let begun = try create(world, by: creator, for: client)
    #expect(begun.map(\.verb) == [.ok, view == "full" ? .snap : .latest])
    #expect(begun.first?.id == client.id)
    #expect(begun.first?.json["mode"] as? String == (view == "full" ? "snap" : "latest"))
    try creator.must(WatchTests.push("a"))
    #expect(world.sent.last { $0.connection == client.connection }?.revision == 2)
  }

  @Test func `a watch that waits for a nav that exists begins at once`() throws {
    let world = World()
    let client = try world.kiosk()
    #expect(try client.watch(#""wait":true"#).map(\.verb) == [.ok, .snap])
  }

  @Test func `a creator that waits itself gets the answer to both`() throws {
    let world = World()
    let client = try world.client()
    try client.watch(#""wait":true"#)
    #expect(try client.send("op", client.opBody(Self.creation)).map(\.verb) == [.ok, .ok, .snap])
  }

  @Test func `a watch waits until the creation is durable, also if the journal fails first`() throws
  {
    let world = World()
    let (client, creator) = (try world.client(1), try world.client(2))
    try client.watch(#""wait":true"#)
    world.journal.isFailing = true
    #expect(try creator.op(Self.creation).code == "storage")
    #expect(world.sent.last { $0.connection == client.connection }?.verb == .queued)
    world.journal.isFailing = false
    try world.wait(1000)
    let begun = try create(world, by: creator, for: client)
    #expect(begun.map(\.verb) == [.ok, .snap])
  }

  @Test func `what has ended its wait gets nothing`() throws {
    let world = World()
    let (client, creator) = (try world.client(1), try world.client(2))
    try client.watch(#""wait":true"#)
    try client.ask("unwatch", #"{"id":\#(client.nextID()),"nav":"kiosk"}"#)
    let other = try world.client(3)
    try other.watch(#""wait":true"#)
    try other.ask("bye", #"{"id":\#(other.nextID())}"#)
    #expect(try create(world, by: creator, for: client).isEmpty)
    #expect(!world.sent.contains { $0.connection == other.connection && $0.verb == .snap })
    #expect(world.hub.sessions.indices.allSatisfy { world.hub.sessions[$0].waitingWatches.isEmpty })
  }

  @Test func `a second watch replaces the one that waits`() throws {
    let world = World()
    let (client, creator) = (try world.client(1), try world.client(2))
    try client.watch(#""wait":true"#)
    try client.watch(#""wait":true"#)
    #expect(try create(world, by: creator, for: client).map(\.verb) == [.ok, .snap])
    let third = try world.client(3)
    try third.watch(nav: "other", #""wait":true"#)
    #expect(try third.watch(nav: "other").first?.code == "no-nav")
    try creator.must(Self.creation, nav: "other")
    #expect(!world.sent.contains { $0.connection == third.connection && $0.verb == .snap })
  }

  @Test func `watches that wait count against the limit of a connection`() throws {
    let world = World { $0.watchesPerConnection = 2 }
    let client = try world.client()
    for nav in ["a", "b"] {
      #expect(try client.watch(nav: nav, #""wait":true"#)[0].verb == .queued)
    }
    #expect(try client.watch(nav: "c", #""wait":true"#)[0].code == "limit")
    #expect(try client.watch(nav: "$navs")[0].code == "limit")
    try client.ask("unwatch", #"{"id":\#(client.nextID()),"nav":"a"}"#)
    #expect(try client.watch(nav: "$navs")[0].verb == .ok)
  }

  @Test func `who may not read the nav does not wait for it`() throws {
    let world = World()
    var access = Access()
    access.grants = [Access.Grant(.user(4242), try #require(NavGlob("*")), .read)]
    try world.turn([.access(access)])
    #expect(try world.client().watch(#""wait":true"#)[0].code == "forbidden")
  }

  @Test func `a wait is no refusal`() throws {
    let world = World()
    let client = try world.client()
    try client.watch(#""wait":true"#)
    let admin = try world.client(2, user: 0)
    #expect(try admin.get("refusals", nav: nil).text.contains("no-nav") == false)
  }
}
