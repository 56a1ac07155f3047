import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

/// When a nav leaves memory, and that nobody notices.
@Suite struct UnloadTests {
  private static let idle: UInt64 = 60_000

  /// The navs `one`, `two` and `three`, all loaded, and a client in a session.
  private func loaded(_ configure: (inout HubConfiguration) -> Void = { _ in }) throws -> (
    World, Client
  ) {
    let world = World { configuration in
      configuration.navIdle = Self.idle
      configure(&configuration)
    }
    let client = try world.client()
    for nav in ["one", "two", "three"] {
      try client.must(
        #"{"nav.create":{"root":{"id":"home","title":"Home"}}},{"attach":{}}"#, nav: nav)
      try client.must(Stage.push("a"), nav: nav)
    }
    return (world, client)
  }

  @Test("rule 9: a nav that nobody uses leaves memory after one to two intervals")
  func idleNavs() throws {
    let (world, client) = try loaded()
    let before = try client.get("state", nav: "two").text
    try world.wait(Self.idle - 1)
    try world.wait(1)
    #expect(world.dormantNumbers == [])
    // Used since that sweep.
    try client.must(Stage.push("b"), nav: "one")
    try client.get("state", nav: "three")
    try world.wait(Self.idle - 1)
    #expect(world.dormantNumbers == [])
    try world.wait(1)
    #expect(world.dormantNumbers == [2])
    try world.wait(Self.idle)
    #expect(world.dormantNumbers == [1, 2, 3])
    #expect(world.hub.navs.ringBytes == 0)
    let sent = try client.get("state", nav: "two").text
    let withoutID = { (text: String) in text.replacing(#/"id":[0-9]+,/#, with: "") }
    #expect(withoutID(sent) == withoutID(before))
    #expect(world.revived == [2])
    #expect(try client.must(Stage.push("b"), nav: "two").revision == 3)
    for nav in ["one", "two", "three"] {
      #expect(try client.get("verify", nav: nav).text.contains(#""ok":true"#))
    }
  }

  /// What keeps `two` in memory.
  static let reasons: [@Sendable (World, Client) throws -> Void] = [
    { _, client in _ = try client.watch(nav: "two") },
    { _, client in _ = try client.watch(nav: "two", #""view":"top""#) },
    { _, client in
      let body = #"{"id":\#(client.nextID()),"nav":"two","roles":["veto"]}"#
      let answer = try client.ask("delegate", body)
      #expect(answer.verb == .ok)
    },
    { _, client in
      let body = #"{"id":\#(client.nextID()),"nav":"two","take":true}"#
      let answer = try client.ask("lease", body)
      #expect(answer.verb == .ok)
    },
    { world, client in
      world.holdsHistory = true
      try client.send("get", #"{"id":\#(client.nextID()),"nav":"two","at":1}"#)
    },
    { world, _ in
      let slot = try #require(world.hub.navs.slot(of: "two"))
      world.hub.freeze(slot, ["a test"])
    },
  ]

  @Test(arguments: reasons.indices) func `what is needed stays`(_ place: Int) throws {
    let (world, client) = try loaded()
    try Self.reasons[place](world, client)
    for _ in 0..<4 { try world.wait(Self.idle) }
    #expect(world.dormantNumbers == [1, 3])
  }

  @Test func `a transition keeps its nav until it has ended`() throws {
    let (world, client) = try loaded()
    try client.must(Stage.push("b"), nav: "two", Stage.animated)
    let slot = try #require(world.hub.navs.slot(of: "two"))
    let mayUnload = world.hub.mayUnload(slot, [])
    #expect(!mayUnload)
    for _ in 0..<4 { try world.wait(Self.idle) }
    #expect(world.dormantNumbers == [1, 2, 3])
    let log = try client.get("log", nav: "two").json["value"] as? [[String: Any]]
    #expect(log?.last?["cause"] as? String == "timeout")
  }

  @Test func `a watch that ends counts as a use, and roles that end are forgotten`() throws {
    let (world, client) = try loaded()
    try client.watch(nav: "two")
    for roles in ["\"veto\"", ""] {
      try client.ask(
        "delegate", #"{"id":\#(client.nextID()),"nav":"two","roles":[\#(roles)]}"#)
    }
    for _ in 0..<3 { try world.wait(Self.idle) }
    #expect(world.dormantNumbers == [1, 3])
    try client.ask("unwatch", #"{"id":\#(client.nextID()),"nav":"two"}"#)
    try world.wait(Self.idle)
    #expect(world.dormantNumbers == [1, 3])
    try world.wait(Self.idle)
    #expect(world.dormantNumbers == [1, 2, 3])
    #expect(world.hub.coordinations.isEmpty)
  }

  @Test func `a watch resumes where the newest snapshot still reaches, else it gets a snapshot`()
    throws
  {
    let (world, client) = try loaded()
    let position = try client.get("state", nav: "one").json
    let epoch = try #require(position["epoch"] as? String)
    let dig = try #require((position["value"] as? [String: Any])?["dig"] as? String)
    let from = #""from":{"epoch":"\#(epoch)","rev":2,"dig":"\#(dig)"}"#
    try client.must(Stage.push("b"), nav: "one")
    func resumed() throws -> [ServerVerb] {
      for _ in 0..<3 { try world.wait(Self.idle) }
      #expect(world.dormantNumbers.contains(1))
      let verbs = try client.watch(nav: "one", from).map(\.verb)
      try client.ask("unwatch", #"{"id":\#(client.nextID()),"nav":"one"}"#)
      return verbs
    }
    #expect(try resumed() == [.ok, .diff])
    try world.turn([.snapshotWanted(nav: 1)])
    #expect(try resumed() == [.ok, .snap])
  }

  @Test func `nothing is unloaded while a batch is under way`() throws {
    let (world, client) = try loaded()
    try world.wait(Self.idle)
    world.advance(Self.idle)
    let first = client.message("op", client.opBody(Stage.push("b"), nav: "one"))
    let early = client.message("op", client.opBody(Stage.push("c"), nav: "one"))
    world.hub.handle(.wake, at: world.now)
    let sent = try world.overlap([first], [early])
    #expect((sent.first + sent.second).filter { $0.verb == .ok }.count == 2)
    // When the second batch is durable, nothing is.
    #expect(world.dormantNumbers == [2, 3])
    #expect(try client.must(Stage.push("d"), nav: "one").revision == 5)
  }

  @Test func `a batch that only ended roles is under way, so that no nav leaves`() throws {
    let (world, client) = try loaded()
    let body = #"{"id":\#(client.nextID()),"nav":"two","roles":["veto"]}"#
    #expect(try client.ask("delegate", body).verb == .ok)
    world.hub.handle(.closed(client.connection), at: world.now)
    #expect(world.hub.coordinations[try #require(world.hub.navs.slot(of: "two"))]?.isEmpty == true)
    #expect(!world.hub.batches.isIdle)
    _ = world.hub.committed(at: world.now)
    #expect(world.hub.batches.isIdle)
  }

  @Test func `many navs leave in slices, and then the hub plans nothing for them`() throws {
    let world = World { $0.navIdle = Self.idle }
    let client = try world.client()
    for number in 0..<150 {
      try client.must(#"{"nav.create":{"root":{"id":"home"}}}"#, nav: "n\(number)")
    }
    try client.send("bye", #"{"id":9999}"#)
    for _ in 0..<2 { try world.wait(Self.idle) }
    #expect(world.dormantNumbers.count == 64)
    var slices = 1
    while let wakeAt = world.hub.wakeAt, wakeAt < world.now.boot + 1000 {
      try world.wait(wakeAt - world.now.boot)
      slices += 1
    }
    #expect(slices == 3)
    #expect(world.unloadedNavs == 150)
    #expect(world.dormantNumbers.count == 150)
    // Only the remembered ops of the client are still to expire.
    try world.wait(world.configuration.rememberedIdle)
    #expect(world.hub.wakeAt == nil)
    #expect(world.hub.navs.count == 150)
  }

  @Test func `a shorter time applies at once`() throws {
    let (world, _) = try loaded { $0.navIdle = 3_600_000 }
    world.configuration.navIdle = 1000
    world.hub.reconfigure(world.configuration)
    for _ in 0..<3 { try world.wait(1000) }
    #expect(world.dormantNumbers == [1, 2, 3])
  }

  /// A sweep against what it promises, at random.
  @Test(arguments: UInt64(1)...20) func `what was used since the sweep before is not idle`(
    seed: UInt64
  ) {
    var random = SeededGenerator(seed: seed)
    var sweep = IdleSweep()
    var (now, batch) = (UInt64(0), UInt64(1))
    var begins: [UInt64] = []
    #expect(sweep.dueAt == nil)
    #expect(sweep.begin(at: 100) && !sweep.begin(at: 50))
    for _ in 0..<200 {
      now += random.next() % 40
      batch += random.next() % 3
      sweep.wake(at: now)
      #expect(sweep.isDue == (sweep.dueAt.map { $0 <= now } ?? false))
      guard sweep.isDue else { continue }
      if sweep.cursor == 0 {
        begins.append(batch)
        sweep.beginRound(by: batch)
      }
      let before = begins.count > 1 ? begins[begins.count - 2] : 0
      for used in batch - min(batch, 30)...batch { #expect(sweep.isIdle(used) == (used < before)) }
      if random.next() % 3 == 0 {
        sweep.pause(at: sweep.cursor + 1, until: now + 10)
      } else {
        sweep.endRound(next: now + 100)
        #expect(sweep.cursor == 0)
      }
      #expect(!sweep.isDue && sweep.dueAt ?? 0 > now)
    }
    #expect(begins.count > 5)
    sweep.hasten(to: now)
    #expect(sweep.dueAt == now)
    sweep.endRound(next: nil)
    #expect(sweep.dueAt == nil && sweep.begin(at: 7))
  }
}
