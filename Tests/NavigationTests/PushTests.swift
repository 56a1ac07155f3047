@testable import NavigationCore
@testable import NavigationHub
import Testing

@Suite struct PushTests {
  @Test func `C-437 an update counts what stays after the pop, and pops nothing if refused`() throws
  {
    var nav = try Nav("A", "B", "C")
    try nav.run(.title("C", String(repeating: "c", count: 900)))
    let limit = nav.controller.byteCount + 100
    nav.context.limits.stateBytes = limit
    let before = nav.controller
    let longer = ScreenRecord(id: "A", edits: [.title(String(repeating: "a", count: 5000))])
    nav.refuses(.push(.record(longer), onDuplicate: .update), with: .sizeLimit(limit))
    #expect(nav.controller == before)
    // Beside C, the title would not fit.
    let long = String(repeating: "a", count: 800)
    nav.refuses(.title("A", long), with: .sizeLimit(limit))
    let record = ScreenRecord(id: "A", edits: [.title(long)])
    #expect(
      try nav.run(.push(.record(record), onDuplicate: .update)) == .found("A", popped: ["B", "C"]))
    #expect(nav.controller.stack.map(\.id) == ["A"])
    #expect(nav.controller.top?.titleByteCount == 800)
  }

  @Test(arguments: ["A", "B", "C"] as [ScreenID])
  func `C-016 C-017 a screen on the stack, top or buried, is not pushed again`(id: ScreenID) throws
  {
    var nav = try Nav("A", "B", "C")
    nav.refuses(.push(id), with: .duplicateScreen(id))
    nav.refuses(.push(ScreenRecord(id: id)), with: .duplicateScreen(id))
  }

  @Test(arguments: [ScreenKind.tabBar, .navigation])
  func `C-020 C-026 only content is pushed or shown`(kind: ScreenKind) throws {
    var nav = try Nav("A")
    let record = ScreenRecord(id: "T", kind: kind)
    nav.refuses(.push(record), with: .forbiddenKind("T", kind))
    nav.refuses(
      .show(.record(record), onDuplicate: .error), with: .forbiddenKind("T", kind))
    try nav.run(.createScreen(record))
    nav.refuses(.push("T"), with: .forbiddenKind("T", kind))
    nav.refuses(.push(ScreenRecord(kind: kind)), with: .forbiddenKind(nil, kind))
  }

  @Test func `C-025 show pushes and is animated unless the message says otherwise`() throws {
    for (flag, expected) in [(nil, true), (false, false), (true, true)] as [(Bool?, Bool)] {
      var nav = try Nav("A", detached: ["B"])
      let show = Operation.show(.id("B"), onDuplicate: .error)
      #expect(try nav.run(show, animated: flag) == .screen("B"))
      #expect(nav.ids == ["A", "B"])
      #expect(nav.commit?.isAnimated == expected)
      #expect(
        nav.events.prefix(2) == [
          .willHide("A", animated: expected), .willShow("B", animated: expected),
        ])
    }
  }

  @Test func `C-028 a popped screen keeps its record and comes back with it`() throws {
    var nav = try Nav("A", "B")
    try nav.run(.item("B", .title("T"), .rightItems([.new("x")])))
    let before = nav.controller.top
    try nav.run(.pop)
    #expect(nav.detachedKeys == [.screen("B")])
    try nav.run(.push("B"))
    #expect(nav.controller.top == before)
    #expect(nav.detachedKeys == [])
  }

  @Test func `C-031 the stack is no deeper than the limit`() throws {
    var nav = try Nav("A")
    for _ in 1..<64 { try nav.run(.push(ScreenRecord())) }
    nav.refuses(.push(ScreenRecord(id: "Z")), with: .depthLimit(64))
    nav.refuses(.pop, .push(ScreenRecord()), .push(ScreenRecord()), at: 2, with: .depthLimit(64))
    nav.refuses(
      .setStack((0..<65).map { _ in .record(ScreenRecord()) }), with: .depthLimit(64))
    #expect(nav.controller.stack.count == 64)
  }

  @Test func `the check for unknown buttons comes before the depth limit`() throws {
    var nav = try Nav("A")
    nav.context.limits.stackDepth = 1
    let record = ScreenRecord(item: [.rightItems([.id("nope")])])
    nav.refuses(.push(record), with: .unknownButton("nope"))
  }

  @Test func `C-149 a screen made in place has one item, at its defaults`() throws {
    var nav = try Nav("A")
    try nav.run(.push(.new("B", .title("T")), onDuplicate: .error))
    #expect(nav.controller.top?.item == NavigationItem())
    #expect(nav.controller.resolvedBar().middle == .title("T"))
  }

  @Test func `screens without an id get one from revision and ordinal`() throws {
    var nav = try Nav("A")
    let outputs = try nav.send([.push(ScreenRecord()), .push(ScreenRecord())])
    #expect(outputs == [.screen("s11.1"), .screen("s11.2")])
    nav.refuses(
      .push(ScreenRecord(id: "s11.1")), with: .duplicateScreen("s11.1"))
    guard case .invalidArgument? = nav.error(of: .push(ScreenRecord(id: "s99.1"))) else {
      Issue.record("an id of the daemon's form was accepted")
      return
    }
  }

  @Test func `a detached controller tells no events when its stack changes`() throws {
    var nav = try Nav("A", isAttached: false)
    try nav.run(.push(ScreenRecord(id: "B")))
    #expect(nav.events == [])
    try nav.run(.pop)
    #expect(nav.events == [])
    try nav.run(.setStack())
    #expect(nav.commit?.topRelation == .empty)
    #expect(nav.ids == [])
  }
}

extension Nav {
  /// The error a message of one operation is refused with; nil if it is not.
  mutating func error(of operation: Operation) -> NavigationError? {
    do {
      try run(operation)
      return nil
    } catch {
      return (error as? Refusal)?.error
    }
  }
}
