import NavigationCore

struct TransitionDrawing: Sendable {
  var columns: Int

  init(columns: Int = 80) { self.columns = max(20, columns) }

  /// Draws the part `transition` of a state; no lines while none runs.
  ///
  /// `elapsed` is the milliseconds since it began; nil if unknown.
  func lines(_ transition: JSONValue?, elapsed: UInt64? = nil) -> [StyledLine] {
    guard let transition, let op = transition["op"]?.string else { return [] }
    var line = StyledLine("⇄ \(TerminalText.visible(op)) ", .alert)
    line.append(TerminalText.visible("\(end(transition["from"])) → \(end(transition["to"]))"))
    var words = [transition["phase"]?.plainText ?? "animating"]
    if let tid = transition["tid"]?.integer { words.append("transition \(tid)") }
    for name in ["style", "animator", "driver", "owner"] {
      if let value = transition[name] { words.append("\(name) \(value.plainText)") }
    }
    if let duration = transition["duration"]?.integer { words.append("lasts \(duration) ms") }
    if let deadline = transition["deadline"]?.integer {
      words.append(Self.time(deadline, elapsed: elapsed, transition))
    }
    if let change = transition["barChange"] { words.append("bar \(Self.bar(change))") }
    return Flow(columns: columns, indent: 2).lines(
      [line] + words.map { StyledLine(TerminalText.visible($0), .faint) })
  }

  private func end(_ value: JSONValue?) -> String { value?.plainText ?? "none" }

  private static func time(
    _ deadline: UInt64, elapsed: UInt64?, _ transition: JSONValue
  ) -> String {
    if transition["phase"]?.string == "interactive" {
      return "ends \(deadline) ms after its last update"
    }
    guard let elapsed else { return "ends within \(deadline) ms" }
    return "\(deadline - min(deadline, elapsed)) of \(deadline) ms left"
  }

  private static func bar(_ change: JSONValue) -> String {
    guard let isHidden = change["hidden"]?.bool else { return change.plainText }
    return isHidden ? "hides" : "shows"
  }
}

/// Sets pieces of text one after another, and begins a new line if a piece does not fit.
struct Flow: Sendable {
  let columns: Int
  let indent: Int

  /// Sets the pieces; a piece that is longer than a line is cut.
  func lines(_ pieces: [StyledLine]) -> [StyledLine] {
    var lines: [StyledLine] = []
    for piece in pieces {
      if let last = lines.last, last.width + 2 + piece.width <= columns {
        lines[lines.count - 1].append("  ")
        lines[lines.count - 1].append(piece)
      } else {
        var line = StyledLine(lines.isEmpty ? "" : String(repeating: " ", count: indent))
        line.append(piece)
        lines.append(line.fitted(columns: columns))
      }
    }
    return lines
  }
}
