import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

@testable import NavigationClient

// Mirrors: what is lost, doubled, reordered or damaged on the way to them.

extension DesyncRow {
  static let mirrors: [DesyncRow] = [
    DesyncRow("a lost diff is noticed by the next one, and the mirror resumes") {
      let stage = try Stage()
      let follower = try Follower.synced(stage.world)
      try stage.done(Stage.push("C"))
      try follower.sync { $0.verb == .diff }
      let before = follower.mirror
      try stage.done(Stage.push("D"))
      for message in follower.pending() { try follower.deliver(message) }
      // It has asked, and is what it was until the answer is there.
      #expect(follower.mirror == before)
      #expect(!follower.isSynced)
      #expect(try follower.operate(Stage.pop, .top) == nil)
      let watch = try #require(follower.requests(.watch).last)
      let from = try #require(before?.position)
      #expect(watch.contains(#""rev":\#(from.revision.number),"dig":"\#(from.digest.text)""#))
      try follower.sync()
      #expect(try follower.agrees())
      #expect(follower.ids == ["A", "B", "C", "D"])
    },
    DesyncRow("a doubled diff is ignored, another digest of the same revision is not") {
      let stage = try Stage()
      let follower = try Follower.synced(stage.world)
      try stage.done(Stage.push("C"))
      let diff = try #require(follower.pending().first)
      try follower.deliver(diff)
      let watches = follower.requests(.watch).count
      for _ in 0..<3 { try follower.deliver(diff) }
      #expect(try follower.agrees())
      #expect(follower.requests(.watch).count == watches)
      let other = diff.text.replacingOccurrences(
        of: stage.digest, with: String(repeating: "0", count: 24))
      try follower.deliver(.diff, Array(other.utf8))
      #expect(!follower.isSynced)
      #expect(follower.requests(.watch).last?.contains(#""bad":"#) == true)
      try follower.sync()
      #expect(try follower.agrees())
    },
    DesyncRow("diffs in another order are not applied") {
      let stage = try Stage()
      let follower = try Follower.synced(stage.world)
      let before = follower.mirror
      for id in ["C", "D", "E"] { try stage.done(Stage.push(id)) }
      let diffs = follower.pending()
      #expect(diffs.count == 3)
      for index in [2, 0, 1] {
        try follower.deliver(diffs[index])
        #expect(follower.mirror == before)
      }
      #expect(follower.requests(.watch).count == 2)
      try follower.sync()
      #expect(try follower.agrees())
    },
    DesyncRow("a reply ahead of its diff is never folded into the mirror") {
      let stage = try Stage()
      let follower = try Follower.synced(stage.world)
      let id = try #require(try follower.operate(Stage.push("C"), .top))
      let messages = follower.pending()
      #expect(messages.map(\.verb) == [.diff, .ok])
      let before = follower.mirror
      try follower.deliver(messages[1])
      guard case .success(let ok)? = follower.answer(to: id) else {
        Issue.record("not answered")
        return
      }
      #expect(ok.revision.map { $0 > (before?.revision ?? $0) } == true)
      #expect(follower.mirror == before)
      try follower.deliver(messages[0])
      #expect(follower.revision == ok.revision?.number)
      #expect(try follower.agrees())
    },
    DesyncRow("a damaged diff is reported, audited, and replaced by a snapshot") {
      let stage = try Stage()
      let follower = try Follower.synced(stage.world)
      try stage.done(Stage.push("C"))
      let diff = try #require(follower.pending().first)
      let damaged = diff.text.replacingOccurrences(
        of: #""ins":[{"id":"C""#, with: #""ins":[{"id":"X""#)
      #expect(damaged != diff.text)
      let before = follower.mirror
      let standing = try stage.world.standing("kiosk")
      try follower.deliver(.diff, Array(damaged.utf8))
      // The report is a row of its own, but no revision.
      let after = try stage.world.standing("kiosk")
      #expect(after.rows == standing.rows + 1)
      #expect(after.controller == standing.controller)
      #expect(after.digest == standing.digest)
      #expect(after.ring == standing.ring)
      #expect(follower.mirror == before)
      #expect(!follower.isSynced)
      #expect(follower.requests(.watch).last?.contains(#""bad":{"rev":2,"#) == true)
      #expect(follower.requests(.watch).last?.contains(#""from""#) == false)
      #expect(stage.world.notices.contains { $0.text.contains("divergence") })
      try follower.sync()
      #expect(try follower.agrees())
      #expect(try stage.owner.get("verify").text.contains(#""ok":true"#))
    },
    DesyncRow("a mirror stored half is found out when it resumes") {
      let stage = try Stage()
      let follower = try Follower.synced(stage.world)
      let old = try #require(follower.mirror)
      // One revision with two changes, of which only one was stored.
      try stage.done(Stage.push("C") + #",{"bar.set":{"barStyle":"black"}}"#)
      try follower.sync()
      let new = try #require(follower.mirror)
      var half = new
      half.parts = old.parts
      let checksum = Digest.checksum(
        screens: half.screens.map { ($0.id, $0.version.number) },
        parts: half.parts.map { ($0.id, $0.version.number) })
      let digest = Digest(checksum: checksum, chain: new.digest.chain)
      #expect(digest != new.digest)
      let replies = try stage.owner.watch(
        #""from":{"epoch":"\#(stage.epoch)","rev":2,"dig":"\#(digest.text)"}"#)
      #expect(replies.map(\.verb) == [.ok, .snap])
      #expect(replies[0].json["why"] as? String == "digest")
    },
    DesyncRow("diffs older than the snapshot are ignored") {
      let stage = try Stage()
      let follower = try Follower.synced(stage.world)
      try stage.done(Stage.push("C"))
      try stage.done(Stage.push("D"))
      let old = follower.pending()
      try follower.perform(follower.session.watch("kiosk"))
      let answer = follower.pending()
      #expect(answer.map(\.verb) == [.ok, .snap])
      for message in old { try follower.deliver(message) }
      #expect(follower.mirror == nil)
      for message in answer { try follower.deliver(message) }
      #expect(try follower.agrees())
      for message in old { try follower.deliver(message) }
      #expect(try follower.agrees())
      #expect(follower.requests(.watch).count == 2)
    },
  ]

  static let lives: [DesyncRow] = [
    DesyncRow("a restart keeps epoch and revision, and a new epoch is refused as one") {
      let stage = try Stage()
      let follower = try Follower.synced(stage.world)
      let (epoch, revision, digest) = (stage.epoch, stage.revision, stage.digest)
      try stage.world.restart()
      #expect(stage.epoch == epoch)
      #expect(stage.revision == revision)
      #expect(stage.digest == digest)
      _ = follower.session.disconnected()
      try follower.connect()
      #expect(try follower.agrees())
      #expect(
        follower.events.contains { if case .changed(_, .resumed) = $0 { true } else { false } })
      // Another life: nobody resumes, and who names the old one is refused.
      try stage.world.restart(renewsEpochs: true)
      #expect(stage.epoch != epoch)
      try stage.owner.hello()
      try stage.refused(
        .desync, Stage.push("C"), Stage.guarded("epoch", "\"\(epoch)\""), reason: "epoch")
      _ = follower.session.disconnected()
      try follower.connect()
      #expect(try follower.agrees())
      #expect(follower.mirror?.epoch.text == stage.epoch)
    },
    DesyncRow("a client that starts again gets a snapshot, and no events of the past") {
      let stage = try Stage()
      _ = try Follower.synced(stage.world, 50)
      try stage.world.turn([.closed(ConnectionID(50))])
      try stage.done(Stage.push("C"))
      let again = try Follower.synced(stage.world, 51)
      #expect(try again.agrees())
      #expect(
        !again.events.contains { if case .changed(_, .applied) = $0 { true } else { false } })
      try stage.done(Stage.push("D"))
      try again.sync()
      #expect(try again.agrees())
    },
    DesyncRow("of two processes with one client id the older one is fenced") {
      let stage = try Stage()
      let first = Follower(stage.world, 60, client: ClientID(high: 5, low: 5))
      try first.connect()
      let copy = Client(stage.world, 61, client: first.session.client.text)
      try copy.hello()
      let byes = first.pending().filter { $0.verb == .bye }
      #expect(byes.map { $0.json["why"] as? String } == ["fenced"])
      // What it still sends is refused, and it knows that it is over.
      try stage.same { () throws in
        let body = #"{"id":7,"nav":"kiosk","if":{"any":true},"do":[{"pop":{}}]}"#
        let old = Client(stage.world, 60, client: first.session.client.text)
        #expect(try old.ask("op", body).code == "fenced")
      }
      for bye in byes { try first.deliver(bye) }
      #expect(first.session.phase == .closed)
      try copy.must(Stage.push("C"))
    },
    DesyncRow("who lost its session is told so, and its octets work after a hello") {
      let stage = try Stage()
      let client = try stage.world.client(5)
      try stage.world.turn([.closed(client.connection)])
      let body = client.opBody(Stage.pop, Stage.guarded(top: "B"))
      try stage.same { () throws in
        let error = try client.ask("op", body)
        #expect(error.code == "no-session")
        #expect(error.json["retry"] as? String == "same")
        #expect(try client.watch().map(\.code) == ["no-session"])
      }
      try client.hello()
      #expect(try client.watch().map(\.verb) == [.ok, .snap])
      #expect(try client.send("op", body).map(\.verb) == [.diff, .ok])
      #expect(stage.stack == ["A"])
    },
    DesyncRow("an id used again is another screen, by its version") {
      let stage = try Stage(["A", "B"])
      let (digest, revision) = (stage.digest, stage.revision)
      try stage.done(Stage.pop)
      try stage.done(#"{"screen.release":{"screen":"B"}}"#)
      try stage.done(#"{"push":{"screen":{"id":"B","title":"another"}}}"#)
      #expect(stage.stack == ["A", "B"])
      #expect(stage.digest != digest)
      let version = try stage.world.entry("kiosk").controller.top?.version.number
      #expect(version.map { Int($0) > revision } == true)
      try stage.refused(
        .desync, Stage.pop, Stage.guarded("dig", "\"\(digest)\""), reason: "digest")
      // By name it looks the same.
      try stage.done(Stage.pop, Stage.guarded("stack", #"["A","B"]"#))
    },
    DesyncRow("an op that is refused leaves no trace in any mirror") {
      let stage = try Stage(["A", "B"])
      let follower = try Follower.synced(stage.world)
      let other = try Follower.synced(stage.world, 51)
      let before = (follower.mirror, other.mirror)
      try stage.same { () throws in
        let id = try #require(try follower.operate(#"{"push":{"screen":"A"}}"#, .top))
        try follower.sync()
        guard case .failure(let error)? = follower.answer(to: id) else {
          Issue.record("not refused")
          return
        }
        #expect(error.knownCode == .duplicateScreen)
      }
      #expect(other.pending().isEmpty)
      #expect(follower.mirror == before.0)
      #expect(other.mirror == before.1)
      #expect(try follower.agrees())
    },
  ]
}
