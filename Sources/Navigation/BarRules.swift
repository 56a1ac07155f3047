/// What the parts of a nav say of titles, back button and swipe, while the top screen leaves its
/// details at their defaults.
///
/// Nothing else of what the bar shows changes with the screens then. So whoever keeps the rest need
/// not compute it again until a part changes, or a screen with details comes to the top.
package final class BarRules: Sendable {
  /// Whether titles are large.
  package let isLarge: Bool
  private let mayBeLarge: Bool
  private let isStandalone: Bool
  private let mayBeSwiped: Bool
  private let backButton: BackButtonRules

  init(_ resolution: Resolution, mayBeSwiped: Bool) {
    mayBeLarge = resolution.mayBeLarge
    isLarge = resolution.isLarge
    isStandalone = resolution.isStandalone
    self.mayBeSwiped = mayBeSwiped
    backButton = resolution.backButtonRules(
      hasAppearance: resolution.appearance(isLarge: resolution.isLarge) != nil)
  }

  /// Whether they hold for these screens if they hold for the parts.
  ///
  /// O(1); with large titles, O(screens above the nearest one that is not automatic).
  package func hold(for stack: [Screen]) -> Bool {
    !mayBeLarge || isLarge == Resolution.isLarge(stack)
  }

  /// The title that the bar shows; nil for none.
  package func title(of top: Screen) -> String? { isStandalone ? nil : top.title }

  /// The text of a back button that shows the title of the screen below as it is; nil if it shows
  /// anything else.
  package func wholeBackTitle(of previous: Screen) -> String? {
    guard previous.hasDefaultDetails, !isStandalone, let title = previous.title, !title.isEmpty,
      backButton.fits(title)
    else { return nil }
    return title
  }

  /// The back button of a title that is shown as it is.
  package func backSlot(wholeTitle title: String) -> ResolvedBar.BackSlot {
    backButton.whole(title, source: .title)
  }

  /// The back button above a screen.
  package func backSlot(of previous: Screen) -> ResolvedBar.BackSlot {
    backButton.slot(of: previous)
  }

  /// Whether a swipe may pop the top of so many screens.
  package func allowsSwipeBack(depth: Int) -> Bool { depth >= 2 && mayBeSwiped }
}

extension BarRules: Equatable {
  /// Equality of all that they say.
  package static func == (left: BarRules, right: BarRules) -> Bool {
    left.isLarge == right.isLarge && left.mayBeLarge == right.mayBeLarge
      && left.isStandalone == right.isStandalone && left.mayBeSwiped == right.mayBeSwiped
      && left.backButton == right.backButton
  }
}

extension NavigationController {
  /// The rules for titles, back button and swipe that hold until a part changes.
  package func barRules() -> BarRules { BarRules(Resolution(self), mayBeSwiped: mayBeSwiped) }

  /// Whether the bar of a controller shows nothing but its screens make of parts at their defaults.
  package var hasStandardBarParts: Bool {
    !isStandalone && bar.isDefault && toolbar.isDefault && environment.isDefault
      && settings.isDefault
  }

  /// The revision at which something last changed that what the bar shows depends on, but for the
  /// screens and what is presented.
  package var barPartsVersion: Revision {
    max(max(bar.version, toolbar.version), max(environment.version, settings.version))
  }

  /// The revision at which a part last changed.
  package var partsVersion: Revision {
    max(barPartsVersion, max(presented.version, transition.version))
  }
}

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
