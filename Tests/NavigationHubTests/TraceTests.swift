import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

/// `get` `trace`: the messages of other clients, for administrators.
@Suite struct TraceTests {
  /// A world in which each message is reported to the hub before it is handled, as the shell does.
  private final class Stage {
    let world = World()
    let admin: Client
    let shell: Client
    let remote: Client

    init() throws {
      admin = try world.client(9, user: 0)
      shell = try world.kiosk()
      remote = try world.client(2, user: 1001)
      try admin.send("credit", #"{"upto":9007199254740991}"#)
    }

    func trace(_ members: String) throws -> Sent {
      try admin.ask("get", #"{"id":\#(admin.nextID()),"what":"trace"\#(members)}"#)
    }

    /// Sends a message; returns the reports that it led to.
    @discardableResult
    func send(_ client: Client, _ verb: String, _ body: String) throws -> [[String: Any]] {
      let event = client.message(verb, body)
      if !world.hub.trace.isEmpty {
        world.hub.traceReceived(event, body: Array(body.utf8), at: world.now)
      }
      return try reports(try world.turn([event]))
    }

    func push(_ client: Client, _ id: String) throws -> [[String: Any]] {
      try send(client, "op", client.opBody(SealTests.push(id), #""if":{"any":true}"#))
    }

    func reports(_ sent: [Sent]) throws -> [[String: Any]] {
      try sent.filter { $0.verb == .traced }.flatMap { message in
        #expect(message.connection == admin.connection)
        return try #require(message.json["list"] as? [[String: Any]])
      }
    }
  }

  private static func words(_ reports: [[String: Any]]) -> [String] {
    reports.map { "\($0["dir"] ?? "-") \($0["verb"] ?? "-") \($0["uid"] ?? "-")" }
  }

  @Test func `a trace of a nav has its requests, their answers and its diffs, with the peers`()
    throws
  {
    let stage = try Stage()
    try stage.shell.watch()
    #expect(try stage.push(stage.remote, "before").isEmpty)
    #expect(try stage.trace(#","nav":"kiosk""#).verb == .ok)
    let pushed = try stage.push(stage.remote, "wifi")
    #expect(Self.words(pushed) == ["in op 1001", "out ok 1001", "out diff 1000"])
    let body = try #require(pushed[0]["body"] as? [String: Any])
    #expect(body["nav"] as? String == "kiosk" && pushed[0]["principal"] as? String == "uid:1001")
    #expect(pushed[0]["pid"] != nil && pushed[0]["client"] != nil && pushed[0]["name"] != nil)
    #expect(pushed.allSatisfy { $0["t"] as? UInt64 == stage.world.now.wall })
    // A refusal names no nav for a client that may not read it, but it answers a request about it.
    let refused = try stage.send(
      stage.remote, "op", stage.remote.opBody(#"{"popTo":{"screen":"none"}}"#))
    #expect(Self.words(refused) == ["in op 1001", "out err 1001"])
    let other = try stage.send(
      stage.remote, "op", stage.remote.opBody(#"{"nav.create":{"root":{"id":"r"}}}"#, nav: "other"))
    #expect(other.isEmpty)
    #expect(try stage.send(stage.remote, "ping", #"{"id":99}"#).isEmpty)
  }

  @Test(arguments: ["name", "id"])
  func `a trace of a client has all of its messages, and none of others`(way: String) throws {
    let stage = try Stage()
    try stage.shell.watch()
    let session = try #require(stage.world.hub.sessions.slot(of: stage.remote.connection))
    let client = stage.world.hub.sessions[session]
    let filter = way == "name" ? client.name : client.client.text
    #expect(try stage.trace(#","client":"\#(filter)""#).verb == .ok)
    #expect(Self.words(try stage.push(stage.remote, "a")) == ["in op 1001", "out ok 1001"])
    #expect(
      Self.words(try stage.send(stage.remote, "ping", #"{"id":99}"#))
        == ["in ping 1001", "out pong 1001"])
    let unreadable = try stage.send(stage.remote, "op", "{")
    #expect(Self.words(unreadable) == ["in op 1001", "out err 1001"])
    #expect(unreadable[0]["body"] == nil && unreadable[0]["size"] as? Int == 1)
    #expect(try stage.push(stage.shell, "b").isEmpty)
    _ = try stage.trace(#","on":false"#)
    #expect(stage.world.hub.trace.isEmpty)
    #expect(try stage.push(stage.remote, "c").isEmpty)
  }

  @Test func `the answer to a client without session is reported too`() throws {
    let stage = try Stage()
    _ = try stage.trace(#","client":"one-shot""#)
    let once = Client(stage.world, 5, user: 1002)
    let op = once.opBody(
      SealTests.push("a"),
      #""client":"\#(once.client)","name":"one-shot","due":9007199254740991,"if":{"any":true}"#)
    let reports = try stage.send(once, "op", op)
    #expect(Self.words(reports) == ["in op 1002", "out ok 1002"])
    #expect(reports.allSatisfy { $0["name"] as? String == "one-shot" })
  }

  @Test func `a refused hello and the last bye of a client are in its trace`() throws {
    let stage = try Stage()
    _ = try stage.trace(#","client":"c2""#)
    let hello = { (version: Int) in
      #"{"ver":[\#(version),\#(version)],"client":"\#(stage.remote.client)","name":"c2","nonce":"n"}"#
    }
    let refused = try stage.send(stage.remote, "hello", hello(9))
    #expect(Self.words(refused) == ["in hello 1001", "out err 1001"])
    let stranger = Client(stage.world, 6, user: 1003)
    let again = try stage.send(
      stranger, "hello", #"{"ver":[9,9],"client":"\#(stranger.client)","name":"c2","nonce":"n"}"#)
    #expect(Self.words(again) == ["in hello 1003", "out err 1003"])
    let ended = try stage.reports(try stage.world.turn([.revoked(stage.remote.connection)]))
    #expect(Self.words(ended) == ["out bye 1001"])
  }

  @Test func `two traces see each other once, and no report of reports`() throws {
    let stage = try Stage()
    let other = try stage.world.client(8, user: 0)
    try other.send("credit", #"{"upto":9007199254740991}"#)
    _ = try stage.trace("")
    let body = #"{"id":\#(other.nextID()),"what":"trace"}"#
    let began = try stage.send(other, "get", body)
    #expect(Self.words(began) == ["in get 0", "out ok 0"])
    let event = stage.remote.message("ping", #"{"id":99}"#)
    stage.world.hub.traceReceived(event, body: Array(#"{"id":99}"#.utf8), at: stage.world.now)
    let sent = try stage.world.turn([event]).filter { $0.verb == .traced }
    #expect(Set(sent.map(\.connection)) == [stage.admin.connection, other.connection])
    for message in sent {
      let list = try #require(message.json["list"] as? [[String: Any]])
      #expect(Self.words(list) == ["in ping 1001", "out pong 1001"])
    }
    #expect(try stage.world.turn([.wake]).allSatisfy { $0.verb != .traced })
  }

  @Test func `a session gets one message beyond its credit, and the number of what it missed`()
    throws
  {
    let world = World()
    let admin = try world.client(9, user: 0)
    let remote = try world.client(2)
    #expect(try admin.ask("get", #"{"id":\#(admin.nextID()),"what":"trace"}"#).verb == .ok)
    var pings: [HubEvent] = []
    for id in 0..<900 {
      let body = #"{"id":\#(id),"padding":"\#(String(repeating: "p", count: 400))"}"#
      pings.append(remote.message("ping", body))
      world.hub.traceReceived(pings[id], body: Array(body.utf8), at: world.now)
    }
    let sent = try world.turn(pings).filter { $0.verb == .traced }
    let octets = sent.map(\.body.count)
    // The window of 64 KiB, and not one message more than reaches it.
    #expect(octets.reduce(0, +) >= 65536 && octets.dropLast().reduce(0, +) < 65536)
    let reported = try sent.reduce(0) { $0 + (try #require($1.json["list"] as? [Any])).count }
    world.advance(10)
    let last = try admin.send("credit", #"{"upto":9007199254740991}"#).filter { $0.verb == .traced }
    let dropped = (sent + last).reduce(0) { $0 + ($1.json["dropped"] as? Int ?? 0) }
    #expect(reported + dropped == 1800 && reported > 0 && last.count == 1)
  }

  @Test func `only administrators trace, in a session, and the log names them`() throws {
    let stage = try Stage()
    let body = #"{"id":\#(stage.remote.nextID()),"what":"trace"}"#
    #expect(try stage.remote.ask("get", body).code == "forbidden")
    #expect(stage.world.hub.trace.isEmpty)
    let stranger = Client(stage.world, 77, user: 0)
    #expect(try stranger.ask("get", #"{"id":1,"what":"trace"}"#).code == "no-session")
    _ = try stage.trace("")
    #expect(stage.world.notices.last?.code == "trace")
    #expect(stage.world.notices.last?.principal == "uid:0")
    // Its own messages are not reported: that would never end.
    #expect(try stage.send(stage.admin, "ping", #"{"id":99}"#).isEmpty)
    try stage.world.turn([.closed(stage.admin.connection)])
    #expect(stage.world.hub.trace.isEmpty)
  }

  @Test func `what exceeds the limits is dropped and counted, and the clients are served`() throws {
    let stage = try Stage()
    _ = try stage.trace(#","client":"c2""#)
    var (reported, dropped) = (0, 0)
    let total = 1400
    for id in 0..<total {
      let body = #"{"id":\#(1000 + id)}"#
      let event = stage.remote.message("ping", body)
      stage.world.hub.traceReceived(event, body: Array(body.utf8), at: stage.world.now)
      let sent = try stage.world.turn([event])
      #expect(sent.contains { $0.verb == .pong })
      reported += try stage.reports(sent).count
      dropped += sent.reduce(0) { $0 + ($1.json["dropped"] as? Int ?? 0) }
    }
    #expect(reported == Int(Trace.burst))
    #expect(dropped == 2 * total - reported)
    stage.world.advance(1000)
    #expect(try stage.push(stage.remote, "late").count == 2)
  }

  @Test func `a session that takes no more gets the number of what it missed`() throws {
    let stage = try Stage()
    _ = try stage.trace(#","nav":"kiosk""#)
    try stage.world.turn([.blocked(stage.admin.connection)])
    for id in ["a", "b", "c"] { #expect(try stage.push(stage.remote, id).isEmpty) }
    let sent = try stage.world.turn([.unblocked(stage.admin.connection)])
    let message = try #require(sent.first { $0.verb == .traced })
    #expect(message.json["dropped"] as? Int == 6)
    #expect((message.json["list"] as? [Any])?.isEmpty == true)
    #expect(try stage.push(stage.remote, "d").count == 2)
  }

  @Test func `a large body is left out, and its size is not`() throws {
    let stage = try Stage()
    _ = try stage.trace(#","nav":"kiosk""#)
    let title = String(repeating: "t", count: Trace.bodyBytes)
    let body = stage.remote.opBody(
      #"{"push":{"screen":{"id":"a","title":"\#(title)"}}}"#, #""if":{"any":true}"#)
    let reports = try stage.send(stage.remote, "op", body)
    #expect(reports[0]["body"] == nil && reports[0]["size"] as? Int == body.utf8.count)
    #expect(reports[1]["body"] != nil)
  }

  @Test func `a user that loses the role loses the trace`() throws {
    let world = World()
    var access = Access()
    access.roles = [Access.RoleRule(.admin, [.user(1005)])]
    try world.turn([.access(access)])
    let admin = try world.client(5, user: 1005)
    let other = try world.kiosk()
    #expect(try admin.ask("get", #"{"id":\#(admin.nextID()),"what":"trace"}"#).verb == .ok)
    let sent = try world.turn([.access(Access())])
    #expect(sent.filter { $0.verb == .traced }.map { $0.json["end"] as? String } == ["revoked"])
    #expect(world.hub.trace.isEmpty)
    #expect(try other.must(SealTests.push("a"), #""if":{"any":true}"#).revision == 2)
  }
}
