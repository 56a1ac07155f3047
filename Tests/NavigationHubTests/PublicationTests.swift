import Foundation
@testable import NavigationCore
import Testing

/// Navs of a device at another daemon: protocol.md §18.
@Suite struct PublicationTests {
  private static let navs = ["kiosk", "menu", "bar"]

  private static func world() -> World {
    World { configuration in
      configuration.snapshotEvery = 9
      configuration.nav.detachedRecords = 6
      configuration.opsPerSecond = 1_000_000
      configuration.navIdle = 1 << 50
    }
  }

  /// One random thing that happens on a device.
  private static func live(
    _ device: World, _ client: inout Client, _ generator: inout OperationGenerator
  ) throws {
    let nav = generator.pick(navs)
    switch generator.below(40) {
    case 0 where device.hub.navs.slot(of: nav) != nil:
      try client.must(#"{"nav.close":{}}"#, nav: nav, Stage.any)
    case 1, 2, 3: try device.wait(1100)
    case 4:
      try device.restart(renewsEpochs: generator.below(2) == 0)
      client = try reopened(client, device)
    case 5: try prune(device, nav)
    default:
      let isThere = device.hub.navs.slot(of: nav) != nil
      let ops =
        !isThere
        ? nav == "bar"
          ? #"{"nav.create":{"kind":"bar"}}"#
          : #"{"nav.create":{"root":{"id":"s0","title":"Root"}}},{"attach":{}}"#
        : nav == "bar" ? generator.itemOps() : generator.ops()
      let animated = generator.below(4) == 0 ? ",\(Stage.animated)" : ""
      try client.op(ops, nav: nav, Stage.any + animated)
    }
  }

  private static func reopened(_ client: Client, _ device: World) throws -> Client {
    let next = Client(device, client.connection.number + 1, user: 0)
    try next.hello()
    return next
  }

  /// Gives up the history of a nav before its newest snapshot.
  private static func prune(_ device: World, _ nav: String) throws {
    guard let slot = device.hub.navs.slot(of: nav) else { return }
    let number = device.hub.navs.slots[slot].number
    guard let snapshot = device.journal.snapshots.last(where: { $0.nav == number }) else { return }
    device.journal.snapshots.removeAll {
      $0.nav == number && $0.revision < snapshot.revision
    }
    device.journal.rows.removeAll { $0.nav == number && $0.sequence <= snapshot.sequence }
    device.journal.floors[number] = snapshot.revision
    try device.turn([.floor(nav: number, revision: snapshot.revision)])
  }

  @Test(arguments: 0..<30 as Range<UInt64>)
  func `a device's history is the same at the receiver, whatever the network loses`(
    seed: UInt64
  ) throws {
    var generator = OperationGenerator(seed: seed)
    let (device, receiver) = (Self.world(), Self.world())
    let carrier = Carrier(device, receiver)
    var fates = OperationGenerator(seed: seed &+ 1000)
    carrier.fate = {
      switch fates.below(20) {
      case 0, 1: .isLost
      case 2, 3: .isAnsweredInVain
      case 4, 5: .arrivesTwice
      case 6: .meetsFullDisk
      default: .arrives
      }
    }
    var client = Client(device, 1, user: 0)
    try client.hello()
    let note: Comment = "seed \(seed)"
    for _ in 0..<60 {
      // Offline for a while, then a few messages, or all of them.
      for _ in 0..<1 + generator.below(12) { try Self.live(device, &client, &generator) }
      for _ in 0..<generator.below(4) { _ = try carrier.step(generator.pick(Self.navs)) }
      if generator.below(8) == 0 { try receiver.restart(renewsEpochs: generator.below(3) == 0) }
      guard generator.below(6) == 0 else { continue }
      try carrier.settle(Self.navs)
      try carrier.compare(Self.navs, note)
    }
    try carrier.settle(Self.navs)
    try carrier.compare(Self.navs, note)
    // A start at the receiver finds the same.
    try receiver.restart(renewsEpochs: true)
    try carrier.compare(Self.navs, note)
    #expect(carrier.messageCount > 50, note)
    // Rows that were pruned on the device are not compared.
    let own = try Carrier.digests(device)
    for (position, digest) in try Carrier.digests(receiver) {
      guard let mine = own[position] else { continue }
      #expect(mine == digest, note)
    }
  }

  private static func published() throws -> (device: World, receiver: World, Carrier, Client) {
    let (device, receiver) = (world(), world())
    let client = Client(device, 1, user: 0)
    try client.hello()
    try client.must(
      #"{"nav.create":{"root":{"id":"s0","title":"Root"}}},{"attach":{}}"#, nav: "kiosk")
    try client.must(#"{"push":{"screen":{"id":"a"}}}"#, nav: "kiosk")
    let carrier = Carrier(device, receiver)
    try carrier.settle(["kiosk"])
    return (device, receiver, carrier, client)
  }

  @Test func `a published nav is readonly for every operation, role and lease`() throws {
    let (_, receiver, carrier, _) = try Self.published()
    let client = try receiver.client(2, user: 0)
    let before = try receiver.standing("truck/kiosk")
    for kind in OperationKind.allCases where kind != .unknown && kind != .navCreate {
      let reply = try client.op(#"{"\#(kind.name)":{}}"#, nav: "truck/kiosk", Stage.any)
      #expect(reply.code == "readonly", "\(kind.name): \(reply.text)")
    }
    let create = try client.op(#"{"nav.create":{"kind":"bar"}}"#, nav: "truck/kiosk")
    #expect(create.code == "readonly", "\(create.text)")
    let roles = #"{"id":900,"nav":"truck/kiosk","roles":["veto"]}"#
    #expect(try client.ask("delegate", roles).code == "readonly")
    let lease = #"{"id":901,"nav":"truck/kiosk","take":true}"#
    #expect(try client.ask("lease", lease).code == "readonly")
    #expect(try receiver.standing("truck/kiosk") == before)
    try carrier.compare(["kiosk"], "readonly")
  }

  @Test func `only a principal with the right admin publishes`() throws {
    let receiver = Self.world()
    let client = try receiver.client(2)
    let reply = try client.ask("publish", #"{"id":5,"nav":"truck/kiosk"}"#)
    #expect(reply.code == "forbidden")
    let (device, _, _, _) = try Self.published()
    let other = try device.client(3)
    #expect(try other.get("rows", nav: "kiosk").code == "forbidden")
  }

  @Test func `a nav that somebody made is not published over`() throws {
    let receiver = Self.world()
    let client = try receiver.client(2, user: 0)
    try client.must(#"{"nav.create":{"kind":"bar"}}"#, nav: "truck/kiosk")
    let reply = try client.ask("publish", #"{"id":5,"nav":"truck/kiosk"}"#)
    #expect(reply.code == "nav-exists")
  }

  @Test func `a mirror of a published nav follows, over a gap and a new epoch too`() throws {
    let (device, receiver, carrier, client) = try Self.published()
    let watcher = try receiver.client(2)
    try watcher.watch(nav: "truck/kiosk")
    try client.must(#"{"push":{"screen":{"id":"b"}}}"#, nav: "kiosk")
    try carrier.settle(["kiosk"])
    let diff = try #require(receiver.sent.last { $0.verb == .diff })
    #expect(diff.json["nav"] as? String == "truck/kiosk" && diff.revision == 3)
    #expect(diff.json["resolved"] != nil && diff.json["by"] != nil)
    // Beyond what the device keeps.
    for index in 0..<20 {
      try client.must(#"{"push":{"screen":{"id":"c\#(index)"}}}"#, nav: "kiosk")
    }
    try Self.prune(device, "kiosk")
    try carrier.settle(["kiosk"])
    let snapshot = try #require(receiver.sent.last { $0.verb == .snap })
    #expect(snapshot.json["why"] as? String == "lag")
    try carrier.compare(["kiosk"], "a gap")
    let log = try watcher.get("log", nav: "truck/kiosk")
    let entries = try #require(log.json["value"] as? [[String: Any]])
    let gaps = entries.compactMap { $0["gap"] as? [String: Any] }
    #expect(gaps.count == 1 && gaps[0]["rev"] as? Int == 3, "\(log.text)")
    #expect(entries.first?["do"] as? [String] == ["nav.create", "attach"], "\(log.text)")
    try device.restart(renewsEpochs: true)
    try carrier.settle(["kiosk"])
    try carrier.compare(["kiosk"], "an epoch")
    let renewed = try #require(receiver.sent.last { $0.verb == .snap })
    let epoch = try device.entry("kiosk").epoch
    #expect(renewed.json["epoch"] as? String == epoch.text)
    #expect(renewed.json["why"] as? String == "epoch")
  }

  @Test func `a state larger than a message comes in pieces`() throws {
    let (device, receiver, carrier, client) = try Self.published()
    let text = String(repeating: "ä\\\"x", count: 8000)
    for index in 0..<6 {
      try client.must(
        #"{"push":{"screen":{"id":"big\#(index)","args":"\#(text)"}}}"#, nav: "kiosk")
    }
    try carrier.settle(["kiosk"])
    try carrier.compare(["kiosk"], "large rows")
    try device.turn([.snapshotWanted(nav: try device.entry("kiosk").number)])
    try Self.prune(device, "kiosk")
    let again = Self.world()
    let second = Carrier(device, again)
    try second.settle(["kiosk"])
    try second.compare(["kiosk"], "a large state")
    #expect(second.stateCount == 1 && second.messageCount > 5)
    #expect(try receiver.entry("truck/kiosk").controller.stack.count == 8)
  }

  @Test func `rows that do not lead to their digest change nothing`() throws {
    let (device, receiver, carrier, client) = try Self.published()
    try client.must(#"{"push":{"screen":{"id":"b"}}}"#, nav: "kiosk")
    let entry = try receiver.entry("truck/kiosk")
    let reader = Client(device, 7, user: 0)
    let rows = try reader.get(
      "rows", nav: "kiosk", #""from":2,"epoch":"\#(entry.epoch.text)""#)
    let value = try #require(rows.text.range(of: "\"value\":"))
    let list = String(rows.text[value.upperBound...].dropLast())
    let wrong = list.replacingOccurrences(of: #""id":"b","ver":3"#, with: #""id":"b","ver":4"#)
    #expect(wrong != list)
    let writer = Client(receiver, 8, user: 0)
    let from = #""from":{"epoch":"\#(entry.epoch.text)","rev":2}"#
    let before = try receiver.standing("truck/kiosk")
    let reply = try writer.ask(
      "publish", #"{"id":1,"nav":"truck/kiosk",\#(from),"rows":\#(wrong)}"#)
    #expect(reply.code == "invalid-argument", "\(reply.text)")
    #expect(try receiver.standing("truck/kiosk") == before)
    try carrier.settle(["kiosk"])
    try carrier.compare(["kiosk"], "afterwards")
  }

  @Test(arguments: 0..<40 as Range<UInt64>)
  func `rows with an octet changed lead to the same state, or change nothing`(seed: UInt64) throws {
    var generator = OperationGenerator(seed: seed)
    let (device, receiver, carrier, client) = try Self.published()
    for _ in 0..<8 { try client.op(generator.ops(), nav: "kiosk", Stage.any) }
    let position = try receiver.entry("truck/kiosk")
    let reader = Client(device, 7, user: 0)
    let rows = try reader.get(
      "rows", nav: "kiosk", #""from":2,"epoch":"\#(position.epoch.text)""#)
    let value = try #require(rows.text.range(of: "\"value\":"))
    let list = Array(rows.text[value.upperBound...].dropLast().utf8)
    let writer = Client(receiver, 8, user: 0)
    let from = #""from":{"epoch":"\#(position.epoch.text)","rev":2}"#
    for _ in 0..<60 {
      var octets = list
      let at = Int(generator.below(UInt64(octets.count)))
      octets[at] = generator.pick(Array("0123456789,:[]{}\"abtn-".utf8))
      let before = try receiver.standing("truck/kiosk")
      let body = #"{"id":1,"nav":"truck/kiosk",\#(from),"rows":"#
      let reply = try writer.ask("publish", body + String(decoding: octets, as: UTF8.self) + "}")
      guard reply.verb == .err else {
        // A text, a time or an author: the digest does not cover them.
        let its = try receiver.entry("truck/kiosk")
        #expect(its.controller.violatedInvariants().isEmpty)
        #expect(its.controller.digest() == its.digest)
        return
      }
      #expect(
        ["invalid-argument", "bad-json", "limit", "desync"].contains(reply.code), "\(reply.text)")
      #expect(try receiver.standing("truck/kiosk") == before)
    }
    try carrier.settle(["kiosk"])
    try carrier.compare(["kiosk"], "seed \(seed)")
  }

  @Test func `the history of matching navs is pinned to what was acknowledged`() throws {
    let world = World { $0.publishedNavs = [NavGlob("k*")].compactMap(\.self) }
    let client = Client(world, 1, user: 0)
    try client.hello()
    for nav in ["kiosk", "menu"] {
      try client.must(#"{"nav.create":{"root":{"id":"s0","title":"Root"}}}"#, nav: nav)
    }
    let kiosk = try world.entry("kiosk")
    #expect(world.hub.pins == [kiosk.number: 0])
    let position = #"{"epoch":"\#(kiosk.epoch.text)","rev":1}"#
    let reply = try client.ask(
      "publish", #"{"id":9,"nav":"kiosk","acknowledged":\#(position)}"#)
    #expect(reply.verb == .ok)
    #expect(world.hub.pins == [kiosk.number: 1])
    world.hub.restore(acknowledged: [kiosk.number: 7, 99: 3])
    #expect(world.hub.pins == [kiosk.number: 1])
  }
}
