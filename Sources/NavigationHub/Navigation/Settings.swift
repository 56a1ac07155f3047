package import NavigationCore

/// The settings of one nav, changed by `nav.configure`.
///
/// Durations are in milliseconds. Whether the controller is attached is stored in
/// `NavigationController.isAttached` instead, because almost every nav is attached and few have
/// other settings.
package struct Settings: PartContent, EditableRecord {
  /// The container of the controller; opaque, without effect.
  package var container: OpaqueJSON?
  /// UIKit's `restorationIdentifier` of the controller.
  package var restorationID: String?
  /// Whether swiping back is possible, and where a swipe may begin.
  package var interactivePop = InteractivePop()
  /// Whether swiping back is possible while no back button is visible.
  ///
  /// UIKit allows this only to applications that give its recogniser a delegate of their own.
  package var interactivePopWithoutBackButton = false
  /// Pairs of gesture kinds that may be recognised together.
  package var simultaneousGestures: OpaqueJSON?
  package var hidesBarsOnTap = false
  package var hidesBarsOnSwipe = false
  package var hidesBarsWhenVerticallyCompact = false
  package var hidesBarsWhenKeyboardAppears = false
  /// Whether bars that a tap, a swipe or the keyboard hid show again on the next top.
  package var showsBarsOnNextScreen = false
  /// Whether `open` dismisses what is presented, unless it says otherwise.
  package var dismissesOnOpen = false
  /// Whether a popover over the stack is dismissed when another screen becomes the top.
  package var dismissesPopoversWithPage = false
  /// What happens to operations that meet an open transition and do not say it themselves.
  package var onBusy = BusyPolicy.reject
  package var guardPolicy = GuardPolicy.removal
  package var vetoScope = VetoScope.pushpop
  package var veto = Veto()
  /// The time for an animator or interaction delegate to answer, 1 … 60 000 ms.
  package var questionDeadlineMilliseconds: UInt64 = 250
  /// The time after which navd completes an unfinished animation, 1 … 60 000 ms.
  package var transitionDeadlineMilliseconds: UInt64 = 1000
  /// The time without an update after which navd cancels a gesture, 1 … 600 000 ms.
  package var gestureDeadlineMilliseconds: UInt64 = 10000
  /// How many ops may wait for a transition or question to end, 0 … 64.
  package var waitingOpLimit: UInt64 = 8
  /// The version of UIKit's rules that applies.
  package var profile = Profile()
  /// The general words for a back button without a title, by canonical language tag.
  package var backTitles: [Text: Text] = [:]
  /// UIKit's appearance proxies by class: those of `$appearance`, as far as they concern this nav.
  package var appearanceProxies: [Text: BarLook] = [:]
  /// Route templates for `open`.
  package var routes: OpaqueJSON?

  package init() {}
}

/// UIKit's `interactivePopGestureRecognizer` as a setting.
package struct InteractivePop: Hashable, Sendable {
  package var isEnabled = true
  /// Whether the swipe may begin anywhere on the screen; else it must begin at the edge.
  package var isFullScreen = false
}

/// The operations that need a guard.
package enum GuardPolicy: UInt8, CaseIterable, Sendable {
  /// No operation.
  case none
  /// Operations that remove screens by position; the default.
  case removal
  /// All operations.
  case all
}

/// The operations about which the daemon asks delegates with the role veto.
package enum VetoScope: UInt8, CaseIterable, Sendable {
  /// Pushes and pops; the default.
  case pushpop
  /// Dismissals, and nothing else.
  case dismiss
  /// Pushes, pops, dismissals, and replacements of the whole stack.
  case all
}

/// The time limit of veto questions, and the decision when it passes.
package struct Veto: Hashable, Sendable {
  /// The time for all veto delegates together to answer for one op, 1 … 60 000 ms.
  package var deadlineMilliseconds: UInt64 = 2000
  /// Whether a missing answer allows the operation; by default it refuses the operation.
  package var allowsOnTimeout = false
  /// Whether the lack of a veto delegate counts as a missing answer.
  package var requiresDelegate = false
}

/// Switches between versions of UIKit's rules.
package struct Profile: Hashable, Sendable {
  /// The major version of iOS whose rules apply.
  package var iOS: UInt64 = 17
  /// The bar's height in points when vertically compact.
  package var compactBarHeight: UInt64 = 32
  /// Whether a shadow image needs a background image to take effect.
  package var shadowNeedsBackground = true
  /// Whether `pageCurl` and `close` are accepted as system items.
  package var allowsExtraSystemItems = false
}
