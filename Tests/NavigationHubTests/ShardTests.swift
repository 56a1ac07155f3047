import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

/// The hubs of a cluster, with the rows of all shards, which move between the hubs.
final class ShardStage {
  let worlds: [World]
  /// The hub that serves each shard.
  private(set) var places: [Shard: Int] = [:]
  private var seed: UInt64 = 100

  init(
    _ count: Int, inspections: Inspections = Inspections(),
    _ configure: (inout HubConfiguration) -> Void = { _ in }
  ) throws {
    worlds = (0..<count).map { number in
      let world = World(inspections: inspections, configure)
      world.hub = Hub(
        configuration: world.configuration, shards: Shard.count, seed: UInt64(number + 1),
        inspections: inspections)
      return world
    }
    for shard in (0..<Shard.count).map(Shard.init) {
      places[shard] = shard.number % count
    }
    for number in worlds.indices {
      try adopt(places.filter { $0.value == number }.map(\.key).sorted(), by: number)
    }
    try showPlaces()
  }

  /// The hub that serves a nav.
  func place(of nav: String) -> Int {
    places[Shard(ofName: nav, among: Shard.count)] ?? 0
  }

  func world(of nav: String) -> World { worlds[place(of: nav)] }

  /// Lets all hubs know where the shards are; the leases, of 1 s, have `lease` ms left.
  func showPlaces(lease: Int64 = 1000) throws {
    for (number, world) in worlds.enumerated() {
      let members = worlds.indices.map { other in
        ClusterMember(
          name: "m\(other)", endpoint: "ipc:///\(other)", key: other == 1 ? "KEY" : nil,
          leaseLeft: lease, shards: places.filter { $0.value == other }.map(\.key).sorted())
      }
      try world.turn([
        .cluster(ClusterView(ownName: "m\(number)", members: members, leaseDuration: 1000))
      ])
    }
  }

  /// Moves shards to another hub, perhaps with a loss; returns what both hubs sent.
  @discardableResult
  func move(
    _ shards: [Shard], from former: Int, to next: Int, isKnown: Bool = true,
    losses: [Shard: HistoryLoss] = [:]
  ) throws -> [Sent] {
    let world = worlds[former]
    world.hub.release(shards, to: isKnown ? "m\(next)" : nil, at: world.now)
    let sent = try world.turn([])
    let leaving = Set(shards)
    let journal = world.journal
    func isLeaving(_ nav: UInt64) -> Bool { leaving.contains(Shard(ofNav: nav)) }
    world.journal.rows.removeAll { isLeaving($0.nav) }
    world.journal.snapshots.removeAll { isLeaving($0.nav) }
    worlds[next].journal.rows += journal.rows.filter { isLeaving($0.nav) }
    worlds[next].journal.snapshots += journal.snapshots.filter { isLeaving($0.nav) }
    for shard in shards { places[shard] = next }
    return try sent + adopt(shards, by: next, losses)
  }

  @discardableResult
  private func adopt(
    _ shards: [Shard], by number: Int, _ losses: [Shard: HistoryLoss] = [:]
  ) throws -> [Sent] {
    let world = worlds[number]
    seed += 1
    var replaying = world.hub.makeReplayingHub(seed: seed)
    let coming = Set(shards)
    let newest = Dictionary(
      grouping: world.journal.snapshots.filter { coming.contains(Shard(ofNav: $0.nav)) }, by: \.nav
    ).compactMapValues(\.last)
    for nav in newest.keys.sorted() { try replaying.index(try #require(newest[nav])) }
    let rows = world.journal.rows.filter { coming.contains(Shard(ofNav: $0.nav)) }
    for row in rows { try replaying.index(row.header, body: row.body.span, at: world.now) }
    for (shard, sequences) in replaying.opRowsToRead {
      let bodies = rows.filter {
        Shard(ofNav: $0.nav) == shard && sequences.contains($0.sequence)
      }
      replaying.rememberOps(from: bodies, of: shard)
    }
    for request in replaying.navsToReviveAtStart { try world.revive(request, in: &replaying) }
    let sequences = shards.map { shard in
      (shard, rows.filter { Shard(ofNav: $0.nav) == shard }.map(\.sequence).max() ?? 0)
    }
    world.hub.adopt(
      Dictionary(uniqueKeysWithValues: sequences), from: replaying, losses: losses, at: world.now)
    return try world.turn([])
  }
}

/// The shards of a cluster, in hubs that share their rows.
@Suite struct ShardTests {
  private static let create = #"{"nav.create":{"root":{"id":"home"}}},{"attach":{}}"#

  /// A client with a session at each hub.
  private func clients(_ stage: ShardStage, _ number: UInt64 = 1) throws -> [Client] {
    try stage.worlds.map { try $0.client(number) }
  }

  @Test func `a session that ends in a batch that is fenced is told so when the shard goes`() throws
  {
    let world = try ShardStage(1).worlds[0]
    let client = try world.client()
    try client.must(Self.create, nav: "kiosk")
    let other = Client(world, 2, client: client.client)
    let hello = #"{"ver":[1,1],"client":"\#(client.client)","nonce":"n2"}"#
    let push = client.opBody(#"{"push":{"screen":{"id":"a"}}}"#)
    for event in [client.message("op", push), other.message("hello", hello)] {
      world.hub.handle(event, at: world.now)
    }
    _ = world.hub.takeRecords()
    _ = world.hub.rollBack(isStorageFailing: false)
    world.hub.release([Shard(ofName: "kiosk", among: Shard.count)], to: nil, at: world.now)
    let byes = try world.turn([]).filter { $0.verb == .bye }
    #expect(byes.map(\.connection) == [client.connection])
    #expect(byes.first?.json["why"] as? String == "fenced")
  }

  /// Found by Tests/Model as SAME_NUMBERS_AFTER_LOSS: an op that was sent again ran twice.
  @Test func `no row has the number of one that was lost`() throws {
    let stage = try ShardStage(2)
    let (from, shard) = (stage.place(of: "kiosk"), Shard(ofName: "kiosk", among: Shard.count))
    let hubs = { stage.worlds.map { $0.hub.newestRow(of: shard) } }
    try clients(stage)[from].must(Self.create, nav: "kiosk")
    try stage.move([shard], from: from, to: 1 - from)
    #expect(hubs()[1 - from] == 1)
    try stage.move([shard], from: 1 - from, to: from, losses: [shard: .olderCopy])
    let first = hubs()[from]
    #expect(first > 1 << 20)
    // Another loss at the same time of day, behind the rows of the first.
    try stage.move([shard], from: from, to: 1 - from, losses: [shard: .crash])
    #expect(hubs()[1 - from] > first)
  }

  @Test("rule 1: sequences and nav numbers count for each shard without a gap")
  func sequences() throws {
    let stage = try ShardStage(1)
    let client = try stage.worlds[0].client()
    for number in 0..<40 {
      try client.must(Self.create, nav: "n\(number)")
      try client.must(#"{"push":{"screen":{"id":"a"}}}"#, nav: "n\(number)")
    }
    let rows = Dictionary(grouping: stage.worlds[0].journal.rows) { Shard(ofNav: $0.nav) }
    #expect(rows.count > 30)
    for (shard, rows) in rows {
      #expect(rows.map(\.sequence) == Array(1...UInt64(rows.count)), "\(shard)")
      #expect(
        Set(rows.map { Shard.ordinal(ofNav: $0.nav) }) == Set(1...UInt64(rows.count / 2)),
        "\(shard)")
    }
    #expect(stage.worlds[0].hub.totalSequence == 80)
  }

  @Test("rule 2: what may be forgotten of a shard goes with it, and its rows are reported")
  func forgotten() throws {
    let stage = try ShardStage(2) { $0.rememberedClients = 1 }
    let from = stage.place(of: "kiosk")
    let shard = Shard(ofName: "kiosk", among: Shard.count)
    try stage.worlds[from].client(7).must(Self.create)
    func op(_ client: Character) -> String {
      let client = String(repeating: client, count: 32)
      return #"{"id":1,"client":"\#(client)","nav":"kiosk","do":[{"push":{"screen":{}}}]}"#
    }
    func again(_ body: String, _ seen: Int) -> String { #"\#(body.dropLast()),"again":\#(seen)}"# }
    for place in [from, 1 - from] {
      if place != from { try stage.move([shard], from: from, to: place) }
      let sender = Client(stage.worlds[place], 20)
      // Before the move, these are the rows 2 and 3 of the shard, and the second forgets the first.
      if place == from {
        for client: Character in ["1", "2"] {
          #expect(try sender.ask("op", op(client)).verb == .ok)
        }
      }
      #expect(try sender.ask("op", again(op("1"), 1)).code == "op-too-old")
      let welcome = try stage.worlds[place].client(8).hello()
      let rows = (welcome.json["ops"] as? [String: Any])?["seq"] as? [[Int]]
      #expect(rows?.first { $0[0] == shard.number } == [shard.number, 3])
      #expect(rows?.count == Shard.count / 2 + (place == from ? 0 : 1))
    }
    // It never arrived at the first one.
    let sender = Client(stage.worlds[1 - from], 21)
    #expect(try sender.ask("op", again(op("3"), 3)).json["seq"] as? Int == 4)
  }

  @Test("rule 2: remembered ops are those of a shard, and go with it")
  func remembered() throws {
    let stage = try ShardStage(2)
    let clients = try clients(stage)
    let from = stage.place(of: "kiosk")
    let (owner, other) = (clients[from], clients[1 - from])
    try owner.must(Self.create)
    let body = #"{"id":50,"nav":"kiosk","do":[{"push":{"screen":{"id":"a"}}}]}"#
    let first = try owner.ask("op", body)
    #expect(first.verb == .ok)
    #expect(try owner.ask("op", body).revision == first.revision)
    let shard = Shard(ofName: "kiosk", among: Shard.count)
    try stage.move([shard], from: from, to: 1 - from)
    let again = try other.ask("op", body)
    #expect(again.verb == .ok && again.revision == first.revision)
    #expect(try other.world.entry("kiosk").controller.revision == Revision(2))
    // In another shard, the same id is another op.
    let elsewhere = try #require(
      (0..<99).map { "n\($0)" }.first {
        stage.place(of: $0) == 1 - from && Shard(ofName: $0, among: Shard.count) != shard
      })
    let created = #"{"id":50,"nav":"\#(elsewhere)","do":[\#(Self.create)]}"#
    #expect(try other.ask("op", created).verb == .ok)
    // The hub that lost the shard has forgotten its ops, and names those of its own shards only.
    #expect((try owner.hello().json["ops"] as? [String: Any])?["last"] as? Int == 0)
    #expect((try other.hello().json["ops"] as? [String: Any])?["last"] as? Int == 50)
  }

  @Test("rule 6: of a nav elsewhere every message is moved, or busy without an owner")
  func elsewhere() throws {
    let stage = try ShardStage(2)
    let clients = try clients(stage)
    let from = stage.place(of: "kiosk")
    let (owner, other) = (clients[from], clients[1 - from])
    try owner.must(Self.create)
    func ask(_ client: Client) throws -> [Sent] {
      try [
        ("watch", ""), ("get", ""), ("delegate", #","roles":["veto"]"#),
        ("lease", #","take":true"#),
        ("op", #","do":[{"pop":{}}]"#), ("op", #","do":[{"nav.create":{}}]"#),
      ].map { verb, more in
        try client.ask(verb, #"{"id":\#(client.nextID()),"nav":"kiosk"\#(more)}"#)
      }
    }
    for answer in try ask(other) {
      #expect(answer.code == "moved" && answer.json["retry"] as? String == "same")
      #expect(answer.json["endpoint"] as? String == "ipc:///\(from)")
      #expect(answer.json["key"] as? String == (from == 1 ? "KEY" : nil))
    }
    // One that has not renewed its lease for so long may have gone.
    for (lease, code) in [(500, "busy"), (501, "moved")] as [(Int64, String)] {
      try stage.showPlaces(lease: lease)
      for answer in try ask(other) { #expect(answer.code == code, "\(lease)") }
    }
    #expect(try other.ask("unwatch", #"{"id":99,"nav":"kiosk"}"#).verb == .ok)
    #expect(other.world.journal.rows.isEmpty)
    let shard = Shard(ofName: "kiosk", among: Shard.count)
    owner.world.hub.release([shard], to: nil, at: owner.world.now)
    _ = try owner.world.turn([])
    for answer in try ask(owner) {
      #expect(answer.code == "busy" && answer.json["reason"] as? String == "no-owner")
      #expect(answer.json["after"] as? Int == 100)
    }
  }

  @Test("rule 6: a nav on its way here is asked for soon, and then ever later")
  func coming() throws {
    let stage = try ShardStage(2)
    let clients = try clients(stage)
    let from = stage.place(of: "kiosk")
    try clients[from].must(Self.create)
    let world = stage.worlds[1 - from]
    let shard = Shard(ofName: "kiosk", among: Shard.count)
    var members = [0, 1].map {
      ClusterMember(name: "m\($0)", endpoint: "ipc:///\($0)", leaseLeft: 1000)
    }
    members[1 - from].shards = [shard]
    let view = ClusterView(ownName: "m\(1 - from)", members: members, leaseDuration: 1000)
    var waits: [Int?] = []
    for pause: UInt64 in [0, 4, 16, 30, 100] {
      world.now.boot += pause
      try world.turn([.cluster(view)])
      let answer = try clients[1 - from].ask("get", #"{"id":\#(90 + waits.count),"nav":"kiosk"}"#)
      #expect(answer.code == "busy" && answer.json["reason"] as? String == "no-owner")
      waits.append(answer.json["after"] as? Int)
    }
    #expect(waits == [10, 10, 20, 50, 100])
  }

  @Test("rule 6: a due time of another machine's clock is expired")
  func clock() throws {
    let world = World { $0.bootID = "here" }
    let client = try world.client()
    try client.must(Self.create)
    let far = world.now.boot + 1000
    func push(_ id: String, _ more: String) throws -> String? {
      try client.op(#"{"push":{"screen":{"id":"\#(id)"}}}"#, more).code
    }
    #expect(try push("a", #""due":\#(far)"#) == nil)
    #expect(try push("b", #""due":\#(far),"clock":"here""#) == nil)
    #expect(try push("c", #""due":\#(far),"clock":"there""#) == "expired")
    #expect(try push("d", #""due":1,"clock":"here""#) == "expired")
    #expect(try push("e", #""clock":"there""#) == nil)
  }

  @Test("rule 7: a watch that waits for its nav is answered when the shard moves")
  func awaited() throws {
    let stage = try ShardStage(2)
    let clients = try clients(stage)
    let from = stage.place(of: "kiosk")
    #expect(try clients[from].watch(#""wait":true"#).map(\.verb) == [.queued])
    let shard = Shard(ofName: "kiosk", among: Shard.count)
    let sent = try stage.move([shard], from: from, to: 1 - from)
    #expect(sent.map(\.code) == ["moved"])
    #expect(sent.first?.id == clients[from].id)
    #expect(try clients[1 - from].watch(#""wait":true"#).map(\.verb) == [.queued])
    let begun = try clients[1 - from].send("op", clients[1 - from].opBody(Self.create))
    #expect(begun.map(\.verb) == [.ok, .ok, .snap])
  }

  @Test("rule 7: what waits at a nav that moves is answered, and roles and leases end")
  func leaving() throws {
    let stage = try ShardStage(2)
    let from = stage.place(of: "kiosk")
    let world = stage.worlds[from]
    let (owner, roles, holder) = (try world.client(1), try world.client(2), try world.client(3))
    try owner.must(Self.create)
    try owner.watch()
    try roles.ask("delegate", #"{"id":1,"nav":"kiosk","roles":["veto"]}"#)
    try holder.ask("lease", #"{"id":1,"nav":"kiosk","take":true}"#)
    let asked = try owner.send("op", owner.opBody(#"{"push":{"screen":{"id":"a"}}}"#))
    #expect(!asked.contains { $0.verb == .ok })
    try owner.send(
      "op", owner.opBody(#"{"push":{"screen":{"id":"b"}}}"#, #""onBusy":"queue""#))
    let shard = Shard(ofName: "kiosk", among: Shard.count)
    #expect(!world.hub.isQuiet([shard]))
    let sent = try stage.move([shard], from: from, to: 1 - from)
    #expect(sent.filter { $0.connection == owner.connection }.map(\.verb) == [.end, .err, .err])
    let moved = sent.filter { $0.code == "moved" }
    #expect(moved.map(\.id) == [owner.id - 1, owner.id])
    let ends = sent.filter { $0.verb == .end }
    #expect(Set(ends.map(\.connection)) == Set([owner, roles, holder].map(\.connection)))
    for end in ends {
      #expect(end.json["why"] as? String == "moved" && end.json["view"] as? String == "full")
      #expect(end.json["endpoint"] as? String == "ipc:///\(1 - from)")
    }
    #expect(sent.contains { $0.verb == .settled && $0.connection == roles.connection })
    // The new owner has ended the lease, as after a start.
    let entry = try stage.worlds[1 - from].entry("kiosk")
    #expect(entry.controller.environment.content.owner == nil)
    #expect(entry.controller.stack.map(\.id.text) == ["home"])
    #expect(world.hub.isQuiet([shard]))
  }

  @Test("rule 7: a required veto waits for its delegate to come back")
  func requiredVeto() throws {
    let stage = try ShardStage(2)
    let from = stage.place(of: "kiosk")
    let former = try stage.worlds[from].client(1)
    try former.must(Self.create)
    let settings = #"{"nav.configure":{"veto":{"required":true,"deadline":2000,"policy":"deny"}}}"#
    try former.must(settings)
    let shard = Shard(ofName: "kiosk", among: Shard.count)
    try stage.move([shard], from: from, to: 1 - from)
    let world = stage.worlds[1 - from]
    let (asking, delegate) = (try world.client(4), try world.client(5))
    let waiting = try asking.send("op", asking.opBody(#"{"push":{"screen":{"id":"b"}}}"#))
    #expect(waiting.isEmpty)
    let registered = try delegate.send("delegate", #"{"id":1,"nav":"kiosk","roles":["veto"]}"#)
    let ask = try #require(registered.first { $0.verb == .ask })
    let number = try #require(ask.json["ask"] as? Int)
    let answered = try world.turn([
      delegate.message("answer", #"{"ask":\#(number),"value":true}"#)
    ])
    #expect(answered.contains { $0.verb == .ok && $0.connection == asking.connection })
    // Nobody comes back: the policy decides when the time is over.
    try stage.move([shard], from: 1 - from, to: from)
    let late = try former.send("op", former.opBody(#"{"push":{"screen":{"id":"c"}}}"#))
    #expect(late.isEmpty)
    let timedOut = try stage.worlds[from].wait(2001)
    #expect(timedOut.contains { $0.code == "delegate-timeout" })
    #expect(try former.op(#"{"push":{"screen":{"id":"d"}}}"#).code == "delegate-timeout")
  }

  @Test(arguments: UInt64(1)...12)
  func `hubs between which navs move are like one hub without shards`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    func below(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
    let stage = try ShardStage(3)
    let twin = World()
    let (one, clients) = (try twin.client(), try clients(stage))
    let names = (0..<8).map { "n\($0)" }
    var moves = 0
    for step in 0..<250 {
      let nav = names[below(names.count)]
      let operation = [
        Self.create, #"{"nav.close":{}}"#, #"{"pop":{}}"#, #"{"popToRoot":{}}"#,
        #"{"push":{"screen":{"id":"s\#(step)"}}}"#, #"{"push":{"screen":{"id":"t\#(step)"}}}"#,
        #"{"push":{"screen":{"id":"t\#(step)"}}}"#,
      ][below(10) % 7]
      let body = #"{"id":\#(step + 1),"nav":"\#(nav)","if":{"any":true},"do":[\#(operation)]}"#
      let plain =
        operation == Self.create
        ? body.replacing(#""if":{"any":true},"#, with: "") : body
      let expected = try one.ask("op", plain)
      let owner = stage.place(of: nav)
      if below(4) == 0 {
        let wrong = (owner + 1 + below(2)) % 3
        #expect(try clients[wrong].ask("op", plain).code == "moved")
      }
      let answer = try clients[owner].ask("op", plain)
      let note = "seed \(seed), step \(step): \(plain)\n\(answer.text)\n\(expected.text)"
      #expect(answer.code == expected.code && answer.revision == expected.revision, "\(note)")
      if below(5) == 0 {
        let next = (owner + 1 + below(2)) % 3
        try stage.move([Shard(ofName: nav, among: Shard.count)], from: owner, to: next)
        try stage.showPlaces()
        moves += 1
        // The client does not know what became of it, and asks again.
        let again = try clients[next].ask("op", plain)
        #expect(again.revision == answer.revision && again.code == answer.code, "\(note)")
      }
    }
    #expect(moves > 20)
    for nav in names where twin.hub.navs.slot(of: nav) != nil {
      let (real, ideal) = (try stage.world(of: nav).state(nav), try twin.state(nav))
      #expect(real == ideal, "seed \(seed): \(nav)")
    }
    for world in stage.worlds {
      for (shard, rows) in Dictionary(grouping: world.journal.rows, by: { Shard(ofNav: $0.nav) }) {
        #expect(rows.map(\.sequence) == Array(1...UInt64(rows.count)), "seed \(seed): \(shard)")
      }
    }
  }
}

extension World {
  /// What of a nav does not depend on the run: its revision, digest and stack.
  fileprivate func state(_ nav: String) throws -> [String] {
    if let request = hub.navs.slot(of: nav) == nil
      ? hub.dormantNavs.first(where: { $0.nav > 0 && hub.dormantName($0.nav) == nav }) : nil
    {
      try revive(request, in: &hub)
    }
    let entry = try entry(nav)
    return ["\(entry.controller.revision.number)", "\(entry.digest.checksum)"]
      + entry.controller.stack.map(\.id.text)
  }
}

extension Hub {
  /// The name of a dormant nav.
  fileprivate func dormantName(_ number: UInt64) -> String? {
    navs.dormants.place(of: number).map { navs.dormants[$0].name }
  }
}
