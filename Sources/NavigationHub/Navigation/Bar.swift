package import NavigationCore

/// The state of a UINavigationBar itself: class, visibility, colours and appearance.
///
/// Titles and buttons come from the navigation items of the screens.
package struct Bar: PartContent, EditableRecord {
  /// The bar's class, fixed at creation.
  package var className = "NavigationBar"
  /// UIKit's `isNavigationBarHidden`.
  package var isHidden = false
  /// Whether the bar is hidden on screens without a preference; nil unless the preference of the top
  /// makes a difference.
  package var isHiddenElsewhere: Bool?
  /// The automatic hiding in force; nil if the bar is shown, or if a client or a screen hid it.
  package var automaticHiding: AutomaticHiding?
  /// The members that an appearance proxy can set too, for all bars of a class.
  package var look = BarLook()
  /// UIKit's `tintColor`, the colour of the buttons; an appearance proxy cannot set it.
  package var tintColor: String?
  /// UIKit's `backgroundColor`; stored without effect, because the bar's background covers it.
  package var backgroundColor: String?
  package var prefersLargeTitles = false
  package var appearance = AppearanceSet()

  package init() {}
}

/// The state of a UIToolbar itself; its items come from the top screen.
package struct Toolbar: PartContent, EditableRecord {
  /// The toolbar's class, fixed at creation.
  package var className = "Toolbar"
  /// UIKit's `isToolbarHidden`; hidden by default.
  package var isHidden = true
  /// Whether the toolbar is hidden on screens without a preference; nil unless the preference of the
  /// top makes a difference.
  package var isHiddenElsewhere: Bool?
  package var barStyle: BarStyle?
  package var tintColor: String?
  package var barTintColor: String?
  package var translucent: Bool?

  package init() {}
}

/// A rule that hid the bar automatically, and whether it hid the toolbar too.
///
/// When a rule shows the bar again, the toolbar reappears only if this hiding hid it.
package struct AutomaticHiding: Hashable, Sendable {
  package var cause: HidingCause
  /// Whether the rule hid the toolbar together with the bar.
  package var includesToolbar: Bool
}

/// The rules of UIKit by which a controller hides its bars automatically.
package enum HidingCause: UInt8, CaseIterable, Sendable {
  /// UIKit's `hidesBarsOnTap`, `…OnSwipe`, `…WhenKeyboardAppears`, `…WhenVerticallyCompact`.
  case tap, swipe, keyboard, vCompact
}

/// The style of a bar.
package enum BarStyle: UInt8, CaseIterable, Sendable {
  /// Dark on light.
  case `default`
  /// Light on dark.
  case black
}

/// The look of a bar: what a client sets on one bar, or by an appearance proxy on a class of bars.
///
/// A member that is nil is unset.
package struct BarLook: Hashable, Sendable {
  package var barStyle: BarStyle?
  /// UIKit's `isTranslucent`; nil makes the bar translucent unless its background image is opaque.
  package var translucent: Bool?
  /// UIKit's `barTintColor`, the colour of the background.
  package var barTintColor: String?
  package var titleTextAttributes = TitleTextAttributes()
  /// UIKit's title vertical position adjustments, in points; a slot without value is 0.
  package var titleOffsets: [BarMetrics: OpaqueJSON] = [:]
  /// UIKit's background images, by the position and the metrics of the bar.
  package var backgroundImages: [BackgroundSlot: ImageReference] = [:]
  package var shadowImage: ImageReference?
  package var backIndicatorImage: ImageReference?
  /// UIKit's `backIndicatorTransitionMaskImage`.
  package var backIndicatorMask: ImageReference?

  /// Whether only members are set that a toolbar has, too.
  var suitsToolbars: Bool {
    self == BarLook(barStyle: barStyle, translucent: translucent, barTintColor: barTintColor)
  }
}

/// UIKit's title text attributes.
///
/// navd interprets only `color`, and keeps the other values as the client wrote them. Without a
/// colour the title is white in bar style `black`, else black.
package struct TitleTextAttributes: EditableRecord {
  package var font: OpaqueJSON?
  package var color: String?
  package var shadowColor: OpaqueJSON?
  package var shadowOffset: OpaqueJSON?

  package init() {}
}

/// UIKit's `UIBarMetrics`: the height class of a bar, and whether it has a prompt.
package enum BarMetrics: UInt8, CaseIterable, Sendable {
  /// The regular height.
  case `default`
  /// The compact height, as on a phone in landscape.
  case compact
  /// The regular height, with a prompt.
  case defaultPrompt
  /// The compact height, with a prompt.
  case compactPrompt
}

/// UIKit's `UIBarPosition`: where a bar is on the display.
package enum BarPosition: UInt8, CaseIterable, Sendable {
  /// Unspecified; an image for it applies where the exact position has none.
  case any
  /// At the bottom of its container.
  case bottom
  /// At the top of its container.
  case top
  /// At the top of the display, below the status bar.
  case topAttached
}

/// The position and the metrics of a bar for which a background image is set.
package struct BackgroundSlot: Hashable, Sendable {
  package var position: BarPosition
  package var metrics: BarMetrics

  package init(_ position: BarPosition, _ metrics: BarMetrics) {
    self.position = position
    self.metrics = metrics
  }
}

/// A direction of a swipe.
package enum SwipeDirection: UInt8, CaseIterable, Sendable {
  /// Up, towards the bar.
  case up
  /// Down, away from the bar.
  case down
}

/// The state of the bar in which an appearance applies, such as UIKit's `standardAppearance`.
package enum AppearanceSlot: UInt8, CaseIterable, Sendable {
  /// All states without an appearance of their own.
  case standard
  /// The height is compact.
  case compact
  /// The content is scrolled to its edge.
  case scrollEdge
  /// The height is compact and the content is scrolled to its edge.
  case compactScrollEdge
}
