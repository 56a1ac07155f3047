/// What the parts say of a back button, whose content always comes from the screen below the top.
struct BackButtonRules: Hashable, Sendable {
  var isStandalone: Bool
  var usesLandscapeImages: Bool
  /// The generic text.
  var generic: String
  /// Columns that a text may take; nil for no limit.
  var budget: Int?
  /// What points back.
  var indicator: ResolvedBar.BackIndicator

  /// The button above this screen.
  func slot(of previous: Screen) -> ResolvedBar.BackSlot {
    let item = previous.hasDefaultDetails ? nil : previous.item
    if let button = item?.backBarButtonItem { return slot(of: button) }
    // An empty title counts as unset here, though it is an explicit blank in the middle.
    if let title = item?.title, !title.isEmpty { return fit(title, source: .title) }
    if !isStandalone, let title = previous.title, !title.isEmpty {
      return fit(title, source: .title)
    }
    // The last word already: no budget applies to it.
    return ResolvedBar.BackSlot(
      text: generic, source: .generic, indicator: indicator, isGeneric: true, generic: generic)
  }

  private func slot(of button: Button) -> ResolvedBar.BackSlot {
    let content = button.content
    if let image = (usesLandscapeImages ? content.landscapeImage : nil) ?? content.image {
      return ResolvedBar.BackSlot(image: image, source: .backItem, indicator: indicator)
    }
    // A custom view or system item is ignored, which leaves the indicator alone.
    guard let title = content.title, !title.isEmpty else {
      return ResolvedBar.BackSlot(source: .backItem, indicator: indicator)
    }
    return fit(title, source: .backItem)
  }

  /// The title, or the generic text, or none: the first that the budget allows.
  private func fit(_ title: String, source: ResolvedBar.BackSource) -> ResolvedBar.BackSlot {
    guard !fits(title) else { return whole(title, source: source) }
    let isGeneric = fits(generic)
    return ResolvedBar.BackSlot(
      text: isGeneric ? generic : nil, source: source, indicator: indicator, isGeneric: isGeneric,
      isTruncated: true, wanted: title, generic: generic)
  }

  /// The button with a title as it is.
  func whole(_ title: String, source: ResolvedBar.BackSource) -> ResolvedBar.BackSlot {
    ResolvedBar.BackSlot(
      text: title, source: source, indicator: indicator, wanted: title, generic: generic)
  }

  func fits(_ text: String) -> Bool {
    guard let budget else { return true }
    return DisplayWidth.columns(of: text) <= budget
  }
}
