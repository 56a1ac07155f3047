import NavigationCore
import NavigationClient
import Testing

@testable import navctl

/// What `navctl ui` decides and draws.
@Suite struct NavBrowserTests {
  @Test func `the screen of 80 columns has the list, the stack and the changes`() throws {
    var stage = BrowserStage()
    try stage.open()
    #expect(stage.screen.hasPrefix("navctl ui  ipc:///run/op    "))
    #expect(stage.screen.contains("  connected  read-only\n"))
    #expect(stage.screen.contains("▶◆ kiosk          rev 2  wifi│"), "\(stage.screen)")
    #expect(stage.screen.contains("│ ─[kiosk] rev 2  depth 2 ──"))
    #expect(stage.screen.contains("│ ▶ wifi  \"wifi\""))
    #expect(stage.screen.contains("│ snapshot  rev 2  join  [home wifi]"))
    #expect(stage.screen.hasSuffix("q quit  j/k scroll  Tab pane  f hold  / filter"))
  }

  @Test func `the screen of 40 columns has one pane, and Tab goes to the next`() throws {
    var stage = BrowserStage(columns: 40, rows: 12)
    try stage.open()
    #expect(stage.screen.contains("▶ wifi") && !stage.screen.contains("navs"))
    stage.type("", .tab)
    #expect(stage.screen.contains("snapshot  rev 2") && !stage.screen.contains("▶ wifi"))
    stage.type("", .tab)
    #expect(stage.screen.contains("navs") && stage.screen.contains("tv"))
    // Enter shows the nav that it opens.
    #expect(BrowserStage.watches(stage.type("j", .enter)) == ["-kiosk", "tv"])
    #expect(stage.screen.contains("[tv] reading"))
  }

  @Test func `the list keeps its choice when navs come and go`() throws {
    var stage = BrowserStage()
    try stage.list(["b", "c", "d"])
    stage.type("j")
    #expect(stage.screen.contains("▶  c"))
    try stage.list(["a", "b", "c", "d"])
    #expect(stage.screen.contains("▶  c"))
    try stage.list(["c", "d"])
    #expect(stage.screen.contains("▶  c"))
    // The next one takes the place of a chosen one that is gone.
    try stage.list(["d", "e"])
    #expect(stage.screen.contains("▶  d"))
    try stage.list([])
    #expect(stage.screen.contains("no navs; make one"))
    try stage.list(["e"])
    #expect(stage.screen.contains("▶  e"))
  }

  @Test func `the list is a tree of the parts of the names`() throws {
    let rows = NavTree.rows(["car/two", "car", "a-b", "car-x", "car/one/left", "a/b"])
    #expect(
      rows.map { String(repeating: " ", count: $0.depth) + $0.label + ($0.isBranch ? "/" : "") }
        == ["a/", " b", "a-b", "car/", " one/", "  left", " two", "car-x"])
    #expect(
      rows.filter(\.isNav).map(\.path) == ["a/b", "a-b", "car", "car/one/left", "car/two", "car-x"])
    let few = NavTree.rows(["car/two", "car/one/left", "tv"], collapsed: ["car/one"])
    #expect(few.map(\.label) == ["car", "one", "two", "tv"])
    #expect(
      NavTree.rows(["car/two", "tv"], filter: "T", collapsed: ["car"]).map(\.label)
        == ["car", "two", "tv"])
  }

  @Test func `Left closes a branch and Right opens it`() throws {
    var stage = BrowserStage()
    try stage.list(["car/one", "car/two", "tv"])
    stage.type("j", .left)
    #expect(stage.screen.contains("▶  car/"))
    stage.type("", .left)
    #expect(stage.screen.contains("▶  car/ …") && !stage.screen.contains("    one"))
    stage.type("", .right)
    #expect(stage.screen.contains("     one"))
  }

  @Test func `the filter shows matching navs while it is typed, and Esc undoes it`() throws {
    var stage = BrowserStage()
    try stage.list(["bedroom", "kiosk", "kitchen"])
    stage.type("/ki")
    #expect(stage.screen.contains("2 of 3 with ki") && !stage.screen.contains("bedroom"))
    #expect(stage.screen.contains("filter: ki"))
    #expect(stage.browser.frame().cursor == CellPosition(row: 22, column: 10))
    stage.type("t", .enter)
    #expect(stage.screen.contains("1 of 3 with kit"))
    stage.type("/x", .escape)
    #expect(stage.screen.contains("1 of 3 with kit"))
    stage.type("", .escape)
    #expect(stage.screen.contains("bedroom") && stage.browser.frame().cursor == nil)
    stage.type("/zz", .enter)
    #expect(stage.screen.contains("no nav; Esc shows all"))
  }

  @Test func `f holds the changes, and new ones are counted`() throws {
    var stage = BrowserStage()
    try stage.open()
    stage.type("f")
    for _ in 0..<3 { try stage.show("kiosk", ["home"]) }
    #expect(stage.screen.contains("held, 3 newer") && !stage.screen.contains("resync"))
    stage.type("f")
    #expect(
      stage.screen.contains("following") && stage.screen.contains("resync  rev 5  after rev 4"))
    // Scrolling up holds too, and the end follows.
    stage.type("", .tab)
    stage.type("k")
    #expect(stage.screen.contains("held, 1 newer"))
    stage.type("G")
    #expect(stage.screen.contains("following"))
  }

  @Test func `a stream keeps a thousand lines, and what is held stays within them`() {
    var stream = ChangeStream()
    for number in 0..<10 { stream.append("\(number)") }
    stream.hold()
    for number in 10..<5000 { stream.append("\(number)") }
    #expect(stream.count == 5000)
    #expect(stream.lines(columns: 40, rows: 3).map(\.plain) == ["4000"])
    stream.scroll(-10_000)
    #expect(stream.lines(columns: 40, rows: 3).map(\.plain) == ["4000"])
    stream.scroll(2)
    #expect(stream.lines(columns: 40, rows: 2).map(\.plain) == ["4001", "4002"])
    stream.scroll(10_000)
    #expect(stream.isFollowing && stream.lines(columns: 40, rows: 1).map(\.plain) == ["4999"])
  }

  @Test func `a stack that is too high keeps its bar and its position`() throws {
    var stage = BrowserStage()
    _ = stage.browser.firstEffects("kiosk")
    try stage.show("kiosk", (1...30).map { "s\($0)" })
    #expect(stage.screen.contains("▶ s30") && stage.screen.contains("more below"))
    #expect(stage.screen.contains("depth 30"))
    stage.type("jj")
    #expect(stage.screen.contains("… 2 more above") && stage.screen.contains("│ s28"))
    stage.type("G")
    #expect(stage.screen.contains("└ s1 ") && !stage.screen.contains("more below"))
    stage.type("g")
    #expect(stage.screen.contains("▶ s30"))
  }

  @Test func `a lost daemon is shown, and its return`() throws {
    var stage = BrowserStage(isWritable: true)
    try stage.open()
    _ = stage.browser.handle(.lost)
    #expect(stage.screen.contains("disconnected, reconnecting"))
    #expect(stage.screen.contains("[kiosk] as last seen"))
    #expect(stage.type("P").isEmpty)
    #expect(stage.screen.contains("disconnected: nothing was sent"))
    _ = stage.browser.handle(.opened(try BrowserStage.welcome()))
    try stage.show("kiosk", ["home", "dns"])
    #expect(stage.screen.contains("connected") && !stage.screen.contains("as last seen"))
    #expect(stage.screen.contains("▶ dns"))
  }

  @Test func `a nav that does not exist is shown when it is listed`() throws {
    var stage = BrowserStage()
    #expect(BrowserStage.watches(stage.browser.firstEffects("new")) == ["$navs", "new"])
    let error = try refusal(
      #"{"re":"watch","id":1,"code":"no-nav","msg":"there is no nav new","nav":"new","retry":"no"}"#
    )
    _ = stage.browser.handle(.watchEnded(nav: "new", view: .full, .refused(error)))
    #expect(stage.screen.contains("there is no nav new; it is shown when it is there"))
    #expect(BrowserStage.watches(try stage.list(["other"])) == [])
    #expect(BrowserStage.watches(try stage.list(["new", "other"])) == ["new"])
    try stage.show("new", ["home"])
    #expect(stage.screen.contains("▶ home"))
    _ = stage.browser.handle(
      .watchEnded(nav: "new", view: .full, .ended(why: "closed", endpoint: nil)))
    #expect(stage.screen.contains("new was closed") && !stage.screen.contains("▶ home"))
  }

  @Test func `the list has the newest revision of each nav that is in memory`() throws {
    var stage = BrowserStage(columns: 132)
    let opened = stage.browser.handle(.opened(try BrowserStage.welcome()))
    #expect(BrowserStage.watches(opened) == ["$heads"])
    try stage.list(["asleep", "tv"])
    try stage.head("tv", #"{"id":"tv","ver":1,"rev":7,"depth":2,"top":"film","watches":0}"#)
    #expect(stage.screen.contains("rev 7  depth 2  film│"))
    // A user without the right to read all navs has names alone.
    let error = try refusal(
      #"{"id":1,"re":"watch","code":"forbidden","retry":"no","msg":"no right","nav":"$heads"}"#)
    _ = stage.browser.handle(.watchEnded(nav: "$heads", view: .full, .refused(error)))
    #expect(!stage.screen.contains("rev 7") && !stage.screen.contains("forbidden"))
    #expect(NavBrowser.positionTexts(of: try value(#"{"id":"tv","rev":7}"#)) == ["rev 7"])
    #expect(
      NavBrowser.positionTexts(of: try value(#"{"id":"hud","rev":1,"depth":0,"top":""}"#))
        == ["rev 1  depth 0", "rev 1"])
    #expect(NavBrowser.positionTexts(of: try value(#"{"id":"tv","kind":"bar"}"#)).isEmpty)
  }

  @Test func `the error about an unfit terminal names other commands`() {
    func remedy(_ isTerminal: Bool, _ term: String?, isJSON: Bool = false) -> String? {
      UICommand.obstacle(isTerminal: isTerminal, term: term, isJSON: isJSON, nav: "kiosk")?
        .remedy
    }
    #expect(remedy(true, "xterm") == nil)
    #expect(remedy(true, "dumb")?.hasPrefix("navctl watch kiosk, navctl list") == true)
    #expect(remedy(true, nil)?.hasPrefix("navctl watch kiosk, navctl list") == true)
    #expect(remedy(false, "xterm") == "navctl watch kiosk, navctl list")
    #expect(
      remedy(true, "xterm", isJSON: true) == "navctl watch kiosk -o json, navctl list -o json")
  }
}
