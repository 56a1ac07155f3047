package import NavigationCore

/// The display and its device, as a client reports them, and the delegate's orientations.
package struct Environment: PartContent, EditableRecord {
  /// The name of the client that holds the display lease.
  package var owner: String?
  /// Whether the device is a phone; else a pad.
  package var isPhone = true
  /// Whether the height is compact, as on a phone in landscape.
  package var isVerticallyCompact = false
  /// Whether the edge of the scrolled content meets the bar, as UIKit's scroll edge.
  package var isAtScrollEdge = false
  package var showsKeyboard = false
  /// Pixels per point; the value as the client wrote it.
  package var scale: OpaqueJSON?
  /// The status bar's height in points.
  package var statusBar: UInt64 = 20
  /// The largest width of the back button's text, in columns of `DisplayWidth`; nil for no limit.
  package var backTitleBudget: Int?
  /// The language of the generic back title, as a language tag.
  package var locale = "en"
  package var orientation = Orientation.portrait
  package var barPosition = BarPosition.any
  package var animations = Animations.on
  /// UIKit's `isVoiceOverRunning`.
  package var hasScreenReader = false
  /// UIKit's `preferredContentSizeCategory`.
  package var contentSizeCategory = ContentSizeCategory.large
  /// UIKit's `accessibilityContrast`.
  package var hasHighContrast = false
  /// The orientation delegate's answer; nil without such a delegate.
  package var orientations: DelegateOrientations?

  package init() {}
}

/// The animations that the person at the display wants, as UIKit's accessibility settings have them.
package enum Animations: UInt8, CaseIterable, Sendable {
  /// All animations.
  case on
  /// None: no change opens a transition.
  case off
  /// A short fade in place of movement.
  case reduced
}

/// UIContentSizeCategory: the size of text that the person at the display wants.
package enum ContentSizeCategory: UInt8, CaseIterable, Sendable {
  /// UIKit's twelve sizes, the smallest first.
  case extraSmall, small, medium, large, extraLarge, extraExtraLarge, extraExtraExtraLarge,
    accessibilityMedium, accessibilityLarge, accessibilityExtraLarge,
    accessibilityExtraExtraLarge, accessibilityExtraExtraExtraLarge
}

/// UIInterfaceOrientation.
package enum Orientation: UInt8, CaseIterable, Sendable {
  /// The four orientations, in the order in which lists name them.
  case portrait, portraitUpsideDown, landscapeLeft, landscapeRight
}

/// The orientations that a delegate supports, and the one it prefers.
package struct DelegateOrientations: Hashable, Sendable {
  /// The supported orientations, in the delegate's order.
  package var supported: [Orientation]
  /// The preferred orientation, one of `supported`; nil if the delegate prefers none.
  package var preferred: Orientation?
}
