import CommandLineOptions
import NavigationCore
import RuntimePaths

/// Converts words of the form KEY=VALUE to members of a JSON object.
enum KeyValues {
  /// The members that take a string only: `title=5` writes `"5"` and not the number 5.
  private static let textMembers: Set<String> = [
    "title", "prompt", "route", "restorationID", "locale", "action", "style", "color",
    "shadowColor", "barTintColor", "tintColor", "backgroundColor", "owner", "accessibilityLabel",
    "accessibilityHint", "accessibilityIdentifier", "language", "backButtonTitle", "subtitle",
    "largeTitle", "largeSubtitle", "element",
  ]

  private static let buttonListMembers: Set<String> = ["leftItems", "rightItems", "toolbarItems"]

  /// The members that are objects, whose own members have the types of the two sets above.
  private static let recordMembers: Set<String> = [
    "item", "backBarButtonItem", "backAction", "titleTextAttributes",
  ]

  private static func button(_ text: Substring) -> OpaqueJSON {
    guard let parts = String(text).cut(at: "=") else { return .string(String(text)) }
    return .object(["id": .string(String(parts.before)), "title": .string(String(parts.after))])
  }

  /// Whether a word is a list of buttons with one id in it, as `leftItems=cancel`.
  static func isButtonListOfOneID(_ word: String) -> Bool {
    let parts = word.split(separator: "=")
    return parts.count == 2 && buttonListMembers.contains(String(parts[0]))
      && !parts[1].contains { ",[".contains($0) }
  }

  static func isKeyValue(_ word: String) -> Bool {
    guard let key = word.cut(at: "=")?.before, !key.isEmpty else { return false }
    return key.utf8.allSatisfy { $0.isLetterOrDigit || "._-".utf8.contains($0) }
  }

  /// Converts words to members, in their order; throws for a key that occurs twice or in `other`.
  ///
  /// A value that is valid JSON is read as JSON, any other as text; `null` or no value resets the
  /// member. A dot in a key leads into an object: `veto.policy=allow` is `"veto":{"policy":"allow"}`.
  /// A list of buttons is also read as `scan,help=Help`: ids, and new buttons with their titles.
  static func parse(
    _ words: [String], beside other: JSONObject = [:], usage: String
  ) throws(UsageError) -> JSONObject {
    var entries: [(path: [String], value: OpaqueJSON)] = []
    for word in words {
      guard isKeyValue(word), let parts = word.cut(at: "=") else {
        throw UsageError(
          "'\(TerminalText.visible(word))' is not of the form KEY=VALUE", remedy: usage)
      }
      let key = String(parts.before)
      let path = key.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
      try require(!path.contains(""), "'\(key)' is no name of a member")
      try require(
        !other.members.contains { $0.name == path[0] },
        "the id stands before the members, so '\(key)' names it twice")
      entries.append((path, try value(String(parts.after), key: key, path: path)))
    }
    return try members(entries)
  }

  private static func members(
    _ entries: [(path: [String], value: OpaqueJSON)]
  ) throws(UsageError) -> JSONObject {
    var names: [String] = []
    for entry in entries where !names.contains(entry.path[0]) { names.append(entry.path[0]) }
    var members: JSONObject = [:]
    for name in names {
      let own = entries.filter { $0.path[0] == name }
      if own.count == 1, own[0].path.count == 1 {
        members.add(name, own[0].value)
        continue
      }
      try require(own.allSatisfy { $0.path.count > 1 }, "'\(name)' is named twice")
      let inner = try Self.members(own.map { (Array($0.path.dropFirst()), $0.value) })
      members.add(name, .object(inner))
    }
    return members
  }

  private static func value(
    _ text: String, key: String, path: [String]
  ) throws(UsageError) -> OpaqueJSON {
    if text == "null" || text.isEmpty { return .null }
    // Elsewhere, as in `args.title`, the same names have any value.
    let isKnown = path.dropLast().allSatisfy(recordMembers.contains)
    if isKnown, textMembers.contains(path[path.count - 1]) {
      let quoted = text.hasPrefix("\"") ? (try? ArgumentReader.json(text, what: key)) : nil
      return quoted ?? .string(text)
    }
    // Any other value that begins like JSON must be valid JSON: `{"a":1` is a mistake, not a text.
    if ["{", "[", "\""].contains(where: { text.hasPrefix($0) }) {
      return try ArgumentReader.json(text, what: "the value of \(key)")
    }
    if isKnown, buttonListMembers.contains(path[path.count - 1]) {
      return .array(text.split(separator: ",").map(button))
    }
    if path == ["edges"] { return .array(text.split(separator: ",").map { .string(String($0)) }) }
    return (try? ArgumentReader.json(text, what: key)) ?? .string(text)
  }
}
