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
        "api", "segue", "backButton", "gesture", "complete", "cancel", "timeout", "restore", "revert",
        "open", "lease", "recovery", "appearance",
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
}
