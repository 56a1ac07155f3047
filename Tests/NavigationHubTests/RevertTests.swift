import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

@Suite struct RevertTests {
  private let any = #""if":{"any":true}"#

  /// A nav whose stack was home, home a, home a b, and is home again at revision 4.
  private func popped(
    _ configure: (inout HubConfiguration) -> Void = { _ in }
  ) throws -> (World, Client) {
    let world = World(configure)
    let client = try world.kiosk()
    try client.must(#"{"push":{"screen":{"id":"a"}}}"#)
    try client.must(#"{"push":{"screen":{"id":"b"}}}"#)
    try client.must(#"{"popToRoot":{}}"#)
    return (world, client)
  }

  private func ids(_ world: World) throws -> [String] {
    try world.entry("kiosk").controller.stack.map(\.id.text)
  }

  @Test func `the stack of an earlier revision comes back as a new one`() throws {
    let (world, client) = try popped()
    let reply = try client.must(#"{"revert":{"rev":3}}"#, any)
    #expect(reply.text.contains(#""rev":5,"changed":true"#))
    #expect(reply.text.contains(#""out":[{"popped":[],"ids":["home","a","b"]}]"#))
    try client.must(#"{"revert":{"rev":2}}"#, any)
    #expect(try ids(world) == ["home", "a"])
    try client.must(
      #"{"revert":{"rev":1}},{"push":{"screen":{"id":"c"}}},{"revert":{"rev":3}}"#, any)
    #expect(try ids(world) == ["home", "a", "b"])
    try world.restart()
    #expect(try ids(world) == ["home", "a", "b"])
  }

  @Test func `going back to where one is changes nothing`() throws {
    let (world, client) = try popped()
    world.holdsHistory = true
    let reply = try client.must(#"{"revert":{"rev":4}}"#, any)
    #expect(reply.json["changed"] as? Bool == false)
    #expect(world.requests.isEmpty)
  }

  @Test func `released screens, and revisions outside the history, are refused`() throws {
    let (world, client) = try popped()
    try client.must(#"{"screen.release":{"screen":"b"}}"#)
    let before = try world.standing("kiosk")
    let missing = try client.op(#"{"revert":{"rev":3}}"#, any)
    #expect(missing.code == "restore-failed")
    #expect(missing.json["missing"] as? [String] == ["b"])
    for revision in [0, 6, 99] {
      let error = try client.op(#"{"revert":{"rev":\#(revision)}}"#, any)
      #expect(error.code == "compacted")
      #expect(error.json["floor"] as? Int == 1)
    }
    try world.turn([.historyPruned(nav: 1, oldestRevision: 4)])
    #expect(
      try client.op(#"{"push":{"screen":"a"}},{"revert":{"rev":3}}"#).code == "guard-required")
    let error = try client.op(#"{"push":{"screen":"a"}},{"revert":{"rev":3}}"#, any)
    #expect(error.code == "compacted")
    #expect(error.json["index"] as? Int == 1)
    // An op before it is refused first.
    #expect(
      try client.op(#"{"push":{"screen":"z"}},{"revert":{"rev":3}}"#, any).code == "unknown-screen")
    #expect(try world.standing("kiosk") == before)
  }

  @Test func `guards hold when the history is there, not only before`() throws {
    let (world, client) = try popped()
    world.holdsHistory = true
    let body = client.opBody(#"{"revert":{"rev":3}}"#, #""if":{"rev":4}"#)
    #expect(try client.send("op", body).isEmpty)
    #expect(world.requests.count == 1)
    try client.must(#"{"push":{"screen":{"id":"c"}}}"#)
    let replies = try world.answerHistory()
    #expect(replies.map(\.code) == ["desync"])
    #expect(try ids(world) == ["home", "c"])
  }

  @Test func `an op that waits counts as in flight, and is due like any other`() throws {
    let (world, client) = try popped { $0.inflight = 2 }
    world.holdsHistory = true
    let revert = #"{"revert":{"rev":3}}"#
    try client.send("op", client.opBody(revert, any))
    let due = #""due":\#(world.now.boot + 5),\#(any)"#
    try client.send("op", client.opBody(revert, due))
    #expect(try client.op(#"{"pop":{}}"#, any).code == "busy")
    world.advance(10)
    let replies = try world.answerHistory()
    #expect(replies.map(\.verb) == [.ok, .err])
    #expect(replies.last?.code == "expired")
    #expect(try client.must(#"{"pop":{}}"#, any).verb == .ok)
    #expect(
      world.hub.sessions[try #require(world.hub.sessions.slot(of: client.connection))]
        .opsInFlight == 0)
  }

  @Test func `an op sent again while it waits runs once`() throws {
    let (world, client) = try popped()
    world.holdsHistory = true
    let body = client.opBody(#"{"revert":{"rev":3}}"#, any)
    try client.send("op", body)
    try client.send("op", body)
    let other = body.replacingOccurrences(of: #""rev":3"#, with: #""rev":2"#)
    #expect(try client.ask("op", other).code == "op-reused")
    let replies = try world.answerHistory()
    #expect(replies.map(\.verb) == [.ok])
    #expect(try world.entry("kiosk").revision == Revision(5))
    #expect(try client.ask("op", body).body == replies[0].body)
    #expect(
      world.hub.sessions[try #require(world.hub.sessions.slot(of: client.connection))]
        .opsInFlight == 0)
  }

  @Test func `4 a session that ends takes its waiting ops with it`() throws {
    let (world, client) = try popped()
    world.holdsHistory = true
    let body = client.opBody(#"{"revert":{"rev":3}}"#, any)
    try client.send("op", body)
    try world.turn([.closed(client.connection)])
    #expect(world.hub.reads.count == 0)
    #expect(try world.answerHistory().isEmpty)
    #expect(try ids(world) == ["home"])
    // The next session sends the same octets, and they run.
    try client.hello()
    try client.send("op", body)
    #expect(try world.answerHistory().map(\.verb) == [.ok])
  }

  @Test func `a nav that is closed meanwhile is gone, and damage is a storage error`() throws {
    let (world, client) = try popped()
    world.holdsHistory = true
    try client.send("op", client.opBody(#"{"revert":{"rev":3}}"#, any))
    let token = try #require(world.requests.first).token
    let broken = try world.turn([.history(HistoryAnswer(token: token, failure: "gone"))])
    #expect(broken.map(\.code) == ["storage"])
    world.requests = []
    try client.send("op", client.opBody(#"{"revert":{"rev":3}}"#, any))
    try client.must(#"{"nav.close":{}}"#, any)
    #expect(try world.answerHistory().map(\.code) == ["no-nav"])
  }

  @Test func `a batch that fails is handled again, and what waits is asked for once`() throws {
    let (world, client) = try popped()
    world.holdsHistory = true
    world.journal.isFailing = true
    let push = client.message("op", client.opBody(#"{"push":{"screen":{"id":"c"}}}"#))
    let revert = client.message("op", client.opBody(#"{"revert":{"rev":3}}"#, any))
    let replies = try world.turn([push, revert])
    #expect(replies.map(\.code) == ["storage"])
    #expect(world.requests.count == 1 && world.hub.reads.count == 1)
    // The answer comes while the journal still fails, and then when it works.
    #expect(try world.answerHistory().map(\.code) == ["storage"])
    world.journal.isFailing = false
    try world.turn([client.message("op", client.opBody(#"{"revert":{"rev":3}}"#, any))])
    #expect(try world.answerHistory().map(\.verb) == [.ok])
    #expect(
      world.hub.sessions[try #require(world.hub.sessions.slot(of: client.connection))]
        .opsInFlight == 0)
  }

  @Test func `an op decided early waits for its own batch`() throws {
    let (world, client) = try popped()
    world.holdsHistory = true
    let push = client.message("op", client.opBody(#"{"push":{"screen":{"id":"c"}}}"#))
    let revert = client.message("op", client.opBody(#"{"revert":{"rev":3}}"#, any))
    _ = try world.overlap([push], [revert])
    #expect(world.requests.count == 1)
    #expect(try world.answerHistory().map(\.verb) == [.ok])
    #expect(try ids(world) == ["home", "a", "b"])
  }

  @Test func `revisions of another epoch are out of reach`() throws {
    let (world, client) = try popped()
    try world.restart(renewsEpochs: true)
    try client.hello()
    try client.must(#"{"push":{"screen":"a"}}"#)
    #expect(try client.op(#"{"revert":{"rev":3}}"#, any).code == "compacted")
  }
}
