import NavigationClient
import NavigationCore
import Observation
import Testing

/// Watches that wait for their nav, beside those that do not.
@Suite(.timeLimit(.minutes(5))) struct AwaitedWatchTests {
  private func create(_ client: NavigationClient) async throws {
    let home = ScreenDescription(id: "home")
    try await client.perform([.create(root: home)], on: "later", guardedBy: .unguarded)
  }

  @Test func `a watch waits for its nav, and for the next one of that name`() async throws {
    try await withDaemon { client, daemon in
      let creator = try await NavigationClient.connect(
        endpoint: daemon.directory.endpoint, timeout: patience)
      defer { creator.close() }
      var states = client.watch("later", wait: true).makeAsyncIterator()
      try await create(creator)
      let state = try #require(try await states.next())
      #expect(state.screens.map(\.id) == ["home"])
      try await creator.perform([.close()], on: "later", guardedBy: .override)
      try await create(creator)
      let second = try #require(try await states.next())
      #expect(second.epoch != state.epoch && second.isResynchronised)
    }
  }

  @Test func `a watch that waits goes on over a restart of the daemon`() async throws {
    try await withDaemon { client, daemon in
      var states = client.watch("later", wait: true).makeAsyncIterator()
      daemon.kill()
      try daemon.start()
      try await create(client)
      #expect(try await states.next()?.revision == 1)
    }
  }

  @Test func `a watch beside one that waits still ends with no-nav, and the other goes on`()
    async throws
  {
    try await withDaemon { client, daemon in
      var states = client.watch("later", wait: true).makeAsyncIterator()
      for _ in 0..<2 {
        await #expect(throws: NavigationClientError.self) { try await client.state(of: "later") }
      }
      try await create(client)
      #expect(try await states.next()?.revision == 1)
      var plain = client.watch("later").makeAsyncIterator()
      #expect(try await plain.next()?.revision == 1)
      try await client.perform([.close()], on: "later", guardedBy: .override)
      #expect(try await plain.next() == nil)
      try await create(client)
      #expect(try await states.next()?.revision == 1)
    }
  }

  @Test(.timeLimit(.minutes(5))) @MainActor
  func `a model waits for its nav`() async throws {
    try await withDaemon { client, daemon in
      let model = NavigationModel(client, nav: "later")
      let following = Task { try await model.run(wait: true) }
      defer { following.cancel() }
      try await create(client)
      for await top in Observations({ model.top?.id }) where top == "home" { break }
    }
  }

  @Test func `a session that waits asks again when its nav was closed`() throws {
    var rig = SessionReplicaTests.Rig()
    _ = try rig.open()
    let nav = FakeNav()
    let watch = try #require(rig.session.watch(nav.name, waits: true).sent.first)
    #expect(watch.body.contains(#""wait":true"#))
    _ = try rig.receive(.queued, #"{"id":\#(watch.id),"nav":"kiosk","pos":0}"#)
    _ = try rig.receive(.ok, nav.watched(watch.id, mode: "snap"))
    _ = try rig.receive(.snap, nav.snapshot())
    let end = #"{"nav":"kiosk","view":"full","epoch":"c0ffee12c0ffee12","rev":1,"why":"closed"}"#
    let ended = try rig.receive(.end, end)
    #expect(ended.sent.map(\.verb) == [.watch])
    #expect(ended.sent.first?.body.contains(#""wait":true"#) == true)
    #expect(rig.session.replica(of: "kiosk")?.mirror == nil)
    _ = rig.session.disconnected()
    #expect(try rig.open().sent.first?.body.contains(#""wait":true"#) == true)
  }
}
