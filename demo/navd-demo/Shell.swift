import NavigationClient

/// The user interface: it creates the nav if there is none, shows the top screen, and decides
/// whether a screen may be popped.
func playShell(_ player: Player) async throws {
  let (client, nav) = (player.client, player.nav)
  do {
    try await client.perform(
      [
        .create(root: Pages.root), .setBar([.prefersLargeTitles(true)]), .attach(),
      ], on: nav, guardedBy: .unguarded)
  } catch {
    // If the nav exists already, this program continues with its present state.
    guard error.code == .navExists else { throw error }
  }
  let form = Form()
  let delegation = try await client.delegate(nav, roles: decide(form, player.console))
  defer { delegation.end() }
  let told = Task {
    for await status in delegation.statuses where status == .active {
      player.console.say("is asked before a screen goes")
    }
  }
  defer { told.cancel() }
  try await player.play(draw: { content(of: $0, await form.channel) }) { command in
    switch command.name {
    case "open":
      // A push removes nothing, so it needs no guard. It has one here, because the user chose the
      // page from the top screen and wants it only above that screen.
      let state = try await client.state(of: nav)
      try await client.perform(
        Pages.operations(toOpen: command.argument), on: nav, guardedBy: .top(of: state),
        within: Player.patience)
    case "edit":
      await form.set(Int64(command.argument))
      try await client.perform(
        [.setItem(of: "wifi", Pages.unsaved)], on: nav, guardedBy: .unguarded,
        within: Player.patience)
    case "ask-pin":
      try await client.perform(
        [.present(Pages.pin, style: .formSheet)], on: nav, guardedBy: .unguarded,
        within: Player.patience)
    case "save":
      guard let channel = await form.channel else { return }
      // Three operations, one revision: no client sees one without the others.
      try await client.perform(
        [.dismiss(), .setScreen("wifi", [.args(["channel": .integer(channel)])])]
          + [.setItem(of: "wifi", Pages.saved)], on: nav, guardedBy: .unguarded,
        within: Player.patience)
      await form.set(nil)
    case "swipe": try await swipe(command.argument, player)
    default: try await player.obey(command)
    }
  }
}

/// The user's unsaved input, which no other process has.
private actor Form {
  private(set) var channel: Int64?

  func set(_ channel: Int64?) { self.channel = channel }
}

/// Refuses every pop while there are unsaved changes, whoever requests it.
private func decide(_ form: Form, _ console: Console) -> NavigationRoles {
  NavigationRoles(veto: { question in
    guard case .pop(let cause) = question.change else { return true }
    let isUnsaved = await form.channel != nil
    let answer = isUnsaved ? "no, there are unsaved changes" : "yes"
    console.say("asked: may \(question.screen) go, by \(cause)? \(answer)")
    return !isUnsaved
  })
}

/// Performs one step of a swipe from the edge: begin, move or cancel.
private func swipe(_ step: String, _ player: Player) async throws {
  let (client, nav) = (player.client, player.nav)
  switch step {
  case "begin":
    let state = try await client.state(of: nav)
    try await client.perform([.beginGesture(.edge)], on: nav, guardedBy: .top(of: state))
  case "cancel": try await client.perform([.cancelGesture()], on: nav, guardedBy: .unguarded)
  default:
    try await client.perform([.updateGesture(Double(step) ?? 0)], on: nav, guardedBy: .unguarded)
  }
}

/// Draws the content area in one line.
private func content(of state: NavigationState, _ typed: Int64?) -> String {
  if state.visible?.id == "pin" { return "+ PIN: [*] [*] [ ] [ ] +" }
  switch state.top?.route {
  case "settings": return "Network >   Display >   Sound >"
  case "settings/network": return "Wi-Fi >   Bluetooth >   Hotspot >"
  case "settings/network/wifi":
    let channel = state.top?.args?["channel"]?.integer ?? 0
    let isSaved = typed == nil || typed == channel
    return "channel \(channel)" + (isSaved ? "" : " -> \(typed ?? 0), not saved")
  default: return "nothing to show"
  }
}
