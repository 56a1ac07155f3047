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
  /// The result of each operation.
  public let results: [NavigationResult]

  init(_ reply: OkReply) {
    epoch = reply.epoch?.text ?? ""
    revision = reply.revision?.number ?? 0
    changed = reply.changed ?? false
    depth = Int(clamping: reply.depth ?? 0)
    top = reply.top ?? nil
    let values = reply.out.flatMap { NavigationValue.read($0.bytes)?.array } ?? []
    results = values.map { NavigationResult($0) }
  }

  /// The ids of the screens that the operations pushed or set, in the order of the operations.
  ///
  /// The daemon chose those of screens without an id.
  public var ids: [String] { results.flatMap(\.ids) }

  /// The ids of all screens that were removed, in the order of the operations.
  public var popped: [String] { results.flatMap(\.popped) }
}

/// The result of one operation.
public struct NavigationResult: Hashable, Sendable {
  /// The ids of the screens that it pushed or set, bottom first; none for other operations.
  public let ids: [String]
  /// The ids of the screens that it removed; none if nothing was to be removed.
  public let popped: [String]
  /// Whether a push changed nothing, because the screen was on the stack already.
  public let wasInStack: Bool
  /// All members of the result, for operations that have others.
  public let value: NavigationValue

  init(_ value: NavigationValue) {
    func texts(_ name: String) -> [String] {
      guard let member = value[name] else { return [] }
      return member.text.map { [$0] } ?? (member.array ?? []).compactMap(\.text)
    }
    self.value = value
    ids = texts("id") + texts("ids")
    popped = texts("popped")
    wasInStack = value["reason"]?.text == "alreadyInStack"
  }
}
