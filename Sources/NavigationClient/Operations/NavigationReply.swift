import NavigationCore

/// The result of performed operations.
public struct NavigationReply: Hashable, Sendable {
  /// The epoch of the nav.
  public let epoch: String
  /// The revision in which the operations took effect.
  ///
  /// This client's watches of the nav have delivered it already, unless they are behind.
  public let revision: UInt64
  /// Whether the operations changed anything.
  public let changed: Bool
  /// The number of screens after them.
  public let depth: Int
  /// The id of the top screen after them; nil for an empty stack.
  public let top: String?
  /// The result of each operation, with members such as `id`, `ids` or `popped`.
  public let results: [NavigationValue]

  init(_ reply: OkReply) {
    epoch = reply.epoch?.text ?? ""
    revision = reply.revision?.number ?? 0
    changed = reply.changed ?? false
    depth = Int(clamping: reply.depth ?? 0)
    top = reply.top ?? nil
    results = reply.out.flatMap { NavigationValue.read($0.bytes)?.array } ?? []
  }

  /// The ids of all screens that were removed, in the order of the operations.
  public var popped: [String] {
    results.flatMap { result -> [String] in
      guard let popped = result["popped"] else { return [] }
      return popped.text.map { [$0] } ?? (popped.array ?? []).compactMap(\.text)
    }
  }
}
