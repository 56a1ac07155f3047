@testable import NavigationCore
@testable import NavigationHub
import Testing

extension Operation {
  static func present(
    _ id: ScreenID, from: ScreenID? = nil, style: String? = nil
  ) -> Operation {
    .present(.id(id), from: from, style: style)
  }
  static func present(_ record: ScreenRecord, style: String? = nil) -> Operation {
    .present(.record(record), from: nil, style: style)
  }
  static func dismiss() -> Operation { .dismiss(from: nil) }
}

extension Nav {
  var chain: [ScreenID] { controller.presentedScreens.map(\.id) }
}

@Suite struct PresentationTests {
  @Test func `C-076 C-077 a presented screen is visible, the stack stays as it is`() throws {
    var nav = try Nav("A", "B", detached: ["M"])
    #expect(nav.controller.visible?.id == "B")
    #expect(try nav.run(.present("M")) == .screen("M"))
    #expect(nav.controller.visible?.id == "M")
    #expect(nav.controller.top?.id == "B")
    #expect(nav.ids == ["A", "B"])
    #expect(nav.events == [.didPresent("M")])
    #expect(nav.commit?.parts == [.presented])
    #expect(nav.controller.presented.content.chain.first?.from == "B")
    #expect(nav.detachedKeys == [])
  }

  @Test func `C-078 what is dismissed becomes a detached record`() throws {
    var nav = try Nav("A", "B")
    try nav.run(.present(ScreenRecord(id: "M")))
    #expect(try nav.run(.dismiss()) == .dismissed(["M"]))
    #expect(nav.controller.visible?.id == "B")
    #expect(nav.detachedKeys == [.screen("M")])
    #expect(nav.events == [.didDismiss("M")])
  }

  @Test func `C-081 who presents already cannot present`() throws {
    var nav = try Nav("A", "B", detached: ["M", "N", "O"])
    try nav.run(.present("M"))
    nav.refuses(.present("N", from: "B"), with: .alreadyPresenting("B"))
    // There is one chain, so no other screen of the stack begins a second one.
    nav.refuses(.present("N", from: "A"), with: .alreadyPresenting("A"))
    try nav.run(.present("N", from: "M"))
    nav.refuses(.present("O", from: "M"), with: .alreadyPresenting("M"))
    #expect(nav.chain == ["M", "N"])
    #expect(nav.controller.visible?.id == "N")
  }

  @Test func `C-082 a screen on the stack or in the chain is active already`() throws {
    var nav = try Nav("A", "B", detached: ["M"])
    nav.refuses(.present("B"), with: .onStackOrPresented("B"))
    nav.refuses(.present(ScreenRecord(id: "A")), with: .onStackOrPresented("A"))
    try nav.run(.present("M"))
    nav.refuses(.present("M"), with: .onStackOrPresented("M"))
    nav.refuses(.present(ScreenRecord(id: "M")), with: .onStackOrPresented("M"))
    nav.refuses(.present("M", from: "B"), with: .alreadyPresenting("B"))
  }

  @Test func `C-084 the kinds that no stack takes may be presented`() throws {
    for kind in [ScreenKind.tabBar, .navigation] {
      var nav = try Nav("A")
      try nav.run(.present(ScreenRecord(id: "T", kind: kind)))
      #expect(nav.chain == ["T"])
      try nav.run(.dismiss())
      nav.refuses(.push("T"), with: .forbiddenKind("T", kind))
    }
  }

  @Test func `C-088 C-089 the controller owns the context of two styles`() throws {
    for style in ["currentContext", "overCurrentContext"] {
      var nav = try Nav("A", "B", detached: ["M"])
      try nav.run(.present("M", from: "B", style: style))
      #expect(nav.controller.presented.content.chain.first?.coversNavigationInterface == true)
    }
    for style in [nil, "fullScreen", "pageSheet"] {
      var nav = try Nav("A", detached: ["M"])
      try nav.run(.present("M", style: style))
      #expect(nav.controller.presented.content.chain.first?.coversNavigationInterface == false)
    }
  }

  @Test func `C-091 dismissing with nothing presented changes nothing`() throws {
    var nav = try Nav("A", "B", detached: ["D"])
    #expect(try nav.runsWithoutEffect(.dismiss()) == .dismissed([]))
    #expect(try nav.runsWithoutEffect(.dismiss(from: "A")) == .dismissed([]))
    nav.refuses(.dismiss(from: "Z"), with: .unknownScreen("Z"))
    nav.refuses(.dismiss(from: "D"), with: .notInStack("D"))
  }

  @Test func `a dismissal takes what a screen presents and everything above it`() throws {
    for (presenter, left) in [
      (nil, []), ("A", []), ("B", []), ("M", ["M"]), ("N", ["M", "N"]), ("O", ["M", "N"]),
    ] as [(ScreenID?, [ScreenID])] {
      var nav = try Nav("A", "B", detached: ["M", "N", "O"])
      try nav.send([.present("M"), .present("N"), .present("O")])
      let gone = ["M", "N", "O"].filter { !left.contains($0) } as [ScreenID]
      #expect(try nav.run(.dismiss(from: presenter)) == .dismissed(gone))
      #expect(nav.chain == left)
      #expect(nav.detachedKeys == gone.map { .screen($0) })
    }
  }

  @Test func `popping the presenter leaves the presentation alone`() throws {
    var nav = try Nav("A", "B", detached: ["M"])
    try nav.run(.present("M"))
    try nav.run(.pop)
    #expect(nav.chain == ["M"])
    #expect(nav.controller.visible?.id == "M")
    nav.refuses(.dismiss(from: "B"), with: .notInStack("B"))
    #expect(try nav.run(.dismiss(from: "A")) == .dismissed(["M"]))
  }

  @Test func `the presenter is on the stack or in the chain`() throws {
    var nav = try Nav("A", detached: ["D", "M"])
    nav.refuses(.present("M", from: "D"), with: .notInStack("D"))
    nav.refuses(.present("M", from: "Z"), with: .unknownScreen("Z"))
    nav.refuses(.present("Z"), with: .unknownScreen("Z"))
  }

  @Test func `a presented screen is nowhere else`() throws {
    var nav = try Nav("A", detached: ["M"])
    try nav.run(.present("M"))
    nav.refuses(.push("M"), with: .alreadyPresented("M"))
    nav.refuses(.push(ScreenRecord(id: "M")), with: .alreadyPresented("M"))
    nav.refuses(.push(.id("M"), onDuplicate: .ignore), with: .alreadyPresented("M"))
    nav.refuses(.setStack("A", "M"), with: .alreadyPresented("M"))
    nav.refuses(.createScreen(ScreenRecord(id: "M")), with: .alreadyPresented("M"))
    nav.refuses(.popTo("M"), with: .notInStack("M"))
    nav.refuses(.setItem("M", [.title("x")], requireOnStack: true), with: .notInStack("M"))
    #expect(throws: Refusal.self) { try nav.run(.releaseScreen("M")) }
  }

  @Test func `editing a presented screen changes the part, and its record's own version`() throws {
    var nav = try Nav("A")
    let item: [ItemEdit] = [.rightItems([.new("b")])]
    try nav.run(.present(ScreenRecord(id: "M", item: item)))
    for operation in [
      .title("M", "T"), .item("M", .set(\.prompt, "p")), .setButton("b", [.title("x")]),
    ] as [Operation] {
      try nav.run(operation)
      #expect(nav.commit?.parts == [.presented])
      #expect(nav.commit?.changedScreenIndexes == [])
      #expect(nav.controller.presented.version == nav.controller.revision)
      #expect(nav.controller.visible?.version == nav.controller.revision)
      try nav.runsWithoutEffect(operation)
    }
    #expect(nav.controller.screen("M")?.title == "T")
    try nav.run(.item("M", .rightItems([])))
    #expect(nav.detachedKeys == [.button("b")])
  }

  @Test func `what a message takes back is no change`() throws {
    var nav = try Nav("A", detached: ["M"])
    let before = nav.controller
    try nav.send([.present("M"), .dismiss()])
    #expect(nav.commit == nil)
    #expect(nav.controller == before)
    try nav.run(.present("M"))
    try nav.send([.dismiss(), .title("M", "x"), .title("M", nil), .present("M")])
    #expect(nav.commit == nil)
  }

  @Test func `a screen goes from the stack to the chain and back in one message`() throws {
    var nav = try Nav("A", "B", "C")
    try nav.send([.pop, .present("C")])
    #expect(nav.ids == ["A", "B"] && nav.chain == ["C"])
    #expect(nav.events.contains(.didPop("C")))
    try nav.send([.dismiss(), .push("C")])
    #expect(nav.ids == ["A", "B", "C"] && nav.chain == [])
  }

  @Test func `presented screens count, and are bounded`() throws {
    var nav = try Nav("A")
    nav.context.limits.stackDepth = 2
    try nav.send([.present(ScreenRecord(id: "M")), .present(ScreenRecord(id: "N"))])
    nav.refuses(.present(ScreenRecord(id: "O")), with: .depthLimit(2))
    nav.context.limits.presentedBytes = 300
    let long = String(repeating: "x", count: 300)
    nav.refuses(.title("M", long), with: .sizeLimit(300))
    try nav.run(.title("A", long))
    nav.context.limits.presentedBytes = 1 << 20
    nav.context.limits.stateBytes = nav.controller.byteCount + 10
    nav.refuses(.title("M", long), with: .sizeLimit(nav.controller.byteCount + 10))
  }
}
