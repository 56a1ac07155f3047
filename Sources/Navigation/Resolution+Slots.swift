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
