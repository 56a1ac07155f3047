@testable import NavigationCore
@testable import NavigationHub
import Testing

@Suite struct ScreenTests {
  @Test(arguments: 1...64)
  func `its texts are those it was given, however long each is`(length: Int) throws {
    let text = String(repeating: "i", count: length)
    let id = try #require(ScreenID(text))
    let other = try #require(ScreenID(String(text.dropLast()) + "j"))
    for title in [nil, "", "T", String(repeating: "ä", count: 80)] {
      for route in [nil, "", "/r", String(repeating: "r", count: 200)] {
        var screen = Screen(id: id, version: Revision(1), title: title, route: route)
        #expect(screen.id == id && screen.hasID(id) && !screen.hasID(other))
        #expect(screen.withID { [UInt8](copying: $0) } == Array(text.utf8))
        #expect(screen.title == title && screen.route == route)
        screen.title = "another"
        #expect(screen.id == id && screen.title == "another" && screen.route == route)
        screen.route = nil
        #expect(screen.id == id && screen.title == "another" && screen.route == nil)
      }
    }
  }

  @Test func `contents with the same bytes in other texts are others`() {
    let texts: [(String?, String?)] = [
      ("ab", "c"), ("a", "bc"), ("abc", nil), (nil, "abc"), ("abc", ""), ("", "abc"), (nil, nil),
      ("", nil), (nil, ""), ("", ""),
    ]
    let screens = texts.map { Screen(id: "A", version: Revision(1), title: $0.0, route: $0.1) }
    for (index, screen) in screens.enumerated() {
      for (other, another) in screens.enumerated() {
        #expect(screen.hasSameContent(as: another) == (index == other), "\(texts[other])")
      }
      var changed = screens[0]
      (changed.title, changed.route) = texts[index]
      #expect(changed == screen)
    }
  }

  @Test func `a copy is a value of its own`() {
    var original = Screen(id: "A", version: Revision(1))
    original.title = "T"
    var copy = original
    copy.title = "U"
    copy.details.restorationID = "r"
    copy.version = Revision(2)
    #expect(original.title == "T")
    #expect(original.hasDefaultDetails)
    #expect(original.version == Revision(1))
    #expect(original != copy)
  }

  @Test func `contents are compared without versions, screens with them`() {
    let first = Screen(id: "A", version: Revision(1))
    let second = Screen(id: "A", version: Revision(2))
    #expect(first.hasSameContent(as: second))
    #expect(first != second)
    #expect(!first.hasSameContent(as: Screen(id: "B", version: Revision(1))))
  }

  @Test func `the size of a text counts the octets of its escapes`() {
    func size(_ text: String?) -> Int {
      var screen = Screen(id: "A", version: Revision(1), title: text, route: text)
      screen.details.restorationID = text
      screen.details.accessibility[.label] = text.map { Text($0) }
      screen.item.title = text
      screen.item.prompt = text
      var button = ButtonContent()
      button.title = text
      button.action = text
      button.image = text.map { ImageReference(ref: $0) }
      screen.item.leftItems = [Button(id: "b", content: button)]
      return screen.escapedByteCount
    }
    let plain = size("")
    for scalar in (0..<0x80).compactMap({ Unicode.Scalar($0) }) + ["é", "界"] {
      let text = String(scalar)
      let octets = JSONWriter.value { $0.string(text) }.count - 2
      #expect(size(text) - plain == 9 * octets, "\(scalar.value)")
    }
  }

  @Test func `details set back to their defaults are as never set`() {
    var screen = Screen(id: "A", version: Revision(1))
    screen.item.title = "T"
    #expect(!screen.hasDefaultDetails)
    screen.item.title = nil
    #expect(screen.hasDefaultDetails)
    #expect(screen == Screen(id: "A", version: Revision(1)))
  }

  @Test func `every member can be set, counts as content and can be taken back`() throws {
    let json = OpaqueJSON(validated: Array("{}".utf8))
    var appearance = AppearanceSet()
    appearance[.compact] = json
    let edits: [(ScreenEdit, ScreenEdit)] = [
      (.title("T"), .title(nil)), (.route("r"), .route(nil)), (.args(json), .args(nil)),
      (.set(\.restorationID, "r"), .set(\.restorationID, nil)),
      (.set(\.prefersBarHidden, true), .set(\.prefersBarHidden, nil)),
      (.set(\.wantsFullScreenLayout, true), .set(\.wantsFullScreenLayout, false)),
      (.set(\.extendsUnderOpaqueBars, true), .set(\.extendsUnderOpaqueBars, false)),
      (.set(\.canPop, false), .set(\.canPop, true)),
      (.set(\.modalInPresentation, true), .set(\.modalInPresentation, false)),
      (.set(\.edges, [.top, .left]), .set(\.edges, .all)),
      (.set(\.accessibility[.label], "L"), .set(\.accessibility[.label], nil)),
      (.set(\.accessibility[.language], "de"), .set(\.accessibility[.language], nil)),
    ]
    let items: [(ItemEdit, ItemEdit)] = [
      (.title("T"), .title(nil)), (.set(\.prompt, "P"), .set(\.prompt, nil)),
      (.set(\.titleView, TitleView(view: json)), .set(\.titleView, nil)),
      (.set(\.hidesBackButton, true), .set(\.hidesBackButton, false)),
      (.set(\.leftItemsSupplementBackButton, true), .set(\.leftItemsSupplementBackButton, false)),
      (.set(\.largeTitleDisplayMode, .never), .set(\.largeTitleDisplayMode, .automatic)),
      (.set(\.appearance, appearance), .set(\.appearance, AppearanceSet())),
      (.set(\.accessibility[.label], "L"), .set(\.accessibility[.label], nil)),
    ]
    let pairs =
      edits.map { (Operation.setScreen("A", [$0.0]), Operation.setScreen("A", [$0.1])) }
      + items.map { (Operation.item("A", $0.0), Operation.item("A", $0.1)) }
    for (change, reset) in pairs {
      var nav = try Nav("A", "B")
      try nav.runsWithoutEffect(reset)
      try nav.runsWithoutEffect(change, reset)
      try nav.run(change)
      #expect(nav.commit?.changedScreenIndexes == [0])
      try nav.runsWithoutEffect(change)
      try nav.run(reset)
      #expect(nav.controller.stack[0].hasDefaultDetails)
    }
  }

  /// A screen's texts, as properties of their own.
  private struct Naive: Equatable {
    var title: String?
    var route: String?
    var args: OpaqueJSON?
    var version = Revision(1)
  }

  @Test(arguments: 1...20) func `texts are what was set last, in this copy alone`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let texts: [String?] = [
      nil, "", "T", "Seven b", "Eight by", "Nine byte", "短い", "e\u{301}", "\u{E9}",
      String(repeating: "long ", count: 30),
    ]
    var screens = [Screen(id: "A", version: Revision(1))]
    var naive = [Naive()]
    for step in 2...200 {
      let index = Int.random(in: screens.indices, using: &random)
      let text = texts.randomElement(using: &random) ?? nil
      switch Int.random(in: 0..<6, using: &random) {
      case 0:
        screens.append(screens[index])
        naive.append(naive[index])
      case 1:
        screens[index].version = Revision(UInt64(step))
        naive[index].version = Revision(UInt64(step))
      case 2:
        let json = OpaqueJSON(validated: Array("\(step)".utf8))
        screens[index].args = json
        naive[index].args = json
      case 3:
        screens[index].route = text
        naive[index].route = text
      default:
        screens[index].title = text
        naive[index].title = text
      }
      for (screen, twin) in zip(screens, naive) {
        #expect(screen.title.map { Array($0.utf8) } == twin.title.map { Array($0.utf8) })
        #expect(screen.route.map { Array($0.utf8) } == twin.route.map { Array($0.utf8) })
        #expect(screen.titleByteCount == twin.title?.utf8.count ?? 0)
        #expect(screen.withRoute { $0.count } == twin.route?.utf8.count)
        #expect(screen.args == twin.args && screen.version == twin.version)
        #expect((screen == screens[0]) == (twin == naive[0]))
      }
    }
  }

  @Test func `titles that Unicode calls equal are other content, and keep their bytes`() {
    let composed = Screen(id: "A", version: Revision(1), title: "\u{E9}", route: "\u{E9}")
    let decomposed = Screen(id: "A", version: Revision(1), title: "e\u{301}", route: "e\u{301}")
    #expect(composed != decomposed)
    var screen = composed
    screen.title = "e\u{301}"
    #expect(screen.titleByteCount == 3 && screen.withRoute { $0.count } == 2)
    #expect(composed.titleByteCount == 2)
  }
}

@Suite struct DisplayWidthTests {
  @Test func `a letter takes one column, a wide one two`() {
    #expect(DisplayWidth.columns(of: "Back") == 4)
    #expect(DisplayWidth.columns(of: "返回") == 4)
    #expect(DisplayWidth.columns(of: "") == 0)
    #expect(DisplayWidth.columns(of: "e\u{301}") == 1)
    #expect(DisplayWidth.columns(of: "👨‍👩‍👧") == 2)
    #expect(DisplayWidth.columns(of: "❤\u{FE0F}") == 2)
    #expect(DisplayWidth.columns(of: "각") == 2)
  }

  @Test func `a flag takes two columns, half of one takes one`() {
    #expect(DisplayWidth.columns(of: "🇩🇪") == 2)
    #expect(DisplayWidth.columns(of: "🇩🇪🇫🇷x") == 5)
    #expect(DisplayWidth.columns(of: "\u{1F1E9}") == 1)
    #expect(DisplayWidth.columns(of: "🏴󠁧󠁢󠁥󠁮󠁧󠁿") == 2)
    #expect(DisplayWidth.columns(of: "☝🏽☝") == 3)
    #expect(DisplayWidth.prefix(of: "a🇩🇪🇫🇷", columns: 4) == "a🇩🇪")
  }

  @Test(
    arguments: [
      0xAD, 0x34F, 0x61C, 0x180E, 0x200B, 0x200D, 0x200E, 0x200F, 0x2060, 0x2064, 0xFE0E, 0xFEFF,
      0xE0041,
    ] as [UInt32])
  func `a sign that is never drawn takes no column`(number: UInt32) throws {
    let sign = String(try #require(Unicode.Scalar(number)))
    #expect(DisplayWidth.columns(of: sign) == 0)
    #expect(DisplayWidth.columns(of: "a\(sign)b") == 2)
    #expect(DisplayWidth.prefix(of: "a\(sign)bc", columns: 2) == "a\(sign)b")
  }

  @Test func `a prefix does not cut a wide letter in two`() {
    #expect(DisplayWidth.prefix(of: "返回中心", columns: 5) == "返回")
    #expect(DisplayWidth.prefix(of: "abc", columns: 5) == "abc")
    #expect(DisplayWidth.prefix(of: "abc", columns: 0) == "")
  }
}
