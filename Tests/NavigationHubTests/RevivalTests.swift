import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

/// What a nav is revived from, and when.
@Suite struct RevivalTests {
  /// What is left open in `one`, `two` and `three`, and the navs in which something is.
  static let open: [(ops: String, verb: String, body: String)] = [
    (#"{"push":{"screen":{"id":"c"}}}"#, "op", Stage.animated),
    (Stage.begin, "op", Stage.any),
    ("", "lease", #""take":true"#),
    (
      "", "delegate",
      #""roles":["orientation"],"orientations":{"supported":["portrait"],"preferred":"portrait"}"#
    ),
  ]

  /// A world that ended with something open in `two`.
  private func interrupted(
    _ open: (ops: String, verb: String, body: String), isSnapshot: Bool
  ) throws -> World {
    let (world, client) = try World.dormant()
    // Something that has ended in another one.
    try client.must(Stage.push("c"), nav: "three", Stage.animated)
    try world.wait(60_000)
    try client.hello()
    if open.verb == "op" {
      try client.must(open.ops, nav: "two", open.body)
    } else {
      let body = #"{"id":\#(client.nextID()),"nav":"two",\#(open.body)}"#
      #expect(try client.ask(open.verb, body).verb == .ok)
    }
    #expect(try world.entry("two").controller.needsRecovery)
    if isSnapshot {
      for nav in UInt64(1)...3 { try world.turn([.snapshotWanted(nav: nav)]) }
      world.journal.rows.removeAll()
    }
    return world
  }

  @Test(arguments: 0..<4, [false, true])
  func `a nav in which something is open is revived and ended at the start, others are not`(
    _ place: Int, isSnapshot: Bool
  ) throws {
    let world = try interrupted(Self.open[place], isSnapshot: isSnapshot)
    var hub = Hub(configuration: world.configuration, seed: 9)
    for snapshot in world.journal.snapshots { try hub.index(snapshot) }
    for row in world.journal.rows {
      try hub.index(row.header, body: row.body.span, at: world.now)
    }
    #expect(hub.navsToReviveAtStart.map(\.nav) == [2])
    #expect(hub.dormantNavs.map(\.nav) == [1, 2, 3])
    for request in hub.navsToReviveAtStart { try world.revive(request, in: &hub) }
    #expect(hub.navsToReviveAtStart == [])
    #expect(hub.dormantNavs.map(\.nav) == [1, 3])

    let rows = world.journal.rows.count
    try world.restart(revives: false)
    #expect(world.dormantNumbers == [1, 3])
    #expect(try !world.entry("two").controller.needsRecovery)
    #expect(world.journal.rows.count == rows + 1)
    #expect(world.journal.rows.last?.nav == 2)
    #expect(world.journal.rows.last?.needsRecovery == false)
    let client = try world.client(2)
    let log = try client.get("log", nav: "two", #""from":4"#).json["value"] as? [[String: Any]]
    #expect(log?.last?["cause"] as? String == "recovery")
    // The row that ended it is the newest now.
    try world.restart(revives: false)
    #expect(world.dormantNumbers == [1, 2, 3])
    #expect(world.journal.rows.count == rows + 1)
  }

  @Test func `a snapshot of something open is not the last word if rows follow`() throws {
    let (world, client) = try World.dormant()
    try client.must(Stage.push("c"), nav: "two", Stage.animated)
    try world.turn([.snapshotWanted(nav: 2)])
    try world.wait(60_000)
    #expect(try !world.entry("two").controller.needsRecovery)
    let rows = world.journal.rows.count
    try world.restart(revives: false)
    #expect(world.dormantNumbers == [1, 2, 3])
    #expect(world.journal.rows.count == rows)
  }

  static let unfit: [@Sendable (inout [JournalRow], [JournalRow]) -> Void] = [
    { rows, _ in rows = [] },
    { rows, _ in rows.removeLast() },
    { rows, _ in rows.remove(at: 1) },
    { rows, _ in rows.removeFirst() },
    { rows, all in rows = all.filter { $0.nav == 1 } },
    { rows, all in rows = all.filter { $0.nav == 3 } },
    { rows, all in rows += all.suffix(1) },
    { rows, all in rows += all.filter { $0.nav == 3 }.suffix(1) },
    { rows, _ in rows[2].replaceDigest() },
    { rows, _ in rows[0].replaceDigest() },
    { rows, _ in rows[1].body.removeLast() },
    { rows, _ in rows.append(rows[0]) },
    { rows, _ in rows.swapAt(1, 2) },
  ]

  @Test(arguments: unfit.indices)
  func `rows that do not fit are refused, and the nav stays dormant`(place: Int) throws {
    let (world, _) = try World.dormant()
    var hub = world.hub
    let request = try #require(hub.dormantNavs.first { $0.nav == 2 })
    // One more than the hub knows of.
    let other = Client(world, 3)
    try other.must(Stage.push("c"), nav: "two", #""client":"\#(other.client)""#)
    let all = world.journal.rows
    let right = all.filter { $0.nav == 2 && $0.sequence <= request.newestRow }
    var rows = right
    Self.unfit[place](&rows, all)
    let error = #expect(throws: HubReplayError.self) {
      try hub.revive(request, snapshot: nil, rows: rows)
    }
    #expect(error?.sequence == request.newestRow)
    #expect(hub.dormantNavs.map(\.nav) == [1, 2, 3])
    #expect(hub.navs.slot(of: "two") == nil)
    #expect(hub.navs.ringBytes == 0)
    try hub.revive(request, snapshot: nil, rows: right)
    #expect(hub.dormantNavs.map(\.nav) == [1, 3])
    // It has been done.
    try hub.revive(request, snapshot: nil, rows: rows)
  }

  @Test func `a snapshot that does not fit is refused`() throws {
    let (world, _) = try World.dormant { world, _ in
      for nav in UInt64(1)...3 { try world.turn([.snapshotWanted(nav: nav)]) }
    }
    let request = try #require(world.hub.dormantNavs.first { $0.nav == 2 })
    let rows = world.journal.rows.filter { $0.nav == 2 }
    let right = try #require(world.journal.snapshots.first { $0.nav == 2 })
    var wrong = right
    wrong.body.replaceDigest()
    for snapshot in [wrong, try #require(world.journal.snapshots.first { $0.nav == 1 })] {
      #expect(throws: HubReplayError.self) {
        try world.hub.revive(request, snapshot: snapshot, rows: rows)
      }
      #expect(world.dormantNumbers == [1, 2, 3])
    }
    // Either alone leads there, and so do both.
    var hub = world.hub
    try hub.revive(request, snapshot: right, rows: [])
    hub = world.hub
    try hub.revive(request, snapshot: nil, rows: rows)
    try world.hub.revive(request, snapshot: right, rows: rows)
    #expect(world.dormantNumbers == [1, 3])
  }

  @Test(arguments: [false, true])
  func `navs are revived for ops that come while a batch is stored, be it or not`(
    isFailing: Bool
  ) throws {
    let (world, client) = try World.dormant()
    world.journal.isFailing = isFailing
    let first = client.message("op", client.opBody(Stage.push("c"), nav: "one"))
    let early = client.message("op", client.opBody(Stage.push("c"), nav: "two"))
    let sent = try world.overlap([first], [early])
    let all = sent.first + sent.second
    #expect(all.map(\.verb) == (isFailing ? [.err, .err] : [.ok, .ok]))
    #expect(all.codes == (isFailing ? ["storage", "storage"] : []))
    #expect(world.dormantNumbers == [3])
    world.journal.isFailing = false
    for nav in ["one", "two", "three"] {
      let revision = isFailing || nav == "three" ? 4 : 5
      #expect(try client.must(Stage.push("d"), nav: nav).revision == revision)
    }
    for nav in ["one", "two", "three"] {
      #expect(try client.get("verify", nav: nav).text.contains(#""ok":true"#))
    }
  }

  @Test func `the diffs kept of navs that are revived stay within their limit`() throws {
    let limit = 2000
    let (world, _) = try World.dormant(configure: { $0.resumeTotalBytes = limit })
    var bytes = 0
    for request in world.hub.dormantNavs {
      let before = world.hub.navs.ringBytes
      try world.revive(request, in: &world.hub)
      #expect(world.hub.navs.ringBytes <= limit)
      bytes = max(bytes, world.hub.navs.ringBytes - before)
    }
    #expect(3 * bytes > limit, "nothing had to be given up")
  }
}

extension JournalRow {
  /// Replaces the checksum after the row by another one.
  fileprivate mutating func replaceDigest() {
    guard header.kind == .changed else { return body.replaceDigest() }
    var reader = JournalBodyReader()
    guard (try? reader.load(self)) != nil, let digest = try? reader.change().digest else { return }
    var json = JSONWriter()
    json.binary(UInt64(digest.checksum))
    if let place = body.firstRange(of: json.bytes) { body[place.lowerBound] ^= 1 }
  }
}

extension [UInt8] {
  /// Puts another checksum where the first one is.
  fileprivate mutating func replaceDigest() {
    let text = String(decoding: self, as: UTF8.self)
    guard let name = text.range(of: #""dig":""#) else { return }
    let end = text.index(name.upperBound, offsetBy: 8)
    let other = text[name.upperBound..<end] == "00000000" ? "11111111" : "00000000"
    self = Array(text.replacingCharacters(in: name.upperBound..<end, with: other).utf8)
  }
}
