/// The part of a state that decides what the bar shows, taken out of the controller once.
///
/// Law: nothing but its members is read, so equal states resolve equally. All of it is O(what is
/// shown), but for a chain of screens with an automatic large title.
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
  /// Whether the bar's own look is the default one; with no proxies, nothing has to be looked up.
  private let isBarDefault: Bool
  let environment: Environment
  let profile: Profile
  /// Whether the bar stands alone: no screens' titles, no toolbar, never at a scroll edge.
  let isStandalone: Bool

  init(_ controller: borrowing NavigationController) {
    stack = controller.stack
    top = controller.top
    details = top.flatMap { $0.hasDefaultDetails ? nil : $0.details }
    previous = controller.backScreen
    bar = controller.bar.content
    isBarDefault = controller.bar.isDefault
    proxies = controller.proxyLooks
    environment = controller.environment.content
    profile = controller.settings.isDefault ? Profile() : controller.settings.content.profile
    isStandalone = controller.isStandalone
  }

  /// Whether no member of a look is set anywhere.
  var hasDefaultLook: Bool { isBarDefault && proxies.isEmpty }
}

extension NavigationController {
  /// Computes what the bar shows.
  ///
  /// O(1), the lists of buttons being shared with the state; with large titles, O(screens above the
  /// nearest one that is not automatic).
  ///
  /// Of a bar without a controller the items are the stack: their titles alone count, there is no
  /// toolbar, and content never scrolls below it.
  ///
  /// - Returns: what the bar shows, hidden or not.
  package func resolvedBar() -> ResolvedBar {
    resolvedBar(by: Resolution(self))
  }

  func resolvedBar(by resolution: Resolution) -> ResolvedBar {
    let isLarge = resolution.isLarge
    let height = resolution.height(isLarge: isLarge)
    let appearance = resolution.appearance(isLarge: isLarge)
    // An appearance object is used in whole, so that no image of the bar's own is behind its content.
    let image = appearance == nil ? resolution.backgroundImage : nil
    let isTranslucent = resolution.isTranslucent(over: image)
    let isStandalone = resolution.isStandalone
    let toolbar = isStandalone || self.toolbar.isDefault ? Toolbar() : self.toolbar.content
    let details = resolution.details
    let middle = resolution.middle
    return ResolvedBar(
      top: top?.id, back: backScreen?.id, visible: visible?.id, height: height,
      layoutHeight: resolution.bar.isHidden ? 0 : height, metrics: resolution.metrics,
      isLarge: isLarge, backButton: resolution.backButton(hasAppearance: appearance != nil),
      leftItems: details?.item.leftItems ?? [], middle: middle,
      overflows: middle.map { Resolution.overflows($0, height: height) } ?? false,
      rightItems: details?.item.rightItems ?? [],
      usesLandscapeImages: resolution.usesLandscapeImages,
      surface: appearance.map { .appearance($0) }
        ?? .properties(resolution.properties(over: image)),
      isTranslucent: isTranslucent, tintColor: resolution.bar.tintColor ?? "blue",
      contentTop: resolution.contentTop(height: height, isTranslucent: isTranslucent),
      extendsUnder: resolution.extendsUnder(
        isTranslucent: isTranslucent, isToolbarTranslucent: toolbar.translucent ?? true),
      showsToolbar: !toolbar.isHidden,
      toolbarItems: isStandalone ? [] : details?.toolbarItems ?? [],
      orientations: resolution.orientations, allowsSwipeBack: stack.count >= 2 && mayBeSwiped)
  }

  /// Whether the user sees a back button.
  package var showsBackButton: Bool {
    guard stack.count >= 2, let top else { return false }
    return top.hasDefaultDetails || top.item.leavesBackButton
  }

  /// The looks that the appearance proxy has for the bar's class, the most specific class first.
  var proxyLooks: [BarLook] {
    guard !settings.isDefault, !settings.content.proxy.isEmpty else { return [] }
    let base = Bar().className
    let name = bar.content.className
    let classes = name == base ? [base] : [name, base]
    return classes.compactMap { settings.content.proxy[$0] }
  }

  /// A swipe needs a screen to uncover, and may be turned off.
  var mayBeSwiped: Bool {
    !isStandalone && (settings.isDefault || settings.content.interactivePop.isEnabled)
  }
}

// Left, middle and right: which of the items' contents the bar shows.

extension NavigationItem {
  /// Whether this item, on top, has room for a back button: left items replace it unless they
  /// supplement it.
  var leavesBackButton: Bool {
    !hidesBackButton && (leftItems.isEmpty || leftItemsSupplementBackButton)
  }
}

extension Resolution {
  /// Landscape images are for phones whose height is compact.
  var usesLandscapeImages: Bool { environment.isPhone && environment.isVerticallyCompact }

  /// A view beats the item's title, that the screen's.
  var middle: ResolvedBar.MiddleSlot? {
    if let item = details?.item {
      if let view = item.titleView { return .view(view) }
      if let title = item.title { return .title(title) }
    }
    return isStandalone ? nil : top?.title.map { .title($0) }
  }

  /// Whether the middle is a view that says it is higher than the bar.
  static func overflows(_ middle: ResolvedBar.MiddleSlot, height: UInt64) -> Bool {
    guard case .view(let view) = middle, let declared = view.height?.number else { return false }
    return declared > Double(height)
  }

  /// The back button; nil if there is none to show.
  func backButton(hasAppearance: Bool) -> ResolvedBar.BackSlot? {
    guard let previous, details?.item.leavesBackButton ?? true else { return nil }
    return backButtonRules(hasAppearance: hasAppearance).slot(of: previous)
  }

  /// If an appearance object is used, the bar's own indicator is not.
  func backButtonRules(hasAppearance: Bool) -> BackButtonRules {
    BackButtonRules(
      isStandalone: isStandalone, usesLandscapeImages: usesLandscapeImages,
      generic: environment.locale == "zh-Hans" ? "返回" : "Back",
      budget: environment.backTitleBudget, indicator: hasAppearance ? .default : backIndicator)
  }
}

extension OpaqueJSON {
  /// The value, if it is a number.
  var number: Double? { Double(String(decoding: bytes, as: UTF8.self)) }
}
