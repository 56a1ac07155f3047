import NavigationClient

/// The new forms of `docs/migration.md`: each span of code in the second column of its table is
/// here, and each region between `guide:` and `end` is a block there.
enum MigrationSnippets {
  static func guarded(_ client: NavigationClient, _ nav: String) async throws {
    // guide: guard
    // Without `guardedBy:`, this line does not compile.
    try await client.perform([.setBarHidden(true)], on: nav, guardedBy: .unguarded)

    // A pop by position needs what its user saw, which `pop(from:)` takes as its guard.
    let seen = try await client.state(of: nav)
    try await client.pop(from: seen)
    // end
  }

  static func operations(
    _ client: NavigationClient, _ state: NavigationState, _ seen: NavigationState
  ) async throws {
    let nav = state.nav
    try await client.perform([.attach()], on: nav, guardedBy: .unguarded)
    try await client.perform([.pop()], on: nav, guardedBy: .top(of: seen))
    try await client.perform([.swipeDown()], on: nav, guardedBy: .visible(of: seen))
    let operations: [NavigationOperation] = [
      .setBar([.reset(.tintColor)]), .setBar([.reset(.isTranslucent)]),
      .setEnvironment([.reset(.isVerticallyCompact)]), .configure([.reset(.guards)]),
      .setItem(of: "wifi", ItemDescription(prompt: "P")),
      .setItem(of: "wifi", ItemDescription(resetting: [.prompt])),
      .setScreen("wifi", [.title("Wi-Fi"), .reset(.route)]),
      .setButton("scan", [.title("Scan")]),
      .configure([.hidesBarsOnTap(true)]),
      try NavigationOperation(json: #"{"pop":{}}"#),
      .setEnvironment([.barPosition(.topAttached)]),
      .setBar([.titleTextAttributes([.color: "red"]), .titleOffsets([.compact: 2])]),
      .setBar([.backgroundImages([.init(.any, .default): "wave.png"])]),
      .createButton(ButtonDescription(.systemItem(.done))),
    ]
    try await client.perform(operations, on: nav, guardedBy: .stack(of: seen))
    _ = try await client.read(.log, of: nav)
    _ = try await client.read(.state, of: nav)
  }

  static func values(
    _ state: NavigationState, _ event: NavigationEvent, _ error: NavigationClientError,
    _ bar: NavigationBarContent, _ button: NavigationBarContent.BarButton
  ) -> [Bool] {
    let settings = state.part(.settings)
    var results = [
      settings?["attached"] == true, event.name == .buttonActivated, state.cause == .gesture,
      error.reason == .top, error.code == .unknownScreen, bar.hasLargeTitle,
      state.prefersLargeTitles, state.top?.largeTitleDisplayMode == .never, state.isTransitioning,
      button.systemItem == .done,
    ]
    if case .barsVisibilityChanged(_, _, cause: .tap) = event.kind { results.append(true) }
    return results
  }

  static func roles() -> NavigationRoles {
    NavigationRoles(
      veto: { question in question.change == .pop(cause: .backButton) },
      animator: { question in question.operation == .push ? NavigationAnimation("slide") : nil })
  }
}
