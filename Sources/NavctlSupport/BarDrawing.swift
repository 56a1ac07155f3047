/// Draws a navigation bar as one line of text: back button, title, buttons.
package struct BarDrawing: Sendable {
  /// How many columns the bar has.
  package var columns: Int

  /// Makes a drawing of a width; 20 columns are the least.
  package init(columns: Int = 80) { self.columns = max(20, columns) }

  /// The bar of a `resolved` value.
  ///
  /// The title stands in the middle of the bar as long as its neighbours leave room, and gives way
  /// to them before it is cut, as it does on a screen.
  package func line(_ resolved: JSONValue) -> StyledLine {
    let half = columns / 2 - 2
    let left = TerminalText.fitted(
      (resolved["left"]?.elements ?? []).map(leftText).joined(separator: "  "), columns: half)
    // Index 0 is right-most.
    let right = TerminalText.fitted(
      (resolved["right"]?.elements ?? []).reversed().map(buttonText).joined(separator: "  "),
      columns: half)
    let leftWidth = TerminalText.width(left)
    let rightWidth = TerminalText.width(right)
    let start = leftWidth > 0 ? leftWidth + 2 : 0
    let end = columns - (rightWidth > 0 ? rightWidth + 2 : 0)
    let title = TerminalText.fitted(middleText(resolved["middle"]), columns: end - start)
    let titleWidth = TerminalText.width(title)
    let column = min(max((columns - titleWidth) / 2, start), end - titleWidth)

    var line = StyledLine(left, .tint)
    line.append(spaces(column - leftWidth))
    line.append(title, .strong)
    line.append(spaces(columns - rightWidth - column - titleWidth))
    line.append(right, .tint)
    return line
  }

  /// A button as it stands in the bar: its title in brackets, or what it shows instead.
  package func buttonText(_ slot: JSONValue) -> String {
    let face: String
    if let view = slot["customView"] {
      face = "(\(view.plainText))"
    } else if let image = slot["image"] {
      face = "<\(image["ref"]?.string ?? image.plainText)>"
    } else {
      face =
        slot["title"]?.string ?? slot["systemItem"]?.string ?? slot["button"]?.string
        ?? slot["id"]?.string ?? ""
    }
    return "[\(TerminalText.visible(face))]"
  }

  private func leftText(_ slot: JSONValue) -> String {
    guard let back = slot["back"] else { return buttonText(slot) }
    if let image = back["image"] {
      return "‹ <\(TerminalText.visible(image["ref"]?.string ?? image.plainText))>"
    }
    guard let text = back["text"]?.string else { return "‹" }
    return "‹ " + TerminalText.visible(text)
  }

  private func middleText(_ middle: JSONValue?) -> String {
    guard let middle else { return "" }
    if let title = middle["title"]?.string { return TerminalText.visible(title) }
    let view = middle["customView"] ?? middle["titleView"] ?? middle["view"]
    guard let view else { return "" }
    return TerminalText.visible("(\((view["view"] ?? view).plainText))")
  }

  private func spaces(_ count: Int) -> String { String(repeating: " ", count: max(0, count)) }
}
