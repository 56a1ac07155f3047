import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

@Suite struct SessionTests {
  @Test(arguments: [(0, 16384), (16384, 16384), (65536, 65536), (9_999_999, 1_048_576)])
  func `the window is clamped`(asked: Int, got: Int) throws {
    let welcome = try Client(World()).hello(#","window":\#(asked)"#)
    #expect((welcome.json["limits"] as? [String: Any])?["window"] as? Int == got)
  }

  @Test(arguments: [(0, 1000), (1000, 1000), (5000, 5000), (99999, 60000)])
  func `the heartbeat is clamped`(asked: Int, got: Int) throws {
    #expect(try Client(World()).hello(#","hb":\#(asked)"#).json["hb"] as? Int == got)
  }

  @Test func `a welcome says who the peer is`() throws {
    let world = World()
    let welcome = try Client(world).hello(nonce: "a41f09c2")
    #expect(
      welcome.text
        == #"{"ver":1,"nonce":"a41f09c2","boot":"\#(world.hub.boot.text)","server":"navd/0.1.0","features":[],"hb":5000,"you":{"via":"ipc","uid":1000,"gid":1000,"pid":4711,"role":"ui"},"ops":{"last":0,"seq":[[0,0]]},"limits":{"message":65536,"inflight":64,"watches":1024,"depth":64,"window":65536}}"#
    )
    let root = try Client(World(), 2, user: 0).hello()
    #expect((root.json["you"] as? [String: Any])?["role"] as? String == "admin")
  }

  @Test func `a welcome says which op was decided last`() throws {
    let world = World()
    let client = try world.kiosk()
    try client.op(#"{"pop":{}}"#)
    func last() throws -> Int? {
      (try client.hello().json["ops"] as? [String: Any])?["last"] as? Int
    }
    #expect(try last() == 2)
    try world.restart()
    #expect(try last() == 1)
  }

  @Test(arguments: [
    #"{"client":"CLIENT","nonce":"n"}"#, #"{"ver":[1,1],"nonce":"n"}"#,
    #"{"ver":[1,1],"client":"CLIENT"}"#, #"{"ver":1,"client":"CLIENT","nonce":"n"}"#,
    #"{"ver":[2,1],"client":"CLIENT","nonce":"n"}"#, #"{"ver":[1,1],"client":"xyz","nonce":"n"}"#,
    #"{"ver":[1,1],"client":"CLIENT","nonce":"n","hb":"x"}"#,
  ])
  func `a hello needs its members`(body: String) throws {
    let client = Client(World())
    let text = body.replacingOccurrences(of: "CLIENT", with: client.client)
    #expect(try client.ask("hello", text).code == "invalid-argument")
  }

  @Test(arguments: ["watch", "unwatch", "delegate", "lease", "bye", "credit", "answer"])
  func `without a session only hello, ping, get and op are served`(verb: String) throws {
    let world = World()
    _ = try world.kiosk()
    let other = Client(world, 2)
    let bodies = [#"{"id":4,"nav":"kiosk","upto":5}"#, #"{"id":4,"nav":"?"}"#]
    for body in bodies {
      let error = try other.ask(verb, body)
      #expect(error.code == "no-session")
      #expect(error.json["retry"] as? String == "same")
      #expect(error.id == (["credit", "answer"].contains(verb) ? nil : 4))
    }
    #expect(try other.ask("ping", #"{"id":4}"#).verb == .pong)
    #expect(try other.get("state").verb == .ok)
    #expect(try other.op(#"{"attach":{}}"#).code == "no-session")
    let op = try other.op(
      #"{"push":{"screen":{"id":"a"}}}"#, #""client":"\#(other.client)","name":"tool""#)
    #expect(op.verb == .ok)
    let log = try #require(try other.get("log").json["value"] as? [[String: Any]])
    #expect((log.last?["by"] as? [String: Any])?["name"] as? String == "tool")
  }

  @Test func `in a session the client of an op is the session's`() throws {
    let world = World()
    let client = try world.kiosk()
    try client.must(#"{"attach":{}}"#, #""client":"\#(client.client)""#)
    let other = String(repeating: "f", count: 32)
    #expect(try client.op(#"{"attach":{}}"#, #""client":"\#(other)""#).code == "invalid-argument")
  }

  @Test func `a second hello of the same client fences the first connection`() throws {
    let world = World()
    let client = try world.kiosk()
    try client.watch()
    let second = Client(world, 2, client: client.client)
    let replies = try world.turn([
      second.message("hello", #"{"ver":[1,1],"client":"\#(client.client)","nonce":"x"}"#)
    ])
    #expect(replies.map(\.verb) == [.bye, .welcome])
    #expect(replies[0].text == #"{"why":"fenced"}"#)
    #expect(world.dropped == [client.connection])
    #expect(try client.op(#"{"attach":{}}"#).code == "fenced")
    #expect(try client.op("", #""if":{"zoo":1}"#).code == "fenced")
    #expect(try client.watch().map(\.code) == ["no-session"])
    second.id = 10
    try second.must(#"{"push":{"screen":{"id":"a"}}}"#)
    #expect(world.sent.last?.connection == second.connection)
    // Whoever says hello again on the fenced connection takes the client back.
    try client.hello()
    #expect(try second.op(#"{"attach":{}}"#).code == "fenced")
  }

  @Test func `another principal cannot take a client over`() throws {
    let world = World()
    let client = try world.kiosk()
    let thief = Client(world, 2, user: 2000, client: client.client)
    let error = try thief.hello(nonce: "t")
    #expect(error.code == "forbidden")
    #expect(error.json["nonce"] as? String == "t")
    try client.must(#"{"attach":{}}"#)
  }

  @Test func `a hello on a connection in use begins anew`() throws {
    let world = World()
    let client = try world.kiosk()
    try client.watch()
    try client.hello()
    #expect(
      try client.send("op", client.opBody(#"{"push":{"screen":{"id":"a"}}}"#)).map(\.verb)
        == [.ok])
    #expect(world.hub.sessions.count == 1)
  }

  @Test func `bye is answered and ends the session`() throws {
    let world = World()
    let client = try world.kiosk()
    try client.watch()
    #expect(try client.send("bye", #"{"id":90}"#).map(\.text) == [#"{"id":90}"#])
    #expect(world.hub.sessions.count == 0)
    #expect(world.hub.watches.count == 0)
    try world.turn([.closed(client.connection)])
  }

  @Test func `sessions are limited, in all and of one principal`() throws {
    let world = World {
      $0.sessions = 3
      $0.sessionsPerPrincipal = 2
    }
    _ = try world.client(1)
    _ = try world.client(2)
    let third = try Client(world, 3).hello()
    #expect(third.code == "limit")
    #expect(third.json["reason"] as? String == "quota")
    _ = try world.client(4, user: 2000)
    #expect(try Client(world, 5, user: 3000).hello().code == "limit")
    try world.turn([.closed(ConnectionID(1))])
    _ = try world.client(6)
  }

  @Test func `watches of a connection are limited`() throws {
    let world = World { $0.watchesPerConnection = 2 }
    let client = try world.kiosk()
    try client.watch()
    try client.watch(#""view":"bar""#)
    let error = try #require(try client.watch(#""view":"top""#).first)
    #expect(error.code == "limit")
    #expect(error.json["reason"] as? String == "quota")
    #expect(try client.watch(#""view":"bar""#).map(\.verb) == [.ok, .latest])
  }

  @Test func `ops in flight are limited, and free again after the turn`() throws {
    let world = World { $0.inflight = 4 }
    let client = try world.kiosk()
    let replies = try world.turn(
      (0..<6).map { _ in client.message("op", client.opBody(#"{"attach":{}}"#)) })
    #expect(replies.map(\.code) == [nil, nil, nil, nil, "busy", "busy"])
    #expect(replies.last?.json["after"] != nil)
    try client.must(#"{"attach":{}}"#)
  }

  @Test func `ops a second are limited if configured`() throws {
    let world = World { $0.opsPerSecond = 2 }
    let client = try world.kiosk()
    try client.must(#"{"attach":{}}"#)
    let error = try client.op(#"{"attach":{}}"#)
    #expect(error.code == "busy")
    world.advance(try #require(error.json["after"] as? UInt64))
    try client.must(#"{"attach":{}}"#)
  }

  @Test func `navs are limited`() throws {
    let world = World { $0.navs = 1 }
    let client = try world.kiosk()
    let error = try client.op(#"{"nav.create":{"root":{"id":"a"}}}"#, nav: "b")
    #expect(error.code == "limit")
    #expect(error.json["reason"] as? String == "quota")
  }
}

@Suite struct FlowTests {
  static let text = String(repeating: "x", count: 6000)

  /// The octets under flow control that a connection got.
  private func spent(_ world: World, _ client: Client) -> Int {
    world.sent.filter { $0.connection == client.connection && $0.verb.usesCredit }
      .map(\.body.count).reduce(0, +)
  }

  private func push(_ client: Client, _ index: Int) throws {
    try client.must(#"{"push":{"screen":{"id":"s\#(index)","args":"\#(Self.text)"}}}"#)
  }

  @Test func `nothing goes beyond the credit but one message`() throws {
    let world = World()
    let writer = try world.kiosk()
    let reader = try world.client(2, #","window":16384"#)
    var mirror = NaiveMirror()
    try reader.watch()
    var largest = 0
    for index in 0..<10 {
      try push(writer, index)
      largest = max(largest, world.sent.map(\.body.count).max() ?? 0)
      #expect(spent(world, reader) < 16384 + largest)
    }
    let stopped = spent(world, reader)
    #expect(stopped >= 16384)
    // A lower limit than before is no news; a higher one lets more through.
    try reader.send("credit", #"{"upto":100}"#)
    #expect(spent(world, reader) == stopped)
    while try world.entry("kiosk").revision.number > UInt64(mirror.revision) {
      let before = world.sent.count
      try reader.send("credit", #"{"upto":\#(spent(world, reader) + 1)}"#)
      #expect(
        world.sent[before...].filter { $0.connection == reader.connection }.count == 1)
      mirror = NaiveMirror()
      for message in world.sent where message.connection == reader.connection {
        try mirror.apply(message)
      }
    }
    #expect(mirror.ids.count == 11)
    #expect(mirror.snapshots == 1)
  }

  @Test func `replies are exempt from credit`() throws {
    let world = World()
    let client = try world.kiosk(#","window":16384"#)
    try client.watch()
    for index in 0..<8 { try push(client, index) }
    #expect(spent(world, client) < 16384 + 8000)
    #expect(try client.ask("ping", #"{"id":9}"#).verb == .pong)
    #expect(try client.get("top").verb == .ok)
  }

  @Test func `without flow control everything goes through`() throws {
    let world = World()
    let client = try world.kiosk(#","window":16384,"flow":"none""#)
    try client.watch()
    for index in 0..<8 { try push(client, index) }
    #expect(spent(world, client) > 40_000)
  }

  @Test func `without flow control a long way goes in turns, so that the shell can stop it`() throws
  {
    let world = World {
      $0.resumeRevisions = 4096
      $0.resumeBytes = 64 << 20
      $0.resumeTotalBytes = 64 << 20
    }
    let writer = try world.kiosk()
    let start = try world.entry("kiosk")
    for index in 0..<900 {
      let title = "\(index)" + Self.text
      try writer.must(#"{"screen.set":{"screen":"home","title":"\#(title)"}}"#)
    }
    let reader = try world.client(2, #","flow":"none""#)
    let from = #"{"epoch":"\#(start.epoch.text)","rev":1,"dig":"\#(start.digest.text)"}"#
    let watch = reader.message("watch", #"{"id":900,"nav":"kiosk","from":\#(from)}"#)
    // A socket that takes messages again, in the same batch, is no reason to forget the rest.
    var turns = [try world.turn([watch, .unblocked(reader.connection)])]
    // Another batch of the same turn of the shell brings nothing more.
    func edit(_ title: String) -> HubEvent {
      writer.message(
        "op", writer.opBody(#"{"screen.set":{"screen":"home","title":"\#(title)"}}"#))
    }
    #expect(try world.turn([edit("a")]).to(reader).isEmpty)
    // A commit that fails does not make the hub forget what is left.
    world.journal.isFailing = true
    turns.append(try world.turn([edit("b"), .wake]))
    world.journal.isFailing = false
    // The hub wakes at once as long as something is left.
    while world.hub.wakeAt.map({ $0 <= world.now.boot }) ?? false {
      turns.append(try world.wait(0))
      // While the socket takes nothing, nothing comes.
      try world.turn([.blocked(reader.connection)])
      #expect(try world.wait(0).to(reader).isEmpty)
      turns.append(try world.turn([.unblocked(reader.connection)]))
    }
    let bytes = turns.map { $0.to(reader).reduce(0) { $0 + $1.body.count } }
    #expect(bytes.allSatisfy { $0 < 2 << 20 + 64 << 10 }, "\(bytes)")
    #expect(bytes.count { $0 > 2 << 20 } >= 2, "\(bytes)")
    let diffs = turns.flatMap { $0.to(reader) }.flatMap { message in
      message.verb == .diffs ? message.json["list"] as? [[String: Any]] ?? [] : [message.json]
    }
    #expect(diffs.compactMap { $0["base"] as? Int } == Array(1...901))
  }

  @Test func `a credit far ahead is worth what it says`() throws {
    let world = World()
    let client = try world.kiosk(#","window":16384"#)
    try client.send("credit", #"{"upto":1000000}"#)
    try client.watch()
    for index in 0..<8 { try push(client, index) }
    #expect(spent(world, client) > 40_000)
  }

  @Test func `a blocked connection gets nothing but answers until it is free`() throws {
    let world = World()
    let client = try world.kiosk()
    try client.watch()
    try world.turn([.blocked(client.connection)])
    #expect(
      try client.send("op", client.opBody(#"{"push":{"screen":{"id":"a"}}}"#)).map(\.verb) == [.ok])
    #expect(try world.turn([.unblocked(client.connection)]).map(\.verb) == [.diff])
  }

  @Test func `silence brings a mark of the full watches that are caught up`() throws {
    let world = World()
    let client = try world.kiosk(#","hb":1000"#)
    try client.must(#"{"nav.create":{"root":{"id":"x"}}}"#, nav: "other")
    try client.watch()
    try client.watch(nav: "other", #""view":"bar""#)
    let wakeAt = try #require(world.hub.wakeAt)
    #expect(wakeAt <= world.now.boot + 1000)
    world.advance(999)
    #expect(try world.turn([.wake]).isEmpty)
    world.advance(1)
    let marks = try world.turn([.wake])
    let entry = try world.entry("kiosk")
    #expect(
      marks.map(\.text) == [
        #"{"t":\#(world.now.wall),"at":[["kiosk",1,"\#(entry.digest.text)"]],"seq":[[0,2]]}"#
      ])
    // Traffic puts the next one off.
    world.advance(600)
    try client.must(#"{"attach":{}}"#)
    world.advance(600)
    #expect(try world.turn([.wake]).isEmpty)
    #expect(try #require(world.hub.wakeAt) <= world.now.boot + 400)
  }

  @Test func `a mark never vouches for a watch that is behind`() throws {
    let world = World()
    let writer = try world.kiosk()
    let reader = try world.client(2, #","window":16384,"hb":1000"#)
    try reader.watch()
    for index in 0..<8 { try push(writer, index) }
    world.advance(1000)
    let marks = try world.turn([.wake]).filter { $0.connection == reader.connection }
    #expect(marks.map(\.text) == [#"{"t":\#(world.now.wall),"at":[],"seq":[[0,9]]}"#])
  }

  /// Found by `torture simulate 1191772`.
  @Test func `a mark never vouches for a nav that is being closed`() throws {
    let world = World()
    let writer = try world.kiosk()
    let reader = try world.client(2, #","hb":1000"#)
    try reader.watch()
    world.advance(1000)
    let close = writer.message("op", writer.opBody(#"{"nav.close":{}}"#, #""if":{"any":true}"#))
    let sent = try world.turn([close, .wake]).filter { $0.connection == reader.connection }
    #expect(sent.map(\.verb) == [.end, .mark])
    #expect(sent.last?.text == #"{"t":\#(world.now.wall),"at":[],"seq":[[0,2]]}"#)
  }

  @Test func `who is out of credit and silent for too long is put out`() throws {
    let world = World()
    let writer = try world.kiosk()
    let reader = try world.client(2, #","window":16384"#)
    try reader.watch()
    for index in 0..<8 { try push(writer, index) }
    world.advance(20_000)
    try reader.ask("ping", #"{"id":5}"#)
    world.advance(20_000)
    try world.turn([.wake])
    #expect(world.hub.sessions.count == 2)
    world.advance(10_000)
    let replies = try world.turn([.wake]).filter { $0.connection == reader.connection }
    #expect(replies.last?.json["why"] as? String == "stalled")
    #expect(world.dropped == [reader.connection])
    #expect(world.hub.sessions.count == 1)
  }

  @Test func `a button's event goes to the full watches that are caught up`() throws {
    let world = World()
    let client = try world.kiosk()
    let viewer = try world.client(2)
    try client.must(
      #"{"item.set":{"screen":"home","rightItems":[{"id":"scan","title":"S","action":"go"}]}}"#)
    try viewer.watch()
    try viewer.watch(#""view":"bar""#)
    let all = try world.turn([
      client.message("op", client.opBody(#"{"button.activate":{"button":"scan"}}"#))
    ])
    let epoch = try world.entry("kiosk").epoch.text
    #expect(
      all.filter { $0.connection == viewer.connection }.map(\.text) == [
        #"{"nav":"kiosk","epoch":"\#(epoch)","rev":2,"ev":[{"buttonActivated":{"button":"scan","action":"go"}}]}"#
      ])
    let reply = try #require(all.first { $0.connection == client.connection })
    #expect(reply.json["changed"] as? Bool == false)
    #expect(reply.text.hasSuffix(#""out":[{"delivered":1}]}"#))
  }
}
