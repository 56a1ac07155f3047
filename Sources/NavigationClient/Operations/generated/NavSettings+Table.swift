// Written from the tables of members in the core; see GeneratedTests.

import NavigationCore

/// One of the settings of a nav, for ``NavigationOperation/configure(_:)``.
///
/// Members that are not named keep their values; ``reset(_:)`` resets one to its default.
public struct NavigationSetting: Hashable, Sendable {
  let member: JSONObject.Member

  init(_ name: String, _ value: NavigationValue) { self.init(name, json: value.octets) }

  private init(_ name: String, json value: OpaqueJSON) {
    member = .init(name: name, value: value)
  }

  /// Resets a member to its default.
  public static func reset(_ name: Name) -> NavigationSetting { .init(name.rawValue, nil) }

  /// The names of the members, as the functions that set them.
  public enum Name: String, Hashable, Sendable, CaseIterable {
    // swift-format-ignore: BeginDocumentationCommentWithOneLineSummary
    /// A member, as the function of the same name sets it.
    case container, restorationID, interactivePop, interactivePopWithoutBackButton, simultaneous,
      hidesBarsOnTap, hidesBarsOnSwipe, hidesBarsWhenVerticallyCompact,
      hidesBarsWhenKeyboardAppears, showsBarsOnNextScreen, dismissesOnOpen,
      dismissesPopoversWithPage, onBusy, guards = "guard", vetoScope, veto, questionDeadline,
      transitionDeadline, gestureDeadline, queue, profile, backTitles, routes
  }
}

extension NavigationSetting {
  /// The container of the nav, as the application names it; the daemon does not interpret it.
  public static func container(_ value: NavigationValue) -> NavigationSetting {
    .init("container", value)
  }

  /// The restoration id of the nav; without it, ``NavigationAspect/restoration`` is empty.
  public static func restorationID(_ id: String) -> NavigationSetting {
    .init("restorationID", .string(id))
  }

  /// Whether a swipe pops the top screen, and where the swipe can begin.
  public static func interactivePop(
    isEnabled: Bool = true,
    _ mode: NavigationGestureKind = .edge
  ) -> NavigationSetting {
    .init(
      "interactivePop",
      [
        "enabled": .bool(isEnabled),
        "mode": .string(mode.rawValue),
      ])
  }

  /// Whether a swipe can pop the top screen while no back button is visible.
  public static func interactivePopWithoutBackButton(_ isOn: Bool) -> NavigationSetting {
    .init("interactivePopWithoutBackButton", .bool(isOn))
  }

  /// Pairs of gestures that displays can recognise at the same time.
  public static func simultaneous(
    _ pairs: [(NavigationGestureKind, NavigationGestureKind)]
  ) -> NavigationSetting {
    .init(
      "simultaneous",
      .array(pairs.map { .array([.string($0.0.rawValue), .string($0.1.rawValue)]) }))
  }

  /// Whether a tap on the content hides or shows the bars.
  public static func hidesBarsOnTap(_ isOn: Bool) -> NavigationSetting {
    .init("hidesBarsOnTap", .bool(isOn))
  }

  /// Whether a swipe up hides the bars and a swipe down shows them.
  public static func hidesBarsOnSwipe(_ isOn: Bool) -> NavigationSetting {
    .init("hidesBarsOnSwipe", .bool(isOn))
  }

  /// Whether the bars are hidden while the height is compact.
  public static func hidesBarsWhenVerticallyCompact(_ isOn: Bool) -> NavigationSetting {
    .init("hidesBarsWhenVerticallyCompact", .bool(isOn))
  }

  /// Whether the bars are hidden while a keyboard is visible.
  public static func hidesBarsWhenKeyboardAppears(_ isOn: Bool) -> NavigationSetting {
    .init("hidesBarsWhenKeyboardAppears", .bool(isOn))
  }

  /// Whether bars that a tap, a swipe or the keyboard hid show again on the next top screen.
  public static func showsBarsOnNextScreen(_ isOn: Bool) -> NavigationSetting {
    .init("showsBarsOnNextScreen", .bool(isOn))
  }

  /// Whether opening a route dismisses what is presented, unless it says otherwise.
  public static func dismissesOnOpen(_ isOn: Bool) -> NavigationSetting {
    .init("dismissesOnOpen", .bool(isOn))
  }

  /// Whether a popover over the stack goes when the top screen changes.
  public static func dismissesPopoversWithPage(_ isOn: Bool) -> NavigationSetting {
    .init("dismissesPopoversWithPage", .bool(isOn))
  }

  /// What happens to operations that meet an open transition and do not say it themselves.
  public static func onBusy(_ policy: NavigationBusyPolicy) -> NavigationSetting {
    .init("onBusy", .string(policy.rawValue))
  }

  /// The operations that need a guard.
  public static func guards(_ policy: GuardPolicy) -> NavigationSetting {
    .init("guard", .string(policy.rawValue))
  }

  /// The operations about which the daemon asks delegates with the role veto.
  public static func vetoScope(_ scope: VetoScope) -> NavigationSetting {
    .init("vetoScope", .string(scope.rawValue))
  }

  /// The rules for delegates with the role veto.
  ///
  /// They are the time for all questions of one operation, 1 ms … 60 s, the decision without an
  /// answer, and whether operations fail if there is no such delegate.
  public static func veto(
    deadline: Duration = .seconds(2),
    onTimeout policy: VetoPolicy = .deny,
    isRequired: Bool = false
  ) -> NavigationSetting {
    .init(
      "veto",
      [
        "deadline": .integer(deadline.milliseconds),
        "policy": .string(policy.rawValue),
        "required": .bool(isRequired),
      ])
  }

  /// The time for the answer of an animator or interaction delegate, 1 ms … 60 s.
  public static func questionDeadline(_ time: Duration) -> NavigationSetting {
    .init("questionDeadline", .integer(time.milliseconds))
  }

  /// The time after which an animation counts as complete without a report, 1 ms … 60 s.
  public static func transitionDeadline(_ time: Duration) -> NavigationSetting {
    .init("transitionDeadline", .integer(time.milliseconds))
  }

  /// The time without an update after which the daemon cancels a gesture, 1 ms … 10 min.
  public static func gestureDeadline(_ time: Duration) -> NavigationSetting {
    .init("gestureDeadline", .integer(time.milliseconds))
  }

  /// The number of operations that can wait for a transition, 0 … 64.
  public static func queue(_ count: Int) -> NavigationSetting {
    .init("queue", .integer(Int64(clamping: count)))
  }

  /// The version of the navigation rules.
  public static func profile(
    os: Int = 17,
    compactHeight: Int = 32,
    shadowNeedsBackground: Bool = true,
    extraSystemItems: Bool = false
  ) -> NavigationSetting {
    .init(
      "profile",
      [
        "os": .integer(Int64(clamping: os)),
        "compactHeight": .integer(Int64(clamping: compactHeight)),
        "shadowNeedsBackground": .bool(shadowNeedsBackground),
        "extraSystemItems": .bool(extraSystemItems),
      ])
  }

  /// Words for a back button without a title, by language tag; they come before the daemon's own.
  public static func backTitles(_ titles: [String: String]) -> NavigationSetting {
    .init("backTitles", .object(titles.mapValues { .string($0) }))
  }

  /// The templates from which `open` makes stacks; the first match applies.
  public static func routes(_ routes: [NavigationRoute]) -> NavigationSetting {
    .init("routes", json: .array(routes.map(\.wireValue)))
  }
}

/// One property of the display, for ``NavigationOperation/setEnvironment(_:)``.
///
/// Members that are not named keep their values; ``reset(_:)`` resets one to its default.
public struct EnvironmentSetting: Hashable, Sendable {
  let member: JSONObject.Member

  init(_ name: String, _ value: NavigationValue) { self.init(name, json: value.octets) }

  private init(_ name: String, json value: OpaqueJSON) {
    member = .init(name: name, value: value)
  }

  /// Resets a member to its default.
  public static func reset(_ name: Name) -> EnvironmentSetting { .init(name.rawValue, nil) }

  /// The names of the members, as the functions that set them.
  public enum Name: String, Hashable, Sendable, CaseIterable {
    // swift-format-ignore: BeginDocumentationCommentWithOneLineSummary
    /// A member, as the function of the same name sets it.
    case idiom, isVerticallyCompact = "vCompact", isAtScrollEdge = "scrollEdge",
      hasKeyboard = "keyboard", scale, statusBar, backTitleBudget, locale, orientation,
      barPosition, animations, hasScreenReader = "screenReader", contentSizeCategory,
      hasHighContrast = "accessibilityContrast"
  }
}

extension EnvironmentSetting {
  /// The kind of display.
  public static func idiom(_ idiom: Idiom) -> EnvironmentSetting {
    .init("idiom", .string(idiom.rawValue))
  }

  /// Whether the height is compact, as on a phone in landscape.
  public static func isVerticallyCompact(_ isOn: Bool) -> EnvironmentSetting {
    .init("vCompact", .bool(isOn))
  }

  /// Whether the content is scrolled to its edge.
  public static func isAtScrollEdge(_ isOn: Bool) -> EnvironmentSetting {
    .init("scrollEdge", .bool(isOn))
  }

  /// Whether a keyboard is shown.
  public static func hasKeyboard(_ isOn: Bool) -> EnvironmentSetting {
    .init("keyboard", .bool(isOn))
  }

  /// Pixels per point.
  public static func scale(_ scale: Double) -> EnvironmentSetting {
    .init("scale", .number(scale))
  }

  /// The height of the status bar in whole points, 0 to 10000.
  public static func statusBar(_ height: Int) -> EnvironmentSetting {
    .init("statusBar", .integer(Int64(clamping: height)))
  }

  /// The maximum width of the back button's text, in the daemon's units of text width.
  public static func backTitleBudget(_ width: Int) -> EnvironmentSetting {
    .init("backTitleBudget", .integer(Int64(clamping: width)))
  }

  /// The language, such as `en` or `zh-Hans`.
  public static func locale(_ name: String) -> EnvironmentSetting {
    .init("locale", .string(name))
  }

  /// The orientation of the display.
  public static func orientation(_ orientation: NavigationOrientation) -> EnvironmentSetting {
    .init("orientation", .string(orientation.rawValue))
  }

  /// The position of the bar.
  public static func barPosition(_ position: BarPosition) -> EnvironmentSetting {
    .init("barPosition", .string(position.rawValue))
  }

  /// The animations that the person at the display wants.
  public static func animations(_ animations: Animations) -> EnvironmentSetting {
    .init("animations", .string(animations.rawValue))
  }

  /// Whether a screen reader runs, as UIKit's `isVoiceOverRunning`.
  public static func hasScreenReader(_ isOn: Bool) -> EnvironmentSetting {
    .init("screenReader", .bool(isOn))
  }

  /// The size of text that the person at the display wants.
  public static func contentSizeCategory(_ size: ContentSizeCategory) -> EnvironmentSetting {
    .init("contentSizeCategory", .string(size.rawValue))
  }

  /// Whether the person at the display wants high contrast.
  public static func hasHighContrast(_ isOn: Bool) -> EnvironmentSetting {
    .init("accessibilityContrast", .string(isOn ? "high" : "normal"))
  }
}
