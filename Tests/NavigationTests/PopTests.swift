@testable import NavigationCore
@testable import NavigationHub
import Testing

@Suite struct PopTests {
  @Test func `C-037 popping an empty detached controller changes nothing`() throws {
    var nav = try Nav(isAttached: false)
    #expect(try nav.runsWithoutEffect(.pop) == .popped(nil))
    #expect(try nav.runsWithoutEffect(.popToRoot) == .poppedAll([]))
  }

  @Test func `C-043 popTo returns what it removed bottom first and tells pops top first`() throws {
    var nav = try Nav("A", "B", "C", "D")
    #expect(try nav.run(.popTo("B")) == .poppedAll(["C", "D"]))
    #expect(nav.ids == ["A", "B"])
    #expect(
      nav.events == [
        .willHide("D", animated: false), .willShow("B", animated: false), .didPop("D"),
        .didPop("C"), .didHide("D", animated: false), .didShow("B", animated: false),
      ])
    #expect(nav.detachedKeys == [.screen("C"), .screen("D")])
  }

  @Test func `C-046 popTo needs a target on the stack`() throws {
    var nav = try Nav("A", "B", "C", detached: ["Z"])
    nav.refuses(.popTo("Z"), with: .notInStack("Z"))
    nav.refuses(.popTo("Y"), with: .unknownScreen("Y"))
  }

  @Test func `C-359 popTo a screen that was popped before is refused`() throws {
    var nav = try Nav("A", "B", "C")
    try nav.run(.popToRoot)
    nav.refuses(.popTo("B"), with: .notInStack("B"))
  }

  @Test func `C-048 popToRoot leaves the root alone`() throws {
    var nav = try Nav("A", "B", "C")
    #expect(try nav.run(.popToRoot, animated: true) == .poppedAll(["B", "C"]))
    #expect(nav.ids == ["A"])
    #expect(
      try nav.story() == [
        .willHide("C", animated: true), .willShow("A", animated: true), .didPop("C"),
        .didPop("B"), .didHide("C", animated: true), .didShow("A", animated: true),
      ])
  }

  @Test func `popTo by route takes the top-most match, or the only one`() throws {
    var nav = try Nav("A")
    for id in ["B", "C", "D"] as [ScreenID] {
      try nav.run(.push(ScreenRecord(id: id, edits: [.route(id == "D" ? "d" : "r")])))
    }
    nav.refuses(
      .popTo(.route("r", mustBeUnique: true)), with: .ambiguousRoute("r", candidates: ["B", "C"]))
    nav.refuses(.popTo(.route("x", mustBeUnique: false)), with: .routeNotInStack("x"))
    #expect(
      try nav.runsWithoutEffect(.popTo(.route("d", mustBeUnique: true))) == .poppedAll([]))
    #expect(try nav.run(.popTo(.route("r", mustBeUnique: false))) == .poppedAll(["D"]))
    try nav.run(.pop)
    try nav.run(.push("C"))
    try nav.run(.title("B", "t"))
    #expect(nav.ids == ["A", "B", "C"])
  }

  @Test func `C-128 the back button goes with the screen above`() throws {
    var nav = try Nav("A", "B")
    #expect(nav.controller.showsBackButton)
    try nav.run(.pop)
    #expect(!nav.controller.showsBackButton)
    #expect(nav.controller.resolvedBar().left == [])
  }
}
