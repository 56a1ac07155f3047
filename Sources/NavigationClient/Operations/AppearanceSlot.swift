/// The state of the bar in which an appearance applies, such as UIKit's `standardAppearance`.
public enum AppearanceSlot: String, Hashable, Sendable {
  /// All states without an appearance of their own.
  case standard
  /// The height is compact.
  case compact
  /// The content is scrolled to its edge.
  case scrollEdge
  /// The height is compact and the content is scrolled to its edge.
  case compactScrollEdge
}
