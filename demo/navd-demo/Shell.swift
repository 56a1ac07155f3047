import NavigationClient

/// The user interface: it makes the nav if there is none, shows what is on top, and is asked
/// before a screen goes.
func playShell(_ player: Player) async throws {
  let (client, nav) = (player.client, player.nav)
  do {
    try await client.perform(
      [
        .create(root: Pages.root), .setBar([.prefersLargeTitles(true)]), .attach(),
      ], on: nav)
  } catch {
    // If it exists already, somebody was here before us: go on with what there is.
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
      // A push takes nothing away, so it needs no guard; here it has one all the same: the user
      // chose the screen from what is on top, and wants it above that or not at all.
      let state = try await client.state(of: nav)
      try await client.perform(
        Pages.operations(toOpen: command.argument), on: nav, guardedBy: .top(of: state))
    case "edit":
      await form.set(Int64(command.argument))
      try await client.perform([.itemSet("wifi", Pages.unsaved)], on: nav)
    case "ask-pin": try await client.perform([.present(Pages.pin, style: .formSheet)], on: nav)
    case "save":
      guard let channel = await form.channel else { return }
      // Three operations, one revision: nobody ever sees one without the others.
      try await client.perform(
        [.dismiss(), .setScreen("wifi", ["args": ["channel": .integer(channel)]])]
          + [.itemSet("wifi", Pages.saved)], on: nav)
      await form.set(nil)
    case "swipe": try await swipe(command.argument, player)
    default: try await player.obey(command)
    }
  }
}

/// What the user has typed and not saved, which no other process knows.
private actor Form {
  private(set) var channel: Int64?

  func set(_ channel: Int64?) { self.channel = channel }
}

/// Lets no page go that has unsaved changes, whoever wants it to go, and however.
private func decide(_ form: Form, _ console: Console) -> NavigationRoles {
  NavigationRoles(veto: { question in
    guard case .pop(let cause) = question.change else { return true }
    let isUnsaved = await form.channel != nil
    let answer = isUnsaved ? "no, there are unsaved changes" : "yes"
    console.say("asked: may \(question.screen) go, by \(cause)? \(answer)")
    return !isUnsaved
  })
}

/// A finger that begins at the edge, moves, and lets go.
private func swipe(_ step: String, _ player: Player) async throws {
  let (client, nav) = (player.client, player.nav)
  switch step {
  case "begin":
    let state = try await client.state(of: nav)
    try await client.perform([.beginGesture(.edge)], on: nav, guardedBy: .top(of: state))
  case "cancel": try await client.perform([.cancelGesture()], on: nav)
  default: try await client.perform([.updateGesture(Double(step) ?? 0)], on: nav)
  }
}

/// The content area, in one line.
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
