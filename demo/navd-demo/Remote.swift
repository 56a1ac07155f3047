import NavigationClient

/// A remote control: it has no user interface of its own, and changes what others show.
func playRemote(_ player: Player) async throws {
  try await player.play(draw: { $0.screens.map(\.id).joined(separator: " > ") }) { command in
    switch command.name {
    case "push":
      // By its id: the screen has been on the stack before, and the nav remembers it.
      let state = try await player.client.state(of: player.nav)
      try await player.client.push(.existing(command.argument), onto: state)
    case "rename":
      // An edit names its screen, so that it needs no guard: it is meant wherever that screen is.
      let item = ItemDescription(title: command.argument)
      try await player.client.perform([.itemSet("wifi", item)], on: player.nav)
    default: try await player.obey(command)
    }
  }
}
