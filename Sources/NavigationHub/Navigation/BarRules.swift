package import NavigationCore

/// The rules for titles, back button and swipe, valid while the top screen has default details.
///
/// Meanwhile the rest of the resolved bar changes only in the ids of screens, as long as no part
/// changes. So a cache need not compute the rest again.
package final class BarRules: Sendable {
  package let isLarge: Bool
  private let mayBeLarge: Bool
  private let isStandalone: Bool
  private let mayBeSwiped: Bool
  let backButton: BackButtonRules

  init(_ resolution: Resolution, mayBeSwiped: Bool) {
    mayBeLarge = resolution.mayBeLarge
    isLarge = resolution.isLarge
    isStandalone = resolution.isStandalone
    assert(mayBeLarge || !isLarge)
    assert(!isStandalone || !mayBeSwiped, "a standalone bar has no swipe")
    self.mayBeSwiped = mayBeSwiped
    backButton = resolution.backButtonRules(
      hasAppearance: resolution.appearance(isLarge: resolution.isLarge) != nil)
  }

  /// Whether the rules are valid for `stack`, provided that no part has changed and the top screen
  /// has default details.
  ///
  /// O(1); if titles may be large, O(screens from the top down to the nearest one that is not
  /// automatic).
  package func hold(for stack: [Screen]) -> Bool {
    !mayBeLarge || isLarge == Resolution.isLarge(stack)
  }

  /// Calls `body` with the title that the bar shows, as UTF-8 bytes; does nothing without one.
  @inline(__always)
  package func withTitle(of top: Screen, _ body: (Span<UInt8>) -> Void) {
    if !isStandalone { top.withTitle(body) }
  }

  /// Whether the back button's text is the whole title of `previous`.
  ///
  /// False if `previous` has details of its own, which only `backSlot(of:)` considers.
  package func showsWholeTitle(of previous: Screen) -> Bool {
    backButton.showsWholeTitle(of: previous)
  }

  package func backSlot(wholeTitle title: String) -> ResolvedBar.BackSlot {
    backButton.whole(title, source: .title)
  }

  /// The back button of a bar whose top screen lies directly above `previous`.
  package func backSlot(of previous: Screen) -> ResolvedBar.BackSlot {
    backButton.slot(of: previous)
  }

  /// Whether a swipe may pop the top of a stack of `depth` screens, if no presented screen covers it.
  package func allowsSwipeBack(depth: Int) -> Bool {
    assert(depth >= 0)
    return depth >= 2 && mayBeSwiped
  }
}

extension BarRules: Equatable {
  /// Equality of all rules; two objects made from different states can be equal.
  package static func == (left: BarRules, right: BarRules) -> Bool {
    left.isLarge == right.isLarge && left.mayBeLarge == right.mayBeLarge
      && left.isStandalone == right.isStandalone && left.mayBeSwiped == right.mayBeSwiped
      && left.backButton == right.backButton
  }
}

extension NavigationController {
  /// Makes the rules by which the parts decide titles, back button and swipe.
  ///
  /// Make new ones when one of the six parts changes, or when `hold(for:)` returns false.
  package func barRules() -> BarRules { BarRules(Resolution(self), mayBeSwiped: mayBeSwiped) }

  /// Whether this is a controller whose bar, toolbar, environment and settings are at their
  /// defaults.
  package var hasStandardBarParts: Bool {
    !isStandalone && bar.isDefault && toolbar.isDefault && environment.isDefault
      && settings.isDefault
  }

  /// The newest revision that changed the bar, toolbar, environment or settings part.
  ///
  /// The resolved bar depends on these parts, on the stack and on the presented screens.
  package var barPartsVersion: Revision {
    max(max(bar.version, toolbar.version), max(environment.version, settings.version))
  }

  /// The newest revision that changed any of the six parts.
  package var partsVersion: Revision {
    max(barPartsVersion, max(presented.version, transition.version))
  }
}

/// How the parts of a nav affect the back button: language, width limit, indicator and images.
///
/// The screen below the top supplies the title or image, see `slot(of:)`.
struct BackButtonRules: Hashable, Sendable {
  var isStandalone: Bool
  var usesLandscapeImages: Bool
  /// The generic text in the environment's language, such as `Back`.
  var generic: String
  /// The largest width of a text, in columns of `DisplayWidth`; nil for no limit.
  var budget: Int?
  /// The arrow beside the text or image.
  var indicator: ResolvedBar.BackIndicator

  /// Whether the text of the button above this screen is the screen's whole title.
  ///
  /// False if the screen has details of its own, which only `slot(of:)` considers.
  func showsWholeTitle(of previous: Screen) -> Bool {
    guard previous.hasDefaultDetails, !isStandalone, previous.titleByteCount > 0 else {
      return false
    }
    // No character has more columns than bytes.
    guard let budget, previous.titleByteCount > budget else { return true }
    return previous.title.map { fits($0) } ?? false
  }

  /// The button above this screen.
  func slot(of previous: Screen) -> ResolvedBar.BackSlot {
    guard !previous.hasDefaultDetails else { return slot(of: previous, item: nil) }
    let details = previous.details
    let button = details.item.backBarButtonItem
    var slot = button.map(slot(of:)) ?? slot(of: previous, item: details.item)
    guard slot.source != .generic else { return slot }
    let title = details.titleAccessibility
    slot.accessibility = button?.content.accessibility ?? title
    // The generic word is in the language of the display.
    let saysGeneric = slot.isGeneric && slot.accessibility[.label] == nil
    slot.accessibility[.language] = saysGeneric ? nil : title[.language]
    return slot
  }

  private func slot(of previous: Screen, item: NavigationItem?) -> ResolvedBar.BackSlot {
    // An empty title counts as unset for the back button. In the middle of the bar it is an
    // explicit blank.
    if let title = item?.title, !title.isEmpty { return fit(title, source: .title) }
    if !isStandalone, let title = previous.title, !title.isEmpty {
      return fit(title, source: .title)
    }
    // The generic text is the last resort, so the width limit does not apply to it.
    return ResolvedBar.BackSlot(
      text: generic, source: .generic, indicator: indicator, isGeneric: true, generic: generic)
  }

  private func slot(of button: Button) -> ResolvedBar.BackSlot {
    let content = button.content
    if let image = (usesLandscapeImages ? content.landscapeImage : nil) ?? content.image {
      return ResolvedBar.BackSlot(
        image: image, title: content.title, source: .backItem, indicator: indicator)
    }
    // A custom view or system item is ignored, which leaves the indicator alone.
    guard let title = content.title, !title.isEmpty else {
      return ResolvedBar.BackSlot(source: .backItem, indicator: indicator)
    }
    return fit(title, source: .backItem)
  }

  /// Returns the button with the title if that fits, else with the generic text if that fits, else
  /// without a text.
  private func fit(_ title: String, source: ResolvedBar.BackSource) -> ResolvedBar.BackSlot {
    assert(!title.isEmpty, "an empty title has its own rules")
    guard !fits(title) else { return whole(title, source: source) }
    assert(budget != nil, "\(title) is too long without a budget")
    let isGeneric = fits(generic)
    return ResolvedBar.BackSlot(
      text: isGeneric ? generic : nil, source: source, indicator: indicator, isGeneric: isGeneric,
      isTruncated: true, wanted: title, generic: generic)
  }

  func whole(_ title: String, source: ResolvedBar.BackSource) -> ResolvedBar.BackSlot {
    assert(!title.isEmpty, "an empty title is not shown")
    return ResolvedBar.BackSlot(
      text: title, source: source, indicator: indicator, wanted: title, generic: generic)
  }

  func fits(_ text: String) -> Bool {
    guard let budget else { return true }
    return DisplayWidth.columns(of: text) <= budget
  }
}
