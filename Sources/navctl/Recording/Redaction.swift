import NavigationCore

/// Removes texts that users of a device typed or read from JSON, for tickets.
///
/// Ids, names of navs and clients, operations, numbers and truth values stay. Any other text becomes
/// its number of characters, as in `(12 characters)`.
enum Redaction {
  private static let keptMembers: Set<String> = [
    "id", "nav", "kind", "epoch", "dig", "cause", "do", "op", "phase", "why", "view", "name",
    "principal", "owner", "server", "boot", "code", "subject", "verdict", "top", "back", "visible",
    "screen", "from", "to", "covers", "style", "metrics", "placement", "class", "type", "before",
    "version", "libzmq", "finding", "remedy", "retry", "effect", "del", "role", "roles",
    "systemItem", "source", "key", "what",
  ]

  /// The members whose JSON applications define.
  private static let applicationMembers: Set<String> = [
    "args", "result", "sender", "userInfo", "customView", "view", "container", "object",
    "titleTextAttributes", "largeTitleTextAttributes", "font",
  ]

  /// The value with such texts replaced; `name` is the member that has the value, nil for none.
  static func redacted(_ value: JSONValue, in name: String? = nil) -> OpaqueJSON {
    switch value.kind {
    case .object:
      // What applications put there has any names, which can be texts of users too.
      let isFree = name.map { applicationMembers.contains($0) } ?? false
      return .object(
        JSONObject(
          value.members.enumerated().map { index, member in
            .init(
              name: isFree ? "m\(index)" : member.name,
              value: redacted(member.value, in: isFree ? name : member.name))
          }))
    case .array: return .array(value.elements.map { redacted($0, in: name) })
    case .string:
      if let name, keptMembers.contains(name) { return value.opaque }
      return .string("(\(value.string?.count ?? 0) characters)")
    default: return value.opaque
    }
  }
}
