@testable import NavigationCore
@testable import NavigationHub
import Testing

/// What bars look like, and what the display reports.
@Suite struct BarOperationTests {
  private let red = OpaqueJSON(validated: Array(#"{"background":"red"}"#.utf8))

  @Test func `bar.set changes its members, and equal values are no change`() throws {
    var nav = try Nav("A")
    let image = ImageReference(ref: "i", hasAlpha: true)
    let edits: [Edit<Bar>] = [
      .set(\.look.barStyle, .black), .set(\.look.translucent, false),
      .set(\.look.barTintColor, "orange"),
      .set(\.look.titleOffsets, [.compact: OpaqueJSON(validated: [0x31])]),
      .set(\.look.backgroundImages, [BackgroundSlot(.any, .default): image]),
      .set(\.look.shadowImage, image), .set(\.look.backIndicatorImage, image),
      .set(\.look.backIndicatorMask, image), .set(\.tintColor, "green"),
      .set(\.backgroundColor, "red"),
      .set(\.prefersLargeTitles, true),
    ]
    try nav.run(.setBar(edits))
    #expect(nav.commit?.parts == [.bar])
    #expect(nav.events == [])
    for edit in edits { try nav.runsWithoutEffect(.setBar([edit])) }
    try nav.runsWithoutEffect(
      .setBar([.set(\.tintColor, "blue")]), .setBar([.set(\.tintColor, "green")]))
    #expect(nav.controller.bar.content.look.barTintColor == "orange")
  }

  @Test func `toolbar.set changes its members`() throws {
    var nav = try Nav("A")
    try nav.run(
      .setToolbar([
        .set(\.barStyle, .black), .set(\.tintColor, "t"), .set(\.barTintColor, "b"),
        .set(\.translucent, true),
      ]))
    #expect(nav.commit?.parts == [.toolbar])
    #expect(nav.controller.toolbar.content.isHidden)
    try nav.runsWithoutEffect(.setToolbar([.set(\.tintColor, "t")]))
  }

  @Test(arguments: AppearanceSlot.allCases)
  func `an appearance object belongs to the bar, or to one item`(
    slot: AppearanceSlot
  ) throws {
    var nav = try Nav("A", "B", detached: ["D"])
    try nav.run(.setAppearance(slot, red, screen: nil))
    #expect(nav.commit?.parts == [.bar])
    #expect(nav.controller.bar.content.appearance[slot] == red)
    try nav.run(.setAppearance(slot, red, screen: "A"))
    #expect(nav.commit?.parts == [])
    #expect(nav.commit?.changedScreenIndexes == [0])
    #expect(nav.controller.stack[0].item.appearance[slot] == red)
    try nav.runsWithoutEffect(.setAppearance(slot, red, screen: "A"))
    try nav.run(.setAppearance(slot, red, screen: "D"))
    try nav.run(.setAppearance(slot, nil, screen: nil))
    #expect(nav.controller.bar.isDefault)
    nav.refuses(.setAppearance(slot, red, screen: "Z"), with: .unknownScreen("Z"))
  }

  @Test func `a proxy is set for declared classes, of toolbars too`() throws {
    var nav = try Nav("A")
    nav.context.isBarByClass = ["MyBar": true, "MyTools": false]
    try nav.run(.setProxy(className: "MyBar", [.set(\.look.barTintColor, "red")]))
    #expect(nav.commit?.parts == [.settings])
    #expect(nav.controller.settings.content.appearanceProxies["MyBar"]?.barTintColor == "red")
    try nav.runsWithoutEffect(.setProxy(className: "MyBar", [.set(\.look.barTintColor, "red")]))
    try nav.run(.setProxy(className: "MyBar", [.set(\.look.barTintColor, nil)]))
    #expect(nav.controller.settings.content.appearanceProxies == [:])
    nav.refuses(.setProxy(className: "Other", []), with: .unknownClass("Other"))
    for name in ["MyTools", "Toolbar"] {
      try nav.run(
        .setProxy(
          className: name,
          [
            .set(\.look.barTintColor, "red"), .set(\.look.barStyle, .black),
            .set(\.look.translucent, false),
          ]))
      nav.refuses(
        .setProxy(className: name, [.set(\.look.shadowImage, ImageReference(ref: "s"))]),
        with: .invalidArgument("the look of a toolbar is barStyle, translucent and barTintColor"))
    }
  }

  @Test func `env.set changes what the display reports`() throws {
    var nav = try Nav("A")
    let edits: [Edit<Environment>] = [
      .set(\.isPhone, false), .set(\.isVerticallyCompact, true), .set(\.isAtScrollEdge, true),
      .set(\.showsKeyboard, true),
      .set(\.scale, OpaqueJSON(validated: [0x33])), .set(\.statusBarHeight, 44),
      .set(\.backTitleColumns, 12),
      .set(\.locale, "zh-Hans"), .set(\.orientation, .landscapeLeft),
      .set(\.barPosition, .topAttached),
    ]
    try nav.run(.setEnvironment(edits))
    #expect(nav.commit?.parts == [.environment])
    try nav.runsWithoutEffect(.setEnvironment(edits))
    try nav.runsWithoutEffect(.setEnvironment([]))
  }

  @Test func `bar and settings together stay within their limit`() throws {
    var nav = try Nav("A")
    let big = OpaqueJSON(validated: [UInt8](repeating: 0x31, count: 60_000))
    try nav.run(.setAppearance(.standard, big, screen: nil))
    try nav.run(.configure([.set(\.container, big)]))
    let limit = nav.context.limits.barAndSettingsBytes
    nav.refuses(.setAppearance(.compact, big, screen: nil), with: .sizeLimit(limit))
    nav.refuses(.configure([.set(\.routes, big)]), with: .sizeLimit(limit))
    try nav.run(.setAppearance(.standard, nil, screen: nil))
  }
}

/// Random operations on bars; the laws of every message hold, replay and net effect among them.
@Suite struct BarLawTests {
  @Test(arguments: UInt64(1)...20)
  func `random operations on bars keep the laws`(seed: UInt64) throws {
    var nav = try Nav("A", detached: ["B", "C"])
    try nav.run(
      .setScreen("A", [.toolbarItems([.new("x")])]),
      .setScreen("B", [.set(\.prefersBarHidden, true)]),
      .setScreen("C", [.set(\.prefersBarHidden, false), .toolbarItems([.id("x")])]))
    var state = seed
    func below(_ bound: UInt64) -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return (state >> 33) % bound
    }
    func operation() -> Operation {
      let flag = below(2) == 0
      switch below(16) {
      case 0: return .setBarHidden(flag)
      case 1: return .setToolbarHidden(flag)
      case 2, 3: return .tapContent
      case 4: return .swipeContent(flag ? .up : .down)
      case 5: return .setEnvironment([.set(\.isVerticallyCompact, flag)])
      case 6: return .setEnvironment([.set(\.showsKeyboard, flag)])
      case 7: return .configure([.set(\.hidesBarsOnTap, flag)])
      case 8: return .configure([.set(\.hidesBarsOnSwipe, flag)])
      case 9: return .configure([.set(\.hidesBarsWhenKeyboardAppears, flag)])
      case 10: return .configure([.set(\.hidesBarsWhenVerticallyCompact, flag)])
      case 11: return .setStack(flag ? "A" : "C")
      case 12: return .setStack("A", flag ? "B" : "C")
      case 13: return .setBar([.set(\.prefersLargeTitles, flag)])
      case 14: return .setProxy(className: "NavigationBar", [.set(\.look.translucent, flag)])
      default: return .setScreen("A", [.toolbarItems(flag ? [] : [.id("x")])])
      }
    }
    for _ in 0..<200 {
      let old = nav.controller
      try nav.send((0...below(4)).map { _ in operation() })
      let hasChanged =
        old.bar.content.isHidden != nav.controller.bar.content.isHidden
        || old.toolbar.content.isHidden != nav.controller.toolbar.content.isHidden
      if case .barsVisibilityChanged(let bar, let toolbar, _)? = nav.events.last {
        #expect(hasChanged)
        #expect(bar == !nav.controller.bar.content.isHidden)
        #expect(toolbar == !nav.controller.toolbar.content.isHidden)
      } else {
        #expect(!hasChanged)
      }
    }
  }
}
