import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

@Suite struct ReadTests {
  @Test func `the log tells every revision, oldest first, and who made it`() throws {
    let world = World()
    let client = try world.kiosk()
    world.advance(5)
    let digest = try world.entry("kiosk").digest.text
    try client.must(#"{"push":{"screen":{"id":"a"}}}"#)
    try client.must(#"{"pop":{}}"#, #""if":{"any":true}"#)
    let reply = try client.get("log")
    #expect(reply.json["floor"] as? Int == 1)
    #expect(reply.revision == 3)
    let log = try #require(reply.json["value"] as? [[String: Any]])
    #expect(log.map { $0["rev"] as? Int } == [1, 2, 3])
    #expect(log[1]["before"] as? String == digest)
    #expect(log[1]["t"] as? UInt64 == world.now.wall)
    #expect(log[1]["do"] as? [String] == ["push"])
    #expect(log[1]["cause"] as? String == "api")
    let by = try #require(log[1]["by"] as? [String: Any])
    #expect(by["name"] as? String == "c1" && by["op"] as? Int == 2 && by["pid"] as? Int == 4711)
    #expect(by["principal"] as? String == "uid:1000")
    #expect(by["client"] == nil)
    #expect(log[1]["override"] == nil)
    #expect(log[2]["override"] as? Bool == true)
    #expect(log[2]["dig"] as? String == (try world.entry("kiosk").digest.text))
    let part = try client.get("log", #""from":2,"limit":1"#)
    #expect((part.json["value"] as? [[String: Any]])?.map { $0["rev"] as? Int } == [2])
    for more in [#""limit":0"#, #""limit":1001"#] {
      #expect(try client.get("log", more).code == "invalid-argument")
    }
  }

  @Test(arguments: [1000, 5] as [UInt64])
  func `every older revision reads as it was`(snapshotEvery: UInt64) throws {
    let world = World { $0.snapshotEvery = snapshotEvery }
    let client = try world.kiosk()
    var generator = OperationGenerator(seed: 3)
    var states: [Int: [String]] = [:]
    func read(_ more: String) throws -> [String] {
      try ["state", "bar", "top"].map { what in
        let reply = try client.get(what, more)
        let value = try #require(reply.json["value"], "\(reply.text)")
        let data = try JSONSerialization.data(
          withJSONObject: value, options: [.sortedKeys, .fragmentsAllowed])
        return String(decoding: data, as: UTF8.self)
      }
    }
    for _ in 0..<120 {
      let revision = try world.entry("kiosk").revision.number
      states[Int(revision)] = try read("")
      try client.op(generator.ops(), #""if":{"any":true}"#)
      if generator.below(4) == 0 { try world.wait(1100) }
    }
    #expect(states.count > 20)
    for (revision, state) in states { #expect(try read(#""at":\#(revision)"#) == state) }
    try world.restart()
    for (revision, state) in states { #expect(try read(#""at":\#(revision)"#) == state) }
  }

  @Test func `what retention took cannot be read`() throws {
    let world = World()
    let client = try world.kiosk()
    for index in 0..<5 { try client.must(#"{"push":{"screen":{"id":"s\#(index)"}}}"#) }
    try world.turn([.historyPruned(nav: 1, oldestRevision: 4)])
    let error = try client.get("state", #""at":3"#)
    #expect(error.code == "compacted")
    #expect(error.json["floor"] as? Int == 4)
    #expect(try client.get("log", #""from":3"#).code == "compacted")
    #expect(try client.get("log").json["floor"] as? Int == 4)
    #expect(try client.get("state", #""at":4"#).verb == .ok)
  }

  @Test func `a history that cannot be read is a storage error`() throws {
    let world = World()
    world.holdsHistory = true
    let client = try world.kiosk()
    try client.must(#"{"push":{"screen":{"id":"a"}}}"#)
    try client.send("get", #"{"id":50,"nav":"kiosk","at":1}"#)
    let token = try #require(world.requests.first).token
    let replies = try world.turn([.history(HistoryAnswer(token: token, failure: "gone"))])
    #expect(replies.map(\.code) == ["storage"])
    #expect(replies[0].id == 50)
    #expect(world.notices.count == 1)
    // The same answer twice, or one that nobody asked for, is nothing.
    #expect(try world.turn([.history(HistoryAnswer(token: token))]).isEmpty)
  }

  @Test func `reads that wait are limited`() throws {
    let world = World { $0.inflight = 3 }
    world.holdsHistory = true
    let client = try world.kiosk()
    for index in 0..<3 {
      try client.send("get", #"{"id":\#(50 + index),"nav":"kiosk","what":"log"}"#)
    }
    #expect(try client.get("log").code == "busy")
    // The shell gets two of them at a time.
    let answers = try (0..<2).flatMap { _ in try world.answerHistory().map(\.id) }
    #expect(answers == [50, 51, 52])
  }

  @Test func `verify finds nothing wrong, and finds what is wrong`() throws {
    let world = World()
    let client = try world.kiosk()
    let reply = try client.get("verify")
    let value = try #require(reply.json["value"] as? [String: Any])
    #expect(value["ok"] as? Bool == true)
    #expect(value["dig"] as? String == (try world.entry("kiosk").digest.text))
    let slot = try #require(world.hub.navs.slot(of: "kiosk"))
    world.hub.navs[slot].digest = Digest(checksum: 1, chain: 0)
    let broken = try #require(try client.get("verify").json["value"] as? [String: Any])
    #expect(broken["ok"] as? Bool == false)
    #expect((broken["violated"] as? [String])?.count == 1)
  }

  @Test func `stats tell of a nav and of the daemon`() throws {
    let world = World()
    let client = try world.kiosk()
    try client.watch()
    let nav = try #require(try client.get("stats").json["value"] as? [String: Any])
    #expect(nav["owner"] as? String == "uid:1000")
    #expect(nav["depth"] as? Int == 1 && nav["watches"] as? Int == 1 && nav["floor"] as? Int == 1)
    let daemon = try #require(try client.get("stats", nav: nil).json["value"] as? [String: Any])
    #expect(daemon["navs"] as? Int == 1 && daemon["sessions"] as? Int == 1)
    #expect(daemon["seq"] as? Int == 1)
    #expect(daemon["boot"] as? String == world.hub.boot.text)
  }

  @Test func `the bytes counted for resuming are those of the rings`() throws {
    let world = World {
      $0.resumeRevisions = 5
      $0.resumeTotalBytes = 3000
    }
    let client = try world.kiosk()
    let other = #"{"nav.create":{"root":{"id":"x"}}}"#
    try client.must(other, nav: "other")
    try client.watch(nav: "$navs")
    var generator = OperationGenerator(seed: 9)
    func expectCount() {
      let sum = world.hub.navs.indices.map { world.hub.navs[$0].ring.byteCount }.reduce(
        0, +)
      #expect(world.hub.navs.ringBytes == sum)
      #expect(sum <= 3000)
    }
    for round in 0..<60 {
      world.journal.isFailing = round % 7 == 3
      try world.turn(
        (0..<3).map { _ in
          client.message(
            "op",
            client.opBody(
              generator.ops(), nav: generator.pick(["kiosk", "other"]), #""if":{"any":true}"#))
        })
      if round % 10 == 9 {
        try client.op(#"{"nav.close":{}}"#, nav: "other", #""if":{"any":true}"#)
        try client.op(other, nav: "other")
      }
      expectCount()
    }
    world.journal.isFailing = false
    try world.restart()
    expectCount()
    try world.restart(renewsEpochs: true)
    expectCount()
  }

  @Test func `detached records and single screens can be read`() throws {
    let world = World()
    let client = try world.kiosk()
    try client.must(
      #"{"screen.create":{"id":"old","title":"O"}},{"button.create":{"id":"b","title":"B"}}"#)
    let reply = try client.get("detached")
    #expect(
      reply.text.hasSuffix(
        #""value":{"screens":[{"id":"old","ver":2,"title":"O"}],"buttons":[{"id":"b","title":"B"}]}}"#
      ))
    #expect(
      try client.get("screen", #""screen":"old""#).text.hasSuffix(
        #""value":{"id":"old","ver":2,"title":"O"}}"#))
    #expect(
      try client.get("screen", #""screen":"home""#).text.hasSuffix(
        #""value":{"id":"home","ver":1,"title":"Home"}}"#))
    #expect(try client.get("screen").code == "invalid-argument")
    #expect(try client.get("screen", #""screen":"home","at":1"#).code == "invalid-argument")
  }

  @Test func `a reply that is too large is refused`() throws {
    let world = World { $0.nav.stackDepth = 64 }
    let client = try world.kiosk()
    let text = String(repeating: "x", count: 60_000)
    for index in 0..<5 {
      try client.must(#"{"push":{"screen":{"id":"s\#(index)","args":"\#(text)"}}}"#)
    }
    let error = try client.get("state")
    #expect(error.code == "limit")
    #expect(error.json["reason"] as? String == "size")
    #expect(try client.get("state", #""at":6"#).code == "limit")
    #expect(try client.get("top").verb == .ok)
  }
}
