import Foundation
import Testing
import ZeroMQ

extension ProcessTests {
  /// What peers send that they should not.
  @Suite struct BadInputTests {
    /// What must not change, whatever comes in.
    private struct Evidence: Equatable {
      var state: JSON
      var log: [JSON]
      var rows: [String]

      init(_ daemon: TestDaemon) throws {
        let peer = try Peer(daemon.endpoint)
        state = try peer.state("kiosk")["value"] ?? .null
        log = try peer.log("kiosk")
        rows = try StoredRows.rows(daemon)
      }
    }

    private func served(_ body: (TestDaemon, Peer) throws -> Void) throws {
      let daemon = try TestDaemon()
      let peer = try Peer(daemon.endpoint)
      try peer.create("kiosk")
      try peer.perform("kiosk", #"[{"push":{"screen":{"id":"a"}}}]"#)
      let before = try Evidence(daemon)
      try body(daemon, peer)
      #expect(daemon.child.isRunning, "\(daemon.child.transcript)")
      #expect(try Evidence(daemon) == before)
      #expect(try daemon.stop() == 0)
    }

    @Test func `malformed frames are refused and change nothing`() throws {
      try served { daemon, _ in
        let body = Array("{}".utf8)
        let ping = Array("nsp1.ping".utf8)
        let messages: [[[UInt8]]] = [
          [ping], [[]], [[], []], [[], ping], [ping, body, body], [[], ping, body, body],
          Array(repeating: body, count: 300), Array(repeating: [], count: 300),
        ]
        let peer = try Peer(daemon.endpoint)
        for message in messages {
          try peer.send(frames: message)
          let answer = try peer.awaits("refusal of \(message.count) frames") { $0.verb == "err" }
          #expect(answer.body["code"]?.string == "bad-frame")
          #expect(answer.body["id"] == .null)
        }
        let session = try Peer(daemon.endpoint)
        try session.hello()
        for count in [1, 3] {
          try session.send(frames: Array(repeating: ping, count: count))
          _ = try session.awaits("refusal") { $0.body["code"]?.string == "bad-frame" }
        }
        try session.send(frames: [ping])
        let end = try session.awaits("bye") { $0.verb == "bye" }
        #expect(end.body["why"]?.string == "protocol")
      }
    }

    static let texts: [(String, String)] = [
      ("", "bad-json"), ("{", "bad-json"), ("[]", "bad-json"), ("nul", "bad-json"),
      ("{\"id\":1}x", "bad-json"), ("{\"id\":1,\"id\":2}", "bad-json"),
      ("{\"id\":1,\"nav\":\"\\ud800\"}", "bad-json"),
      (String(repeating: "[", count: 5000), "bad-json"),
      (
        "{\"id\":1,\"x\":" + String(repeating: "[", count: 32) + String(repeating: "]", count: 32)
          + "}", "bad-json"
      ),
      ("{\"id\":1,\"x\":01}", "bad-json"), ("{'id':1}", "bad-json"), ("\u{FEFF}{}", "bad-json"),
    ]

    @Test func `what is no JSON is refused and changes nothing`() throws {
      try served { daemon, _ in
        let peer = try Peer(daemon.endpoint)
        for verb in ["op", "get", "ping", "hello"] {
          for (text, code) in Self.texts {
            try peer.send(verb, text)
            let answer = try peer.awaits("refusal of \(verb) \(text)") { $0.verb == "err" }
            #expect(answer.body["code"]?.string == code, "\(verb) \(text): \(answer.body)")
          }
          // No UTF-8.
          try peer.send(frames: [Array("nsp1.\(verb)".utf8), [0x7B, 0x22, 0xC0, 0x80, 0x22, 0x7D]])
          let answer = try peer.awaits("refusal of octets") { $0.verb == "err" }
          #expect(answer.body["code"]?.string == "bad-json")
        }
      }
    }

    @Test func `unknown and misspelt words are refused by name`() throws {
      let push = #"[{"push":{"screen":{"id":"n"}}}]"#
      let cases: [(String, String, String)] = [
        ("fly", #""nav":"kiosk""#, "bad-verb"), ("", "\"a\":1", "bad-frame"),
        ("op", #""nav":"kiosk","do":[{"fly":{}}]"#, "unsupported"),
        ("op", #""nav":"nobody","do":\#(push)"#, "no-nav"),
        ("op", #""nav":"No Nav","do":\#(push)"#, "no-nav invalid-argument"),
        ("op", #""nav":"kiosk","do":[]"#, "invalid-argument"),
        ("op", #""nav":"kiosk","do":[{"push":{"screen":{"id":"a b"}}}]"#, "invalid-argument"),
        ("op", #""nav":"kiosk","do":[{"push":{"screen":{"id":"s9.1"}}}]"#, "invalid-argument"),
        (
          "op", #""nav":"kiosk","do":[{"push":{"screen":{"id":"n","titel":"x"}}}]"#,
          "invalid-argument"
        ),
        ("op", #""nav":"kiosk","do":[{"push":{}}]"#, "nil-screen"),
        ("op", #""nav":"kiosk","do":[{"push":{"screen":"nobody"}}]"#, "unknown-screen"),
        ("op", #""nav":"kiosk","do":[{"push":{"screen":"a"}}]"#, "duplicate-screen"),
        ("op", #""nav":"kiosk","do":[{"pop":{}}]"#, "guard-required"),
        ("op", #""nav":"kiosk","if":{"topp":"a"},"do":[{"pop":{}}]"#, "invalid-argument"),
        ("op", #""nav":"kiosk","if":{"rev":1.5},"do":[{"pop":{}}]"#, "invalid-argument"),
        ("op", #""nav":"kiosk","if":{"rev":-1},"do":[{"pop":{}}]"#, "invalid-argument"),
        ("op", #""nav":"kiosk","if":{"rev":99},"do":[{"pop":{}}]"#, "desync"),
        ("op", #""nav":"$navs","if":{"any":true},"do":[{"pop":{}}]"#, "readonly"),
        ("get", #""nav":"kiosk","what":"everything""#, "invalid-argument"),
        ("get", #""nav":"kiosk","at":999999"#, "compacted"), ("get", #""nav":"nobody""#, "no-nav"),
        ("watch", #""nav":"kiosk","view":"side""#, "invalid-argument no-session"),
        ("watch", #""nav":"kiosk""#, "no-session"),
      ]
      try served { daemon, _ in
        let peer = try Peer(daemon.endpoint)
        for (index, (verb, members, codes)) in cases.enumerated() {
          let client = #""client":"\#(peer.client)""#
          try peer.send(verb, "{\"id\":\(index + 1),\(client),\(members)}")
          let answer = try peer.awaits("refusal of \(verb) \(members)") { $0.verb == "err" }
          let code = answer.body["code"]?.string ?? ""
          #expect(
            codes.split(separator: " ").contains(Substring(code)), "\(members): \(answer.body)")
          #expect(answer.body["effect"]?.string == "none")
        }
        for id in ["-1", "1.5", "1e3", "\"1\"", "9007199254740992", "null"] {
          try peer.send(
            "op", #"{"id":\#(id),"client":"\#(peer.client)","nav":"kiosk","do":\#(push)}"#)
          let answer = try peer.awaits("refusal of id \(id)") { $0.verb == "err" }
          #expect(answer.body["id"] == .null, "\(id)")
        }
      }
    }

    @Test func `a message that is too long is refused, a frame that is much too long cut off`()
      throws
    {
      try served { daemon, _ in
        let peer = try Peer(daemon.endpoint)
        let text = String(repeating: "x", count: 65_536)
        let op =
          #"{"id":1,"client":"\#(peer.client)","nav":"kiosk","do":[{"screen.set":{"screen":"a","title":"\#(text)"}}]}"#
        try peer.send("op", op)
        let answer = try peer.awaits("refusal") { $0.verb == "err" }
        #expect(answer.body["code"]?.string == "limit", "\(answer.body)")
        try peer.send("op", op.replacingOccurrences(of: text, with: text + text + text))
        // libzmq ends that connection; others go on.
        let other = try Peer(daemon.endpoint)
        #expect(try other.ask("ping", "\"a\":1").verb == "pong")
      }
    }

    @Test func `peers that do not speak ZMTP disturb nobody`() throws {
      try served { daemon, peer in
        let path = String(daemon.endpoint.dropFirst("ipc://".count))
        let greeting = [0xFF, 0, 0, 0, 0, 0, 0, 0, 1, 0x7F, 3]
        var strangers: [RawConnection] = []
        for bytes in [[], [0], Array("GET / HTTP/1.1\r\n\r\n".utf8), greeting.map { UInt8($0) }] {
          let stranger = try RawConnection(path)
          stranger.send(bytes)
          strangers.append(stranger)
          #expect(try peer.ask("ping", "\"a\":1").verb == "pong")
        }
        let noise = try RawConnection(path)
        var generator = SystemRandomNumberGenerator()
        noise.send((0..<100_000).map { _ in UInt8.random(in: 0...255, using: &generator) })
        #expect(try peer.ask("ping", "\"a\":1").verb == "pong")
        // Half-open ones are given up; whoever is left is closed here.
        strangers.removeAll()
        #expect(try peer.ask("ping", "\"a\":1").verb == "pong")
      }
    }
  }
}
