import NavigationClient

/// The common part of the three programs: it prints every revision, and performs commands.
struct Player: Sendable {
  let client: NavigationClient
  let nav: String
  let console: Console
  /// The state that the user is looking at while deciding; nil for the newest.
  private let held = Held()
  /// How late a command may begin: the user has gone on by then.
  static let patience = Duration.seconds(2)

  init(client: NavigationClient, nav: String, console: Console) {
    self.client = client
    self.nav = nav
    self.console = console
  }

  /// Runs until there are no more commands.
  ///
  /// Three tasks run at the same time with the same client, which any task may use.
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
          // A refusal is a normal answer: nothing has changed.
          let top = error.top.map { "; \($0) is on top" } ?? ""
          console.say(
            "refused: \(error.code.rawValue)\(error.reason.map { " of \($0)" } ?? "")\(top)")
        }
      }
      group.cancelAll()
    }
  }

  /// Prints every revision; the loop continues after the daemon was away.
  private func showRevisions(
    _ draw: @Sendable (NavigationState) async -> String,
    _ notice: @Sendable (NavigationEvent.Kind) -> Void
  ) async throws {
    var shown: UInt64?
    for try await state in client.watch(nav, wait: true, buffering: .everyRevision) {
      if state.revision == shown, !state.isResynchronised {
        // An event without a revision, such as a moving finger, changes no stored state.
        for event in state.events { notice(event.kind) }
        continue
      }
      shown = state.revision
      // Revisions can be missing before this state: at the start, or after a long absence.
      let gap = state.isResynchronised ? "  (snapshot)" : ""
      let view = await draw(state)
      // The checksum; the whole digest is in the log.
      console.say("rev \(state.revision)  \(state.digest.prefix(8))  \(view)\(gap)")
    }
  }

  /// Prints the loss of the daemon and its return; the client reconnects by itself.
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

  /// Performs the commands that every program has.
  func obey(_ command: Command) async throws {
    switch command.name {
    case "look":
      let state = try await client.state(of: nav)
      await held.set(state)
      console.say("looks at \(state.top?.id ?? "nothing") of rev \(state.revision)")
    case "pop":
      // A pop names the state on which the user decided. If another screen is on top by now, the
      // pop fails with `desync` and removes nothing. While the shell is asked about another
      // client's pop, this one waits, and the daemon checks its guard then.
      let seen = await held.take()
      let newest = try await client.state(of: nav)
      let reply = try await client.pop(
        from: seen ?? newest, whenBusy: .queue, within: Self.patience)
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
