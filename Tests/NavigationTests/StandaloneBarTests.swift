@testable import NavigationCore
@testable import NavigationHub
import Testing

extension Operation {
  static func pushItem(_ id: ScreenID) -> Operation { .push(.id(id), onDuplicate: .error) }
  static func pushItem(_ record: ScreenRecord) -> Operation {
    .push(.record(record), onDuplicate: .error)
  }
  static func setItems(_ arguments: ScreenArgument...) -> Operation { .setStack(arguments) }
}

@Suite struct StandaloneBarTests {
  /// A standalone bar with these items.
  private func bar(_ items: ScreenID...) throws -> Nav {
    let operations = items.map { Operation.pushItem(ScreenRecord(id: $0)) }
    let (controller, _) = try NavigationController.create(
      .standalone([]), then: operations, isAnimated: nil, in: NavigationContext())
    #expect(controller.isStandalone && controller.revision == Revision(1))
    return Nav(controller)
  }

  @Test func `C-152 an item has a title and otherwise its defaults`() throws {
    var nav = try bar()
    let output = try nav.run(.pushItem(ScreenRecord(item: [.title("Owen")])))
    #expect(output == .screen("s2.1"))
    var item = NavigationItem()
    item.title = "Owen"
    #expect(nav.controller.top?.item == item)
    #expect(nav.controller.resolvedBar().middle == .title("Owen"))
  }

  @Test func `C-329 a pushed item is on top, the one before it supplies the back button`() throws {
    var nav = try bar("i")
    #expect(nav.controller.backScreen == nil)
    #expect(try nav.run(.pushItem(ScreenRecord(id: "j"))) == .screen("j"))
    #expect(nav.controller.top?.id == "j")
    #expect(nav.controller.backScreen?.id == "i")
    #expect(nav.events == [.didPush("j")])
  }

  @Test func `C-330 C-331 a bar may be popped to empty, and popping nothing is no change`()
    throws
  {
    var nav = try bar("i", "j")
    #expect(try nav.run(.pop) == .popped("j"))
    #expect(nav.events == [.didPop("j")])
    #expect(nav.controller.backScreen == nil)
    #expect(try nav.run(.pop) == .popped("i"))
    #expect(nav.ids == [])
    #expect(try nav.runsWithoutEffect(.pop) == .popped(nil))
    #expect(nav.detachedKeys == [.screen("j"), .screen("i")])
  }

  @Test func `C-335 C-336 C-328 setting items tells the relation and no single moves`() throws {
    var nav = try bar("i", "j", "k")
    #expect(try nav.run(.setItems(.id("i"))) == .replaced(popped: ["j", "k"], ids: ["i"]))
    #expect(nav.commit?.topRelation == .back)
    #expect(nav.events == [])
    #expect(try nav.run(.setItems()) == .replaced(popped: ["i"], ids: []))
    #expect(nav.commit?.topRelation == .empty)
    try nav.run(.setItems(.new("l"), .id("j"), .id("k")))
    #expect(nav.commit?.topRelation == .new)
    #expect(nav.controller.top?.id == "k" && nav.controller.backScreen?.id == "j")
  }

  @Test func `refusals speak of items`() throws {
    var nav = try bar("i", "j")
    nav.refuses(.pushItem("z"), with: .unknownItem("z"))
    nav.refuses(.pushItem("i"), with: .duplicateBarItem("i"))
    nav.refuses(.setItems(.id("i"), .id("i")), with: .duplicateBarItem("i"))
    nav.refuses(.item("z", .title("t")), with: .unknownItem("z"))
  }

  @Test func `a back tap and a button that pops take one item`() throws {
    var nav = try bar("i", "j")
    #expect(try nav.run(.backTap) == .popped("j"))
    nav.refuses(.backTap, with: .noBackButton)
    try nav.run(.item("i", .leftItems([.new("x", action: "nav.pop")])))
    #expect(try nav.run(.activateButton("x")) == .popped("i"))
  }

  @Test func `items are edited like screens, and their stack is reverted like one`() throws {
    var nav = try bar("i", "j")
    try nav.run(.item("i", .title("I")))
    #expect(nav.controller.resolvedBar().left.count == 1)
    try nav.run(.revert(to: Revision(1), stack: ["i"]))
    #expect(nav.ids == ["i"])
  }

  @Test func `C-494 the title of a record is that of the item, and there are no other members`()
    throws
  {
    var nav = try bar("i")
    try nav.run(.pushItem(ScreenRecord(id: "j", edits: [.title("Owen")])))
    #expect(nav.controller.top?.item.title == "Owen" && nav.controller.top?.title == nil)
    let item = ScreenRecord(id: "k", edits: [.title("K")], item: [.title("L")])
    try nav.run(.pushItem(item))
    #expect(nav.controller.resolvedBar().middle == .title("L"))
    for edit in [.route("r"), .set(\.canPop, false), .toolbarItems([])] as [ScreenEdit] {
      nav.refuses(
        .pushItem(ScreenRecord(id: "l", edits: [edit])),
        with: .invalidArgument("the record of an item has id, title and item"))
    }
    for policy in [.popTo, .update, .moveToTop, .ignoreRoute] as [DuplicatePolicy] {
      nav.refuses(
        .push(.id("i"), onDuplicate: policy),
        with: .invalidArgument("onDuplicate of an item is error or ignore"))
    }
    #expect(
      try nav.runsWithoutEffect(.push(.id("i"), onDuplicate: .ignore)) == .alreadyInStack("i"))
  }

  @Test func `C-052 C-053 C-054 a back tap pops only where a back button is shown`() throws {
    var nav = try Nav("A", "B")
    #expect(try nav.run(.backTap) == .popped("B"))
    nav.refuses(.backTap, with: .noBackButton)
    try nav.run(.push("B"))
    try nav.run(.item("B", .set(\.hidesBackButton, true)))
    nav.refuses(.backTap, with: .noBackButton)
    #expect(try nav.run(.pop) == .popped("B"))
  }
}
