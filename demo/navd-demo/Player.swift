import NavigationClient

/// What the three programs have in common: they show every revision, and obey commands.
struct Player: Sendable {
  let client: NavigationClient
  let nav: String
  let console: Console
  /// What the user looks at while making up their mind; nil for the newest.
  private let held = Held()

  init(client: NavigationClient, nav: String, console: Console) {
    self.client = client
    self.nav = nav
    self.console = console
  }

  /// Plays until there are no more commands.
  ///
  /// Three things go on at once, all with the one client: it may be used from anywhere.
  func play(
    draw: @escaping @Sendable (NavigationState) async -> String,
    notice: @escaping @Sendable (NavigationEvent.Kind) -> Void = { _ in },
    obey: @escaping @Sendable (Command) async throws -> Void
  ) async throws {
    try await withThrowingTaskGroup { group in
      group.addTask { try await showRevisions(draw, notice) }
      group.addTask { try await tellStatus() }
      for await command in console.commands() {
        do {
          try await obey(command)
        } catch let error as NavigationClientError {
          // A refusal is an answer like any other: nothing has happened.
          let top = error.top.map { "; \($0) is on top" } ?? ""
          console.say(
            "refused: \(error.code.rawValue)\(error.reason.map { " of \($0)" } ?? "")\(top)")
        }
      }
      group.cancelAll()
    }
  }

  /// Prints every revision; the loop goes on by itself when the daemon was away.
  private func showRevisions(
    _ draw: @Sendable (NavigationState) async -> String,
    _ notice: @Sendable (NavigationEvent.Kind) -> Void
  ) async throws {
    var shown: UInt64?
    for try await state in client.watch(nav, buffering: .everyRevision) {
      if state.revision == shown, !state.isResynchronised {
        // A moment, such as a finger that moves: it changes nothing that is kept.
        for event in state.events { notice(event.kind) }
        continue
      }
      shown = state.revision
      // Revisions may lie between this state and the last: at the start, or after a long absence.
      let gap = state.isResynchronised ? "  (snapshot)" : ""
      let view = await draw(state)
      console.say("rev \(state.revision)  \(state.digest)  \(view)\(gap)")
    }
  }

  /// Says when the daemon goes and when it is back; nothing else has to be done about it.
  private func tellStatus() async throws {
    for await status in client.statuses() {
      switch status {
      case .disconnected: console.say("lost the daemon; what is shown may be old")
      case .connected:
        let state = try await client.state(of: nav)
        console.say("connected: rev \(state.revision) of epoch \(state.epoch)")
      }
    }
  }

  /// Obeys what every program understands.
  func obey(_ command: Command) async throws {
    switch command.name {
    case "look":
      let state = try await client.state(of: nav)
      await held.set(state)
      console.say("looks at \(state.top?.id ?? "nothing") of rev \(state.revision)")
    case "pop":
      // A pop says which state it was decided on. If another screen is on top by now, it fails
      // with `desync` and takes nothing away. While the shell is asked about somebody else's pop
      // it waits, and is judged by what is there then.
      let seen = await held.take()
      let newest = try await client.state(of: nav)
      let reply = try await client.pop(from: seen ?? newest, whenBusy: .queue)
      console.say("popped \(reply.popped.joined(separator: ", ")), rev \(reply.revision)")
    case "mirror":
      let state = try await client.state(of: nav)
      let ids = state.screens.map(\.id).joined(separator: " ")
      let line = "\(state.epoch) \(state.revision) \(state.digest) \(ids)\n"
      console.say(writeFile(command.argument, line) ? "mirror written" : "cannot write the mirror")
    default: console.say("does not understand \(command.name)")
    }
  }
}

/// One state, shared by tasks.
private actor Held {
  private var state: NavigationState?

  func set(_ state: NavigationState) { self.state = state }

  func take() -> NavigationState? {
    defer { state = nil }
    return state
  }
}
