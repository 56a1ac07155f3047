import NavigationClient
import Observation

/// The code of `docs/client.md`: each region between `guide:` and `end` is a block there.
enum GuideSnippets {
  static func connect() async throws -> NavigationClient {
    // guide: connect
    let client = try await NavigationClient.connect(name: "shell")
    // end
    return client
  }

  static func create(_ client: NavigationClient) async throws {
    // guide: create
    let home = ScreenDescription(id: "home", title: "Home", route: "home")
    do {
      try await client.perform(
        [.create(root: home), .attach()], on: "kiosk", guardedBy: .unguarded)
    } catch {
      // If it exists already, somebody was faster: go on with what there is.
      guard error.code == .navExists else { throw error }
    }
    // end
  }

  static func watch(_ client: NavigationClient, _ showContent: Show, _ showBar: ShowBar)
    async throws
  {
    // guide: watch
    for try await state in client.watch("kiosk", wait: true) {
      showContent(state.top?.route, state.top?.args)
      showBar(state.bar)
    }
    // end
  }

  typealias Show = (String?, NavigationValue?) -> Void
  typealias ShowBar = (NavigationBarContent?) -> Void

  // guide: bar
  static func text(of slot: NavigationBarContent.Slot) -> String {
    switch slot {
    case .back(let back): "< " + (back.text ?? "")
    case .button(let button): button.title ?? button.id
    }
  }

  static func text(of bar: NavigationBarContent) -> String {
    let middle = if case .title(let title) = bar.middle { title } else { "" }
    let right = bar.right.reversed()  // these come right-most first
    return (bar.left.map(text) + [middle] + right.map(text)).joined(separator: "  ")
  }
  // end

  static func push(_ client: NavigationClient) async throws -> NavigationReply {
    // guide: push
    let scan = ButtonDescription(id: "scan", .title("Scan"), action: "wifi.scan")
    let wifi = ScreenDescription(
      id: "wifi", title: "Wi-Fi", route: "settings/wifi", args: ["band": 5],
      item: ItemDescription(rightItems: [scan]))
    let reply = try await client.perform([.push(wifi)], on: "kiosk", guardedBy: .unguarded)
    // end
    return reply
  }

  static func guarded(_ client: NavigationClient) async throws -> NavigationReply {
    // guide: guard
    let seen = try await client.state(of: "kiosk")
    // The user looks at it, and decides to go back.
    let reply = try await client.pop(from: seen)
    // end
    return reply
  }

  static func batch(_ client: NavigationClient, _ seen: NavigationState) async throws {
    // guide: batch
    let player = ScreenDescription(id: "player", title: "Now playing", route: "media/now")
    try await client.perform(
      [.popToRoot(), .push(player)], on: "kiosk",
      guardedBy: .stack(of: seen), within: .seconds(2))
    // end
  }

  static func rehearse(
    _ client: NavigationClient, _ seen: NavigationState, _ say: (String) -> Void
  ) async throws {
    // guide: rehearse
    let outcome = try await client.rehearse(
      [.popToRoot(), .push("wifi")], on: "kiosk", guardedBy: .stack(of: seen))
    let ids = outcome.state?.screens.map(\.id) ?? []
    say("it would lead to \(ids.joined(separator: " > "))")
    // end
  }

  static func desync(
    _ client: NavigationClient, _ seen: NavigationState, _ say: (String) -> Void
  ) async throws {
    // guide: desync
    do {
      try await client.pop(from: seen)
    } catch {
      guard error.code == .desync else { throw error }
      let who = error.topChange?.author?.name ?? "navd"
      say("\(error.top ?? "nothing") is on top by now, thanks to \(who)")
    }
    // end
  }

  static func retry(
    _ client: NavigationClient, _ nav: String, _ say: (String) -> Void
  ) async throws {
    // guide: retry
    do {
      try await client.perform([.setBarHidden(true)], on: nav, guardedBy: .unguarded)
    } catch {
      switch error.retry {
      case .never: say(error.description)
      case .afterResynchronising: say("look again, then decide anew")
      case .unchanged, .later: say("the same once more, \(error.retryAfter ?? .zero) from now")
      }
    }
    // end
  }

  static func status(_ client: NavigationClient, _ showBanner: (Bool) -> Void) async {
    // guide: status
    for await status in client.statuses() {
      showBanner(status == .disconnected)
    }
    // end
  }

  static func events(_ client: NavigationClient, _ run: (String) -> Void) async throws {
    // guide: events
    for try await state in client.watch("kiosk", buffering: .everyRevision) {
      for event in state.events where event.name == .buttonActivated {
        if let action = event.details["action"]?.text { run(action) }
      }
    }
    // end
  }

  @MainActor static func model(
    _ client: NavigationClient, _ showBar: ShowBar, _ showBanner: (Bool) -> Void
  ) async {
    // guide: model
    let model = NavigationModel(client, nav: "kiosk")
    let following = Task { try await model.run() }
    defer { following.cancel() }
    for await (bar, isStale) in Observations({ (model.bar, model.isStale) }) {
      showBar(bar)
      showBanner(isStale)
    }
    // end
  }

  @MainActor static func back(_ model: NavigationModel) async throws {
    // guide: back
    try await model.pop()
    // end
  }

  static func delegate(
    _ client: NavigationClient, _ confirm: @escaping Confirm
  ) async throws -> NavigationDelegation {
    // guide: delegate
    let roles = NavigationRoles(
      veto: { question in
        guard question.screen == "editor", question.change != .push else { return true }
        return await confirm("Discard the draft?", question.question.deadline)
      },
      animator: { question in
        guard question.operation == .push else { return nil }
        return NavigationAnimation("slide", duration: .milliseconds(300))
      })
    let delegation = try await client.delegate("kiosk", roles: roles)
    // end
    return delegation
  }

  typealias Confirm = @Sendable (String, ContinuousClock.Instant) async -> Bool

  static func animate(
    _ client: NavigationClient, _ animate: (NavigationEvent.Transition) async -> Void
  ) async throws {
    // guide: lease
    let display = try await client.takeDisplay(of: "kiosk", keeping: true)
    for try await state in client.watch("kiosk", buffering: .everyRevision) {
      for case .transitionBegan(let transition) in state.events.map(\.kind) {
        await animate(transition)
        try await client.perform(
          [.completeTransition(transition.id)], on: "kiosk", guardedBy: .unguarded)
      }
    }
    // end
    display.release()
  }

  static func settings(_ client: NavigationClient) async throws {
    // guide: settings
    try await client.perform(
      [
        .configure([.hidesBarsOnTap(true), .veto(deadline: .seconds(5), onTimeout: .allow)]),
        .setBar([.prefersLargeTitles(true), .reset(.tintColor)]),
      ], on: "kiosk", guardedBy: .unguarded)
    // end
  }

  static func other(_ client: NavigationClient, _ seen: NavigationState) async throws {
    // guide: other
    let hide = try NavigationOperation(
      json: #"{"item.set":{"screen":"home","hidesBackButton":true}}"#)
    try await client.perform([hide], on: "kiosk", guardedBy: .life(of: seen))
    // end
  }
}
