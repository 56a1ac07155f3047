import NavigationCore

/// One member of a screen, for ``NavigationOperation/setScreen(_:_:)``.
///
/// Members that are not named keep their values; ``reset(_:)`` resets one to its default.
public struct ScreenSetting: Hashable, Sendable {
  let member: JSONObject.Member

  init(_ name: String, _ value: NavigationValue) { self.init(name, json: value.octets) }

  private init(_ name: String, json value: OpaqueJSON) { member = .init(name: name, value: value) }

  /// Resets a member to its default.
  public static func reset(_ name: Name) -> ScreenSetting { .init(name.rawValue, nil) }

  /// The names of the members, as the functions that set them.
  public enum Name: String, Hashable, Sendable, CaseIterable {
    // swift-format-ignore: BeginDocumentationCommentWithOneLineSummary
    /// A member, as the function of the same name sets it.
    case title, route, args, restorationID, toolbarItems, prefersBarHidden, edges,
      extendsUnderOpaqueBars, wantsFullScreenLayout, canPop, isModalInPresentation =
      "modalInPresentation", accessibilityLabel, language
  }
}

extension ScreenSetting {
  /// The title, which the bar shows, and the back button of the screen above.
  public static func title(_ text: String) -> ScreenSetting {
    .init("title", .string(text))
  }

  /// The route, by which the application finds the content.
  public static func route(_ route: String) -> ScreenSetting {
    .init("route", .string(route))
  }

  /// Further data for the application, at most 64 KiB.
  public static func args(_ value: NavigationValue) -> ScreenSetting {
    .init("args", value)
  }

  /// The id for saving and restoring.
  public static func restorationID(_ id: String) -> ScreenSetting {
    .init("restorationID", .string(id))
  }

  /// The buttons in the toolbar, in display order.
  public static func toolbarItems(_ buttons: [ButtonDescription]) -> ScreenSetting {
    .init("toolbarItems", json: .array(buttons.map(\.content)))
  }

  /// Whether the bar hides or shows when the screen becomes the top.
  public static func prefersBarHidden(_ isOn: Bool) -> ScreenSetting {
    .init("prefersBarHidden", .bool(isOn))
  }

  /// The edges at which the screen extends under bars.
  public static func edges(_ edges: [ScreenDescription.Edge]) -> ScreenSetting {
    .init("edges", .array(edges.map { .string($0.rawValue) }))
  }

  /// Whether the screen also extends under opaque bars.
  public static func extendsUnderOpaqueBars(_ isOn: Bool) -> ScreenSetting {
    .init("extendsUnderOpaqueBars", .bool(isOn))
  }

  /// Whether the screen extends under every bar.
  public static func wantsFullScreenLayout(_ isOn: Bool) -> ScreenSetting {
    .init("wantsFullScreenLayout", .bool(isOn))
  }

  /// Whether a person may pop the screen while it is the top; programs always may.
  public static func canPop(_ isOn: Bool) -> ScreenSetting {
    .init("canPop", .bool(isOn))
  }

  /// Whether a person cannot swipe the screen away while it is presented.
  public static func isModalInPresentation(_ isOn: Bool) -> ScreenSetting {
    .init("modalInPresentation", .bool(isOn))
  }

  /// What a screen reader says when the screen comes on display.
  public static func accessibilityLabel(_ text: String) -> ScreenSetting {
    .init("accessibilityLabel", .string(text))
  }

  /// The language of the screen, a tag of BCP 47.
  public static func language(_ tag: String) -> ScreenSetting { .init("language", .string(tag)) }
}
