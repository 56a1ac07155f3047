import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

/// One way to be refused.
struct Refused: Sendable, CustomTestStringConvertible {
  var code: String
  var op: String
  var more = ""
  var reason: String?
  var index: Int?
  var nav = "kiosk"

  init(
    _ code: String, _ op: String, _ more: String = "", reason: String? = nil, index: Int? = nil,
    nav: String = "kiosk"
  ) {
    (self.code, self.op, self.more, self.reason, self.index, self.nav) =
      (code, op, more, reason, index, nav)
  }

  var testDescription: String { "\(code) \(reason ?? "") \(op) \(more)" }

  static let any = #""if":{"any":true}"#

  /// Ops that a nav with home and wifi on the stack and `old` detached refuses; `b1` is shown on the
  /// left of wifi, `b2` is not shown.
  static let ops: [Refused] = [
    Refused("unsupported", #"{"nav.fly":{}}"#),
    Refused("bar-managed", #"{"pushItem":{"item":{"id":"i"}}}"#),
    Refused("bar-managed", #"{"popItem":{}}"#),
    Refused("bar-managed", #"{"setItems":{"items":[]}}"#),
    Refused("bar-delegate-managed", #"{"bar.set":{"delegate":"x"}}"#),
    Refused("readonly", #"{"bar.set":{"frame":[0,0,1,1]}}"#),
    Refused("readonly", #"{"screen.set":{"screen":"home","ver":3}}"#),
    Refused("readonly", #"{"nav.configure":{"attached":true}}"#),
    Refused("guard-required", #"{"pop":{}}"#),
    Refused("guard-required", #"{"setStack":{"screens":["home"]}}"#),
    Refused("guard-required", #"{"setStack":{"screens":["home"]}}"#, #""if":{"top":"wifi"}"#),
    Refused("guard-required", #"{"nav.close":{}}"#, #""if":{"top":"wifi"}"#),
    Refused(
      "desync", #"{"pop":{}}"#, #""if":{"any":true,"epoch":"0000000000000000"}"#, reason: "epoch"),
    Refused("desync", #"{"pop":{}}"#, #""if":{"rev":1}"#, reason: "rev"),
    Refused("desync", #"{"pop":{}}"#, #""if":{"rev":999}"#, reason: "rev"),
    Refused(
      "desync", #"{"pop":{}}"#, #""if":{"dig":"000000000000000000000000"}"#, reason: "digest"),
    Refused("desync", #"{"pop":{}}"#, #""if":{"top":"home"}"#, reason: "top"),
    Refused("desync", #"{"pop":{}}"#, #""if":{"top":null}"#, reason: "top"),
    Refused("desync", #"{"pop":{}}"#, #""if":{"top":"wifi","depth":7}"#, reason: "depth"),
    Refused("desync", #"{"pop":{}}"#, #""if":{"stack":["home"]}"#, reason: "stack"),
    Refused("desync", #"{"pop":{}}"#, #""if":{"top":"wifi","has":["zoo"]}"#, reason: "has"),
    Refused("desync", #"{"pop":{}}"#, #""if":{"any":true,"top":"zoo"}"#, reason: "top"),
    Refused("nil-screen", #"{"push":{}}"#),
    Refused("nil-screen", #"{"push":{"screen":null}}"#),
    Refused("nil-screen", #"{"popTo":{}}"#),
    Refused("unknown-screen", #"{"push":{"screen":"zoo"}}"#),
    Refused("unknown-screen", #"{"screen.set":{"screen":"zoo","title":"x"}}"#),
    Refused("unknown-screen", #"{"popTo":{"screen":"zoo"}}"#),
    Refused("unknown-button", #"{"button.set":{"button":"zoo","title":"x"}}"#),
    Refused("unknown-button", #"{"button.activate":{"button":"zoo"}}"#),
    Refused("unknown-button", #"{"button.activate":{"button":"b2"}}"#, reason: "notDisplayed"),
    Refused("forbidden-kind", #"{"push":{"screen":{"id":"x","kind":"tabBar"}}}"#),
    Refused("duplicate-screen", #"{"push":{"screen":"home"}}"#),
    Refused("duplicate-in-set", #"{"setStack":{"screens":["home","home"]}}"#, any),
    Refused("duplicate-item", #"{"item.set":{"screen":"home","leftItems":["b2","b2"]}}"#),
    Refused("item-both-sides", #"{"item.set":{"screen":"wifi","rightItems":["b1"]}}"#),
    Refused("not-in-stack", #"{"popTo":{"screen":"old"}}"#),
    Refused("not-in-stack", #"{"popTo":{"route":"zoo"}}"#),
    Refused(
      "not-in-stack", #"{"item.set":{"screen":"old","title":"x","requireOnStack":true}}"#),
    Refused("no-root", #"{"setStack":{"screens":[]}}"#, any),
    Refused("invalid-argument", #"{"push":{"screen":{"id":"-"}}}"#),
    Refused("invalid-argument", #"{"push":{"screen":{"id":"s9.1"}}}"#),
    Refused("invalid-argument", #"{"push":{"screen":{"idd":"x"}}}"#),
    Refused("invalid-argument", #"{"push":{"screen":{"id":"x"},"z":1}}"#),
    Refused("invalid-argument", #"{"push":[]}"#),
    Refused("invalid-argument", #"{"pop":{},"push":{}}"#, any),
    Refused("invalid-argument", #"{"nav.configure":{"guard":"never"}}"#),
    Refused("invalid-argument", #"{"popTo":{"route":"twin","match":"unique"}}"#),
    Refused("invalid-argument", #"{"pop":{}}"#, #""if":{"topp":"wifi"}"#),
    Refused("invalid-argument", #"{"pop":{}},{"nav.close":{}}"#, any, index: 1),
    Refused("invalid-argument", #"{"attach":{}},{"nav.create":{"root":"x"}}"#, index: 1),
    Refused(
      "unknown-screen", #"{"push":{"screen":{"id":"n"}}},{"push":{"screen":"zoo"}}"#, index: 1),
    Refused(
      "nav-exists", #"{"nav.create":{"root":{"id":"x"}}}"#),
    Refused("expired", #"{"pop":{}}"#, #""due":1"#),
    Refused(
      "limit", #"{"push":{"screen":{"id":"a1"}}},{"push":{"screen":{"id":"a2"}}}"#,
      reason: "depth", index: 1),
    Refused("no-nav", #"{"push":{"screen":{"id":"x"}}}"#, nav: "zoo"),
    Refused("class-unknown", #"{"nav.create":{"classes":{"bar":"Zoo"}}}"#, nav: "zoo"),
    Refused("class-invalid", #"{"nav.create":{"classes":{"bar":"MyTool"}}}"#, nav: "zoo"),
    Refused("nil-screen", #"{"nav.create":{}}"#, nav: "zoo"),
    Refused("forbidden-kind", #"{"nav.create":{"root":{"kind":"navigation"}}}"#, nav: "zoo"),
    Refused("readonly", #"{"pop":{}}"#, nav: "$navs"),
  ]
}

@Suite struct ErrorTests {
  /// A nav as `Refused.ops` expects it.
  static func world() throws -> (World, Client) {
    let world = World {
      $0.nav.stackDepth = 4
      $0.isBarByClass = ["MyTool": false]
    }
    let client = try world.kiosk()
    try client.must(
      #"{"push":{"screen":{"id":"mid","route":"twin"}}},{"push":{"screen":{"id":"wifi","route":"twin","item":{"leftItems":[{"id":"b1","title":"L"}]}}}}"#
    )
    try client.must(
      #"{"screen.create":{"id":"old"}},{"button.create":{"id":"b2","title":"R"}}"#)
    return (world, client)
  }

  @Test(arguments: Refused.ops)
  func `a refusal says what it is and changes nothing`(refused: Refused) throws {
    let (world, client) = try Self.world()
    try client.watch()
    let before = try world.standing("kiosk")
    let replies = try client.send(
      "op", client.opBody(refused.op, nav: refused.nav, refused.more))
    #expect(replies.map(\.verb) == [.err])
    let error = try #require(replies.first)
    #expect(error.code == refused.code, "\(error.text)")
    #expect(error.json["reason"] as? String == refused.reason)
    if let index = refused.index { #expect(error.json["index"] as? Int == index) }
    #expect(error.id == client.id)
    let code = try #require(ErrorCode(rawValue: refused.code))
    #expect(error.json["effect"] as? String == code.effect.rawValue)
    #expect(error.json["retry"] as? String == code.retry.rawValue)
    #expect((error.json["msg"] as? String)?.isEmpty == false)
    if refused.nav == "kiosk", refused.code != "invalid-argument" {
      #expect(error.json["nav"] as? String == "kiosk")
      #expect(error.revision == 3)
      #expect(error.json["dig"] as? String == before.digest.text)
      #expect(error.json["depth"] as? Int == 3)
      #expect(error.json["top"] as? String == "wifi")
      #expect(error.json["epoch"] as? String == (try world.entry("kiosk").epoch.text))
    }
    #expect(try world.standing("kiosk") == before)
    #expect(world.hub.navs.slot(of: "zoo") == nil)
  }

  @Test func `the first guard in the order of the table is the reason`() throws {
    let (world, client) = try Self.world()
    let wrong = [
      ("epoch", #""epoch":"0000000000000000""#), ("rev", #""rev":1"#),
      ("digest", #""dig":"000000000000000000000000""#), ("top", #""top":"zoo""#),
      ("depth", #""depth":9"#),
      ("stack", #""stack":[]"#), ("has", #""has":["zoo"]"#),
    ]
    for first in wrong.indices {
      let members = wrong[first...].reversed().map(\.1).joined(separator: ",")
      let error = try client.op(#"{"popToRoot":{}}"#, #""if":{\#(members)}"#)
      #expect(error.json["reason"] as? String == wrong[first].0)
    }
    let future = try client.op(#"{"popToRoot":{}}"#, #""if":{"rev":99}"#)
    #expect(future.json["future"] as? Bool == true)
    #expect(future.json["expected"] as? Int == 99)
    #expect(try world.entry("kiosk").revision == Revision(3))
  }

  @Test func `guards that hold let the op pass`() throws {
    let (world, client) = try Self.world()
    let entry = try world.entry("kiosk")
    let reply = try client.must(
      #"{"pop":{}}"#,
      #""if":{"epoch":"\#(entry.epoch.text)","rev":3,"dig":"\#(entry.digest.text)","top":"wifi","depth":3,"stack":["home","mid","wifi"],"has":["home"]}"#
    )
    #expect(reply.text.hasSuffix(#""out":[{"popped":"wifi"}]}"#))
  }

  @Test func `an ambiguous route names the candidates`() throws {
    let (_, client) = try Self.world()
    let error = try client.op(#"{"popTo":{"route":"twin","match":"unique"}}"#)
    #expect(error.json["candidates"] as? [String] == ["mid", "wifi"])
  }

  @Test func `the guard policy can be relaxed and tightened`() throws {
    let (_, client) = try Self.world()
    try client.must(#"{"nav.configure":{"guard":"all"}}"#)
    #expect(try client.op(#"{"popToRoot":{}}"#).code == "guard-required")
    try client.must(#"{"nav.configure":{"guard":"none"}}"#, #""if":{"top":"wifi"}"#)
    try client.must(#"{"pop":{}}"#)
  }

  @Test(arguments: [
    ("bad-json", "op", #"{"id":1,"#), ("bad-json", "op", "[]"), ("bad-json", "op", ""),
    ("bad-json", "op", #"{"id":1,"id":2}"#), ("bad-verb", "fly", #"{"id":1}"#),
    ("bad-json", "fly", #"{"#), ("invalid-argument", "ping", "{}"),
    ("invalid-argument", "ping", #"{"id":1.0}"#), ("invalid-argument", "ping", #"{"id":-1}"#),
    ("invalid-argument", "watch", #"{"id":1,"nav":"Kiosk"}"#),
    ("invalid-argument", "watch", #"{"id":1,"nav":"kiosk","view":"side"}"#),
    ("invalid-argument", "op", #"{"id":1,"nav":"kiosk","do":[]}"#),
    ("invalid-argument", "get", #"{"id":1,"nav":"kiosk","what":"all"}"#),
    ("invalid-argument", "get", #"{"id":1}"#), ("no-nav", "watch", #"{"id":1,"nav":"zoo"}"#),
    ("no-nav", "get", #"{"id":1,"nav":"zoo"}"#),
    ("invalid-argument", "delegate", #"{"id":1,"nav":"kiosk"}"#),
    ("invalid-argument", "delegate", #"{"id":1,"nav":"kiosk","roles":["judge"]}"#),
    ("invalid-argument", "delegate", #"{"id":1,"nav":"kiosk","roles":["orientation"]}"#),
    ("no-nav", "delegate", #"{"id":1,"nav":"zoo","roles":[]}"#),
    ("forbidden", "delegate", #"{"id":1,"nav":"$navs","roles":[]}"#),
    ("invalid-argument", "lease", #"{"id":1,"nav":"kiosk"}"#),
    ("no-nav", "lease", #"{"id":1,"nav":"zoo","take":true}"#),
    ("forbidden", "get", #"{"id":1,"nav":"$clients"}"#),
    ("forbidden", "get", #"{"id":1,"what":"backup"}"#),
    ("unknown-screen", "get", #"{"id":1,"nav":"kiosk","what":"screen","screen":"zoo"}"#),
    ("compacted", "get", #"{"id":1,"nav":"kiosk","at":99}"#),
    ("compacted", "get", #"{"id":1,"nav":"kiosk","at":0}"#),
    ("compacted", "get", #"{"id":1,"nav":"kiosk","what":"log","from":0}"#),
  ])
  func `messages that are none of the protocol's are refused`(
    code: String, verb: String, body: String
  ) throws {
    let (_, client) = try Self.world()
    #expect(try client.ask(verb, body).code == code)
  }

  @Test func `more than sixteen ops are too many`() throws {
    let (_, client) = try Self.world()
    let ops = Array(repeating: #"{"attach":{}}"#, count: 17).joined(separator: ",")
    #expect(try client.op(ops).code == "invalid-argument")
    try client.must(Array(repeating: #"{"attach":{}}"#, count: 16).joined(separator: ","))
  }

  @Test func `a message beyond the limit is refused by its size, one at the limit is not`() throws {
    let (_, client) = try Self.world()
    let frame = #"{"id":77,"pad":""}"#
    let most = #"{"id":77,"pad":"\#(String(repeating: "x", count: 65536 - frame.utf8.count))"}"#
    #expect(most.utf8.count == 65536)
    #expect(try client.ask("ping", most).verb == .pong)
    let error = try client.ask("ping", most + " ")
    #expect(error.code == "limit")
    #expect(error.json["reason"] as? String == "size")
    #expect(error.json["id"] is NSNull)
  }

  @Test func `the third message that is none ends the session`() throws {
    let (world, client) = try Self.world()
    let broken: [HubEvent] = [
      client.withWrongFrames, client.message(frame: "hello", ""),
      client.message(frame: "nsp1.OP", ""),
    ]
    let replies = try world.turn(broken)
    #expect(replies.map(\.verb) == [.err, .err, .err, .bye])
    #expect(replies.prefix(3).allSatisfy { $0.code == "bad-frame" && $0.json["id"] is NSNull })
    #expect(replies[3].json["why"] as? String == "protocol")
    #expect(world.dropped == [client.connection])
  }

  @Test(arguments: [("answer", #"{"ask":"x"}"#), ("credit", "{}"), ("answer", "x")])
  func `an error about a message without an id names its verb`(verb: String, body: String) throws {
    let (world, client) = try Self.world()
    let replies = try world.turn([client.message(verb, body)])
    #expect(replies.map { $0.json["verb"] as? String } == [verb], "\(replies.map(\.text))")
    let other = try world.turn([client.message("get", "{}")])
    #expect(other.count == 1 && other[0].json["verb"] == nil, "\(other.map(\.text))")
  }

  @Test func `a hello of another major version is told what there is`() throws {
    let world = World()
    let client = Client(world)
    let replies = try world.turn([client.message(frame: "nsp2.hello", "?")])
    #expect(
      replies.map(\.text) == [
        #"{"id":null,"code":"version","msg":"the message is NSP/2, this daemon speaks NSP/1","effect":"none","retry":"no","have":[1,1]}"#
      ])
    let other = try client.ask(
      "hello", #"{"ver":[2,3],"client":"\#(client.client)","nonce":"q"}"#)
    #expect(other.code == "version")
    #expect(
      other.json["msg"] as? String == "the client speaks NSP/2 to NSP/3, this daemon NSP/1")
    #expect(other.json["nonce"] as? String == "q")
    #expect(other.json["have"] as? [Int] == [1, 1])
  }

  @Test func `a nav has only one owner and the role admin`() throws {
    let (world, client) = try Self.world()
    let stranger = try world.client(7, user: 2000)
    for op in [#"{"nav.close":{}}"#, #"{"nav.configure":{"queue":1}}"#] {
      let error = try stranger.op(op, #""if":{"any":true}"#)
      #expect(error.code == "forbidden")
      // He may read the nav, so he may know where it stands.
      #expect(error.revision == 3)
    }
    try stranger.must(#"{"pop":{}}"#, #""if":{"top":"wifi"}"#)
    let admin = try world.client(8, user: 0)
    try admin.must(#"{"nav.configure":{"queue":1}}"#)
    try client.must(#"{"nav.close":{}}"#, #""if":{"any":true}"#)
  }

  @Test func `an op of a stopping daemon comes later`() throws {
    let (world, client) = try Self.world()
    let byes = try world.turn([.stop])
    #expect(byes.map(\.text) == [#"{"why":"shutting-down","after":500}"#])
    let late = try client.ask(
      "op", client.opBody(#"{"attach":{}}"#, #""client":"\#(client.client)""#))
    #expect(late.code == "shutting-down")
    #expect(late.json["after"] as? Int == 500)
    let hello = Client(world, 5)
    #expect(try hello.hello().code == "shutting-down")
  }
}
