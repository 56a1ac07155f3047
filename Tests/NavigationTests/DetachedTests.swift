@testable import NavigationCore
@testable import NavigationHub
import Testing

@Suite struct DetachedTests {
  @Test func `a created screen is detached until it is pushed`() throws {
    var nav = try Nav("A")
    #expect(try nav.run(.createScreen(ScreenRecord(id: "B"))) == .screen("B"))
    #expect(nav.ids == ["A"])
    #expect(nav.commit?.changedDetached.map(\.key) == [.screen("B")])
    #expect(nav.commit?.splice == nil && nav.commit?.changedScreenIndexes == [])
    #expect(nav.events == [])
  }

  @Test func `a screen that is on the stack is not created again`() throws {
    var nav = try Nav("A")
    nav.refuses(.createScreen(ScreenRecord(id: "A")), with: .duplicateScreen("A"))
  }

  @Test func `a detached screen is replaced on request only, and only by another`() throws {
    var nav = try Nav("A", detached: ["D", "E"])
    try nav.runsWithoutEffect(.createScreen(ScreenRecord(id: "D")))
    let other = ScreenRecord(id: "D", edits: [.title("T")])
    nav.refuses(.createScreen(other), with: .differsFromDetached("D"))
    try nav.run(.createScreen(other, replaces: true))
    try nav.runsWithoutEffect(.createScreen(other))
    #expect(nav.detachedKeys == [.screen("E"), .screen("D")])
    #expect(nav.controller.screen("D")?.version == Revision(11))
  }

  @Test func `pushing a record equal to the detached one keeps its version`() throws {
    var nav = try Nav("A", detached: ["D"])
    let version = nav.controller.screen("D")?.version
    try nav.run(.push(ScreenRecord(id: "D")))
    #expect(nav.controller.top?.version == version)
    try nav.run(.pop)
    try nav.run(.push(ScreenRecord(id: "D", edits: [.title("T")])))
    #expect(nav.controller.top?.version == nav.controller.revision)
    #expect(nav.controller.top?.title == "T")
  }

  @Test func `editing a detached screen is a revision that mirrors do not see`() throws {
    var nav = try Nav("A", detached: ["D", "E"])
    try nav.run(.item("D", .title("T")))
    #expect(nav.commit?.changedScreenIndexes == [])
    #expect(nav.commit?.changedDetached.map(\.key) == [.screen("D")])
    #expect(nav.detachedKeys == [.screen("E"), .screen("D")])
    nav.refuses(
      .setItem("D", [.title("U")], requireOnStack: true), with: .notInStack("D"))
    nav.refuses(.setItem("Z", [.title("U")], requireOnStack: true), with: .unknownScreen("Z"))
    nav.refuses(.title("Z", "U"), with: .unknownScreen("Z"))
  }

  @Test func `a released screen is unknown, and its id may be used again`() throws {
    var nav = try Nav("A", detached: ["D"])
    try nav.run(.releaseScreen("D"))
    #expect(nav.commit?.released == [.screen("D")])
    #expect(nav.events == [])
    nav.refuses(.push("D"), with: .unknownScreen("D"))
    nav.refuses(.releaseScreen("D"), with: .unknownScreen("D"))
    try nav.run(.push(ScreenRecord(id: "D")))
    #expect(nav.controller.top?.version == nav.controller.revision)
  }

  @Test func `a screen on the stack cannot be released`() throws {
    var nav = try Nav("A", "B")
    guard case .invalidArgument? = nav.error(of: .releaseScreen("A")) else {
      Issue.record("released a screen on the stack")
      return
    }
  }

  @Test func `releasing a screen forgets the buttons that only it shows`() throws {
    var nav = try Nav("A", detached: ["D"])
    try nav.run(.item("A", .rightItems([.new("shared")])))
    try nav.run(.item("D", .rightItems([.id("shared"), .new("own")])))
    try nav.run(.releaseScreen("D"))
    nav.refuses(.setButton("own", [.title("T")]), with: .unknownButton("own"))
    try nav.run(.setButton("shared", [.title("T")]))
  }

  @Test func `the oldest detached records make room beyond the limit`() throws {
    var nav = try Nav("A", detached: ["D", "E"])
    nav.context.limits.detachedRecords = 2
    try nav.run(.title("D", "T"))
    try nav.run(.push(ScreenRecord(id: "B")))
    try nav.run(.pop)
    #expect(nav.commit?.released == [.screen("E")])
    #expect(nav.detachedKeys == [.screen("D"), .screen("B")])
    try nav.run(.createButton(ButtonRecord(id: "x", edits: [.title("x")])))
    #expect(nav.commit?.released == [.screen("D")])
    #expect(nav.detachedKeys == [.screen("B"), .button("x")])
  }

  @Test func `a lower limit waits for the next change`() throws {
    var nav = try Nav("A", detached: ["D", "E"])
    nav.context.limits.detachedRecords = 0
    try nav.runsWithoutEffect(.pop)
    try nav.runsWithoutEffect(.pop, .popToRoot)
    try nav.run(.title("A", "T"))
    #expect(nav.commit?.released == [.screen("D"), .screen("E")])
  }

  @Test func `detached records make room in bytes for what is on the stack`() throws {
    var nav = try Nav("A")
    nav.context.limits.stateBytes = 3000
    let long = String(repeating: "x", count: 1500)
    try nav.run(.createScreen(ScreenRecord(id: "D", edits: [.title(long)])))
    try nav.run(.push(ScreenRecord(id: "B", edits: [.title(long)])))
    #expect(nav.commit?.released == [.screen("D")])
    nav.refuses(.push(ScreenRecord(edits: [.title(long)])), with: .sizeLimit(3000))
    nav.refuses(.createScreen(ScreenRecord(id: "E", edits: [.title(long)])), with: .sizeLimit(3000))
    try nav.run(.createScreen(ScreenRecord(id: "E")))
    nav.refuses(.title("E", long), with: .sizeLimit(3000))
  }

  @Test func `a batch cannot bring more onto the stack than fits`() throws {
    var nav = try Nav("A")
    nav.context.limits.stateBytes = 3000
    let long = String(repeating: "x", count: 1600)
    nav.refuses(
      .createScreen(ScreenRecord(id: "D", edits: [.title(long)])),
      .createScreen(ScreenRecord(id: "E", edits: [.title(long)])), .push("D"), .push("E"), at: 3,
      with: .sizeLimit(3000))
  }

  @Test func `unused buttons count as bytes too`() throws {
    var nav = try Nav("A")
    nav.context.limits.stateBytes = 3000
    let long = String(repeating: "x", count: 1500)
    try nav.run(.createButton(ButtonRecord(id: "x", edits: [.title(long)])))
    try nav.run(.createButton(ButtonRecord(id: "y", edits: [.title(long)])))
    #expect(nav.detachedKeys == [.button("y")])
    nav.refuses(
      .createButton(ButtonRecord(id: "z", edits: [.title(long + long)])), with: .sizeLimit(3000))
  }

  @Test func `an edit names the edited record only, however often it is made`() throws {
    var nav = try Nav("A", detached: ["D", "E", "F"])
    for number in 0..<2000 {
      try nav.run(.title("E", "\(number)"))
      #expect(nav.commit?.changedDetached.map(\.key) == [.screen("E")])
      guard nav.commit?.changedDetached.count == 1 else { break }
    }
  }
}
