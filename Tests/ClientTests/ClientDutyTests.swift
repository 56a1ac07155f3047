import NavigationClient
import NavigationCore
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5))) struct ClientDutyTests {
  /// Runs a test with a scripted daemon and a client of it.
  private func withClient(
    _ body: (NavigationClient, FakeDaemon) async throws -> Void
  ) async throws {
    let daemon = try FakeDaemon()
    defer { daemon.stop() }
    let client = try await NavigationClient.connect(
      endpoint: daemon.endpoint, name: "t", timeout: patience)
    defer { client.close() }
    try await body(client, daemon)
  }

  private func delegate(
    _ client: NavigationClient, _ daemon: FakeDaemon, _ roles: NavigationRoles
  ) async throws -> NavigationDelegation {
    async let delegation = client.delegate("kiosk", roles: roles)
    let request = try await daemon.next("delegate")
    daemon.send(.ok, #"{"id":\#(request.id),"nav":"kiosk"}"#)
    return try await delegation
  }

  private func ask(_ number: Int, _ question: String, within: Int = 60_000) -> String {
    #"{"ask":\#(number),"nav":"kiosk","epoch":"c0ffee12c0ffee12","rev":22,"within":\#(within),"q":\#(question)}"#
  }

  private let mayPop = #"{"shouldPop":{"screen":"wifi","cause":"backButton"}}"#

  @Test func `each role is played by its closure, with what the question says`() async throws {
    try await withClient { client, daemon in
      let roles = NavigationRoles(
        veto: { question in
          question.screen == "wifi" && question.change == .pop(cause: .backButton)
            && question.question.revision == 22 && question.question.deadline > .now
        },
        animator: { question in
          guard question.operation == .push, question.from == "wifi" else { return nil }
          return NavigationAnimation("fade", duration: .milliseconds(500))
        },
        interaction: { question in question.animator == "fade" ? "drag" : nil },
        orientations: .init(supported: [.portrait], preferred: .portrait))
      async let delegation = client.delegate("kiosk", roles: roles)
      let request = try await daemon.next("delegate")
      #expect(
        request.body.contains(#""roles":["veto","animator","interaction","orientation"]"#))
      #expect(
        request.body.contains(#""orientations":{"supported":["portrait"],"preferred":"portrait"}"#))
      daemon.send(.ok, #"{"id":\#(request.id),"nav":"kiosk"}"#)
      let held = try await delegation
      for (number, question, answer) in [
        (1, mayPop, "true"), (2, #"{"shouldPush":{"screen":"wifi"}}"#, "false"),
        (
          3, #"{"animatorFor":{"op":"push","from":"wifi","to":"dns"}}"#,
          #"{"animator":"fade","duration":500}"#
        ),
        (4, #"{"animatorFor":{"op":"pop","from":"dns","to":null}}"#, "null"),
        (5, #"{"interactionFor":{"animator":"fade"}}"#, #"{"driver":"drag"}"#),
        (6, #"{"interactionFor":{"animator":"none"}}"#, "null"),
      ] {
        daemon.send(.ask, ask(number, question))
        let reply = try await daemon.next("answer")
        #expect(reply.body == #"{"ask":\#(number),"value":\#(answer)}"#)
      }
      held.end()
      let end = try await daemon.next("delegate")
      #expect(end.body.contains(#""roles":[]"#))
      var statuses = held.statuses.makeAsyncIterator()
      #expect(await statuses.next() == .active)
      #expect(await statuses.next() == .ended(nil))
      #expect(await statuses.next() == nil)
    }
  }

  @Test func `who throws has no verdict at once, and the end of a round cancels who is late`()
    async throws
  {
    struct Unsure: Error {}
    try await withClient { client, daemon in
      let (late, cancelled) = AsyncStream.makeStream(of: Bool.self)
      let roles = NavigationRoles(veto: { question in
        guard question.screen == "late" else {
          if question.screen == "unsure" { throw Unsure() }
          return true
        }
        let (never, hold) = AsyncStream.makeStream(of: Bool.self)
        for await answer in never { return answer }
        cancelled.yield(Task.isCancelled)
        withExtendedLifetime(hold) {}
        return true
      })
      let delegation = try await delegate(client, daemon, roles)
      daemon.send(.ask, ask(1, #"{"shouldPush":{"screen":"unsure"}}"#))
      #expect(try await daemon.next("answer").body == #"{"ask":1,"value":null}"#)
      daemon.send(.ask, ask(2, #"{"shouldPush":{"screen":"late"}}"#))
      daemon.send(.settled, #"{"ask":2,"outcome":"timeout"}"#)
      var ends = late.makeAsyncIterator()
      #expect(await ends.next() == true)
      daemon.send(.ask, ask(3, #"{"shouldPush":{"screen":"sure"}}"#))
      #expect(try await daemon.next("answer").body == #"{"ask":3,"value":true}"#)
      withExtendedLifetime(delegation) {}
    }
  }

  @Test func `roles are played on after a loss, and statuses say what happens`() async throws {
    try await withClient { client, daemon in
      let delegation = try await delegate(client, daemon, NavigationRoles(veto: { _ in false }))
      var statuses = delegation.statuses.makeAsyncIterator()
      #expect(await statuses.next() == .active)
      daemon.restart()
      #expect(await statuses.next() == .interrupted)
      let again = try await daemon.next("delegate")
      daemon.send(.ok, #"{"id":\#(again.id),"nav":"kiosk"}"#)
      #expect(await statuses.next() == .active)
      daemon.send(.ask, ask(1, mayPop))
      #expect(try await daemon.next("answer").body == #"{"ask":1,"value":false}"#)
      async let other = client.delegate("kiosk", roles: NavigationRoles(veto: { _ in true }))
      let replacing = try await daemon.next("delegate")
      guard case .ended(let error?)? = await statuses.next() else {
        Issue.record("still played")
        return
      }
      #expect(error.code == .replaced)
      daemon.send(.ok, #"{"id":\#(replacing.id),"nav":"kiosk"}"#)
      // The old one's end does not end the new one.
      delegation.end()
      daemon.send(.ask, ask(2, mayPop))
      #expect(try await daemon.next("answer").body == #"{"ask":2,"value":true}"#)
      withExtendedLifetime(try await other) {}
    }
  }

  @Test func `roles that are refused, late or none are errors`() async throws {
    try await withClient { client, daemon in
      let roles = NavigationRoles(veto: { _ in true })
      async let refused = client.delegate("kiosk", roles: roles)
      let request = try await daemon.next("delegate")
      daemon.send(
        .err,
        #"{"id":\#(request.id),"code":"no-nav","msg":"none","effect":"none","retry":"no"}"#)
      do {
        _ = try await refused
        Issue.record("granted")
      } catch let error as NavigationClientError {
        #expect(!error.mayHaveHappened)
      }
      do throws(NavigationClientError) {
        _ = try await client.delegate("kiosk", roles: roles, within: .milliseconds(1))
        Issue.record("granted")
      } catch {
        #expect(error.code == .expired)
      }
      do throws(NavigationClientError) {
        _ = try await client.delegate("kiosk", roles: NavigationRoles())
        Issue.record("granted")
      } catch {
        #expect(error.code == .invalidArgument)
      }
    }
  }

  private func take(
    _ client: NavigationClient, _ daemon: FakeDaemon, force: Bool = false, keeping: Bool = false
  ) async throws -> NavigationDisplayLease {
    async let lease = client.takeDisplay(of: "kiosk", force: force, keeping: keeping)
    let request = try await daemon.next("lease")
    #expect(request.body.contains(#""take":true"#))
    #expect(request.body.contains("force") == force)
    daemon.send(.ok, #"{"id":\#(request.id),"nav":"kiosk","owner":"t"}"#)
    return try await lease
  }

  @Test func `a display is held until it is given back`() async throws {
    try await withClient { client, daemon in
      let lease = try await take(client, daemon, force: true)
      lease.release()
      #expect(try await daemon.next("lease").body.contains(#""take":false"#))
      var statuses = lease.statuses.makeAsyncIterator()
      #expect(await statuses.next() == .active)
      #expect(await statuses.next() == .ended(nil))
    }
  }

  @Test func `a display that nobody refers to any more is given back`() async throws {
    try await withClient { client, daemon in
      do { _ = try await take(client, daemon) }
      #expect(try await daemon.next("lease").body.contains(#""take":false"#))
    }
  }

  @Test func `a loss ends the lease, unless it is kept`() async throws {
    try await withClient { client, daemon in
      let lease = try await take(client, daemon)
      var statuses = lease.statuses.makeAsyncIterator()
      #expect(await statuses.next() == .active)
      daemon.restart()
      guard case .ended(let error?)? = await statuses.next() else {
        Issue.record("still held")
        return
      }
      #expect(error.code == .leaseLost)

      let kept = try await take(client, daemon, keeping: true)
      var changes = kept.statuses.makeAsyncIterator()
      #expect(await changes.next() == .active)
      daemon.restart()
      #expect(await changes.next() == .interrupted)
      let again = try await daemon.next("lease")
      daemon.send(.ok, #"{"id":\#(again.id),"nav":"kiosk","owner":"t"}"#)
      #expect(await changes.next() == .active)
    }
  }

  @Test func `a client that is closed ends everything it held`() async throws {
    try await withClient { client, daemon in
      let lease = try await take(client, daemon)
      client.close()
      var statuses = lease.statuses.makeAsyncIterator()
      #expect(await statuses.next() == .active)
      guard case .ended(let error?)? = await statuses.next() else {
        Issue.record("still held")
        return
      }
      #expect(error.code == .closed)
    }
  }

  @Test func `a nav that moved is followed to another daemon`() async throws {
    try await withClient { client, daemon in
      let other = try FakeDaemon()
      defer { other.stop() }
      var nav = FakeNav()
      var states = client.watch("kiosk", buffering: .everyRevision).makeAsyncIterator()
      let watch = try await daemon.next("watch")
      daemon.send(.ok, nav.watched(watch.id, mode: "snap"))
      daemon.send(.snap, nav.snapshot())
      #expect(try await states.next()?.revision == 1)
      let end = nav.end(why: "moved").replacing(
        "\"moved\"", with: #""moved","endpoint":"\#(other.endpoint)""#)
      daemon.send(.end, end)
      let resumed = try await other.next("watch")
      #expect(resumed.body.contains(#""from":{"epoch":"\#(nav.epoch)","rev":1"#))
      other.send(.ok, nav.watched(resumed.id, mode: "resume"))
      other.send(.diff, nav.push("wifi"))
      #expect(try await states.next()?.top?.id == "wifi")
      async let reply = client.perform([.popToRoot()], on: "kiosk", guardedBy: .unguarded)
      let op = try await other.next("op")
      other.send(
        .err,
        #"{"id":\#(op.id),"code":"moved","msg":"","effect":"none","retry":"same","endpoint":"\#(daemon.endpoint)"}"#
      )
      let again = try await daemon.next("op")
      #expect(again.body == op.body)
      daemon.send(.ok, nav.ok(again.id))
      #expect(try await reply.revision == 2)
    }
  }

  @Test func `a client that is sent to a place that is none comes back`() async throws {
    try await withClient { client, daemon in
      let nav = FakeNav()
      let states = client.watch("kiosk").makeAsyncIterator()
      let watch = try await daemon.next("watch")
      daemon.send(
        .err,
        #"{"id":\#(watch.id),"code":"moved","msg":"","effect":"none","retry":"same","endpoint":"nowhere"}"#
      )
      let again = try await daemon.next("watch")
      #expect(again.body.contains(nav.name))
      withExtendedLifetime(states) {}
    }
  }
}
