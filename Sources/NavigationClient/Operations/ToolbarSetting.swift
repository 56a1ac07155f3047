import NavigationCore

/// One member of a toolbar, for ``NavigationOperation/setToolbar(_:)``.
///
/// Members that are not named keep their values; ``standard(_:)`` resets members to their defaults.
public struct ToolbarSetting: Hashable, Sendable {
  let member: JSONObject.Member

  init(_ name: String, _ value: NavigationValue) { member = .init(name: name, value: value.octets) }

  /// Resets a member to its default.
  public static func standard(_ name: Name) -> ToolbarSetting { .init(name.rawValue, nil) }

  /// The names of the members.
  public enum Name: String, Hashable, Sendable, CaseIterable {
    // swift-format-ignore: BeginDocumentationCommentWithOneLineSummary
    /// A member, by its word in the protocol.
    case barStyle, tintColor, barTintColor, translucent
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
