/// UINavigationBar's own state; what it shows comes from the items.
package struct Bar: PartContent {
  /// The bar's class, fixed at creation.
  package var className = "NavigationBar"
  /// UIKit's `isNavigationBarHidden`.
  package var isHidden = false
  /// What hid the bar by itself, and what it hid with it; nil when nothing or nobody but a client did.
  package var hid: AutomaticHiding?
  /// The members that an appearance proxy may set too.
  package var look = BarLook()
  /// UIKit's `tintColor`, of buttons; not a member of the proxy.
  package var tintColor: String?
  /// Stored, without effect: it is hidden behind the background.
  package var backgroundColor: String?
  /// UIKit's `prefersLargeTitles`.
  package var prefersLargeTitles = false
  /// The bar's appearance objects.
  package var appearance = AppearanceSet()

  /// Makes the default bar.
  package init() {}
}

/// UIToolbar's own state; its items come from the top screen.
package struct Toolbar: PartContent {
  /// The toolbar's class, fixed at creation.
  package var className = "Toolbar"
  /// UIKit's `isToolbarHidden`; hidden by default.
  package var isHidden = true
  /// UIKit's `barStyle`.
  package var barStyle: BarStyle?
  /// UIKit's `tintColor`.
  package var tintColor: String?
  /// UIKit's `barTintColor`.
  package var barTintColor: String?
  /// UIKit's `isTranslucent`.
  package var translucent: Bool?

  /// Makes the default toolbar.
  package init() {}
}

/// Bars that hid by themselves: showing them again shows only what went with them.
package struct AutomaticHiding: Hashable, Sendable {
  /// What hid them.
  package var cause: HidingCause
  /// Whether the toolbar went with the bar.
  package var toolbar: Bool

  /// Makes a value from its members.
  package init(cause: HidingCause, toolbar: Bool) {
    self.cause = cause
    self.toolbar = toolbar
  }
}

/// What hides bars by itself.
package enum HidingCause: UInt8, CaseIterable, Sendable {
  /// UIKit's `hidesBarsOnTap`, `…OnSwipe`, `…WhenKeyboardAppears`, `…WhenVerticallyCompact`.
  case tap, swipe, keyboard, vCompact
}

/// UIBarStyle.
package enum BarStyle: UInt8, CaseIterable, Sendable {
  /// White with black text.
  case `default`
  /// Black with white text.
  case black
}

/// The members of a bar that are marked as appearance members: set on a bar, or for a class of bars
/// on the proxy. Nil means unset.
package struct BarLook: Hashable, Sendable {
  /// UIKit's `barStyle`.
  package var barStyle: BarStyle?
  /// UIKit's `isTranslucent`; unset it follows the background image.
  package var translucent: Bool?
  /// UIKit's `barTintColor`, of the background.
  package var barTintColor: String?
  /// UIKit's `titleTextAttributes`.
  package var titleTextAttributes = TitleTextAttributes()
  /// UIKit's title vertical position adjustments, in points; a slot without value is 0.
  package var titleOffsets: [BarMetrics: OpaqueJSON] = [:]
  /// UIKit's background images.
  package var backgroundImages: [BackgroundSlot: ImageReference] = [:]
  /// UIKit's `shadowImage`.
  package var shadowImage: ImageReference?
  /// UIKit's `backIndicatorImage`.
  package var backIndicatorImage: ImageReference?
  /// UIKit's `backIndicatorTransitionMaskImage`.
  package var backIndicatorMask: ImageReference?

  /// Makes a look in which nothing is set.
  package init() {}
}

/// UIKit's title text attributes: opaque but for the colour, which the bar's text falls back from.
package struct TitleTextAttributes: Hashable, Sendable {
  /// The font, as the client wrote it.
  package var font: OpaqueJSON?
  /// The colour of the text.
  package var color: String?
  /// The colour of its shadow, as the client wrote it.
  package var shadowColor: OpaqueJSON?
  /// The offset of its shadow, as the client wrote it.
  package var shadowOffset: OpaqueJSON?

  /// Makes a value without attributes.
  package init() {}
}

/// UIBarMetrics.
package enum BarMetrics: UInt8, CaseIterable, Sendable {
  /// The four combinations of height class and prompt.
  case `default`, compact, defaultPrompt, compactPrompt
}

/// UIBarPosition.
package enum BarPosition: UInt8, CaseIterable, Sendable {
  /// Where a bar is.
  case any, bottom, top, topAttached
}

/// Where a background image is used.
package struct BackgroundSlot: Hashable, Sendable {
  /// The position of the bar.
  package var position: BarPosition
  /// Its metrics.
  package var metrics: BarMetrics

  /// Makes a value from its members.
  package init(_ position: BarPosition, _ metrics: BarMetrics) {
    self.position = position
    self.metrics = metrics
  }
}
