import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

/// `get` `diffs`: the history with its contents; and `get` `refusals`.
@Suite struct DiffsTests {
  private typealias Object = [String: Any]

  /// All entries of a nav, page by page.
  private static func entries(
    _ client: Client, nav: String = "kiosk", limit: Int = 100
  ) throws -> [Object] {
    var (entries, from): ([Object], Int?) = ([], nil)
    while true {
      let more = from.map { #","from":\#($0)"# } ?? ""
      let answer = try client.get("diffs", nav: nav, #""limit":\#(limit)"# + more)
      let page = try #require(answer.json["value"] as? [Object])
      #expect(answer.json["floor"] as? Int != nil)
      entries += page
      let newest = try #require(answer.revision)
      let last = try #require(page.last?["rev"] as? Int)
      if let next = answer.json["next"] as? Int {
        #expect(next == last + 1 && !page.isEmpty)
        from = next
      } else if last < newest {
        from = last + 1
      } else {
        return entries
      }
    }
  }

  /// Replays entries as a client does; an issue where a digest is not the recorded one.
  private static func replay(_ entries: [Object]) throws -> NaiveMirror {
    var mirror = NaiveMirror()
    for entry in entries {
      let digest = try #require(entry["dig"] as? String)
      let revision = try #require(entry["rev"] as? Int)
      if let state = entry["state"] as? Object {
        mirror.screens = try #require(state["screens"] as? [Object])
        for name in NaiveMirror.names { mirror.parts[name] = try #require(state[name] as? Object) }
      } else {
        try mirror.take(try #require(entry["ch"] as? [Object]))
      }
      mirror.digest = digest
      #expect(digest.hasPrefix(mirror.checksum), "rev \(revision)")
    }
    return mirror
  }

  @Test(arguments: UInt64(1)...3)
  func `a client that replays the entries has the state, and each digest proves it`(seed: UInt64)
    throws
  {
    let world = World()
    let client = try world.kiosk()
    var random = SeededGenerator(seed: seed)
    for step in 0..<60 {
      let any = #""if":{"any":true}"#
      switch random.next() % 5 {
      case 0: _ = try client.op(#"{"pop":{}}"#, any)
      case 1: _ = try client.op(#"{"screen.set":{"screen":"home","title":"T\#(step)"}}"#, any)
      case 2: _ = try client.op(#"{"nav.configure":{"hidesBarsOnTap":\#(step % 2 == 0)}}"#, any)
      default: _ = try client.op(SealTests.push("s\(step)x"), any)
      }
    }
    let entries = try Self.entries(client)
    #expect(entries.first?["kind"] as? String == "created")
    let mirror = try Self.replay(entries)
    #expect(mirror.digest == (try world.entry("kiosk").digest.text))
    let log = try #require(
      try client.get("log", nav: "kiosk", #""limit":1000"#).json["value"] as? [Object])
    #expect(log.count == entries.count)
    for (entry, line) in zip(entries, log) {
      let same = entry.filter { line.keys.contains($0.key) }
      #expect(same as NSDictionary == line as NSDictionary)
    }
    for limit in [1, 7] { #expect(try Self.entries(client, limit: limit).count == entries.count) }
  }

  @Test func `a list ends where an answer would be too large, and goes on at next`() throws {
    let world = World { $0.maximumReplyBytes = 20_000 }
    let client = try world.kiosk()
    let any = #""if":{"any":true}"#
    for step in 0..<12 {
      let text = String(repeating: "t", count: 3000)
      try client.must(#"{"screen.set":{"screen":"home","title":"\#(step)\#(text)"}}"#, any)
    }
    let first = try client.get("diffs")
    let page = try #require(first.json["value"] as? [Object])
    #expect(first.body.count <= 20_000 && page.count < 12)
    #expect(first.json["next"] as? Int == page.count + 1)
    let entries = try Self.entries(client)
    #expect(entries.map { $0["rev"] as? Int } == (1...13).map { $0 })
    _ = try Self.replay(entries)
    let large = String(repeating: "t", count: 11_000)
    try client.must(#"{"screen.set":{"screen":"home","title":"\#(large)"}}"#, any)
    let last = try #require(try Self.entries(client).last)
    #expect(last["omitted"] as? Bool == true && last["ch"] == nil && last["rev"] as? Int == 14)
  }

  @Test func `reports, new epochs and the first state are entries of their kinds`() throws {
    let world = World()
    let client = try world.kiosk()
    let position =
      #""bad":{"epoch":"\#(try world.entry("kiosk").epoch.text)","rev":1,"dig":"000000010000000000000000"}"#
    try client.watch(position)
    try client.must(SealTests.push("a"), #""if":{"any":true}"#)
    try world.restart(renewsEpochs: true)
    let again = try world.client(5)
    let entries = try Self.entries(again)
    #expect(entries.map { $0["kind"] as? String } == ["created", "report", "changed", "epoch"])
    #expect((entries[0]["state"] as? Object)?["kind"] as? String == "controller")
    #expect(entries[1]["bad"] != nil && entries[3]["epoch"] != nil)
    #expect(try again.get("diffs", nav: "$navs").code == "invalid-argument")
    #expect(try again.get("diffs", nav: "none").code == "no-nav")
  }

  @Test func `long texts of refused messages do not keep an administrator from reading the list`()
    throws
  {
    let world = World { $0.maximumReplyBytes = 20_000 }
    let client = try world.kiosk()
    let root = try world.client(9, user: 0)
    let long = String(repeating: "\\u0001", count: 3000)
    for _ in 0..<60 {
      #expect(try client.op(#"{"pop":{}}"#, #""if":{"\#(long)":1}"#).verb == .err)
    }
    let answer = try root.get("refusals", nav: nil)
    #expect(answer.verb == .ok && answer.body.count <= 20_000)
    let list = try #require(answer.json["value"] as? [Object])
    #expect(list.count > 3)
    for entry in list { #expect((entry["msg"] as? String).map { $0.utf8.count < 600 } == true) }
  }

  @Test func `reports at one revision do not end the list`() throws {
    let world = World { $0.maximumReplyBytes = 4_000 }
    let client = try world.kiosk()
    let epoch = try world.entry("kiosk").epoch.text
    for number in 0..<8 {
      let bad = #""bad":{"epoch":"\#(epoch)","rev":1,"dig":"0000000\#(number)"}"#
      try client.watch(bad)
    }
    try client.must(SealTests.push("a"), #""if":{"any":true}"#)
    #expect(try Self.entries(client).last?["rev"] as? Int == 2)
  }

  @Test func `refusals are kept for administrators, the last 256 of them`() throws {
    let world = World()
    let admin = try world.client(9, user: 0)
    let client = try world.kiosk()
    #expect(try client.op(#"{"pop":{}}"#).code == "guard-required")
    #expect(try client.op(#"{"pop":{}}"#, #""dry":true"#).code == "guard-required")
    #expect(try client.get("state", nav: "none").code == "no-nav")
    #expect(try client.get("refusals", nav: nil).code == "forbidden")
    let list = try #require(try admin.get("refusals", nav: nil).json["value"] as? [Object])
    #expect(list.map { $0["code"] as? String } == ["guard-required", "no-nav", "forbidden"])
    #expect(list[0]["do"] as? [String] == ["pop"] && list[0]["nav"] as? String == "kiosk")
    let by = try #require(list[0]["by"] as? Object)
    #expect(by["principal"] as? String == "uid:1000" && by["name"] as? String == "c1")
    #expect(by["pid"] as? Int == 4711 && list[0]["t"] as? UInt64 == world.now.wall)
    for _ in 0..<300 { _ = try client.op(#"{"pop":{}}"#) }
    let last = try #require(try admin.get("refusals", nav: nil).json["value"] as? [Object])
    #expect(last.count == Refusals.limit)
    let ids = last.compactMap { $0["id"] as? Int }
    #expect(ids == ids.sorted() && Set(ids).count == Refusals.limit)
  }

  @Test func `a batch that is rolled back leaves one note of each refusal`() throws {
    let world = World()
    let admin = try world.client(9, user: 0)
    let client = try world.kiosk()
    world.journal.isFailing = true
    try world.turn([
      client.message("op", client.opBody(SealTests.push("a"), #""if":{"any":true}"#)),
      client.message("op", client.opBody(#"{"pop":{}}"#)),
    ])
    world.journal.isFailing = false
    let list = try #require(try admin.get("refusals", nav: nil).json["value"] as? [Object])
    #expect(list.count == 2)
  }
}
