@testable import NavigationCore
@testable import NavigationHub
import Testing

/// UIKit's UIAppearance: the look of all bars of a class, in all navs.
@Suite struct AppearanceTests {
  private static let appearance = "$appearance"
  private static let red = #"{"proxy.set":{"barTintColor":"red"}}"#

  /// A hub with the navs `a` and `b`, and `c` with a bar and a toolbar of declared classes.
  private static func stage() throws -> (World, Client) {
    let world = World { $0.isBarByClass = ["MyBar": true, "MyTools": false] }
    let client = try world.client(1, user: 0)
    for nav in ["a", "b"] { try client.must(#"{"nav.create":{"root":{"id":"r"}}}"#, nav: nav) }
    try client.must(
      #"{"nav.create":{"classes":{"bar":"MyBar","toolbar":"MyTools"}}}"#, nav: "c")
    return (world, client)
  }

  private static func background(_ nav: String, _ client: Client) throws -> String? {
    let value = try client.get("bar", nav: nav).json["value"] as? [String: Any]
    return value?["background"] as? String
  }

  @Test(arguments: [
    (red, #""if":{"rev":7}"#, "no-nav"), (red, #""if":{"top":"x"}"#, "no-nav"),
    (#"{"proxy.set":{"barTintColor":7}}"#, "", "invalid-argument"),
    (#"{"proxy.set":{"barTintColor":7}}"#, #""if":{"rev":7}"#, "no-nav"),
    (#"{"proxy.set":{"class":"NoBar","barTintColor":"red"}}"#, "", "class-unknown"),
  ])
  func `a refused look makes no nav`(op: String, members: String, code: String) throws {
    let (world, client) = try Self.stage()
    let sent = try client.send("op", client.opBody(op, nav: Self.appearance, members))
    #expect(sent.map(\.code) == [code], "\(sent.map(\.text))")
    #expect(try client.get("state", nav: Self.appearance).code == "no-nav")
    #expect(world.hub.navsLackingLooks.isEmpty)
    try client.must(Self.red, nav: Self.appearance, #""if":{"any":true}"#)
  }

  @Test func `no more navs wait for looks than there are`() throws {
    let (world, client) = try Self.stage()
    for number in 0..<200 {
      try client.must(#"{"nav.create":{"root":{"id":"r"}}}"#, nav: "n\(number)")
    }
    for number in 0..<20 {
      let event = client.message(
        "op",
        client.opBody(#"{"proxy.set":{"barTintColor":"c\#(number)"}}"#, nav: Self.appearance))
      try world.handle(event)
      #expect(world.hub.navsLackingLooks.count <= 203)
    }
  }

  @Test func `nothing is read ahead of a commit while navs wait for looks`() throws {
    let (world, client) = try Self.stage()
    for number in 0..<200 {
      try client.must(#"{"nav.create":{"root":{"id":"r"}}}"#, nav: "n\(number)")
    }
    try world.handle(client.message("op", client.opBody(Self.red, nav: Self.appearance)))
    let records = world.hub.takeRecords()
    world.hub.seal()
    #expect(!world.hub.navsLackingLooks.isEmpty)
    let ping = client.message("ping", "{\"id\":\(client.nextID())}")
    let ahead = world.hub.answerAhead(ping, at: world.now)
    #expect(ahead?.messages.count == nil)
    #expect(world.hub.takeRecords().isEmpty)
    world.journal.commit(records)
    try world.take(world.hub.committed(at: world.now))
    try client.must(#"{"push":{"screen":{"id":"s"}}}"#, nav: "a")
  }

  private static func revisions(_ world: World) throws -> [UInt64] {
    try ["a", "b", "c"].map { try world.entry($0).revision.number }
  }

  @Test func `a look is that of all bars, in one revision of each nav that changes`() throws {
    let (world, client) = try Self.stage()
    try client.must(#"{"bar.set":{"barTintColor":"blue"}}"#, nav: "b")
    try client.watch(nav: "a")
    let sent = try client.send("op", client.opBody(Self.red, nav: Self.appearance))
    let diffs = sent.filter { $0.verb == .diff }
    #expect(diffs.map { $0.json["cause"] as? String } == ["appearance"], "\(sent.map(\.text))")
    #expect(diffs.first?.json["by"] == nil)
    let log = try client.get("log", nav: Self.appearance, #""from":1"#).json["value"]
    let causes = (log as? [[String: Any]])?.map { "\($0["cause"] ?? "") \($0["do"] ?? "")" }
    #expect(causes?.count == 2 && causes?.first == "appearance ")
    #expect(try Self.revisions(world) == [2, 3, 2])
    #expect(try ["a", "b", "c"].map { try Self.background($0, client) } == ["red", "blue", "red"])
    // Of a class that only one of them has: the others do not change.
    try client.must(
      #"{"proxy.set":{"class":"MyBar","barTintColor":"green"}}"#, nav: Self.appearance)
    #expect(try Self.revisions(world) == [2, 3, 3])
    #expect(try ["a", "c"].map { try Self.background($0, client) } == ["red", "green"])
    #expect(
      try client.must(Self.red, nav: Self.appearance).json["changed"] as? Bool == false)
    #expect(try Self.revisions(world) == [2, 3, 3])
    // Without that nav there are no looks.
    try client.must(#"{"nav.close":{}}"#, nav: Self.appearance, #""if":{"any":true}"#)
    #expect(try Self.revisions(world) == [3, 4, 4])
    #expect(try Self.background("a", client) == "white")
  }

  @Test func `a new nav begins with the looks, and a dormant one takes them over first`() throws {
    let (world, client) = try Self.stage()
    try client.must(Self.red, nav: Self.appearance)
    try client.must(#"{"nav.create":{"root":{"id":"r"}}}"#, nav: "d")
    #expect(try world.entry("d").revision.number == 1)
    #expect(try Self.background("d", client) == "red")
    try world.restart(revives: false)
    #expect(world.hub.dormantNavs.count == 4)
    let again = try world.client(2, user: 0)
    // The change is made while they are dormant; whoever reads one finds it changed.
    try again.must(#"{"proxy.set":{"barTintColor":"green"}}"#, nav: Self.appearance)
    let value = try again.get("state", nav: "b").json["value"] as? [String: Any]
    #expect(value?["rev"] as? Int == 3)
    #expect(try Self.background("b", again) == "green")
    // What nobody has read follows after any restart.
    try world.restart(revives: false)
    #expect(try Self.background("a", try world.client(3)) == "green")
    #expect(try world.entry("a").revision.number == 3)
  }

  @Test func `navs that cannot follow at once do so later, the others all the same`() throws {
    let world = World()
    let client = try world.client(1, user: 0)
    for number in 0..<100 {
      try client.must(#"{"nav.create":{"root":{"id":"r"}}}"#, nav: "n\(number)")
    }
    try client.must(Self.red, nav: Self.appearance)
    #expect(world.hub.navsLackingLooks.count == 36)
    #expect(world.hub.wakeAt == world.now.boot)
    try world.wait(0)
    #expect(world.hub.navsLackingLooks.isEmpty)
    for number in 0..<100 {
      #expect(try world.entry("n\(number)").revision.number == 2)
    }
  }

  @Test func `a look that the journal does not take changes no nav, and leaves none behind`() throws
  {
    let (world, client) = try Self.stage()
    world.journal.isFailing = true
    #expect(try client.op(Self.red, nav: Self.appearance).code == "storage")
    #expect(try Self.revisions(world) == [1, 1, 1])
    #expect(world.hub.navs.slot(of: Self.appearance) == nil)
    world.journal.isFailing = false
    try client.must(Self.red, nav: Self.appearance)
    #expect(try Self.revisions(world) == [2, 2, 2])
    // The nav and its followers are in one batch; all of them come back, and follow again.
    world.journal.isFailing = true
    #expect(
      try client.op(#"{"proxy.set":{"barTintColor":null}}"#, nav: Self.appearance).code
        == "storage")
    #expect(try Self.revisions(world) == [2, 2, 2])
    #expect(try Self.background("a", client) == "red")
  }

  @Test func `toolbars have looks too`() throws {
    let (world, client) = try Self.stage()
    let toolbar = { (nav: String) in
      (try client.get("bar", nav: nav).json["value"] as? [String: Any])?["toolbar"]
        as? [String: Any]
    }
    try client.must(
      #"{"proxy.set":{"class":"Toolbar","barStyle":"black","translucent":false}}"#,
      nav: Self.appearance)
    try client.must(
      #"{"proxy.set":{"class":"MyTools","barTintColor":"red"}}"#, nav: Self.appearance)
    #expect(try toolbar("a")?["background"] as? String == "black")
    #expect(try toolbar("a")?["translucent"] as? Bool == false)
    #expect(try toolbar("c")?["background"] as? String == "red")
    try client.must(#"{"toolbar.set":{"translucent":true,"barTintColor":"blue"}}"#, nav: "c")
    #expect(try toolbar("c")?["background"] as? String == "blue")
    #expect(try toolbar("c")?["translucent"] == nil)
    #expect(try Self.revisions(world) == [2, 2, 4])
  }

  @Test(arguments: [
    ("$appearance", "invalid-argument", #"{"proxy.set":{"tintColor":"red"}}"#),
    ("$appearance", "invalid-argument", #"{"proxy.set":{"wobble":1}}"#),
    ("$appearance", "invalid-argument", #"{"proxy.set":{"class":"Toolbar","shadowImage":"s"}}"#),
    ("$appearance", "readonly", #"{"proxy.set":{"frame":1}}"#),
    ("$appearance", "class-unknown", #"{"proxy.set":{"class":"Nope"}}"#),
    ("$appearance", "readonly", #"{"nav.create":{"kind":"bar"}}"#),
    ("$appearance", "readonly", red + #",{"bar.set":{"barTintColor":"red"}}"#),
    ("$appearance", "no-nav", #"{"nav.close":{}}"#),
    ("a", "readonly", red), ("$looks", "invalid-argument", red),
  ])
  func `a look has one nav, which has nothing else`(
    nav: String, code: String, ops: String
  ) throws {
    let (world, client) = try Self.stage()
    #expect(try client.op(ops, nav: nav).code == code)
    #expect(try Self.revisions(world) == [1, 1, 1])
  }

  @Test func `whoever owns navs may not change the looks of others`() throws {
    let (world, _) = try Self.stage()
    let other = try world.client(2, user: 4242)
    try other.must(#"{"nav.create":{"root":{"id":"r"}}}"#, nav: "own")
    #expect(try other.op(Self.red, nav: Self.appearance).code == "forbidden")
    #expect(world.hub.navs.slot(of: Self.appearance) == nil)
  }

  @Test func `a cluster has no looks of all bars`() throws {
    let client = try ShardStage(1).worlds[0].client(1, user: 0)
    #expect(try client.op(Self.red, nav: Self.appearance).code == "unsupported")
  }

  @Test func `its nav stays in memory, and is known again after a restart`() throws {
    let (world, client) = try Self.stage()
    try client.must(Self.red, nav: Self.appearance)
    for _ in 0..<4 { try world.wait(world.configuration.navIdle + 1) }
    #expect(world.unloadedNavs == 3)
    #expect(world.hub.navs.slot(of: Self.appearance) != nil)
    let rows = world.journal.rows.count
    try world.restart(revives: false)
    #expect(world.hub.navs.slot(of: Self.appearance) != nil)
    #expect(world.journal.rows.count == rows)
  }

  /// Sets two images whose refs take together `count` octets of a message, 6 for each of theirs.
  private static func put(_ count: Int, _ client: Client) throws -> Sent {
    let empty = #"{"proxy.set":{"shadowImage":null,"backIndicatorImage":null}}"#
    try client.must(empty, nav: appearance, #""if":{"any":true}"#)
    let text = { String(repeating: #"\u0001"#, count: $0) }
    let (first, second) = (count / 12, count / 6 - count / 12)
    let one = #"{"proxy.set":{"shadowImage":"\#(text(first))"}}"#
    try client.must(one, nav: appearance, #""if":{"any":true}"#)
    let rest = #"{"proxy.set":{"backIndicatorImage":"\#(text(second))"}}"#
    return try client.op(rest, nav: appearance, #""if":{"any":true}"#)
  }

  /// The octets of the largest message with the state of a nav.
  private static func octets(_ nav: String, _ world: World) throws -> Int {
    let client = try world.client(9, user: 0, #","flow":"none""#)
    let state = try client.get("state", nav: nav)
    #expect(state.verb == .ok, "\(state.text.prefix(300))")
    let snapshot = try client.watch(nav: nav)
    try world.turn([.closed(client.connection)])
    return max(state.text.utf8.count, snapshot.map(\.text.utf8.count).max() ?? 0)
  }

  @Test func `looks of 16 KiB are taken, larger ones are refused, and their state fits a message`()
    throws
  {
    let limit = 16 << 10
    let (world, client) = try Self.stage()
    var (most, least) = (0, limit + 1)
    // The sizes of names count too, so the largest refs are found by halving.
    while least - most > 1 {
      let count = (most + least) / 2
      let reply = try Self.put(count, client)
      if reply.verb == .ok {
        most = count
        continue
      }
      #expect(reply.code == "limit")
      #expect(reply.json["msg"] as? String == "the state of a nav takes at most 16384 bytes")
      least = count
    }
    #expect(most > limit - 512 && least <= limit, "\(most)")
    #expect(try Self.put(most, client).verb == .ok)
    for nav in [Self.appearance, "a"] {
      #expect(try Self.octets(nav, world) <= world.configuration.maximumReplyBytes)
    }
  }

  @Test func `the looks of many classes fit a message`() throws {
    let classes = (0..<300).map { "C\($0)" }
    let world = World {
      for name in classes { $0.isBarByClass[Text(name)] = true }
      $0.opsPerSecond = 1_000_000
    }
    let client = try world.client(1, user: 0)
    let colour = String(repeating: #"\u0001"#, count: 256)
    var refused = 0
    for name in classes {
      let look =
        #"{"proxy.set":{"class":"\#(name)","barTintColor":"\#(colour)","titleTextAttributes":{"color":"\#(colour)"}}}"#
      let reply = try client.op(look, nav: Self.appearance, #""if":{"any":true}"#)
      refused += reply.code == "limit" ? 1 : 0
      #expect(reply.verb == .ok || reply.code == "limit", "\(reply.text)")
    }
    #expect(refused > 200 && refused < 300)
    #expect(try Self.octets(Self.appearance, world) <= world.configuration.maximumReplyBytes)
  }

  @Test(arguments: [#"\u0001"#, #"\n"#, #"\""#])
  func `bar, settings and presented screens fit a message, whatever their texts are`(sign: String)
    throws
  {
    let (world, client) = try Self.stage()
    let text = String(repeating: sign, count: 60_000 / sign.utf8.count)
    let members = ["shadowImage", "backIndicatorImage", "backIndicatorMask"]
    var replies = try members.map {
      try client.op(#"{"bar.set":{"\#($0)":"\#(text)"}}"#, nav: "a")
    }
    replies.append(try client.op(#"{"nav.configure":{"restorationID":"\#(text)"}}"#, nav: "a"))
    #expect(replies.map { $0.code ?? "" } == ["", "", "limit", "limit"])
    for name in ["title", "route", "restorationID"] {
      let screen = #"{"present":{"screen":{"\#(name)":"\#(text)"}}}"#
      #expect(try client.op(screen, nav: "a").code == (name == "title" ? nil : "limit"))
    }
    #expect(try Self.octets("a", world) <= world.configuration.maximumReplyBytes)
  }
}
