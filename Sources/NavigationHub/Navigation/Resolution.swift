import NavigationCore

/// The members of a nav's state that decide what the bar shows, read from the controller once.
///
/// Law: the methods read nothing else, so equal states resolve equally. Each method is O(what the
/// bar shows), except `isLarge`, which walks down automatic screens.
struct Resolution {
  let stack: [Screen]
  let top: Screen?
  /// The top screen's details; nil if they are at their defaults.
  let details: ScreenDetails?
  /// The screen below the top, which alone supplies the back button's content.
  let previous: Screen?
  let bar: Bar
  /// The looks for the bar's class, the most specific class first.
  var proxies: [BarLook]
  /// Whether the bar part is at its default, so that only proxies can set members of a look.
  private let isBarDefault: Bool
  let environment: Environment
  let settings: Settings
  var profile: Profile { settings.profile }
  /// Whether this is a standalone bar: without screens' titles, toolbar and scroll edge.
  let isStandalone: Bool

  init(_ controller: borrowing NavigationController) {
    stack = controller.stack
    top = controller.top
    details = top.flatMap { $0.hasDefaultDetails ? nil : $0.details }
    previous = controller.backScreen
    bar = controller.bar.content
    isBarDefault = controller.bar.isDefault
    proxies = controller.looks(of: bar.className, base: Bar().className)
    environment = controller.environment.content
    settings = controller.settings.isDefault ? Settings() : controller.settings.content
    isStandalone = controller.isStandalone
  }

  /// Whether the bar is as at first and no proxy has a look, so that no member of a look is searched.
  var hasDefaultLook: Bool { isBarDefault && proxies.isEmpty }
}

extension NavigationController {
  /// Computes what the bar shows, also while the bar is hidden.
  ///
  /// O(1), because the result shares the state's lists of screens and buttons; with large titles,
  /// O(screens from the top down to the nearest one that is not automatic).
  /// A standalone bar shows the titles of its items only, has no toolbar and is never at a scroll
  /// edge.
  package func resolvedBar() -> ResolvedBar {
    resolvedBar(by: Resolution(self))
  }

  func resolvedBar(by resolution: Resolution) -> ResolvedBar {
    assert(resolution.top?.id == top?.id, "the resolution of another state")
    assert(resolution.isStandalone == isStandalone)
    let isLarge = resolution.isLarge
    let height = resolution.height(isLarge: isLarge)
    let appearance = resolution.appearance(isLarge: isLarge)
    // An appearance object replaces all properties of the bar, the background image included.
    let image = appearance == nil ? resolution.backgroundImage : nil
    let isTranslucent = resolution.isTranslucent(over: image)
    let isStandalone = resolution.isStandalone
    let toolbar = isStandalone ? Toolbar() : shownToolbar
    let details = resolution.details
    let middle = resolution.middle
    let titleParts = resolution.titleParts(isLarge: isLarge)
    let backButton = resolution.backButton(hasAppearance: appearance != nil)
    return ResolvedBar(
      top: top?.id, back: backScreen?.id, visible: visible?.id, height: height,
      layoutHeight: resolution.bar.isHidden ? 0 : height, metrics: resolution.metrics,
      isLarge: isLarge, backButton: backButton,
      backMenu: backButton == nil || backScreen == nil
        ? nil
        : BackMenu(
          stack: stack,
          rules: resolution.backButtonRules(hasAppearance: appearance != nil)),
      leftItems: details?.item.leftItems.displayed ?? [], middle: middle,
      titleAccessibility: details?.titleAccessibility ?? [:], titleParts: titleParts,
      titleViewOverflows: middle.map { Resolution.overflows($0, height: height) } ?? false,
      rightItems: details?.item.rightItems.displayed ?? [], search: resolution.search,
      usesLandscapeImages: resolution.usesLandscapeImages,
      surface: appearance.map { .appearance($0) }
        ?? .properties(resolution.surfaceProperties(over: image)),
      isTranslucent: isTranslucent, tintColor: resolution.bar.tintColor ?? "blue",
      contentTop: resolution.contentTop(height: height, isTranslucent: isTranslucent),
      extendsUnder: resolution.extendsUnder(
        isTranslucent: isTranslucent, isToolbarTranslucent: toolbar.translucent ?? true),
      showsToolbar: !toolbar.isHidden,
      toolbarBackground: toolbar.barTintColor ?? (toolbar.barStyle == .black ? "black" : "white"),
      isToolbarTranslucent: toolbar.translucent ?? true,
      toolbarItems: isStandalone ? [] : details?.toolbarItems.displayed ?? [],
      orientations: resolution.orientations,
      allowsSwipeBack: !isStandalone && swipeBackRefusal(isFullScreen: nil) == nil)
  }

  /// Whether the bar has a back button, also while the bar is hidden.
  package var showsBackButton: Bool {
    guard let top, stack.count >= 2 || top.makesBackButton else { return false }
    return top.hasDefaultDetails || top.item.allowsBackButton
  }

  /// The looks that the appearance proxies have for a class, the most specific class first.
  func looks(of name: String, base: String) -> [BarLook] {
    guard !settings.isDefault, !settings.content.appearanceProxies.isEmpty else { return [] }
    let classes = name == base ? [base] : [name, base]
    return classes.compactMap { settings.content.appearanceProxies[Text($0)] }
  }

  /// The toolbar, with the looks of its classes where it sets no value itself.
  private var shownToolbar: Toolbar {
    var shown = toolbar.isDefault ? Toolbar() : toolbar.content
    for look in looks(of: shown.className, base: Toolbar().className) {
      shown.barStyle = shown.barStyle ?? look.barStyle
      shown.barTintColor = shown.barTintColor ?? look.barTintColor
      shown.translucent = shown.translucent ?? look.translucent
    }
    return shown
  }

  /// Whether a swipe back may begin while no back button is visible.
  var swipeNeedsNoBackButton: Bool {
    !settings.isDefault && settings.content.interactivePopWithoutBackButton
  }
}

// The left, middle and right positions of the bar.

extension NavigationItem {
  /// Whether a bar with this item on top has a back button.
  ///
  /// Left items replace the back button unless `leftItemsSupplementBackButton` is set.
  var allowsBackButton: Bool {
    !hidesBackButton && (leftItemsSupplementBackButton || leftItems.allSatisfy(\.isHidden))
  }
}

extension Screen {
  /// Whether the screen has a back button with nothing below it, for its `backAction`.
  var makesBackButton: Bool { backAction != nil && item.extras.style != .editor }
}

extension Resolution {
  /// Whether buttons show their landscape images: on a phone with compact height.
  var usesLandscapeImages: Bool { environment.isPhone && environment.isVerticallyCompact }

  /// The item's title view, else the item's title, else the screen's title.
  ///
  /// A standalone bar has no titles of screens.
  var middle: ResolvedBar.MiddleSlot? {
    if let item = details?.item {
      if let view = item.titleView { return .view(view) }
      if let title = item.title { return .title(title) }
    }
    if !isStandalone, let title = top?.title { return .title(title) }
    // Something stands below the title or in its large place, so that there is a middle.
    let parts = titleParts(isLarge: true)
    return parts?.subtitle == nil && parts?.large == nil ? nil : .title("")
  }

  /// What the top's item says of the title's surroundings; nil if it says nothing.
  func titleParts(isLarge: Bool) -> ResolvedBar.TitleParts? {
    guard let item = details?.item, !item.hasDefaultExtras else { return nil }
    let extras = item.extras
    let isLeading = extras.titleAlignment == .automatic && extras.style != .navigator
    let subtitle = ResolvedBar.TitleParts.Subtitle(extras.subtitleView, extras.subtitle)
    var large: ResolvedBar.TitleParts.Large?
    let largeSubtitle = ResolvedBar.TitleParts.Subtitle(
      extras.largeSubtitleView, extras.largeSubtitle)
    if isLarge, extras.largeTitle != nil || largeSubtitle != nil {
      let title = extras.largeTitle ?? item.title ?? (isStandalone ? nil : top?.title) ?? ""
      large = .init(title: title, subtitle: largeSubtitle ?? subtitle)
    }
    return .init(
      style: extras.style, isLeading: isLeading || extras.titleAlignment == .leading,
      subtitle: subtitle, large: large, menu: extras.titleMenu)
  }

  /// The search field of the top's item; nil without one.
  var search: ResolvedBar.Search? {
    guard let item = details?.item, !item.hasDefaultExtras,
      let preferred = item.extras.searchBarPlacement
    else { return nil }
    let automatic: SearchBarPlacement = environment.isPhone ? .stacked : .inline
    return ResolvedBar.Search(
      placement: preferred == .automatic ? automatic : preferred, isActive: item.hasActiveSearch)
  }

  /// Whether the middle is a view whose declared height is greater than the bar's.
  static func overflows(_ middle: ResolvedBar.MiddleSlot, height: UInt64) -> Bool {
    guard case .view(let view) = middle, let declared = view.height?.number else { return false }
    return declared > Double(height)
  }

  /// The back button; nil if the bar has none.
  func backButton(hasAppearance: Bool) -> ResolvedBar.BackSlot? {
    guard details?.item.allowsBackButton ?? true else { return nil }
    let action = details?.item.backAction
    guard let previous else {
      guard let action, top?.makesBackButton ?? false else { return nil }
      return backButtonRules(hasAppearance: hasAppearance).slot(made: action)
    }
    assert(previous.id != top?.id, "the top is below itself")
    var slot = backButtonRules(hasAppearance: hasAppearance).slot(of: previous)
    if let action { slot.action = action.content.action ?? "" }
    return slot
  }

  /// With an appearance object, the bar shows the system's back indicator instead of the client's.
  func backButtonRules(hasAppearance: Bool) -> BackButtonRules {
    BackButtonRules(
      isStandalone: isStandalone, usesLandscapeImages: usesLandscapeImages,
      genericTitle: BackTitles.title(for: environment.locale, among: settings.backTitles),
      columnLimit: environment.backTitleColumns,
      indicator: hasAppearance ? .default : backIndicator)
  }
}

extension OpaqueJSON {
  var number: Double? { Double(String(decoding: bytes, as: UTF8.self)) }
}

// The layout of the content, and the orientations of the interface.

extension Orientation {
  /// The orientations of a phone without an orientation delegate: all but upside down.
  fileprivate static let ofPhone: [Orientation] = [.portrait, .landscapeLeft, .landscapeRight]
}

extension Resolution {
  /// The content's upper edge, in points below the screen's upper edge.
  ///
  /// The edge is 0 if the bar is hidden or the content extends under it, else the bar's lower edge.
  /// The content extends under the bar if the screen extends its top edge, and the bar is
  /// translucent or the screen extends under opaque bars too.
  func contentTop(height: UInt64, isTranslucent: Bool) -> UInt64 {
    let edges = details?.edges ?? .all
    let extendsUnderBar =
      edges.contains(.top) && (isTranslucent || details?.extendsUnderOpaqueBars ?? false)
    return bar.isHidden || extendsUnderBar ? 0 : environment.statusBarHeight + height
  }

  /// The translucent bars under which the content extends; nil without full-screen layout.
  ///
  /// The status bar is always translucent.
  func extendsUnder(
    isTranslucent: Bool, isToolbarTranslucent: Bool
  ) -> ResolvedBar.CoveringBars? {
    guard details?.wantsFullScreenLayout ?? false else { return nil }
    var bars: ResolvedBar.CoveringBars = .status
    if isTranslucent { bars.insert(.navigation) }
    if isToolbarTranslucent { bars.insert(.tool) }
    return bars
  }

  /// The orientations that the delegate supports, else those of the device.
  var orientations: [Orientation] {
    environment.delegateOrientations?.supported
      ?? (environment.isPhone ? Orientation.ofPhone : Orientation.allCases)
  }
}

// Metrics, height and large titles.

extension Resolution {
  /// UIKit's heights in points.
  private enum Points {
    static let standard: UInt64 = 44
    /// The height with a prompt, at any height class.
    static let prompt: UInt64 = 74
    /// The additional height of a large title.
    static let largeTitle: UInt64 = 52
  }

  /// Whether the bar shows a prompt; an empty one counts as none.
  private var hasPrompt: Bool { details?.item.prompt.map { !$0.isEmpty } ?? false }

  /// The combination of height class and prompt.
  var metrics: BarMetrics {
    switch (environment.isVerticallyCompact, hasPrompt) {
    case (false, false): .default
    case (true, false): .compact
    case (false, true): .defaultPrompt
    case (true, true): .compactPrompt
    }
  }

  /// The bar's height in points, whether it is hidden or not.
  func height(isLarge: Bool) -> UInt64 {
    let base =
      if hasPrompt {
        Points.prompt
      } else if environment.isVerticallyCompact {
        profile.compactBarHeight
      } else {
        Points.standard
      }
    return isLarge ? base + Points.largeTitle : base
  }

  /// Whether the top screen's title is large.
  ///
  /// An automatic screen is like the one below it, and large at the root. O(screens from the top
  /// down to the nearest one that is not automatic).
  var isLarge: Bool {
    guard bar.prefersLargeTitles, !environment.isVerticallyCompact else { return false }
    for screen in stack.reversed() {
      switch screen.hasDefaultDetails ? .automatic : screen.item.largeTitleDisplayMode {
      case .always: return true
      case .never: return false
      case .automatic: continue
      }
    }
    // All screens down to the root are automatic.
    return !stack.isEmpty
  }
}
