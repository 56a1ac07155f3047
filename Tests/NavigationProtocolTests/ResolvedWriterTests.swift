import Testing

@testable import NavigationCore
@testable import NavigationHub

@Suite struct ResolvedWriterTests {
  private func json(_ text: String) -> OpaqueJSON { OpaqueJSON(validated: Array(text.utf8)) }

  private func text(_ nav: NavigationController) -> String {
    String(decoding: nav.encodedBar, as: UTF8.self)
  }

  private func state(_ ids: String...) throws -> NavigationController {
    var nav = NavigationController(revision: Revision(1))
    for id in ids { nav.stack.append(Screen(id: try #require(ScreenID(id)), version: Revision(1))) }
    return nav
  }

  private static let tail =
    #""toolbar":{"visible":false,"items":[]},"#
    + #""orientations":["portrait","landscapeLeft","landscapeRight"],"swipeBack":"#

  @Test func `the bytes of the protocol's example`() throws {
    var nav = try state("home", "wifi")
    nav.stack[0].title = "Home"
    nav.stack[1].title = "Wi-Fi"
    nav.environment.content.backTitleColumns = 12
    let scan = ButtonContent([.set(\.title, "Scan"), .set(\.action, "wifi.scan")])
    nav.stack[1].details.item.rightItems = [
      Button(id: try #require(ButtonID("scan")), content: scan)
    ]
    #expect(
      text(nav) == #"{"top":"wifi","back":"home","visible":"wifi","height":44,"layoutHeight":44,"#
        + #""metrics":"default","left":[{"back":{"text":"Home","source":"title","#
        + #""indicator":"default","candidates":["Home","Back",null],"#
        + #""menu":[{"screen":"home","text":"Home"}]}}],"#
        + #""middle":{"title":"Wi-Fi","placement":"inline"},"right":[{"button":"scan","#
        + #""title":"Scan","action":"wifi.scan","tintApplies":true}],"background":"white","#
        + #""translucent":true,"textColor":"black","tintColor":"blue","#
        + #""shadow":{"hairline":"1/2"},"content":{"top":0},"# + Self.tail + "true}")
  }

  @Test func `an empty stack leaves out what needs a screen`() throws {
    #expect(
      text(try state())
        == #"{"height":44,"layoutHeight":44,"metrics":"default","left":[],"right":[],"#
        + #""background":"white","translucent":true,"textColor":"black","tintColor":"blue","#
        + #""shadow":{"hairline":"1/2"},"content":{"top":0},"# + Self.tail + "false}")
  }

  @Test func `every member that a bar's properties may give, in its place`() throws {
    var nav = try state("a", "b")
    nav.bar.content.isHidden = true
    nav.bar.content.tintColor = "green"
    nav.bar.content.prefersLargeTitles = true
    nav.bar.content.look.translucent = false
    nav.bar.content.look.barStyle = .black
    nav.bar.content.look.titleOffsets[.default] = json("-1.5")
    nav.bar.content.look.titleTextAttributes.color = "gold"
    nav.bar.content.look.titleTextAttributes.font = json(#"{"size":17}"#)
    nav.bar.content.look.backgroundImages[BackgroundSlot(.any, .default)] =
      ImageReference(ref: "wave.png", hasAlpha: true)
    nav.bar.content.look.shadowImage = ImageReference(ref: "line.png")
    nav.bar.content.look.backIndicatorImage = ImageReference(ref: "arrow.png")
    nav.bar.content.look.backIndicatorMask = ImageReference(ref: "mask.png")
    nav.environment.content.backTitleColumns = 4
    nav.stack[0].title = "Notifications"
    nav.stack[1].title = "T"
    nav.stack[1].details.wantsFullScreenLayout = true
    let done = ButtonContent([.set(\.systemItem, .done), .set(\.style, .done)])
    nav.stack[1].details.toolbarItems = [
      Button(id: try #require(ButtonID("d")), content: done)
    ]
    #expect(
      text(nav) == #"{"top":"b","back":"a","visible":"b","height":96,"layoutHeight":0,"#
        + #""metrics":"default","left":[{"back":{"text":"Back","source":"title","#
        + #""indicator":"custom","indicatorImage":"arrow.png","indicatorMask":"mask.png","#
        + #""generic":true,"key":"back.generic","truncated":true,"#
        + #""candidates":["Notifications","Back",null],"#
        + #""menu":[{"screen":"a","text":"Notifications"}]}}],"middle":{"title":"T","#
        + #""placement":"large","attributes":{"font":{"size":17}}},"right":[],"#
        + #""background":"wave.png","backing":"black","imageOpacity":"full","#
        + #""translucent":false,"textColor":"gold","titleOffset":-1.5,"tintColor":"green","#
        + #""shadow":{"image":"line.png"},"content":{"top":0,"extendsUnder":["status","tool"]},"#
        + #""toolbar":{"visible":false,"items":[{"button":"d","systemItem":"done","#
        + #""style":"done","tintApplies":true}]},"orientations":["portrait","landscapeLeft","#
        + #""landscapeRight"],"swipeBack":false}"#)
  }

  @Test func `an appearance object stands for the members that it decides`() throws {
    var nav = try state("a")
    nav.bar.content.appearance[.standard] = json(#"{"background":"red"}"#)
    nav.environment.content.isAtScrollEdge = true
    nav.stack[0].details.item.titleView = TitleView(view: json(#""logo""#), height: json("60"))
    #expect(
      text(nav) == #"{"top":"a","visible":"a","height":44,"layoutHeight":44,"metrics":"default","#
        + #""left":[],"middle":{"customView":"logo","height":60,"overflow":true},"right":[],"#
        + #""appearance":{"slot":"standard","from":"bar","transparent":true},"translucent":true,"#
        + #""tintColor":"blue","content":{"top":0},"# + Self.tail + "false}")
    nav.environment.content.isAtScrollEdge = false
    nav.stack[0].details.item.appearance[.standard] = json("{}")
    #expect(
      text(nav).contains(#""appearance":{"slot":"standard","from":"item","transparent":false}"#))
  }

  @Test func `a shadow may be none, a hairline thin, an image dimmed, a title blank`() throws {
    var nav = try state("a")
    nav.stack[0].title = ""
    nav.environment.content.scale = json("3")
    #expect(text(nav).contains(#""shadow":{"hairline":"1/3"}"#))
    #expect(text(nav).contains(#""middle":{"title":""},"#))
    nav.bar.content.look.backgroundImages[BackgroundSlot(.any, .default)] =
      ImageReference(ref: "i")
    nav.bar.content.look.translucent = true
    nav.bar.content.look.shadowImage = ImageReference(ref: "", isEmpty: true)
    #expect(text(nav).contains(#""shadow":{"none":true}"#))
    #expect(text(nav).contains(#""background":"i","imageOpacity":"system","translucent":true"#))
  }
}
