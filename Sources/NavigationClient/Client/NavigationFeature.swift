/// An ability that only some daemons have, by its name in the protocol.
///
/// Later versions can add further names.
public struct NavigationFeature: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The name.
  public let rawValue: String

  /// Makes a feature from its name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The text of ``rawValue``.
  public var description: String { rawValue }

  /// The daemon belongs to a cluster, so other daemons serve some navs.
  public static let shards = NavigationFeature(rawValue: "shards")
}
