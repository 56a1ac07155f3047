import NavigationCore

/// One member of a button, for ``NavigationOperation/setButton(_:_:)``.
///
/// Members that are not named keep their values; ``reset(_:)`` resets one to its default.
public struct ButtonSetting: Hashable, Sendable {
  let member: JSONObject.Member

  init(_ name: String, _ value: NavigationValue) { self.init(name, json: value.octets) }

  private init(_ name: String, json value: OpaqueJSON) { member = .init(name: name, value: value) }

  /// Resets a member to its default.
  public static func reset(_ name: Name) -> ButtonSetting { .init(name.rawValue, nil) }

  /// The names of the members, as the functions that set them.
  public enum Name: String, Hashable, Sendable, CaseIterable {
    // swift-format-ignore: BeginDocumentationCommentWithOneLineSummary
    /// A member, as the function of the same name sets it.
    case title, image, landscapeImage, systemItem, customView, isDone = "style", action, isEnabled,
      isSelected, accessibilityLabel, accessibilityHint, accessibilityIdentifier
  }
}

extension ButtonSetting {
  /// The text.
  public static func title(_ text: String) -> ButtonSetting {
    .init("title", .string(text))
  }

  /// The image.
  public static func image(_ image: ImageDescription) -> ButtonSetting {
    .init("image", image.value)
  }

  /// The image on a phone in landscape.
  public static func landscapeImage(_ image: ImageDescription) -> ButtonSetting {
    .init("landscapeImage", image.value)
  }

  /// The standard button that it is.
  public static func systemItem(_ item: SystemItem) -> ButtonSetting {
    .init("systemItem", .string(item.rawValue))
  }

  /// The custom view, by the description from which displays make it.
  public static func customView(_ view: NavigationValue) -> ButtonSetting {
    .init("customView", view)
  }

  /// Whether it has the style `done`, which displays show bold.
  public static func isDone(_ isOn: Bool) -> ButtonSetting {
    .init("style", .string(isOn ? "done" : "plain"))
  }

  /// The name of the application's action for a tap.
  public static func action(_ name: String) -> ButtonSetting {
    .init("action", .string(name))
  }

  /// Whether a tap does anything; a back button ignores it.
  public static func isEnabled(_ isOn: Bool) -> ButtonSetting { .init("isEnabled", .bool(isOn)) }

  /// Whether displays show it as selected.
  public static func isSelected(_ isOn: Bool) -> ButtonSetting { .init("isSelected", .bool(isOn)) }

  /// What a screen reader says in place of the face.
  public static func accessibilityLabel(_ text: String) -> ButtonSetting {
    .init("accessibilityLabel", .string(text))
  }

  /// What the button does, said after the label.
  public static func accessibilityHint(_ text: String) -> ButtonSetting {
    .init("accessibilityHint", .string(text))
  }

  /// A name for tests, never said.
  public static func accessibilityIdentifier(_ name: String) -> ButtonSetting {
    .init("accessibilityIdentifier", .string(name))
  }
}
