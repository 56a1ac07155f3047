import CommandLineOptions
import NavigationClient
import NavigationCore

enum ConfigCommand: Command {
  static let declaration = CommandSet.Command(
    "config", "Show the values that navd uses, and where each comes from", Subject.daemon,
    .init("[origin KEY]", choices: ["origin": ["origin"]]),
    note: """
      origin prints one value. KEY is SECTION.NAME, such as limits.depth; the name alone is enough
      where it is in one section. An option of navd precedes a variable NAVD_SECTION_NAME, that
      precedes the files of navd.conf.d, and these precede navd.conf. It needs the role admin.
      """, example: "config origin limits.depth")

  static func run(_ invocation: Invocation) throws {
    let words = invocation.line.positionals
    try require(
      words.isEmpty || words.count == 2 && words[0] == "origin",
      "config takes nothing, or origin and a key",
      remedy: "navctl config, or navctl config origin limits.depth")
    var values = try invocation.connect().get(.config, nil).reply.json().elements
    if words.count == 2 { values = try matches(words[1], values) }
    if invocation.isJSON {
      let list = OpaqueJSON.array(values.map { OpaqueJSON(validated: $0.bytes) })
      return try Output.record(.config, ["values": list])
    }
    try invocation.table(
      ["KEY", "VALUE", "ORIGIN"],
      values.map { value in ["key", "value", "origin"].map { value[$0]?.string ?? "" } })
  }

  private static func matches(_ key: String, _ values: [JSONValue]) throws -> [JSONValue] {
    let named = values.filter { value in
      let name = value["key"]?.string ?? ""
      return name == key || name.hasSuffix(".\(key)")
    }
    let names = Set(named.compactMap { $0["key"]?.string })
    guard names.count == 1 else {
      let all = values.compactMap { $0["key"]?.string }
      throw UsageError(
        names.isEmpty
          ? "navd has no key '\(TerminalText.visible(key))'"
          : "'\(key)' is a key of several sections",
        remedy: names.isEmpty
          ? Suggestion.nearest(key, among: all).map { "navctl config origin \($0)" }
            ?? "navctl config, which lists all keys"
          : names.sorted().map { "navctl config origin \($0)" }.joined(separator: ", "))
    }
    return named
  }
}

enum ReloadCommand: Command {
  static let declaration = CommandSet.Command(
    "reload", "Let navd read its configuration again: all of it, or nothing", Subject.daemon,
    note: """
      No client is disconnected. If something cannot be applied, the former configuration stays, the
      error names file and line, and the status is 2. systemctl reload navd does the same, without an
      answer. It needs the role admin.
      """, example: "reload")

  static func run(_ invocation: Invocation) throws {
    let answer = try invocation.connect().get(.reload, nil)
    if invocation.isJSON { return try Output.record(.reload, answer.body) }
    try Output.line(TerminalText.visible(try answer.reply.json().string ?? ""))
  }
}
