/// One fact about the display, for ``NavigationOperation/setEnvironment(_:)``.
///
/// What is not named stays as it is; ``standard(_:)`` puts members back to their defaults.
public struct EnvironmentSetting: Hashable, Sendable {
  let member: Member

  init(_ name: String, _ value: NavigationValue) { member = Member(name, .value(value)) }

  /// Puts a member back to its default.
  public static func standard(_ name: Name) -> EnvironmentSetting { .init(name.rawValue, nil) }

  /// The names of the members.
  public enum Name: String, Hashable, Sendable, CaseIterable {
    // swift-format-ignore: BeginDocumentationCommentWithOneLineSummary
    /// A member, by its word in the protocol.
    case idiom, vCompact, scrollEdge, keyboard, scale, statusBar, backTitleBudget, locale,
      orientation, barPosition
  }
}

extension EnvironmentSetting {
  /// The kind of display.
  public static func idiom(_ idiom: Idiom) -> EnvironmentSetting {
    .init("idiom", .string(idiom.rawValue))
  }

  /// Whether there is little height.
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

  /// How wide the text of the back button may be, in the daemon's measure of widths.
  public static func backTitleBudget(_ width: Int) -> EnvironmentSetting {
    .init("backTitleBudget", .integer(Int64(clamping: width)))
  }

  /// The language, such as `en` or `zh-Hans`.
  public static func locale(_ name: String) -> EnvironmentSetting {
    .init("locale", .string(name))
  }

  /// How the display is held.
  public static func orientation(_ orientation: NavigationOrientation) -> EnvironmentSetting {
    .init("orientation", .string(orientation.rawValue))
  }

  /// Where a bar that stands alone is: `any`, `bottom`, `top` or `topAttached`.
  public static func barPosition(_ position: String) -> EnvironmentSetting {
    .init("barPosition", .string(position))
  }
}

extension EnvironmentSetting {
  /// A kind of display.
  public enum Idiom: String, Hashable, Sendable {
    /// One that is held in a hand.
    case phone
    /// One that is larger.
    case pad
  }
}
