import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

/// What a start takes note of, and what it refuses without reading any state.
@Suite struct IndexTests {
  /// The rows of three navs, revision by revision: 1, 2, 3 of `one`, then `two`, then `three`.
  private func rows() throws -> (world: World, rows: [JournalRow]) {
    let (world, _) = try World.dormant()
    #expect(world.journal.rows.map(\.nav) == [1, 1, 1, 2, 2, 2, 3, 3, 3])
    return (world, world.journal.rows)
  }

  private func index(
    _ rows: [JournalRow], _ world: World, snapshots: [SnapshotRow] = []
  ) throws -> Hub {
    var hub = Hub(configuration: world.configuration, seed: 1)
    for snapshot in snapshots { try hub.index(snapshot) }
    for row in rows { try hub.index(row.header, body: row.body.span, at: world.now) }
    return hub
  }

  static let wrong: [(sequence: UInt64, change: @Sendable (inout [JournalRow]) -> Void)] = [
    // A row that does not follow its nav's last.
    (5, { $0[4].previous = 3 }), (6, { $0[5].previous = 4 }), (6, { $0[5].previous = 0 }),
    (6, { $0.remove(at: 4) }), (5, { $0[4].nav = 1 }),
    // A revision out of order.
    (5, { $0[4].revision = 3 }), (5, { $0[4].revision = 1 }), (6, { $0[5].revision = .max }),
    (6, { $0[5].kind = .report }), (6, { $0[5].kind = .epoch }), (6, { $0[5].kind = .closed }),
    // A nav created twice, or never.
    (4, { $0[3].nav = 1 }), (5, { $0[4].kind = .created }), (5, { $0.remove(at: 3) }),
    (4, { $0[3].kind = .changed }), (4, { $0[3].kind = .epoch }), (4, { $0[3].kind = .report }),
    (9, { $0[8].nav = 77 }),
    // Numbers that nothing comes to.
    (4, { $0[3].nav = .max }), (5, { $0[3].revision = .max }),
    // Nothing to read.
    (4, { $0[3].body = [] }), (4, { $0[3].body = Array("{}".utf8) }),
  ]

  @Test(arguments: wrong.indices)
  func `rows that are not the navs' histories are refused`(place: Int) throws {
    var (world, rows) = try rows()
    _ = try index(rows, world)
    Self.wrong[place].change(&rows)
    let error = #expect(throws: HubReplayError.self) { try index(rows, world) }
    #expect(error?.sequence == Self.wrong[place].sequence)
    #expect(error?.what.isEmpty == false)
  }

  @Test(arguments: [
    (#""nav":"#, #""vna":"#), (#""kind":"#, #""nkid":"#), (#""epoch":"#, #""poche":"#),
    (#""owner":"#, #""woner":"#), (#""depth":"#, #""pedth":"#), (#","rev":"#, #","ver":"#),
    (#""controller""#, #""other""#),
    (#""epoch":""#, #""epoch":"x"#), (#""kind":""#, #""kind":["#), ("{", "["),
  ])
  func `a state that lacks what a start needs is refused`(old: String, new: String) throws {
    var (world, rows) = try rows()
    try world.turn([.snapshotWanted(nav: 2)])
    var snapshot = try #require(world.journal.snapshots.first)
    _ = try index(rows, world, snapshots: [snapshot])
    func changed(_ body: [UInt8]) throws -> [UInt8] {
      let text = String(decoding: body, as: UTF8.self)
      let place = try #require(text.range(of: old))
      return Array(text.replacingCharacters(in: place, with: new).utf8)
    }
    rows[3].body = try changed(rows[3].body)
    #expect(throws: HubReplayError.self) { try index(rows, world) }
    // A snapshot is read although the creation is there, and the creation no longer.
    _ = try index(rows, world, snapshots: [snapshot])
    snapshot.body = try changed(snapshot.body)
    let error = #expect(throws: HubReplayError.self) {
      try index(Array(rows[6...]), world, snapshots: [snapshot])
    }
    #expect(error?.sequence == 0)
    #expect(error?.what.hasPrefix("snapshot of nav 2 at 3: ") == true)
  }

  @Test func `rows behind a snapshot must follow it, and those before it need not be there`()
    throws
  {
    var (world, rows) = try rows()
    try world.turn([.snapshotWanted(nav: 2)])
    let client = Client(world, 3)
    try client.must(Stage.push("c"), nav: "two", #""client":"\#(client.client)""#)
    let snapshots = world.journal.snapshots
    rows = world.journal.rows
    for count in 0...3 {
      var hub = try index(
        rows.filter { !(4..<4 + count).contains(Int($0.sequence)) }, world, snapshots: snapshots)
      let request = try #require(hub.dormantNavs.first { $0.nav == 2 })
      #expect(request.newestRow == 10)
      try world.revive(request, in: &hub)
      let slot = try #require(hub.navs.slot(of: "two"))
      #expect(hub.navs[slot].floor.number == UInt64(min(count + 1, 3)))
    }
    rows[9].previous = 5
    #expect(throws: HubReplayError.self) { try index(rows, world, snapshots: snapshots) }
    rows[9].previous = 6
    rows[9].revision = 5
    #expect(throws: HubReplayError.self) { try index(rows, world, snapshots: snapshots) }
  }

  @Test func `ops are remembered by rows, and forgotten if these are gone`() throws {
    let (world, rows) = try rows()
    var hub = try index(rows, world)
    #expect(hub.opRowsToRead == [.first: Array(1...9)])
    var other = rows[0]
    (other.sequence, other.body) = (99, Array("{}".utf8))
    hub.rememberOps(from: rows.filter { $0.sequence % 2 == 0 } + [other])
    #expect(hub.opRowsToRead.isEmpty)
    let author = try #require(rows[0].author)
    let key = RememberedOps.Key(principal: author.author.principal, client: author.client)
    #expect(hub.remembered.lastOpID(of: key) == 9)
    let known = (UInt64(1)...9).filter { id in
      switch hub.remembered.verdict(on: id, octets: BodyHash(bits: 0), of: key) {
      case .reused: true
      case .new, .decided, .tooOld: false
      }
    }
    #expect(known == [2, 4, 6, 8])
  }

  @Test func `a row may tell of any time`() throws {
    let (world, rows) = try rows()
    let now = Instant(boot: 0, wall: world.configuration.rememberedIdle + 1)
    for (time, isRemembered) in [(0, false), (1, false), (2, true), (.max, true)]
      as [(UInt64, Bool)]
    {
      var hub = Hub(configuration: world.configuration, seed: 1)
      hub.remembersAllAfterRow = 9
      var row = rows[0]
      row.time = time
      try hub.index(row.header, body: row.body.span, at: now)
      #expect(hub.opRowsToRead == (isRemembered ? [.first: [1]] : [:]), "\(time)")
    }
  }

  @Test func `of a closed nav only its closing may be left`() throws {
    let (world, client) = try World.dormant { _, client in
      try client.must(#"{"nav.close":{}}"#, nav: "two", Stage.any)
    }
    let rows = world.journal.rows.filter { $0.nav != 2 || $0.kind == .closed }
    let hub = try index(rows, world)
    #expect(hub.dormantNavs.map(\.nav) == [1, 3])
    #expect(hub.navs.createdCounts[0] == 3)
    #expect(hub.opRowsToRead[.first]?.count == rows.count)
    #expect(try client.get("state", nav: "two").code == "no-nav")
  }

  @Test func `an epoch that a snapshot covers is not taken for a newer one`() throws {
    let (world, _) = try World.dormant(renewsEpochs: true)
    try world.restart(renewsEpochs: true, revives: false)
    let newest = try #require(world.journal.rows.last { $0.nav == 2 })
    try world.turn([.snapshotWanted(nav: 2)])
    let epoch = try world.entry("two").epoch
    #expect(String(decoding: newest.body, as: UTF8.self).contains(epoch.text))
    let snapshot = try #require(world.journal.snapshots.first)
    #expect(snapshot.sequence == newest.sequence)
    // Whatever has been pruned of the rows that the snapshot covers.
    for rows in [world.journal.rows, world.journal.rows.filter { $0.sequence < newest.sequence }] {
      var hub = try index(rows, world, snapshots: [snapshot])
      try world.revive(ReloadRequest(nav: 2, newestRow: newest.sequence), in: &hub)
      #expect(hub.navs[try #require(hub.navs.slot(of: "two"))].epoch == epoch)
    }
  }

  @Test(arguments: [
    #"a"b"#, #"a\"#, #"\"#, #"""#, #","rev":"#, #"\","rev":7,"#, #"x\\","rev":"#, "\u{1}\n\t",
    #"{"nav":"x","rev":1}"#, "ünïcode 🙂", #"\u002C"#, "", #"kind":"bar"#,
  ])
  func `whatever a name or an owner has in it is read right`(text: String) throws {
    let (world, _) = try World.dormant()
    for request in world.hub.dormantNavs { try world.revive(request, in: &world.hub) }
    var entry = try world.entry("two")
    for (name, owner) in [(text, "uid:1"), ("two", text), (text, text)] {
      (entry.name, entry.owner) = (name, owner)
      let body = JournalBody.state(of: entry)
      var reader = JournalBodyReader()
      let head = try reader.head(of: body, number: 8)
      #expect(head.nav.number == 8)
      #expect(head.nav.name == name)
      #expect(head.nav.owner == owner)
      #expect(head.nav.epoch == entry.epoch)
      #expect(!head.nav.isStandalone)
      #expect(!head.needsRecovery && head.depth == 3 && head.top?.text == "b")
      var hub = Hub(configuration: world.configuration, seed: 1)
      let snapshot = SnapshotRow(nav: 8, revision: 3, sequence: 6, time: 1, body: body)
      try hub.index(snapshot)
      #expect(hub.navs.dormants.place(named: name) != nil)
      try hub.revive(ReloadRequest(nav: 8, newestRow: 6), snapshot: snapshot, rows: [])
      #expect(hub.navs[try #require(hub.navs.slot(of: name))].owner == owner)
      #expect(hub.dormantNavs.isEmpty)
    }
  }
}
