import NavigationClient
import NavigationCore
import Testing

/// Dry runs through the public library.
@Suite(.timeLimit(.minutes(5))) struct RehearsalTests {
  private func withKiosk(
    _ body: (NavigationClient, NavigationState) async throws -> Void
  ) async throws {
    try await withDaemon { client, _ in
      try await client.perform(
        [
          .create(root: .init(id: "home")), .attach(), .push(.init(id: "wifi")),
        ], on: "kiosk", guardedBy: .unguarded)
      let seen = try await client.state(of: "kiosk")
      try await body(client, seen)
      // Whatever a rehearsal answered, it has changed nothing.
      #expect(try await client.state(of: "kiosk").digest == seen.digest)
    }
  }

  /// The error with which a request fails.
  private func error(
    _ request: () async throws(NavigationClientError) -> Void
  ) async -> NavigationClientError? {
    do throws(NavigationClientError) {
      try await request()
      return nil
    } catch {
      return error
    }
  }

  @Test func `a rehearsal has the reply and the state of the performance that follows`()
    async throws
  {
    try await withDaemon { client, _ in
      try await client.perform(
        [.create(root: .init(id: "home")), .attach(), .push(.init(id: "wifi"))], on: "kiosk",
        guardedBy: .unguarded)
      let seen = try await client.state(of: "kiosk")
      let operations: [NavigationOperation] = [.popToRoot(), .push(.init(id: "player"))]
      let outcome = try await client.rehearse(
        operations, on: "kiosk", guardedBy: .stack(of: seen), within: .seconds(100))
      #expect(try await client.state(of: "kiosk").digest == seen.digest)
      #expect(outcome.delegates.isEmpty && outcome.queuePosition == nil)
      let reply = try await client.perform(operations, on: "kiosk", guardedBy: .stack(of: seen))
      #expect(outcome.reply == reply)
      let state = try await client.state(of: "kiosk")
      #expect(outcome.state?.digest.prefix(8) == state.digest.prefix(8))
      #expect(outcome.state?.bar == state.bar)
      #expect(outcome.state?.screens.map(\.id) == ["home", "player"])
    }
  }

  @Test func `a rehearsal fails as the operations would, and nothing may have happened`()
    async throws
  {
    try await withKiosk { client, seen in
      let unguarded = await error { () throws(NavigationClientError) in
        _ = try await client.rehearse([.pop()], on: "kiosk", guardedBy: .unguarded)
      }
      #expect(unguarded?.code == .guardRequired && unguarded?.mayHaveHappened == false)
      let other = await error { () throws(NavigationClientError) in
        _ = try await client.rehearse([.pop()], on: "kiosk", guardedBy: .top("home"))
      }
      #expect(other?.code == .desync && other?.reason == .top && other?.top == "wifi")
      let closing = try await client.rehearse(
        [.close()], on: "kiosk", guardedBy: .stack(of: seen))
      #expect(closing.reply.changed && closing.state == nil)
    }
  }

  @Test func `a rehearsal names the delegates that would be asked, and asks none`() async throws {
    try await withKiosk { client, seen in
      let asked = Said()
      let roles = NavigationRoles(
        veto: { question in
          asked.add(question.screen)
          return true
        }, animator: { _ in nil })
      let delegation = try await client.delegate("kiosk", roles: roles)
      let outcome = try await client.rehearse(
        [.pop()], on: "kiosk", guardedBy: .top(of: seen), animated: true)
      #expect(outcome.delegates.map(\.name) == ["guide"])
      #expect(outcome.delegates.first?.roles == [.veto, .animator])
      #expect(asked.all.isEmpty)
      delegation.end()
    }
  }

  @Test func `operations that would wait have a place in the queue, and no state`() async throws {
    try await withDaemon { client, _ in
      try await client.perform(
        [
          .create(root: .init(id: "home")), .attach(),
          .configure([.transitionDeadline(.seconds(60))]),
        ], on: "kiosk", guardedBy: .unguarded)
      try await client.perform(
        [.push(.init(id: "a"))], on: "kiosk", guardedBy: .unguarded, animated: true)
      let seen = try await client.state(of: "kiosk")
      #expect(seen.isTransitioning)
      let waiting = try await client.rehearse(
        [.pop()], on: "kiosk", guardedBy: .top(of: seen), whenBusy: .queue)
      #expect(waiting.queuePosition == 1 && waiting.state == nil && !waiting.reply.changed)
      let refused = await error { () throws(NavigationClientError) in
        _ = try await client.rehearse([.pop()], on: "kiosk", guardedBy: .top(of: seen))
      }
      #expect(refused?.code == .transitionInProgress)
    }
  }
}
