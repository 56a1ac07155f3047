import CurveKeys
import Foundation
import Testing
import ZeroMQ

extension ProcessTests {
  /// Peers that make the daemon hold as much as they can.
  @Suite struct MemoryAttackTests {
    @Test func `a message of 300,000 frames is refused and its memory given back`() throws {
      let known = try CurveKeyPair.generate()
      let site = try NetworkDaemon(authorized: ["known": (known, "ui")])
      let bystander = try Bystander(site.daemon)
      let frames =
        [Array("nsp1.ping".utf8)]
        + Array(repeating: [UInt8](repeating: 7, count: 40), count: 300_000)
      for (name, peer) in [
        ("ipc", try Peer(site.daemon.endpoint)), ("tcp", try site.peer(known)),
      ] {
        let (_, peak, before) = try bystander.watches("endless multipart over \(name)") {
          try peer.send(frames: frames)
          let answer = try peer.awaits("refusal") { $0.verb == "err" }
          #expect(answer.body["code"]?.string == "bad-frame")
        }
        // 64 octets of libzmq's and 40 of ours a frame, and what the allocator rounds up.
        #expect(peak.memory - before.memory < 200 * 1024)
        #expect(try peer.ask("ping", "\"a\":1").verb == "pong")
      }
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

    /// Peers that ask for the large nav again and again and never read; returns their connections.
    private func unread(_ daemon: TestDaemon, peers: Int, requests: Int) throws -> [RawConnection] {
      let place = String(daemon.endpoint.dropFirst("ipc://".count))
      let gets = (1...requests).flatMap {
        RawWire.message("get", "{\"id\":\($0),\"nav\":\"large\"}")
      }
      return try (0..<peers).map { _ in
        let peer = try RawConnection(place)
        try peer.greet()
        peer.sendAll(gets)
        return peer
      }
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
    }

    @Test func `what many peers leave unread is bounded in all`() throws {
      let daemon = try TestDaemon(
        configuration: "[limits]\nunsent-total-bytes = 32M\nconnections-per-principal = 200\n")
      try fill(daemon)
      let bystander = try Bystander(daemon)
      let (_, peak, before) = try bystander.watches("128 peers that never read") {
        // Each alone would stay below the limit of one.
        let peers = try unread(daemon, peers: 128, requests: 36)
        #expect(
          try eventually { peers.count { $0.isEnded(within: 0) } >= 60 }, "too few are cut off")
      }
      // The limit, the answers of a turn twice, ours and the socket's, and what the socket's threads
      // have not freed yet. It would be 920 MB without.
      #expect(peak.memory - before.memory < 450 * 1024)
      try daemon.child.complains("bytes unread")
    }
  }

  /// The path of the socket, which anybody of the same user may bind.
  @Suite struct PathAttackTests {
    @Test func `a path that another process binds is taken back, and clients go on`() throws {
      let daemon = try TestDaemon()
      let bystander = try Bystander(daemon)
      try bystander.watches("a stolen path") {
        let context = try Context.make()
        for round in 1...3 {
          let thief = try context.socket(.router)
          try thief.set(.linger(milliseconds: 0))
          // It fails where the daemon takes the path back between its removal and the bind.
          #expect(try eventually { (try? thief.bind(daemon.endpoint)) != nil })
          #expect(
            try eventually {
              daemon.child.standardError.components(separatedBy: "was taken away").count > round
            }, "\(daemon.child.transcript)")
          #expect(try Peer(daemon.endpoint).ask("ping", "\"a\":1").verb == "pong")
        }
      }
      let path = String(daemon.endpoint.dropFirst("ipc://".count))
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
