import Foundation
@testable import NavigationCore
import Testing

/// The operations as protocol.md has them, an oracle without defaults.
enum OperationTable {
  struct Row {
    /// The rights that it takes, wherever it stands in its list.
    var rights: [String]
    var waits: Bool
  }

  private static let page: [Substring] = {
    let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "docs/protocol.md")
    return (try? String(contentsOf: page, encoding: .utf8))?.split(separator: "\n") ?? []
  }()

  /// The rows of §9.6 by the name of the operation.
  static let rows: [String: Row] = {
    var rows: [String: Row] = [:]
    for line in page.drop(while: { !$0.hasPrefix("### 9.6") }) {
      if line.hasPrefix("### 9.7") { break }
      let cells = line.split(separator: "|")
      guard line.hasPrefix("| `"), cells.count == 4 else { continue }
      let right = cells[2].prefix { $0 != ":" && $0 != ";" }
      for match in cells[0].matches(of: /`([\w.]+)`(†)?/) {
        rows[String(match.1)] = Row(
          rights: right.matches(of: /push|pop|admin/).map { String($0.output) },
          waits: match.2 != nil)
      }
    }
    return rows
  }()

  /// The operations that the first sentence with these words names in code.
  static func named(from start: String, to end: String) -> Set<String> {
    let text = page.joined(separator: " ")
    guard let from = text.firstRange(of: start),
      let to = text[from.upperBound...].firstRange(of: end)
    else { return [] }
    return Set(
      text[from.upperBound..<to.lowerBound].matches(of: /`([\w.]+)(?:\.\*)?`/)
        .map { String($0.1) })
  }
}

@Suite struct OperationTableTests {
  static let kinds = OperationKind.allCases.filter { $0 != .unknown }

  @Test func `every operation has a row in the protocol, and every row an operation`() {
    #expect(Set(OperationTable.rows.keys) == Set(Self.kinds.map(\.name)))
    #expect(OperationTable.rows.values.allSatisfy { !$0.rights.isEmpty })
  }

  @Test(arguments: kinds)
  func `an operation has the right and the wait of its row`(kind: OperationKind) throws {
    let row = try #require(OperationTable.rows[kind.name])
    #expect(kind.waitsForTransition == row.waits)
    // Which button it is, the arguments show: see `AccessModelTests.needed`.
    if kind == .buttonActivate { return #expect(kind.rights == []) }
    #expect(kind.rights == AccessSample.rights(row.rights))
  }

  @Test(arguments: kinds)
  func `an operation needs the guard of the list in the protocol`(kind: OperationKind) {
    let position = OperationTable.named(
      from: "* `removal`, the default:", to: " without `screen` need one of")
    let whole = OperationTable.named(from: "`top`, `rev`, `dig`, `stack`. ", to: " need one of")
    let expected: OperationKind.NeededGuard =
      switch kind.name {
      case "replace", "insert": .byArguments
      case "ui.dismiss": .presentation
      case let name where whole.contains(name): .wholeStack
      case let name where position.contains(name): .position
      case _: .none
      }
    #expect(kind.neededGuard == expected)
    #expect(position.count == 5 && whole.count == 8, "\(position) \(whole)")
  }

  /// The questions of §11 by operation, each by name.
  private static let questions: [String: OperationKind.VetoQuestion] = {
    let always = """
      push show segue pop popTo popToRoot replace insert remove ui.backTap ui.backMenu \
      button.activate pushItem popItem gesture.begin
      """
    let never = """
      nav.create nav.configure nav.close attach detach present screen.create screen.set \
      screen.release item.set button.create button.set button.release bar.set toolbar.set \
      bar.setHidden toolbar.setHidden appearance.set proxy.set ui.tap ui.swipe gesture.update \
      gesture.finish gesture.cancel transition.complete env.set
      """
    let lists: [(String, OperationKind.VetoQuestion)] = [
      (always, .always), (never, .never), ("revert", .removals),
      ("setStack setItems open restore", .removalsInScopeAll), ("dismiss ui.dismiss", .dismissals),
    ]
    return Dictionary(
      uniqueKeysWithValues: lists.flatMap { list, question in
        list.split(separator: " ").map { (String($0), question) }
      })
  }()

  @Test(arguments: kinds)
  func `an operation asks the veto delegates as the protocol says`(kind: OperationKind) throws {
    #expect(kind.vetoQuestion == (try #require(Self.questions[kind.name])))
    #expect(Self.questions.count == Self.kinds.count)
  }

  @Test(arguments: kinds)
  func `a standalone bar takes the operations that the protocol names`(kind: OperationKind) {
    let named = OperationTable.named(from: "A nav of kind `bar` accepts ", to: ". Other known")
    #expect(named.count == 16, "\(named)")
    let family = kind.name.prefix { $0 != "." }
    let isNamed =
      named.contains(kind.name)
      || (family == "nav" || family == "button") && named.contains("\(family)")
    #expect(kind.suitsStandaloneBars == (isNamed || kind.isForItems))
    #expect(kind.isForItems == kind.name.hasSuffix("Item") || kind == .setItems)
  }
}
