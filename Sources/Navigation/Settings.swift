/// How one nav behaves; set by `nav.configure`.
///
/// Durations are in milliseconds. Whether the controller is attached is kept beside it, in `NavigationController.isAttached`,
/// because almost every nav is and few have other settings.
package struct Settings: PartContent {
  /// The container the controller sits in; opaque, no behaviour.
  package var container: OpaqueJSON?
  /// UIKit's `restorationIdentifier` of the controller.
  package var restorationID: String?
  /// Whether swiping back is possible, and where a swipe may begin.
  package var interactivePop = InteractivePop()
  /// Pairs of gesture kinds that may be recognised together.
  package var simultaneous: OpaqueJSON?
  /// UIKit's `hidesBarsOnTap`.
  package var hidesBarsOnTap = false
  /// UIKit's `hidesBarsOnSwipe`.
  package var hidesBarsOnSwipe = false
  /// UIKit's `hidesBarsWhenVerticallyCompact`.
  package var hidesBarsWhenVerticallyCompact = false
  /// UIKit's `hidesBarsWhenKeyboardAppears`.
  package var hidesBarsWhenKeyboardAppears = false
  /// Which operations must be guarded.
  package var guardPolicy = GuardPolicy.removal
  /// Which operations ask the veto delegates.
  package var vetoScope = VetoScope.pushpop
  /// Deadline and policy of veto questions.
  package var veto = Veto()
  /// How long a data question waits, 1 … 60 000 ms.
  package var questionDeadline: UInt64 = 250
  /// When an unfinished animation is completed, 1 … 60 000 ms.
  package var transitionDeadline: UInt64 = 1000
  /// When a gesture without sign of life is cancelled, 1 … 600 000 ms.
  package var gestureDeadline: UInt64 = 10000
  /// How many operations may wait for a transition, 0 … 64.
  package var queue: UInt64 = 8
  /// Which version of UIKit's rules apply.
  package var profile = Profile()
  /// UIKit's appearance proxies: what all bars of a class look like unless they say otherwise.
  package var proxy: [String: BarLook] = [:]
  /// Route templates for `open`.
  package var routes: OpaqueJSON?

  /// Makes the default settings.
  package init() {}
}

/// UIKit's `interactivePopGestureRecognizer` as a setting.
package struct InteractivePop: Hashable, Sendable {
  /// Whether the gesture may begin.
  package var isEnabled = true
  /// Whether it begins at the screen's edge or anywhere.
  package var isFullScreen = false

  /// Makes the default swipe back: enabled, and only from the screen's edge.
  package init() {}
}

/// Which operations must carry a guard.
package enum GuardPolicy: UInt8, Sendable {
  /// None.
  case none
  /// Those that remove by position; the default.
  case removal
  /// All that change the nav.
  case all
}

/// Which operations ask the veto delegates.
package enum VetoScope: UInt8, Sendable {
  /// Pushes and pops; the default.
  case pushpop
  /// Whole-stack replacements too.
  case all
}

/// What happens when a veto question is not answered.
package struct Veto: Hashable, Sendable {
  /// Milliseconds for the whole round of one operation, 1 … 60 000.
  package var deadline: UInt64 = 2000
  /// Whether silence allows the operation; by default it denies it.
  package var allowsOnTimeout = false
  /// Whether a missing veto delegate counts as silence.
  package var isRequired = false

  /// Makes the default.
  package init() {}
}

/// Switches between versions of UIKit's rules.
package struct Profile: Hashable, Sendable {
  /// The major version of iOS whose rules apply.
  package var os: UInt64 = 17
  /// The bar's height in points when vertically compact.
  package var compactHeight: UInt64 = 32
  /// Whether a shadow image needs a background image to take effect.
  package var shadowNeedsBackground = true
  /// Whether `pageCurl` and `close` are accepted as system items.
  package var extraSystemItems = false

  /// Makes the default profile.
  package init() {}
}

/// One member of the settings to set.
package enum SettingsEdit: Hashable, Sendable {
  /// Each member is replaced whole.
  case container(OpaqueJSON?)
  case restorationID(String?)
  case interactivePop(InteractivePop)
  case simultaneous(OpaqueJSON?)
  case hidesBarsOnTap(Bool)
  case hidesBarsOnSwipe(Bool)
  case hidesBarsWhenVerticallyCompact(Bool)
  case hidesBarsWhenKeyboardAppears(Bool)
  case guardPolicy(GuardPolicy)
  case vetoScope(VetoScope)
  case veto(Veto)
  case questionDeadline(UInt64)
  case transitionDeadline(UInt64)
  case gestureDeadline(UInt64)
  case queue(UInt64)
  case profile(Profile)
  case proxy([String: BarLook])
  case routes(OpaqueJSON?)
}

extension Settings {
  /// Sets one member.
  package mutating func apply(_ edit: SettingsEdit) {
    switch edit {
    case .container(let value): container = value
    case .restorationID(let value): restorationID = value
    case .interactivePop(let value): interactivePop = value
    case .simultaneous(let value): simultaneous = value
    case .hidesBarsOnTap(let value): hidesBarsOnTap = value
    case .hidesBarsOnSwipe(let value): hidesBarsOnSwipe = value
    case .hidesBarsWhenVerticallyCompact(let value): hidesBarsWhenVerticallyCompact = value
    case .hidesBarsWhenKeyboardAppears(let value): hidesBarsWhenKeyboardAppears = value
    case .guardPolicy(let value): guardPolicy = value
    case .vetoScope(let value): vetoScope = value
    case .veto(let value): veto = value
    case .questionDeadline(let value): questionDeadline = value
    case .transitionDeadline(let value): transitionDeadline = value
    case .gestureDeadline(let value): gestureDeadline = value
    case .queue(let value): queue = value
    case .profile(let value): profile = value
    case .proxy(let value): proxy = value.filter { $0.value != BarLook() }
    case .routes(let value): routes = value
    }
  }
}
