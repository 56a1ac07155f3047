import NavigationClient

/// A remote control: it has no user interface of its own, and changes what others show.
///
/// It prints the stack, what is above it, and what has happened to it.
func playRemote(_ player: Player) async throws {
  try await player.play(draw: draw) { command in
    switch command.name {
    case "push":
      // By its id: the screen has been on the stack before, and the nav remembers it.
      let state = try await player.client.state(of: player.nav)
      try await player.client.push(.existing(command.argument), onto: state)
    default: try await player.obey(command)
    }
  }
}

private func draw(_ state: NavigationState) -> String {
  let stack = state.screens.map(\.id).joined(separator: " > ")
  let above = state.presented.map { " + \($0.id)" }.joined()
  // What is only announced, and what became of the bars, is for others.
  let events = state.events.map(\.name).filter {
    $0.hasPrefix("did") || $0.hasPrefix("transition")
  }
  return stack + above + (events.isEmpty ? "" : "  " + events.joined(separator: " "))
}
