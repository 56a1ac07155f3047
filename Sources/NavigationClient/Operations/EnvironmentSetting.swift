import NavigationCore

/// One property of the display, for ``NavigationOperation/setEnvironment(_:)``.
///
/// Members that are not named keep their values; ``reset(_:)`` resets one to its default.
public struct EnvironmentSetting: Hashable, Sendable {
  let member: JSONObject.Member

  init(_ name: String, _ value: NavigationValue) { member = .init(name: name, value: value.octets) }

  /// Resets a member to its default.
  public static func reset(_ name: Name) -> EnvironmentSetting { .init(name.rawValue, nil) }

  /// The names of the members, as the functions that set them.
  public enum Name: String, Hashable, Sendable, CaseIterable {
    // swift-format-ignore: BeginDocumentationCommentWithOneLineSummary
    /// A member, as the function of the same name sets it.
    case idiom, isVerticallyCompact = "vCompact", isAtScrollEdge = "scrollEdge", hasKeyboard =
      "keyboard", scale, statusBar, backTitleBudget, locale, orientation, barPosition, animations,
      hasScreenReader = "screenReader", contentSizeCategory, hasHighContrast =
      "accessibilityContrast"
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

  /// UIKit's `UIContentSizeCategory`.
  public enum ContentSizeCategory: String, Hashable, Sendable, CaseIterable {
    // swift-format-ignore: BeginDocumentationCommentWithOneLineSummary
    /// The sizes, the smallest first; `large` is the default.
    case extraSmall, small, medium, large, extraLarge, extraExtraLarge, extraExtraExtraLarge,
      accessibilityMedium, accessibilityLarge, accessibilityExtraLarge,
      accessibilityExtraExtraLarge, accessibilityExtraExtraExtraLarge
  }

  /// The animations that a person wants.
  public enum Animations: String, Hashable, Sendable {
    /// All animations; the default.
    case on
    /// None: no change opens a transition.
    case off
    /// A short fade in place of movement.
    case reduced
  }
}

extension EnvironmentSetting {
  /// A kind of display.
  public enum Idiom: String, Hashable, Sendable {
    /// A small display that is held in one hand.
    case phone
    /// A larger display.
    case pad
  }
}
