import Testing

extension ProcessTests {
  /// Many clients that want the same thing at once.
  @Suite struct ContentionTests {
    @Test(arguments: [2, 3, 8, 16, 32])
    func `of many that pop the same top exactly one succeeds`(count: Int) throws {
      let daemon = try TestDaemon()
      let peer = try Peer(daemon.endpoint)
      try peer.create("kiosk")
      for id in ["a", "b"] { try peer.perform("kiosk", #"[{"push":{"screen":{"id":"\#(id)"}}}]"#) }
      let before = try peer.state("kiosk")
      // Connections that are open already, so that all pops arrive together.
      let peers = try (0..<count).map { _ in try Peer(daemon.endpoint) }
      for peer in peers { try peer.hello() }
      let pop = #"{"id":1,"nav":"kiosk","if":{"top":"b"},"do":[{"pop":{}}]}"#
      for peer in peers { try peer.send("op", pop) }
      let answers = try peers.map { peer in
        try peer.awaits("answer") { $0.body["id"]?.integer == 1 && $0.verb != "pong" }
      }
      let refusals = answers.filter { $0.verb == "err" }
      #expect(answers.count { $0.verb == "ok" } == 1)
      #expect(refusals.count == count - 1)
      for refusal in refusals {
        #expect(refusal.body["code"]?.string == "desync")
        #expect(refusal.body["reason"]?.string == "top")
        #expect(refusal.body["top"]?.string == "a")
      }
      let after = try peer.state("kiosk")
      #expect(after["value"]?["screens"]?.ids == ["home", "a"])
      #expect(after["rev"]?.integer == (before["rev"]?.integer ?? 0) + 1)
    }

    @Test(arguments: [2, 12])
    func `of many processes that pop the same top all but one end with 3`(count: Int) throws {
      let daemon = try TestDaemon()
      let peer = try Peer(daemon.endpoint)
      try peer.create("kiosk")
      for id in ["a", "b"] { try peer.perform("kiosk", #"[{"push":{"screen":{"id":"\#(id)"}}}]"#) }
      let children = try (0..<count).map { _ in
        try daemon.startNavctl(["pop", "kiosk", "--top", "b"])
      }
      let statuses = try children.map { try $0.ended() }
      #expect(statuses.sorted() == [0] + Array(repeating: 3, count: count - 1))
      #expect(try peer.state("kiosk")["value"]?["screens"]?.ids == ["home", "a"])
    }
  }
}
