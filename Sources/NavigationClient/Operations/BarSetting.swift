/// One member of a navigation bar, for ``NavigationOperation/setBar(_:)`` and the proxy.
///
/// What is not named stays as it is; ``standard(_:)`` puts members back to their defaults.
public struct BarSetting: Hashable, Sendable {
  let member: Member

  init(_ name: String, _ value: NavigationValue) { member = Member(name, .value(value)) }

  /// Puts a member back to its default.
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
  /// How the bar looks: `default` or `black`.
  public static func barStyle(_ style: Style) -> BarSetting {
    .init("barStyle", .string(style.rawValue))
  }

  /// Whether what is behind the bar shines through.
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

  /// The colour behind it.
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

  /// How the title is written: `font`, `color`, `shadowColor`, `shadowOffset`.
  public static func titleTextAttributes(_ attributes: [String: NavigationValue]) -> BarSetting {
    .init("titleTextAttributes", .object(attributes))
  }

  /// How far the title is moved down, by metrics such as `default` and `compact`.
  public static func titleOffsets(_ offsets: [String: Double]) -> BarSetting {
    .init("titleOffsets", .object(offsets.mapValues { .number($0) }))
  }

  /// The images behind the bar, by `position/metrics` such as `any/default`.
  public static func backgroundImages(_ images: [String: ImageDescription]) -> BarSetting {
    .init("backgroundImages", .object(images.mapValues(\.value)))
  }

  /// Whether titles are large where their screens agree.
  public static func prefersLargeTitles(_ isOn: Bool) -> BarSetting {
    .init("prefersLargeTitles", .bool(isOn))
  }
}

extension BarSetting {
  /// How a bar looks.
  public enum Style: String, Hashable, Sendable {
    /// Dark on light.
    case `default`
    /// Light on dark.
    case black
  }
}

/// An image, by the name under which displays find it.
public struct ImageDescription: Hashable, Sendable, ExpressibleByStringLiteral {
  let value: NavigationValue

  /// Describes an image.
  ///
  /// - Parameters:
  ///   - ref: its name.
  ///   - hasAlpha: whether one can see through parts of it, if that is known.
  ///   - isEmpty: whether it shows nothing, which some rules look at.
  public init(_ ref: String, hasAlpha: Bool? = nil, isEmpty: Bool? = nil) {
    var members: [String: NavigationValue] = ["ref": .string(ref)]
    members["hasAlpha"] = hasAlpha.map { .bool($0) }
    members["empty"] = isEmpty.map { .bool($0) }
    value = .object(members)
  }

  /// Names an image of which nothing else is known.
  public init(stringLiteral ref: String) { value = .string(ref) }
}
