import NavigationCore
import Testing

@testable import navctl

/// The parts of a state around its stack, from snapshots as the daemon sends them.
@Suite struct PartDrawingTests {
  private let rule = String(repeating: "─", count: 80)

  private func draw(_ members: String, elapsed: UInt64? = nil) throws -> [String] {
    let state = try value(
      #"""
      {"nav":"kiosk","kind":"controller","epoch":"c0ffee12c0ffee12","rev":18,"i":0,"last":true,
       "screens":[{"id":"home","ver":3,"title":"Home","route":"home"},
        {"id":"wifi","ver":18,"title":"Wi-Fi","route":"settings/wifi"}],
       "settings":{"ver":2,"attached":true},"dig":"985cc24d0000000000000000",\#(members)}
      """#)
    return StateDrawing().lines(state, elapsed: elapsed).map(\.plain)
  }

  @Test func `the complete snapshot of the protocol is drawn`() throws {
    let lines = try draw(
      #"""
      "bar":{"ver":1},"toolbar":{"ver":1},"presented":{"ver":1},"transition":{"ver":1},
      "environment":{"ver":9,"owner":"shell","backTitleBudget":12},
      "resolved":{"top":"wifi","back":"home","visible":"wifi","height":44,"layoutHeight":44,
       "metrics":"default","left":[{"back":{"text":"Home","source":"title","indicator":"default",
        "candidates":["Home","Back",null]}}],"middle":{"title":"Wi-Fi","placement":"inline"},
       "right":[{"button":"scan","title":"Scan","action":"wifi.scan","tintApplies":true}],
       "background":"white","translucent":true,"textColor":"black","tintColor":"blue",
       "shadow":{"hairline":"1/2"},"content":{"top":0},"toolbar":{"visible":false,"items":[]},
       "orientations":["portrait"],"swipeBack":true}
      """#)
    #expect(
      lines == [
        "‹ Home                               Wi-Fi                                [Scan]", rule,
        "▶ wifi  \"Wi-Fi\"  settings/wifi", "└ home  \"Home\"   home", rule,
        "kiosk  rev 18  epoch c0ffee12c0ffee12  digest 985cc24d0000000000000000  depth 2",
        "  display shell",
      ])
  }

  @Test func `a large title has a line of its own under the bar`() throws {
    let lines = try draw(
      #"""
      "resolved":{"left":[{"back":{"text":"Home"}}],
       "middle":{"title":"无线局域网","placement":"large"},"right":[{"button":"s","title":"扫描"}]}
      """#)
    #expect(lines[0].hasPrefix("‹ Home  ") && lines[0].hasSuffix("[扫描]"))
    #expect(TerminalText.width(lines[0]) == 80)
    #expect(lines[1] == "无线局域网")
    #expect(lines[2] == rule)
  }

  @Test func `a hidden bar says why, and its prompt is hidden with it`() throws {
    let lines = try draw(
      #"""
      "bar":{"ver":4,"hidden":true,"hid":{"cause":"swipe","toolbar":false}},
      "resolved":{"middle":{"title":"Wi-Fi"},"layoutHeight":0}
      """#)
    #expect(lines[0].trimmingPrefix { $0 == " " } == "(the bar is hidden, by swipe)")
    #expect(lines[1] == rule)
  }

  @Test func `the toolbar stands under the stack, its flexible spaces take the room`() throws {
    let lines = try draw(
      #"""
      "toolbar":{"ver":5,"hidden":false},
      "resolved":{"toolbar":{"visible":true,"items":[{"button":"a","title":"分享"},
       {"button":"b","systemItem":"flexibleSpace"},{"button":"c","systemItem":"add"},
       {"button":"d","systemItem":"flexibleSpace"},{"button":"e","image":{"ref":"x.png"}}]}}
      """#)
    let toolbar = lines[lines.count - 2]
    #expect(toolbar.hasPrefix("[分享] ") && toolbar.hasSuffix("  [<x.png>]"))
    #expect(toolbar.contains(" [add] "))
    #expect(TerminalText.width(toolbar) == 80)
  }

  @Test func `without resolved the toolbar follows its part`() throws {
    let lines = try draw(#""toolbar":{"ver":5,"hidden":false}"#)
    #expect(lines[lines.count - 2].trimmingPrefix { $0 == " " } == "(the toolbar is empty)")
    #expect(try draw(#""toolbar":{"ver":5}"#).count == lines.count - 1)
  }

  @Test func `what is presented lies above the stack, the outermost first`() throws {
    let lines = try draw(
      #"""
      "presented":{"ver":7,"chain":[
       {"screen":{"id":"pin","ver":6,"title":"PIN"},"from":"wifi","style":"overCurrentContext",
        "covers":"wholeNavigationInterface","contextOwner":"controller"},
       {"screen":{"id":"help","ver":7,"title":"帮助"},"from":"pin","style":"formSheet",
        "covers":"byStyle"}]}
      """#)
    #expect(
      lines[1...2] == [
        "◆ help  \"帮助\"   presented by pin formSheet",
        "◆ pin   \"PIN\"    presented by wifi overCurrentContext over the bar",
      ])
    #expect(lines[3].hasPrefix("▶ wifi"))
  }

  @Test func `a running transition says what moves and how long it may`() throws {
    let members =
      #""transition":{"ver":19,"tid":19,"op":"push","from":"home","to":"wifi","#
      + #""phase":"animating","animator":"fade","duration":500,"deadline":1000}"#
    let lines = try draw(members)
    #expect(
      lines[4...5] == [
        "⇄ push home → wifi  animating  transition 19  animator fade  lasts 500 ms",
        "  ends within 1000 ms",
      ])
    #expect(try draw(members, elapsed: 300)[5] == "  700 of 1000 ms left")
    #expect(try draw(members, elapsed: 3000)[5] == "  0 of 1000 ms left")
  }

  @Test func `a gesture rests for a while at most`() throws {
    let lines = try draw(
      #"""
      "transition":{"ver":19,"tid":19,"op":"pop","from":"wifi","to":"home","phase":"interactive",
       "owner":"shell","driver":"edge","deadline":10000,"barChange":{"hidden":true}}
      """#, elapsed: 5)
    #expect(
      lines[4] + lines[5]
        == "⇄ pop wifi → home  interactive  transition 19  driver edge  owner shell"
        + "  ends 10000 ms after its last update  bar hides")
  }

  @Test func `a standalone bar has items`() throws {
    let state = try value(
      #"""
      {"nav":"hud","kind":"bar","epoch":"c0ffee12c0ffee12","rev":2,"screens":[
       {"id":"i","ver":2,"item":{"title":"Owen"}}],"bar":{"ver":1},"toolbar":{"ver":1},
       "presented":{"ver":1},"transition":{"ver":1},"environment":{"ver":1},"settings":{"ver":1},
       "resolved":{"middle":{"title":"Owen"}},"dig":"000000000000000000000000"}
      """#)
    let lines = StateDrawing().lines(state).map(\.plain)
    #expect(lines[2] == "▶ i  \"Owen\"")
    #expect(lines.suffix(2).joined().contains("items 1"))
    #expect(lines.last?.hasSuffix("standalone bar") == true)
    let empty = try value(#"{"nav":"hud","kind":"bar","rev":1,"screens":[]}"#)
    #expect(StateDrawing().lines(empty).map(\.plain)[1] == "  (no items)")
  }

  @Test(arguments: [20, 40, 80]) func `no line of any part is too long`(columns: Int) throws {
    let long = String(repeating: "长title", count: 30)
    let state = try value(
      #"""
      {"nav":"\#(String(repeating: "n", count: 128))","epoch":"c0ffee12c0ffee12","rev":18,
       "screens":[{"id":"a","ver":1,"item":{"prompt":"\#(long)"}}],"dig":"985cc24d0000000000000000",
       "settings":{"ver":1},"environment":{"ver":1,"owner":"\#(long)"},
       "presented":{"ver":1,"chain":[{"screen":{"id":"p","title":"\#(long)"},"style":"\#(long)"}]},
       "transition":{"ver":2,"tid":2,"op":"push","from":"\#(long)","to":"\#(long)",
        "phase":"animating","animator":"\#(long)","deadline":1000},
       "resolved":{"middle":{"title":"\#(long)","placement":"large"},
        "toolbar":{"visible":true,"items":[{"title":"\#(long)"},{"systemItem":"flexibleSpace"},
        {"title":"\#(long)"}]}}}
      """#)
    for line in StateDrawing(columns: columns).lines(state) {
      #expect(line.width <= columns, "\(line.plain)")
    }
  }

  @Test func `the history fits, whoever did whatever`() throws {
    let entries = [
      try value(
        #"""
        {"rev":18,"t":1732147200123,"cause":"api","by":{"name":"shell","principal":"uid:0"},
         "do":["push","item.set"],"dig":"985cc24d0000000000000000"}
        """#),
      try value(
        #"""
        {"rev":19,"t":1732147201123,"cause":"backButton","do":["ui.backTap"],
         "by":{"name":"\#(String(repeating: "长", count: 40))"}}
        """#),
    ]
    let lines = Tables.history(entries, tops: ["wifi", nil])
    #expect(lines[0].hasPrefix("REV  TIME                  WHO"))
    #expect(lines[1].hasSuffix("push,item.set           wifi"))
    #expect(lines[2].contains("backButton: ui.backTap  -"))
    #expect(lines.allSatisfy { TerminalText.width($0) <= 80 })
  }

  @Test func `an event is a line`() throws {
    var reader = ServerMessageReader()
    let body =
      #"{"nav":"kiosk","epoch":"c0ffee12c0ffee12","rev":22,"ev":[{"buttonActivated":"#
      + #"{"button":"scan","action":"wifi.scan"}}]}"#
    let message = try reader.read(verb: ServerVerb.event.frame, body: Array(body.utf8))
    guard case .event(let event) = message else { throw UsageError("not an event") }
    #expect(
      WatchLines.event(event) == "event  rev 22  buttonActivated button scan action wifi.scan")
    #expect(String(decoding: MirrorText.event(event), as: UTF8.self) == body)
  }
}
