@testable import NavigationCore
import Testing

/// The operations as protocol.md has them, an oracle without defaults.
enum OperationTable {
  struct Row {
    /// The rights that it takes, wherever it stands in its list.
    var rights: [String]
    var waits: Bool
  }

  /// The rows by the name of the operation.
  static let rows: [String: Row] = {
    let lists: [(rights: [String], waits: Bool, names: String)] = [
      (["push"], true, "push show segue insert present pushItem"),
      (["pop"], true, "pop popTo popToRoot remove dismiss popItem"),
      (["pop"], true, "ui.backTap ui.backMenu ui.back ui.dismiss"),
      (["push", "pop"], true, "setStack replace open restore revert setItems"),
      (["push", "pop"], false, "button.activate"),
      (["admin"], false, "nav.configure nav.close proxy.set"),
      (["pop"], false, "screen.release gesture.begin gesture.update gesture.finish gesture.cancel"),
      (["push"], false, "nav.create attach detach screen.create screen.set item.set button.create"),
      (["push"], false, "button.set button.release bar.set toolbar.set bar.setHidden ui.tap"),
      (["push"], false, "toolbar.setHidden appearance.set ui.swipe transition.complete env.set"),
    ]
    return Dictionary(
      uniqueKeysWithValues: lists.flatMap { rights, waits, names in
        names.split(separator: " ").map { (String($0), Row(rights: rights, waits: waits)) }
      })
  }()

  /// The operations on a standalone bar, those on its items apart.
  static let bars: Set<Substring> = Set(
    """
    nav.create nav.configure nav.close push pop setStack ui.backTap ui.backMenu ui.back revert \
    item.set button.create button.set button.release button.activate bar.set bar.setHidden \
    appearance.set proxy.set env.set transition.complete
    """.split(separator: " "))
}

@Suite struct OperationTableTests {
  static let kinds = OperationKind.allCases.filter { $0 != .unknown }

  @Test func `every operation has a row, and every row an operation`() {
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
  func `an operation needs its guard`(kind: OperationKind) {
    let position = ["pop", "popItem", "ui.backTap", "gesture.begin"]
    let whole = ["setStack", "setItems", "open", "restore", "revert", "nav.close"]
    let expected: OperationKind.NeededGuard =
      switch kind.name {
      case "replace", "insert": .byArguments
      case "ui.dismiss", "ui.back": .visibleScreen
      case let name where whole.contains(name): .wholeStack
      case let name where position.contains(name): .topScreen
      case _: .none
      }
    #expect(kind.neededGuard == expected)
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
      ("ui.back", .removalsAndDismissals),
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
    #expect(
      kind.suitsStandaloneBars
        == (OperationTable.bars.contains(kind.name[...]) || kind.isForBarItems))
    #expect(kind.isForBarItems == kind.name.hasSuffix("Item") || kind == .setItems)
  }
}
