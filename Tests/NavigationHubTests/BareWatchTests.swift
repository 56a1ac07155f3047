import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

/// Watches that leave out what the bar shows.
@Suite struct BareWatchTests {
  private static let bare = #""resolved":false"#

  /// A message's body as another watch gets it: without `resolved`, in it and in its diffs.
  private func stripped(_ sent: Sent) throws -> NSDictionary {
    var json = sent.json
    json["resolved"] = nil
    if let list = json["list"] as? [[String: Any]] {
      json["list"] = list.map { $0.filter { $0.key != "resolved" } }
    }
    return json as NSDictionary
  }

  private func isTold(_ sent: Sent) -> Bool { sent.text.contains(#""resolved":"#) }

  /// Changes of every kind that a client's op can cause on a bar.
  private static let ops = [
    WatchTests.push("a", #","title":"Ä \"resolved\":{} ,""#), WatchTests.push("b"),
    #"{"pop":{}}"#, #"{"bar.set":{"barTintColor":"red"}}"#, #"{"popToRoot":{}}"#,
    WatchTests.push("c", #","args":{"resolved":{"x":[1]}}"#),
  ]

  @Test func `snapshots and diffs come without it, and with everything else`() throws {
    let world = World()
    let writer = try world.kiosk()
    let (full, bare) = (try world.client(2), try world.client(3))
    let snaps = (try full.watch(), try bare.watch(Self.bare))
    #expect(snaps.1.map(\.verb) == [.ok, .snap])
    #expect(isTold(snaps.0[1]) && !isTold(snaps.1[1]))
    #expect(try stripped(snaps.0[1]) == snaps.1[1].json as NSDictionary)
    for op in Self.ops {
      let sent = try world.turn([writer.message("op", writer.opBody(op, #""if":{"any":true}"#))])
      let diffs = [full, bare].map { client in
        sent.filter { $0.connection == client.connection && $0.verb == .diff }
      }
      let (whole, part) = (try #require(diffs[0].first), try #require(diffs[1].first))
      #expect(isTold(whole), "\(op)")
      #expect(part.json["resolved"] == nil && part.body.count < whole.body.count)
      #expect(try stripped(whole) == part.json as NSDictionary)
    }
  }

  @Test func `several diffs at once come without it too`() throws {
    let world = World()
    let writer = try world.kiosk()
    let (full, bare) = (try world.client(2), try world.client(3))
    try full.watch()
    try bare.watch(Self.bare)
    let sent = try world.turn(
      Self.ops.map { writer.message("op", writer.opBody($0, #""if":{"any":true}"#)) })
    let whole = try #require(sent.first { $0.connection == full.connection && $0.verb == .diffs })
    let part = try #require(sent.first { $0.connection == bare.connection && $0.verb == .diffs })
    #expect((part.json["list"] as? [Any])?.count == Self.ops.count)
    #expect(try stripped(whole) == part.json as NSDictionary)
    #expect(whole.body.count > 2 * part.body.count)
  }

  @Test func `a resume after a restart gets the same diffs`() throws {
    let world = World()
    let writer = try world.kiosk()
    let bare = try world.client(2)
    let entry = try world.entry("kiosk")
    let from =
      #""from":{"epoch":"\#(entry.epoch.text)","rev":\#(entry.revision.number),"dig":"\#(entry.digest.text)"}"#
    try bare.watch(Self.bare)
    var seen: [[UInt8]] = []
    for op in Self.ops {
      let sent = try world.turn([writer.message("op", writer.opBody(op, #""if":{"any":true}"#))])
      seen += sent.filter { $0.connection == bare.connection && $0.verb == .diff }.map(\.body)
    }
    try world.restart()
    let again = try world.client(4)
    let replies = try again.watch(Self.bare + "," + from)
    #expect(replies.map(\.verb) == [.ok, .diffs])
    let list = seen.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ",")
    #expect(replies[1].text == #"{"nav":"kiosk","list":[\#(list)]}"#)
  }

  @Test(arguments: [1, 2, 6])
  func `while no watch wants it, nothing has it, and a resume brings the present one once`(
    count: Int
  ) throws {
    let world = World()
    let writer = try world.kiosk()
    let bare = try world.client(2)
    try bare.watch(Self.bare)
    let before = try world.entry("kiosk")
    for op in Self.ops.prefix(count) { try writer.must(op, #""if":{"any":true}"#) }
    let kept = try world.entry("kiosk")
    #expect(kept.ring.byteCount > 0)
    for number in 1...UInt64(count) {
      let diff = kept.ring.diff(of: Revision(before.revision.number + number))
      let text = String(decoding: diff.bytes, as: UTF8.self)
      #expect(!diff.hasResolved && !text.contains(#""height":"#))
    }
    let rows = world.journal.rows.filter { $0.kind == .changed }
    #expect(rows.count == count)
    for row in rows { #expect(try !row.text.contains(#""height":"#)) }
    let from =
      #""from":{"epoch":"\#(before.epoch.text)","rev":\#(before.revision.number),"dig":"\#(before.digest.text)"}"#
    let replies = try world.client(3).watch(from)
    #expect(replies.map(\.verb) == [.ok, count == 1 ? .diff : .diffs])
    let json = replies[1].json
    let list = json["list"] as? [[String: Any]] ?? [json]
    #expect(list.map { $0["resolved"] != nil } == (1...count).map { $0 == count })
    let bar = String(decoding: kept.controller.encodedBar, as: UTF8.self)
    #expect(replies[1].text.contains(#","resolved":\#(bar),"ev":"#))
    // A second resume shares the diff, and a later one finds it.
    #expect(try world.client(4).watch(from)[1].body == replies[1].body)
    let entry = try world.entry("kiosk")
    #expect(entry.ring.byteCount > kept.ring.byteCount)
    #expect(world.hub.navs.ringBytes == entry.ring.byteCount)
    #expect(
      try stripped(try world.client(5).watch(Self.bare + "," + from)[1]) == stripped(replies[1]))
  }

  @Test func `while a watch wants it, another that resumes repeats no bar that did not change`()
    throws
  {
    let world = World()
    let writer = try world.kiosk()
    let first = try world.client(2)
    try first.watch()
    let before = try world.entry("kiosk")
    let from =
      #""from":{"epoch":"\#(before.epoch.text)","rev":\#(before.revision.number),"dig":"\#(before.digest.text)"}"#
    let second = try world.client(3)
    let sent = try world.turn([
      writer.message("op", writer.opBody(#"{"nav.configure":{"queue":3}}"#)),
      second.message("watch", #"{"id":900,"nav":"kiosk",\#(from)}"#),
    ])
    for client in [first, second] {
      let diff = try #require(
        sent.first { $0.connection == client.connection && $0.verb == .diff })
      #expect(!isTold(diff))
    }
    // What the watches got is what is verified.
    #expect(try first.get("verify").text.contains(#""ok":true"#))
  }

  @Test func `a commit that changes the transition alone cannot change it`() {
    var commit = Commit(revision: Revision(9))
    commit.parts = [.transition]
    #expect(!commit.mayChangeBar)
    for part in PartName.allCases where part != .transition {
      commit.parts = [.transition, part]
      #expect(commit.mayChangeBar)
    }
  }

  @Test func `another watch of the nav changes what is left out`() throws {
    let world = World()
    let client = try world.kiosk()
    #expect(isTold(try client.watch()[1]))
    #expect(!isTold(try client.watch(Self.bare)[1]))
    #expect(!isTold(try client.send("op", client.opBody(WatchTests.push("a")))[0]))
    #expect(isTold(try client.watch(#""resolved":true"#)[1]))
    #expect(isTold(try client.send("op", client.opBody(WatchTests.push("b")))[0]))
  }

  @Test(arguments: [
    #""view":"bar","resolved":false"#, #""view":"top","resolved":true"#, #""resolved":0"#,
    #""resolved":"no""#,
  ]) func `it goes with a full view and is true or false`(more: String) throws {
    let world = World()
    let client = try world.kiosk()
    let reply = try client.watch(more)[0]
    #expect(reply.verb == .err && reply.json["code"] as? String == "invalid-argument")
    #expect(reply.text.contains("resolved"))
  }

  @Test func `a virtual nav has none to leave out`() throws {
    let world = World()
    let client = try world.kiosk()
    let replies = try client.watch(nav: "$navs", Self.bare)
    #expect(replies.map(\.verb) == [.ok, .snap])
  }
}
