import Foundation
import Journal
import NavigationCore
import NavigationHub
import Testing

extension LongProcessTests {
  /// A start reads no states: whoever asks for one gets what there was, and does not notice.
  @Suite struct DormantTests {
    private static let navs = (0..<200).map { "nav/\($0)" }

    /// What must be the same over a restart.
    private func position(_ nav: String, _ peer: Peer) throws -> [JSON?] {
      let state = try peer.state(nav)
      return ["epoch", "rev", "dig", "depth", "screens", "resolved"].map {
        state[$0] ?? state["value"]?[$0]
      }
    }

    private func resumeBytes(_ peer: Peer) throws -> UInt64? {
      try peer.get(#""what":"stats""#)["value"]?["resumeBytes"]?.integer
    }

    @Test func `a killed daemon answers for navs that nobody asked for since its start`() throws {
      let daemon = try TestDaemon()
      var peer = try Peer(daemon.endpoint)
      for nav in Self.navs {
        try peer.create(nav)
        try peer.perform(nav, #"[{"push":{"screen":{"id":"a","title":"\#(nav)"}}}]"#)
      }
      let before = try Self.navs.map { try position($0, peer) }
      #expect(before.allSatisfy { $0.count { $0 != nil } >= 4 }, "\(before[0])")

      try daemon.kill()
      try daemon.start()
      let list = try daemon.navctl(["list"])
      let positions = list.output.split(separator: "\n").dropFirst().map { line in
        line.split(separator: " ")[..<5].joined(separator: " ")
      }
      #expect(positions == Self.navs.sorted().map { "\($0) 2 2 a 0" })
      peer = try Peer(daemon.endpoint)
      try peer.hello()
      // A get, a watch and an op are the first that each of these navs hears.
      for place in 0..<5 { #expect(try position(Self.navs[place], peer) == before[place]) }
      for place in 10..<15 {
        #expect(try peer.ask("watch", #""nav":"\#(Self.navs[place])""#).verb == "ok")
        let snapshot = try peer.awaits("snapshot") { $0.verb == "snap" }.body
        #expect(snapshot["nav"]?.string == Self.navs[place])
        #expect([snapshot["epoch"], snapshot["rev"], snapshot["dig"]] == before[place][..<3])
      }
      for place in 20..<25 {
        let guards = #"{"rev":2,"top":"a"}"#
        let nav = Self.navs[place]
        let reply = try peer.perform(
          nav, #"[{"push":{"screen":{"id":"b"}}}]"#, guards: guards)
        #expect(reply["rev"]?.integer == 3)
        #expect(reply["epoch"] == before[place][0])
        #expect(try position(nav, peer)[1] == .number(3))
        let old = try peer.state(nav, at: 2)
        #expect((old["value"]?["dig"] ?? old["dig"]) == before[place][2])
      }
      #expect(try daemon.stop() == 0)
    }

    @Test func `what nobody uses leaves memory, and is the same when it is used again`() throws {
      let daemon = try TestDaemon(configuration: "[limits]\nnav-idle-seconds = 1\n")
      let peer = try Peer(daemon.endpoint)
      for nav in Self.navs {
        try peer.create(nav)
        try peer.perform(nav, #"[{"push":{"screen":{"id":"a","title":"\#(nav)"}}}]"#)
      }
      let before = try Self.navs.map { try position($0, peer) }
      #expect(try resumeBytes(peer) ?? 0 > 0)
      let end = Date(timeIntervalSinceNow: Child.patience)
      while try resumeBytes(peer) != 0, end > Date() {
        #expect(daemon.child.survives(0.2), "\(daemon.child.transcript)")
      }
      #expect(try resumeBytes(peer) == 0)
      #expect(try Self.navs.map { try position($0, peer) } == before)
      let guards = #"{"rev":2,"top":"a"}"#
      let reply = try peer.perform(
        "nav/7", #"[{"push":{"screen":{"id":"b"}}}]"#, guards: guards)
      #expect(reply["rev"]?.integer == 3)
      #expect(try peer.get(#""nav":"nav/7","what":"verify""#)["value"]?["ok"] == .bool(true))
      #expect(try daemon.stop() == 0)
    }

    @Test func `messages behind a dormant nav keep their order, however many there are`() throws {
      let daemon = try TestDaemon()
      var peer = try Peer(daemon.endpoint)
      for nav in Self.navs.prefix(20) { try peer.create(nav) }
      try daemon.kill()
      try daemon.start()
      peer = try Peer(daemon.endpoint)
      try peer.hello()
      let other = try Peer(daemon.endpoint)
      try other.create("other")
      // More than navd holds before it stops receiving: `PageIns.maximumHeldEvents`.
      let ids = 100..<5100
      for id in ids {
        let nav = Self.navs[id % 20]
        if id % 250 < 20 {
          try peer.send("get", #"{"id":\#(id),"nav":"\#(nav)"}"#)
        } else {
          try peer.send("ping", #"{"id":\#(id)}"#)
        }
        if id % 1000 == 0 { try other.perform("other", #"[{"push":{"screen":{"title":"a"}}}]"#) }
      }
      for id in ids {
        let answer = try #require(try peer.receive())
        #expect(answer.verb == (id % 250 < 20 ? "ok" : "pong"))
        #expect(answer.body["id"]?.integer == UInt64(id))
      }
      #expect(try daemon.stop() == 0)
    }

    /// Writes behind a nav's history, under right checksums, what does not follow from it.
    private func spoil(_ daemon: TestDaemon, nav: UInt64) throws {
      let journal = try Journal.open(
        directory: daemon.state, durability: .sync, bootID: "test", retention: Retention.standard,
        holder: "test")
      var head = (sequence: UInt64(0), revision: UInt64(0))
      try journal.replay(
        snapshots: { _ in },
        rows: { row, _ in if row.nav == nav { head = (row.sequence, row.revision) } })
      let row = JournalRow(
        RowHeader(
          sequence: journal.lastSequence + 1, nav: nav, revision: head.revision + 1,
          previous: head.sequence, time: 1, kind: .changed, depth: 0, top: nil),
        body: Array(#"{"diff":{"rev":3,"ch":[],"dig":"000000000000000000000000"}}"#.utf8))
      try journal.commit(JournalRecords([.row(row)]))
      try journal.close()
    }

    @Test func `a state that does not follow from its history ends the daemon unserved`() throws {
      let daemon = try TestDaemon()
      let peer = try Peer(daemon.endpoint)
      for nav in ["good", "bad"] {
        try peer.create(nav)
        try peer.perform(nav, #"[{"push":{"screen":{"id":"a"}}}]"#)
      }
      #expect(try daemon.stop() == 0)
      try spoil(daemon, nav: 2)
      try daemon.start()
      let asked = try daemon.navctl(["get", "bad"])
      #expect(asked.status != 0 && asked.output.isEmpty, "\(asked)")
      #expect(try daemon.child.ended() == 5)
      #expect(daemon.child.standardError.contains("the journal cannot be replayed: row "))
      #expect(daemon.child.standardError.contains("restore a backup"))
    }
  }
}
