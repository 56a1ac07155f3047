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

  /// The back button, whose content always comes from the screen below the top.
  ///
  /// If an appearance object is used, the bar's own indicator is not.
  func backButton(hasAppearance: Bool) -> ResolvedBar.BackSlot? {
    guard let previous, details?.item.leavesBackButton ?? true else { return nil }
    let indicator = hasAppearance ? .default : backIndicator
    let item = previous.hasDefaultDetails ? nil : previous.item
    if let button = item?.backBarButtonItem { return backSlot(button, indicator) }
    // An empty title counts as unset here, though it is an explicit blank in the middle.
    if let title = item?.title, !title.isEmpty { return fit(title, source: .title, indicator) }
    if !isStandalone, let title = previous.title, !title.isEmpty {
      return fit(title, source: .title, indicator)
    }
    // The last word already: no budget applies to it.
    let generic = genericBackTitle
    return ResolvedBar.BackSlot(
      text: generic, source: .generic, indicator: indicator, isGeneric: true, generic: generic)
  }

  private func backSlot(
    _ button: Button, _ indicator: ResolvedBar.BackIndicator
  ) -> ResolvedBar.BackSlot {
    let content = button.content
    if let image = (usesLandscapeImages ? content.landscapeImage : nil) ?? content.image {
      return ResolvedBar.BackSlot(image: image, source: .backItem, indicator: indicator)
    }
    // A custom view or system item is ignored, which leaves the indicator alone.
    guard let title = content.title, !title.isEmpty else {
      return ResolvedBar.BackSlot(source: .backItem, indicator: indicator)
    }
    return fit(title, source: .backItem, indicator)
  }

  private var genericBackTitle: String { environment.locale == "zh-Hans" ? "返回" : "Back" }

  /// The title, or the generic text, or none: the first that the budget allows.
  private func fit(
    _ title: String, source: ResolvedBar.BackSource, _ indicator: ResolvedBar.BackIndicator
  ) -> ResolvedBar.BackSlot {
    let generic = genericBackTitle
    let isTruncated = !fits(title)
    let isGeneric = isTruncated && fits(generic)
    return ResolvedBar.BackSlot(
      text: isGeneric ? generic : isTruncated ? nil : title, source: source, indicator: indicator,
      isGeneric: isGeneric, isTruncated: isTruncated, wanted: title, generic: generic)
  }

  private func fits(_ text: String) -> Bool {
    guard let budget = environment.backTitleBudget else { return true }
    return DisplayWidth.columns(of: text) <= budget
  }
}

extension OpaqueJSON {
  /// The value, if it is a number.
  var number: Double? { Double(String(decoding: bytes, as: UTF8.self)) }
}
