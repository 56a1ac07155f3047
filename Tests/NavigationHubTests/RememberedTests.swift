import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

@Suite struct RememberedTests {
  @Test func `the same octets are answered from the record, byte for byte, after a restart too`()
    throws
  {
    let world = World()
    let client = try world.kiosk()
    var bodies: [String] = []
    var replies: [String] = []
    for index in 0..<5 {
      let body = client.opBody(#"{"push":{"screen":{"id":"s\#(index)"}}}"#)
      bodies.append(body)
      replies.append(try client.ask("op", body).text)
    }
    let before = try world.standing("kiosk")
    for _ in 0..<2 {
      for (body, reply) in zip(bodies, replies) {
        #expect(try client.ask("op", body).text == reply)
      }
      #expect(try world.standing("kiosk").controller == before.controller)
      #expect(world.journal.rows.count == before.rows)
      #expect(try client.ask("op", bodies[0] + " ").code == "op-reused")
      try world.restart()
      let welcome = try client.hello()
      #expect((welcome.json["ops"] as? [String: Any])?["last"] as? Int == client.id)
    }
  }

  @Test func `creating and closing are remembered durably too`() throws {
    let world = World()
    let client = try world.client()
    let create = client.opBody(#"{"nav.create":{"root":{"id":"a"}}}"#)
    let close = client.opBody(#"{"nav.close":{}}"#, #""if":{"rev":1}"#)
    let replies = try [create, close].map { try client.ask("op", $0).text }
    try world.restart()
    try client.hello()
    #expect(try [create, close].map { try client.ask("op", $0).text } == replies)
    #expect(world.hub.navs.slot(of: "kiosk") == nil)
  }

  @Test func `final errors are recorded, those to be sent again are not`() throws {
    let world = World { $0.opsPerSecond = 1000 }
    let client = try world.kiosk()
    let desync = client.opBody(#"{"pop":{}}"#, #""if":{"top":"zoo"}"#)
    let error = try client.ask("op", desync)
    try client.must(#"{"push":{"screen":{"id":"zoo"}}}"#)
    // It would hold now, but it was decided.
    #expect(try client.ask("op", desync).text == error.text)
    #expect(try client.ask("op", desync + " ").code == "op-reused")
    let push = client.opBody(#"{"push":{"screen":{"id":"w"}}}"#)
    world.journal.isFailing = true
    #expect(try client.ask("op", push).code == "storage")
    world.journal.isFailing = false
    #expect(try client.ask("op", push).verb == .ok)
  }

  @Test func `an op without change is recorded`() throws {
    let world = World()
    let client = try world.kiosk()
    let body = client.opBody(#"{"popToRoot":{}}"#)
    let reply = try client.ask("op", body)
    #expect(reply.json["changed"] as? Bool == false)
    try client.must(#"{"push":{"screen":{"id":"w"}}}"#)
    #expect(try client.ask("op", body).text == reply.text)
    #expect(try world.entry("kiosk").revision == Revision(2))
  }

  @Test func `a window of 64 ops is remembered, and what is older is too old`() throws {
    let world = World()
    let client = try world.kiosk()
    var bodies = [""]
    for _ in 0..<70 {
      bodies.append(client.opBody(#"{"attach":{}}"#))
      _ = try client.ask("op", bodies[bodies.count - 1])
    }
    // Ids 8 … 71 are remembered.
    #expect(client.id == 71)
    let old = try client.ask("op", #"{"id":7,"nav":"kiosk","do":[{"attach":{}}]}"#)
    #expect(old.code == "op-too-old")
    #expect(old.json["effect"] as? String == "unknown")
    #expect(old.json["retry"] as? String == "resync")
    #expect(try client.ask("op", #"{"id":8,"nav":"kiosk","do":[{"attach":{}}]}"#).verb == .ok)
    #expect(
      try client.ask("op", #"{"id":8,"nav":"kiosk","do":[{"detach":{}}]}"#).code == "op-reused")
  }

  @Test func `an unrecorded id within the window is new`() throws {
    let world = World()
    let client = try world.kiosk()
    client.id = 99
    try client.must(#"{"push":{"screen":{"id":"a"}}}"#)
    let late = try client.ask(
      "op", #"{"id":50,"nav":"kiosk","do":[{"push":{"screen":{"id":"b"}}}]}"#)
    #expect(late.revision == 3)
    let welcome = try client.hello()
    #expect((welcome.json["ops"] as? [String: Any])?["last"] as? Int == 100)
  }

  @Test func `ids belong to the client and the principal`() throws {
    let world = World()
    let client = try world.kiosk()
    let other = try world.client(2)
    client.id = 10
    other.id = 10
    try client.must(#"{"push":{"screen":{"id":"a"}}}"#)
    try other.must(#"{"push":{"screen":{"id":"b"}}}"#)
    #expect(try world.entry("kiosk").revision == Revision(3))
  }

  /// An op that is sent again: the same octets, and what the client had seen when it sent it first.
  private func again(_ body: String, _ seen: Int) -> String {
    #"\#(body.dropLast()),"again":\#(seen)}"#
  }

  private func op(_ id: Int = 1, of client: Character, _ operation: String) -> String {
    let client = String(repeating: client, count: 32)
    return #"{"id":\#(id),"client":"\#(client)","nav":"kiosk","do":[\#(operation)]}"#
  }

  /// Pushes a screen under the name of a client, without a session; returns the op.
  private func push(_ id: Int = 1, of client: Character, by sender: Client) throws -> String {
    let body = op(id, of: client, #"{"push":{"screen":{"title":"\#(client)"}}}"#)
    #expect(try sender.ask("op", body).verb == .ok)
    return body
  }

  @Test func `a forgotten op that is sent again is refused, and a lost one is performed`() throws {
    let world = World { $0.rememberedClients = 2 }
    let client = try world.kiosk()
    try client.send("bye", #"{"id":9}"#)
    // The row of the creation is the first, so these are the rows 2 to 5; 4 and 5 are remembered.
    let decided = try push(of: "1", by: client)
    for other: Character in ["2", "3", "4"] { _ = try push(of: other, by: client) }
    let before = try world.standing("kiosk").controller
    for _ in 0..<2 {
      let refusal = try client.ask("op", again(decided, 1))
      #expect(refusal.code == "op-too-old")
      #expect(refusal.json["effect"] as? String == "unknown")
      // Row 3 may have been its own.
      let doubtful = op(of: "e", #"{"popToRoot":{}}"#)
      #expect(try client.ask("op", again(doubtful, 2)).code == "op-too-old")
      #expect(try world.standing("kiosk").controller == before)
      // By the rows, a start comes to the same result.
      try world.restart()
    }
    let lost = op(of: "f", #"{"push":{"screen":{"title":"lost"}}}"#)
    let answer = try client.ask("op", again(lost, 3))
    #expect(answer.verb == .ok)
    #expect(answer.json["seq"] as? Int == 6)
    // Once it is decided, all forms get the same answer.
    #expect(try client.ask("op", lost).text == answer.text)
    #expect(try client.ask("op", again(lost, 0)).text == answer.text)
    #expect(try client.ask("op", lost.dropLast() + #", "again" : 3 }"#).text == answer.text)
    #expect(try client.ask("op", #"{"again":3,\#(lost.dropFirst())"#).code == "op-reused")
  }

  @Test(arguments: [#"{"ui.back":{}}"#, #"{"button.activate":{"button":"b"}}"#])
  func `what may only have caused an event is not performed again`(operation: String) throws {
    let client = try World().kiosk()
    try client.send("bye", #"{"id":9}"#)
    let sent = op(7, of: "a", operation)
    #expect(try client.ask("op", again(sent, 1)).code == "op-too-old")
  }

  @Test func `a client that was forgotten and is known again is not believed`() throws {
    let world = World { $0.rememberedClients = 1 }
    let client = try world.kiosk()
    try client.send("bye", #"{"id":9}"#)
    let first = try push(of: "1", by: client)
    _ = try push(of: "2", by: client)
    _ = try push(2, of: "1", by: client)
    #expect(try client.ask("op", again(first, 1)).code == "op-too-old")
    let third = op(3, of: "1", #"{"push":{"screen":{"title":"x"}}}"#)
    #expect(try client.ask("op", again(third, 3)).verb == .ok)
  }

  @Test func `a press that is sent again and not remembered is refused, since events leave no row`()
    throws
  {
    let world = World { $0.rememberedClients = 1 }
    let client = try world.kiosk()
    try client.must(
      #"{"item.set":{"screen":"home","rightItems":[{"id":"b","title":"B","action":"buy"}]}}"#)
    try client.send("bye", #"{"id":9}"#)
    let tap = op(of: "1", #"{"button.activate":{"button":"b"}}"#)
    let answer = try client.ask("op", tap)
    #expect(try client.ask("op", again(tap, 2)).text == answer.text)
    #expect(try client.ask("op", op(of: "2", #"{"attach":{}}"#)).verb == .ok)
    #expect(try client.ask("op", again(tap, 2)).code == "op-too-old")
    try world.restart()
    #expect(try client.ask("op", again(tap, 2)).code == "op-too-old")
  }

  @Test func `rows that are missing count as forgotten ops`() throws {
    var hub = Hub(configuration: HubConfiguration(), seed: 1)
    let now = Instant(boot: 1000, wall: 1_700_000_000_000)
    hub.finishReplay(renewsEpochs: false, lastSequence: 9, at: now)
    #expect(hub.remembered.forgottenThroughRows == [.first: 9])
  }

  @Test func `idle clients are forgotten, and the longest idle one when there are too many`() throws
  {
    let world = World {
      $0.rememberedClients = 2
      $0.rememberedIdle = 1000
    }
    let client = try world.kiosk()
    let ops = (1...3).map { index in
      let text = String(repeating: "\(index)", count: 32)
      return
        #"{"id":1,"client":"\#(text)","nav":"kiosk","do":[{"push":{"screen":{"id":"s\#(index)"}}}]}"#
    }
    try client.send("bye", #"{"id":9}"#)
    for body in ops { #expect(try client.ask("op", body).verb == .ok) }
    #expect(world.hub.remembered.clientCount == 2)
    #expect(try client.ask("op", ops[2]).verb == .ok)
    // It ran again, since nobody knows it any more.
    #expect(try client.ask("op", ops[0]).code == "duplicate-screen")
    world.advance(1000)
    #expect(try #require(world.hub.wakeAt) <= world.now.boot)
    try world.turn([.wake])
    #expect(world.hub.remembered.clientCount == 0)
  }
}
