import ZeroMQ
import Foundation
import Testing

extension ProcessTests {
  /// Peers that make the daemon hold as much as they can.
  @Suite struct MemoryAttackTests {
    @Test func `a message of 500 frames is refused, and one of 300,000 ends its connection`() throws
    {
      let known = try CurveKeyPair.generate()
      let site = try NetworkDaemon(authorized: ["known": (known, "ui")])
      let bystander = try Bystander(site.daemon)
      func frames(_ count: Int) -> [[UInt8]] {
        [Array("nsp1.ping".utf8)]
          + Array(repeating: [UInt8](repeating: 7, count: 40), count: count)
      }
      for (name, peer) in [
        ("ipc", try Peer(site.daemon.endpoint)), ("tcp", try site.peer(known)),
      ] {
        let (_, peak, before) = try bystander.watches("message of 300,000 frames over \(name)") {
          try peer.send(frames: frames(500))
          let answer = try peer.awaits("refusal") { $0.verb == "err" }
          #expect(answer.body["code"]?.string == "bad-frame")
          try peer.send(frames: frames(300_000))
          try site.daemon.child.complains(
            name == "ipc" ? "message-to-daemon-bytes" : "holds unread for one connection")
        }
        // What came before it was cut off, at 64 octets of libzmq's a frame.
        #expect(peak.memory - before.memory < 40 * 1024)
        let again = name == "ipc" ? try Peer(site.daemon.endpoint) : try site.peer(known)
        #expect(try again.ask("ping", "\"a\":1").verb == "pong")
      }
    }

    /// What never ends: frames of a message each of which says that there is one more.
    static let endless: [(String, [UInt8])] = [
      ("empty frames", RawWire.frame([], more: true)),
      ("frames of one byte", RawWire.frame([1], more: true)),
      ("frames of 250 bytes", RawWire.frame(Array(repeating: 5, count: 250), more: true)),
      // libzmq puts these among the messages.
      (
        "subscriptions",
        [5] + RawWire.command("SUBSCRIBE", Array(repeating: 7, count: 240)).dropFirst()
      ),
    ]

    @Test func `messages without an end are cut off`() throws {
      let daemon = try TestDaemon()
      let bystander = try Bystander(daemon)
      let place = String(daemon.endpoint.dropFirst("ipc://".count))
      let (_, peak, before) = try bystander.watches("messages without an end") {
        for (name, frame) in Self.endless {
          let peer = try RawConnection(place)
          try peer.greet()
          let chunk = (0..<4000).flatMap { _ in frame }
          // Far more than the daemon may hold; a write fails once the connection has ended.
          var chunks = 0
          while chunks < 1000, peer.sendAll(chunk) { chunks += 1 }
          #expect(chunks < 200, "\(name): not cut off after \(chunks) times 4000 frames")
        }
      }
      #expect(peak.memory - before.memory < 40 * 1024)
      try daemon.child.complains("the frames of one message exceed")
    }

    @Test func `frames that come one at a time take no more than they are counted for`() throws {
      let daemon = try TestDaemon()
      let bystander = try Bystander(daemon)
      let place = String(daemon.endpoint.dropFirst("ipc://".count))
      let frame = RawWire.frame(Array(repeating: 5, count: 40), more: true)
      let (_, peak, before) = try bystander.watches("frames one at a time") {
        let peers = try (0..<40).map { _ in
          let peer = try RawConnection(place)
          try peer.greet()
          return peer
        }
        for _ in 0..<1000 { for peer in peers { peer.sendAll(frame) } }
        #expect(peers.allSatisfy { !$0.isEnded(within: 0) })
      }
      // 4 MB are counted. Each frame would keep the 8 KiB it came in, 320 MB in all.
      #expect(peak.memory - before.memory < 60 * 1024)
    }

    @Test func `many messages without an end are bounded in all`() throws {
      let daemon = try TestDaemon(
        configuration: "[limits]\nunread-total-bytes = 4M\nconnections-per-principal = 200\n")
      let bystander = try Bystander(daemon)
      let place = String(daemon.endpoint.dropFirst("ipc://".count))
      let part = (0..<200).flatMap { _ in RawWire.frame(Array(repeating: 5, count: 250), more: true)
      }
      let (_, peak, before) = try bystander.watches("120 messages without an end") {
        // Each alone would be allowed.
        let peers = try (0..<120).map { _ in
          let peer = try RawConnection(place)
          try peer.greet()
          peer.sendAll(part)
          return peer
        }
        #expect(
          try eventually { peers.count { $0.isEnded(within: 0) } >= 50 }, "too few are cut off")
        #expect(peers.contains { !$0.isEnded(within: 0) }, "more than needed are cut off")
      }
      #expect(peak.memory - before.memory < 40 * 1024)
      try daemon.child.complains("unread-total-bytes")
    }

    /// Makes a nav whose state is about 200 KB.
    private func fill(_ daemon: TestDaemon) throws {
      let peer = try Peer(daemon.endpoint)
      try peer.create("large")
      let text = String(repeating: "x", count: 50_000)
      for index in 0..<4 {
        try peer.perform(
          "large", #"[{"push":{"screen":{"id":"s\#(index)","args":"\#(text)"}}}]"#)
      }
    }

    /// Messages of peers that never read, each with a long answer or many short ones.
    static let floods: [(name: String, verb: String, body: String)] = [
      ("states", "get", #""nav":"large""#),
      ("old states", "get", #""nav":"large","at":4"#),
      ("diffs", "get", #""nav":"large","what":"diffs""#),
      ("logs", "get", #""nav":"large","what":"log""#),
      ("snapshots", "watch", #""nav":"large""#),
      ("directories", "watch", #""nav":"$heads""#),
      ("pings", "ping", #""a":1"#),
    ]

    /// Peers that send a message again and again and never read; returns their connections.
    private func unread(
      _ daemon: TestDaemon, peers: Int, requests: Int, _ kind: Int = 0
    ) throws -> [RawConnection] {
      let place = String(daemon.endpoint.dropFirst("ipc://".count))
      let messages = (1...requests).flatMap {
        RawWire.message(Self.floods[kind].verb, "{\"id\":\($0),\(Self.floods[kind].body)}")
      }
      let connections = try (0..<peers).map { _ in
        let peer = try RawConnection(place)
        try peer.greet()
        return peer
      }
      for (number, peer) in connections.enumerated() {
        let client = String(repeating: "0", count: 28) + String(number + 1000)
        peer.sendAll(
          RawWire.message(
            "hello",
            #"{"ver":[1,1],"client":"\#(client)","name":"x","nonce":"n","flow":"none"}"#))
        peer.sendAll(messages)
      }
      return connections
    }

    @Test func `a peer that never reads is cut off`() throws {
      let daemon = try TestDaemon()
      try fill(daemon)
      let bystander = try Bystander(daemon)
      let (_, peak, before) = try bystander.watches("a peer that never reads") {
        let peers = try unread(daemon, peers: 1, requests: 2000)
        #expect(peers[0].isEnded(), "it is not cut off")
      }
      // What it may leave unread, and the answers of a turn twice; it would be 400 MB without.
      #expect(peak.memory - before.memory < 200 * 1024)
      try daemon.child.complains("bytes unread")
    }

    @Test(arguments: floods.indices)
    func `what many peers leave unread is bounded in all, and its memory comes back`(
      _ kind: Int
    ) throws {
      let daemon = try TestDaemon(
        configuration: "[limits]\nunsent-total-bytes = 32M\nconnections-per-principal = 200\n")
      try fill(daemon)
      let bystander = try Bystander(daemon)
      let name = "128 peers that read no \(Self.floods[kind].name)"
      let (_, peak, before) = try bystander.watches(name) {
        // Each alone would stay below the limit of one.
        let peers = try unread(daemon, peers: 128, requests: 60, kind)
        if kind == 0 {
          #expect(
            try eventually { peers.count { $0.isEnded(within: 0) } >= 60 }, "too few are cut off")
        } else {
          // Behind what was sent before it.
          let last = try Peer(daemon.endpoint)
          #expect(try last.ask("ping", "\"a\":1").verb == "pong")
        }
        withExtendedLifetime(peers) {}
      }
      // 1.25 times the limit, and what the daemon needs besides. It would be 920 MB without.
      #expect(peak.memory - before.memory < (32 * 5 / 4 + 48) * 1024)
      #expect(
        try eventually { Vitals(of: daemon.child.pid).memory - before.memory < 40 * 1024 },
        "the memory does not come back")
      if kind == 0 { try daemon.child.complains("bytes unread") }
    }
  }

  /// The path of the socket, which anybody of the same user may bind.
  @Suite struct PathAttackTests {
    /// The number of the file at a path.
    private func file(_ path: String) -> UInt64? {
      let attributes = try? FileManager.default.attributesOfItem(atPath: path)
      return attributes?[.systemFileNumber] as? UInt64
    }

    @Test func `a path that another process binds is taken back, and clients go on`() throws {
      let daemon = try TestDaemon()
      let bystander = try Bystander(daemon)
      let path = String(daemon.endpoint.dropFirst("ipc://".count))
      let own = file(path)
      try bystander.watches("a stolen path") {
        let context = try Context()
        for _ in 1...3 {
          let thief = try context.socket(.router)
          try thief.set(.linger(milliseconds: 0))
          // It fails where the daemon takes the path back between its removal and the bind.
          #expect(try eventually { (try? thief.bind(daemon.endpoint)) != nil })
          #expect(try eventually { file(path) == own }, "\(daemon.child.transcript)")
          #expect(try Peer(daemon.endpoint).ask("ping", "\"a\":1").verb == "pong")
        }
      }
      try daemon.child.complains("another process replaced")
      let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
      #expect(mode == 0o600)
    }

    @Test func `a socket file that is removed comes back`() throws {
      let daemon = try TestDaemon()
      let path = String(daemon.endpoint.dropFirst("ipc://".count))
      try FileManager.default.removeItem(atPath: path)
      #expect(try eventually { FileManager.default.fileExists(atPath: path) })
      #expect(try Peer(daemon.endpoint).ask("ping", "\"a\":1").verb == "pong")
      #expect(try daemon.stop() == 0)
      #expect(!FileManager.default.fileExists(atPath: path))
    }
  }
}
