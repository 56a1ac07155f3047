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
    case title, image, landscapeImage, systemItem, customView, isDone = "style", action
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
}
