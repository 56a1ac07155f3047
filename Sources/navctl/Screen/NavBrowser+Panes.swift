import NavigationCore
import NavigationClient

// The panes: the list, the stack and the changes of the open nav, and the help in their place.
extension NavBrowser {
  mutating func body(_ layout: BrowserLayout) -> [StyledLine] {
    guard layout.isWide else { return lines(of: pane, layout) }
    let left = lines(of: .list, layout)
    let right = lines(of: .stack, layout) + lines(of: .changes, layout)
    return zip(left, right).map { left, right in
      var line = left.padded(columns: layout.listColumns)
      line.append("│ ", .faint)
      line.append(right.fitted(columns: layout.sideColumns))
      return line
    }
  }

  private mutating func lines(of pane: Pane, _ layout: BrowserLayout) -> [StyledLine] {
    let rows = layout.height(of: pane)
    let lines =
      switch pane {
      case .list: listPane(columns: layout.listColumns, rows: rows)
      case .stack: stackPane(columns: layout.sideColumns, rows: rows)
      case .changes: changesPane(columns: layout.sideColumns, rows: rows)
      }
    return Self.filledUp(lines, rows: rows)
  }

  private static func filledUp(_ lines: [StyledLine], rows: Int) -> [StyledLine] {
    lines.prefix(rows) + Array(repeating: StyledLine(), count: max(0, rows - lines.count))
  }

  /// The heading of a pane; brackets mark the pane on which keys act.
  private func heading(
    _ name: String, _ note: String, of pane: Pane, columns: Int, isAlert: Bool = false
  ) -> StyledLine {
    let isChosen = self.pane == pane
    var line = StyledLine("─", .faint)
    line.append(isChosen ? "[" : " ", .strong)
    line.append(TerminalText.visible(name), .strong)
    line.append(isChosen ? "]" : " ", .strong)
    if !note.isEmpty { line.append(" \(note) ", isAlert ? .alert : .plain) }
    let rest = columns - line.width
    if rest > 0 { line.append(String(repeating: "─", count: rest), .faint) }
    return line.fitted(columns: columns)
  }

  private mutating func listPane(columns: Int, rows: Int) -> [StyledLine] {
    let tree = currentRows()
    let navs = tree.lazy.filter(\.isNav).count
    let note =
      filter.isEmpty
      ? "\(listedNavs.count)"
      : "\(navs) of \(listedNavs.count) with \(TerminalText.visible(filter))"
    var lines = [heading("navs", note, of: .list, columns: columns)]
    if let listProblem {
      lines += Self.paragraph(listProblem, columns: columns, .alert)
    } else if tree.isEmpty {
      let hint = filter.isEmpty ? "no navs; make one: navctl create NAV" : "no nav; Esc shows all"
      lines += Self.paragraph(hint, columns: columns)
    }
    let room = max(1, rows - lines.count)
    listTop = min(max(min(listTop, chosenIndex), chosenIndex - room + 1), max(0, tree.count - room))
    for index in listTop..<min(tree.count, listTop + room) {
      lines.append(row(tree[index], isChosen: index == chosenIndex, columns: columns))
    }
    return lines
  }

  private func row(_ row: NavTree.Row, isChosen: Bool, columns: Int) -> StyledLine {
    let isOpen = row.isNav && row.path == opened?.name
    // Signs besides the colour: the chosen row, and the open nav.
    let marks = (isChosen ? "▶" : " ") + (isOpen ? "◆" : " ")
    var label = String(repeating: "  ", count: min(row.depth, 8)) + TerminalText.visible(row.label)
    if row.isBranch { label += collapsed.contains(row.path) && filter.isEmpty ? "/ …" : "/" }
    let room = columns - 3
    let notes = row.isNav ? positionNotes(row.path, isOpen: isOpen) : []
    let note = notes.first { TerminalText.width(label) + 2 + TerminalText.width($0) <= room } ?? ""
    let gap = note.isEmpty ? 0 : TerminalText.width(note) + 2
    var line = StyledLine(marks + " ", .strong)
    line.append(TerminalText.padded(label, columns: room - gap), row.isNav ? .plain : .faint)
    if !note.isEmpty { line.append("  \(note)", .faint) }
    return isChosen ? line.restyled(.chosen) : line
  }

  /// The texts about a nav's position, longest first; for the open nav, from its mirror.
  private func positionNotes(_ nav: String, isOpen: Bool) -> [String] {
    let position =
      isOpen
      ? opened?.mirror.flatMap { try? JSONValue(MirrorText.position($0, nav: nav)) }
      : position(of: nav)
    return position.map { Self.positionTexts(of: $0) } ?? []
  }

  /// The members `rev`, `depth` and `top` as text, the longest first; none without a revision.
  static func positionTexts(of position: JSONValue) -> [String] {
    guard let revision = position["rev"]?.integer else { return [] }
    let top = position.text("top").isEmpty ? nil : "  \(TerminalText.visible(position.text("top")))"
    let depth = position["depth"]?.integer.map { "  depth \($0)" }
    let tails = [depth.map { $0 + (top ?? "") }, top, ""].compactMap(\.self)
    return tails.map { "rev \(revision)\($0)" }
  }

  private mutating func stackPane(columns: Int, rows: Int) -> [StyledLine] {
    guard let opened else {
      return [heading("stack", "", of: .stack, columns: columns)]
        + Self.paragraph("no nav is open; choose one and press Enter", columns: columns)
    }
    let position = opened.mirror.map { "rev \($0.revision.number)  depth \($0.screens.count)" }
    let note =
      opened.problem != nil
      ? "not shown" : position.map { opened.isCurrent ? $0 : "as last seen, \($0)" } ?? "reading"
    var lines = [
      heading(
        opened.name, note, of: .stack, columns: columns,
        isAlert: opened.mirror != nil && !opened.isCurrent)
    ]
    if let problem = opened.problem { lines += Self.paragraph(problem, columns: columns, .alert) }
    guard let mirror = opened.mirror else { return lines }
    guard let state = try? JSONValue(mirror.snapshot(of: opened.name).bytes) else {
      return lines + Self.paragraph("its state cannot be read", columns: columns, .alert)
    }
    let (drawing, skipped, hasTop) = StateDrawing(columns: columns)
      .lines(state, height: rows - lines.count, skipped: opened.skippedScreens)
    self.opened?.skippedScreens = skipped
    if hasTop { drawnState = SeenState(mirror) }
    return lines + drawing
  }

  private func changesPane(columns: Int, rows: Int) -> [StyledLine] {
    guard let name = opened?.name, let stream = streams[name] else {
      return [heading("changes", "", of: .changes, columns: columns)]
    }
    let note =
      stream.isFollowing
      ? "following" : stream.newerCount > 0 ? "held, \(stream.newerCount) newer" : "held"
    return [heading("changes", note, of: .changes, columns: columns)]
      + stream.lines(columns: columns, rows: max(0, rows - 1))
  }

  private static func paragraph(
    _ text: String, columns: Int, _ style: StyledLine.Style = .faint
  ) -> [StyledLine] {
    TerminalText.indentWrapped(" " + text, columns: columns).map { StyledLine($0, style) }
  }

  func helpLines(from top: Int, _ layout: BrowserLayout) -> [StyledLine] {
    let last = max(0, Self.help.count - layout.bodyRows)
    let shown = Self.help[min(top, last)...].prefix(layout.bodyRows)
    return Self.filledUp(shown.map { StyledLine($0) }, rows: layout.bodyRows)
  }

  /// What the keys do, in lines for the narrowest terminal.
  static let help = [
    "j k, cursor keys   choose, or scroll",
    "PgUp PgDn g G      the same, by far",
    "Enter, Right       open the chosen nav",
    "Left               close a branch",
    "Tab                the next pane",
    "/                  filter; Esc: all",
    "f                  hold the changes,",
    "                   or follow them",
    "",
    "With --write, on the open nav:",
    "p                  push a screen",
    "P, o               pop the top screen",
    "b                  tap back",
    "r                  pop to the root",
    "A change is about what is drawn. If",
    "another screen has come on top since,",
    "navd refuses it.",
    "",
    "Control-L          draw anew",
    "q, Control-C       quit",
    "",
    "▶ chosen nav, or the top screen",
    "◆ open nav, or a presented screen",
  ]
}
