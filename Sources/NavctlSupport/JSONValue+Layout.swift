import NavigationCore

extension JSONValue {
  /// Lays the value out in indented lines, by two spaces a level.
  ///
  /// An array or object that fits into a line stays on it. The layout changes white space only.
  package func lines(columns: Int = 80) -> [String] {
    var lines = [""]
    append(level: 0, columns: columns, suffix: 0, to: &lines)
    return lines
  }

  private func append(level: Int, columns: Int, suffix: Int, to lines: inout [String]) {
    let whole = TerminalText.visible(String(decoding: bytes, as: UTF8.self))
    let used = TerminalText.width(lines[lines.count - 1])
    let isFlat = elements.isEmpty && members.isEmpty
    if isFlat || used + TerminalText.width(whole) + suffix <= columns {
      lines[lines.count - 1] += whole
      return
    }
    let isArray = kind == .array
    let items = isArray ? elements.map { ("", $0) } : members.map { (Self.key($0.name), $0.value) }
    let indent = String(repeating: " ", count: 2 * (level + 1))
    lines[lines.count - 1] += isArray ? "[" : "{"
    for (offset, (name, item)) in items.enumerated() {
      lines.append(indent + name)
      let comma = offset + 1 < items.count ? 1 : 0
      item.append(level: level + 1, columns: columns, suffix: comma, to: &lines)
      if comma == 1 { lines[lines.count - 1] += "," }
    }
    lines.append(String(repeating: " ", count: 2 * level) + (isArray ? "]" : "}"))
  }

  private static func key(_ name: String) -> String {
    TerminalText.visible(OpaqueJSON.string(name).text) + ": "
  }
}
