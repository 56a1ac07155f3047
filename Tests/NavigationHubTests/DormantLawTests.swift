import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

/// Two daemons on copies of one journal: one has revived every nav at its start and keeps it, the
/// other revives what is asked for, and unloads it again at random.
private struct Twins {
  let eager: World
  let lazy: World
  let clients: [Client]
  var generator: OperationGenerator
  let note: Comment
  private let rowsBefore: Int
  private(set) var unloaded = 0

  static let names = ["n0", "n1", "n2", "n3", "n4", "n5", "bar"]

  private static func configure(_ configuration: inout HubConfiguration) {
    configuration.snapshotEvery = 9
    configuration.nav.detachedRecords = 6
    configuration.opsPerSecond = 1_000_000
    // The test unloads navs itself.
    configuration.navIdle = 1 << 50
  }

  init(seed: UInt64, renewsEpochs: Bool) throws {
    note = "seed \(seed)"
    generator = OperationGenerator(seed: seed)
    let journal = try Self.history(&generator)
    func world() throws -> World {
      let world = World(Self.configure)
      world.journal = journal.journal
      world.now = journal.now
      try world.restart(renewsEpochs: renewsEpochs, revives: false)
      return world
    }
    (eager, lazy) = (try world(), try world())
    rowsBefore = lazy.journal.rows.count
    #expect(eager.journal.rows == lazy.journal.rows)
    for request in eager.hub.dormantNavs { try eager.revive(request, in: &eager.hub) }
    #expect(lazy.hub.dormantNavs.count > 1, note)
    clients = [Client(eager, 1, user: 0), Client(eager, 2, user: 0), Client(eager, 3)]
    for client in clients {
      let hello =
        #"{"ver":[1,1],"client":"\#(client.client)","nonce":"n","flow":"none"}"#
      try turn([client.message("hello", hello)])
    }
    // Ids go on behind those of the history, which are remembered.
    for client in clients { client.id = 1000 }
  }

  /// A journal of navs that come and go, some with something open at the end.
  private static func history(_ generator: inout OperationGenerator) throws -> World {
    let world = World(configure)
    let clients = try (1...3).map { try world.client($0, user: 0) }
    for _ in 0..<240 {
      let (client, nav) = (generator.pick(clients), generator.pick(names))
      switch generator.below(30) {
      case 0 where world.hub.navs.slot(of: nav) != nil:
        try client.must(#"{"nav.close":{}}"#, nav: nav, Stage.any)
      case 1, 2: try world.wait(1100)
      case 3:
        try world.turn([
          .snapshotWanted(nav: 1 + generator.below(world.hub.navs.createdCounts[0] + 1))
        ])
      default: try client.op(ops(nav, world, &generator), nav: nav, Stage.any)
      }
    }
    if generator.below(3) == 0 { try world.wait(1100) }
    #expect(!world.journal.snapshots.isEmpty)
    return world
  }

  /// The ops of one message: they make a nav that is not there.
  private static func ops(
    _ nav: String, _ world: World, _ generator: inout OperationGenerator
  ) -> String {
    guard world.hub.navs.slot(of: nav) != nil else {
      return nav == "bar"
        ? #"{"nav.create":{"kind":"bar"}}"#
        : #"{"nav.create":{"root":{"id":"s0","title":"Root"}}},{"attach":{}}"#
    }
    if nav == "bar" { return generator.itemOps() }
    return generator.below(8) == 0 ? generator.revert() : generator.ops()
  }

  /// Both take the same events, and give the same.
  @discardableResult
  private func turn(_ events: [HubEvent]) throws -> [Sent] {
    func say(_ sent: [Sent]) -> [String] {
      sent.map { "\($0.connection.number) \($0.verb) \($0.text)" }
    }
    let (rows, snapshots) = (lazy.journal.rows.count, lazy.journal.snapshots.count)
    let sent = try eager.turn(events)
    #expect(say(try lazy.turn(events)) == say(sent), note)
    #expect(eager.journal.rows[rows...] == lazy.journal.rows[rows...], note)
    #expect(eager.journal.snapshots[snapshots...] == lazy.journal.snapshots[snapshots...], note)
    // Without the sweeps, which are far in the future.
    func wakeAt(_ hub: Hub) -> UInt64? { hub.wakeAt.flatMap { $0 < 1 << 49 ? $0 : nil } }
    #expect(wakeAt(eager.hub) == wakeAt(lazy.hub), note)
    return sent
  }

  mutating func step() throws {
    unloadSome()
    // What is open in two navs ends in the order of their places, which are not the same.
    let nav = generator.pick(Self.names)
    let isFailing = generator.below(20) == 0
    for world in [eager, lazy] { world.journal.isFailing = isFailing }
    try turn((0...generator.below(4)).map { _ in try event(nav) })
    for world in [eager, lazy] { world.journal.isFailing = false }
    for world in [eager, lazy] { world.advance(1100) }
    try turn([.wake])
  }

  private mutating func event(_ nav: String) throws -> HubEvent {
    let client = generator.pick(clients)
    let other = generator.pick(Self.names)
    let number = eager.hub.navs.slot(of: other).map { eager.hub.navs[$0].number } ?? 99
    switch generator.below(22) {
    case 0: return try watch(other, client)
    case 1: return client.message("unwatch", #"{"id":\#(client.nextID()),"nav":"\#(other)"}"#)
    case 2...4: return get(other, client)
    case 5:
      let roles = generator.pick(["", #""veto""#, #""animator","veto""#])
      return client.message(
        "delegate", #"{"id":\#(client.nextID()),"nav":"n0","roles":[\#(roles)]}"#)
    case 6:
      let take = generator.below(2) == 0
      return client.message(
        "lease", #"{"id":\#(client.nextID()),"nav":"n0","take":\#(take),"force":true}"#)
    case 7: return .snapshotWanted(nav: number)
    case 8: return .historyPruned(nav: number, oldestRevision: 1 + generator.below(9))
    case 9 where generator.below(4) == 0:
      return client.message("op", client.opBody(#"{"nav.close":{}}"#, nav: nav, Stage.any))
    case 10: return client.message("watch", #"{"id":\#(client.nextID()),"nav":"$navs"}"#)
    default:
      let body = client.opBody(Self.ops(nav, eager, &generator), nav: nav, Stage.any)
      return client.message("op", body)
    }
  }

  /// A watch that resumes from some revision that both rings have.
  private mutating func watch(_ nav: String, _ client: Client) throws -> HubEvent {
    let head = #"{"id":\#(client.nextID()),"nav":"\#(nav)""#
    guard let slot = eager.hub.navs.slot(of: nav), generator.below(4) > 0 else {
      return client.message("watch", head + "}")
    }
    let entry = eager.hub.navs[slot]
    if let request = lazy.hub.dormant(for: client.message("watch", head + "}")) {
      try lazy.revive(request, in: &lazy.hub)
    }
    // That of a nav that was unloaded begins with its newest snapshot.
    let base = max(entry.ring.base, try lazy.entry(nav).ring.base)
    let number = base.number + generator.below(entry.ring.last.number - base.number + 1)
    let digest = try #require(entry.ring.digest(at: Revision(number)))
    return client.message(
      "watch",
      head
        + #","from":{"epoch":"\#(entry.epoch.text)","rev":\#(number),"dig":"\#(digest.text)"}}"#)
  }

  /// A read of anything but the statistics, which tell how much is in memory.
  private mutating func get(_ nav: String, _ client: Client) -> HubEvent {
    let what = generator.pick(GetRequest.What.allCases.filter { $0 != .stats })
    let more = generator.pick([
      "", #","at":\#(1 + generator.below(16))"#, #","screen":"s1""#,
      #","from":\#(1 + generator.below(9)),"limit":5"#,
    ])
    return client.message(
      "get",
      #"{"id":\#(client.nextID()),"nav":"\#(nav)","what":"\#(what.word)"\#(more)}"#)
  }

  /// The lazy one unloads some of what it does not need.
  private mutating func unloadSome() {
    for slot in lazy.hub.navs.loaded where lazy.hub.mayUnload(slot, lazy.hub.reads.navs) {
      guard generator.below(4) == 0 else { continue }
      lazy.hub.unload(slot)
      unloaded += 1
    }
  }

  /// Both have the same in memory in the end.
  func finish() throws {
    #expect(lazy.revived.count > 5 && unloaded > 5, note)
    #expect(lazy.sent.count > 150 && lazy.journal.rows.count > rowsBefore + 15, note)
    for request in lazy.hub.dormantNavs { try lazy.revive(request, in: &lazy.hub) }
    #expect(Set(eager.hub.navs.byName.keys) == Set(lazy.hub.navs.byName.keys), note)
    for name in eager.hub.navs.byName.keys where !name.hasPrefix("$") {
      let (left, right) = (try eager.entry(name), try lazy.entry(name))
      #expect(left.controller == right.controller, note)
      #expect(left.digest == right.digest, note)
      #expect(left.controller.encodedBar == right.controller.encodedBar, note)
      #expect(left.epoch == right.epoch, note)
      #expect(left.topChange == right.topChange, note)
      #expect(left.number == right.number, note)
      #expect(left.floor == right.floor, note)
      #expect(left.lastSequence == right.lastSequence, note)
      #expect(left.snapshotRevision == right.snapshotRevision, note)
      #expect(left.ring.base <= right.ring.base && left.ring.last == right.ring.last, note)
      for revision in right.ring.base.number...right.ring.last.number {
        let revision = Revision(revision)
        #expect(left.ring.digest(at: revision) == right.ring.digest(at: revision), note)
      }
    }
    for hub in [eager.hub, lazy.hub] {
      let bytes = hub.navs.indices.reduce(0) { $0 + hub.navs[$1].ring.byteCount }
      #expect(hub.navs.ringBytes == bytes, note)
    }
    #expect(eager.hub.totalSequence == lazy.hub.totalSequence, note)
    #expect(eager.hub.navs.createdCounts[0] == lazy.hub.navs.createdCounts[0], note)
  }
}

@Suite struct DormantLawTests {
  @Test(arguments: UInt64(1)...12)
  func `to revive navs when they are wanted gives what to revive all at the start gives`(
    seed: UInt64
  ) throws {
    var twins = try Twins(seed: seed, renewsEpochs: seed % 3 == 0)
    for _ in 0..<80 { try twins.step() }
    try twins.finish()
  }
}
