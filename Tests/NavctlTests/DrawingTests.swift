import NavigationCore
import Testing

@testable import navctl

@Suite struct BarDrawingTests {
  private let back = #"{"back":{"text":"Home","source":"title"}}"#

  private func bar(_ resolved: String, columns: Int = 40) throws -> String {
    BarDrawing(columns: columns).line(try value(resolved)).plain
  }

  @Test func `back button, title and buttons stand left, centred and right`() throws {
    let text = try bar(
      #"{"left":[\#(back)],"middle":{"title":"Wi-Fi"},"right":[{"button":"scan","title":"Scan"}]}"#)
    #expect(text == "‹ Home           Wi-Fi            [Scan]")
  }

  @Test func `what stands below a title stands behind it`() throws {
    #expect(
      try bar(#"{"middle":{"title":"Mail","subtitle":"3 new","menu":[]}}"#)
        == "             Mail · 3 new ▾")
    #expect(try bar(#"{"middle":{"title":"","subtitleView":{"view":"v"}}}"#).hasSuffix(" · (v)"))
  }

  @Test func `the first right button is right-most`() throws {
    let text = try bar(
      #"{"right":[{"button":"a","title":"A"},{"button":"b","systemItem":"add"}]}"#)
    #expect(text == "                              [add]  [A]")
  }

  @Test func `wide characters take two columns`() throws {
    let text = try bar(
      #"{"left":[{"back":{"text":"主页"}}],"middle":{"title":"无线局域网"},"right":[{"title":"扫描"}]}"#)
    #expect(text == "‹ 主页         无线局域网         [扫描]")
    #expect(TerminalText.width(text) == 40)
  }

  @Test func `a long title gives way to its neighbours before it is cut`() throws {
    let text = try bar(
      #"{"left":[\#(back)],"middle":{"title":"A title of thirty-two columns,,,"}}"#)
    #expect(text == "‹ Home  A title of thirty-two columns,,,")
    let cut = try bar(
      #"{"left":[\#(back)],"middle":{"title":"A title of thirty-three columns,,,"}}"#)
    #expect(cut == "‹ Home  A title of thirty-three columns…")
  }

  @Test func `neither side takes more than its half`() throws {
    let long = String(repeating: "字", count: 60)
    let text = try bar(
      #"{"left":[{"back":{"text":"\#(long)"}}],"middle":{"title":"T"},"right":[{"title":"\#(long)"}]}"#,
      columns: 80)
    #expect(TerminalText.width(text) <= 80)
    #expect(text.contains(" T "))
  }

  @Test(arguments: [
    (#"{"left":[{"back":{"image":{"ref":"arrow.png"}}}]}"#, "‹ <arrow.png>"),
    (#"{"left":[{"back":{"text":null}}]}"#, "‹"),
    (#"{"left":[{"button":"x","image":{"ref":"wave.png"}}]}"#, "[<wave.png>]"),
    (#"{"left":[{"button":"x","customView":"clock"}]}"#, "[(clock)]"),
    (#"{"left":[{"button":"x"}]}"#, "[x]"),
    (#"{"left":[{"back":{"image":"i","accessibilityLabel":"L"}}]}"#, #"‹ <i> "L""#),
    (#"{"left":[{"back":{"accessibilityLabel":"L"}}]}"#, #"‹ "L""#),
    (#"{"left":[],"middle":{"title":""}}"#, ""),
    ("{}", ""),
  ])
  func `what is not text is named`(resolved: String, expected: String) throws {
    #expect(try bar(resolved) == expected)
  }

  @Test func `a title cannot steer the terminal`() throws {
    let text = try bar(#"{"middle":{"title":"a\u001b[2Jb\nc\u202ed\u009b"}}"#)
    #expect(text.drop { $0 == " " } == "a\u{FFFD}[2Jb\u{FFFD}c\u{FFFD}d\u{FFFD}")
  }
}

@Suite struct StateDrawingTests {
  static let state = #"""
    {"nav":"kiosk","kind":"controller","epoch":"c0ffee12c0ffee12","rev":18,"screens":[
     {"id":"home","ver":3,"title":"Home","route":"home"},
     {"id":"wifi","ver":18,"title":"Wi-Fi","route":"settings/wifi","args":{"ssid":"attic"}}],
     "bar":{"ver":1},"settings":{"ver":2,"attached":true},
     "resolved":{"left":[{"back":{"text":"Home"}}],"middle":{"title":"Wi-Fi"},
      "right":[{"button":"scan","title":"Scan"}]},"dig":"985cc24d0000000000000000"}
    """#

  private func draw(_ state: String, columns: Int = 80) throws -> [String] {
    StateDrawing(columns: columns).lines(try value(state)).map(\.plain)
  }

  private let rule = String(repeating: "─", count: 80)

  @Test func `the bar stands above the stack, whose top is first`() throws {
    #expect(
      try draw(Self.state) == [
        "‹ Home                               Wi-Fi                                [Scan]",
        rule,
        "▶ wifi  \"Wi-Fi\"  settings/wifi {\"ssid\":\"attic\"}",
        "└ home  \"Home\"   home",
        rule,
        "kiosk  rev 18  epoch c0ffee12c0ffee12  digest 985cc24d0000000000000000  depth 2",
      ])
  }

  @Test func `a Chinese nav is drawn in 80 columns`() throws {
    let lines = try draw(
      #"""
      {"nav":"mall","epoch":"c0ffee12c0ffee12","rev":7,"screens":[
       {"id":"root","ver":1,"title":"主页","route":"home"},
       {"id":"s5.1","ver":5,"title":"商品详情","route":"item"},
       {"id":"pay","ver":7,"title":"付款","item":{"title":"确认付款并提交订单","prompt":"请勿关闭"}}],
       "settings":{"ver":1},
       "resolved":{"left":[{"back":{"text":"商品详情"}}],"middle":{"title":"确认付款并提交订单"},
        "right":[]},"dig":"0badcafe0000000000000000"}
      """#)
    #expect(
      lines == [
        "                                    请勿关闭",
        "‹ 商品详情                     确认付款并提交订单",
        rule,
        "▶ pay   \"确认付款并提交订单\"",
        "│ s5.1  \"商品详情\"            item",
        "└ root  \"主页\"                home",
        rule,
        "mall  rev 7  epoch c0ffee12c0ffee12  digest 0badcafe0000000000000000  depth 3",
        "  detached",
      ])
  }

  @Test func `an empty stack says so`() throws {
    let lines = try draw(
      #"{"nav":"k","epoch":"c0ffee12c0ffee12","rev":1,"screens":[],"resolved":{},"settings":{}}"#)
    #expect(lines[2] == "  (the stack is empty)")
  }

  @Test func `a hidden bar is not drawn as if it were there`() throws {
    let lines = try draw(
      #"{"nav":"k","rev":1,"screens":[],"bar":{"hidden":true},"resolved":{"middle":{"title":"T"}}}"#
    )
    #expect(lines[0].trimmingPrefix { $0 == " " } == "(the bar is hidden)")
  }

  @Test(arguments: [20, 40, 80, 200]) func `no line of the table is too long`(columns: Int) throws {
    let long = String(repeating: "长title", count: 40)
    let lines = try draw(
      #"""
      {"nav":"k","rev":1,"screens":[{"id":"\#(String(repeating: "i", count: 64))","title":"\#(long)",
       "route":"\#(long)"}],"resolved":{"middle":{"title":"\#(long)"},"left":[{"back":{"text":"\#(long)"}}]}}
      """#, columns: columns)
    for line in lines.dropLast() { #expect(TerminalText.width(line) <= columns) }
  }

  @Test func `colour is only there when asked for`() throws {
    let lines = StateDrawing().lines(try value(Self.state))
    #expect(!lines.contains { $0.rendered(isColoured: false).contains("\u{1B}") })
    #expect(lines[0].rendered(isColoured: true).contains("\u{1B}[1mWi-Fi\u{1B}[0m"))
  }
}

@Suite struct LayoutTests {
  @Test func `short values stay on a line, long ones are spread`() throws {
    let json = try value(#"{"a":[1,2,3],"b":{"c":"a text that is rather long","d":null},"e":[]}"#)
    #expect(
      json.lines(columns: 40) == [
        "{", #"  "a": [1,2,3],"#, #"  "b": {"#, #"    "c": "a text that is rather long","#,
        #"    "d": null"#, "  },", #"  "e": []"#, "}",
      ])
  }

  @Test func `a layout loses no character, and in ASCII has escapes`() throws {
    let json = try value(#"{"é\u202e":["\u009b","Wi-Fi \u200f"]}"#)
    for isASCII in [false, true] {
      for columns in [10, 80] {
        let text = json.lines(columns: columns, isASCII: isASCII).joined()
        #expect(try JSONValue(Array(text.utf8)).members.map(\.name) == ["é\u{202E}"])
        #expect(text.contains(#""\u009b""#) && text.contains(#"Wi-Fi \u200f"#))
        #expect(text.contains(isASCII ? #"\u00e9\u202e"# : #"é\u202e"#))
      }
    }
  }

  @Test func `a wide character takes two columns of a line`() throws {
    let json = try value(#"{"a":["长长长长长长","长长长长长长"]}"#)
    #expect(
      json.lines(columns: 26) == [
        "{", #"  "a": ["#, #"    "长长长长长长","#, #"    "长长长长长长""#, "  ]", "}",
      ])
    #expect(json.lines(columns: 37).count == 1 && json.lines(columns: 36).count == 6)
  }

  @Test func `columns are as wide as their widest cell`() throws {
    let records = [
      try value(#"{"id":"a/长","kind":"controller","epoch":"00","owner":"uid:1000"}"#),
      try value(#"{"id":"kiosk","kind":"bar","epoch":"11"}"#),
    ]
    let heads = [
      try value(#"{"id":"kiosk","ver":9,"rev":12,"depth":2,"top":"wifi","t":0,"watches":3}"#),
      try value(#"{"id":"other","ver":9,"rev":1,"depth":0,"t":0,"watches":0}"#),
    ]
    #expect(
      Tables.navs(records) == [
        "NAV    REV  DEPTH  TOP  WATCHES  CHANGED  OWNER",
        "a/长   -    -      -    -        -        uid:1000",
        "kiosk  -    -      -    -        -        -",
      ])
    let joined = DirectoryNav.join(navs: records, positions: heads)
    #expect(
      Tables.navs(joined) == [
        "NAV    REV  DEPTH  TOP   WATCHES  CHANGED               OWNER",
        "a/长   -    -      -     -        -                     uid:1000",
        "kiosk  12   2      wifi  3        1970-01-01T00:00:00Z  -",
      ])
    #expect(
      joined.map { $0.plainText }.last
        == #"{"id":"kiosk","kind":"bar","epoch":"11","ver":9,"rev":12,"depth":2,"top":"wifi","t":0,"#
        + #""watches":3}"#)
  }

  @Test func `a log entry is a line`() throws {
    let entry = try value(
      #"""
      {"rev":18,"t":1732147200123,"cause":"api","by":{"name":"shell","op":6,"principal":"uid:0"},
       "do":["push","item.set"],"before":"b578b3010000000000000000","dig":"985cc24d0000000000000000"}
      """#)
    #expect(
      Tables.log([entry])[1]
        == "18   2024-11-21T00:00:00Z  api    shell uid:0  push,item.set  985cc24d0000000000000000")
  }

  @Test(arguments: [
    (0, "1970-01-01T00:00:00Z"), (951_782_400_000, "2000-02-29T00:00:00Z"),
    (4_107_542_399_999, "2100-02-28T23:59:59Z"),
  ])
  func `times are written in UTC`(milliseconds: UInt64, expected: String) {
    #expect(Tables.utc(milliseconds: milliseconds) == expected)
  }

  @Test func `members of members are joined with dots`() throws {
    #expect(
      Tables.members(try value(#"{"navs":3,"journal":{"bytes":10,"rows":[1,2]}}"#)) == [
        "navs           3", "journal.bytes  10", "journal.rows   [1,2]",
      ])
  }
}
