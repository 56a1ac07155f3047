import NavigationClient
import NavigationCore
import Testing

/// Clients of two scripted daemons, which divide the navs (protocol.md, 17).
@Suite(.timeLimit(.minutes(5))) struct ClusterClientTests {
  private func withDaemons(
    _ body: (NavigationClient, FakeDaemon, FakeDaemon) async throws -> Void
  ) async throws {
    let daemon = try FakeDaemon()
    defer { daemon.stop() }
    let other = try FakeDaemon()
    defer { other.stop() }
    let client = try await NavigationClient.connect(
      endpoint: daemon.endpoint, name: "t", timeout: patience)
    defer { client.close() }
    try await body(client, daemon, other)
  }

  private func moved(_ id: UInt64, to endpoint: String) -> String {
    #"{"id":\#(id),"nav":"kiosk","code":"moved","msg":"","effect":"none","retry":"same","endpoint":"\#(endpoint)"}"#
  }

  private func unowned(_ id: UInt64, after: Int) -> String {
    #"{"id":\#(id),"nav":"kiosk","code":"busy","reason":"no-owner","msg":"","effect":"none","retry":"later","after":\#(after)}"#
  }

  private func end(_ nav: FakeNav, at endpoint: String?) -> String {
    let place = endpoint.map { #","endpoint":"\#($0)""# } ?? ""
    return nav.end(why: "moved").replacing("\"moved\"", with: "\"moved\"\(place)")
  }

  @Test func `an op in flight goes to the other daemon, and the session stays`() async throws {
    try await withDaemons { client, daemon, other in
      async let reply = client.perform([.popToRoot()], on: "kiosk", guardedBy: .unguarded)
      let op = try await daemon.next("op")
      daemon.send(.err, moved(op.id, to: other.endpoint))
      let hello = try await other.next("hello")
      let again = try await other.next("op")
      #expect(again.body == op.body)
      other.send(.ok, FakeNav().ok(again.id))
      _ = try await reply
      // The next one goes there at once, and one of another nav where it was.
      async let second = client.perform([.popToRoot()], on: "kiosk", guardedBy: .unguarded)
      let next = try await other.next("op")
      #expect(next.id > op.id)
      other.send(.ok, FakeNav().ok(next.id))
      _ = try await second
      async let third = client.perform([.popToRoot()], on: "lobby", guardedBy: .unguarded)
      let here = try await daemon.next("op")
      #expect(here.id > next.id && here.peer == op.peer)
      daemon.send(.ok, FakeNav().ok(here.id))
      _ = try await third
      client.close()
      #expect(try await daemon.next("bye").peer == op.peer)
      #expect(try await other.next("bye").peer == hello.peer)
    }
  }

  @Test func `a watch goes on at the other daemon, without a gap`() async throws {
    try await withDaemons { client, daemon, other in
      var nav = FakeNav()
      var states = client.watch("kiosk", buffering: .everyRevision).makeAsyncIterator()
      let watch = try await daemon.next("watch")
      daemon.send(.ok, nav.watched(watch.id, mode: "snap"))
      daemon.send(.snap, nav.snapshot())
      #expect(try await states.next()?.revision == 1)
      for (place, owner) in [(other, daemon), (daemon, other), (other, daemon)] {
        owner.send(.end, end(nav, at: place.endpoint))
        let resumed = try await place.next("watch")
        #expect(resumed.body.contains(#""rev":\#(nav.revision),"dig":"\#(nav.digest)""#))
        place.send(.ok, nav.watched(resumed.id, mode: "resume"))
        place.send(.diff, nav.push("s\(nav.revision)"))
        #expect(try await states.next()?.revision == nav.revision)
      }
    }
  }

  @Test func `while nobody has the nav, the client asks again`() async throws {
    try await withDaemons { client, daemon, other in
      let nav = FakeNav()
      var states = client.watch("kiosk").makeAsyncIterator()
      let watch = try await daemon.next("watch")
      daemon.send(.ok, nav.watched(watch.id, mode: "snap"))
      daemon.send(.snap, nav.snapshot())
      #expect(try await states.next()?.revision == 1)
      daemon.send(.end, end(nav, at: nil))
      for after in [1, 20, 40] {
        let again = try await daemon.next("watch")
        #expect(again.body.contains("from"))
        daemon.send(.err, unowned(again.id, after: after))
      }
      let last = try await daemon.next("watch")
      daemon.send(.err, moved(last.id, to: other.endpoint))
      _ = try await other.next("watch")
    }
  }

  @Test func `roles and a display are taken again at the other daemon`() async throws {
    try await withDaemons { client, daemon, other in
      async let delegation = client.delegate("kiosk", roles: NavigationRoles(veto: { _ in true }))
      let request = try await daemon.next("delegate")
      daemon.send(.ok, #"{"id":\#(request.id),"nav":"kiosk"}"#)
      let held = try await delegation
      var roles = held.statuses.makeAsyncIterator()
      #expect(await roles.next() == .active)
      async let display = client.takeDisplay(of: "kiosk", keeping: true)
      let lease = try await daemon.next("lease")
      daemon.send(.ok, #"{"id":\#(lease.id),"nav":"kiosk","owner":"t"}"#)
      let shown = try await display
      var leases = shown.statuses.makeAsyncIterator()
      #expect(await leases.next() == .active)
      async let reply = client.perform([.popToRoot()], on: "kiosk", guardedBy: .unguarded)
      let op = try await daemon.next("op")
      daemon.send(.err, moved(op.id, to: other.endpoint))
      #expect(await roles.next() == .interrupted)
      #expect(await leases.next() == .interrupted)
      let roleAgain = try await other.next("delegate")
      let leaseAgain = try await other.next("lease")
      let opAgain = try await other.next("op")
      other.send(.ok, #"{"id":\#(roleAgain.id),"nav":"kiosk"}"#)
      other.send(.ok, #"{"id":\#(leaseAgain.id),"nav":"kiosk","owner":"t"}"#)
      other.send(.ok, FakeNav().ok(opAgain.id))
      #expect(await roles.next() == .active)
      #expect(await leases.next() == .active)
      _ = try await reply
      // A question of the other daemon is answered there.
      other.send(
        .ask,
        #"{"ask":1,"nav":"kiosk","epoch":"c0ffee12c0ffee12","rev":22,"within":60000,"q":{"shouldPop":{"screen":"wifi","cause":"backButton"}}}"#
      )
      #expect(try await other.next("answer")["ask"] == "1")
      withExtendedLifetime((held, shown)) {}
    }
  }

  @Test func `daemons that name each other are asked in turn`() async throws {
    try await withDaemons { client, daemon, other in
      async let reply = client.perform([.popToRoot()], on: "kiosk", guardedBy: .unguarded)
      for number in 0..<7 {
        let (place, next) = number % 2 == 0 ? (daemon, other) : (other, daemon)
        place.send(.err, moved(try await place.next("op").id, to: next.endpoint))
      }
      let op = try await other.next("op")
      other.send(.ok, FakeNav().ok(op.id))
      _ = try await reply
    }
  }

  @Test func `a daemon that cannot be reached is replaced by the configured one`() async throws {
    try await withDaemons { client, daemon, other in
      async let reply = client.perform([.popToRoot()], on: "kiosk", guardedBy: .unguarded)
      let op = try await daemon.next("op")
      daemon.send(.err, moved(op.id, to: "\(daemon.endpoint)-nobody"))
      let again = try await daemon.next("op")
      #expect(again.body == op.body)
      daemon.send(.err, moved(again.id, to: other.endpoint))
      let there = try await other.next("op")
      other.send(.ok, FakeNav().ok(there.id))
      _ = try await reply
    }
  }

  @Test func `an op without a session follows its nav`() throws {
    let owner = try FakeDaemon { received in
      received.verb == "op" ? [(.ok, FakeNav().ok(received.id))] : nil
    }
    defer { owner.stop() }
    let endpoint = owner.endpoint
    let asked = Counter.Number()
    let (busy, moved) = (unowned, moved)
    let daemon = try FakeDaemon { received in
      guard received.verb == "op" else { return nil }
      return asked.add() < 3
        ? [(.err, busy(received.id, 1))] : [(.err, moved(received.id, endpoint))]
    }
    defer { daemon.stop() }
    var connection = try NavigationConnection.connect(to: daemon.endpoint, timeout: patience)
    let reply = try connection.perform(
      OpRequest(id: 0, nav: "kiosk"), operations: [Array(#"{"pop":{}}"#.utf8)], timeout: patience)
    #expect(try reply.result.get().changed == true)
    #expect(asked.value == 3)
  }

  @Test func `an op without a session that goes round in circles is answered with moved`() throws {
    let moved = moved
    let daemon = try FakeDaemon { received in
      received.verb == "op" ? [(.err, moved(received.id, "nowhere"))] : nil
    }
    defer { daemon.stop() }
    var connection = try NavigationConnection.connect(to: daemon.endpoint, timeout: patience)
    let reply = try connection.perform(
      OpRequest(id: 0, nav: "kiosk"), operations: [Array(#"{"pop":{}}"#.utf8)],
      timeout: .seconds(2))
    guard case .failure(let refusal) = reply.result else {
      Issue.record("performed")
      return
    }
    #expect(refusal.knownCode == .moved)
  }

  @Test func `a blocking session follows its navs too`() throws {
    let nav = FakeNav()
    let other = try FakeDaemon { received in
      guard received.verb == "watch" else { return nil }
      var nav = FakeNav()
      return [(.ok, nav.watched(received.id, mode: "resume")), (.diff, nav.push("a"))]
    }
    defer { other.stop() }
    let ended = end(nav, at: other.endpoint)
    let daemon = try FakeDaemon { received in
      guard received.verb == "watch" else { return nil }
      return [
        (.ok, nav.watched(received.id, mode: "snap")), (.snap, nav.snapshot()), (.end, ended),
      ]
    }
    defer { daemon.stop() }
    var connection = try NavigationConnection.connect(to: daemon.endpoint, timeout: patience)
    try connection.openSession(timeout: patience)
    try connection.request { $0.watch("kiosk") }
    var seen: [String] = []
    while seen.last != "applied" {
      switch try #require(try connection.next(timeout: patience)) {
      case .opened: seen.append("opened")
      case .lost: seen.append("lost")
      case .changed(_, .replaced): seen.append("replaced")
      case .changed(_, .suspect): seen.append("suspect")
      case .changed(_, .resumed): seen.append("resumed")
      case .changed(_, .applied): seen.append("applied")
      default: break
      }
    }
    #expect(seen == ["opened", "replaced", "suspect", "resumed", "applied"])
    try connection.leave()
  }
}
