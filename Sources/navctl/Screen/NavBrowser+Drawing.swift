import NavigationCore
import NavigationHub

struct BrowserFrame: Hashable, Sendable {
  /// The lines, from the first row on; none is wider than the terminal.
  var lines: [StyledLine]
  var cursor: CellPosition?
}

/// The place of a cell on the terminal; rows and columns count from 0.
struct CellPosition: Hashable, Sendable {
  var row: Int
  var column: Int
}

struct BrowserLayout: Hashable, Sendable {
  let columns: Int
  let rows: Int
  let statusRows: Int

  /// Whether the list is beside the stack and the changes; else one pane at a time is shown.
  var isWide: Bool { columns >= 64 && rows >= 14 }
  var hasHeader: Bool { rows >= 4 }
  var hasHints: Bool { rows >= 6 }
  var bodyRows: Int { max(0, rows - (hasHeader ? 1 : 0) - (hasHints ? 1 : 0) - statusRows) }
  var listColumns: Int { isWide ? min(40, columns * 3 / 8 - 1) : columns }
  var sideColumns: Int { isWide ? columns - listColumns - 2 : columns }
  var changesRows: Int { isWide ? max(4, bodyRows / 3) : bodyRows }

  func height(of pane: NavBrowser.Pane) -> Int {
    switch pane {
    case .list: bodyRows
    case .stack: isWide ? bodyRows - changesRows : bodyRows
    case .changes: changesRows
    }
  }
}

extension NavBrowser {
  var layout: BrowserLayout {
    BrowserLayout(columns: columns, rows: rows, statusRows: statusLines.count)
  }

  /// Draws the screen, and sets `drawnState` if the frame shows the top of the open nav.
  mutating func frame() -> BrowserFrame {
    let layout = layout
    // Only a frame that has the outermost screen of the open nav shows it.
    drawnState = nil
    var lines = layout.hasHeader ? [header] : []
    lines += helpTop.map { helpLines(from: $0, layout) } ?? body(layout)
    let status = statusLines
    let cursor = prompt.map {
      CellPosition(row: lines.count, column: min(promptLine($0).column, columns - 1))
    }
    lines += status
    if layout.hasHints { lines.append(hints) }
    let fitted = lines.prefix(rows).map { $0.fitted(columns: columns) }
    return BrowserFrame(
      lines: isASCII ? fitted.map(\.ascii) : fitted,
      cursor: cursor.flatMap { $0.row < rows ? $0 : nil })
  }

  private var header: StyledLine {
    let mode = isWritable ? "read-write" : "read-only"
    var right = StyledLine(
      isConnected ? "connected" : "disconnected, reconnecting", isConnected ? .plain : .alert)
    right.append("  \(mode)", isWritable ? .strong : .plain)
    let room = columns - right.width - 2
    let name = StyledLine("navctl ui", .strong)
    guard room >= name.width else { return right.fitted(columns: columns) }
    var left = name
    // Less of an address than this names nothing.
    if room > name.width + 16 { left.append("  \(TerminalText.visible(endpoint))", .faint) }
    var line = left.padded(columns: room)
    line.append("  ")
    line.append(right)
    return line
  }

  var statusLines: [StyledLine] {
    if let prompt { return [promptLine(prompt).line] }
    guard let message else { return [StyledLine()] }
    let most = rows >= 20 ? 4 : rows >= 9 ? 3 : 1
    let lines = TerminalText.indentWrapped(message.text, columns: columns)
    let style = message.isAlert ? StyledLine.Style.alert : .strong
    guard lines.count > most else { return lines.map { StyledLine($0, style) } }
    // The last of the lines shows by its ellipsis that the message goes on.
    let kept = lines[..<(most - 1)] + [lines[most - 1] + "…"]
    return kept.map { StyledLine(TerminalText.fitted($0, columns: columns), style) }
  }

  /// The line of a prompt, which shows the end of a long text, and the column of the cursor.
  private func promptLine(_ prompt: Prompt) -> (line: StyledLine, column: Int) {
    let label =
      switch prompt.purpose {
      case .filter: "filter: "
      case .push(let nav):
        "push on "
          + TerminalText.fitted(TerminalText.visible(nav), columns: max(4, columns / 4))
          + ", ID [TITLE]: "
      }
    var line = StyledLine(label, .strong)
    let room = max(1, columns - line.width - 1)
    var text = Substring(TerminalText.visible(prompt.editor.text))
    var before = TerminalText.width(TerminalText.visible(prompt.editor.textBeforeCursor))
    let column = line.width + min(before, room)
    while before > room, let first = text.popFirst() {
      before -= DisplayWidth.columns(of: first)
    }
    line.append(String(text))
    return (line, column)
  }

  private var isHeld: Bool { opened.flatMap { streams[$0.name] }.map { !$0.isFollowing } ?? false }

  /// As many hints about keys as fit, the most needed first.
  private var hints: StyledLine {
    let keys: [String]
    switch prompt?.purpose {
    case .filter: keys = ["Enter keep", "Esc undo", "Control-U empty"]
    case .push: keys = ["Enter push", "Esc cancel", "Control-U empty"]
    case nil where helpTop != nil: keys = ["j/k scroll", "? back"]
    case nil:
      keys =
        ["? help", "q quit", pane == .list ? "Enter open" : "j/k scroll", "Tab pane"]
        + (isWritable ? ["p push", "P pop", "b back", "r root"] : []) + [
          isHeld ? "f follow" : "f hold", "/ filter",
        ]
        + (isWritable || pane != .list ? [] : ["j/k choose"])
    }
    var text = ""
    for key in keys {
      let longer = text.isEmpty ? key : "\(text)  \(key)"
      guard TerminalText.width(longer) <= columns else { continue }
      text = longer
    }
    return StyledLine(text, .faint)
  }
}
