import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

@Suite struct WatchTests {
  static func push(_ id: String, _ more: String = "") -> String {
    #"{"push":{"screen":{"id":"\#(id)"\#(more)}}}"#
  }

  private func position(_ world: World) throws -> String {
    let entry = try world.entry("kiosk")
    return
      #""from":{"epoch":"\#(entry.epoch.text)","rev":\#(entry.revision.number),"dig":"\#(entry.digest.text)"}"#
  }

  @Test func `a join is answered, then gets one snapshot`() throws {
    let world = World()
    let client = try world.kiosk()
    let replies = try client.watch()
    #expect(replies.map(\.verb) == [.ok, .snap])
    #expect(replies[0].json["mode"] as? String == "snap")
    #expect(replies[0].json["why"] as? String == "join")
    #expect(replies[1].json["why"] as? String == "join")
    #expect(replies[1].json["kind"] as? String == "controller")
  }

  @Test func `the diff is on the own watch before the ok`() throws {
    let world = World()
    let client = try world.kiosk()
    try client.watch()
    #expect(try client.send("op", client.opBody(Self.push("a"))).map(\.verb) == [.diff, .ok])
  }

  @Test func `an ok without change does not run ahead of the own watch either`() throws {
    let world = World()
    let client = try world.kiosk()
    let other = try world.client(2)
    try client.watch()
    let replies = try world.turn([
      other.message("op", other.opBody(Self.push("a"))),
      client.message("op", client.opBody(#"{"attach":{}}"#)),
    ]).filter { $0.connection == client.connection }
    #expect(replies.map(\.verb) == [.diff, .ok])
    #expect(replies[1].json["changed"] as? Bool == false)
    #expect(replies[1].revision == 2)
  }

  @Test(arguments: [
    ("get", #""what":"state""#), ("get", #""what":"verify""#), ("get", #""what":"top""#),
    ("watch", #""view":"top""#),
  ])
  func `what was read does not run ahead of the own watch either`(verb: String, more: String) throws
  {
    let world = World()
    let client = try world.kiosk()
    let other = try world.client(2)
    try client.watch()
    let replies = try world.turn([
      other.message("op", other.opBody(Self.push("a"))),
      client.message(verb, #"{"id":\#(client.nextID()),"nav":"kiosk",\#(more)}"#),
    ]).filter { $0.connection == client.connection }
    #expect(replies.prefix(2).map(\.verb) == [.diff, .ok])
    #expect(replies[1].revision == 2)
  }

  @Test func `a resume gets the diffs behind the mirror only`() throws {
    let world = World()
    let client = try world.kiosk()
    let from = try position(world)
    try client.must(Self.push("a"))
    try client.must(Self.push("b"))
    let replies = try client.watch(from)
    #expect(replies.map(\.verb) == [.ok, .diffs])
    #expect(replies[0].json["mode"] as? String == "resume")
    #expect(replies[0].json["why"] == nil)
    #expect(replies[0].revision == 3)
    let list = try #require(replies[1].json["list"] as? [[String: Any]])
    #expect(list.compactMap { $0["rev"] as? Int } == [2, 3])
  }

  @Test func `the list of a diffs message has the bytes of its diffs`() throws {
    let world = World()
    let client = try world.kiosk()
    try client.watch()
    let from = try position(world)
    let first = try client.send("op", client.opBody(Self.push("a")))[0].text
    let second = try client.send("op", client.opBody(Self.push("b")))[0].text
    let other = try world.client(2)
    let replies = try other.watch(from)
    #expect(replies[1].text == #"{"nav":"kiosk","list":[\#(first),\#(second)]}"#)
  }

  @Test(arguments: [
    ("epoch", #""epoch":"0000000000000000","rev":1,"dig":"DIG""#),
    ("ahead", #""epoch":"EPOCH","rev":99,"dig":"DIG""#),
    ("lag", #""epoch":"EPOCH","rev":0,"dig":"DIG""#),
    ("digest", #""epoch":"EPOCH","rev":1,"dig":"000000000000000000000000""#),
  ])
  func `a mirror that cannot resume gets a snapshot and the reason`(why: String, from: String)
    throws
  {
    let world = World()
    let client = try world.kiosk()
    let entry = try world.entry("kiosk")
    let text = from.replacingOccurrences(of: "EPOCH", with: entry.epoch.text)
      .replacingOccurrences(of: "DIG", with: entry.digest.text)
    let replies = try client.watch(#""from":{\#(text)}"#)
    #expect(replies.map(\.verb) == [.ok, .snap])
    #expect(replies[0].json["mode"] as? String == "snap")
    #expect(replies[0].json["why"] as? String == why)
    #expect(replies[1].json["why"] as? String == why)
  }

  @Test func `watching again replaces the watch, and unwatch ends it`() throws {
    let world = World()
    let client = try world.kiosk()
    try client.watch()
    try client.watch()
    #expect(try client.send("op", client.opBody(Self.push("a"))).map(\.verb) == [.diff, .ok])
    let end = try client.send("unwatch", #"{"id":70,"nav":"kiosk"}"#)
    #expect(end.map(\.text) == [#"{"id":70,"nav":"kiosk"}"#])
    #expect(try client.send("op", client.opBody(Self.push("b"))).map(\.verb) == [.ok])
    #expect(try client.send("unwatch", #"{"id":71,"nav":"kiosk"}"#).map(\.verb) == [.ok])
  }

  @Test func `bar and top get one value at once and one after each change`() throws {
    let world = World()
    let client = try world.kiosk()
    let viewer = try world.client(2)
    let bar = try viewer.watch(#""view":"bar""#)
    #expect(bar.map(\.verb) == [.ok, .latest])
    #expect(bar[0].json["mode"] as? String == "latest")
    let top = try viewer.watch(#""view":"top""#)
    #expect((top[1].json["value"] as? [String: Any])?["id"] as? String == "home")
    // Several revisions in one turn are one message a view.
    let replies = try world.turn(
      ["a", "b", "c"].map { client.message("op", client.opBody(Self.push($0))) }
    ).filter { $0.connection == viewer.connection }
    #expect(replies.map(\.verb) == [.latest, .latest])
    #expect(replies.map(\.revision) == [4, 4])
    // What is not seen sends nothing.
    let settings = #"{"nav.configure":{"queue":3}}"#
    let quiet = try world.turn([client.message("op", client.opBody(settings))])
    #expect(quiet.filter { $0.connection == viewer.connection }.isEmpty)
    // A title below the back item changes neither.
    let item = #"{"item.set":{"screen":"home","prompt":"x"}}"#
    let still = try world.turn([client.message("op", client.opBody(item))])
    #expect(still.filter { $0.connection == viewer.connection }.isEmpty)
  }

  @Test func `the top of an empty nav is null`() throws {
    let world = World()
    let client = try world.client()
    try client.must(#"{"nav.create":{"classes":{}}}"#)
    let top = try client.watch(#""view":"top""#)
    #expect(top[1].json["value"] is NSNull)
  }

  @Test func `several revisions of one turn reach a watcher as one message`() throws {
    let world = World()
    let client = try world.kiosk()
    let viewer = try world.client(2)
    var mirror = NaiveMirror()
    for message in try viewer.watch() { try mirror.apply(message) }
    let replies = try world.turn(
      (0..<20).map { client.message("op", client.opBody(Self.push("s\($0)"))) }
    ).filter { $0.connection == viewer.connection }
    #expect(replies.map(\.verb) == [.diffs])
    for message in replies { try mirror.apply(message) }
    #expect(mirror.ids.count == 21)
  }

  @Test func `a large state comes in parts of at most 64 KiB that make one mirror`() throws {
    let world = World()
    let client = try world.kiosk(#","window":1048576"#)
    let text = String(repeating: "x", count: 30_000)
    for index in 0..<9 {
      try client.must(Self.push("s\(index)", #","args":"\#(text)""#))
    }
    var mirror = NaiveMirror()
    let parts = try client.watch().filter { $0.verb == .snap }
    #expect(parts.count > 4)
    for part in parts {
      try mirror.apply(part)
      #expect(part.body.count <= 65536)
      #expect((part.json["dig"] != nil) == (part.json["last"] as? Bool == true))
      #expect((part.json["bar"] != nil) == (part.json["last"] as? Bool == true))
      #expect((part.json["resolved"] != nil) == (part.json["last"] as? Bool == true))
    }
    #expect(mirror.ids.count == 10)
    #expect(mirror.digest == (try world.entry("kiosk").digest.text))
  }

  @Test func `a watch that falls out of the history gets one snapshot`() throws {
    let world = World { $0.resumeRevisions = 4 }
    let client = try world.kiosk()
    let slow = try world.client(2, #","window":16384"#)
    var mirror = NaiveMirror()
    for message in try slow.watch() { try mirror.apply(message) }
    let text = String(repeating: "y", count: 20_000)
    var received: [Sent] = []
    for index in 0..<12 {
      let body = client.opBody(Self.push("s\(index)", index == 0 ? #","title":"\#(text)""# : ""))
      received += try world.turn([client.message("op", body)])
        .filter { $0.connection == slow.connection }
    }
    #expect(received.map(\.verb) == [.diff])
    received += try slow.send("credit", #"{"upto":9007199254740991}"#)
    for message in received { try mirror.apply(message) }
    #expect(received.dropFirst().map(\.verb) == [.snap])
    #expect(received.last?.json["why"] as? String == "lag")
    #expect(mirror.snapshots == 2)
    #expect(mirror.ids.count == 13)
  }

  @Test func `an event counts once against the credit`() throws {
    let world = World()
    let client = try world.kiosk()
    try client.must(Self.push("a"))
    let viewer = try world.client(2, #","window":16384"#)
    var octets = try viewer.watch().map(\.text.utf8.count).reduce(0, +)
    try client.must(#"{"gesture.begin":{"kind":"edge"}}"#, #""if":{"any":true}"#)
    for number in 0..<400 where octets < 12_000 {
      let update = #"{"gesture.update":{"value":0.\#(100 + number)}}"#
      let sent = try world.turn([client.message("op", client.opBody(update))])
      octets += sent.filter { $0.connection == viewer.connection && $0.verb == .event }
        .map(\.text.utf8.count).reduce(0, +)
    }
    #expect(octets >= 12_000)
    let finish = client.message("op", client.opBody(#"{"gesture.finish":{}}"#))
    let sent = try world.turn([finish]).filter { $0.connection == viewer.connection }
    #expect(sent.map(\.verb) == [.diff])
  }

  @Test func `closing ends every watch`() throws {
    let world = World()
    let client = try world.kiosk()
    let viewer = try world.client(2)
    try viewer.watch()
    try viewer.watch(#""view":"bar""#)
    try client.watch()
    let all = try world.turn([
      client.message("op", client.opBody(Self.push("a"))),
      client.message("op", client.opBody(#"{"nav.close":{}}"#, #""if":{"any":true}"#)),
    ])
    let viewed = all.filter { $0.connection == viewer.connection }
    #expect(Set(viewed.map(\.verb)) == [.diff, .latest, .end])
    #expect(viewed.filter { $0.verb == .end }.count == 2)
    let own = all.filter { $0.connection == client.connection }
    #expect(own.map(\.verb) == [.diff, .ok, .end, .ok])
    #expect(own[2].json["why"] as? String == "closed")
    #expect(own[2].json["view"] as? String == "full")
    #expect(own[2].revision == 2)
    #expect(try client.watch().first?.code == "no-nav")
  }

  @Test func `a report of divergence lands in the log and brings a snapshot`() throws {
    let world = World()
    let client = try world.kiosk()
    let replies = try client.watch(#""bad":{"rev":1,"dig":"000000010000000000000000"}"#)
    #expect(replies.map(\.verb) == [.ok, .snap])
    #expect(replies[0].json["why"] as? String == "digest")
    #expect(world.notices.count == 1)
    try client.must(Self.push("a"))
    let log = try #require(try client.get("log").json["value"] as? [[String: Any]])
    #expect(log.count == 3)
    #expect((log[1]["bad"] as? [String: Any])?["dig"] as? String == "000000010000000000000000")
    #expect(log[1]["rev"] as? Int == 1)
    try world.restart()
    #expect(try world.entry("kiosk").revision == Revision(2))
  }
}

@Suite struct VirtualNavTests {
  @Test func `the directory is a mirror of the navs in the order of their names`() throws {
    let world = World()
    let client = try world.client()
    var mirror = NaiveMirror()
    for message in try client.watch(nav: "$navs") { try mirror.apply(message, nav: "$navs") }
    #expect(mirror.ids == [])
    for nav in ["m", "z", "a", "k"] {
      let body = client.opBody(#"{"nav.create":{"root":{"id":"home"}}}"#, nav: nav)
      for message in try client.send("op", body) { try mirror.apply(message, nav: "$navs") }
    }
    #expect(mirror.ids == ["a", "k", "m", "z"])
    #expect(mirror.screens[0]["owner"] as? String == "uid:1000")
    #expect(mirror.screens[0]["kind"] as? String == "controller")
    let close = client.opBody(#"{"nav.close":{}}"#, nav: "k", #""if":{"any":true}"#)
    for message in try client.send("op", close) { try mirror.apply(message, nav: "$navs") }
    #expect(mirror.ids == ["a", "m", "z"])
    #expect(mirror.snapshots == 1)
  }

  @Test func `watching the directory again keeps it`() throws {
    let world = World()
    let client = try world.kiosk()
    try client.watch(nav: "$navs")
    var mirror = NaiveMirror()
    for message in try client.watch(nav: "$navs") { try mirror.apply(message, nav: "$navs") }
    #expect(mirror.ids == ["kiosk"])
    let from =
      #""from":{"epoch":"\#(mirror.epoch)","rev":\#(mirror.revision),"dig":"\#(mirror.digest)"}"#
    let replies = try client.watch(nav: "$navs", from)
    #expect(replies.map(\.verb) == [.ok])
    #expect(replies[0].json["mode"] as? String == "resume")
    let after = try client.send(
      "op", client.opBody(#"{"nav.create":{"root":{"id":"x"}}}"#, nav: "zoo"))
    for message in after { try mirror.apply(message, nav: "$navs") }
    #expect(mirror.ids == ["kiosk", "zoo"])
  }

  @Test func `the list of clients is for the role admin and follows sessions and watches`() throws {
    let world = World()
    let admin = try world.client(9, user: 0)
    let client = try world.kiosk()
    #expect(try client.watch(nav: "$clients").map(\.code) == ["forbidden"])
    var mirror = NaiveMirror()
    for message in try admin.watch(nav: "$clients") { try mirror.apply(message, nav: "$clients") }
    #expect(mirror.ids.count == 2)
    #expect(mirror.screens[0]["watches"] as? Int == 0)
    #expect(mirror.screens[0]["uid"] as? Int == 1000)
    #expect(mirror.screens[0]["role"] as? String == "ui")
    var all = try world.turn([client.message("watch", #"{"id":50,"nav":"kiosk"}"#)])
    for message in all where message.connection == admin.connection {
      try mirror.apply(message, nav: "$clients")
    }
    #expect(mirror.screens[0]["watches"] as? Int == 1)
    let close = client.opBody(#"{"nav.close":{}}"#, #""if":{"any":true}"#)
    all = try world.turn([client.message("op", close)])
    for message in all where message.connection == admin.connection {
      try mirror.apply(message, nav: "$clients")
    }
    #expect(mirror.screens[0]["watches"] as? Int == 0)
    all = try world.turn([.closed(client.connection)])
    for message in all { try mirror.apply(message, nav: "$clients") }
    #expect(mirror.ids.count == 1)
  }

  @Test(arguments: ["$navs", "$clients", "$heads"])
  func `nobody changes a virtual nav`(nav: String) throws {
    let world = World()
    let admin = try world.client(9, user: 0)
    for op in [#"{"pop":{}}"#, #"{"nav.create":{"root":{"id":"a"}}}"#, #"{"nav.close":{}}"#] {
      #expect(try admin.op(op, nav: nav).code == "readonly")
    }
  }

  @Test func `the directory can be read once`() throws {
    let world = World()
    let client = try world.kiosk()
    let value = try #require(try client.get("state", nav: "$navs").json["value"] as? [String: Any])
    #expect((value["screens"] as? [[String: Any]])?.count == 1)
  }
}
