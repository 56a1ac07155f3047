@testable import NavigationCore
@testable import NavigationHub
import Testing

@Suite struct ButtonTests {
  @Test func `C-154 C-155 the system items are the 23 of UIKit, in its order`() throws {
    #expect(SystemItem.allCases.filter { !$0.needsExtraSystemItems }.count == 23)
    #expect(SystemItem(word: "search")?.rawValue == 12)
    #expect(SystemItem(word: "redo")?.rawValue == 22)
    #expect(SystemItem(rawValue: 25) == nil)
    var nav = try Nav("A")
    for item in SystemItem.allCases where !item.needsExtraSystemItems {
      #expect(SystemItem(word: item.word) == item)
      let output = try nav.run(.createButton(ButtonRecord(edits: [.systemItem(item)])))
      guard case .button(let id) = output else { Issue.record("\(output)"); continue }
      #expect(nav.controller.detached.button(id)?.content.systemItem == item)
    }
  }

  @Test func `two more system items are for profiles that have them`() throws {
    for item in [SystemItem.pageCurl, .close] {
      #expect(item.needsExtraSystemItems)
      var nav = try Nav("A")
      let operation = Operation.createButton(ButtonRecord(id: "x", edits: [.systemItem(item)]))
      guard case .invalidArgument? = nav.error(of: operation) else {
        Issue.record("\(item) was taken")
        continue
      }
      try nav.run(.createButton(ButtonRecord(id: "y", edits: [.title("Y")])))
      guard case .invalidArgument? = nav.error(of: .setButton("y", [.systemItem(item)])) else {
        Issue.record("\(item) was taken")
        continue
      }
      try nav.run(.configure([.set(\.profile.allowsExtraSystemItems, true)]))
      try nav.run(operation)
      #expect(nav.controller.detached.button("x")?.content.systemItem == item)
    }
  }

  @Test func `C-165 a new button has exactly one face`() throws {
    let view = OpaqueJSON(validated: Array(#""cv""#.utf8))
    let image = ImageReference(ref: "i")
    let wrong: [[Edit<ButtonContent>]] = [
      [], [.style(.done)], [.customView(view), .title("T")], [.title("T"), .systemItem(.add)],
      [.title("T"), .landscapeImage(image)], [.image(image), .systemItem(.add)],
    ]
    var nav = try Nav("A")
    for edits in wrong {
      guard case .invalidArgument? = nav.error(of: .createButton(ButtonRecord(edits: edits)))
      else {
        Issue.record("accepted \(edits)")
        continue
      }
    }
    try nav.run(
      .createButton(ButtonRecord(edits: [.image(image), .landscapeImage(image), .title("T")])))
  }

  @Test func `a custom view beats an image, an image a title`() throws {
    var nav = try Nav("A")
    let view = OpaqueJSON(validated: Array(#""cv""#.utf8))
    let image = ImageReference(ref: "i")
    try nav.run(.item("A", .rightItems([.new("k", title: "T")])))
    let faces: [(Edit<ButtonContent>, ButtonFace)] = [
      (.style(.done), .title("T")), (.image(image), .image(image, landscape: nil)),
      (.customView(view), .customView(view)), (.customView(nil), .image(image, landscape: nil)),
      (.image(nil), .title("T")),
    ]
    for (edit, face) in faces {
      try nav.run(.setButton("k", [edit]))
      #expect(nav.controller.resolvedBar().right.first?.button.face == face)
      #expect(nav.commit?.changedScreenIndexes == [0])
    }
  }

  @Test func `C-138 C-143 lists keep their order`() throws {
    var nav = try Nav("A")
    try nav.run(.item("A", .leftItems([.new("a"), .new("b")])))
    #expect(nav.controller.top?.item.leftItems.map(\.id) == ["a", "b"])
    try nav.run(.item("A", .leftItems([.new("c")])))
    #expect(nav.controller.top?.item.leftItems.map(\.id) == ["c"])
    #expect(nav.detachedKeys == [.button("a"), .button("b")])
  }

  @Test func `C-139 C-141 a button is on one side of an item`() throws {
    var nav = try Nav("A")
    try nav.run(.item("A", .leftItems([.new("x")])))
    nav.refuses(.item("A", .rightItems([.id("x")])), with: .buttonOnBothSides("x"))
    nav.refuses(
      .item("A", .leftItems([.new("y")]), .rightItems([.id("y")])), with: .buttonOnBothSides("y"))
    try nav.run(.item("A", .leftItems([])))
    try nav.run(.item("A", .rightItems([.id("x")])))
    try nav.run(.item("A", .leftItems([.id("x")]), .rightItems([])))
  }

  @Test func `C-146 a list names known buttons only`() throws {
    var nav = try Nav("A")
    nav.refuses(.item("A", .rightItems([.id("x")])), with: .unknownButton("x"))
    nav.refuses(
      .item("A", .rightItems([.new("n"), .id("x")])), with: .unknownButton("x"))
    nav.refuses(.setButton("x", []), with: .unknownButton("x"))
    nav.refuses(.releaseButton("x"), with: .unknownButton("x"))
    nav.refuses(.activateButton("x"), with: .unknownButton("x"))
  }

  @Test func `C-150 an equal title changes nothing`() throws {
    var nav = try Nav("A")
    try nav.run(.item("A", .title("T")))
    try nav.runsWithoutEffect(.item("A", .title("T")))
    try nav.runsWithoutEffect(.setScreen("A", [.title(nil), .set(\.edges, .all)]))
  }

  @Test func `C-151 the animated flag of an edit marks the commit`() throws {
    var nav = try Nav("A")
    try nav.run(.item("A", .rightItems([.new("x"), .new("y")])), animated: true)
    #expect(nav.commit?.isAnimated == true)
    #expect(nav.events == [])
    try nav.run(.push(ScreenRecord(id: "B")))
  }

  @Test func `C-172 only spaces repeat in a list`() throws {
    var nav = try Nav("A")
    let flex = ButtonArgument.record(ButtonRecord(id: "f", edits: [.systemItem(.flexibleSpace)]))
    try nav.run(
      .setScreen(
        "A", [.toolbarItems([flex, .new("one"), .id("f"), .new("two"), .id("f")])]))
    #expect(nav.controller.top?.details.toolbarItems.map(\.id) == ["f", "one", "f", "two", "f"])
    nav.refuses(
      .setScreen("A", [.toolbarItems([.id("one"), .id("one")])]), with: .duplicateButton("one"))
    try nav.run(.setScreen("A", [.toolbarItems([.id("f"), .id("one")])]))
    #expect(nav.detachedKeys == [.button("two")])
  }

  @Test func `C-161 activating a shown button tells its action and changes nothing`() throws {
    var nav = try Nav("A", "B")
    try nav.run(.item("B", .rightItems([.new("g", action: "save"), .new("h")])))
    #expect(
      try nav.runsWithoutEffect(.activateButton("g")) == .activated("g", action: "save"))
    #expect(try nav.runsWithoutEffect(.activateButton("h")) == .activated("h", action: nil))
  }

  @Test func `a known button that is not shown cannot be activated`() throws {
    var nav = try Nav("A", "B")
    try nav.run(
      .item("A", .rightItems([.new("below")])), .setScreen("B", [.toolbarItems([.new("tool")])]),
      .createButton(ButtonRecord(id: "free", edits: [.title("f")])))
    for id in ["below", "tool", "free"] as [ButtonID] {
      nav.refuses(.activateButton(id), with: .buttonRefused(id, .notDisplayed))
    }
  }

  @Test func `nav.pop at the root pops nothing`() throws {
    var nav = try Nav("A")
    try nav.run(.item("A", .leftItems([.new("k", action: "nav.pop")])))
    #expect(try nav.runsWithoutEffect(.activateButton("k")) == .popped(nil))
  }

  @Test func `editing a button replaces every record that shows it`() throws {
    var nav = try Nav("A", "B", "C", detached: ["D", "E"])
    for id in ["A", "C", "D"] as [ScreenID] {
      try nav.run(.item(id, .rightItems([id == "A" ? .new("x") : .id("x")])))
    }
    try nav.run(.setButton("x", [.title("new")]))
    #expect(nav.commit?.changedScreenIndexes == [0, 2])
    #expect(nav.detachedKeys == [.screen("E"), .screen("D")])
    for id in ["A", "C", "D"] as [ScreenID] {
      #expect(nav.controller.screen(id)?.item.rightItems.first?.content.title == "new")
    }
    try nav.runsWithoutEffect(.setButton("x", [.title("new")]))
  }

  @Test func `a button leaves its lists before it is released`() throws {
    var nav = try Nav("A")
    try nav.run(.item("A", .rightItems([.new("x")])))
    guard case .invalidArgument? = nav.error(of: .releaseButton("x")) else {
      Issue.record("released a button in use")
      return
    }
    try nav.run(.item("A", .rightItems([])))
    try nav.run(.releaseButton("x"))
    #expect(nav.commit?.released == [.button("x")])
    nav.refuses(.item("A", .rightItems([.id("x")])), with: .unknownButton("x"))
  }

  @Test func `a list may send a button back as it is, but not change it`() throws {
    var nav = try Nav("A")
    try nav.run(.item("A", .rightItems([.new("x", title: "1")])))
    try nav.runsWithoutEffect(.item("A", .rightItems([.new("x", title: "1")])))
    nav.refuses(.item("A", .rightItems([.new("x", title: "2")])), with: .duplicateButton("x"))
    nav.refuses(
      .createButton(ButtonRecord(id: "x", edits: [.title("2")])), with: .duplicateButton("x"))
  }

  @Test func `one operation gives one content to a new button`() throws {
    var nav = try Nav("A")
    nav.refuses(
      .item("A", .leftItems([.new("x", title: "1")]), .backBarButtonItem(.new("x", title: "2"))),
      with: .duplicateButton("x"))
    try nav.run(
      .item("A", .leftItems([.new("x", title: "1")]), .backBarButtonItem(.new("x", title: "1"))))
  }

  @Test func `making a button again replaces the detached one`() throws {
    var nav = try Nav("A")
    try nav.run(.createButton(ButtonRecord(id: "x", edits: [.title("1")])))
    try nav.run(.createButton(ButtonRecord(id: "y", edits: [.title("1")])))
    try nav.runsWithoutEffect(.createButton(ButtonRecord(id: "x", edits: [.title("1")])))
    try nav.run(.createButton(ButtonRecord(id: "x", edits: [.title("2")])))
    #expect(nav.detachedKeys == [.button("y"), .button("x")])
    try nav.run(.item("A", .rightItems([.new("x", title: "3")])))
    #expect(nav.controller.top?.item.rightItems.first?.content.title == "3")
    #expect(nav.detachedKeys == [.button("y")])
  }

  @Test func `buttons without an id get one from revision and ordinal`() throws {
    var nav = try Nav("A")
    let record = ButtonArgument.record(ButtonRecord(edits: [.title("T")]))
    try nav.run(.item("A", .rightItems([record, record])))
    #expect(nav.controller.top?.item.rightItems.map(\.id) == ["b11.1", "b11.2"])
    guard
      case .invalidArgument? = nav.error(
        of: .createButton(ButtonRecord(id: "b9.1", edits: [.title("T")])))
    else {
      Issue.record("an id of the daemon's form was accepted")
      return
    }
  }

  @Test func `the bytes of a nav stay within the limit as buttons grow`() throws {
    var nav = try Nav("A", "B")
    nav.context.limits.stateBytes = 2000
    try nav.run(.item("A", .rightItems([.new("x")])), .item("B", .rightItems([.id("x")])))
    let long = String(repeating: "x", count: 600)
    try nav.run(.setButton("x", [.title(long)]))
    nav.refuses(.setButton("x", [.title(long + long)]), with: .sizeLimit(2000))
    try nav.run(.setButton("x", [.title("short")]))
    try nav.run(.title("A", long + long))
    nav.refuses(.title("B", long), with: .sizeLimit(2000))
  }
}
