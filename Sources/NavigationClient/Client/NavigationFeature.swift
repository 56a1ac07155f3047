/// What a daemon has beside those that run alone, by its name in the protocol.
///
/// Later versions can add further names.
public struct NavigationFeature: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The name.
  public let rawValue: String

  /// Makes a feature from its name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The text of ``rawValue``.
  public var description: String { rawValue }

  /// Navs that other daemons of a cluster serve.
  public static let shards = NavigationFeature(rawValue: "shards")
}
