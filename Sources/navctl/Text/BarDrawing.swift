import NavigationCore

/// Draws a navigation bar as one line of text: back button, title, buttons.
struct BarDrawing: Sendable {
  var columns: Int

  init(columns: Int = 80) { self.columns = max(20, columns) }

  /// Draws the bar of a `resolved` value, without a large title.
  ///
  /// As in UIKit, the title is centred, moves aside for buttons, and is cut only if it is too long.
  func line(_ resolved: JSONValue) -> StyledLine {
    let half = columns / 2 - 2
    let left = TerminalText.fitted(texts(resolved["left"]).joined(separator: "  "), columns: half)
    // Index 0 is right-most.
    let right = TerminalText.fitted(
      texts(resolved["right"]).reversed().joined(separator: "  "), columns: half)
    let leftWidth = TerminalText.width(left)
    let rightWidth = TerminalText.width(right)
    let start = leftWidth > 0 ? leftWidth + 2 : 0
    let end = columns - (rightWidth > 0 ? rightWidth + 2 : 0)
    let isLarge = largeTitle(resolved) != nil
    let title = TerminalText.fitted(
      isLarge ? "" : middleText(resolved["middle"], in: resolved["middle"]), columns: end - start)
    let titleWidth = TerminalText.width(title)
    let column = min(max((columns - titleWidth) / 2, start), end - titleWidth)

    var line = StyledLine(left, .tint)
    line.append(spaces(column - leftWidth))
    line.append(title, .strong)
    line.append(spaces(columns - rightWidth - column - titleWidth))
    line.append(right, .tint)
    return line
  }

  /// The large title, which has a line of its own; nil if the title is in the bar.
  func largeTitle(_ resolved: JSONValue) -> StyledLine? {
    guard let middle = resolved["middle"], middle["placement"]?.string == "large" else {
      return nil
    }
    let text = middleText(middle, in: middle["large"] ?? middle)
    return StyledLine(TerminalText.fitted(text, columns: columns), .strong)
  }

  /// Draws a toolbar; flexible spaces share the free columns, else the buttons stand on the left.
  func toolbar(_ items: [JSONValue]) -> StyledLine {
    var texts: [String] = []
    var flexible: [Int] = []
    for item in items {
      if isSpace(item, "flexibleSpace") {
        flexible.append(texts.count)
        texts.append("")
      } else {
        texts.append(isSpace(item, "fixedSpace") ? "  " : buttonText(item))
      }
    }
    // Two columns between buttons, none beside a flexible space.
    let gaps = texts.indices.map { index in
      let isBeside = [index - 1, index].contains { flexible.contains($0) }
      return index == 0 || isBeside ? 0 : 2
    }
    let used = texts.reduce(0) { $0 + TerminalText.width($1) } + gaps.reduce(0, +)
    let room = max(0, columns - used)
    var line = ""
    for (index, text) in texts.enumerated() {
      line += spaces(gaps[index])
      guard let place = flexible.firstIndex(of: index) else {
        line += text
        continue
      }
      // The first flexible spaces get the remainder of the division.
      line += spaces(room / flexible.count + (place < room % flexible.count ? 1 : 0))
    }
    return StyledLine(TerminalText.fitted(line, columns: columns), .tint)
  }

  /// A button in brackets: its custom view in parentheses, else its title, else `<image>`, system item
  /// or id; then what a screen reader says instead, `✓` if it is selected, `⊘` if it is disabled, `•`
  /// and its badge, `▾` if it has a menu.
  func buttonText(_ slot: JSONValue) -> String {
    let face: String
    if let view = slot["customView"] {
      face = "(\((view["view"] ?? view).plainText))"
    } else if slot["title"] == nil, let image = slot["image"] {
      face = "<\(image["ref"]?.string ?? image.plainText)>"
    } else {
      face =
        slot["title"]?.string ?? slot["systemItem"]?.string ?? slot["button"]?.string
        ?? slot["id"]?.string ?? ""
    }
    let marks =
      (slot["isSelected"]?.bool == true ? " ✓" : "")
      + (slot["isEnabled"]?.bool == false ? " ⊘" : "") + badge(slot["badge"])
      + (slot["menu"] == nil ? "" : " ▾")
    return "[\(withAccessibilityLabel(face, slot))\(marks)]"
  }

  private func badge(_ badge: JSONValue?) -> String {
    guard let badge else { return "" }
    return badge.bool == true ? " •" : " •" + TerminalText.visible(badge.plainText)
  }

  private func withAccessibilityLabel(_ text: String, _ slot: JSONValue?) -> String {
    guard let label = slot?["accessibilityLabel"]?.string, label != text else {
      return TerminalText.visible(text)
    }
    return TerminalText.visible(text.isEmpty ? "\"\(label)\"" : "\(text) \"\(label)\"")
  }

  /// The texts of the buttons of one side; spaces are left out, since only a toolbar shows them.
  private func texts(_ slots: JSONValue?) -> [String] {
    (slots?.elements ?? []).compactMap { slot in
      isSpace(slot, "flexibleSpace") || isSpace(slot, "fixedSpace") ? nil : sideItemText(slot)
    }
  }

  private func isSpace(_ slot: JSONValue, _ name: String) -> Bool {
    slot["systemItem"]?.string == name && slot["customView"] == nil
  }

  private func sideItemText(_ slot: JSONValue) -> String {
    guard let back = slot["back"] else { return buttonText(slot) }
    if let image = back["image"] {
      return "‹ " + withAccessibilityLabel("<\(image["ref"]?.string ?? image.plainText)>", back)
    }
    let text = withAccessibilityLabel(back["text"]?.string ?? "", back)
    return text.isEmpty ? "‹" : "‹ " + text
  }

  /// The title, what stands below it behind `·`, and `▾` for a menu; `place` is the middle, or its
  /// large title.
  private func middleText(_ middle: JSONValue?, in place: JSONValue?) -> String {
    guard let middle else { return "" }
    guard let title = place?["title"]?.string else {
      return viewText(middle["customView"] ?? middle["titleView"] ?? middle["view"])
    }
    let below =
      place?["subtitle"]?.string.map { TerminalText.visible($0) }
      ?? viewText(place?["subtitleView"])
    return withAccessibilityLabel(title, middle) + (below.isEmpty ? "" : " · \(below)")
      + (middle["menu"] == nil ? "" : " ▾")
  }

  private func viewText(_ view: JSONValue?) -> String {
    guard let view else { return "" }
    return TerminalText.visible("(\((view["view"] ?? view).plainText))")
  }

  private func spaces(_ count: Int) -> String { String(repeating: " ", count: max(0, count)) }
}
