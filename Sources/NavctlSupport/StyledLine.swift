/// A line of text whose pieces may be emphasised.
package struct StyledLine: Hashable, Sendable {
  /// How a piece looks; what it means is also said in the text.
  package enum Style: Hashable, Sendable {
    /// As the terminal writes.
    case plain
    /// For what matters most in the line.
    case strong
    /// For what is only there in case it is looked for.
    case faint
    /// For what can be tapped.
    case tint
    /// For what needs attention.
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

  /// The line cut to a number of columns; what is cut off is marked by an ellipsis.
  package func fitted(columns: Int) -> StyledLine {
    guard width > columns else { return self }
    var line = StyledLine()
    var left = columns
    for piece in pieces {
      // The ellipsis of a piece that just fits tells that more was to come.
      let text = TerminalText.fitted(piece.text, columns: left)
      line.append(text, piece.style)
      left -= TerminalText.width(text)
      if left <= 0 || text != piece.text { break }
    }
    return line
  }

  /// The line without any emphasis.
  package var plain: String { trimmed(pieces.map(\.text).joined()) }

  /// How many columns the line takes.
  package var width: Int { TerminalText.width(pieces.map(\.text).joined()) }

  /// The line as it is written.
  ///
  /// - Parameter isColoured: whether escape sequences may be used.
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
