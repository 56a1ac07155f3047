/// A line of text in pieces with a style each.
package struct StyledLine: Hashable, Sendable {
  /// The style of a piece; it only repeats what the text already expresses.
  package enum Style: Hashable, Sendable {
    /// The default of the terminal.
    case plain
    /// Bold: the main piece of the line.
    case strong
    /// Faint: details that most readers skip.
    case faint
    /// Blue: buttons that can be tapped.
    case tint
    /// Red: a fault or a running transition.
    case alert
  }

  private var pieces: [(text: String, style: Style)]

  /// Makes a line of one piece.
  package init(_ text: String = "", _ style: Style = .plain) { pieces = [(text, style)] }

  /// Adds a piece.
  package mutating func append(_ text: String, _ style: Style = .plain) {
    pieces.append((text, style))
  }

  /// Adds all pieces of another line.
  package mutating func append(_ line: StyledLine) { pieces += line.pieces }

  /// The line cut to a number of columns, with an ellipsis if it is cut.
  package func fitted(columns: Int) -> StyledLine {
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

  /// The line without styles.
  package var plain: String { trimmed(pieces.map(\.text).joined()) }

  /// The width of the line in columns.
  package var width: Int { TerminalText.width(pieces.map(\.text).joined()) }

  /// The line as it is printed.
  ///
  /// - Parameter isColoured: whether the text contains escape sequences for the styles.
  /// - Returns: the text, without a line break.
  package func rendered(isColoured: Bool) -> String {
    guard isColoured else { return plain }
    return pieces.map { piece in
      switch piece.style {
      case .plain: piece.text
      case .strong: "\u{1B}[1m\(piece.text)\u{1B}[0m"
      case .faint: "\u{1B}[2m\(piece.text)\u{1B}[0m"
      case .tint: "\u{1B}[34m\(piece.text)\u{1B}[0m"
      case .alert: "\u{1B}[31m\(piece.text)\u{1B}[0m"
      }
    }.joined()
  }

  private func trimmed(_ text: String) -> String {
    guard let end = text.lastIndex(where: { $0 != " " }) else { return "" }
    return String(text[...end])
  }

  /// Equality of the pieces.
  package static func == (left: StyledLine, right: StyledLine) -> Bool {
    left.pieces.elementsEqual(right.pieces) { $0 == $1 }
  }

  /// Hashes the text.
  package func hash(into hasher: inout Hasher) { hasher.combine(plain) }
}
