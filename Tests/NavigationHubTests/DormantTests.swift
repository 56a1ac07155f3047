import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

extension World {
  /// The navs `one`, `two` and `three`, which have the numbers 1 to 3, and a client in a session.
  ///
  /// Nobody has asked for the navs since the start.
  static func dormant(
    renewsEpochs: Bool = false, before: (World, Client) throws -> Void = { _, _ in },
    configure: (inout HubConfiguration) -> Void = { _ in }
  ) throws -> (World, Client) {
    let world = World(configure)
    let client = try world.client()
    for nav in ["one", "two", "three"] {
      try client.must(
        #"{"nav.create":{"root":{"id":"home","title":"Home"}}},{"attach":{}}"#, nav: nav)
      try client.must(Stage.push("a"), nav: nav)
      try client.must(Stage.push("b"), nav: nav)
    }
    try before(world, client)
    try world.restart(renewsEpochs: renewsEpochs, revives: false)
    try client.hello()
    return (world, client)
  }

  /// The numbers of the navs that are dormant.
  var dormantNumbers: [UInt64] { hub.dormantNavs.map(\.nav) }

  /// What the directory of navs shows, without the versions.
  func directory(_ client: Client) throws -> [[String: String]] {
    let value = try client.get("state", nav: "$navs").json["value"] as? [String: Any]
    let screens = try #require(value?["screens"] as? [[String: Any]])
    return screens.map { $0.compactMapValues { $0 as? String } }
  }
}

@Suite struct DormantTests {
  static let asking: [(verb: String, body: String)] =
    [
      ("op", #"{"id":70,"nav":"two","do":[{"attach":{}}]}"#),
      ("op", #"{"id":70,"nav":"two","do":[{"push":{"screen":{"id":"c"}}}],"if":{"rev":3}}"#),
      ("op", #"{"id":70,"nav":"two","do":[{"push":{"screen":7}}]}"#),
      ("op", #"{"id":70,"nav":"two","do":[{"nav.create":{"root":{"id":"x"}}}]}"#),
      ("op", #"{"id":70,"nav":"two","if":{"any":true},"do":[{"nav.close":{}}]}"#),
      ("watch", #"{"id":70,"nav":"two"}"#), ("watch", #"{"id":70,"nav":"two","view":"top"}"#),
      ("unwatch", #"{"id":70,"nav":"two"}"#), ("get", #"{"id":70,"nav":"two"}"#),
      ("delegate", #"{"id":70,"nav":"two","roles":["veto"]}"#),
      ("lease", #"{"id":70,"nav":"two","take":true}"#),
    ]
    + GetRequest.What.allCases.map {
      ("get", #"{"id":70,"nav":"two","what":"\#($0.word)","screen":"a","at":2}"#)
    }

  @Test(arguments: asking)
  func `what names a nav asks for it and no other`(verb: String, body: String) throws {
    let (world, client) = try World.dormant()
    let event = client.message(verb, body)
    let head = try #require(world.journal.rows.last { $0.nav == 2 }).sequence
    #expect(world.hub.dormant(for: event) == ReloadRequest(nav: 2, newestRow: head))
    #expect(world.dormantNumbers == [1, 2, 3])
    try world.turn([event])
    #expect(world.revived == [2])
    #expect(world.dormantNumbers == [1, 3])
    #expect(world.hub.dormant(for: event) == nil)
  }

  @Test func `an op asks for its nav, which then performs it`() throws {
    let (world, client) = try World.dormant()
    let event = client.message("op", client.opBody(Stage.push("c"), nav: "two"))
    guard case .message(_, _, .op) = event else {
      Issue.record("not read: \(event)")
      return
    }
    #expect(world.hub.dormant(for: event)?.nav == 2)
    let reply = try #require(try world.turn([event]).first)
    #expect(reply.verb == .ok)
    #expect(reply.revision == 4)
    #expect(world.dormantNumbers == [1, 3])
  }

  @Test func `a wanted snapshot asks for its nav`() throws {
    let (world, _) = try World.dormant()
    #expect(world.hub.dormant(for: .snapshotWanted(nav: 2))?.nav == 2)
    #expect(world.hub.dormant(for: .snapshotWanted(nav: 4)) == nil)
    try world.turn([.snapshotWanted(nav: 2)])
    #expect(world.dormantNumbers == [1, 3])
    #expect(world.journal.snapshots.map(\.nav) == [2])
    #expect(world.journal.snapshots.map(\.revision) == [3])
    // From now on the snapshot leads to the nav, with nothing behind it.
    world.journal.rows.removeAll { $0.nav == 2 }
    try world.restart(revives: false)
    #expect(try Client(world).get("state", nav: "two").revision == 3)
  }

  @Test(arguments: [
    ("ping", #"{"id":70}"#), ("credit", #"{"upto":900000}"#), ("bye", #"{"id":70}"#),
    ("get", #"{"id":70,"what":"stats"}"#), ("get", #"{"id":70,"what":"backup"}"#),
    ("get", #"{"id":70,"nav":"$navs"}"#), ("get", #"{"id":70,"nav":"$clients"}"#),
    ("get", #"{"id":70,"nav":"four"}"#), ("watch", #"{"id":70,"nav":"$navs"}"#),
    ("watch", #"{"id":70,"nav":"Two"}"#), ("answer", #"{"ask":1,"value":true}"#),
    ("op", #"{"id":70,"nav":"four","do":[{"nav.create":{"root":{"id":"x"}}}]}"#),
    ("op", #"{"id":70,"nav":"four","do":[{"pop":{}}]}"#), ("op", #"{"id":70,"nav":"two""#),
    ("op", #"{"nav":"two","do":[{"pop":{}}]}"#), ("nonsense", #"{"id":70,"nav":"two"}"#),
    ("hello", #"{"ver":[1,1],"client":"00000000000000000000000000000001","nonce":"n"}"#),
  ])
  func `what names none of them leaves all dormant`(verb: String, body: String) throws {
    let (world, client) = try World.dormant()
    #expect(world.hub.dormant(for: client.message(verb, body)) == nil)
    try world.turn([client.message(verb, body)])
    #expect(world.dormantNumbers == [1, 2, 3])
  }

  @Test func `time, connections and floors leave all dormant`() throws {
    let (world, client) = try World.dormant()
    let connection = client.connection
    for event in [
      client.withWrongFrames, .blocked(connection), .unblocked(connection), .wake,
      .backupProgress(BackupProgress(done: 1, total: 2)), .backup(.failed("no")),
      .historyPruned(nav: 2, oldestRevision: 2), .closed(connection),
      .history(HistoryAnswer(token: 99)), .stop,
    ] as [HubEvent] {
      #expect(world.hub.dormant(for: event) == nil)
      try world.turn([event])
    }
    #expect(world.dormantNumbers == [1, 2, 3])
    #expect(world.revived == [])
  }

  @Test func `the directory shows dormant navs as it shows others, and a revival changes nothing`()
    throws
  {
    var before: [[String: String]] = []
    let (world, client) = try World.dormant { world, client in
      try client.must(#"{"nav.create":{"kind":"bar"}}"#, nav: "four")
      before = try world.directory(client)
    }
    #expect(before.map { $0["id"] } == ["four", "one", "three", "two"])
    #expect(before[0]["kind"] == "bar")
    #expect(try world.directory(client) == before)
    try client.watch(nav: "$navs")
    let sent = try client.send("get", #"{"id":50,"nav":"two"}"#)
    #expect(world.dormantNumbers == [1, 3, 4])
    #expect(sent.map(\.verb) == [.ok])
    #expect(try world.directory(client) == before)
    // A change of the navs is told without those that are dormant.
    let made = try client.send(
      "op", client.opBody(#"{"nav.create":{"root":{"id":"x"}}}"#, nav: "new"))
    #expect(made.diffs.map { ($0["ch"] as? [Any])?.count } == [1])
    #expect(try world.directory(client).map { $0["id"] } == ["four", "new", "one", "three", "two"])
  }

  @Test func `statistics and the quota count dormant navs`() throws {
    let (world, client) = try World.dormant(configure: { $0.navs = 4 })
    func navs(_ member: String = "navs") throws -> Int? {
      (try client.get("stats", nav: nil).json["value"] as? [String: Any])?[member] as? Int
    }
    #expect(try navs() == 3)
    #expect(try navs("loadedNavs") == 0)
    let create = #"{"nav.create":{"root":{"id":"x"}}}"#
    try client.must(create, nav: "four")
    #expect(try navs() == 4)
    #expect(try client.op(create, nav: "five").json["reason"] as? String == "quota")
    #expect(world.dormantNumbers == [1, 2, 3])
    #expect(try navs("loadedNavs") == 1)
    try client.get("state", nav: "two")
    #expect(try navs() == 4)
    #expect(try navs("loadedNavs") == 2)
    #expect(try client.op(create, nav: "five").json["reason"] as? String == "quota")
    try client.must(#"{"nav.close":{}}"#, nav: "one", Stage.any)
    #expect(try navs() == 3)
    try client.must(create, nav: "five")
    #expect(world.dormantNumbers == [3])
  }

  @Test func `a dormant nav's name cannot be taken`() throws {
    let (world, client) = try World.dormant()
    let rows = world.journal.rows.count
    let reply = try client.op(#"{"nav.create":{"root":{"id":"x"}}}"#, nav: "two")
    #expect(reply.code == "nav-exists")
    #expect(reply.revision == 3)
    #expect(world.revived == [2])
    #expect(world.journal.rows.count == rows)
  }

  @Test func `a nav that was closed is not dormant, and its name is free`() throws {
    let (world, client) = try World.dormant { _, client in
      try client.must(#"{"nav.close":{}}"#, nav: "two", Stage.any)
    }
    #expect(world.dormantNumbers == [1, 3])
    #expect(try client.get("state", nav: "two").code == "no-nav")
    try client.must(#"{"nav.create":{"root":{"id":"x"}}}"#, nav: "two")
    #expect(world.revived == [])
    #expect(try world.entry("two").number == 4)
  }

  @Test(arguments: [[], [2], [4], [2, 4]] as [[UInt64]])
  func `a name that a later nav has taken is the later nav's`(snapshots: [UInt64]) throws {
    let (world, client) = try World.dormant { world, client in
      if snapshots.contains(2) { try world.turn([.snapshotWanted(nav: 2)]) }
      try client.must(#"{"nav.close":{}}"#, nav: "two", Stage.any)
      try client.must(#"{"nav.create":{"root":{"id":"later"}}}"#, nav: "two")
      if snapshots.contains(4) { try world.turn([.snapshotWanted(nav: 4)]) }
      try client.must(Stage.push("c"), nav: "two")
    }
    #expect(world.journal.snapshots.map(\.nav) == snapshots)
    #expect(world.dormantNumbers == [1, 3, 4])
    #expect(try world.directory(client).count == 3)
    #expect(try client.must(Stage.push("d"), nav: "two").revision == 3)
    #expect(world.revived == [4])
    #expect(try world.entry("two").controller.stack.map(\.id.text) == ["later", "c", "d"])
  }

  @Test func `a nav keeps the floor that it was told of while it was dormant`() throws {
    let (world, client) = try World.dormant()
    try world.turn([
      .historyPruned(nav: 2, oldestRevision: 2), .historyPruned(nav: 9, oldestRevision: 5),
    ])
    #expect(world.dormantNumbers == [1, 2, 3])
    let value = try client.get("stats", nav: "two").json["value"] as? [String: Any]
    #expect(value?["floor"] as? Int == 2)
    #expect(try client.get("state", nav: "two", #""at":1"#).json["floor"] as? Int == 2)
    #expect(try client.get("state", nav: "one", #""at":1"#).json["floor"] == nil)
  }

  @Test func `the floor of a dormant nav is its oldest row, or its snapshot`() throws {
    let (world, _) = try World.dormant { world, _ in
      try world.turn([.snapshotWanted(nav: 1), .snapshotWanted(nav: 2)])
      world.journal.rows.removeAll { $0.nav == 1 || $0.nav == 2 && $0.revision < 2 }
    }
    for request in world.hub.dormantNavs { try world.revive(request, in: &world.hub) }
    #expect(try ["one", "two", "three"].map { try world.entry($0).floor.number } == [3, 2, 1])
  }

  @Test(arguments: [1, 2, 3]) func `what is being pruned cannot be read any more`(
    left: UInt64
  ) throws {
    // The snapshot at 2 is the floor, that at 3 is newer; of the rows below, some are still there.
    let (world, client) = try World.dormant { world, client in
      try world.turn([.snapshotWanted(nav: 2)])
      try client.must(Stage.push("later"), nav: "two")
      try world.turn([.snapshotWanted(nav: 2)])
      world.journal.rows.removeAll { $0.nav == 2 && $0.revision < left }
      world.journal.floors[2] = world.journal.snapshots.first { $0.nav == 2 }?.revision
    }
    let floor = try #require(world.journal.floors[2])
    #expect(try client.get("state", nav: "two", #""at":1"#).json["code"] as? String == "compacted")
    #expect(try client.get("state", nav: "two", #""at":\#(floor)"#).verb == .ok)
    #expect(try world.entry("two").floor.number == floor)
  }

  @Test func `a dormant nav gets a new epoch, which it has when it is revived`() throws {
    var old: [[String: String]] = []
    let (world, client) = try World.dormant(renewsEpochs: true) { world, client in
      old = try world.directory(client)
    }
    let renewals = world.journal.rows.suffix(3)
    #expect(renewals.map(\.kind) == [.epoch, .epoch, .epoch])
    #expect(Set(renewals.map(\.nav)) == [1, 2, 3])
    #expect(renewals.map(\.revision) == [3, 3, 3])
    let new = try world.directory(client)
    #expect(Set((old + new).compactMap { $0["epoch"] }).count == 6)
    for _ in 0..<2 {
      #expect(world.dormantNumbers == [1, 2, 3])
      for (nav, record) in zip(["one", "three", "two"], new) {
        #expect(record["id"] == nav)
        #expect(try client.get("state", nav: nav).json["epoch"] as? String == record["epoch"])
      }
      #expect(world.dormantNumbers == [])
      // The same when the row is read with the others, and not made by this start.
      try world.restart(revives: false)
      try client.hello()
    }
  }

  @Test func `an op repeated over a restart is answered from its row, its nav being dormant`()
    throws
  {
    var sent: [(client: Client, nav: String, body: String, reply: String)] = []
    let (world, _) = try World.dormant { world, client in
      let clients = try [client] + (2...6).map { try world.client($0, user: 1000 + UInt32($0)) }
      for (index, client) in (clients + clients + clients).enumerated() {
        let nav = ["one", "two", "three"][index % 3]
        let ops =
          index % 2 == 0 ? Stage.push("s\(index)") : "\(Stage.pop),\(Stage.push("t\(index)"))"
        let body = client.opBody(ops, nav: nav, Stage.any)
        let reply = try client.ask("op", body)
        #expect(reply.verb == .ok)
        sent.append((client, nav, body, reply.text))
      }
    }
    let count = world.journal.rows.count
    let numbers: [String: UInt64] = ["one": 1, "two": 2, "three": 3]
    for (client, nav, body, reply) in sent {
      try world.restart(revives: false)
      try client.hello()
      let event = client.message("op", body)
      #expect(world.hub.dormant(for: event)?.nav == numbers[nav])
      #expect(try client.ask("op", body).text == reply)
      #expect(try client.ask("op", body + " ").code == "op-reused")
      #expect(world.dormantNumbers == [1, 2, 3].filter { $0 != numbers[nav] })
    }
    #expect(world.journal.rows.count == count)
  }
}
