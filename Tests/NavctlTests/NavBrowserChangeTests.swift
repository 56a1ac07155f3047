import NavigationClient
import NavigationCore
import Testing

@testable import navctl

/// The changes that keys of `navctl ui` make, and those that they do not make.
@Suite struct NavBrowserChangeTests {
  private static let desync = #"""
    {"id":1,"re":"op","code":"desync","retry":"resync","effect":"none","nav":"kiosk","reason":"top",
    "expected":"wifi","msg":"top is home, not wifi","epoch":"c0ffee12c0ffee12","rev":9,"top":"home",
    "depth":1}
    """#

  private func writing() throws -> BrowserStage {
    var stage = BrowserStage(isWritable: true)
    try stage.open()
    return stage
  }

  @Test(arguments: [
    ("P", #"{"pop":{}}"#), ("o", #"{"pop":{}}"#), ("b", #"{"ui.backTap":{}}"#),
    ("r", #"{"popToRoot":{}}"#),
  ])
  func `keys that remove screens are guarded by what is drawn`(
    key: String, operation: String
  ) throws {
    var stage = try writing()
    let changes = BrowserStage.changes(stage.type(key))
    let change = try #require(changes.first)
    #expect(changes.count == 1 && change.nav == "kiosk" && change.operation.text == operation)
    #expect(change.guards.top == .some("wifi") && change.guards.visible == .some("wifi"))
    #expect(change.guards.epoch?.text == epoch && !change.guards.any)
  }

  @Test func `a change is guarded by the frame that the user saw, not by a newer state`() throws {
    var stage = try writing()
    try stage.show("kiosk", ["home", "wifi", "alert"])
    #expect(try #require(BrowserStage.changes(stage.type("P")).first).guards.top == .some("wifi"))
  }

  @Test func `p pushes a screen by its id, and with a title a new one`() throws {
    var stage = try writing()
    #expect(stage.type("pdn").isEmpty)
    #expect(stage.screen.contains("push on kiosk, ID [TITLE]: dn"))
    stage.type("x", .left, .left, .delete, .backspace, .end, .home)
    stage.type("", .clearLine)
    let known = try #require(BrowserStage.changes(stage.type("dns", .enter)).first)
    #expect(known.operation.text == #"{"push":{"screen":"dns"}}"# && known.guards.top == nil)
    // The nav that is drawn, not one of that name which was created since.
    #expect(known.guards.epoch?.text == epoch)
    _ = stage.answer(1, .failure(try refusal(Self.desync)))
    let made = try #require(BrowserStage.changes(stage.type("pdns The DNS", .enter)).first)
    #expect(made.operation.text == #"{"push":{"screen":{"id":"dns","title":"The DNS"}}}"#)
    _ = stage.answer(2, .failure(try refusal(Self.desync)))
    #expect(stage.type("pdns", .escape).isEmpty && stage.type("p", .enter).isEmpty)
  }

  @Test func `one change is under way at a time, and its answer is shown`() throws {
    var stage = try writing()
    #expect(BrowserStage.changes(stage.type("P")).count == 1)
    #expect(stage.screen.contains("pop: waiting for navd"))
    #expect(stage.type("P").isEmpty && stage.screen.contains("pop has no answer yet"))
    let answer = try reply(
      #"{"id":7,"re":"op","nav":"kiosk","epoch":"c0ffee12c0ffee12","rev":9,"changed":true,"depth":1,"top":"home","out":[{"popped":"wifi"}]}"#
    )
    // The answer of another request is none.
    _ = stage.answer(7, .success(answer))
    #expect(stage.screen.contains("kiosk  rev 9  top home  depth 1  popped wifi"))
    #expect(BrowserStage.changes(stage.type("P")).count == 1)
  }

  @Test func `a refusal is shown with its cause and a remedy, and the drawing stays`() throws {
    var stage = try writing()
    stage.type("P")
    _ = stage.answer(1, .failure(try refusal(Self.desync)))
    #expect(stage.screen.contains("desync: top is home, not wifi; try: look, then press the key"))
    #expect(stage.screen.contains("▶ wifi"))
    stage.type("P")
    let denied = #"""
      {"id":2,"re":"op","code":"forbidden","retry":"no","effect":"none","nav":"kiosk",
      "msg":"kiosk needs the right pop"}
      """#
    _ = stage.answer(2, .failure(try refusal(denied)))
    let text = stage.screen.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(text.contains("forbidden: kiosk needs the right pop; try: add to the configuration:"))
    #expect(text.contains("grant = WHO kiosk pop in [access]"))
    stage.type("j")
    #expect(!stage.screen.contains("forbidden"))
  }

  @Test func `nothing is sent about a nav that is not shown or not known to be right`() throws {
    var stage = BrowserStage(isWritable: true)
    #expect(stage.type("P").isEmpty && stage.screen.contains("no nav is open"))
    _ = stage.browser.firstEffects("kiosk")
    #expect(stage.type("P").isEmpty && stage.screen.contains("not up to date yet"))
    try stage.show("kiosk", ["home", "wifi"])
    _ = stage.browser.frame()
    _ = stage.browser.handle(.changed(nav: "kiosk", .suspect))
    #expect(stage.type("P").isEmpty && stage.type("p").isEmpty)
  }

  @Test func `a stack that is not on the screen is not changed`() throws {
    var stage = BrowserStage(isWritable: true, columns: 40, rows: 12)
    try stage.open()
    stage.type("", .tab)
    _ = stage.browser.frame()
    #expect(stage.type("P").isEmpty && stage.type("p").isEmpty)
    #expect(stage.screen.contains("kiosk is not on the screen: press Tab"))
    stage.type("", .backTab)
    _ = stage.browser.frame()
    #expect(BrowserStage.changes(stage.type("P")).count == 1)
    // The help covers it, and a scrolled stack does not have its top on the screen.
    var deep = BrowserStage(isWritable: true)
    _ = deep.browser.firstEffects("kiosk")
    try deep.show("kiosk", (1...30).map { "s\($0)" })
    deep.type("j")
    _ = deep.browser.frame()
    #expect(deep.type("P").isEmpty && deep.screen.contains("the top of kiosk is not on the screen"))
    deep.type("g?")
    _ = deep.browser.frame()
    #expect(deep.type("?P").isEmpty)
    _ = deep.browser.frame()
    #expect(BrowserStage.changes(deep.type("P")).count == 1)
  }

  /// Keys with all kinds of effects, the changing ones often.
  private static let keys: [BrowserKey] =
    "pPobrfjkhlgGq?/Pbr x1".unicodeScalars.map { .text($0) } + [
      .up, .down, .left, .right, .pageUp, .pageDown, .home, .end, .enter, .escape, .backspace,
      .delete, .tab, .backTab, .clearLine, .redraw, .other, .enter, .text("東"), .text("\u{301}"),
    ]

  private static let sizes = [(80, 24), (40, 12), (132, 50), (20, 5), (1, 1), (64, 14), (63, 30)]
  private static let titles = [
    "Wi-Fi", "東京の設定", "👨‍👩‍👧 family", "e\u{301}te\u{301}", "❤️ heart", "\u{301}alone", "🇩🇪 flag",
    String(repeating: "長い", count: 60), "\u{1B}[2J",
  ]

  /// Plays random keys, events and sizes; checks each frame, and returns the changes.
  private func play(_ seed: UInt64, isWritable: Bool) throws -> [NavBrowser.Change] {
    var random = SeededGenerator(seed: seed)
    let isASCII = seed % 3 == 0
    var stage = BrowserStage(isWritable: isWritable, isASCII: isASCII)
    if seed % 2 == 0 { try stage.open() }
    var effects: [NavBrowser.Effect] = []
    var id: UInt64 = 0
    for _ in 0..<80 {
      switch random.next() % 10 {
      case 0:
        try stage.list((0..<random.next() % 40).map { "n\($0 % 7)/car\($0)" } + ["kiosk", "tv"])
      case 1:
        try stage.show(
          random.next() % 2 == 0 ? "kiosk" : "tv", (0..<random.next() % 20).map { "s\($0)" },
          title: Self.titles.randomElement(using: &random))
      case 2:
        let (columns, rows) = Self.sizes.randomElement(using: &random) ?? (80, 24)
        stage.browser.resize(columns: columns, rows: rows)
      case 3:
        id += 1
        effects += stage.answer(id, .failure(try refusal(Self.desync)))
      default:
        effects += stage.browser.press(Self.keys.randomElement(using: &random) ?? .other)
      }
      let frame = stage.browser.frame()
      Self.check(frame, stage.browser, isASCII: isASCII)
    }
    return BrowserStage.changes(effects)
  }

  /// The laws of a frame: it fits the terminal, no character is split, and ASCII is ASCII.
  private static func check(_ frame: BrowserFrame, _ browser: NavBrowser, isASCII: Bool) {
    #expect(frame.lines.count <= browser.rows)
    for line in frame.lines {
      // One expectation a line, since they take most of the time.
      var end = 0
      var isSound = true
      for cell in line.cells(columns: browser.columns) {
        isSound = isSound && cell.column == end && cell.text.allSatisfy { $0.value >= 0x20 }
        end += cell.width
      }
      isSound = isSound && end == line.width && end <= browser.columns
      isSound = isSound && (!isASCII || line.plain.utf8.allSatisfy { $0 < 0x80 })
      #expect(isSound, "\(browser.columns) columns: \(line.plain)")
    }
    if let cursor = frame.cursor {
      #expect(cursor.row < browser.rows && cursor.column < browser.columns)
    }
  }

  @Test(arguments: 0..<16 as Range<UInt64>)
  func `without --write no key sends anything, and every frame fits`(seed: UInt64) throws {
    #expect(try play(seed, isWritable: false).isEmpty)
  }

  @Test func `with --write random keys send guarded changes of the open nav`() throws {
    let changes = try (16..<24).flatMap { try play($0, isWritable: true) }
    #expect(changes.count > 10)
    for change in changes where change.operation.kind != .push {
      #expect(change.guards.top != nil && change.guards.epoch != nil)
    }
  }

  @Test func `a cell has what a terminal can show in it`() {
    func cells(_ text: String, columns: Int = 80) -> [String] {
      StyledLine(text).cells(columns: columns).map { cell in
        "\(cell.column)+\(cell.width) "
          + String(String.UnicodeScalarView(cell.text))
      }
    }
    #expect(cells("a東b") == ["0+1 a", "1+2 東", "3+1 b"])
    #expect(cells("e\u{301}!") == ["0+1 e\u{301}", "1+1 !"])
    // Sequences of emoji would take another width in the terminal than in a line.
    #expect(cells("👨‍👩‍👧!") == ["0+2 👨", "2+1 !"])
    #expect(cells("❤️!") == ["0+2 ❤", "2+1 !"])
    #expect(cells("\u{301}") == ["0+1 \u{FFFD}"])
    // A wide character that does not fit is left out.
    #expect(cells("a東", columns: 2) == ["0+1 a"])
  }
}
