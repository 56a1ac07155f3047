import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

/// Runs every row of docs/coming-from.md.
@Suite struct ComingFromTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var theirs: String
    var before: [String]
    var presented: [String]
    var messages: [String]
    var after: String
    var testDescription: String { theirs }
  }

  static let rows: [Row] = {
    let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "docs/coming-from.md")
    guard let text = try? String(contentsOf: page, encoding: .utf8) else { return [] }
    return text.split(separator: "\n").compactMap { line in
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard line.hasPrefix("| `"), cells.count == 4 else { return nil }
      let before = Self.stack(cells[1])
      return Row(
        theirs: cells[0], before: before.stack, presented: before.presented,
        messages: cells[2].split(separator: "<br>").map {
          $0.trimmingCharacters(in: ["`"])
        }, after: cells[3])
    }
  }()

  /// The ids before and behind the `+`.
  private static func stack(_ cell: String) -> (stack: [String], presented: [String]) {
    let sides = cell.split(separator: "+").map { side in side.split(separator: " ").map(String.init)
    }
    return (sides.first ?? [], sides.count > 1 ? sides[1] : [])
  }

  @Test func `the page has its tables`() {
    #expect(Self.rows.count >= 60)
    #expect(Self.rows.allSatisfy { !$0.before.isEmpty && !$0.messages.isEmpty })
  }

  @Test(arguments: rows)
  func `ours does what theirs does`(row: Row) throws {
    let world = World()
    let client = try world.client(1)
    let ids = row.before.enumerated().map { index, id in
      #"{"id":"\#(id)","route":"\#(id.lowercased())"}"#
    }
    try client.must(#"{"nav.create":{"root":\#(ids[0])}},{"attach":{}}"#)
    for id in ids.dropFirst() { try client.must(#"{"push":{"screen":\#(id)}}"#) }
    for id in row.presented { try client.must(#"{"present":{"screen":{"id":"\#(id)"}}}"#) }
    var code: String?
    for message in row.messages {
      let list = message.hasPrefix("[") ? String(message.dropFirst().dropLast()) : message
      code = try client.op(list, Stage.any).code
    }
    if row.after.hasPrefix("`") {
      #expect(code == row.after.trimmingCharacters(in: ["`"]))
      return
    }
    #expect(code == nil)
    let controller = try world.entry("kiosk").controller
    let after = Self.stack(row.after == "nothing" ? "" : row.after)
    #expect(controller.stack.map(\.id.text) == after.stack)
    #expect(controller.presentedScreens.map(\.id.text) == after.presented)
  }
}
