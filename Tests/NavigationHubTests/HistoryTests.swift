import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

@Suite struct HistoryTests {
  @Test(arguments: UInt64(1)...4)
  func `no diff comes between the parts of a snapshot, however credit trickles`(seed: UInt64)
    throws
  {
    let world = World { $0.resumeRevisions = 6 }
    let writer = try world.kiosk()
    let reader = try world.client(2, #","window":16384"#)
    let text = String(repeating: "x", count: 20_000)
    for index in 0..<8 {
      try writer.must(#"{"push":{"screen":{"id":"s\#(index)","args":"\#(text)"}}}"#)
    }
    var random = SeededGenerator(seed: seed)
    var generator = OperationGenerator(seed: seed)
    var mirror = NaiveMirror()
    var received = try reader.watch()
    var granted: UInt64 = 16384
    for _ in 0..<60 {
      var events = [writer.message("op", writer.opBody(generator.ops(), #""if":{"any":true}"#))]
      if random.next() % 2 == 0 {
        granted += random.next() % 30_000
        events.append(reader.message("credit", #"{"upto":\#(granted)}"#))
      }
      received += try world.turn(events).filter { $0.connection == reader.connection }
    }
    received += try reader.send("credit", #"{"upto":9007199254740991}"#)
    for message in received { try mirror.apply(message) }
    let entry = try world.entry("kiosk")
    #expect(mirror.digest == entry.digest.text)
    #expect(UInt64(mirror.revision) == entry.revision.number)
  }

  @Test func `the history to resume from is limited in bytes`() throws {
    let world = World { $0.resumeBytes = 10_000 }
    let client = try world.kiosk()
    for index in 0..<30 {
      try client.must(
        #"{"screen.set":{"screen":"home","title":"\#(String(repeating: "x", count: 900))\#(index)"}}"#
      )
    }
    let ring = try world.entry("kiosk").ring
    #expect(ring.byteCount <= 10_000)
    #expect(ring.count > 1)
    #expect(ring.last == Revision(31))
  }

  @Test func `a diff beyond the message limit is a snapshot instead`() throws {
    let world = World { $0.maximumReplyBytes = 70_000 }
    let client = try world.kiosk(#","flow":"none""#)
    try client.watch()
    let text = String(repeating: "x", count: 30_000)
    let records = ["a", "b", "c"].map { #"{"id":"\#($0)","args":"\#(text)"}"# }
    for record in records { try client.must(#"{"screen.create":\#(record)}"#) }
    let replies = try client.send(
      "op",
      client.opBody(#"{"setStack":{"screens":["home","a","b","c"]}}"#, #""if":{"any":true}"#))
    #expect(replies.last?.verb == .ok)
    #expect(replies.dropLast().allSatisfy { $0.verb == .snap })
    #expect(replies.first?.json["why"] as? String == "size")
    var mirror = NaiveMirror()
    for message in replies { try mirror.apply(message) }
    #expect(mirror.ids == ["home", "a", "b", "c"])
  }

  @Test func `the state of a nav is limited`() throws {
    let world = World { $0.nav.stateBytes = 100_000 }
    let client = try world.kiosk()
    let text = String(repeating: "x", count: 60_000)
    try client.must(#"{"push":{"screen":{"id":"a","args":"\#(text)"}}}"#)
    let before = try world.standing("kiosk")
    let error = try client.op(#"{"push":{"screen":{"id":"b","args":"\#(text)"}}}"#)
    #expect(error.code == "limit")
    #expect(error.json["reason"] as? String == "size")
    #expect(try world.standing("kiosk") == before)
  }

  @Test func `detached records beyond the limit are released, oldest first, in a replay too`()
    throws
  {
    let world = World { $0.nav.detachedRecords = 2 }
    let client = try world.kiosk()
    for id in ["a", "b", "c"] { try client.must(#"{"screen.create":{"id":"\#(id)"}}"#) }
    #expect(try world.entry("kiosk").controller.detachedScreens.map(\.id.text) == ["b", "c"])
    #expect(try client.op(#"{"push":{"screen":"a"}}"#).code == "unknown-screen")
    try world.restart()
    #expect(try world.entry("kiosk").controller.detachedScreens.map(\.id.text) == ["b", "c"])
  }

  @Test func `after pruning and a restart the floor is the oldest snapshot`() throws {
    let world = World { $0.snapshotEvery = 4 }
    let client = try world.kiosk()
    for index in 0..<10 { try client.must(#"{"push":{"screen":{"id":"s\#(index)"}}}"#) }
    let newest = try #require(world.journal.snapshots.last)
    #expect(newest.revision == 9)
    world.journal.snapshots = [newest]
    world.journal.rows.removeAll { $0.sequence <= newest.sequence }
    try world.restart()
    #expect(try client.get("state", #""at":8"#).json["floor"] as? Int == 9)
    for revision in 9...11 {
      let value = try client.get("state", #""at":\#(revision)"#).json["value"] as? [String: Any]
      #expect(value?["rev"] as? Int == revision)
    }
    #expect(try client.get("verify").text.contains(#""ok":true"#))
  }

  @Test func `an op without a session is remembered like any other`() throws {
    let world = World()
    _ = try world.kiosk()
    let tool = Client(world, 3)
    let body = tool.opBody(
      #"{"push":{"screen":{"id":"a"}}}"#, #""client":"\#(tool.client)","name":"tool""#)
    let reply = try tool.ask("op", body)
    #expect(reply.verb == .ok)
    try world.restart()
    #expect(try tool.ask("op", body).text == reply.text)
    #expect(try world.entry("kiosk").revision == Revision(2))
  }

  @Test func `two that pop the same screen pop it once`() throws {
    let world = World()
    let first = try world.kiosk()
    let second = try world.client(2)
    try first.must(#"{"push":{"screen":{"id":"a"}}},{"push":{"screen":{"id":"b"}}}"#)
    let replies = try world.turn(
      [first, second].map {
        $0.message("op", $0.opBody(#"{"pop":{}}"#, #""if":{"top":"b"}"#))
      })
    #expect(replies.map(\.verb) == [.ok, .err])
    #expect(replies[1].code == "desync")
    #expect(replies[1].json["top"] as? String == "a")
    #expect(try world.entry("kiosk").controller.stack.map(\.id.text) == ["home", "a"])
  }

  @Test func `an edit of a detached screen is a revision without changes`() throws {
    let world = World()
    let client = try world.kiosk()
    try client.watch()
    try client.must(#"{"screen.create":{"id":"old"}}"#)
    let replies = try client.send(
      "op", client.opBody(#"{"item.set":{"screen":"old","title":"x"}}"#))
    #expect(replies.map(\.verb) == [.diff, .ok])
    #expect((replies[0].json["ch"] as? [Any])?.isEmpty == true)
    #expect(replies[0].json["resolved"] == nil)
    #expect(
      replies[0].json["dig"] as? String == (try world.entry("kiosk").digest.text))
  }

  @Test func `the same events give the same bytes`() throws {
    func run() throws -> [String] {
      let world = World()
      let client = try world.kiosk()
      try client.watch()
      var generator = OperationGenerator(seed: 5)
      for _ in 0..<50 { try client.op(generator.ops(), #""if":{"any":true}"#) }
      return world.sent.map(\.text)
    }
    #expect(try run() == run())
  }
}
