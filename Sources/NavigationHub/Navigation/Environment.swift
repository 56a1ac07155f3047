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
  package var statusBarHeight: UInt64 = 20
  /// The largest width of the back button's text, in columns of `DisplayWidth`; nil for no limit.
  package var backTitleColumns: Int?
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
  package var delegateOrientations: DelegateOrientations?

  package init() {}
}

/// The animations that a person wants.
package enum Animations: UInt8, CaseIterable, Sendable {
  /// All animations; the default.
  case on
  /// No animations: no change opens a transition.
  case off
  /// A short fade in place of movement.
  case reduced
}

/// UIKit's `UIContentSizeCategory`.
package enum ContentSizeCategory: UInt8, CaseIterable, Sendable {
  /// The sizes, the smallest first; `large` is the default.
  case extraSmall, small, medium, large, extraLarge, extraExtraLarge, extraExtraExtraLarge,
    accessibilityMedium, accessibilityLarge, accessibilityExtraLarge,
    accessibilityExtraExtraLarge, accessibilityExtraExtraExtraLarge
}

/// An orientation of a display.
package enum Orientation: UInt8, CaseIterable, Sendable {
  /// Upright, the top of the device up.
  case portrait
  /// Upside down.
  case portraitUpsideDown
  /// UIKit's interface orientation `landscapeLeft`.
  case landscapeLeft
  /// UIKit's interface orientation `landscapeRight`.
  case landscapeRight
}

/// The orientations that a delegate supports, and the one it prefers.
package struct DelegateOrientations: Hashable, Sendable {
  /// The supported orientations, in the delegate's order.
  package var supported: [Orientation]
  /// The preferred orientation, one of `supported`; nil if the delegate prefers none.
  package var preferred: Orientation?
}
