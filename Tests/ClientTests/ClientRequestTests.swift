import NavigationClient
import NavigationCore
import RuntimePaths
import Testing

/// What the requests of the public library are on the wire, and how each of them can end.
@Suite(.timeLimit(.minutes(5))) struct ClientRequestTests {
  /// Runs a test with a scripted daemon and a client of it.
  private func withClient(
    answers: @escaping @Sendable (Received) -> [FakeDaemon.Answer]? = { _ in nil },
    _ body: (NavigationClient, FakeDaemon) async throws -> Void
  ) async throws {
    let daemon = try FakeDaemon(answers: answers)
    defer { daemon.stop() }
    let client = try await NavigationClient.connect(
      endpoint: daemon.endpoint, name: "t", timeout: patience)
    defer { client.close() }
    try await body(client, daemon)
  }

  /// Watches a nav of the screens `home` and `a`; the iterator keeps the watch.
  private func watch(
    _ client: NavigationClient, _ daemon: FakeDaemon
  ) async throws -> (NavigationUpdates.Iterator, NavigationState) {
    var nav = FakeNav()
    _ = nav.push("a")
    var states = client.watch(nav.name).makeAsyncIterator()
    let watch = try await daemon.next("watch")
    daemon.send(.ok, nav.watched(watch.id, mode: "snap"))
    daemon.send(.snap, nav.snapshot())
    return (states, try #require(try await states.next()))
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

  private static let answersOps: @Sendable (Received) -> [FakeDaemon.Answer]? = { received in
    received.verb == "op" ? [(.ok, FakeNav().ok(received.id))] : nil
  }

  @Test func `each shortcut sends one operation, with the guard of its documentation`()
    async throws
  {
    try await withClient(answers: Self.answersOps) { client, daemon in
      let (states, state) = try await watch(client, daemon)
      let life = #""epoch":"c0ffee12c0ffee12""#
      let top = #"{\#(life),"top":"a"}"#
      let stack = #"{\#(life),"stack":["home","a"]}"#
      try await client.push("b", onto: state, animated: true)
      try await client.pop(from: state, whenBusy: .queue)
      try await client.popTo("home", in: state)
      try await client.popToRoot(in: state)
      try await client.setStack(["home", "b"], replacing: state)
      try await client.setTitle("T", of: "home", in: state)
      for (guards, flags, operation) in [
        (top, #""animated":true,"#, #"{"push":{"screen":"b"}}"#),
        (top, #""animated":false,"onBusy":"queue","#, #"{"pop":{}}"#),
        ("{\(life)}", #""animated":false,"#, #"{"popTo":{"screen":"home"}}"#),
        (stack, #""animated":false,"#, #"{"popToRoot":{}}"#),
        (stack, #""animated":false,"#, #"{"setStack":{"screens":["home","b"]}}"#),
        ("{\(life)}", "", #"{"item.set":{"screen":"home","title":"T"}}"#),
      ] {
        let op = try await daemon.next("op")
        #expect(
          op.body
            == #"{"id":\#(op.id),"nav":"kiosk","if":\#(guards),\#(flags)"do":[\#(operation)]}"#)
      }
      withExtendedLifetime(states) {}
    }
  }

  @Test func `a time limit is the due of the op, by the clock since the boot`() async throws {
    try await withClient(answers: Self.answersOps) { client, daemon in
      try await client.perform([.detach()], on: "kiosk", guardedBy: .unguarded)
      #expect(try await daemon.next("op")["due"] == nil)
      for limit in [Duration.seconds(1000), .milliseconds(1_000_500), .seconds(2000)] {
        try await client.perform([.tap()], on: "kiosk", guardedBy: .unguarded, within: limit)
      }
      var dues: [UInt64] = []
      for _ in 0..<3 {
        let op = try await daemon.next("op")
        dues.append(try #require(op["due"].flatMap { UInt64($0) }))
        #expect(try op["clock"] == bootID(environment: .current()))
      }
      #expect(dues[0] > 1_000_000)
      #expect(dues[1] - dues[0] >= 500 && dues[2] - dues[0] >= 1_000_000)
    }
  }

  @Test func `replies belong to their requests, in whatever order they come`() async throws {
    try await withClient { client, daemon in
      async let first = client.perform([.push("a")], on: "kiosk", guardedBy: .unguarded)
      let one = try await daemon.next("op")
      async let second = client.read(.top, of: "kiosk")
      let two = try await daemon.next("get")
      async let third = client.perform([.push("b")], on: "other", guardedBy: .unguarded)
      let three = try await daemon.next("op")
      #expect(one.id < two.id && two.id < three.id)
      var other = FakeNav(name: "other")
      _ = other.push("b")
      daemon.send(.ok, other.ok(three.id))
      daemon.send(.ok, #"{"id":\#(two.id),"nav":"kiosk","value":{"id":"home"}}"#)
      daemon.send(.ok, #"{"id":999,"nav":"kiosk","rev":77}"#)
      daemon.send(.ok, FakeNav().ok(one.id))
      #expect(try await third.top == "b")
      #expect(try await second == ["id": "home"])
      #expect(try await first.top == "home")
    }
  }

  @Test func `a read names its value, and no value is null`() async throws {
    try await withClient(answers: { received in
      guard received.verb == "get" else { return nil }
      let value = received["what"] == "log" ? #","value":[1]"# : ""
      return [(.ok, #"{"id":\#(received.id),"nav":"kiosk"\#(value)}"#)]
    }) { client, daemon in
      #expect(try await client.read(.state, of: "kiosk") == .null)
      #expect(try await client.read(.log, of: "kiosk") == [1])
      let bodies = [try await daemon.next("get").body, try await daemon.next("get").body]
      #expect(bodies[0].hasSuffix(#","nav":"kiosk"}"#))
      #expect(bodies[1].hasSuffix(#","nav":"kiosk","what":"log"}"#))
    }
  }

  @Test func `a reply without members is a change of nothing`() async throws {
    try await withClient(answers: { received in
      received.verb == "op" ? [(.ok, #"{"id":\#(received.id)}"#)] : nil
    }) { client, _ in
      let reply = try await client.perform([.tap()], on: "kiosk", guardedBy: .unguarded)
      #expect(reply.epoch == "" && reply.revision == 0 && !reply.changed)
      #expect(reply.depth == 0 && reply.top == nil && reply.results == [] && reply.popped == [])
    }
  }

  @Test(arguments: [
    (#"[{"popped":"a"}]"#, ["a"]), (#"[{"popped":null}]"#, []),
    (#"[{"popped":["a","b"]}]"#, ["a", "b"]), (#"[{"popped":[1,"d"]}]"#, ["d"]),
    (#"[{"id":"x"},{"popped":["b"]},{"popped":"c"}]"#, ["b", "c"]),
    ("[]", []), ("[{}]", []),
  ])
  func `popped lists all removed screens, in the order of the operations`(
    out: String, popped: [String]
  ) async throws {
    try await withClient(answers: { received in
      received.verb == "op" ? [(.ok, FakeNav().ok(received.id, out: out))] : nil
    }) { client, _ in
      let reply = try await client.perform([.tap()], on: "kiosk", guardedBy: .unguarded)
      #expect(reply.popped == popped)
    }
  }

  @Test func `the state of a watched nav is there at once, any other is asked for`() async throws {
    try await withClient { client, daemon in
      let (states, state) = try await watch(client, daemon)
      // The daemon answers nothing here, so only the mirror can give it.
      #expect(try await client.state(of: "kiosk") == state)
      async let other = client.state(of: "other")
      let request = try await daemon.next("watch")
      #expect(request["nav"] == "other")
      let nav = FakeNav(name: "other")
      daemon.send(.ok, nav.watched(request.id, mode: "snap"))
      daemon.send(.snap, nav.snapshot())
      #expect(try await other.screens.map(\.id) == ["home"])
      #expect(try await daemon.next("unwatch")["nav"] == "other")
      withExtendedLifetime(states) {}
    }
  }

  @Test func `a nav that closes before its state came is no nav`() async throws {
    try await withClient { client, daemon in
      async let state = client.state(of: "kiosk")
      let request = try await daemon.next("watch")
      let nav = FakeNav()
      daemon.send(.ok, nav.watched(request.id, mode: "snap"))
      daemon.send(.end, nav.end())
      do {
        _ = try await state
        Issue.record("there is a state")
      } catch let error as NavigationClientError {
        #expect(error.code == .noNav && error.message == "the nav was closed")
      }
    }
  }

  @Test func `a cancelled task gets no state and sends nothing`() async throws {
    try await withClient { client, daemon in
      let task = Task {
        // The task is cancelled before it asks.
        while !Task.isCancelled { await Task.yield() }
        let state = await error { () throws(NavigationClientError) in
          _ = try await client.state(of: "kiosk")
        }
        let op = await error { () throws(NavigationClientError) in
          try await client.perform([.tap()], on: "kiosk", guardedBy: .unguarded)
        }
        let roles = await error { () throws(NavigationClientError) in
          _ = try await client.delegate("kiosk", roles: NavigationRoles(veto: { _ in true }))
        }
        return [state, op, roles]
      }
      task.cancel()
      for error in await task.value {
        #expect(error?.code == .cancelled && error?.mayHaveHappened == false)
      }
      // Had the op been sent, it would come before this one.
      async let reply = client.perform([.setBarHidden(true)], on: "kiosk", guardedBy: .unguarded)
      let op = try await daemon.next("op")
      #expect(op.body.contains("bar.setHidden"))
      daemon.send(.ok, FakeNav().ok(op.id))
      _ = try await reply
    }
  }

  @Test func `whoever is closed refuses every request at once`() async throws {
    try await withClient { client, _ in
      client.close()
      client.close()
      let errors = [
        await error { () throws(NavigationClientError) in
          try await client.perform([.tap()], on: "kiosk", guardedBy: .unguarded)
        },
        await error { () throws(NavigationClientError) in
          _ = try await client.read(.state, of: "kiosk")
        },
        await error { () throws(NavigationClientError) in
          _ = try await client.state(of: "kiosk")
        },
        await error { () throws(NavigationClientError) in
          _ = try await client.takeDisplay(of: "kiosk")
        },
      ]
      for error in errors {
        #expect(error?.code == .closed && error?.mayHaveHappened == false)
      }
      #expect(!client.isSynchronised("kiosk"))
    }
  }

  @Test func `a request larger than the daemon accepts is refused here, and nothing else is`()
    async throws
  {
    try await withClient(answers: Self.answersOps) { client, daemon in
      let overhead = #"{"id":1,"nav":"kiosk","do":[{"push":{"screen":{"title":""}}}]}"#.utf8.count
      func push(_ octets: Int) -> NavigationOperation {
        .push(.init(title: String(repeating: "x", count: octets - overhead)))
      }
      let large = await error { () throws(NavigationClientError) in
        try await client.perform([push(65_504 + 1)], on: "kiosk", guardedBy: .unguarded)
      }
      #expect(large?.code == .limit && large?.reason == .size)
      #expect(large?.mayHaveHappened == false && large?.retry == .never)
      // Its id was used, so that this one has as many digits.
      try await client.perform([push(65_504)], on: "kiosk", guardedBy: .unguarded)
      #expect(try await daemon.next("op").body.utf8.count == 65_504)
    }
  }
}
