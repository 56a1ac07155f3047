import NavigationClient
import NavigationCore
import Testing

/// The session of a client: how it opens, what ends it, and what its watches then say.
@Suite(.timeLimit(.minutes(5))) struct ClientSessionTests {
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

  private func begin(
    _ nav: FakeNav, _ client: NavigationClient, _ daemon: FakeDaemon,
    _ buffering: NavigationBuffering = .everyRevision
  ) async throws -> NavigationUpdates.Iterator {
    var states = client.watch(nav.name, buffering: buffering).makeAsyncIterator()
    let watch = try await daemon.next("watch")
    daemon.send(.ok, nav.watched(watch.id, mode: "snap"))
    daemon.send(.snap, nav.snapshot())
    _ = try #require(try await states.next())
    return states
  }

  @Test func `hello has the name, a nonce and the client's own id`() async throws {
    try await withClient { client, daemon in
      let hello = try await daemon.next("hello")
      #expect(hello["name"] == "t" && hello["client"]?.count == 32)
      #expect(hello["nonce"]?.isEmpty == false)
      #expect(hello.body.contains(#""ver":[1,1]"#))
      let other = try await NavigationClient.connect(endpoint: daemon.endpoint, timeout: patience)
      defer { other.close() }
      let second = try await daemon.next("hello")
      #expect(second["client"] != hello["client"] && second["name"] == "")
    }
  }

  @Test(arguments: [
    (Duration.seconds(2), "2000"), (.milliseconds(1500), "1500"), (.zero, "1000"),
    (.seconds(61), "60000"),
  ])
  func `the heartbeat that was asked for is in hello, between 1 s and 60 s`(
    heartbeat: Duration, expected: String
  ) async throws {
    let daemon = try FakeDaemon()
    defer { daemon.stop() }
    let client = try NavigationClient(endpoint: daemon.endpoint, heartbeat: heartbeat)
    defer { client.close() }
    #expect(try await daemon.next("hello")["hb"] == expected)
  }

  @Test func `a session that is refused ends the client with the daemon's error`() async throws {
    let daemon = try FakeDaemon { received in
      guard received.verb == "hello" else { return nil }
      let nonce = received["nonce"] ?? ""
      return [
        (
          .err,
          #"{"nonce":"\#(nonce)","code":"forbidden","msg":"no role","effect":"none","retry":"no"}"#
        )
      ]
    }
    defer { daemon.stop() }
    do {
      _ = try await NavigationClient.connect(endpoint: daemon.endpoint, timeout: patience)
      Issue.record("connected")
    } catch {
      #expect(error.code == .forbidden && error.message == "no role")
    }
  }

  @Test(arguments: ["fenced", "revoked"])
  func `a bye for good fails what is under way, and names its reason`(why: String) async throws {
    try await withClient { client, daemon in
      var states = try await begin(FakeNav(), client, daemon)
      let task = Task {
        try await client.perform([.popToRoot()], on: "kiosk", guardedBy: .unguarded)
      }
      _ = try await daemon.next("op")
      daemon.send(.bye, #"{"why":"\#(why)"}"#)
      do {
        _ = try await task.value
        Issue.record("performed")
      } catch let error as NavigationClientError {
        #expect(error.code == .closed && error.mayHaveHappened)
        #expect(error.message.contains(why))
      }
      let error = await #expect(throws: NavigationClientError.self) {
        _ = try await states.next()
      }
      #expect(error?.code == .closed)
      var statuses = client.statuses().makeAsyncIterator()
      #expect(await statuses.next() == nil)
    }
  }

  @Test(arguments: ["forbidden", "melted"])
  func `a watch that the daemon ends for another reason fails with it`(why: String) async throws {
    try await withClient { client, daemon in
      let nav = FakeNav()
      var states = try await begin(nav, client, daemon)
      daemon.send(.end, nav.end(why: why))
      let error = await #expect(throws: NavigationClientError.self) {
        _ = try await states.next()
      }
      #expect(error.map { "\($0)" } == "\(why): the watch is over")
      // The end stays, however often it is read.
      await #expect(throws: NavigationClientError.self) { _ = try await states.next() }
    }
  }

  @Test func `after its end a nav can be watched anew`() async throws {
    try await withClient { client, daemon in
      var nav = FakeNav()
      var states = try await begin(nav, client, daemon)
      daemon.send(.end, nav.end())
      #expect(try await states.next() == nil)
      #expect(try await states.next() == nil)
      nav = FakeNav(epoch: "00000000000000aa")
      var again = client.watch("kiosk").makeAsyncIterator()
      let watch = try await daemon.next("watch")
      // The mirror of the nav that is gone is no place to resume from.
      #expect(!watch.body.contains("from"))
      daemon.send(.ok, nav.watched(watch.id, mode: "snap"))
      daemon.send(.snap, nav.snapshot())
      #expect(try await again.next()?.epoch == nav.epoch)
    }
  }

  @Test func `all watches of a nav share one, and each reader has a pace of its own`()
    async throws
  {
    try await withClient { client, daemon in
      var nav = FakeNav()
      var first = try await begin(nav, client, daemon)
      var second = client.watch(nav.name, buffering: .everyRevision).makeAsyncIterator()
      var newest = client.watch(nav.name).makeAsyncIterator()
      for id in ["a", "b", "c"] { daemon.send(.diff, nav.push(id)) }
      for revision in 2...4 as ClosedRange<UInt64> {
        #expect(try await first.next()?.revision == revision)
      }
      // The second watch began with the state at hand.
      for revision in 1...4 as ClosedRange<UInt64> {
        let state = try #require(try await second.next())
        #expect(state.revision == revision && state.isResynchronised == (revision == 1))
      }
      let last = try #require(try await newest.next())
      #expect(last.revision == 4 && last.isResynchronised)
      #expect(last.screens.map(\.id) == ["home", "a", "b", "c"])
    }
  }

  @Test func `states of other navs do not mix`() async throws {
    try await withClient { client, daemon in
      var (one, two) = (FakeNav(name: "one"), FakeNav(name: "two"))
      var first = try await begin(one, client, daemon)
      var second = try await begin(two, client, daemon)
      daemon.send(.diff, two.push("b"))
      daemon.send(.diff, one.push("a"))
      daemon.send(.end, one.end())
      #expect(try await first.next()?.top?.id == "a")
      #expect(try await first.next() == nil)
      let state = try #require(try await second.next())
      #expect(state.nav == "two" && state.top?.id == "b")
      #expect(client.isSynchronised("two") && !client.isSynchronised("one"))
    }
  }

  @Test func `what nobody waits for ends nothing`() async throws {
    try await withClient { client, daemon in
      var nav = FakeNav()
      var states = try await begin(nav, client, daemon)
      daemon.send(.event, #"{"nav":"unknown","epoch":"c0ffee12c0ffee12","rev":1,"ev":[]}"#)
      daemon.send(
        .latest,
        #"{"nav":"kiosk","view":"bar","epoch":"c0ffee12c0ffee12","rev":1,"value":{}}"#)
      daemon.send(.queued, #"{"id":77,"nav":"kiosk","pos":1}"#)
      daemon.send(.diff, nav.push("a"))
      #expect(try await states.next()?.top?.id == "a")
    }
  }

  @Test func `a slow reader of the statuses gets the newest`() async throws {
    try await withClient { client, daemon in
      let statuses = client.statuses()
      _ = try await daemon.next("hello")
      daemon.restart()
      _ = try await daemon.next("hello")
      // A second stream says when the session is open again.
      for await status in client.statuses() where status == .connected { break }
      var iterator = statuses.makeAsyncIterator()
      #expect(await iterator.next() == .connected)
    }
  }
}
