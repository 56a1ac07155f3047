import NavigationCore

/// One member of a navigation bar, for ``NavigationOperation/setBar(_:)`` and the proxy.
///
/// Members that are not named keep their values; ``reset(_:)`` resets one to its default.
public struct BarSetting: Hashable, Sendable {
  let member: JSONObject.Member

  init(_ name: String, _ value: NavigationValue) { member = .init(name: name, value: value.octets) }

  /// Resets a member to its default.
  public static func reset(_ name: Name) -> BarSetting { .init(name.rawValue, nil) }

  /// The names of the members, as the functions that set them.
  public enum Name: String, Hashable, Sendable, CaseIterable {
    // swift-format-ignore: BeginDocumentationCommentWithOneLineSummary
    /// A member, as the function of the same name sets it.
    case barStyle, isTranslucent = "translucent", barTintColor, tintColor, backgroundColor,
      shadowImage, backIndicatorImage, backIndicatorMask, titleTextAttributes, titleOffsets,
      backgroundImages, prefersLargeTitles
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

  /// The attributes of the title text.
  public static func titleTextAttributes(
    _ attributes: [TitleTextAttribute: NavigationValue]
  ) -> BarSetting {
    .init("titleTextAttributes", .object(named(attributes, \.rawValue)))
  }

  /// The vertical offset of the title in points, for each metrics.
  public static func titleOffsets(_ offsets: [BarMetrics: Double]) -> BarSetting {
    .init("titleOffsets", .object(named(offsets.mapValues { .number($0) }, \.rawValue)))
  }

  /// The images behind the bar, for each position and metrics.
  public static func backgroundImages(_ images: [BackgroundPlace: ImageDescription]) -> BarSetting {
    .init("backgroundImages", .object(named(images.mapValues(\.value), \.text)))
  }

  private static func named<Key>(
    _ values: [Key: NavigationValue], _ name: (Key) -> String
  ) -> [String: NavigationValue] {
    Dictionary(uniqueKeysWithValues: values.map { (name($0.key), $0.value) })
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

extension BarSetting {
  /// An attribute of the title text, as UIKit's `titleTextAttributes` has them.
  public enum TitleTextAttribute: String, Hashable, Sendable, CaseIterable {
    /// The font, by any value that displays understand.
    case font
    /// The colour of the text.
    case color
    /// The colour of its shadow.
    case shadowColor
    /// The offset of its shadow.
    case shadowOffset
  }

  /// The place of a background image: UIKit's `UIBarPosition` and `UIBarMetrics`.
  public struct BackgroundPlace: Hashable, Sendable {
    /// The position of the bar.
    public var position: BarPosition
    /// The height class of the bar, and whether it has a prompt.
    public var metrics: BarMetrics

    /// Makes a place; without arguments it is that of all bars.
    public init(_ position: BarPosition = .any, _ metrics: BarMetrics = .default) {
      self.position = position
      self.metrics = metrics
    }

    var text: String { position.rawValue + "/" + metrics.rawValue }
  }
}

/// UIKit's `UIBarPosition`: where a bar is on the display.
public enum BarPosition: String, Hashable, Sendable, CaseIterable {
  /// Unspecified.
  case any
  /// At the bottom of its container.
  case bottom
  /// At the top of its container.
  case top
  /// At the top of the display, below the status bar.
  case topAttached
}

/// UIKit's `UIBarMetrics`: the height class of a bar, and whether it has a prompt.
public enum BarMetrics: String, Hashable, Sendable, CaseIterable {
  /// The regular height.
  case `default`
  /// The compact height, as on a phone in landscape.
  case compact
  /// The regular height, with a prompt.
  case defaultPrompt
  /// The compact height, with a prompt.
  case compactPrompt
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
