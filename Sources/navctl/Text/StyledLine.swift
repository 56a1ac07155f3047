import NavigationCore
import NavigationHub

/// A line of text in pieces with a style each.
struct StyledLine: Hashable, Sendable {
  /// The style of a piece; the raw value is the parameter of the terminal's escape sequence.
  enum Style: String, Sendable {
    case plain = ""
    /// Bold: the main piece of the line.
    case strong = "1"
    /// Faint: details that most readers skip.
    case faint = "2"
    /// Blue: buttons that can be tapped.
    case tint = "34"
    /// Red: a fault or a running transition.
    case alert = "31"
    /// Reversed: the chosen row of a list.
    case chosen = "7"
  }

  private var pieces: [(text: String, style: Style)]

  init(_ text: String = "", _ style: Style = .plain) { pieces = [(text, style)] }

  mutating func append(_ text: String, _ style: Style = .plain) { pieces.append((text, style)) }

  mutating func append(_ line: StyledLine) { pieces += line.pieces }

  /// The line cut to a number of columns, with an ellipsis if it is cut.
  func fitted(columns: Int) -> StyledLine {
    guard width > columns else { return self }
    var line = StyledLine()
    var left = columns
    for piece in pieces {
      let width = TerminalText.width(piece.text)
      guard width < left else {
        // A piece that just fits has an ellipsis, too, because the pieces behind it are cut.
        line.append(TerminalText.fitted(piece.text + "…", columns: left), piece.style)
        break
      }
      line.append(piece.text, piece.style)
      left -= width
    }
    return line
  }

  func padded(columns: Int) -> StyledLine {
    var line = fitted(columns: columns)
    let missing = columns - line.width
    if missing > 0 { line.append(String(repeating: " ", count: missing)) }
    return line
  }

  /// Sets pieces of text one after another, and begins a new line if a piece does not fit.
  static func flow(_ pieces: [StyledLine], columns: Int) -> [StyledLine] {
    var lines: [StyledLine] = []
    for piece in pieces {
      if let last = lines.last, last.width + 2 + piece.width <= columns {
        lines[lines.count - 1].append("  ")
        lines[lines.count - 1].append(piece)
      } else {
        var line = StyledLine(lines.isEmpty ? "" : "  ")
        line.append(piece)
        lines.append(line.fitted(columns: columns))
      }
    }
    return lines
  }

  func restyled(_ style: Style) -> StyledLine { StyledLine(pieces.map(\.text).joined(), style) }

  var ascii: StyledLine {
    var line = StyledLine()
    line.pieces = pieces.map { (TerminalText.ascii($0.text), $0.style) }
    return line
  }

  /// The cells of the line on a terminal, up to the first character that exceeds `columns`.
  func cells(columns: Int) -> [TerminalCell] {
    var cells: [TerminalCell] = []
    var column = 0
    for piece in pieces {
      for character in piece.text {
        let width = DisplayWidth.columns(of: character)
        guard column + width <= columns else { return cells }
        guard width > 0 else { continue }
        cells.append(TerminalCell(character, column: column, width: width, style: piece.style))
        column += width
      }
    }
    return cells
  }

  var plain: String {
    let text = pieces.map(\.text).joined()
    return text.lastIndex { $0 != " " }.map { String(text[...$0]) } ?? ""
  }

  var width: Int { pieces.reduce(0) { $0 + TerminalText.width($1.text) } }

  /// The line as printed, without a line break; if `isColoured`, with escape sequences for styles.
  func rendered(isColoured: Bool) -> String {
    guard isColoured else { return plain }
    return pieces.map { text, style in
      style == .plain ? text : "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m"
    }.joined()
  }

  static func == (left: StyledLine, right: StyledLine) -> Bool {
    left.pieces.elementsEqual(right.pieces) { $0.text == $1.text && $0.style == $1.style }
  }

  func hash(into hasher: inout Hasher) { hasher.combine(plain) }
}

/// One character of a line, in the one or two columns that it takes.
struct TerminalCell: Hashable, Sendable {
  /// The character: a scalar with a width, and the marks over it.
  var text: [Unicode.Scalar]
  var column: Int
  var width: Int
  var style: StyledLine.Style

  /// Keeps what a terminal can show: of joined emoji the first, for a mark without a base U+FFFD.
  init(_ character: Character, column: Int, width: Int, style: StyledLine.Style) {
    let scalars = character.unicodeScalars
    let joiner: Unicode.Scalar = "\u{200D}"
    // Selectors choose between the text and the emoji of the same sign; the width is decided here.
    let selectors: ClosedRange<Unicode.Scalar> = "\u{FE00}"..."\u{FE0F}"
    let marks = scalars.dropFirst().prefix { $0 != joiner }.filter { !selectors.contains($0) }
    let first = scalars.first ?? " "
    let isLoneMark = [.nonspacingMark, .enclosingMark, .format, .control]
      .contains(first.properties.generalCategory)
    text = isLoneMark ? ["\u{FFFD}"] : [first] + marks
    self.column = column
    self.width = width
    self.style = style
  }
}
