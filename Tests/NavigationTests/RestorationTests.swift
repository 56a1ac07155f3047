@testable import NavigationCore
@testable import NavigationHub
import Testing

@Suite struct RestorationTests {
  private func saved(_ ids: [(ScreenID, String?)], nav restorationID: String?) throws -> Nav {
    var nav = try Nav()
    for (id, restorationID) in ids {
      try nav.run(.push(ScreenRecord(id: id, edits: [.set(\.restorationID, restorationID)])))
    }
    try nav.run(.attach)
    if let restorationID { try nav.run(.configure([.set(\.restorationID, restorationID)])) }
    return nav
  }

  private func restore(
    _ records: [ScreenRecord?], root: ScreenArgument? = nil
  ) -> Operation {
    let entries = records.enumerated().map { RestorationEntry(path: "p\($0)", record: $1) }
    return .restore(entries, root: root)
  }

  @Test func `C-321 without an identifier of its own a controller preserves nothing`() throws {
    #expect(
      try saved([("A", "a"), ("B", "b")], nav: nil).controller.restorableScreens == nil)
    #expect(try saved([("A", "a")], nav: "").controller.restorableScreens == nil)
  }

  @Test func `C-322 screens with an identifier are preserved bottom to top`() throws {
    let nav = try saved([("A", "a"), ("B", nil), ("C", "c"), ("D", "")], nav: "nav")
    #expect(nav.controller.restorableScreens?.map(\.path) == ["nav/a#0", "nav/c#0"])
    #expect(nav.controller.restorableScreens?.map(\.screen.id) == ["A", "C"])
  }

  @Test func `C-323 paths are unique though identifiers are not`() throws {
    let nav = try saved([("A", "a"), ("B", "d"), ("C", "d")], nav: "nav")
    #expect(nav.controller.restorableScreens?.map(\.path) == ["nav/a#0", "nav/d#0", "nav/d#1"])
  }

  @Test func `screens come back in their order, without animation`() throws {
    var nav = try Nav("R")
    let output = try nav.run(
      restore([
        ScreenRecord(id: "A", edits: [.title("a")]), ScreenRecord(id: "B", edits: [.title("b")]),
      ]), animated: true)
    #expect(output == .restored(ids: ["A", "B"], skipped: []))
    #expect(nav.controller.stack.map(\.title) == ["a", "b"])
    #expect(nav.commit?.isAnimated == false)
    #expect(nav.commit?.topRelation == .new)
    #expect(
      nav.events == [
        .willHide("R", animated: false), .willShow("B", animated: false),
        .didHide("R", animated: false), .didShow("B", animated: false),
      ])
  }

  @Test func `known screens are taken as they are`() throws {
    var nav = try Nav("A", "B", detached: ["C"])
    let records = ["A", "C"].map { ScreenRecord(id: $0, edits: [.title("old")]) }
    #expect(try nav.run(restore(records)) == .restored(ids: ["A", "C"], skipped: []))
    #expect(nav.controller.stack.map(\.title) == [nil, nil])
    try nav.runsWithoutEffect(restore(records))
  }

  @Test func `what cannot be rebuilt is skipped`() throws {
    var nav = try Nav("R", detached: ["M"])
    try nav.run(.present("M"))
    let output = try nav.run(
      restore([
        nil, ScreenRecord(id: "T", kind: .tabBar), ScreenRecord(id: "M"),
        ScreenRecord(id: "N", item: [.leftItems([.id("nope")])]), ScreenRecord(id: "A"),
      ]))
    #expect(output == .restored(ids: ["A"], skipped: ["p0", "p1", "p2", "p3"]))
  }

  @Test func `a screen that is skipped takes no numbers from those after it`() throws {
    var nav = try Nav("R")
    func button(_ title: String) -> ButtonArgument { .record(ButtonRecord(edits: [.title(title)])) }
    let output = try nav.run(
      restore([
        ScreenRecord(id: "F", item: [.rightItems([button("x"), .id("nope")])]),
        ScreenRecord(id: "A", item: [.rightItems([button("z")])]),
        ScreenRecord(id: "B", item: [.rightItems([.id("b11.2")])]),
      ]))
    #expect(output == .restored(ids: ["A"], skipped: ["p0", "p2"]))
    #expect(nav.controller.top?.item.rightItems.map(\.id) == ["b11.1"])
  }

  @Test func `with nothing left the given root is taken, or there is none`() throws {
    var nav = try Nav("R")
    nav.refuses(restore([]), with: .rootRequired)
    nav.refuses(restore([nil]), with: .rootRequired)
    #expect(
      try nav.run(restore([nil], root: .new("H"))) == .restored(ids: ["H"], skipped: ["p0"]))
  }

  @Test func `identities of the daemon's form are given anew`() throws {
    var nav = try Nav("R")
    let button = ButtonRecord(id: "b7.1", edits: [.title("x")])
    let output = try nav.run(
      restore([ScreenRecord(id: "s7.1", item: [.rightItems([.record(button)])])]))
    #expect(output == .restored(ids: ["s11.1"], skipped: []))
    #expect(nav.controller.top?.item.rightItems.map(\.id) == ["b11.1"])
    // And kept while the nav knows them.
    try nav.run(restore([ScreenRecord(id: "s11.1"), ScreenRecord(id: "A")]))
    #expect(nav.ids == ["s11.1", "A"])
  }

  @Test func `a reverted stack has its order back, not its content`() throws {
    var nav = try Nav("A", "B", "C")
    try nav.run(.title("B", "new"))
    try nav.run(.setStack("C"))
    let output = try nav.run(.revert(to: Revision(10), stack: ["A", "B", "C"]))
    #expect(output == .replaced(popped: [], ids: ["A", "B", "C"]))
    #expect(nav.controller.stack[1].title == "new")
    #expect(nav.commit?.topRelation == .same)
    try nav.runsWithoutEffect(.revert(to: Revision(10), stack: ["A", "B", "C"]))
  }

  @Test func `released screens cannot come back`() throws {
    var nav = try Nav("A", "B", "C")
    try nav.run(.popToRoot)
    try nav.run(.releaseScreen("B"))
    nav.refuses(
      .revert(to: Revision(10), stack: ["A", "B", "C", "Z"]),
      with: .restoreFailed(missing: ["B", "Z"]))
    try nav.run(.present("C"))
    nav.refuses(
      .revert(to: Revision(10), stack: ["A", "C"]), with: .alreadyPresented("C"))
    #expect(throws: Refusal.self) {
      try nav.run(.revert(to: Revision(10), stack: nil))
    }
  }
}
