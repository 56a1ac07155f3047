import NavigationClient

/// The user interface: it makes the nav if there is none, and shows the screen on top.
///
/// What a screen *is* stays here. The nav carries a route and arguments, by which the shell finds
/// the content; navd never looks into them.
func playShell(_ player: Player) async throws {
  do {
    try await player.client.perform([.create(root: screen("home")), .attach()], on: player.nav)
  } catch {
    // If it exists already, somebody was here before us: go on with what there is.
    guard error.code == .navExists else { throw error }
  }
  try await player.play(draw: { content(of: $0.top) }) { command in
    switch command.name {
    case "open":
      // A push takes nothing away, so it needs no guard; here it has one all the same: the user
      // chose the screen from what is on top, and wants it above that or not at all.
      let state = try await player.client.state(of: player.nav)
      try await player.client.push(screen(command.argument), onto: state)
    default: try await player.obey(command)
    }
  }
}

/// The screens that this application has.
private func screen(_ name: String) -> ScreenDescription {
  switch name {
  case "wifi": ScreenDescription(id: "wifi", title: "Wi-Fi", route: "networks")
  case "details":
    ScreenDescription(
      id: "details", title: "Attic", route: "network", args: ["ssid": "Attic", "channel": 11],
      item: ItemDescription(rightItems: [ButtonDescription(.title("Forget"), action: "forget")]))
  default: ScreenDescription(id: name, title: "Settings", route: "settings")
  }
}

/// The content area, in one line.
private func content(of screen: NavigationScreen?) -> String {
  switch screen?.route {
  case "networks": "(*) Attic   ( ) Cellar   ( ) Garden"
  case "network":
    "\(screen?.args?["ssid"]?.text ?? "?"): channel \(screen?.args?["channel"]?.integer ?? 0)"
  case "settings": "Wi-Fi >   Bluetooth >   Sound >"
  default: "nothing to show"
  }
}
