import NavigationCore
import NavigationHub

/// Text measured in the columns of a terminal.
enum TerminalText {
  /// The text with U+FFFD for characters that control a terminal or the writing direction.
  ///
  /// Titles come from other clients, and must not imitate other output.
  static func visible(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isTerminalControl) else { return text }
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      result.append(isTerminalControl(scalar) ? "\u{FFFD}" : scalar)
    }
    return String(result)
  }

  /// The text in ASCII with the same width; a sign without a similar one becomes question marks.
  static func ascii(_ text: String) -> String {
    guard !text.utf8.allSatisfy({ $0 < 0x80 }) else { return text }
    return text.reduce(into: "") { result, character in
      if character.isASCII {
        result.append(character)
      } else if let similar = asciiSigns[character] {
        result.append(similar)
      } else {
        result += String(repeating: "?", count: width(String(character)))
      }
    }
  }

  private static let asciiSigns: [Character: Character] = [
    "‹": "<", "→": ">", "⇄": "=", "…": "~", "◆": "*", "▶": ">", "└": "`", "│": "|", "─": "-",
    "−": "-", "µ": "u",
  ]

  /// Whether the locale of the environment is not UTF-8; false without a locale.
  static func isASCII(_ variable: (String) -> String?) -> Bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap(variable).first { !$0.isEmpty }
    guard let locale else { return false }
    return !["utf-8", "utf8"].contains { locale.lowercased().hasSuffix($0) }
      && !locale.lowercased().contains("utf-8@") && !locale.lowercased().contains("utf8@")
  }

  static func width(_ text: String) -> Int { DisplayWidth.columns(of: text) }

  /// The text cut to a number of columns, with an ellipsis if it is cut.
  static func fitted(_ text: String, columns: Int) -> String {
    guard width(text) > columns else { return text }
    guard columns > 0 else { return "" }
    return DisplayWidth.prefix(of: text, columns: columns - 1) + "…"
  }

  /// The text cut, or padded with spaces on the right, to exactly a number of columns.
  static func padded(_ text: String, columns: Int) -> String {
    let cut = fitted(text, columns: columns)
    return cut + String(repeating: " ", count: max(0, columns - width(cut)))
  }

  /// The text broken at spaces into lines of a maximum width; a longer word has its own line.
  static func wrapped(_ text: String, columns: Int) -> [String] {
    var lines: [String] = []
    for word in text.split(separator: " ") {
      if let last = lines.last, width(last) + 1 + width(String(word)) <= columns {
        lines[lines.count - 1] = "\(last) \(word)"
      } else {
        lines.append(String(word))
      }
    }
    return lines
  }

  /// Breaks a line into parts of at most `columns`, at spaces if possible; later ones are indented.
  static func indentWrapped(_ text: String, columns: Int) -> [String] {
    let indent = String(repeating: " ", count: columns > 12 ? 4 : 0)
    var parts: [String] = []
    var rest = Substring(text)
    while true {
      let room = columns - (parts.isEmpty ? 0 : indent.count)
      // Only what can stand in a line is measured, since the rest may be long; a sign without a
      // width has little beside it.
      let piece = String(rest.prefix(room * 8 + 1))
      let fitting = DisplayWidth.prefix(of: piece, columns: room)
      guard fitting.count < piece.count || piece.utf8.count < rest.utf8.count else { break }
      var end = rest.index(rest.startIndex, offsetBy: max(1, fitting.count))
      // The last space, unless nothing but the indentation of the line is before it.
      if let space = rest[..<end].lastIndex(of: " "), rest[..<space].contains(where: { $0 != " " })
      {
        end = space
      }
      parts.append((parts.isEmpty ? "" : indent) + rest[..<end])
      rest = rest[end...].drop { $0 == " " }
    }
    return parts + [(parts.isEmpty ? "" : indent) + rest]
  }

  /// The JSON with escapes for terminal controls, and with `isASCII` for all but ASCII.
  static func json(_ bytes: [UInt8], isASCII: Bool = false) -> String {
    var result = String.UnicodeScalarView()
    for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
      if scalar.value < 0x20 {
        // White space between values: strings have no control characters as they are.
        result.append(" ")
      } else if isTerminalControl(scalar) || isASCII && !scalar.isASCII {
        for unit in String(scalar).utf16 {
          let digits = String(unit, radix: 16)
          let zeros = String(repeating: "0", count: 4 - digits.count)
          result.append(contentsOf: "\\u\(zeros)\(digits)".unicodeScalars)
        }
      } else {
        result.append(scalar)
      }
    }
    return String(result)
  }

  private static func isTerminalControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0: true
    // Separators of lines and paragraphs; marks, embeddings, overrides and isolates of direction.
    case 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0x061C: true
    default: false
    }
  }
}
