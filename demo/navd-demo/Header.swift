import NavigationClient

/// The header bar: a process that only draws.
///
/// navd has computed the contents of the bar, including the text of the back button. So a header
/// needs no rules of navigation, and all headers show the same.
func playHeader(_ player: Player) async throws {
  try await player.play(
    draw: { $0.bar.map(draw) ?? "" },
    notice: { event in
      guard case .transitionProgress(_, let value) = event else { return }
      player.console.say("slides: the finger is at \(Int(value * 100)) %")
    },
    obey: { try await player.obey($0) })
}

/// Draws the bar in one line, with its height: left items, title, right items.
private func draw(_ bar: NavigationBarContent) -> String {
  let width = 30
  let left = bar.left.map(text).joined(separator: " ")
  // The right-most item is first.
  let right = bar.right.reversed().map(text).joined(separator: " ")
  let title =
    switch bar.middle {
    case .title(let title): title
    case .view(let view): "<\(view.text ?? view.json)>"
    case nil: ""
    }
  // A large title is at the left. Any other is centred, unless the items beside it need the room.
  let least = left.isEmpty ? 0 : 1
  let before = bar.hasLargeTitle ? least : max(least, (width - title.count) / 2 - left.count)
  let after = max(1, width - left.count - before - title.count - right.count)
  let line = "[" + left + spaces(before) + title + spaces(after) + right + "]"
  return line + (bar.height.map { "  \($0) pt" } ?? "")
}

private func text(_ slot: NavigationBarContent.Slot) -> String {
  switch slot {
  case .back(let back): "< " + (back.text ?? "")
  case .button(let button): button.title ?? button.id
  }
}

private func spaces(_ count: Int) -> String { String(repeating: " ", count: count) }
