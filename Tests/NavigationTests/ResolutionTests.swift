@testable import NavigationCore
@testable import NavigationHub
import Testing

@Suite struct ResolutionTests {
  private func resolved(
    _ ids: [ScreenID], _ operations: Operation...
  ) throws -> ResolvedBar {
    var nav = try Nav(isAttached: false)
    for id in ids { try nav.run(.push(ScreenRecord(id: id))) }
    for operation in operations { try nav.run(operation) }
    return nav.controller.resolvedBar()
  }

  private func back(_ bar: ResolvedBar) -> ResolvedBar.BackSlot? {
    guard case .back(let slot)? = bar.left.first else { return nil }
    return slot
  }

  /// `<` for the back button, else the button's id.
  private func left(_ bar: ResolvedBar) -> [String] {
    bar.left.map { slot in
      switch slot {
      case .back: "<"
      case .button(let slot): slot.button.id.text
      }
    }
  }

  /// One row of the table of left slots.
  struct LeftRow: CustomTestStringConvertible {
    var depth: Int
    var hasItems: Bool
    var supplements: Bool
    var hidesBack: Bool
    var expected: [String]
    var testDescription: String { "\(depth) \(hasItems) \(supplements) \(hidesBack)" }
  }

  private static func leftRows() -> [LeftRow] {
    var rows: [LeftRow] = []
    for depth in 1...3 {
      for hasItems in [false, true] {
        for supplements in [false, true] {
          for hidesBack in [false, true] {
            let hasBack = depth > 1 && !hidesBack && (!hasItems || supplements)
            rows.append(
              LeftRow(
                depth: depth, hasItems: hasItems, supplements: supplements, hidesBack: hidesBack,
                expected: (hasBack ? ["<"] : []) + (hasItems ? ["a", "b"] : [])))
          }
        }
      }
    }
    return rows
  }

  @Test(arguments: leftRows())
  func `C-095 C-096 C-119 C-120 C-121 C-123 left items replace or follow the back button`(
    row: LeftRow
  ) throws {
    var nav = try Nav(isAttached: false)
    for _ in 0..<row.depth { try nav.run(.push(ScreenRecord())) }
    let top = try #require(nav.controller.top?.id)
    try nav.run(
      .item(
        top, .leftItems(row.hasItems ? [.new("a"), .new("b")] : []),
        .set(\.leftItemsSupplementBackButton, row.supplements),
        .set(\.hidesBackButton, row.hidesBack)))
    #expect(left(nav.controller.resolvedBar()) == row.expected)
    #expect(nav.controller.showsBackButton == row.expected.contains("<"))
  }

  @Test func `an empty stack shows nothing`() throws {
    let bar = try resolved([])
    #expect(bar.left == [] && bar.right == [] && bar.middle == nil)
    #expect(bar.top == nil && bar.back == nil && bar.visible == nil)
  }

  @Test func `C-097 the back text is the title of the item below`() throws {
    let slot = back(try resolved(["A", "B"], .item("A", .title("Home"))))
    #expect(slot?.text == "Home")
    #expect(slot?.source == .title)
    #expect(slot?.candidates == ["Home", "Back"])
    #expect(slot?.isGeneric == false)
  }

  @Test func `C-098 C-099 the screen's title is next after its item's`() throws {
    #expect(back(try resolved(["A", "B"], .title("A", "Acc")))?.text == "Acc")
    let both = try resolved(["A", "B"], .title("A", "S"), .item("A", .title("I")))
    #expect(back(both)?.text == "I")
    let blank = try resolved(["A", "B"], .title("A", "S"), .item("A", .title("")))
    #expect(back(blank)?.text == "S")
  }

  @Test func `C-100 C-102 without a title the text is generic`() throws {
    let slot = back(try resolved(["A", "B"]))
    #expect(slot?.text == "Back")
    #expect(slot?.isGeneric == true)
    #expect(slot?.isTruncated == false)
    let view = TitleView(view: OpaqueJSON(validated: Array(#""v""#.utf8)))
    let titled = back(try resolved(["A", "B"], .item("A", .set(\.titleView, view))))
    #expect(titled?.text == "Back")
    #expect(titled?.isGeneric == true)
    #expect(back(try resolved(["A", "B"], .title("A", "")))?.isGeneric == true)
  }

  @Test func `C-104 the back item of the screen below beats its title`() throws {
    let item = ItemEdit.backBarButtonItem(.new("k", title: "Zurück"))
    let slot = back(try resolved(["A", "B"], .item("A", item, .title("Home"))))
    #expect(slot?.text == "Zurück")
    #expect(slot?.source == .backItem)
  }

  @Test func `C-105 left items of the top replace the back item`() throws {
    let bar = try resolved(
      ["A", "B"], .item("A", .backBarButtonItem(.new("k"))), .item("B", .leftItems([.new("x")])))
    #expect(left(bar) == ["x"])
  }

  @Test func `C-106 a screen's own back item belongs to the next screen`() throws {
    let bar = try resolved(["A", "B"], .item("B", .backBarButtonItem(.new("k", title: "Mine"))))
    #expect(back(bar)?.text == "Back")
  }

  @Test func `C-107 C-109 a back item without text leaves the indicator alone`() throws {
    let view = OpaqueJSON(validated: Array(#""cv""#.utf8))
    let edits: [[Edit<ButtonContent>]] = [[.customView(view)], [.systemItem(.done)], [.title("")]]
    for edit in edits {
      let item = ItemEdit.backBarButtonItem(.record(ButtonRecord(id: "k", edits: edit)))
      let slot = back(try resolved(["A", "B"], .item("A", item, .title("Home"))))
      #expect(slot == ResolvedBar.BackSlot(source: .backItem))
    }
  }

  @Test func `C-111 an image of the back item stands for the text`() throws {
    let image = ImageReference(ref: "i")
    let record = ButtonRecord(id: "k", edits: [.image(image)])
    let slot = back(try resolved(["A", "B"], .item("A", .backBarButtonItem(.record(record)))))
    #expect(slot == ResolvedBar.BackSlot(image: image, source: .backItem))
  }

  @Test func `C-488 a button with an image may have a title, which slot and menu carry`() throws {
    let record = ButtonRecord(id: "k", edits: [.image(ImageReference(ref: "i")), .title("Home")])
    let bar = try resolved(["A", "B"], .item("A", .backBarButtonItem(.record(record))))
    #expect(
      back(bar)?.image?.ref == "i" && back(bar)?.hiddenTitle == "Home" && back(bar)?.text == nil)
    #expect(bar.backMenu?.entries.map(\.text) == ["Home"])
  }

  @Test func `C-490 a label above 128 bytes is in the slot, and not in the menu`() throws {
    for (count, isInMenu) in [(128, true), (129, false)] {
      let label = Text(String(repeating: "l", count: count))
      let bar = try resolved(
        ["A", "B"], .title("A", "T"), .item("A", .set(\.accessibility[.label], label)))
      #expect(back(bar)?.accessibility == [.label: label])
      #expect(bar.backMenu?.entries.first?.accessibility == (isInMenu ? [.label: label] : [:]))
    }
  }

  @Test func `C-469 the menu has at most 64 entries, and no text of more than 128 bytes`() throws {
    var nav = try Nav(isAttached: false)
    for index in 0..<70 {
      let text = String(repeating: "x", count: 59 + index)
      let name = "s\(index)"
      let record = ScreenRecord(id: ScreenID(stringLiteral: name), edits: [.title(text)])
      var limits = NavigationLimits()
      limits.stackDepth = 100
      _ = try nav.controller.perform(
        [.push(.record(record), onDuplicate: .error)], isAnimated: nil,
        in: NavigationContext(limits: limits))
    }
    let entries = try #require(nav.controller.resolvedBar().backMenu).entries
    // The top, s69, has 128 bytes; the entries go down from s68.
    #expect(entries.map(\.screen.text) == (5..<69).reversed().map { "s\($0)" })
    #expect(entries.allSatisfy { $0.text.utf8.count <= 128 && !$0.isTruncated })
    let long = ItemEdit.title(String(repeating: "é", count: 65))
    try nav.run(.item("s68", long))
    let longest = ItemEdit.title(String(repeating: "é", count: 64))
    try nav.run(.item("s67", longest))
    let edited = try #require(nav.controller.resolvedBar().backMenu).entries
    #expect(
      edited.prefix(2).map(\.text) == Array(repeating: String(repeating: "é", count: 64), count: 2))
    #expect(edited.prefix(2).map(\.isTruncated) == [true, false])
    // The button itself shows the whole text, because it has no limit of its own.
    #expect(back(nav.controller.resolvedBar())?.text == String(repeating: "é", count: 65))
  }

  @Test func `C-126 an edit below the top changes the back text, not the stack`() throws {
    var nav = try Nav("A", "B")
    try nav.run(.item("A", .title("New")))
    #expect(nav.commit?.splice == nil)
    #expect(nav.commit?.changedScreenIndexes == [0])
    #expect(nav.events == [])
    #expect(back(nav.controller.resolvedBar())?.text == "New")
  }

  @Test func `C-129 C-130 C-131 C-132 a view beats the item's title, that the screen's`() throws {
    let view = TitleView(view: OpaqueJSON(validated: Array(#""v""#.utf8)))
    #expect(
      try resolved(["A"], .item("A", .set(\.titleView, view), .title("T"))).middle == .view(view))
    #expect(try resolved(["A"], .title("A", "S"), .item("A", .title("T"))).middle == .title("T"))
    #expect(try resolved(["A"], .item("A", .title("T")), .title("A", "S")).middle == .title("T"))
    #expect(try resolved(["A"], .title("A", "S")).middle == .title("S"))
    #expect(try resolved(["A"]).middle == nil)
  }

  @Test func `an empty item title is a blank, and nil shows the screen's`() throws {
    let blank = try resolved(["A"], .title("A", "S"), .item("A", .title("")))
    #expect(blank.middle == .title(""))
    let cleared = try resolved(
      ["A"], .title("A", "S"), .item("A", .title("T")), .item("A", .title(nil)))
    #expect(cleared.middle == .title("S"))
  }

  @Test func `C-136 C-137 right items are in logical order, right-most first`() throws {
    #expect(try resolved(["A"]).right == [])
    let bar = try resolved(["A"], .item("A", .rightItems([.new("news"), .new("search")])))
    #expect(bar.right.map(\.button.id) == ["news", "search"])
  }

  @Test func `C-159 the tint does not colour custom views`() throws {
    let view = OpaqueJSON(validated: Array(#""cv""#.utf8))
    let custom = ButtonArgument.record(ButtonRecord(id: "cv", edits: [.customView(view)]))
    let bar = try resolved(["A"], .item("A", .rightItems([custom, .new("go")])))
    #expect(bar.right.map(\.tintApplies) == [false, true])
  }

  @Test func `a shown image is the portrait one, the landscape one being for compact phones`()
    throws
  {
    let edits: [Edit<ButtonContent>] = [
      .image(ImageReference(ref: "p")), .landscapeImage(ImageReference(ref: "l")),
    ]
    let button = ButtonArgument.record(ButtonRecord(id: "k", edits: edits))
    let bar = try resolved(["A"], .item("A", .rightItems([button])))
    #expect(bar.right.first?.image?.ref == "p")
  }

  @Test func `equal states resolve equally`() throws {
    let first = try resolved(
      ["A", "B"], .item("A", .title("T")), .item("B", .set(\.hidesBackButton, true)))
    let second = try resolved(
      ["A", "B"], .item("B", .set(\.hidesBackButton, true)), .item("A", .title("T")))
    #expect(first == second)
  }

  /// The controller of a phone on which `below` lies under a top screen.
  private func nav(_ edits: ItemEdit...) throws -> NavigationController {
    var nav = try Nav("A", "B")
    for edit in edits { try nav.run(.item("A", edit)) }
    return nav.controller
  }

  @Test func `C-101 the generic text follows the language`() throws {
    var controller = try nav()
    controller.environment.content.locale = "zh-Hans"
    #expect(back(controller.resolvedBar())?.text == "返回")
    #expect(back(controller.resolvedBar())?.isGeneric == true)
    controller.environment.content.locale = "tlh"
    #expect(back(controller.resolvedBar())?.text == "Back")
  }

  @Test(arguments: [
    ("zh", "返回"), ("zh-Hans", "返回"), ("zh-Hant", "返回"), ("zh-CN", "返回"), ("zh_CN", "返回"),
    ("zh-Hans-CN", "返回"), ("ZH_hant_TW", "返回"), ("zh_CN.UTF-8", "返回"), ("zh_TW@radical", "返回"),
    ("zh-Hant-HK-x-own", "返回"), ("zh-", "返回"), ("zhx", "Back"), ("en-CN", "Back"), ("C", "Back"),
    ("", "Back"), ("-", "Back"), ("x-zh", "Back"),
  ])
  func `C-101 C-477 a locale is looked up as BCP 47 does`(locale: String, word: String) throws {
    var controller = try nav()
    controller.environment.content.locale = locale
    #expect(back(controller.resolvedBar())?.text == word)
  }

  @Test(arguments: [
    ("de", "Zurück"), ("de_AT.UTF-8", "Servus"), ("DE-at", "Servus"), ("de-CH", "Zurück"),
    ("zh-TW", "返回上頁"), ("zh-HK", "返回上頁"), ("zh-MO", "返回上頁"), ("zh-Hant-TW", "返回上頁"),
    ("zh-SG", "返回"), ("zh", "返回"), ("zh-Hans-TW", "返回"), ("en", "Go back"), ("en-GB", "Go back"),
    ("fr", "Back"),
  ])
  func `C-478 a nav's own words come first`(locale: String, word: String) throws {
    var controller = try nav()
    controller.settings.content.backTitles = [
      "de": "Zurück", "de-at": "Servus", "zh-hant": "返回上頁", "en": "Go back",
    ]
    controller.environment.content.locale = locale
    #expect(back(controller.resolvedBar())?.text == word)
  }

  @Test func `C-113 C-114 a text wider than the budget gives way to the generic one`() throws {
    var controller = try nav(.title("Settings"))
    controller.environment.content.backTitleColumns = 8
    #expect(back(controller.resolvedBar())?.text == "Settings")
    #expect(back(controller.resolvedBar())?.isTruncated == false)
    controller.environment.content.backTitleColumns = 7
    #expect(back(controller.resolvedBar())?.text == "Back")
    #expect(back(controller.resolvedBar())?.isTruncated == true)
    #expect(back(controller.resolvedBar())?.isGeneric == true)
    controller.environment.content.backTitleColumns = 3
    #expect(back(controller.resolvedBar())?.text == nil)
    #expect(back(controller.resolvedBar())?.isTruncated == true)
    #expect(back(controller.resolvedBar())?.candidates == ["Settings", "Back"])
  }

  @Test func `a wide letter takes two columns of the budget`() throws {
    var controller = try nav(.title("返回中心"))
    controller.environment.content.backTitleColumns = 8
    #expect(back(controller.resolvedBar())?.text == "返回中心")
    controller.environment.content.backTitleColumns = 7
    #expect(back(controller.resolvedBar())?.text == "Back")
  }

  @Test func `the budget does not apply to a text that is generic to begin with`() throws {
    var controller = try nav()
    controller.environment.content.backTitleColumns = 1
    #expect(back(controller.resolvedBar())?.text == "Back")
    #expect(back(controller.resolvedBar())?.isTruncated == false)
  }

  @Test func `C-118 the budget does not apply to left items`() throws {
    var nav = try Nav("A", "B")
    let long = String(repeating: "x", count: 40)
    try nav.run(.item("B", .leftItems([.new("x", title: long)])))
    var controller = nav.controller
    controller.environment.content.backTitleColumns = 8
    #expect(left(controller.resolvedBar()) == ["x"])
  }

  @Test func `a compact phone shows landscape images, where there are any`() throws {
    let edits: [Edit<ButtonContent>] = [
      .image(ImageReference(ref: "p")), .landscapeImage(ImageReference(ref: "l")),
    ]
    let button = ButtonArgument.record(ButtonRecord(id: "k", edits: edits))
    var nav = try Nav("A", "B")
    try nav.run(.item("A", .backBarButtonItem(button)), .item("B", .rightItems([.id("k")])))
    var controller = nav.controller
    controller.environment.content.isVerticallyCompact = true
    #expect(back(controller.resolvedBar())?.image?.ref == "l")
    #expect(controller.resolvedBar().right.first?.image?.ref == "l")
    controller.environment.content.isPhone = false
    #expect(back(controller.resolvedBar())?.image?.ref == "p")
    #expect(controller.resolvedBar().right.first?.image?.ref == "p")
  }
}
