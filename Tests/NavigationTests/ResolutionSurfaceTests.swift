@testable import NavigationCore
@testable import NavigationHub
import Testing

@Suite struct ResolutionSurfaceTests {
  private static let opaque = ImageReference(ref: "opaque")
  private static let alpha = ImageReference(ref: "alpha", hasAlpha: true)
  private static let slot = BackgroundSlot(.any, .default)

  private func resolved(_ set: (inout BarLook) -> Void) -> ResolvedBar {
    state { set(&$0.look) }.resolvedBar()
  }

  @Test func `C-211 the default bar is white, translucent and has a hairline`() {
    let bar = state().resolvedBar()
    #expect(
      bar.properties
        == ResolvedBar.SurfaceProperties(
          background: .color("white"), textColor: "black", attributes: TitleTextAttributes(),
          titleOffset: nil, shadow: .hairline(isThirdOfPoint: false)))
    #expect(bar.isTranslucent)
    #expect(bar.tintColor == "blue")
  }

  @Test(
    arguments: [
      (nil, nil, "white", "black"), (.default, nil, "white", "black"),
      (.black, nil, "black", "white"),
      (.black, "orange", "orange", "white"), (nil, "orange", "orange", "black"),
    ] as [(BarStyle?, String?, String, String)])
  func `C-212 C-213 C-243 a colour beats the style's background, not its text`(
    style: BarStyle?, tint: String?, background: String, text: String
  ) {
    let bar = resolved {
      $0.barStyle = style
      $0.barTintColor = tint
    }
    #expect(bar.properties?.background == .color(background))
    #expect(bar.properties?.textColor == text)
  }

  @Test(
    arguments: [
      (nil, nil, true, .color("white")), (nil, true, true, .color("white")),
      (nil, false, false, .color("white")),
      (opaque, nil, false, .image(opaque, isDimmed: false, backing: nil)),
      (opaque, true, true, .image(opaque, isDimmed: true, backing: nil)),
      (opaque, false, false, .image(opaque, isDimmed: false, backing: nil)),
      (alpha, nil, true, .image(alpha, isDimmed: false, backing: nil)),
      (alpha, true, true, .image(alpha, isDimmed: false, backing: nil)),
      (alpha, false, false, .image(alpha, isDimmed: false, backing: "white")),
    ] as [(ImageReference?, Bool?, Bool, ResolvedBar.Background)])
  func `C-215…C-218 2.7 translucency follows the image unless it is said`(
    image: ImageReference?, explicit: Bool?, isTranslucent: Bool, background: ResolvedBar.Background
  ) {
    let bar = resolved {
      $0.backgroundImages[Self.slot] = image
      $0.translucent = explicit
    }
    #expect(bar.isTranslucent == isTranslucent)
    #expect(bar.properties?.background == background)
  }

  @Test func `C-219 C-220 the backing is the style's colour or the bar's`() {
    var look = BarLook()
    look.backgroundImages[Self.slot] = Self.alpha
    look.translucent = false
    look.barStyle = .black
    #expect(
      resolved { $0 = look }.properties?.background
        == .image(Self.alpha, isDimmed: false, backing: "black"))
    look.barTintColor = "teal"
    #expect(
      resolved { $0 = look }.properties?.background
        == .image(Self.alpha, isDimmed: false, backing: "teal"))
  }

  @Test func `C-214 the background colour of the view has no effect`() {
    let nav = state { $0.bar.content.backgroundColor = "red" }
    #expect(nav.resolvedBar() == state().resolvedBar())
  }

  private static let custom = ImageReference(ref: "s")
  private static let empty = ImageReference(ref: "e", isEmpty: true)

  @Test(
    arguments: [
      (false, nil, .hairline(isThirdOfPoint: false), .hairline(isThirdOfPoint: false)),
      (false, custom, .hairline(isThirdOfPoint: false), .image(custom)),
      (false, empty, .hairline(isThirdOfPoint: false), .none),
      (true, nil, .hairline(isThirdOfPoint: false), .hairline(isThirdOfPoint: false)),
      (true, custom, .image(custom), .image(custom)), (true, empty, .none, .none),
    ] as [(Bool, ImageReference?, ResolvedBar.Shadow, ResolvedBar.Shadow)])
  func `C-223…C-226 2.10 a shadow needs a background unless the profile says otherwise`(
    hasBackground: Bool, image: ImageReference?, byDefault: ResolvedBar.Shadow,
    otherwise: ResolvedBar.Shadow
  ) {
    var nav = state { nav in
      if hasBackground { nav.look.backgroundImages[Self.slot] = Self.opaque }
      nav.look.shadowImage = image
    }
    #expect(nav.resolvedBar().properties?.shadow == byDefault)
    nav.settings.content.profile.shadowNeedsBackground = false
    #expect(nav.resolvedBar().properties?.shadow == otherwise)
  }

  @Test(arguments: [("1", false), ("2", false), ("2.99", false), ("3", true), ("3.5", true)])
  func `the hairline is thinner on a display of three pixels a point`(
    scale: String, isThird: Bool
  ) {
    let nav = state { $0.environment.content.scale = json(scale) }
    #expect(nav.resolvedBar().properties?.shadow == .hairline(isThirdOfPoint: isThird))
  }

  @Test func `C-229 C-230 the back indicator takes both images`() {
    var nav = state(2) { $0.look.backIndicatorImage = Self.custom }
    #expect(nav.resolvedBar().backButton?.indicator == .default)
    nav.look.backIndicatorMask = Self.opaque
    #expect(
      nav.resolvedBar().backButton?.indicator == .custom(image: Self.custom, mask: Self.opaque))
    nav.look.backIndicatorImage = nil
    #expect(nav.resolvedBar().backButton?.indicator == .default)
  }

  @Test func `C-236 C-238 the title's colour is an attribute, that of buttons the tint`() {
    let nav = state { nav in
      nav.look.titleTextAttributes.color = "yellow"
      nav.bar.content.tintColor = "green"
    }
    #expect(nav.resolvedBar().properties?.textColor == "yellow")
    #expect(nav.resolvedBar().tintColor == "green")
    let tinted = state { $0.bar.content.tintColor = "green" }.resolvedBar()
    #expect(tinted.properties?.textColor == "black")
  }

  /// The slots tried for metrics, in the order of the table.
  private static let chains: [(BarMetrics, [BarMetrics])] = [
    (.default, [.default]), (.compact, [.compact, .default]),
    (.defaultPrompt, [.defaultPrompt, .default]),
    (.compactPrompt, [.compactPrompt, .defaultPrompt, .default]),
  ]

  private func nav(_ metrics: BarMetrics, _ position: BarPosition) -> NavigationController {
    state { nav in
      nav.environment.content.barPosition = position
      nav.environment.content.isVerticallyCompact = metrics == .compact || metrics == .compactPrompt
      let hasPrompt = metrics == .defaultPrompt || metrics == .compactPrompt
      nav.topDetails.item.prompt = hasPrompt ? "p" : nil
    }
  }

  @Test(arguments: chains, BarPosition.allCases)
  func `C-232 C-233 each metrics is tried at the position and at any, then its fallback`(
    chain: (BarMetrics, [BarMetrics]), position: BarPosition
  ) {
    var nav = nav(chain.0, position)
    let slots = chain.1.flatMap { metrics in
      (position == .any ? [] : [BackgroundSlot(position, metrics)])
        + [BackgroundSlot(.any, metrics)]
    }
    for metrics in BarMetrics.allCases {
      for other in BarPosition.allCases where !slots.contains(BackgroundSlot(other, metrics)) {
        nav.look.backgroundImages[BackgroundSlot(other, metrics)] = ImageReference(ref: "no")
      }
    }
    #expect(nav.resolvedBar().properties?.background == .color("white"))
    for (index, slot) in slots.enumerated().reversed() {
      let image = ImageReference(ref: "\(index)")
      nav.look.backgroundImages[slot] = image
      #expect(
        nav.resolvedBar().properties?.background == .image(image, isDimmed: false, backing: nil))
    }
  }

  @Test(arguments: chains)
  func `C-207 the title's offset has the same fallback`(chain: (BarMetrics, [BarMetrics])) {
    var nav = nav(chain.0, .any)
    for metrics in BarMetrics.allCases where !chain.1.contains(metrics) {
      nav.look.titleOffsets[metrics] = json("99")
    }
    #expect(nav.resolvedBar().properties?.titleOffset == nil)
    for (index, metrics) in chain.1.enumerated().reversed() {
      nav.look.titleOffsets[metrics] = json("\(index).5")
      #expect(nav.resolvedBar().properties?.titleOffset == json("\(index).5"))
    }
  }

  @Test func `C-257 C-258 the bar beats its class, that the classes below it`() {
    var own = BarLook()
    var near = BarLook()
    var far = BarLook()
    far.barTintColor = "red"
    far.titleOffsets[.default] = json("7")
    far.titleTextAttributes.color = "gold"
    let nav = state()
    func properties() -> ResolvedBar.SurfaceProperties? {
      var resolution = Resolution(state { $0.look = own })
      resolution.proxies = [near, far]
      return nav.resolvedBar(by: resolution).properties
    }
    #expect(properties()?.background == .color("red"))
    #expect(properties()?.titleOffset == json("7"))
    #expect(properties()?.textColor == "gold")
    near.barTintColor = "teal"
    near.titleTextAttributes.font = json("\"f\"")
    #expect(properties()?.background == .color("teal"))
    #expect(properties()?.textColor == "black", "the attributes are one value")
    own.barTintColor = "blue"
    own.titleOffsets[.default] = json("0")
    #expect(properties()?.background == .color("blue"))
    #expect(properties()?.titleOffset == json("0"))
  }
}
