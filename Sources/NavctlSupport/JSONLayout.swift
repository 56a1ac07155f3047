import Navigation
import NavigationProtocol

/// Lays out JSON in indented lines.
package enum JSONLayout {
  /// Indents by two spaces a level; an array or object that fits into a line stays on it.
  ///
  /// The layout changes white space only.
  /// - Parameters:
  ///   - value: the value to lay out.
  ///   - columns: the width of a line.
  /// - Returns: the lines, at least one.
  package static func lines(_ value: JSONValue, columns: Int = 80) -> [String] {
    var lines = [""]
    append(value, level: 0, columns: columns, suffix: 0, to: &lines)
    return lines
  }

  private static func append(
    _ value: JSONValue, level: Int, columns: Int, suffix: Int, to lines: inout [String]
  ) {
    let whole = TerminalText.visible(String(decoding: value.bytes, as: UTF8.self))
    let used = lines[lines.count - 1].count
    let isFlat = value.elements.isEmpty && value.members.isEmpty
    if isFlat || used + whole.count + suffix <= columns {
      lines[lines.count - 1] += whole
      return
    }
    let isArray = value.kind == .array
    let items = isArray ? value.elements.map { ("", $0) } : named(value)
    let indent = String(repeating: " ", count: 2 * (level + 1))
    lines[lines.count - 1] += isArray ? "[" : "{"
    for (offset, (name, item)) in items.enumerated() {
      lines.append(indent + name)
      let comma = offset + 1 < items.count ? 1 : 0
      append(item, level: level + 1, columns: columns, suffix: comma, to: &lines)
      if comma == 1 { lines[lines.count - 1] += "," }
    }
    lines.append(String(repeating: " ", count: 2 * level) + (isArray ? "]" : "}"))
  }

  private static func named(_ value: JSONValue) -> [(String, JSONValue)] {
    value.members.map { member in
      (TerminalText.visible(OpaqueJSON.string(member.name).text) + ": ", member.value)
    }
  }
}
