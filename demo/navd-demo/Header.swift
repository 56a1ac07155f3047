import NavigationClient

/// The header bar: a process that only draws.
///
/// navd has worked out what the bar shows, the text of the back button included. A header needs
/// none of the rules of navigation, and can never disagree with another one.
func playHeader(_ player: Player) async throws {
  try await player.play(draw: { $0.bar.map(draw) ?? "" }) { try await player.obey($0) }
}

/// The bar in one line, 38 characters wide: left items, the title in the middle, right items.
private func draw(_ bar: NavigationBarContent) -> String {
  let width = 36
  let left = bar.left.map(text).joined(separator: " ")
  // The right items come right-most first.
  let right = bar.right.reversed().map(text).joined(separator: " ")
  let middle =
    switch bar.middle {
    case .title(let title): title
    case .view(let name): "<\(name)>"
    case nil: ""
    }
  let before = max(1, (width - middle.count) / 2 - left.count)
  let after = max(1, width - left.count - before - middle.count - right.count)
  return "[" + left + spaces(before) + middle + spaces(after) + right + "]"
}

private func text(_ slot: NavigationBarContent.Slot) -> String {
  switch slot {
  case .back(let back): "< " + (back.text ?? "")
  case .button(let button): button.title ?? button.id
  }
}

private func spaces(_ count: Int) -> String { String(repeating: " ", count: count) }
