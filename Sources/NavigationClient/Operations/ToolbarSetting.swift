import NavigationCore

/// One member of a toolbar, for ``NavigationOperation/setToolbar(_:)``.
///
/// Members that are not named keep their values; ``reset(_:)`` resets one to its default.
public struct ToolbarSetting: Hashable, Sendable {
  let member: JSONObject.Member

  init(_ name: String, _ value: NavigationValue) { member = .init(name: name, value: value.octets) }

  /// Resets a member to its default.
  public static func reset(_ name: Name) -> ToolbarSetting { .init(name.rawValue, nil) }

  /// The names of the members, as the functions that set them.
  public enum Name: String, Hashable, Sendable, CaseIterable {
    // swift-format-ignore: BeginDocumentationCommentWithOneLineSummary
    /// A member, as the function of the same name sets it.
    case barStyle, tintColor, barTintColor, isTranslucent = "translucent"
  }
}

extension ToolbarSetting {
  /// The style of the toolbar.
  public static func barStyle(_ style: BarSetting.Style) -> ToolbarSetting {
    .init("barStyle", .string(style.rawValue))
  }

  /// The colour of its buttons.
  public static func tintColor(_ color: String) -> ToolbarSetting {
    .init("tintColor", .string(color))
  }

  /// The colour of the toolbar.
  public static func barTintColor(_ color: String) -> ToolbarSetting {
    .init("barTintColor", .string(color))
  }

  /// Whether the toolbar is translucent, so that the content behind it is visible.
  public static func isTranslucent(_ isOn: Bool) -> ToolbarSetting {
    .init("translucent", .bool(isOn))
  }
}
