import NavigationCore

extension JSONValue {
  var opaque: OpaqueJSON { OpaqueJSON(validated: bytes) }

  /// The members of an object; none of another value.
  var object: JSONObject {
    JSONObject(members.map { .init(name: $0.name, value: $0.value.opaque) })
  }

  /// The elements of the member `name`; none without such a list.
  func list(_ name: String) -> [JSONValue] { self[name]?.elements ?? [] }

  var shownScreens: [JSONValue] {
    list("screens") + (self["presented"]?.list("chain") ?? []).compactMap { $0["screen"] }
  }

  var buttons: [JSONValue] {
    ["leftItems", "rightItems"].flatMap { self["item"]?.list($0) ?? [] } + list("toolbarItems")
  }

  /// Lays the value out in lines with an indent of two spaces; a value that fits stays on its line.
  func lines(columns: Int = 80, isASCII: Bool = false) -> [String] {
    var lines = [""]
    append(level: 0, columns: columns, suffix: 0, isASCII, to: &lines)
    return lines
  }

  private func append(
    level: Int, columns: Int, suffix: Int, _ isASCII: Bool, to lines: inout [String]
  ) {
    let whole = TerminalText.json(bytes, isASCII: isASCII)
    let used = TerminalText.width(lines[lines.count - 1])
    let isFlat = elements.isEmpty && members.isEmpty
    if isFlat || used + TerminalText.width(whole) + suffix <= columns {
      lines[lines.count - 1] += whole
      return
    }
    let isArray = kind == .array
    let items =
      isArray ? elements.map { ("", $0) } : members.map { (Self.key($0.name, isASCII), $0.value) }
    let indent = String(repeating: " ", count: 2 * (level + 1))
    lines[lines.count - 1] += isArray ? "[" : "{"
    for (offset, (name, item)) in items.enumerated() {
      lines.append(indent + name)
      let comma = offset + 1 < items.count ? 1 : 0
      item.append(level: level + 1, columns: columns, suffix: comma, isASCII, to: &lines)
      if comma == 1 { lines[lines.count - 1] += "," }
    }
    lines.append(String(repeating: " ", count: 2 * level) + (isArray ? "]" : "}"))
  }

  private static func key(_ name: String, _ isASCII: Bool) -> String {
    TerminalText.json(OpaqueJSON.string(name).bytes, isASCII: isASCII) + ": "
  }
}
