import CommandLineOptions
import NavigationCore
import Testing

@testable import navctl

/// One state that has everything, in the widths that terminals have.
@Suite struct RichDrawingTests {
  private func draw(columns: Int, bar: String = #"{"ver":1}"#) throws -> [String] {
    let state = try value(
      #"""
      {"nav":"kiosk","kind":"controller","epoch":"c0ffee12c0ffee12","rev":18,"i":0,"last":true,
       "screens":[{"id":"home","ver":3,"title":"主页 🏠"},
        {"id":"wifi","ver":17,"title":"é̂tude: Wi-Fi 与 很长的标题 in the middle of everything",
         "route":"settings/wifi","args":{"ssid":"attic"},"item":{"prompt":"请选择网络 — choose"}}],
       "bar":\#(bar),"settings":{"ver":2,"attached":true},"dig":"985cc24d0000000000000000",
       "presented":{"ver":7,"chain":[
        {"screen":{"id":"pin","ver":6,"title":"警告：这是一个非常长的标题，用来测试宽字符的显示是否正确以及截断"},
         "from":"wifi","style":"formSheet","covers":"byStyle"}]},
       "transition":{"ver":18,"tid":18,"op":"push","from":"home","to":"wifi","phase":"animating",
        "deadline":1000},
       "resolved":{"left":[{"back":{"text":"主页 🏠"}},{"button":"e","title":"编辑"}],
        "middle":{"title":"é̂tude: Wi-Fi 与 很长的标题 in the middle of everything",
         "placement":"large"},
        "right":[{"button":"s","title":"扫描"},{"button":"m","title":"More"}],
        "toolbar":{"visible":true,"items":[{"button":"t","title":"共享"},
         {"button":"f","systemItem":"flexibleSpace"},{"button":"a","systemItem":"add"}]}}}
      """#)
    let lines = StateDrawing(columns: columns).lines(state, elapsed: 40)
    for line in lines { #expect(line.width <= columns, "\(line.plain)") }
    return lines.map(\.plain)
  }

  @Test func `everything fits into 80 columns`() throws {
    let rule = String(repeating: "─", count: 80)
    let lines = try draw(columns: 80)
    #expect(
      lines == [
        "                              请选择网络 — choose",
        "‹ 主页 🏠  [编辑]                                                 [More]  [扫描]",
        "é̂tude: Wi-Fi 与 很长的标题 in the middle of everything", rule,
        "◆ pin   \"警告：这是一个非常长的标题，用来测试…\"   presented by wifi formSheet",
        "▶ wifi  \"é̂tude: Wi-Fi 与 很长的标题 in the mid…\"  settings/wifi {\"ssid\":\"attic\"}",
        "└ home  \"主页 🏠\"", rule,
        "[共享]                                                                     [add]",
        "⇄ push home → wifi  animating  transition 18  960 of 1000 ms left",
        "kiosk  rev 18  epoch c0ffee12c0ffee12  digest 985cc24d0000000000000000  depth 2",
      ], "\n\(lines.joined(separator: "\n"))")
  }

  @Test func `everything fits into 40 columns`() throws {
    let rule = String(repeating: "─", count: 40)
    let lines = try draw(columns: 40)
    #expect(
      lines == [
        "          请选择网络 — choose", "‹ 主页 🏠  [编辑]         [More]  [扫描]",
        "é̂tude: Wi-Fi 与 很长的标题 in the middl…", rule,
        "◆ pin   \"警告：这…\"  presented by wifi …",
        "▶ wifi  \"é̂tude: W…\"  settings/wifi {\"ss…", "└ home  \"主页 🏠\"", rule,
        "[共享]                             [add]", "⇄ push home → wifi  animating",
        "  transition 18  960 of 1000 ms left", "kiosk  rev 18  epoch c0ffee12c0ffee12",
        "  digest 985cc24d0000000000000000", "  depth 2",
      ], "\n\(lines.joined(separator: "\n"))")
  }

  @Test func `with a hidden bar neither prompt nor title are there`() throws {
    let lines = try draw(columns: 80, bar: #"{"ver":4,"hidden":true}"#)
    #expect(lines[0].trimmingPrefix { $0 == " " } == "(the bar is hidden)")
    #expect(lines[1].hasPrefix("──"))
  }

  @Test func `a screen without a title is told from one with an empty title`() throws {
    let state = try value(
      #"{"nav":"k","rev":1,"screens":[{"id":"a"},{"id":"b","title":""}],"settings":{"attached":true}}"#
    )
    let lines = StateDrawing().lines(state).map(\.plain)
    #expect(lines[1...2] == ["▶ b  \"\"", "└ a  -"])
  }
}
