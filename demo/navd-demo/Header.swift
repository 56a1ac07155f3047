import NavigationClient

/// The header bar: a process that only draws.
///
/// navd has worked out what the bar shows, the text of the back button included. A header needs
/// none of the rules of navigation, and can never disagree with another one.
func playHeader(_ player: Player) async throws {
  try await player.play(
    draw: { $0.bar.map(draw) ?? "" },
    notice: { event in
      guard case .transitionProgress(_, let value) = event else { return }
      player.console.say("slides: the finger is at \(Int(value * 100)) %")
    },
    obey: { try await player.obey($0) })
}

/// The bar in one line and its height: left items, the title, right items.
private func draw(_ bar: NavigationBarContent) -> String {
  let width = 30
  let left = bar.left.map(text).joined(separator: " ")
  // The right items come right-most first.
  let right = bar.right.reversed().map(text).joined(separator: " ")
  let title =
    switch bar.middle {
    case .title(let title): title
    case .view(let name): "<\(name)>"
    case nil: ""
    }
  // A large title stands at the left; any other in the middle, unless its neighbours need that.
  let isLarge = bar.details["middle"]?["placement"]?.text == "large"
  let least = left.isEmpty ? 0 : 1
  let before = isLarge ? least : max(least, (width - title.count) / 2 - left.count)
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
