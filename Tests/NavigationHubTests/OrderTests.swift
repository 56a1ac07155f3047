import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

/// Pairs of failures that come together: the earlier step of the order of checks wins.
@Suite struct OrderTests {
  static let any = #""if":{"any":true}"#

  @Test(arguments: [
    // Text before verb, verb before session.
    ("bad-json", "fly", "{"), ("bad-verb", "fly", #"{"id":1}"#),
    // Session before arguments.
    ("no-session", "watch", #"{"id":1,"nav":"?"}"#),
    ("no-session", "watch", #"{"id":1,"nav":"zoo"}"#),
    // Rights before the nav's existence.
    ("forbidden", "get", #"{"id":1,"nav":"$clients","what":"bar","at":99}"#),
  ])
  func `without a session`(code: String, verb: String, body: String) throws {
    #expect(try Client(World()).ask(verb, body).code == code)
  }

  @Test(arguments: [
    // 5 before 6 and 7.
    Refused("expired", #"{"nav.close":{}}"#, #""due":1"#),
    Refused("expired", #"{"pop":{}}"#, #""due":1"#, nav: "zoo"),
    // 6 before 7.
    Refused("forbidden", #"{"nav.close":{}}"#, nav: "zoo"),
    // 7 before 8.
    Refused("no-nav", #"{"nav.fly":{}}"#, nav: "zoo"),
    Refused("nav-exists", #"{"nav.create":{}},{"nav.fly":{}}"#),
    // 8 in its own order, before 9.
    Refused("unsupported", #"{"popItem":{}},{"nav.fly":{}}"#),
    Refused("bar-managed", #"{"bar.set":{"delegate":1}},{"popItem":{}}"#),
    Refused("bar-delegate-managed", #"{"bar.set":{"frame":1}},{"bar.set":{"delegate":1}}"#),
    Refused("readonly", #"{"pop":{}},{"screen.set":{"screen":"home","ver":1}}"#),
    Refused("guard-required", #"{"pop":{}}"#, #""if":{"depth":9}"#),
    // 9 before 11.
    Refused("desync", #"{"push":{}}"#, #""if":{"rev":77}"#, reason: "rev"),
    Refused("desync", #"{"push":{"screen":"zoo"}}"#, #""if":{"top":"zoo"}"#, reason: "top"),
    Refused("desync", #"{"attach":{}}"#, #""if":{"top":"zoo"}"#, reason: "top"),
    // 11: op by op.
    Refused("unknown-screen", #"{"push":{"screen":"zoo"}},{"push":{}}"#, index: 0),
    Refused("nil-screen", #"{"push":{}},{"push":{"screen":"zoo"}}"#, index: 0),
    Refused("nil-screen", #"{"push":{"screen":{"id":"n"}}},{"push":{}}"#, index: 1),
    Refused("duplicate-screen", #"{"push":{"screen":"home"}},{"push":{"z":1}}"#, index: 0),
  ])
  func `of an op in a session`(refused: Refused) throws {
    let (world, client) = try ErrorTests.world()
    let before = try world.standing("kiosk")
    // As a stranger, who does not own the nav.
    let stranger = try world.client(7, user: 2000)
    let sender = refused.code == "expired" || refused.code == "forbidden" ? stranger : client
    let error = try sender.op(refused.op, nav: refused.nav, refused.more)
    #expect(error.code == refused.code, "\(error.text)")
    #expect(error.json["reason"] as? String == refused.reason)
    if let index = refused.index { #expect(error.json["index"] as? Int == index) }
    #expect(try world.standing("kiosk") == before)
  }

  @Test func `fenced comes before the record, the record before expiry`() throws {
    let (world, client) = try ErrorTests.world()
    let body = client.opBody(
      #"{"push":{"screen":{"id":"z"}}}"#, #""due":\#(world.now.boot + 5)"#)
    let reply = try client.ask("op", body)
    #expect(reply.verb == .ok)
    world.advance(1000)
    #expect(try client.ask("op", body).text == reply.text)
    #expect(try client.ask("op", body + " ").code == "op-reused")
    let other = Client(world, 2, client: client.client)
    try other.hello()
    #expect(try client.ask("op", body).code == "fenced")
  }

  @Test func `load comes before the record`() throws {
    let world = World { $0.inflight = 1 }
    let client = try world.kiosk()
    let body = client.opBody(#"{"push":{"screen":{"id":"z"}}}"#)
    let replies = try world.turn([client.message("op", body), client.message("op", body)])
    #expect(replies.map(\.code) == [nil, "busy"])
  }

  @Test func `a nav that is not there comes before the stop`() throws {
    let (world, client) = try ErrorTests.world()
    try world.turn([.stop])
    let more = #""client":"\#(client.client)""#
    #expect(try client.op(#"{"attach":{}}"#, nav: "zoo", more).code == "no-nav")
    #expect(try client.op(#"{"nav.create":{"root":{}}}"#, more).code == "nav-exists")
    #expect(try client.op(#"{"pop":{}}"#, more).code == "shutting-down")
  }

  @Test func `without change nothing needs the journal`() throws {
    let world = World()
    let client = try world.kiosk()
    world.journal.isFailing = true
    let push = client.opBody(#"{"push":{"screen":{"id":"z"}}}"#)
    let attach = client.opBody(#"{"attach":{}}"#)
    let wrong = client.opBody(#"{"push":{"screen":"zoo"}}"#)
    let replies = try world.turn([
      client.message("op", push), client.message("op", attach), client.message("op", wrong),
    ])
    #expect(replies.map(\.code) == ["storage", nil, "unknown-screen"])
  }
}
