import NavigationCore

/// Draws a nav as text: the bar, the stack with its top first, the toolbar, and the revision.
struct StateDrawing: Sendable {
  var columns: Int

  init(columns: Int = 80) { self.columns = max(20, columns) }

  /// Draws a whole state; `elapsed` is the age of the running transition in milliseconds.
  func lines(_ state: JSONValue, elapsed: UInt64? = nil) -> [StyledLine] {
    let (head, rows, tail) = sections(state, elapsed: elapsed)
    return head + rows + tail
  }

  /// Draws a state in at most `height` lines, without the first `skipped` screens.
  ///
  /// If they do not fit, it leaves out the position first, and never the bar. The result has the
  /// number of skipped screens, and whether the outermost screen is among the lines.
  func lines(
    _ state: JSONValue, height: Int, skipped: Int
  ) -> (lines: [StyledLine], skipped: Int, hasTop: Bool) {
    var (head, rows, tail) = sections(state, elapsed: nil)
    let position = positionLines(state, depth: state["screens"]?.elements.count ?? 0).count
    if head.count + rows.count + tail.count > height { tail.removeLast(position) }
    let room = height - head.count - tail.count
    guard rows.count > room else { return (head + rows + tail, 0, true) }
    // Without room for a screen between two lines about the others, only the beginning is shown.
    guard room >= 3 else {
      return (Array((head + rows + tail).prefix(max(0, height))), 0, head.count < height)
    }
    let skipped = min(max(0, skipped), rows.count - room + 1)
    let isCutAbove = skipped > 0
    let shown = min(rows.count - skipped, room - (isCutAbove ? 1 : 0))
    let isCutBelow = skipped + shown < rows.count
    let end = skipped + shown - (isCutBelow ? 1 : 0)
    var lines = head
    if isCutAbove { lines.append(StyledLine("  … \(skipped) more above", .faint)) }
    lines += rows[skipped..<end]
    if isCutBelow { lines.append(StyledLine("  … \(rows.count - end) more below", .faint)) }
    return (lines + tail, skipped, skipped == 0)
  }

  private func sections(
    _ state: JSONValue, elapsed: UInt64?
  ) -> (head: [StyledLine], rows: [StyledLine], tail: [StyledLine]) {
    let screens = state.list("screens")
    let rule = StyledLine(String(repeating: "─", count: columns), .faint)
    let isBar = state["kind"]?.string == "bar"
    let head = bar(state, top: screens.last) + [rule]
    let chain = state["presented"]?.list("chain") ?? []
    let rows =
      chain.reversed().map(Row.init(presented:))
      + screens.enumerated().reversed().map { depth, screen in
        Row(screen: screen, depth: depth, isTop: depth + 1 == screens.count)
      }
    // Two columns for the mark and two gaps of two columns.
    let room = max(6, columns - 6)
    let id = min(room / 3, rows.map { TerminalText.width($0.id) }.max() ?? 0)
    // A third each; titles get the columns that the details do not need.
    let details = rows.map { TerminalText.width($0.detail) }.max() ?? 0
    let title = min(max(room / 3, room - id - details), rows.map(\.titleWidth).max() ?? 0)
    // Presented screens stand above the stack, the outermost first.
    var middle = rows.map { draw($0, (id: id, title: title, detail: room - id - title)) }
    if screens.isEmpty {
      middle.append(StyledLine(isBar ? "  (no items)" : "  (the stack is empty)", .faint))
    }
    let tail =
      [rule] + toolbar(state, top: screens.last)
      + transition(state["transition"], elapsed: elapsed)
      + positionLines(state, depth: screens.count)
    return (head, middle, tail)
  }

  func positionLines(_ state: JSONValue, depth: Int) -> [StyledLine] {
    var pieces = [
      StyledLine(TerminalText.visible(state["nav"]?.string ?? ""), .strong),
      StyledLine("rev \(state["rev"]?.integer ?? 0)"),
      StyledLine("epoch \(TerminalText.visible(state["epoch"]?.string ?? "-"))", .faint),
    ]
    if let digest = state["dig"]?.string {
      pieces.append(StyledLine("digest \(TerminalText.visible(digest))", .faint))
    }
    let isBar = state["kind"]?.string == "bar"
    pieces.append(StyledLine(isBar ? "items \(depth)" : "depth \(depth)"))
    if isBar {
      pieces.append(StyledLine("standalone bar"))
    } else if let settings = state["settings"], settings["attached"]?.bool != true {
      pieces.append(StyledLine("detached", .alert))
    }
    if let owner = state["environment"]?["owner"]?.string {
      pieces.append(StyledLine("display \(TerminalText.visible(owner))"))
    }
    return StyledLine.flow(pieces, columns: columns)
  }

  private func bar(_ state: JSONValue, top: JSONValue?) -> [StyledLine] {
    if state["bar"]?["hidden"]?.bool == true {
      let cause = state["bar"]?["hid"]?["cause"]?.string.map { ", by \($0)" } ?? ""
      return [centred(TerminalText.visible("(the bar is hidden\(cause))"))]
    }
    var lines: [StyledLine] = []
    if let prompt = top?["item"]?["prompt"]?.string, !prompt.isEmpty {
      lines.append(centred(TerminalText.visible(prompt)))
    }
    guard let resolved = state["resolved"] else { return lines }
    let drawing = BarDrawing(columns: columns)
    lines.append(drawing.line(resolved))
    if let title = drawing.largeTitle(resolved) { lines.append(title) }
    return lines
  }

  private func toolbar(_ state: JSONValue, top: JSONValue?) -> [StyledLine] {
    let resolved = state["resolved"]?["toolbar"]
    // A toolbar is hidden by default.
    let isVisible = resolved?["visible"]?.bool ?? (state["toolbar"]?["hidden"]?.bool == false)
    guard isVisible else { return [] }
    let items = resolved?["items"]?.elements ?? top?["toolbarItems"]?.elements ?? []
    guard !items.isEmpty else { return [centred("(the toolbar is empty)")] }
    return [BarDrawing(columns: columns).toolbar(items)]
  }

  private func centred(_ text: String) -> StyledLine {
    let cut = TerminalText.fitted(text, columns: columns)
    let indent = String(repeating: " ", count: (columns - TerminalText.width(cut)) / 2)
    return StyledLine(indent + cut, .faint)
  }

  private func draw(_ row: Row, _ widths: (id: Int, title: Int, detail: Int)) -> StyledLine {
    var line = StyledLine(row.symbol, row.isStrong ? .strong : .faint)
    line.append(TerminalText.padded(row.id, columns: widths.id), row.isStrong ? .strong : .plain)
    line.append("  ")
    // The closing quote stays if the title is cut.
    let room = max(1, widths.title - 2)
    let title = row.title.map { "\"\(TerminalText.fitted($0, columns: room))\"" } ?? "-"
    line.append(TerminalText.padded(title, columns: widths.title))
    line.append("  ")
    line.append(TerminalText.fitted(row.detail, columns: widths.detail), .faint)
    return line
  }

  private struct Row {
    /// The sign of the top, of the root or of a presented screen.
    var symbol: String
    var isStrong: Bool
    var id: String
    /// Nil without a title, drawn as -; an empty title is drawn as "".
    var title: String?
    var detail: String

    init(screen: JSONValue, depth: Int, isTop: Bool) {
      symbol = isTop ? "▶ " : depth == 0 ? "└ " : "│ "
      isStrong = isTop
      id = TerminalText.visible(screen["id"]?.string ?? "")
      title = Self.title(screen)
      var parts: [String] = []
      if let route = screen["route"]?.string { parts.append(route) }
      if let args = screen["args"] { parts.append(args.plainText) }
      detail = TerminalText.visible(parts.joined(separator: " "))
    }

    init(presented: JSONValue) {
      symbol = "◆ "
      isStrong = false
      let screen = presented["screen"]
      id = TerminalText.visible(screen?["id"]?.string ?? screen?.plainText ?? "")
      title = screen.flatMap(Self.title)
      var parts = ["presented"]
      if let from = presented["from"] { parts.append("by \(from.plainText)") }
      if let style = presented["style"] { parts.append(style.plainText) }
      if presented["covers"]?.string == "wholeNavigationInterface" { parts.append("over the bar") }
      detail = TerminalText.visible(parts.joined(separator: " "))
    }

    var titleWidth: Int { title.map { TerminalText.width($0) + 2 } ?? 1 }

    static func title(_ screen: JSONValue) -> String? {
      let title = screen["item"]?["title"]?.string ?? screen["title"]?.string
      return title.map(TerminalText.visible)
    }
  }

  /// Draws the part `transition` of a state; no lines while none runs.
  ///
  /// `elapsed` is the milliseconds since it began; nil if unknown.
  func transition(_ transition: JSONValue?, elapsed: UInt64?) -> [StyledLine] {
    guard let transition, let op = transition["op"]?.string else { return [] }
    var line = StyledLine("⇄ \(TerminalText.visible(op)) ", .alert)
    let ends = ["from", "to"].map { transition[$0]?.plainText ?? "none" }
    line.append(TerminalText.visible(ends.joined(separator: " → ")))
    var words = [transition["phase"]?.plainText ?? "animating"]
    if let tid = transition["tid"]?.integer { words.append("transition \(tid)") }
    for name in ["style", "animator", "driver", "owner"] {
      if let value = transition[name] { words.append("\(name) \(value.plainText)") }
    }
    if let duration = transition["duration"]?.integer { words.append("lasts \(duration) ms") }
    if let deadline = transition["deadline"]?.integer {
      words.append(Self.deadlineText(deadline, elapsed: elapsed, transition))
    }
    if let change = transition["barChange"] {
      let isHidden = change["hidden"]?.bool
      words.append("bar \(isHidden.map { $0 ? "hides" : "shows" } ?? change.plainText)")
    }
    return StyledLine.flow(
      [line] + words.map { StyledLine(TerminalText.visible($0), .faint) }, columns: columns)
  }

  private static func deadlineText(
    _ deadline: UInt64, elapsed: UInt64?, _ transition: JSONValue
  ) -> String {
    if transition["phase"]?.string == "interactive" {
      return "ends \(deadline) ms after its last update"
    }
    guard let elapsed else { return "ends within \(deadline) ms" }
    return "\(deadline - min(deadline, elapsed)) of \(deadline) ms left"
  }
}
