/// One of the settings of a nav, for ``NavigationOperation/configure(_:)``.
///
/// What is not named stays as it is; ``standard(_:)`` puts members back to their defaults.
public struct NavigationSetting: Hashable, Sendable {
  let member: Member

  init(_ name: String, _ value: NavigationValue) { member = Member(name, .value(value)) }

  /// Puts a member back to its default.
  public static func standard(_ name: Name) -> NavigationSetting { .init(name.rawValue, nil) }

  /// The names of the members.
  public enum Name: String, Hashable, Sendable, CaseIterable {
    // swift-format-ignore: BeginDocumentationCommentWithOneLineSummary
    /// A member, by its word in the protocol.
    case container, restorationID, interactivePop, simultaneous, hidesBarsOnTap, hidesBarsOnSwipe,
      hidesBarsWhenVerticallyCompact, hidesBarsWhenKeyboardAppears, `guard`, vetoScope, veto,
      questionDeadline, transitionDeadline, gestureDeadline, queue, profile, routes
  }
}

extension NavigationSetting {
  /// What the nav belongs to; opaque to the daemon.
  public static func container(_ value: NavigationValue) -> NavigationSetting {
    .init("container", value)
  }

  /// The name under which the nav is restored.
  public static func restorationID(_ id: String) -> NavigationSetting {
    .init("restorationID", .string(id))
  }

  /// Whether swiping goes back, and where a swipe begins.
  public static func interactivePop(isEnabled: Bool = true, _ mode: NavigationGestureKind = .edge)
    -> NavigationSetting
  {
    .init(
      "interactivePop", ["enabled": .bool(isEnabled), "mode": .string(mode.rawValue)])
  }

  /// Pairs of gestures that may be recognised together.
  public static func simultaneous(_ pairs: [(NavigationGestureKind, NavigationGestureKind)])
    -> NavigationSetting
  {
    let lists = pairs.map {
      NavigationValue.array([.string($0.0.rawValue), .string($0.1.rawValue)])
    }
    return .init("simultaneous", .array(lists))
  }

  /// Whether a tap hides and shows the bars.
  public static func hidesBarsOnTap(_ isOn: Bool) -> NavigationSetting {
    .init("hidesBarsOnTap", .bool(isOn))
  }

  /// Whether a swipe up hides the bars and one down shows them.
  public static func hidesBarsOnSwipe(_ isOn: Bool) -> NavigationSetting {
    .init("hidesBarsOnSwipe", .bool(isOn))
  }

  /// Whether the bars are hidden when there is little height.
  public static func hidesBarsWhenVerticallyCompact(_ isOn: Bool) -> NavigationSetting {
    .init("hidesBarsWhenVerticallyCompact", .bool(isOn))
  }

  /// Whether the bars are hidden while there is a keyboard.
  public static func hidesBarsWhenKeyboardAppears(_ isOn: Bool) -> NavigationSetting {
    .init("hidesBarsWhenKeyboardAppears", .bool(isOn))
  }

  /// Which operations must be guarded.
  public static func guards(_ policy: GuardPolicy) -> NavigationSetting {
    .init("guard", .string(policy.rawValue))
  }

  /// Which operations the veto delegates are asked about.
  public static func vetoScope(_ scope: VetoScope) -> NavigationSetting {
    .init("vetoScope", .string(scope.rawValue))
  }

  /// How long the veto delegates have for all questions of one operation, 1 ms … 60 s, what their
  /// silence means, and whether there must be one.
  public static func veto(
    deadline: Duration = .seconds(2), onTimeout policy: VetoPolicy = .deny,
    isRequired: Bool = false
  ) -> NavigationSetting {
    .init(
      "veto",
      [
        "deadline": .integer(deadline.milliseconds), "policy": .string(policy.rawValue),
        "required": .bool(isRequired),
      ])
  }

  /// How long an animator or interaction delegate has, 1 ms … 60 s.
  public static func questionDeadline(_ time: Duration) -> NavigationSetting {
    .init("questionDeadline", .integer(time.milliseconds))
  }

  /// After how long an unfinished animation counts as complete, 1 ms … 60 s.
  public static func transitionDeadline(_ time: Duration) -> NavigationSetting {
    .init("transitionDeadline", .integer(time.milliseconds))
  }

  /// After how long a gesture without a sign of life is cancelled, 1 ms … 10 min.
  public static func gestureDeadline(_ time: Duration) -> NavigationSetting {
    .init("gestureDeadline", .integer(time.milliseconds))
  }

  /// How many operations may wait for a transition, 0 … 64.
  public static func queue(_ count: Int) -> NavigationSetting {
    .init("queue", .integer(Int64(clamping: count)))
  }

  /// Which version of the rules applies.
  public static func profile(
    os: Int = 17, compactHeight: Int = 32, shadowNeedsBackground: Bool = true,
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

  /// The templates by which `open` makes stacks, first match first.
  public static func routes(_ routes: [NavigationRoute]) -> NavigationSetting {
    .init("routes", .array(routes.map(\.value)))
  }
}

extension NavigationSetting {
  /// Which operations must be guarded.
  public enum GuardPolicy: String, Hashable, Sendable {
    /// None must.
    case none
    /// Those that remove by position; the default.
    case removal
    /// All must.
    case all
  }

  /// Which operations the veto delegates are asked about.
  public enum VetoScope: String, Hashable, Sendable {
    /// Pushes and pops; the default.
    case pushpop
    /// Replacements of the whole stack, too.
    case all
  }

  /// What the silence of a veto delegate means.
  public enum VetoPolicy: String, Hashable, Sendable {
    /// No; the operation fails with `delegate-timeout`. The default.
    case deny
    /// Yes; the log says that the delegate was passed over.
    case allow
  }
}

/// Where a gesture that goes back begins.
public enum NavigationGestureKind: String, Hashable, Sendable {
  /// At the edge.
  case edge
  /// Anywhere.
  case fullScreen
}

/// A template by which a route becomes a stack.
public struct NavigationRoute: Hashable, Sendable {
  let value: NavigationValue

  /// Describes a template.
  ///
  /// - Parameters:
  ///   - pattern: segments as in `settings/:page`; `:page` matches any one segment.
  ///   - screens: the stack, bottom first; `{page}` in a text stands for what matched.
  public init(_ pattern: String, screens: [ScreenDescription]) {
    value = [
      "match": .string(pattern), "screens": .array(screens.map(\.content.value)),
    ]
  }
}
