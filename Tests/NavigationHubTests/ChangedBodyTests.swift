import NavigationCore
@testable import NavigationHub
import Testing

extension JournalRow {
  /// The body as JSON.
  var text: String { get throws { String(decoding: try json(), as: UTF8.self) } }
}

/// The bodies of rows that change a nav.
@Suite struct ChangedBodyTests {
  /// The `changed` rows of a nav that had ops of many kinds, and a revision by navd itself.
  private static func rows() throws -> (world: World, rows: [JournalRow]) {
    let world = try RowMemberTests.world(snapshotEvery: 1000)
    return (world, world.journal.rows.filter { $0.kind == .changed })
  }

  @Test func `a body has the diff of its revision, octet for octet`() throws {
    let (world, rows) = try Self.rows()
    let ring = try world.entry("kiosk").ring
    var reader = JournalBodyReader()
    #expect(rows.count > 5)
    for row in rows {
      try reader.load(row)
      let sent = ring.diff(of: Revision(row.revision)).body(hasResolved: false)
      #expect(try reader.diff().bytes == sent, "revision \(row.revision)")
      #expect(row.body.count < sent.count)
    }
    let senders = try rows.filter { try $0.text.contains(#""sender":{"who":"me"}"#) }
    #expect(senders.count == 1)
    #expect(try RowMemberTests.replayed(world.journal) == world.entry("kiosk").controller)
  }

  @Test func `every op can be read, whatever its hash ends with`() throws {
    let world = World()
    let owner = try world.kiosk()
    for number in 0..<600 {
      try owner.must(#"{"push":{"screen":{"id":"x","title":"\#(number)"}}}"#)
      try owner.must(#"{"pop":{}}"#, Stage.any)
    }
    // Octet 0x2C, a comma, would be dropped as the one behind a JSON value.
    #expect(world.journal.rows.contains { $0.body.last == 0x2C })
    for row in world.journal.rows { _ = try row.json() }
  }

  @Test func `an animated pop is stored with its result and its transition`() throws {
    let stage = try Stage(["A", "B", "C"])
    try stage.owner.must(#"{"pop":{"result":{"paid":true}}}"#, "\(Stage.any),\(Stage.animated)")
    let row = try #require(stage.world.journal.rows.last)
    let sent = try stage.world.entry("kiosk").ring.diff(of: Revision(row.revision))
    #expect(try row.text.contains(String(decoding: sent.body(hasResolved: false), as: UTF8.self)))
  }

  @Test func `a part of a body, or a changed octet, is an error or a body`() throws {
    let (_, rows) = try Self.rows()
    var reader = JournalBodyReader()
    var (errors, others) = (0, 0)
    func read(_ header: RowHeader, _ body: [UInt8]) {
      do {
        try reader.load(JournalRow(header, body: body))
        _ = try reader.change()
        _ = reader.logEntry(JournalRow(header, body: body))
        others += 1
      } catch { errors += 1 }
    }
    for row in rows {
      for count in row.body.indices { read(row.header, Array(row.body[..<count])) }
      for index in row.body.indices {
        for value in [0, 1, 0x7F, 0xFF] as [UInt8] {
          var body = row.body
          body[index] = value
          read(row.header, body)
        }
      }
    }
    #expect(errors > others / 4 && others > 0, "\(errors) errors, \(others) bodies")
  }

  @Test func `a body of another version says so, and one without its author too`() throws {
    var row = try #require(try Self.rows().rows.first)
    row.author = nil
    #expect(throws: StoredDataError(what: "an op without its author")) { try row.text }
    row.body[0] = 2
    #expect(throws: StoredDataError(what: "a body of version 2, not 1")) { try row.text }
  }

  @Test func `the numbers that bodies have keep their meaning`() {
    #expect(
      Cause.allCases.map(\.word) == [
        "api", "segue", "backButton", "gesture", "complete", "cancel", "timeout", "restore",
        "revert",
        "open", "lease", "recovery", "appearance", "interrupt",
      ])
    #expect(TopRelation.allCases.map(\.word) == ["same", "back", "new", "empty"])
    #expect(
      OperationKind.allCases.dropLast().map(\.name) == [
        "nav.create", "nav.configure", "nav.close", "attach", "detach", "push", "show", "segue",
        "pop", "popTo", "popToRoot", "setStack", "replace", "insert", "remove", "open", "restore",
        "revert", "present", "dismiss", "screen.create", "screen.set", "screen.release",
        "item.set", "button.create", "button.set", "button.release", "button.activate", "bar.set",
        "toolbar.set", "bar.setHidden", "toolbar.setHidden", "appearance.set", "proxy.set",
        "pushItem", "popItem", "setItems", "ui.backTap", "ui.backMenu", "ui.back", "ui.dismiss",
        "ui.tap", "ui.swipe", "gesture.begin", "gesture.update", "gesture.finish",
        "gesture.cancel", "transition.complete", "env.set",
      ])
  }

  /// A body of version 1, and what it was written from.
  struct Golden: Sendable {
    var row: UInt64
    var depth: Int
    var top: String
    var op: UInt64?
    var body: String
    var json: String
  }

  @Test(arguments: goldens)
  func `a body that was written once reads as the same JSON`(golden: Golden) throws {
    let author = Author(name: "c1", principal: "uid:1000", pid: 4711)
    let header = RowHeader(
      sequence: golden.row, nav: 1, revision: golden.row, previous: golden.row - 1, time: 0,
      kind: .changed, depth: golden.depth, top: ScreenID(golden.top),
      author: golden.op.map { RowAuthor(author, client: ClientID(high: 0, low: 1), op: $0) })
    let digits = Array(golden.body)
    let body = try stride(from: 0, to: digits.count, by: 2).map {
      try #require(UInt8(String(digits[$0...$0 + 1]), radix: 16))
    }
    #expect(try JournalRow(header, body: body).text == golden.json)
  }

  static let goldens: [Golden] = [
    Golden(
      row: 2, depth: 2, top: "x", op: 2,
      body: "011600056b696f736b67ec8e65a18debbe67ec8e65a18debbe8b9fee9404edb0bc86052422766572223a"
        + "322c227469746c65223a2241205c2271756f7465645c22207469746c6522050606686f6d6502000a0008"
        + "01040001059ee432d0b4d5e250",
      json: #"{"diff":{"nav":"kiosk","epoch":"beeb8da1658eec67","base":1,"rev":2,"seq":2,"cause":""#
        + #"api","by":{"name":"c1","op":2},"ch":[{"at":1,"del":[],"ins":[{"id":"x","ver":2,"titl"#
        + #"e":"A \"quoted\" title"}]}],"ev":[{"willHide":{"screen":"home","animated":false}},{""#
        + #"willShow":{"screen":"x","animated":false}},{"didPush":{"screen":"x"}},{"didHide":{"s"#
        + #"creen":"home","animated":false}},{"didShow":{"screen":"x","animated":false}}],"depth"#
        + #"":2,"dig":"50cf186d5e04ab66a6b292d7"},"before":"429b8f8bbeeb8da1658eec67","ops":["pu"#
        + #"sh"],"by":{"name":"c1","op":2,"principal":"uid:1000","pid":4711},"octets":"50e2d5b4d"#
        + #"032e49e","out":[{"id":"x"}]}"#),
    Golden(
      row: 3, depth: 1, top: "home", op: 3,
      body: "011a00056b696f736b67ec8e65a18debbed792b2a666ab045eedb0bc86058b9fee940401780506037802"
        + "000c01080104000108fd8dad4e9bdd15837b226f76657272696465223a747275657d",
      json: #"{"diff":{"nav":"kiosk","epoch":"beeb8da1658eec67","base":2,"rev":3,"seq":3,"cause":""#
        + #"api","by":{"name":"c1","op":3},"ch":[{"at":1,"del":["x"],"ins":[]}],"ev":[{"willHide"#
        + #"":{"screen":"x","animated":false}},{"willShow":{"screen":"home","animated":false}},{"#
        + #""didPop":{"screen":"x"}},{"didHide":{"screen":"x","animated":false}},{"didShow":{"sc"#
        + #"reen":"home","animated":false}}],"depth":1,"dig":"429b8f8b94d090329be85682"},"before"#
        + #"":"50cf186d5e04ab66a6b292d7","ops":["pop"],"by":{"name":"c1","op":3,"principal":"uid"#
        + #":1000","pid":4711},"octets":"8315dd9b4ead8dfd","out":[{"popped":"x"}],"override":tru"#
        + #"e}"#),
    Golden(
      row: 2, depth: 3, top: "C", op: 2,
      body: "010200056b696f736b67ec8e65a18debbe67ec8e65a18debbeb9c1c5be01b9c1c5be01025b5d000118fc"
        + "81eaf60d3317ad0c5b7b226964223a2262227d5d7b22646574223a5b7b22627574746f6e223a7b226964"
        + "223a2262222c227469746c65223a2274227d7d5d7d",
      json: #"{"diff":{"nav":"kiosk","epoch":"beeb8da1658eec67","base":1,"rev":2,"seq":2,"cause":""#
        + #"api","by":{"name":"c1","op":2},"ch":[],"ev":[],"depth":3,"dig":"17d160b97d8bd9bb10cd"#
        + #"261f"},"before":"17d160b9beeb8da1658eec67","ops":["button.create"],"by":{"name":"c1""#
        + #","op":2,"principal":"uid:1000","pid":4711},"octets":"ad17330df6ea81fc","out":[{"id":"#
        + #""b"}],"det":[{"button":{"id":"b","title":"t"}}]}"#),
    Golden(
      row: 5, depth: 3, top: "D", op: 5,
      body: "010200056b696f736b67ec8e65a18debbe625fd137f989f80b9db8948e01e68ac0c50fb4015b7b227365"
        + "74223a2270726573656e746564222c22746f223a7b22766572223a352c22636861696e223a5b7b227363"
        + "7265656e223a7b226964223a2250222c22766572223a357d2c2266726f6d223a2244222c227374796c65"
        + "223a226f76657243757272656e74436f6e74657874222c22636f76657273223a2277686f6c654e617669"
        + "676174696f6e496e74657266616365222c22636f6e746578744f776e6572223a22636f6e74726f6c6c65"
        + "72227d5d7d7d5d01001d7b2264696450726573656e74223a7b2273637265656e223a2250227d7d011280"
        + "8f63d8b923f5ef0c5b7b226964223a2250227d5d",
      json: #"{"diff":{"nav":"kiosk","epoch":"beeb8da1658eec67","base":4,"rev":5,"seq":5,"cause":""#
        + #"api","by":{"name":"c1","op":5},"ch":[{"set":"presented","to":{"ver":5,"chain":[{"scr"#
        + #"een":{"id":"P","ver":5},"from":"D","style":"overCurrentContext","covers":"wholeNavig"#
        + #"ationInterface","contextOwner":"controller"}]}}],"ev":[{"didPresent":{"screen":"P"}}"#
        + #"],"depth":3,"dig":"f8b0056652909c65604309c6"},"before":"11c51c1d0bf889f937d15f62","o"#
        + #"ps":["present"],"by":{"name":"c1","op":5,"principal":"uid:1000","pid":4711},"octets""#
        + #":"eff523b9d8638f80","out":[{"id":"P"}]}"#),
    Golden(
      row: 7, depth: 3, top: "D", op: nil,
      body: "01200a056b696f736b67ec8e65a18debbe78b3c069844791e6a28cb9990aa7bfe2f50702633107435b7b"
        + "22736574223a22656e7669726f6e6d656e74222c22746f223a7b22766572223a372c226f776e6572223a"
        + "226331222c2276436f6d70616374223a747275657d7d5d007b226279223a7b226e616d65223a22633122"
        + "2c226f70223a372c227072696e636970616c223a227569643a31303030222c22706964223a343731317d"
        + "7d",
      json: #"{"diff":{"nav":"kiosk","epoch":"beeb8da1658eec67","base":6,"rev":7,"seq":7,"cause":""#
        + #"lease","by":{"name":"c1","op":7},"ch":[{"set":"environment","to":{"ver":7,"owner":"c"#
        + #"1","vCompact":true}}],"ev":[],"depth":3,"dig":"7eb89fa795d10fefc3d69b8f"},"before":""#
        + #"a32e4622e691478469c0b378","by":{"name":"c1","op":7,"principal":"uid:1000","pid":4711"#
        + #"}}"#),
  ]
}
