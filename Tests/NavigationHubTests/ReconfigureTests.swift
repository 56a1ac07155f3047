import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

@testable import NavigationClient

@Suite struct ReconfigureTests {
  /// Gives a world's hub another configuration.
  private func reconfigure(
    _ world: World, _ change: (inout HubConfiguration) -> Void
  ) {
    change(&world.configuration)
    world.hub.reconfigure(world.configuration)
  }

  private static let any = #""if":{"any":true}"#
  private static let push = #"{"push":{"screen":{"id":"s#"}}}"#

  /// A session of two clients with refusals, a watch, and an op that is sent twice.
  private func play(_ world: World, _ range: Range<Int>, _ clients: [Client], pause: UInt64 = 300)
    throws
  {
    for index in range {
      let client = clients[index % 2]
      let push = Self.push.replacing("#", with: "\(index)")
      let body = client.opBody(push)
      _ = try client.send("op", body)
      if index % 5 == 0 { _ = try client.send("op", body) }
      if index % 7 == 3 {
        _ = try client.send("op", client.opBody(#"{"pop":{}},{"pop":{}}"#, Self.any))
      }
      if index % 11 == 5 { _ = try client.get("state") }
      try world.wait(pause)
    }
  }

  private func stage(_ world: World) throws -> [Client] {
    let first = try world.kiosk()
    let second = try world.client(2)
    try first.watch()
    try second.watch()
    return [first, second]
  }

  @Test func `the same configuration changes nothing`() throws {
    let (left, right) = (World(), World())
    let (lefts, rights) = (try stage(left), try stage(right))
    for start in stride(from: 0, to: 60, by: 6) {
      try play(left, start..<(start + 6), lefts)
      try play(right, start..<(start + 6), rights)
      let before = right.hub.wakeAt
      right.hub.reconfigure(right.configuration)
      #expect(right.hub.wakeAt == before)
      #expect(right.hub.navs.ringBytes == left.hub.navs.ringBytes)
    }
    #expect(left.sent.map(\.body) == right.sent.map(\.body))
    #expect(left.journal.rows.map(\.body) == right.journal.rows.map(\.body))
  }

  @Test(arguments: [0, 7, 40])
  func `what comes is answered as by a hub that had the configuration from the start`(
    changedAt: Int
  ) throws {
    func change(_ configuration: inout HubConfiguration) {
      configuration.nav.stackDepth = 20
      configuration.nav.detachedRecords = 3
      configuration.maximumRequestBytes = 2048
      configuration.inflight = 2
      configuration.opsPerSecond = 2
      configuration.rememberedOps = 2
      configuration.resumeRevisions = 4
      configuration.resumeTotalBytes = 6000
      configuration.snapshotEvery = 5
      configuration.stall = 10_000
      configuration.isBarByClass = ["MyBar": true]
    }
    // The first part touches none of the limits, so that both are the same until then.
    let left = World(change)
    let right = World()
    let (lefts, rights) = (try stage(left), try stage(right))
    try play(left, 0..<min(changedAt, 10), lefts, pause: 1000)
    try play(right, 0..<min(changedAt, 10), rights, pause: 1000)
    // Ops of the second at hand are counted where there is a limit to them.
    for world in [left, right] { try world.wait(2000) }
    reconfigure(right, change)
    let (leftStart, rightStart) = (left.sent.count, right.sent.count)
    for world in [left, right] {
      let clients = world === left ? lefts : rights
      try play(world, 100..<140, clients)
      _ = try clients[0].send("op", clients[0].opBody(#"{"bar.set":{"class":"MyBar"}}"#))
      _ = try clients[0].send("op", String(repeating: " ", count: 3000))
    }
    // Of the welcome's limits alone a session of before was told otherwise.
    let pairs = zip(left.sent[leftStart...], right.sent[rightStart...])
    if let (first, second) = pairs.first(where: { $0.body != $1.body }) {
      Issue.record("\(first.text) is \(second.text)")
    }
    #expect(left.sent.count - leftStart == right.sent.count - rightStart)
    #expect(left.hub.navs.ringBytes == right.hub.navs.ringBytes)
    #expect(try left.entry("kiosk").ring.count == right.entry("kiosk").ring.count)
  }

  @Test func `limits below what exists drop no client, no watch and no nav`() throws {
    let world = World()
    var clients: [Client] = []
    for number in 1...6 { clients.append(try world.client(UInt64(number))) }
    for index in 0..<4 {
      try clients[0].must(#"{"nav.create":{"root":{"id":"r"}}}"#, nav: "n\(index)")
      try clients[0].watch(nav: "n\(index)")
    }
    for index in 0..<10 {
      try clients[0].must(Self.push.replacing("#", with: "\(index)"), nav: "n0")
    }
    reconfigure(world) {
      $0.sessions = 2
      $0.sessionsPerPrincipal = 1
      $0.navs = 1
      $0.nav.stackDepth = 3
      $0.nav.stateBytes = 4096
      $0.watchesPerConnection = 1
      $0.rememberedClients = 1
      $0.rememberedClientsPerPrincipal = 1
      $0.maximumWindow = 16384
    }
    for client in clients { #expect(try client.ask("ping", #"{"id":1}"#).verb == .pong) }
    #expect(world.dropped.isEmpty)
    // What is there may shrink and is told of; what would be more is refused.
    try clients[0].must(#"{"pop":{}}"#, nav: "n0", Self.any)
    #expect(world.sent.suffix(3).contains { $0.verb == .diff })
    #expect(try clients[1].op(Self.push.replacing("#", with: "99"), nav: "n0").code == "limit")
    #expect(try clients[1].op(#"{"nav.create":{"root":{"id":"r"}}}"#, nav: "n9").code == "limit")
    #expect(try clients[0].ask("watch", #"{"id":99,"nav":"n1"}"#).code == "limit")
    let late = Client(world, 7)
    #expect(try late.hello().code == "limit")
    // Who comes back keeps its place.
    #expect(try clients[2].hello().verb == .welcome)
  }

  @Test func `ops beyond a lower limit are forgotten, those within it are not`() throws {
    let world = World()
    let client = try world.kiosk()
    var bodies: [String] = []
    for index in 0..<10 {
      bodies.append(client.opBody(Self.push.replacing("#", with: "\(index)")))
      #expect(try client.ask("op", bodies[index]).verb == .ok)
    }
    let last = try client.ask("op", bodies[9]).text
    reconfigure(world) { $0.rememberedOps = 3 }
    #expect(try client.ask("op", bodies[9]).text == last)
    #expect(try client.ask("op", bodies[7]).verb == .ok)
    #expect(try client.ask("op", bodies[6]).code == "op-too-old")
    // And a higher one lets more be remembered again, in order.
    reconfigure(world) { $0.rememberedOps = 5 }
    for index in 10..<14 {
      bodies.append(client.opBody(Self.push.replacing("#", with: "\(index)")))
      #expect(try client.ask("op", bodies[index]).verb == .ok)
    }
    #expect(try client.ask("op", bodies[9]).text == last)
    #expect(try client.ask("op", bodies[8]).code == "op-too-old")
  }

  @Test func `a record above a lower limit of size may become smaller`() throws {
    let world = World()
    let client = try world.kiosk()
    let long = String(repeating: "x", count: 3000)
    try client.must(#"{"push":{"screen":{"id":"a","title":"\#(long)"}}}"#)
    try client.must(#"{"push":{"screen":{"id":"b","title":"\#(long)"}}}"#)
    reconfigure(world) { $0.nav.stateBytes = 4096 }
    let shorter = String(repeating: "x", count: 2000)
    try client.must(#"{"screen.set":{"screen":"a","title":"\#(shorter)"}}"#)
    let longer = #"{"screen.set":{"screen":"a","title":"\#(long)"}}"#
    #expect(try client.op(longer).code == "limit")
  }

  /// Limits of all sorts, some lower than what there is.
  private static func random(
    _ configuration: inout HubConfiguration, _ random: inout SeededGenerator
  ) {
    configuration.nav.stackDepth = Int.random(in: 1...40, using: &random)
    configuration.nav.detachedRecords = Int.random(in: 0...20, using: &random)
    configuration.nav.stateBytes = Int.random(in: 4096...40_000, using: &random)
    // The bar comes in one message, with the menu of 39 screens and four long titles.
    configuration.maximumReplyBytes = Int.random(in: 20_000...200_000, using: &random)
    configuration.sessions = Int.random(in: 1...10, using: &random)
    configuration.navs = Int.random(in: 1...3, using: &random)
    configuration.inflight = Int.random(in: 1...8, using: &random)
    configuration.rememberedOps = Int.random(in: 8...12, using: &random)
    configuration.rememberedClients = Int.random(in: 1...5, using: &random)
    configuration.rememberedClientsPerPrincipal = Int.random(in: 1...5, using: &random)
    configuration.resumeRevisions = Int.random(in: 1...20, using: &random)
    configuration.resumeBytes = Int.random(in: 4096...20_000, using: &random)
    configuration.resumeTotalBytes = Int.random(in: 4096...40_000, using: &random)
    configuration.snapshotEvery = UInt64.random(in: 1...20, using: &random)
    configuration.watchesPerConnection = Int.random(in: 1...3, using: &random)
    configuration.stall = UInt64.random(in: 20_000...40_000, using: &random)
  }

  @Test(arguments: 1...40)
  func `mirrors follow and nobody is sent away, however often limits change`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let world = World()
    let client = try world.kiosk(#","flow":"none""#)
    let followers = try (0..<3).map { try Follower.synced(world, 50 + UInt64($0)) }
    var done = 0
    for step in 0..<200 {
      let title = String(repeating: "x", count: Int.random(in: 0...2000, using: &random))
      let ops = [
        #"{"push":{"screen":{"id":"s\#(step)","title":"\#(title)"}}}"#, #"{"pop":{}}"#,
        #"{"screen.set":{"screen":"home","title":"\#(title)"}}"#,
      ]
      let op = ops[Int.random(in: 0..<3, using: &random)]
      if try client.op(op, Self.any).verb == .ok { done += 1 }
      // What is refused for its size is not the world's concern.
      if step % 3 == 0 {
        Self.random(&world.configuration, &random)
        world.hub.reconfigure(world.configuration)
      }
      try world.wait(UInt64.random(in: 0...300, using: &random))
      for (index, follower) in followers.enumerated() where (step + index) % 4 == 0 {
        try follower.sync()
      }
      #expect(world.hub.navs.ringBytes <= max(world.configuration.resumeTotalBytes, 64 << 10))
    }
    for follower in followers {
      try follower.sync()
      #expect(try follower.agrees(), "seed \(seed)")
    }
    #expect(done > 50, "seed \(seed)")
    #expect(!world.sent.contains { $0.verb == .bye }, "seed \(seed)")
    // What was written under any limits is read back under any others.
    let before = try world.entry("kiosk").digest
    try world.restart()
    #expect(try world.entry("kiosk").digest == before)
  }

  @Test func `a lower stall counts at once`() throws {
    let world = World()
    let client = try world.client(1, user: Client.user, #","window":16384,"hb":60000"#)
    try client.must(#"{"nav.create":{"root":{"id":"home"}}},{"attach":{}}"#)
    try client.watch()
    let other = try world.client(2)
    let title = String(repeating: "x", count: 8000)
    for index in 0..<4 {
      try other.must(#"{"screen.set":{"screen":"home","title":"\#(index)\#(title)"}}"#)
    }
    try world.wait(5000)
    #expect(!world.sent.contains { $0.verb == .bye })
    reconfigure(world) { $0.stall = 2000 }
    #expect(try #require(world.hub.wakeAt) <= world.now.boot)
    #expect(try world.wait(0).contains { $0.verb == .bye && $0.connection == client.connection })
  }
}
