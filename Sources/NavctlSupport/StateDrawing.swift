/// Draws a nav as text: the bar, the stack with its top first, and where the state stands.
package struct StateDrawing: Sendable {
  /// How many columns there are.
  package var columns: Int

  /// Makes a drawing of a width.
  package init(columns: Int = 80) { self.columns = max(20, columns) }

  /// The lines for the body of a snapshot.
  package func lines(_ state: JSONValue) -> [StyledLine] {
    let bar = BarDrawing(columns: columns)
    let screens = state["screens"]?.elements ?? []
    let rule = StyledLine(String(repeating: "─", count: columns), .faint)
    var lines: [StyledLine] = []
    if let prompt = prompt(screens) { lines.append(centred(prompt)) }
    if let resolved = state["resolved"] {
      let isHidden = state["bar"]?["hidden"]?.bool ?? false
      lines.append(isHidden ? centred("(the bar is hidden)") : bar.line(resolved))
    }
    lines.append(rule)
    if screens.isEmpty { lines.append(StyledLine("  (the stack is empty)", .faint)) }
    let widths = Widths(screens: screens, columns: columns)
    for (depth, screen) in screens.enumerated().reversed() {
      lines.append(
        row(screen, depth: depth, isTop: depth + 1 == screens.count, widths: widths))
    }
    lines.append(rule)
    lines.append(position(state, depth: screens.count))
    return lines
  }

  /// Where a state stands: revision, epoch, digest.
  package func position(_ state: JSONValue, depth: Int) -> StyledLine {
    var line = StyledLine(TerminalText.visible(state["nav"]?.string ?? ""), .strong)
    line.append("  rev \(state["rev"]?.integer ?? 0)")
    line.append("  epoch \(state["epoch"]?.string ?? "-")", .faint)
    if let digest = state["dig"]?.string { line.append("  digest \(digest)", .faint) }
    line.append("  depth \(depth)")
    if let settings = state["settings"], settings["attached"]?.bool != true {
      line.append("  detached", .alert)
    }
    if let transition = state["transition"], let op = transition["op"]?.string {
      line.append("  \(op) \(transition["phase"]?.string ?? "")", .alert)
    }
    return line
  }

  private func prompt(_ screens: [JSONValue]) -> String? {
    screens.last?["item"]?["prompt"]?.string.map(TerminalText.visible)
  }

  private func centred(_ text: String) -> StyledLine {
    let cut = TerminalText.fitted(text, columns: columns)
    let indent = String(repeating: " ", count: (columns - TerminalText.width(cut)) / 2)
    return StyledLine(indent + cut, .faint)
  }

  private func row(_ screen: JSONValue, depth: Int, isTop: Bool, widths: Widths) -> StyledLine {
    // The glyph says what the colour says.
    var line = StyledLine(isTop ? "▶ " : depth == 0 ? "└ " : "│ ", isTop ? .strong : .faint)
    let id = screen["id"]?.string ?? ""
    line.append(TerminalText.padded(id, columns: widths.id), isTop ? .strong : .plain)
    line.append("  ")
    line.append(TerminalText.padded(Widths.title(screen), columns: widths.title))
    line.append("  ")
    line.append(TerminalText.fitted(Widths.detail(screen), columns: widths.detail), .faint)
    return line
  }

  /// The columns of the table of screens.
  private struct Widths {
    var id: Int
    var title: Int
    var detail: Int

    init(screens: [JSONValue], columns: Int) {
      // Two columns of marker and two gaps of two.
      let room = max(6, columns - 6)
      id = min(room / 3, screens.map { TerminalText.width($0["id"]?.string ?? "") }.max() ?? 0)
      title = min(room / 3, screens.map { TerminalText.width(Self.title($0)) }.max() ?? 0)
      detail = room - id - title
    }

    static func title(_ screen: JSONValue) -> String {
      let title = screen["item"]?["title"]?.string ?? screen["title"]?.string
      return title.map { "\"\(TerminalText.visible($0))\"" } ?? "-"
    }

    static func detail(_ screen: JSONValue) -> String {
      var parts: [String] = []
      if let route = screen["route"]?.string { parts.append(TerminalText.visible(route)) }
      if let args = screen["args"] { parts.append(TerminalText.visible(args.plainText)) }
      return parts.joined(separator: " ")
    }
  }
}
