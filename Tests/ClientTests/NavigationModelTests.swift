import NavigationClient
import NavigationCore
import Observation
import Synchronization
import Testing

/// A model in a task of its own, which follows a scripted daemon.
@MainActor @Suite(.timeLimit(.minutes(5))) struct NavigationModelTests {
  private func withModel(
    _ body: (NavigationModel, FakeDaemon, FakeNav, Task<Void, any Error>) async throws -> Void
  ) async throws {
    let daemon = try FakeDaemon()
    defer { daemon.stop() }
    let client = try await NavigationClient.connect(
      endpoint: daemon.endpoint, name: "me", timeout: patience)
    defer { client.close() }
    let model = NavigationModel(client, nav: "kiosk")
    #expect(model.isStale && model.state == nil && model.top == nil && model.bar == nil)
    let following = Task { try await model.run() }
    defer { following.cancel() }
    var nav = FakeNav()
    _ = nav.push("a")
    try await begin(nav, daemon)
    try await body(model, daemon, nav, following)
  }

  private func begin(_ nav: FakeNav, _ daemon: FakeDaemon) async throws {
    let watch = try await daemon.next("watch")
    daemon.send(.ok, nav.watched(watch.id, mode: "snap"))
    daemon.send(.snap, nav.snapshot())
  }

  private func wait(until isTrue: @escaping @MainActor @Sendable () -> Bool) async {
    for await value in Observations({ isTrue() }) where value { break }
  }

  @Test func `a model has each revision after the one before, and the newest at the end`()
    async throws
  {
    try await withModel { model, daemon, nav, _ in
      var nav = nav
      await wait { !model.isStale }
      #expect(model.screens.map(\.id) == ["home", "a"] && model.top?.id == "a")
      #expect(model.visible?.id == "a" && model.bar?.middle == .title("a"))
      for index in 0..<40 { daemon.send(.diff, nav.push("s\(index)")) }
      var seen: [UInt64] = []
      for await revision in Observations({ model.state?.revision }) {
        seen.append(revision ?? 0)
        if revision == nav.revision { break }
      }
      #expect(seen == seen.sorted())
      #expect(model.screens.map(\.id) == nav.screens.map(\.id))
      #expect(model.status == .connected && !model.isStale)
    }
  }

  @Test func `only the observers of what has changed are called`() async throws {
    try await withModel { model, daemon, nav, _ in
      var nav = nav
      await wait { !model.isStale }
      let isCalled = Mutex(false)
      withObservationTracking {
        _ = (model.presented, model.isTransitioning, model.status, model.isStale)
      } onChange: {
        isCalled.withLock { $0 = true }
      }
      daemon.send(.diff, nav.push("b"))
      await wait { model.top?.id == "b" }
      #expect(!isCalled.withLock { $0 })
    }
  }

  @Test func `a model is stale until its mirror is confirmed again`() async throws {
    try await withModel { model, daemon, nav, _ in
      await wait { !model.isStale }
      daemon.restart()
      let watch = try await daemon.next("watch")
      await wait { model.isStale }
      await wait { model.status == .connected }
      #expect(model.isStale && model.top?.id == "a")
      let error = await #expect(throws: NavigationClientError.self) { try await model.pop() }
      #expect(error?.code == .desync && error?.reason == .mirror)
      #expect(error?.message == "its watch is not in sync; decide again on the next state of kiosk")
      daemon.send(.ok, nav.watched(watch.id, mode: "resume"))
      await wait { !model.isStale }
      #expect(model.top?.id == "a")
    }
  }

  @Test func `a model that is not stale shows what came while the daemon was away`() async throws {
    try await withModel { model, daemon, nav, _ in
      var nav = nav
      await wait { !model.isStale }
      daemon.restart()
      let watch = try await daemon.next("watch")
      await wait { model.isStale }
      _ = nav.push("b")
      daemon.send(.ok, nav.watched(watch.id, mode: "snap"))
      daemon.send(.snap, nav.snapshot())
      for await (isStale, top) in Observations({ (model.isStale, model.top?.id) }) {
        #expect(isStale || top == "b")
        if !isStale { break }
      }
    }
  }

  @Test func `a model keeps what it shows while the daemon is away, and goes on after it`()
    async throws
  {
    try await withDaemon { client, daemon in
      try await client.perform(
        [.create(root: .init(id: "home"))], on: "kiosk", guardedBy: .unguarded)
      let model = NavigationModel(client, nav: "kiosk")
      let following = Task { try await model.run() }
      defer { following.cancel() }
      await wait { !model.isStale }
      daemon.kill()
      await wait { model.status == .disconnected }
      #expect(model.isStale && model.top?.id == "home")
      let error = await #expect(throws: NavigationClientError.self) { try await model.pop() }
      #expect(error?.code == .unreachable && error?.retry == .afterResynchronising)
      #expect(error?.mayHaveHappened == false && error?.reason == nil)
      #expect(
        error?.message
          == "the connection is lost, and the client connects again; decide again on the next state of kiosk"
      )
      try daemon.start()
      await wait { !model.isStale }
      try await model.push(.init(id: "a"))
      await wait { model.top?.id == "a" }
    }
  }

  @Test func `a model lives as long as the task that runs it, and can run again`() async throws {
    try await withModel { model, daemon, nav, following in
      var nav = nav
      await wait { !model.isStale }
      following.cancel()
      try await following.value
      #expect(model.isStale && model.top?.id == "a")
      _ = try await daemon.next("unwatch")
      let again = Task { try await model.run() }
      defer { again.cancel() }
      _ = nav.push("b")
      try await begin(nav, daemon)
      await wait { !model.isStale && model.top?.id == "b" }
    }
  }

  @Test func `a model that runs cannot run twice`() async throws {
    try await withModel { model, _, _, _ in
      await wait { !model.isStale }
      let error = await #expect(throws: NavigationClientError.self) { try await model.run() }
      #expect(error?.code == .invalidArgument)
      #expect(!model.isStale)
    }
  }

  @Test func `a model ends with its nav`() async throws {
    try await withModel { model, daemon, nav, following in
      await wait { !model.isStale }
      daemon.send(.end, nav.end())
      try await following.value
      #expect(model.isStale && model.top?.id == "a")
    }
  }

  @Test func `a model of a nav that is not there ends with the error`() async throws {
    let daemon = try FakeDaemon { received in
      guard received.verb == "watch" else { return nil }
      let body =
        #"{"id":\#(received.id),"code":"no-nav","msg":"","effect":"none","retry":"no"}"#
      return [(.err, body)]
    }
    defer { daemon.stop() }
    let client = try await NavigationClient.connect(
      endpoint: daemon.endpoint, name: "me", timeout: patience)
    defer { client.close() }
    let model = NavigationModel(client, nav: "kiosk")
    let error = await #expect(throws: NavigationClientError.self) { try await model.run() }
    #expect(error?.code == .noNav && model.isStale)
  }

  @Test func `a pop is guarded by what the model shows, and shown when it is confirmed`()
    async throws
  {
    try await withModel { model, daemon, nav, _ in
      var nav = nav
      await wait { !model.isStale }
      let popping = Task { try await model.pop() }
      let op = try await daemon.next("op")
      #expect(model.screens.map(\.id) == ["home", "a"])
      #expect(op.body.contains(#""if":{"epoch":"c0ffee12c0ffee12","top":"a"}"#))
      daemon.send(.diff, nav.pop())
      daemon.send(.ok, nav.ok(op.id, out: #"[{"popped":"a"}]"#))
      #expect(try await popping.value.popped == ["a"])
      await wait { model.top?.id == "home" }
    }
  }

  @Test func `a model without a state sends nothing`() async throws {
    let daemon = try FakeDaemon()
    defer { daemon.stop() }
    let client = try await NavigationClient.connect(
      endpoint: daemon.endpoint, name: "me", timeout: patience)
    defer { client.close() }
    let model = NavigationModel(client, nav: "kiosk")
    let error = await #expect(throws: NavigationClientError.self) { try await model.pop() }
    #expect(error?.code == .desync && error?.reason == .mirror)
    #expect(error?.retry == .afterResynchronising && error?.mayHaveHappened == false)
  }
}
