import NavigationCore

/// One member of a navigation bar, for ``NavigationOperation/setBar(_:)`` and the proxy.
///
/// Members that are not named keep their values; ``standard(_:)`` resets members to their defaults.
public struct BarSetting: Hashable, Sendable {
  let member: JSONObject.Member

  init(_ name: String, _ value: NavigationValue) { member = .init(name: name, value: value.octets) }

  /// Resets a member to its default.
  public static func standard(_ name: Name) -> BarSetting { .init(name.rawValue, nil) }

  /// The names of the members.
  public enum Name: String, Hashable, Sendable, CaseIterable {
    // swift-format-ignore: BeginDocumentationCommentWithOneLineSummary
    /// A member, by its word in the protocol.
    case barStyle, translucent, barTintColor, tintColor, backgroundColor, shadowImage,
      backIndicatorImage, backIndicatorMask, titleTextAttributes, titleOffsets, backgroundImages,
      prefersLargeTitles
  }
}

extension BarSetting {
  /// The style of the bar: `default` or `black`.
  public static func barStyle(_ style: Style) -> BarSetting {
    .init("barStyle", .string(style.rawValue))
  }

  /// Whether the bar is translucent, so that the content behind it is visible.
  public static func isTranslucent(_ isOn: Bool) -> BarSetting {
    .init("translucent", .bool(isOn))
  }

  /// The colour of the bar.
  public static func barTintColor(_ color: String) -> BarSetting {
    .init("barTintColor", .string(color))
  }

  /// The colour of its buttons.
  public static func tintColor(_ color: String) -> BarSetting {
    .init("tintColor", .string(color))
  }

  /// The colour behind the bar.
  public static func backgroundColor(_ color: String) -> BarSetting {
    .init("backgroundColor", .string(color))
  }

  /// The image below the bar, by its name.
  public static func shadowImage(_ image: ImageDescription) -> BarSetting {
    .init("shadowImage", image.value)
  }

  /// The image of the back button.
  public static func backIndicatorImage(_ image: ImageDescription) -> BarSetting {
    .init("backIndicatorImage", image.value)
  }

  /// The mask of the back button's image in transitions.
  public static func backIndicatorMask(_ image: ImageDescription) -> BarSetting {
    .init("backIndicatorMask", image.value)
  }

  /// The attributes of the title text: `font`, `color`, `shadowColor` and `shadowOffset`.
  public static func titleTextAttributes(_ attributes: [String: NavigationValue]) -> BarSetting {
    .init("titleTextAttributes", .object(attributes))
  }

  /// The vertical offset of the title, for each metrics such as `default` and `compact`.
  public static func titleOffsets(_ offsets: [String: Double]) -> BarSetting {
    .init("titleOffsets", .object(offsets.mapValues { .number($0) }))
  }

  /// The images behind the bar, for each `position/metrics` such as `any/default`.
  public static func backgroundImages(_ images: [String: ImageDescription]) -> BarSetting {
    .init("backgroundImages", .object(images.mapValues(\.value)))
  }

  /// Whether titles are large, as far as the items of the screens allow it.
  public static func prefersLargeTitles(_ isOn: Bool) -> BarSetting {
    .init("prefersLargeTitles", .bool(isOn))
  }
}

extension BarSetting {
  /// The style of a bar.
  public enum Style: String, Hashable, Sendable {
    /// Dark on light.
    case `default`
    /// Light on dark.
    case black
  }
}

/// An image, by the name under which displays look it up.
public struct ImageDescription: Hashable, Sendable, ExpressibleByStringLiteral {
  let value: NavigationValue

  /// Describes an image.
  ///
  /// - Parameters:
  ///   - ref: its name.
  ///   - hasAlpha: whether parts of it are transparent; nil if unknown.
  ///   - isEmpty: whether it is empty, which some rules of the bar depend on; nil if unknown.
  public init(_ ref: String, hasAlpha: Bool? = nil, isEmpty: Bool? = nil) {
    var members: [String: NavigationValue] = ["ref": .string(ref)]
    members["hasAlpha"] = hasAlpha.map { .bool($0) }
    members["empty"] = isEmpty.map { .bool($0) }
    value = .object(members)
  }

  /// Makes an image from its name alone.
  public init(stringLiteral ref: String) { value = .string(ref) }
}
