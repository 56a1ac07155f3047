import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

/// `$heads`: where each nav is.
@Suite struct HeadsTests {
  private static let interval = VirtualNavPace.interval(records: 0)

  private static let create = #"{"nav.create":{"root":{"id":"home"}}},{"attach":{}}"#

  /// A client that mirrors `$heads`.
  private final class Follower {
    let world: World
    let client: Client
    var mirror = NaiveMirror()
    private var read = 0

    init(_ world: World, _ client: Client) throws {
      (self.world, self.client) = (world, client)
      read = world.sent.count
      try client.watch(nav: "$heads")
      try catchUp()
    }

    /// Applies what arrived; returns how many diffs that were.
    @discardableResult
    func catchUp() throws -> Int {
      let new = world.sent[read...].filter {
        $0.connection == client.connection && $0.json["nav"] as? String == "$heads"
      }
      read = world.sent.count
      for message in new { try mirror.apply(message, nav: "$heads") }
      return new.count { $0.verb == .diff }
    }

    /// The records, without the versions.
    var heads: [String] {
      mirror.screens.map { record in
        let members = ["id", "rev", "depth", "top", "t", "watches"].map { "\(record[$0] ?? "-")" }
        return members.joined(separator: " ")
      }
    }
  }

  private static func expected(_ world: World) -> [String] {
    let navs = world.hub.navs
    let loaded = navs.loaded.map { slot in
      (navs[slot].name, NavHead(navs[slot]), world.hub.watches.of(nav: slot).count)
    }
    let dormant = navs.dormants.places.map { place in
      (navs.dormants[place].name, navs.dormants.history(place).head, 0)
    }
    return (loaded + dormant).sorted { $0.0 < $1.0 }.map { name, head, watches in
      "\(name) \(head.revision.number) \(head.depth) \(head.top?.text ?? "-") \(head.time) \(watches)"
    }
  }

  @Test func `the records name revision, depth, top, time and watches of the navs`() throws {
    let world = World()
    let client = try world.kiosk()
    let follower = try Follower(world, client)
    #expect(follower.heads == ["kiosk 1 1 home \(world.now.wall) 0"])
    try world.wait(Self.interval)
    try client.must(SealTests.push("wifi"))
    try client.watch(nav: "kiosk")
    let pushed = world.now.wall
    try world.wait(Self.interval)
    try follower.catchUp()
    #expect(follower.heads == ["kiosk 2 2 wifi \(pushed) 1"])
    try client.must(#"{"nav.create":{"root":{"id":"r"}}}"#, nav: "a/b")
    try world.wait(Self.interval)
    try follower.catchUp()
    #expect(follower.heads.map { $0.prefix(9) } == ["a/b 1 1 r", "kiosk 2 2"])
    #expect(try client.op(#"{"nav.close":{}}"#, #""if":{"any":true}"#).code == nil)
    try world.wait(Self.interval)
    try follower.catchUp()
    #expect(follower.heads.map { $0.prefix(9) } == ["a/b 1 1 r"])
  }

  @Test func `the first change is shown at once, and the next ones 250 ms later, together`() throws
  {
    let world = World()
    let client = try world.kiosk()
    let follower = try Follower(world, client)
    try world.wait(Self.interval)
    try follower.catchUp()
    try client.must(SealTests.push("a"))
    #expect(try follower.catchUp() == 1)
    for id in ["b", "c", "d"] { try client.must(SealTests.push(id)) }
    #expect(try follower.catchUp() == 0)
    try world.wait(Self.interval - 1)
    #expect(try follower.catchUp() == 0)
    #expect(try #require(world.hub.wakeAt) <= world.now.boot + 1)
    try world.wait(1)
    #expect(try follower.catchUp() == 1)
    #expect(follower.heads.map { $0.prefix(11) } == ["kiosk 5 5 d"])
    #expect(VirtualNavPace.interval(records: 400_000) == 1250)
  }

  @Test func `nothing is shown that is not durable, also while ops are decided early`() throws {
    let world = World()
    let client = try world.kiosk()
    let follower = try Follower(world, client)
    try world.wait(Self.interval)
    try follower.catchUp()
    let body = { (id: String) in client.message("op", client.opBody(SealTests.push(id))) }
    let (first, second) = try world.overlap([body("a")], [body("b")])
    let heads = { (sent: [Sent]) in
      sent.filter { $0.json["nav"] as? String == "$heads" }.map(\.text)
    }
    #expect(heads(first).count == 1)
    #expect(heads(first).first?.contains(#""rev":2,"depth":2,"top":"a""#) == true)
    #expect(heads(second).isEmpty)
    try world.wait(Self.interval)
    try follower.catchUp()
    #expect(follower.heads.map { $0.prefix(11) } == ["kiosk 3 3 b"])
  }

  @Test func `a nav that becomes dormant keeps its position`() throws {
    let world = World { $0.navIdle = 60_000 }
    let client = try world.kiosk()
    let follower = try Follower(world, client)
    let heads = follower.heads
    for _ in 0..<4 { try world.wait(60_000) }
    try world.wait(Self.interval)
    try follower.catchUp()
    #expect(world.dormantNumbers.count == 1 && heads.count == 1 && follower.heads == heads)
    // A client that comes now sees it too.
    #expect(try Follower(world, try world.client(2)).heads == heads)
    #expect(world.dormantNumbers.count == 1)
    try client.get("state")
    try world.wait(Self.interval)
    try follower.catchUp()
    #expect(follower.heads == Self.expected(world) && follower.heads == heads)
  }

  @Test(arguments: ["get", "watch"])
  func `after a restart the positions of all navs are shown`(verb: String) throws {
    let world = World()
    let client = try world.kiosk()
    for nav in ["a", "b"] {
      try client.must(#"{"nav.create":{"root":{"id":"r\#(nav)"}}}"#, nav: nav)
    }
    try client.must(SealTests.push("wifi"))
    try world.restart(revives: false)
    let later = try world.client(2)
    let sent = try later.send(verb, #"{"id":1,"nav":"$heads"}"#)
    let text = try #require(sent.first { $0.verb == .snap || verb == "get" && $0.verb == .ok }).text
    for part in [
      #""rev":1,"depth":1,"top":"ra""#, #""top":"rb""#, #""rev":2,"depth":2,"top":"wifi""#,
    ] {
      #expect(text.contains(part), "\(part)")
    }
    #expect(world.dormantNumbers.count == 3)
  }

  @Test func `right after a start all positions are shown, and no nav is loaded for it`() throws {
    let world = World()
    let client = try world.client()
    try client.must(#"{"nav.create":{"kind":"bar"}}"#, nav: "bar")
    for number in 0..<300 {
      let nav = "n\(number)"
      try client.must(#"{"nav.create":{"root":{"id":"r\#(number)"}}},{"attach":{}}"#, nav: nav)
      // The journal has a snapshot of this nav, and soon no row.
      if number == 0 { try world.turn([.snapshotWanted(nav: 2)]) }
      guard number % 3 > 0 else { continue }
      // The newest row of every third nav is the end of the transition, which no op makes.
      try client.must(
        SealTests.push("s\(number)"), nav: nav, number % 3 == 1 ? #""animated":true"# : "")
      if number % 6 == 2 { try client.must(#"{"pop":{}}"#, nav: nav, #""if":{"any":true}"#) }
    }
    for _ in 0..<3 { try world.wait(2000) }
    // Of this one, it has a row behind the snapshot.
    try world.turn([.snapshotWanted(nav: 3)])
    try client.must(SealTests.push("late"), nav: "n1")
    world.journal.rows.removeAll {
      $0.nav == 2 || $0.nav == 3 && $0.sequence < world.hub.totalSequence
    }
    let heads = try Follower(world, client).heads
    #expect(heads.count == 301 && heads[0].hasPrefix("bar 1 0 - "))
    for start in ["n1 4 3 late ", "n4 3 2 s4 ", "n8 3 1 r8 "] {
      #expect(heads.contains { $0.hasPrefix(start) }, "\(start)")
    }
    for renewsEpochs in [false, true, false] {
      try world.restart(renewsEpochs: renewsEpochs, revives: false)
      #expect(try Follower(world, try world.client(2)).heads == heads)
      #expect(world.dormantNumbers.count == 301)
    }
    // A report is a row too, which does not move its nav.
    let reporter = try world.client(3)
    let bad = #""rev":2,"dig":"000000000000000000000000","epoch":"\#(world.hub.boot.text)""#
    _ = try reporter.send("watch", #"{"id":1,"nav":"n7","bad":{\#(bad)}}"#)
    #expect(world.journal.rows.last?.kind == .report && world.journal.rows.last?.top?.text == "s7")
    try world.restart(revives: false)
    #expect(try Follower(world, try world.client(2)).heads == heads)
  }

  @Test func `a row whose head has another position than its nav is damage`() throws {
    let (world, _) = try World.dormant()
    for change: (inout JournalRow) -> Void in [
      { $0.depth += 1 }, { $0.top = ScreenID("other") }, { ($0.depth, $0.top) = (0, nil) },
    ] {
      let damaged = World()
      damaged.journal = world.journal
      change(&damaged.journal.rows[5])
      #expect(throws: HubReplayError.self) { try damaged.replayed() }
    }
  }

  @Test func `the navs of shards that come or go are shown or not, dormant or loaded`() throws {
    let stage = try ShardStage(2)
    let clients = try stage.worlds.map { try $0.client(1) }
    let names = (0..<80).map { "n\($0)" }
    for nav in names { try clients[stage.place(of: nav)].must(Self.create, nav: nav) }
    let followers = try zip(stage.worlds, clients).map { try Follower($0, $1) }
    let shards = stage.places.filter { $0.value == 0 }.map(\.key).sorted()
    // Navs that have come are dormant there; those that go back were loaded or dormant.
    for (moved, former, next) in [(shards, 0, 1), (Array(shards[..<100]), 1, 0)] {
      try stage.move(moved, from: former, to: next)
      for (world, follower) in zip(stage.worlds, followers) {
        try world.wait(Self.interval)
        try follower.catchUp()
        #expect(follower.heads == Self.expected(world))
      }
      #expect(followers.map(\.heads.count).reduce(0, +) == names.count)
      #expect(!stage.worlds[next].dormantNumbers.isEmpty)
      let here = names.filter { stage.place(of: $0) == 1 }
      for nav in here.prefix(30) { try clients[1].must(SealTests.push("m\(next)"), nav: nav) }
    }
  }

  @Test(arguments: UInt64(1)...4)
  func `after the pause the records are those of the navs, whatever happened`(seed: UInt64) throws {
    let world = World { $0.navIdle = 20_000 }
    let client = try world.client()
    let other = try world.client(2)
    var follower = try Follower(world, client)
    var random = SeededGenerator(seed: seed)
    for step in 0..<240 {
      let nav = "n\(random.next() % 5)"
      let any = #""if":{"any":true}"#
      switch random.next() % 12 {
      case 0: _ = try other.op(#"{"nav.close":{}}"#, nav: nav, any)
      case 1, 2: _ = try other.op(#"{"nav.create":{"root":{"id":"home"}}}"#, nav: nav)
      case 3, 4, 5: _ = try other.op(SealTests.push("s\(step)x"), nav: nav, any)
      case 6: _ = try other.op(#"{"pop":{}}"#, nav: nav, any)
      case 7: _ = try other.send("watch", #"{"id":\#(other.nextID()),"nav":"\#(nav)"}"#)
      case 8: _ = try other.send("unwatch", #"{"id":\#(other.nextID()),"nav":"\#(nav)"}"#)
      case 9:
        world.journal.isFailing = true
        _ = try other.op(SealTests.push("f\(step)x"), nav: nav, any)
        _ = try other.op(#"{"nav.create":{"root":{"id":"home"}}}"#, nav: nav)
        world.journal.isFailing = false
        _ = try other.op(SealTests.push("g\(step)x"), nav: nav, any)
      case 10: try world.wait(30_000)
      default:
        try follower.catchUp()
        follower = try Follower(world, client)
      }
      if random.next() % 3 == 0 {
        try world.wait(Self.interval)
        try follower.catchUp()
        #expect(follower.heads == Self.expected(world), "seed \(seed), step \(step)")
      }
    }
  }

  @Test func `only those that may read every nav read it, or to which it is granted`() throws {
    var access = Access()
    access.grants = [
      Access.Grant(.user(1001), try #require(NavGlob("*")), .read),
      Access.Grant(.user(1002), try #require(NavGlob("kiosk*")), .all),
      Access.Grant(.user(1003), try #require(NavGlob("$heads")), .read),
      Access.Grant(.user(1004), try #require(NavGlob("*")), [.push, .pop]),
    ]
    let expected: [UInt32: Rights] = [1001: .read, 1002: [], 1003: .read, 1004: [], 0: .all]
    for (user, rights) in expected {
      let peer = Peer.local(user: user, group: user, process: 1)
      #expect(access.rights(of: peer, on: "$heads", owner: nil) == rights, "\(user)")
    }
    let everybody = Peer.local(user: 1000, group: 1000, process: 1)
    #expect(Access().rights(of: everybody, on: "$heads", owner: nil) == .read)
  }

  @Test func `the list of clients shows which session lags, four times a second at most`() throws {
    let world = World()
    let admin = try world.client(9, user: 0)
    let client = try world.kiosk()
    let other = try world.client(3)
    var mirror = NaiveMirror()
    try client.watch(nav: "kiosk")
    for message in try admin.watch(nav: "$clients") { try mirror.apply(message, nav: "$clients") }
    #expect(mirror.screens.map { $0["behind"] as? Int } == [0, 0, 0])
    #expect(mirror.screens.map { $0["stalled"] as? Bool } == [false, false, false])
    try world.wait(Self.interval)
    for message in try world.turn([.blocked(client.connection)]) {
      try mirror.apply(message, nav: "$clients")
    }
    var diffs = 0
    for id in ["a", "b", "c"] {
      let sent = try world.turn([
        other.message("op", other.opBody(SealTests.push(id), #""if":{"any":true}"#))
      ])
      for message in sent where message.connection == admin.connection {
        try mirror.apply(message, nav: "$clients")
        diffs += 1
      }
    }
    #expect(diffs == 0)
    for message in try world.wait(Self.interval) where message.connection == admin.connection {
      try mirror.apply(message, nav: "$clients")
    }
    let lagging = try #require(mirror.screens.first { $0["behind"] as? Int == 3 })
    #expect(lagging["stalled"] as? Bool == true && lagging["watches"] as? Int == 1)
    #expect(mirror.screens.count == 3)
    for message in try world.turn([.unblocked(client.connection)]) + world.wait(Self.interval)
    where message.connection == admin.connection {
      try mirror.apply(message, nav: "$clients")
    }
    #expect(mirror.screens.allSatisfy { $0["behind"] as? Int == 0 })
    #expect(mirror.screens.allSatisfy { $0["stalled"] as? Bool == false })
  }
}
