@testable import NavigationCore
@testable import NavigationHub
import Testing

@Suite struct BatchTests {
  @Test func `one refused operation refuses the message and names its index`() throws {
    var nav = try Nav("A", "B")
    nav.refuses(.push(ScreenRecord(id: "C")), .push("C"), at: 1, with: .duplicateScreen("C"))
    nav.refuses(
      .title("A", "T"), .createButton(ButtonRecord(id: "x", edits: [.title("x")])), .pop,
      .popTo("Z"), at: 3, with: .unknownScreen("Z"))
  }

  @Test func `operations that cancel out are no change`() throws {
    var nav = try Nav("A", "B", detached: ["D", "E"])
    try nav.runsWithoutEffect(.push("D"), .pop)
    try nav.runsWithoutEffect(.pop, .push("B"))
    try nav.runsWithoutEffect(.title("B", "T"), .title("B", nil))
    try nav.runsWithoutEffect(.title("D", "T"), .title("D", nil))
    try nav.runsWithoutEffect(.detach, .attach)
    try nav.runsWithoutEffect(.createScreen(ScreenRecord(id: "N")), .releaseScreen("N"))
    try nav.runsWithoutEffect(.releaseScreen("D"), .createScreen(ScreenRecord(id: "D")))
    try nav.runsWithoutEffect(.item("A", .rightItems([])), .pop, .push("B"), .setStack("A", "B"))
  }

  @Test func `pops are told before pushes, with one will and one did`() throws {
    var nav = try Nav("A", "B", "C", detached: ["D", "E"])
    let outputs = try nav.send([.popToRoot, .push("D"), .push("E")])
    #expect(outputs == [.poppedAll(["B", "C"]), .screen("D"), .screen("E")])
    #expect(nav.commit?.splice == Splice(at: 1, removed: ["B", "C"], insertedCount: 2))
    #expect(
      nav.events == [
        .willHide("C", animated: false), .willShow("E", animated: false), .didPop("C"),
        .didPop("B"), .didPush("D"), .didPush("E"), .didHide("C", animated: false),
        .didShow("E", animated: false),
      ])
  }

  @Test func `a screen that leaves and returns is neither popped nor pushed`() throws {
    var nav = try Nav("A", "B", "C")
    try nav.run(.pop, .pop, .push("C"))
    #expect(nav.commit?.splice == Splice(at: 1, removed: ["B"], insertedCount: 0))
    #expect(nav.events == [.didPop("B")])
  }

  @Test func `a whole replacement in the batch leaves out pushed and popped`() throws {
    var nav = try Nav("A", "B", detached: ["C", "D"])
    try nav.send([.setStack("A", "C"), .push("D")], animated: true)
    #expect(nav.commit?.topRelation == .new)
    #expect(
      try nav.story() == [
        .willHide("B", animated: true), .willShow("D", animated: true),
        .didHide("B", animated: true), .didShow("D", animated: true),
      ])
  }

  @Test func `show animates the whole message unless it says otherwise`() throws {
    var nav = try Nav("A", "B", detached: ["C"])
    try nav.run(.pop, .show(.id("C"), onDuplicate: .error))
    #expect(nav.commit?.isAnimated == true)
    #expect(
      try nav.story() == [
        .willHide("B", animated: true), .willShow("C", animated: true), .didPop("B"),
        .didPush("C"), .didHide("B", animated: true), .didShow("C", animated: true),
      ])
  }

  @Test func `attaching after pushes shows the top only`() throws {
    var nav = try Nav(isAttached: false)
    try nav.run(.push(ScreenRecord(id: "A")), .push(ScreenRecord(id: "B")), .attach)
    #expect(nav.events == [.willShow("B", animated: false), .didShow("B", animated: false)])
  }

  @Test func `a taken back edit keeps its version beside a real change`() throws {
    var nav = try Nav("A", "B", detached: ["D", "E"])
    try nav.run(
      .title("B", "T"), .title("B", nil), .title("D", "T"), .title("D", nil), .title("A", "T"))
    #expect(nav.commit?.changedScreenIndexes == [0])
    #expect(nav.controller.top?.version != nav.controller.revision)
    #expect(nav.controller.screen("D")?.version != nav.controller.revision)
    #expect(nav.detachedKeys == [.screen("E"), .screen("D")])
  }

  @Test func `a taken back edit keeps its version when the screen is pushed or popped too`() throws
  {
    var nav = try Nav("A", "B", detached: ["D"])
    let versions = try ["B", "D"].map { try #require(nav.controller.screen($0)?.version) }
    try nav.run(.title("B", "T"), .title("B", nil), .pop, .title("D", "T"), .title("D", nil))
    try nav.run(.title("D", "T"), .title("D", nil), .push("D"), .push("B"))
    #expect(["B", "D"].map { nav.controller.screen($0)?.version } == versions)
  }

  @Test func `an id used again in one message is a change of content`() throws {
    var nav = try Nav("A", "B")
    try nav.run(.pop, .releaseScreen("B"), .push(ScreenRecord(id: "B", edits: [.title("new")])))
    #expect(nav.commit?.splice == nil)
    #expect(nav.commit?.changedScreenIndexes == [1])
    #expect(nav.commit?.released == [])
    #expect(nav.events == [])
  }

  @Test func `buttons of a screen made again are forgotten with the old one`() throws {
    var nav = try Nav("A", detached: ["D"])
    try nav.run(.item("D", .rightItems([.new("x")])))
    try nav.run(.releaseScreen("D"), .createScreen(ScreenRecord(id: "D")))
    #expect(nav.commit?.released == [.button("x")])
    nav.refuses(.releaseButton("x"), with: .unknownButton("x"))
  }

  @Test func `a detached button that passed through a list is the youngest`() throws {
    var nav = try Nav("A")
    for id in ["x", "y"] as [ButtonID] {
      try nav.run(.createButton(ButtonRecord(id: id, edits: [.title("t")])))
    }
    try nav.runsWithoutEffect(.item("A", .leftItems([.id("x")])), .item("A", .leftItems([])))
    try nav.run(
      .item("A", .leftItems([.id("x")])), .item("A", .leftItems([])), .title("A", "T"))
    #expect(nav.detachedKeys == [.button("y"), .button("x")])
  }

  @Test func `no operations are no change`() throws {
    var nav = try Nav("A")
    #expect(try nav.send([]) == [])
    #expect(nav.commit == nil)
  }
}
