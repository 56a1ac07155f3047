import NavigationCore

// The values that settings take, besides those of the protocol's closed lists.

extension NavigationSetting {
  /// The decision if a delegate with the role veto does not answer in time.
  public enum VetoPolicy: String, Hashable, Sendable {
    /// The operation fails with `delegate-timeout`; the default.
    case deny
    /// The daemon performs the operation and logs `veto-skipped`.
    case allow
  }
}

/// The place where a swipe back begins.
public enum NavigationGestureKind: String, Hashable, Sendable {
  /// At the edge of the display.
  case edge
  /// Anywhere on the display.
  case fullScreen
}

/// A template that makes a stack from a route.
public struct NavigationRoute: Hashable, Sendable {
  let wireValue: OpaqueJSON

  /// Describes a template.
  ///
  /// - Parameters:
  ///   - pattern: segments such as `settings/:page`; `:page` matches any one segment.
  ///   - screens: the stack, bottom first; `{page}` in a text is replaced by the matching segment.
  public init(_ pattern: String, screens: [ScreenDescription]) {
    wireValue = .object([
      "match": .string(pattern), "screens": .array(screens.map(\.wireValue)),
    ])
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

  /// UIKit's `UIContentSizeCategory`.
  public enum ContentSizeCategory: String, Hashable, Sendable, CaseIterable {
    // swift-format-ignore: BeginDocumentationCommentWithOneLineSummary
    /// The sizes, the smallest first; `large` is the default.
    case extraSmall, small, medium, large, extraLarge, extraExtraLarge, extraExtraExtraLarge,
      accessibilityMedium, accessibilityLarge, accessibilityExtraLarge,
      accessibilityExtraExtraLarge, accessibilityExtraExtraExtraLarge
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

  static func named<Key>(
    _ values: [Key: NavigationValue], _ name: (Key) -> String
  ) -> [String: NavigationValue] {
    Dictionary(uniqueKeysWithValues: values.map { (name($0.key), $0.value) })
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
