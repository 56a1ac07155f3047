@testable import NavigationCore
@testable import NavigationClient
import Foundation
import Testing

@Suite(.timeLimit(.minutes(5))) struct NavigationConnectionTests {
  @Test func `a single request needs no session`() throws {
    let daemon = try FakeDaemon { received in
      switch received.verb {
      case "op": [(.ok, FakeNav().ok(received.id))]
      case "get": [(.ok, #"{"id":\#(received.id),"nav":"kiosk","value":{"a":1}}"#)]
      default: nil
      }
    }
    defer { daemon.stop() }
    var connection = try NavigationConnection.connect(
      to: daemon.endpoint, name: "ctl", timeout: patience)
    let reply = try connection.perform(
      OpRequest(id: 0, nav: "kiosk"), operations: [Array(#"{"pop":{}}"#.utf8)])
    #expect(try reply.result.get().top == "home")
    let read = try connection.get(GetRequest(id: 0, nav: "kiosk"))
    #expect(try read.result.get().value?.bytes == Array(#"{"a":1}"#.utf8))
    #expect(String(decoding: read.body, as: UTF8.self).hasPrefix(#"{"id":2"#))
  }

  @Test func `a single op carries a client and a name, and goes again after a restart`()
    async throws
  {
    let daemon = try FakeDaemon()
    defer { daemon.stop() }
    let endpoint = daemon.endpoint
    let task = onThread {
      var connection = try NavigationConnection.connect(
        to: endpoint, name: "ctl", timeout: patience)
      return try connection.perform(
        OpRequest(id: 0, nav: "kiosk"), operations: [Array(#"{"pop":{}}"#.utf8)],
        timeout: patience)
    }
    let first = try await daemon.next("op")
    #expect(first["client"]?.count == 32)
    #expect(first["name"] == "ctl")
    daemon.restart()
    let second = try await daemon.next("op")
    #expect(#"\#(first.body.dropLast()),"again":0}"# == second.body)
    daemon.send(.err, #"{"id":1,"code":"no-nav","msg":"none","effect":"none","retry":"no"}"#)
    guard case .failure(let refusal) = try await task().result else {
      Issue.record("performed")
      return
    }
    #expect(refusal.knownCode == .noNav)
  }

  @Test func `nobody at the endpoint is an error, and so is nobody who answers`() throws {
    let directory = try TemporaryDirectory()
    do {
      _ = try NavigationConnection.connect(to: directory.endpoint, timeout: .milliseconds(20))
      Issue.record("connected")
    } catch {
      guard case .unreachable = error else {
        Issue.record("\(error)")
        return
      }
    }
    let daemon = try FakeDaemon()
    defer { daemon.stop() }
    var connection = try NavigationConnection.connect(to: daemon.endpoint, timeout: patience)
    do {
      _ = try connection.get(GetRequest(id: 0, nav: "kiosk"), timeout: .milliseconds(20))
      Issue.record("answered")
    } catch {
      guard case .noAnswer = error else {
        Issue.record("\(error)")
        return
      }
    }
  }

  @Test func `a session follows a nav, and goes on after a restart`() throws {
    let daemon = try FakeDaemon { received in
      guard received.verb == "watch" else { return nil }
      var nav = FakeNav()
      guard received["from"] != nil else {
        return [(.ok, nav.watched(received.id, mode: "snap")), (.snap, nav.snapshot())]
      }
      return [(.ok, nav.watched(received.id, mode: "resume")), (.diff, nav.push("a"))]
    }
    defer { daemon.stop() }
    var connection = try NavigationConnection.connect(to: daemon.endpoint, timeout: patience)
    try connection.openSession(timeout: patience)
    try connection.request { $0.watch("kiosk") }
    var seen: [String] = []
    while seen.last != "applied" {
      let event = try #require(try connection.next(timeout: patience))
      switch event {
      case .opened: seen.append("opened")
      case .lost: seen.append("lost")
      case .changed(_, .replaced):
        seen.append("replaced")
        #expect(connection.cluster.replica(of: "kiosk")?.isSynced == true)
        daemon.restart()
      case .changed(_, .resumed): seen.append("resumed")
      case .changed(_, .applied(let mirror, _)):
        seen.append("applied")
        #expect(mirror.top == "a")
      default: break
      }
    }
    #expect(seen == ["opened", "replaced", "lost", "opened", "resumed", "applied"])
    #expect(try connection.next(timeout: .zero) == nil)
    try connection.leave()
  }

  /// Found by `kills 1623`, in which a client aborted that was reading.
  @Test func `all that a daemon said before it ended is read`() throws {
    let isAsked = DispatchSemaphore(value: 0)
    let daemon = try FakeDaemon { received in
      guard received.verb == "watch" else { return nil }
      var nav = FakeNav()
      let start: [FakeDaemon.Answer] = [
        (.ok, nav.watched(received.id, mode: "snap")), (.snap, nav.snapshot()),
      ]
      defer { isAsked.signal() }
      return start + (0..<300).map { (.diff, nav.push("s\($0)")) }
    }
    var connection = try NavigationConnection.connect(to: daemon.endpoint, timeout: patience)
    try connection.openSession(timeout: patience)
    try connection.request { $0.watch("kiosk") }
    isAsked.wait()
    daemon.stop()
    var applied = 0
    loop: while true {
      let event = try connection.next(timeout: patience)
      switch try #require(event) {
      case .changed(_, .applied): applied += 1
      case .lost: break loop
      default: break
      }
    }
    #expect(applied == 300)
  }

  @Test func `requests work within a session too`() throws {
    let daemon = try FakeDaemon { received in
      received.verb == "op" ? [(.ok, FakeNav().ok(received.id))] : nil
    }
    defer { daemon.stop() }
    var connection = try NavigationConnection.connect(to: daemon.endpoint, timeout: patience)
    try connection.openSession(timeout: patience)
    let reply = try connection.perform(
      OpRequest(id: 0, nav: "kiosk"), operations: [Array(#"{"pop":{}}"#.utf8)])
    #expect(try reply.result.get().changed == true)
  }

  @Test func `a silent daemon is left for another connection`() async throws {
    let daemon = try FakeDaemon()
    defer { daemon.stop() }
    daemon.setHeartbeat(10)
    let endpoint = daemon.endpoint
    let task = onThread {
      var connection = try NavigationConnection.connect(to: endpoint, timeout: patience)
      try connection.openSession()
      while true {
        if case .lost? = try connection.next(timeout: patience) { break }
      }
      while true {
        if case .opened? = try connection.next(timeout: patience) { return true }
      }
    }
    let first = try await daemon.next("hello")
    let second = try await daemon.next("hello")
    #expect(first.peer != second.peer)
    #expect(first["client"] == second["client"])
    #expect(try await task())
  }
}
