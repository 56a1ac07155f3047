@testable import NavigationCore
@testable import NavigationHub

/// What a bar shows, as facts by name; a fact that does not apply is absent.
typealias BarFacts = [String: String]

/// A second resolution, written from the tables row by row, without regard to cost.
struct ResolutionTwin {
  var nav: NavigationController
  var proxies: [BarLook]
  var isStandalone: Bool

  private var items: [NavigationItem] { nav.stack.map(\.item) }
  private var item: NavigationItem { items.last ?? NavigationItem() }
  private var bar: Bar { nav.bar.content }
  private var env: Environment { nav.environment.content }
  private var profile: Profile { nav.settings.content.profile }
  private var details: ScreenDetails { nav.stack.last?.details ?? ScreenDetails() }

  var facts: BarFacts {
    var facts: BarFacts = [:]
    let count = nav.stack.count
    facts["top"] = nav.stack.last?.id.text
    facts["back"] = count < 2 ? nil : nav.stack[count - 2].id.text
    facts["visible"] =
      (nav.presented.content.chain.map(\.screen) + []).last?.id.text ?? facts["top"]
    facts["height"] = "\(height)"
    facts["layoutHeight"] = bar.isHidden ? "0" : "\(height)"
    facts["metrics"] = "\(metrics)"
    facts["left"] = left.joined(separator: " ")
    facts["right"] = shown(item.rightItems).map(button).joined(separator: " ")
    facts["middle"] = middle
    if let placement = item.extras.searchBarPlacement {
      let place = placement == .automatic ? (env.isPhone ? .stacked : .inline) : placement
      facts["search"] = "\(place)\(item.extras.isSearchActive ? " active" : "")"
    }
    facts["middle.spoken"] = nav.stack.last.flatMap { spoken($0.item.accessibility[.label], $0) }
    if item.titleView != nil || middle == nil { facts["middle.spoken"] = nil }
    if left.first == "<" {
      if count > 1 {
        backFacts(&facts)
        facts["menu"] = menu.joined(separator: " ")
      } else {
        madeBackFacts(&facts)
      }
      facts["back.action"] = item.extras.backAction.map { $0.content.action ?? "" }
    }
    if middle != nil, item.titleView == nil { titleFacts(&facts) }
    if let appearance {
      facts["appearance"] = appearance
    } else {
      surface(&facts)
    }
    facts["translucent"] = "\(isTranslucent)"
    facts["tintColor"] = bar.tintColor ?? "blue"
    layout(&facts)
    return facts
  }

  private var left: [String] {
    guard let top = items.last else { return [] }
    let own = shown(top.leftItems).map(button)
    let makes = top.extras.backAction != nil && top.extras.style != .editor
    switch (
      items.count >= 2 || makes, own.isEmpty, top.leftItemsSupplementBackButton, top.hidesBackButton
    ) {
    case (false, _, _, _): return own
    case (true, true, _, false): return ["<"]
    case (true, true, _, true): return []
    case (true, false, false, _): return own
    case (true, false, true, false): return ["<"] + own
    case (true, false, true, true): return own
    }
  }

  private var isLandscapePhone: Bool { env.isPhone && env.isVerticallyCompact }

  private func button(_ button: Button) -> String {
    let content = button.content
    if let view = content.customView { return "\(button.id.text)=view\(text(view))" }
    if let image = content.image {
      let shown = isLandscapePhone ? content.landscapeImage ?? image : image
      return "\(button.id.text)=image\(shown.ref)+"
    }
    return "\(button.id.text)=\(content.title ?? content.systemItem?.word ?? "")+"
  }

  private func shown(_ buttons: [Button]) -> [Button] {
    buttons.filter { !$0.content.extras.isHidden }
  }

  /// The back button for the back action of a root.
  private func madeBackFacts(_ facts: inout BarFacts) {
    guard let button = item.extras.backAction?.content else { return }
    facts["source"] = "backAction"
    facts["indicator"] = indicator
    facts["back.spoken"] = button.accessibility[.label].map { "\($0.string)/" }
    if let image = isLandscapePhone ? button.landscapeImage ?? button.image : button.image {
      facts["image"] = image.ref
      facts["title"] = button.title
    } else if let title = button.title, !title.isEmpty {
      facts["candidates"] = "\(title) \(generic)"
      facts["text"] = fitting(title)
      if facts["text"] != title {
        facts["truncated"] = "true"
        if facts["text"] == generic { facts["generic"] = "true" }
      }
    }
  }

  private func titleFacts(_ facts: inout BarFacts) {
    let extras = item.extras
    let isLeading =
      switch (extras.titleAlignment, extras.style) {
      case (.leading, _), (.automatic, .browser), (.automatic, .editor): true
      default: false
      }
    if isLeading { facts["alignment"] = "leading" }
    let below = extras.subtitleView.map(text) ?? extras.subtitle.flatMap { $0.isEmpty ? nil : $0 }
    facts["subtitle"] = below
    let largeBelow =
      extras.largeSubtitleView.map(text) ?? extras.largeSubtitle.flatMap { $0.isEmpty ? nil : $0 }
    guard isLarge, extras.largeTitle != nil || largeBelow != nil else { return }
    let title = extras.largeTitle ?? item.title ?? (isStandalone ? nil : nav.stack.last?.title)
    facts["large"] = "\(title ?? "")/\(largeBelow ?? below ?? "")"
  }

  private func text(_ value: OpaqueJSON) -> String { String(decoding: value.bytes, as: UTF8.self) }

  private var generic: String { ["zh-Hans": "返回"][env.locale] ?? "Back" }

  private func fitting(_ wanted: String) -> String? {
    [wanted, generic].first {
      DisplayWidth.columns(of: $0) <= env.backTitleColumns ?? Int.max
    }
  }

  /// Every screen below the top, nearest first, with the text of its entry.
  private var menu: [String] {
    // A screen that a person cannot pop is the last to which the menu leads.
    var below = Array(nav.stack.dropLast().reversed())
    if let last = below.firstIndex(where: { !$0.details.canPop }) {
      below.removeLast(below.count - last - 1)
    }
    if nav.stack.last?.details.canPop == false { below = [] }
    return below.map { screen in
      let item = screen.item
      let titles = [
        item.backBarButtonItem?.content.title, item.extras.backButtonTitle, item.title,
        isStandalone ? nil : screen.title,
      ]
      let title = titles.compactMap(\.self).first { !$0.isEmpty }
      let label = (item.backBarButtonItem?.content.accessibility ?? item.accessibility)[.label]
      let said = label == nil && title == nil ? nil : spoken(label, screen)
      return screen.id.text + ":" + (title ?? generic) + (said.map { "~" + $0 } ?? "")
    }
  }

  private func spoken(_ label: Text?, _ screen: Screen) -> String? {
    let language = screen.item.accessibility[.language] ?? screen.details.accessibility[.language]
    return label == nil && language == nil
      ? nil : "\(label?.string ?? "")/\(language?.string ?? "")"
  }

  /// What is said for the back button that leads to a screen and shows this text.
  private func backSpoken(_ screen: Screen, _ text: String?) -> String? {
    let button = screen.item.backBarButtonItem?.content
    let item = screen.item
    let titles = [item.extras.backButtonTitle, item.title, isStandalone ? nil : screen.title]
    let hasTitle = titles.contains { !($0 ?? "").isEmpty }
    let isBlank = item.extras.backButtonTitle == "" && item.backButtonDisplayMode == .default
    let isGeneric = item.backButtonDisplayMode == .generic || !hasTitle && !isBlank
    guard button != nil || !isGeneric else { return nil }
    let label = (button?.accessibility ?? screen.item.accessibility)[.label]
    // No title of these states is the general word.
    return label == nil && text == generic ? nil : spoken(label, screen)
  }

  private func backFacts(_ facts: inout BarFacts) {
    let previous = nav.stack[nav.stack.count - 2]
    var wanted: String?
    facts["indicator"] = indicator
    defer { facts["back.spoken"] = backSpoken(previous, facts["text"]) }
    if let button = previous.item.backBarButtonItem?.content {
      facts["source"] = "backItem"
      let image = isLandscapePhone ? button.landscapeImage ?? button.image : button.image
      facts["image"] = image?.ref
      if image != nil { facts["title"] = button.title }
      if image != nil || (button.title ?? "").isEmpty { return }
      wanted = button.title
    } else {
      let item = previous.item
      let titles = [item.extras.backButtonTitle, item.title, isStandalone ? nil : previous.title]
      wanted = titles.compactMap(\.self).first { !$0.isEmpty }
      facts["source"] = wanted == nil ? "generic" : "title"
      let isBlank = item.extras.backButtonTitle == "" && item.backButtonDisplayMode == .default
      if isBlank { facts["source"] = "title" }
      if isBlank || item.backButtonDisplayMode == .minimal {
        facts["title"] = wanted
        return
      }
      if item.backButtonDisplayMode == .generic {
        facts["source"] = "generic"
        facts["candidates"] = generic
        guard DisplayWidth.columns(of: generic) <= env.backTitleColumns ?? Int.max else { return }
        facts["text"] = generic
        facts["generic"] = "true"
        return
      }
    }
    guard let wanted else {
      facts["text"] = generic
      facts["generic"] = "true"
      facts["candidates"] = generic
      return
    }
    facts["candidates"] = "\(wanted) \(generic)"
    let fitting = fitting(wanted)
    facts["text"] = fitting
    if fitting != wanted { facts["truncated"] = "true" }
    if fitting == generic, fitting != wanted { facts["generic"] = "true" }
  }

  private var indicator: String {
    let image = own(\.backIndicatorImage)
    let mask = own(\.backIndicatorMask)
    guard appearance == nil, let image, let mask else { return "default" }
    return "\(image.ref) \(mask.ref)"
  }

  private var middle: String? {
    if let view = item.titleView {
      let height = view.height.flatMap { Double(text($0)) } ?? 0
      return "view\(text(view.view))" + (height > Double(self.height) ? " overflows" : "")
    }
    let extras = item.extras
    let isTitled =
      extras.largeTitle != nil || extras.subtitleView != nil
      || extras.largeSubtitleView != nil
      || [extras.subtitle, extras.largeSubtitle].contains { $0.map { !$0.isEmpty } ?? false }
    let title =
      item.title ?? (isStandalone ? nil : nav.stack.last?.title) ?? (isTitled ? "" : nil)
    return title.map { $0.isEmpty ? "blank" : $0 + (isLarge ? " large" : " inline") }
  }

  private func isEffectivelyLarge(_ index: Int) -> Bool {
    guard bar.prefersLargeTitles, items.indices.contains(index) else { return false }
    switch items[index].largeTitleDisplayMode {
    case .always: return true
    case .never: return false
    case .automatic: return index == 0 ? true : isEffectivelyLarge(index - 1)
    }
  }

  private var isLarge: Bool {
    isEffectivelyLarge(items.count - 1) && !env.isVerticallyCompact
  }

  private var hasPrompt: Bool { !(item.prompt ?? "").isEmpty }

  private var height: UInt64 {
    let base = hasPrompt ? 74 : env.isVerticallyCompact ? profile.compactBarHeight : 44
    return base + (isLarge ? 52 : 0)
  }

  private var metrics: BarMetrics {
    if hasPrompt { return env.isVerticallyCompact ? .compactPrompt : .defaultPrompt }
    return env.isVerticallyCompact ? .compact : .default
  }

  private func own<Value>(_ member: (BarLook) -> Value?) -> Value? {
    ([bar.look] + proxies).compactMap(member).first
  }

  private var chain: [BarMetrics] {
    switch metrics {
    case .default: [.default]
    case .compact: [.compact, .default]
    case .defaultPrompt: [.defaultPrompt, .default]
    case .compactPrompt: [.compactPrompt, .defaultPrompt, .default]
    }
  }

  private var backgroundImage: ImageReference? {
    guard appearance == nil else { return nil }
    return chain.flatMap { [BackgroundSlot(env.barPosition, $0), BackgroundSlot(.any, $0)] }
      .compactMap { slot in own { $0.backgroundImages[slot] } }.first
  }

  private var isTranslucent: Bool {
    if let explicit = own(\.translucent) { return explicit }
    return backgroundImage == nil || backgroundImage?.hasAlpha == true
  }

  private func surface(_ facts: inout BarFacts) {
    let style = own(\.barStyle) ?? .default
    let color = own(\.barTintColor) ?? (style == .black ? "black" : "white")
    facts["background"] = backgroundImage?.ref ?? color
    if let image = backgroundImage {
      switch (image.hasAlpha, own(\.translucent)) {
      case (false, true?): facts["imageOpacity"] = "system"
      case (true, false?):
        facts["imageOpacity"] = "full"
        facts["backing"] = color
      default: facts["imageOpacity"] = "full"
      }
    }
    let attributes = ([bar.look] + proxies).map(\.titleTextAttributes).first {
      $0.font != nil || $0.color != nil || $0.shadowColor != nil || $0.shadowOffset != nil
    }
    facts["textColor"] = attributes?.color ?? (style == .black ? "white" : "black")
    facts["font"] = attributes?.font.map(text)
    facts["titleOffset"] =
      chain.compactMap { metrics in own { $0.titleOffsets[metrics] } }.first.map(text)
    let scale = env.scale.flatMap { Double(text($0)) } ?? 2
    let hairline = scale >= 3 ? "1/3" : "1/2"
    if profile.shadowNeedsBackground, backgroundImage == nil {
      facts["shadow"] = hairline
    } else if let shadow = own(\.shadowImage) {
      facts["shadow"] = shadow.isEmpty ? "none" : shadow.ref
    } else {
      facts["shadow"] = hairline
    }
  }

  private var appearance: String? {
    let isAtEdge = env.isAtScrollEdge && !isStandalone && (profile.iOS >= 15 || isLarge)
    let top = item.appearance
    let own = bar.appearance
    let standard = [(top[.standard], "item.standard"), (own[.standard], "bar.standard")]
    let compact = [(top[.compact], "item.compact"), (own[.compact], "bar.compact")]
    let edge = [(top[.scrollEdge], "item.scrollEdge"), (own[.scrollEdge], "bar.scrollEdge")]
    let both = [
      (top[.compactScrollEdge], "item.compactScrollEdge"),
      (own[.compactScrollEdge], "bar.compactScrollEdge"),
    ]
    let order =
      switch (env.isVerticallyCompact, isAtEdge) {
      case (false, false): standard
      case (true, false): compact + standard
      case (false, true): edge + standard
      case (true, true): both + edge + compact + standard
      }
    guard let name = order.first(where: { $0.0 != nil })?.1 else { return nil }
    return name + (isAtEdge && name.hasSuffix(".standard") ? " transparent" : "")
  }

  private func layout(_ facts: inout BarFacts) {
    let isUnder =
      details.edges.contains(.top) && (isTranslucent || details.extendsUnderOpaqueBars)
    facts["content.top"] = bar.isHidden || isUnder ? "0" : "\(env.statusBarHeight + height)"
    if details.wantsFullScreenLayout {
      let isToolbarTranslucent = isStandalone || nav.toolbar.content.translucent ?? true
      facts["extendsUnder"] =
        "status" + (isTranslucent ? " nav" : "") + (isToolbarTranslucent ? " tool" : "")
    }
    let toolbar = isStandalone ? Toolbar() : nav.toolbar.content
    facts["toolbar.background"] =
      toolbar.barTintColor ?? (toolbar.barStyle == .black ? "black" : "white")
    facts["toolbar.translucent"] = "\(toolbar.translucent ?? true)"
    let tools = shown(details.toolbarItems).map(button).joined()
    facts["toolbar"] = isStandalone ? "false " : "\(!nav.toolbar.content.isHidden) " + tools
    let all: [Orientation] = [.portrait, .portraitUpsideDown, .landscapeLeft, .landscapeRight]
    let supported = env.isPhone ? all.filter { $0 != .portraitUpsideDown } : all
    facts["orientations"] = "\(env.delegateOrientations?.supported ?? supported)"
    let settings = nav.settings.content
    var isSwiped = !isStandalone && settings.interactivePop.isEnabled && nav.stack.count >= 2
    if !settings.interactivePopWithoutBackButton {
      let item = nav.stack.last?.item ?? NavigationItem()
      let isReplaced = !shown(item.leftItems).isEmpty && !item.leftItemsSupplementBackButton
      if item.hidesBackButton || isReplaced || nav.bar.content.isHidden { isSwiped = false }
    }
    if nav.stack.last?.details.canPop == false { isSwiped = false }
    for presented in nav.presented.content.chain where presented.style != "popover" {
      isSwiped = false
    }
    facts["swipeBack"] = "\(isSwiped)"
  }
}
