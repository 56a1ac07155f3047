import NavigationClient

/// A remote control: it has no display of its own, and changes what other programs show.
///
/// It prints the stack, the presented screens and the events.
func playRemote(_ player: Player) async throws {
  try await player.play(draw: draw) { command in
    switch command.name {
    case "push":
      // By its id, because the screen was on the stack before and the nav still has it.
      let state = try await player.client.state(of: player.nav)
      try await player.client.push(
        .existing(command.argument), onto: state, within: Player.patience)
    default: try await player.obey(command)
    }
  }
}

private func draw(_ state: NavigationState) -> String {
  let stack = state.screens.map(\.id).joined(separator: " > ")
  let above = state.presented.map { " + \($0.id)" }.joined()
  // Announcements and changes of the bars are for other programs.
  let events = state.events.map(\.name.rawValue).filter {
    $0.hasPrefix("did") || $0.hasPrefix("transition")
  }
  return stack + above + (events.isEmpty ? "" : "  " + events.joined(separator: " "))
}
