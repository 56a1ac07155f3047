import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

@testable import NavigationClient

// Rules that a caller with another picture of the nav breaks, and limits.

extension DesyncRow {
  static let rules: [DesyncRow] = [
    DesyncRow("popping to a screen that is gone pops nothing") {
      let stage = try Stage(["A", "B", "C"])
      try stage.done(#"{"popTo":{"screen":"A"}}"#, by: stage.viewer)
      let error = try stage.refused(
        .notInStack, #"{"popTo":{"screen":"B"}}"#, #""animated":false"#)
      #expect(error["retry"] as? String == "resync")
    },
    DesyncRow("a route that several screens have is the topmost, or refused") {
      let stage = try Stage(["A"])
      for id in ["B", "C", "D"] {
        try stage.done(#"{"push":{"screen":{"id":"\#(id)","route":"\#(id == "D" ? "d" : "r")"}}}"#)
      }
      let error = try stage.refused(
        .invalidArgument, #"{"popTo":{"route":"r","match":"unique"}}"#)
      #expect(error["candidates"] as? [String] == ["B", "C"])
      try stage.done(#"{"popTo":{"route":"r","match":"top"}}"#)
      #expect(stage.stack == ["A", "B", "C"])
      try stage.done(#"{"popTo":{"screen":"B"}}"#)
      try stage.done(#"{"push":{"screen":{"id":"E"}}},{"popTo":{"route":"r","match":"unique"}}"#)
      #expect(stage.stack == ["A", "B"])
    },
    DesyncRow("an edit of a popped screen is a revision that shows nothing") {
      let stage = try Stage(["A", "B"])
      try stage.done(Stage.pop)
      let sent = try stage.done(#"{"item.set":{"screen":"B","title":"T"}}"#)
      #expect((sent.diffs.first?["ch"] as? [Any])?.isEmpty == true)
      #expect(sent.diffs.first?["resolved"] == nil)
      #expect(sent.story == [[]])
      try stage.refused(
        .notInStack, #"{"item.set":{"screen":"B","title":"U","requireOnStack":true}}"#)
      // It was not lost.
      let back = try stage.done(#"{"push":{"screen":"B"}}"#)
      #expect(back[0].text.contains(#""item":{"title":"T"}"#))
    },
    DesyncRow("a screen of another nav is unknown, a presented one is taken") {
      let stage = try Stage(["A", "B"])
      try stage.owner.must(#"{"nav.create":{"root":{"id":"Z"}}},{"attach":{}}"#, nav: "other")
      try stage.refused(.unknownScreen, #"{"push":{"screen":"Z"}}"#)
      try stage.refused(.unknownScreen, Stage.setStack("A", "Z"))
      try stage.done(Stage.present("M"))
      try stage.refused(.ownedElsewhere, #"{"push":{"screen":"M"}}"#)
      try stage.refused(.ownedElsewhere, Stage.setStack("A", "M"))
    },
    DesyncRow("a replacement computed from an older stack is refused") {
      let stage = try Stage(["A", "B"])
      let seen = stage.revision
      try stage.done(Stage.push("C"), by: stage.viewer)
      try stage.refused(
        .desync, Stage.setStack("B", "A"), Stage.guarded("rev", "\(seen)"), reason: "rev")
      try stage.refused(
        .desync, Stage.setStack("B", "A"), Stage.guarded("stack", #"["A","B"]"#), reason: "stack")
      for more in ["\"animated\":true", Stage.guarded(top: "C"), Stage.guarded("depth", "3")] {
        try stage.refused(.guardRequired, Stage.setStack("B", "A"), more)
      }
      try stage.done(Stage.setStack("B", "A"), Stage.guarded("rev", "\(stage.revision)"))
      #expect(stage.stack == ["B", "A"])
    },
    DesyncRow("a replacement does not bring back what a user has just popped") {
      let stage = try Stage(["A", "B", "C"])
      let (revision, digest) = (stage.revision, stage.digest)
      try stage.done(#"{"ui.backTap":{}}"#, Stage.guarded(top: "C"), by: stage.viewer)
      for (member, value, reason) in [
        ("rev", "\(revision)", "rev"), ("dig", "\"\(digest)\"", "digest"),
        ("stack", #"["A","B","C"]"#, "stack"),
      ] {
        try stage.refused(
          .desync, Stage.setStack("A", "C"), Stage.guarded(member, value), reason: reason)
      }
      #expect(stage.stack == ["A", "B"])
    },
    DesyncRow("a button is on one side only: the first one wins") {
      let stage = try Stage(["A"])
      try stage.done(#"{"button.create":{"id":"x","title":"X"}}"#)
      try stage.done(#"{"item.set":{"screen":"A","leftItems":["x"]}}"#)
      try stage.refused(
        .itemBothSides, #"{"item.set":{"screen":"A","rightItems":["x"]}}"#, by: stage.viewer)
      try stage.done(#"{"item.set":{"screen":"A","leftItems":[],"rightItems":["x"]}}"#)
    },
    DesyncRow("only the holder of the display says what the display is like") {
      let stage = try Stage(["A", "B"])
      let other = try stage.world.client(2)
      try stage.lease(stage.owner)
      let error = try stage.refused(.leaseLost, #"{"env.set":{"vCompact":true}}"#, by: other)
      #expect(error["owner"] as? String == "c1")
      try stage.refused(.leaseLost, Stage.begin, by: other)
      try stage.done(#"{"env.set":{"vCompact":true}}"#)
      try stage.world.turn([.closed(stage.owner.connection)])
      try other.must(#"{"env.set":{"vCompact":false}}"#)
    },
    DesyncRow("one wrong op of a batch refuses all of it, and is named") {
      let stage = try Stage(["A", "B"])
      let right = [Stage.push("C"), #"{"bar.set":{"barStyle":"black"}}"#, Stage.pop]
      for index in 0...right.count {
        var ops = right
        ops.insert(#"{"push":{"screen":"A"}}"#, at: index)
        let error = try stage.refused(.duplicateScreen, ops.joined(separator: ","))
        #expect(error["index"] as? Int == index)
      }
    },
    DesyncRow("a stack whose screens were released does not come back") {
      let stage = try Stage(["A"])
      for id in ["B", "C"] { try stage.done(Stage.push(id)) }
      let revision = stage.revision
      try stage.done(#"{"popToRoot":{}}"#)
      for id in ["B", "C"] { try stage.done(#"{"screen.release":{"screen":"\#(id)"}}"#) }
      let error = try stage.refused(
        .restoreFailed, #"{"revert":{"rev":\#(revision)}}"#,
        Stage.guarded("rev", "\(stage.revision)"))
      #expect(error["missing"] as? [String] == ["B", "C"])
    },
    DesyncRow("what was saved by a newer program, or twice under one path, is not restored") {
      let stage = try Stage(["A"])
      let entry = #"{"path":"n/r#0","screen":{"id":"R"}}"#
      for payload in [
        #"{"v":2,"entries":[\#(entry)]}"#, #"{"v":1,"entries":[\#(entry),\#(entry)]}"#,
        #"{"entries":[\#(entry)]}"#, #"{"v":1,"entries":7}"#, "[]", "7",
      ] {
        try stage.refused(
          .restoreFailed, #"{"restore":{"payload":\#(payload)}}"#,
          Stage.guarded("rev", "\(stage.revision)"))
      }
    },
    DesyncRow("who presents already does not present a second screen") {
      let stage = try Stage(["A", "B"])
      try stage.done(Stage.present("M"))
      try stage.refused(.alreadyPresenting, #"{"present":{"screen":{"id":"N"},"from":"B"}}"#)
      try stage.refused(.alreadyActive, #"{"present":{"screen":"A"}}"#)
      try stage.done(#"{"present":{"screen":{"id":"N"},"from":"M"}}"#)
    },
  ]

  static let limits: [DesyncRow] = [
    DesyncRow("a watch that is too slow gets one snapshot, and delays nobody") {
      let world = World { $0.resumeRevisions = 8 }
      let owner = try world.kiosk()
      let slow = try world.client(2, #","window":16384"#)
      try slow.watch()
      let text = String(repeating: "x", count: 4000)
      var got = 0
      for number in 0..<40 {
        let sent = try world.turn([
          owner.message(
            "op", owner.opBody(#"{"screen.set":{"screen":"home","title":"\#(number)\#(text)"}}"#))
        ])
        #expect(sent.to(owner).map(\.verb) == [.ok])
        got += sent.to(slow).count
      }
      #expect(got < 10)
      let sent = try slow.send("credit", #"{"upto":1000000}"#)
      #expect(sent.map(\.verb) == [.snap])
      #expect(sent[0].json["why"] as? String == "lag")
      #expect(sent[0].revision == 41)
      try owner.must(Stage.push("x"))
      #expect(world.sent.filter { $0.connection == slow.connection }.last?.verb == .diff)
    },
    DesyncRow("revisions out of the history are a snapshot, or compacted") {
      let world = World { $0.resumeRevisions = 4 }
      let owner = try world.kiosk()
      let entry = try world.entry("kiosk")
      let from =
        #""from":{"epoch":"\#(entry.epoch.text)","rev":1,"dig":"\#(entry.digest.text)"}"#
      for number in 0..<10 { try owner.must(Stage.push("s-\(number)")) }
      let replies = try owner.watch(from)
      #expect(replies.map(\.verb) == [.ok, .snap])
      #expect(replies[0].json["why"] as? String == "lag")
      try world.turn([.historyPruned(nav: entry.number, oldestRevision: 6)])
      let before = try world.standing("kiosk")
      let error = try owner.get("state", #""at":5"#)
      #expect(error.code == "compacted")
      #expect(error.json["floor"] as? Int == 6)
      #expect(try owner.get("state", #""at":6"#).verb == .ok)
      #expect(try world.standing("kiosk") == before)
    },
    DesyncRow("a clock that jumps changes no order and no deadline") {
      let stage = try Stage(["A"])
      let follower = try Follower.synced(stage.world)
      _ = try stage.animate("B")
      for jump: Int64 in [-1_000_000_000, 5_000_000_000, -3] {
        stage.world.now.wall = UInt64(Int64(stage.world.now.wall) + jump)
        try stage.same { () throws in #expect(try stage.world.wait(100).isEmpty) }
        try stage.done(#"{"screen.set":{"screen":"A","title":"\#(jump)"}}"#)
      }
      try follower.sync()
      #expect(try follower.agrees())
      #expect(!stage.isIdle)
      try stage.world.wait(700)
      #expect(stage.isIdle)
      // Later the log is in the order of revisions, whatever its times say.
      let log = try stage.owner.get("log")
      let list = try #require(log.json["value"] as? [[String: Any]])
      let revisions = list.compactMap { $0["rev"] as? Int }
      #expect(revisions == Array(1...stage.revision))
      try stage.world.restart()
      #expect(stage.revision == revisions.last)
    },
    DesyncRow("a state that breaks an invariant is never published, and the nav is frozen") {
      var inspections = Inspections()
      inspections.stateInspection = { $0.stack.contains { $0.id.text == "bug" } ? ["planted"] : [] }
      let world = World(inspections: inspections)
      let stage = try Stage(world: world)
      try stage.delegate(stage.owner, "animator")
      let follower = try Follower.synced(stage.world)
      try stage.refused(.internal, Stage.push("C") + "," + Stage.push("bug"))
      #expect(world.notices.contains { $0.level == .warning && $0.text.contains("frozen") })
      for ops in [Stage.push("C"), Stage.pop, #"{"env.set":{"vCompact":true}}"#] {
        #expect(try stage.refused(.frozen, ops)["after"] is Int)
      }
      try stage.same { () throws in
        #expect(try stage.lease(stage.owner).code == "frozen")
        try world.wait(100_000)
      }
      // It can be read, and followed.
      #expect(try stage.owner.get("state").verb == .ok)
      #expect(try stage.owner.get("log").verb == .ok)
      #expect(try stage.owner.watch().map(\.verb) == [.ok, .snap])
      try follower.sync()
      #expect(try follower.agrees())
      // Other navs go on; a restart that finds it sound serves it, and it can be closed.
      try stage.owner.must(#"{"nav.create":{"root":{"id":"Z"}}}"#, nav: "other")
      try world.restart()
      try stage.owner.hello()
      try stage.owner.must(Stage.push("C"))
      try stage.refused(.internal, #"{"push":{"screen":{"id":"bug"}}}"#)
      try stage.owner.must(#"{"nav.close":{}}"#, Stage.any)
    },
    DesyncRow("who speaks another version has no session") {
      let stage = try Stage()
      try stage.same { () throws in
        let client = Client(stage.world, 5)
        let error = try client.ask(
          "hello", #"{"ver":[2,4],"client":"\#(client.client)","nonce":"q"}"#)
        #expect(error.code == "version")
        #expect(error.json["have"] as? [Int] == [1, 1])
        #expect(error.json["nonce"] as? String == "q")
        #expect(try client.watch().map(\.code) == ["no-session"])
        let other = try stage.world.turn([client.message(frame: "nsp7.hello", "")])
        #expect(other.codes == ["version"])
      }
    },
    DesyncRow("what cannot be written is refused, and reads go on") {
      let stage = try Stage()
      let follower = try Follower.synced(stage.world)
      stage.world.journal.isFailing = true
      let body = stage.owner.opBody(Stage.push("C"), Stage.any)
      try stage.same { () throws in
        let error = try stage.owner.ask("op", body)
        #expect(error.code == "storage")
        #expect(error.json["retry"] as? String == "later")
        #expect(error.json["after"] is Int)
        #expect(try stage.owner.get("state").verb == .ok)
        #expect(try stage.owner.watch().map(\.verb) == [.ok, .snap])
        #expect(try stage.owner.op(#"{"attach":{}}"#).json["changed"] as? Bool == false)
      }
      try follower.sync()
      #expect(try follower.agrees())
      stage.world.journal.isFailing = false
      try stage.world.wait(1000)
      // The same octets, once there is room.
      #expect(try stage.owner.ask("op", body).verb == .ok)
      #expect(stage.stack == ["A", "B", "C"])
    },
  ]
}
