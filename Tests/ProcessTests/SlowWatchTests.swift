import Foundation
import Testing

extension ProcessTests {
  /// Watches that do not read.
  @Suite struct SlowWatchTests {
    private static let text = String(repeating: "x", count: 2000)

    /// Makes revisions that are too many to be kept for anybody.
    private func work(_ peer: Peer, from first: Int = 0, _ count: Int) throws {
      for number in first..<first + count {
        try peer.perform(
          "kiosk", #"[{"screen.set":{"screen":"home","title":"\#(number) \#(Self.text)"}}]"#)
      }
    }

    @Test func `a stopped process delays nobody and catches up`() throws {
      let daemon = try TestDaemon()
      let peer = try Peer(daemon.endpoint)
      try peer.create("kiosk")
      let watch = try daemon.startNavctl(["watch", "kiosk", "-o", "json"])
      try watch.writes(lines: 1)
      watch.kill(SIGSTOP)
      let other = try Peer(daemon.endpoint)
      try other.hello()
      #expect(try other.ask("watch", #""nav":"kiosk""#).verb == "ok")
      var mirror = RawMirror()
      mirror.take(try other.awaits("snapshot") { $0.verb == "snap" })
      // What the other one wants it gets at once, one revision after the other.
      for number in 0..<400 {
        try work(peer, from: number, 1)
        _ = try other.awaits("revision") { message in
          mirror.take(message)
          return mirror.revision == UInt64(number + 2)
        }
        try other.send("credit", #"{"upto":\#(mirror.octets + 65536)}"#)
      }
      #expect(mirror.gaps == [])
      watch.kill(SIGCONT)
      try watch.says(#""rev":401,"#)
      watch.kill(SIGTERM)
      try watch.ended()
      #expect(try daemon.stop() == 0)
    }

    @Test func `a watch without credit gets one snapshot when it raises its credit`() throws {
      let daemon = try TestDaemon()
      let peer = try Peer(daemon.endpoint)
      try peer.create("kiosk")
      let silent = try Peer(daemon.endpoint)
      try silent.hello(window: 16384)
      #expect(try silent.ask("watch", #""nav":"kiosk""#).verb == "ok")
      try work(peer, 400)
      // Replies are exempt from credit, so what came before this one is all that came.
      try silent.send("ping", #"{"id":1000}"#)
      var mirror = RawMirror()
      _ = try silent.awaits("pong") { message in
        mirror.take(message)
        return message.verb == "pong"
      }
      #expect(mirror.revision < 401)
      #expect(mirror.octets < 16384 + 262_144)
      try silent.send("credit", #"{"upto":\#(mirror.octets + 1_000_000)}"#)
      let snapshot = try silent.awaits("snapshot") { $0.verb == "snap" }
      #expect(snapshot.body["why"]?.string == "lag")
      #expect(snapshot.body["rev"]?.integer == 401)
      let state = try peer.state("kiosk")["value"]
      #expect(snapshot.body["dig"] == state?["dig"])
      #expect(snapshot.body["screens"] == state?["screens"])
    }
  }
}

/// As much of a mirror as it takes to see gaps.
struct RawMirror {
  private(set) var revision: UInt64 = 0
  private(set) var octets = 0
  private(set) var gaps: [String] = []

  /// Takes a message, of any verb.
  mutating func take(_ message: Peer.Message) {
    guard ["snap", "diff", "diffs"].contains(message.verb) else { return }
    octets += message.octets
    if message.verb == "snap" { revision = message.body["rev"]?.integer ?? 0 }
    guard message.verb != "snap" else { return }
    for diff in message.verb == "diffs" ? message.body["list"]?.array ?? [] : [message.body] {
      if diff["base"]?.integer != revision { gaps.append("\(revision): \(diff)") }
      revision = diff["rev"]?.integer ?? 0
    }
  }
}
