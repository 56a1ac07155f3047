@testable import NavigationCore
@testable import NavigationHub
import Testing

extension ResolvedBar {
  /// The facts that the slow resolution tells too.
  var facts: BarFacts {
    var facts: BarFacts = [:]
    facts["top"] = top?.text
    facts["back"] = back?.text
    facts["visible"] = visible?.text
    facts["height"] = "\(height)"
    facts["layoutHeight"] = "\(layoutHeight)"
    facts["metrics"] = "\(metrics)"
    facts["left"] = left.map { slot in
      switch slot {
      case .back: "<"
      case .button(let slot): Self.text(slot)
      }
    }.joined(separator: " ")
    facts["right"] = right.map(Self.text).joined(separator: " ")
    switch middle {
    case .view(let view)?:
      facts["middle"] = "view\(Self.text(view.view))\(titleViewOverflows ? " overflows" : "")"
    case .title("")?: facts["middle"] = "blank"
    case .title(let title)?: facts["middle"] = title + (isLarge ? " large" : " inline")
    case nil: break
    }
    if case .title? = middle { facts["middle.spoken"] = Self.spoken(titleAccessibility) }
    if let backButton { backFacts(backButton, &facts) }
    facts["search"] = search.map { "\($0.placement)\($0.isActive ? " active" : "")" }
    if case .title? = middle, let titleParts { titleFacts(titleParts, &facts) }
    facts["menu"] = backMenu?.entries.map { entry in
      entry.screen.text + ":" + entry.text
        + (Self.spoken(entry.accessibility).map { "~" + $0 } ?? "")
    }.joined(separator: " ")
    surfaceFacts(&facts)
    facts["translucent"] = "\(isTranslucent)"
    facts["tintColor"] = tintColor
    facts["content.top"] = "\(contentTop)"
    facts["extendsUnder"] = extendsUnder.map { bars in
      [(CoveringBars.status, "status"), (.navigation, "nav"), (.tool, "tool")]
        .filter { bars.contains($0.0) }.map(\.1).joined(separator: " ")
    }
    facts["toolbar.background"] = toolbarBackground
    facts["toolbar.translucent"] = "\(isToolbarTranslucent)"
    facts["toolbar"] = "\(showsToolbar) " + toolbarItems.map { Self.text(shown($0)) }.joined()
    facts["orientations"] = "\(orientations)"
    facts["swipeBack"] = "\(allowsSwipeBack)"
    return facts
  }

  private func titleFacts(_ parts: TitleParts, _ facts: inout BarFacts) {
    if parts.isLeading { facts["alignment"] = "leading" }
    facts["subtitle"] = parts.subtitle.map(Self.text)
    facts["large"] = parts.large.map {
      "\($0.title)/\($0.subtitle.map(Self.text) ?? "")"
    }
  }

  private static func text(_ subtitle: TitleParts.Subtitle) -> String {
    switch subtitle {
    case .text(let text): text
    case .view(let view): text(view)
    }
  }

  private static func text(_ value: OpaqueJSON) -> String {
    String(decoding: value.bytes, as: UTF8.self)
  }

  private static func spoken(_ texts: Accessibility) -> String? {
    let (label, language) = (texts[.label]?.string, texts[.language]?.string)
    return label == nil && language == nil ? nil : "\(label ?? "")/\(language ?? "")"
  }

  private static func text(_ slot: ButtonSlot) -> String {
    let face =
      switch slot.button.face {
      case .customView(let view): "view\(text(view))"
      case .image: "image\(slot.image?.ref ?? "")"
      case .title(let title): title
      case .systemItem(let item): item.word
      }
    return "\(slot.button.id.text)=\(face)\(slot.tintApplies ? "+" : "")"
  }

  private func backFacts(_ slot: BackSlot, _ facts: inout BarFacts) {
    facts["source"] = "\(slot.source)"
    facts["text"] = slot.text
    facts["image"] = slot.image?.ref
    facts["title"] = slot.hiddenTitle
    facts["back.spoken"] = Self.spoken(slot.accessibility)
    facts["back.action"] = slot.action
    if slot.isGeneric { facts["generic"] = "true" }
    if slot.isTruncated { facts["truncated"] = "true" }
    let candidates = slot.candidates.joined(separator: " ")
    facts["candidates"] = candidates.isEmpty ? nil : candidates
    switch slot.indicator {
    case .default: facts["indicator"] = "default"
    case .custom(let image, let mask): facts["indicator"] = "\(image.ref) \(mask.ref)"
    }
  }

  private func surfaceFacts(_ facts: inout BarFacts) {
    switch surface {
    case .appearance(let choice):
      facts["appearance"] =
        "\(choice.isOfItem ? "item" : "bar").\(choice.slot)"
        + (choice.isTransparent ? " transparent" : "")
    case .properties(let properties):
      switch properties.background {
      case .color(let color): facts["background"] = color
      case .image(let image, let isDimmed, let backing):
        facts["background"] = image.ref
        facts["imageOpacity"] = isDimmed ? "system" : "full"
        facts["backing"] = backing
      }
      facts["textColor"] = properties.textColor
      facts["font"] = properties.attributes.font.map(Self.text)
      facts["titleOffset"] = properties.titleOffset.map(Self.text)
      switch properties.shadow {
      case .hairline(let isThird): facts["shadow"] = isThird ? "1/3" : "1/2"
      case .image(let image): facts["shadow"] = image.ref
      case .none: facts["shadow"] = "none"
      }
    }
  }
}

/// Makes states in which everything that a bar may show is set or not.
struct BarStates {
  var random: Seeded

  private mutating func chance(_ limit: Int = 2) -> Bool { random.below(limit) == 0 }

  mutating func state() -> NavigationController {
    var nav = NavigationController(revision: Revision(1))
    for id in ["A", "B", "C", "D"].prefix(random.below(5)) as ArraySlice<ScreenID> {
      nav.stack.append(screen(id))
    }
    if chance(4) {
      nav.presented.content.chain = [
        Presented(screen: screen("M"), from: nil, style: random.pick([nil, "popover"]))
      ]
    }
    nav.bar.content.isHidden = chance(4)
    nav.bar.content.prefersLargeTitles = chance()
    nav.bar.content.tintColor = random.pick([nil, "red"])
    nav.bar.content.look = look()
    if chance() { nav.bar.content.appearance = appearance() }
    nav.toolbar.content.isHidden = chance()
    nav.toolbar.content.translucent = random.pick([nil, true, false])
    nav.toolbar.content.barStyle = random.pick([nil, .default, .black])
    nav.toolbar.content.barTintColor = random.pick([nil, nil, "red"])
    nav.environment.content = environment()
    nav.settings.content.interactivePop.isEnabled = !chance(4)
    nav.settings.content.interactivePopWithoutBackButton = chance()
    nav.settings.content.profile.iOS = random.pick([14, 15, 17])
    nav.settings.content.profile.shadowNeedsBackground = chance()
    return nav
  }

  private mutating func screen(_ id: ScreenID) -> Screen {
    var screen = Screen(id: id, version: Revision(1))
    screen.title = random.pick([nil, "", "Title of \(id.text)", "短い"])
    if chance(3) { return screen }
    var item = NavigationItem()
    item.title = random.pick([nil, nil, "", "Item", "Notifications"])
    item.prompt = random.pick([nil, nil, "", "Prompt"])
    if chance(4) {
      item.titleView = TitleView(view: json("\"v\""), height: random.pick([nil, json("90")]))
    }
    if chance(3) { item.backBarButtonItem = button("k") }
    item.extras.backButtonTitle = random.pick([nil, nil, "", "Short"])
    item.backButtonDisplayMode = random.pick([.default, .default, .generic, .minimal])
    item.hidesBackButton = chance(4)
    item.leftItemsSupplementBackButton = chance()
    if chance(3) { item.leftItems = [button("x"), button("y")] }
    if chance() { item.rightItems = [button("z")] }
    item.largeTitleDisplayMode = random.pick([.automatic, .automatic, .always, .never])
    if chance() { item.extras = extras(item.extras) }
    if chance(3) { item.appearance = appearance() }
    if chance(3) { item.accessibility[.label] = "Label" }
    if chance(3) { item.accessibility[.language] = "de" }
    screen.details.item = item
    if chance(3) { screen.details.accessibility = [.label: "Page", .language: "fr"] }
    screen.details.edges = random.pick([.all, [.top], [.left]])
    screen.details.extendsUnderOpaqueBars = chance(4)
    screen.details.wantsFullScreenLayout = chance(3)
    screen.details.canPop = !chance(5)
    if chance() { screen.details.toolbarItems = [button("t")] }
    return screen
  }

  private mutating func extras(_ extras: ItemExtras) -> ItemExtras {
    var extras = extras
    if chance(3) { extras.backAction = button("j") }
    extras.style = random.pick([.navigator, .navigator, .browser, .editor])
    extras.titleAlignment = random.pick([.automatic, .automatic, .leading, .center])
    extras.searchBarPlacement = random.pick([nil, nil, .automatic, .inline, .integratedButton])
    extras.isSearchActive = chance()
    extras.subtitle = random.pick([nil, "", "Sub"])
    extras.subtitleView = random.pick([nil, nil, json("\"sv\"")])
    extras.largeTitle = random.pick([nil, "", "Large"])
    extras.largeSubtitle = random.pick([nil, "", "Large sub"])
    extras.largeSubtitleView = random.pick([nil, nil, json("\"lv\"")])
    return extras
  }

  private mutating func button(_ id: ButtonID) -> Button {
    let image = image()
    var content = random.pick([
      ButtonContent([.set(\.title, "Text")]), ButtonContent([.set(\.title, "")]),
      ButtonContent([.set(\.image, image)]),
      ButtonContent([
        .set(\.title, "Text"), .set(\.image, image),
        .set(\.landscapeImage, ImageReference(ref: "land")),
      ]),
      ButtonContent([.set(\.systemItem, .add)]),
      ButtonContent([.set(\.title, "Text"), .set(\.customView, json("\"cv\""))]),
    ])
    if chance(4) { content.accessibility = [.label: "Spoken", .hint: "Hint"] }
    if chance(4) { content.extras.isHidden = true }
    if chance(3) { content.action = random.pick(["go", "nav.pop"]) }
    return Button(id: id, content: content)
  }

  private mutating func image() -> ImageReference {
    ImageReference(ref: "i\(random.below(9))", hasAlpha: chance(), isEmpty: chance(3))
  }

  private mutating func appearance() -> AppearanceSet {
    var set = AppearanceSet()
    if chance(3) { set[.standard] = json("{}") }
    if chance(3) { set[.compact] = json("{}") }
    if chance(3) { set[.scrollEdge] = json("{}") }
    if chance(3) { set[.compactScrollEdge] = json("{}") }
    return set
  }

  mutating func look() -> BarLook {
    var look = BarLook()
    if chance() { return look }
    look.barStyle = random.pick([nil, .default, .black])
    look.translucent = random.pick([nil, true, false])
    look.barTintColor = random.pick([nil, "orange"])
    look.titleTextAttributes.color = random.pick([nil, nil, "yellow"])
    look.titleTextAttributes.font = random.pick([nil, nil, json("\"f\"")])
    for metrics in BarMetrics.allCases {
      if chance(4) { look.titleOffsets[metrics] = json("\(random.below(20))") }
      for position in BarPosition.allCases where chance(8) {
        look.backgroundImages[BackgroundSlot(position, metrics)] = image()
      }
    }
    if chance() { look.shadowImage = image() }
    if chance() { look.backIndicatorImage = image() }
    if chance() { look.backIndicatorMask = image() }
    return look
  }

  private mutating func environment() -> Environment {
    var environment = Environment()
    environment.isPhone = chance()
    environment.isVerticallyCompact = chance()
    environment.isAtScrollEdge = chance()
    environment.scale = random.pick([nil, json("2"), json("3")])
    environment.statusBarHeight = random.pick([0, 20, 44])
    environment.backTitleColumns = random.pick([nil, 3, 4, 8, 20])
    environment.locale = random.pick(["en", "zh-Hans", "fr"])
    environment.barPosition = random.pick(BarPosition.allCases)
    if chance(4) {
      environment.delegateOrientations = DelegateOrientations(
        supported: [.landscapeLeft], preferred: nil)
    }
    return environment
  }
}

@Suite struct ResolutionTwinTests {
  @Test(arguments: 0..<16 as Range<UInt64>)
  func `any state resolves as the tables say`(seed: UInt64) {
    var states = BarStates(random: Seeded(seed: seed))
    for round in 0..<250 {
      var nav = states.state()
      let proxies = (0..<states.random.below(3)).map { _ in states.look() }
      nav.isStandalone = states.random.below(4) == 0
      var resolution = Resolution(nav)
      resolution.proxies = proxies
      let expected = ResolutionTwin(nav: nav, proxies: proxies, isStandalone: nav.isStandalone)
        .facts
      let actual = nav.resolvedBar(by: resolution).facts
      let differing = Set(expected.keys).union(actual.keys).sorted().filter {
        expected[$0] != actual[$0]
      }
      #expect(
        differing == [], "seed \(seed) round \(round): \(differing.map { expected[$0] ?? "nil" })")
      guard differing.isEmpty else { return }
      #expect(nav.showsBackButton == (actual["left"]?.hasPrefix("<") ?? false))
    }
  }
}
