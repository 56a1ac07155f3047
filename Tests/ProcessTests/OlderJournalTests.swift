import Foundation
import Testing

extension ProcessTests {
  /// A state directory that is put back to an older copy: an image, a snapshot of a volume, `cp -a`.
  @Suite struct OlderJournalTests {
    private func title(_ text: String) -> String {
      #"[{"item.set":{"screen":"home","title":"\#(text)"}}]"#
    }

    /// Stops the daemon at revision 2, copies its state, lets it reach revision 3, and puts the copy
    /// back; returns the position that a display has then.
    private func goBack(_ daemon: TestDaemon, isKilled: Bool) throws -> JSON {
      let (files, copy) = (FileManager.default, daemon.directory.path + "/copy")
      try Peer(daemon.endpoint).create("till")
      try Peer(daemon.endpoint).perform("till", title("Pay 10 EUR"))
      #expect(try daemon.stop() == 0)
      try files.copyItem(atPath: daemon.state, toPath: copy)
      try daemon.start()
      let peer = try Peer(daemon.endpoint)
      try peer.perform("till", title("Pay 99 EUR"))
      let seen = try peer.state("till")
      if isKilled { try daemon.kill() } else { #expect(try daemon.stop() == 0) }
      try files.removeItem(atPath: daemon.state)
      try files.moveItem(atPath: copy, toPath: daemon.state)
      return try #require(seen["value"])
    }

    private func from(_ seen: JSON) -> String {
      #""nav":"till","from":{"epoch":"\#(seen["epoch"]?.string ?? "")","rev":\#(seen["rev"]?.integer ?? 0),"#
        + #""dig":"\#(seen["dig"]?.string ?? "")"}"#
    }

    @Test(arguments: [true, false])
    func `a display from the lost future gets a snapshot, and its guard is a desync`(
      isKilled: Bool
    ) throws {
      let daemon = try TestDaemon()
      let seen = try goBack(daemon, isKilled: isKilled)
      try daemon.start()
      let peer = try Peer(daemon.endpoint)
      try peer.hello()
      try peer.perform("till", title("Pay 5 EUR"))
      let now = try #require(try peer.state("till")["value"])
      // The same epoch, revision and shape.
      #expect(now["epoch"] == seen["epoch"] && now["rev"] == seen["rev"])
      #expect(now["dig"]?.string?.prefix(8) == seen["dig"]?.string?.prefix(8))
      #expect(now["dig"] != seen["dig"])
      let answer = try peer.ask("watch", from(seen)).body
      #expect(answer["mode"]?.string == "snap" && answer["why"]?.string == "digest", "\(answer)")
      let snapshot = try peer.awaits("the snapshot") { $0.verb == "snap" }
      #expect("\(snapshot.body)".contains("Pay 5 EUR"))
      try daemon.child.complains("which the journal does not have")
      let refused = try daemon.navctl([
        "set", "till", "screen", "home", "title=Seen", "--rev", "3", "--digest",
        seen["dig"]?.string ?? "",
      ])
      #expect(refused.status == 3, "\(refused)")
    }

    @Test func `with a witness all navs get new epochs, and the log says why`() throws {
      let other = try TestDirectory()
      let daemon = try TestDaemon(configuration: "[daemon]\nwitness = \(other.path)/witness\n")
      let seen = try goBack(daemon, isKilled: true)
      try daemon.start(until: "an older copy was put back; all navs have new epochs")
      try daemon.child.complains("serving ")
      let peer = try Peer(daemon.endpoint)
      #expect(try peer.state("till")["value"]?["epoch"] != seen["epoch"])
      try peer.hello()
      let answer = try peer.ask("watch", from(seen)).body
      #expect(answer["why"]?.string == "epoch", "\(answer)")
      // The next start finds what it acknowledged.
      let epoch = try peer.state("till")["value"]?["epoch"]
      #expect(try daemon.stop() == 0)
      try daemon.start()
      #expect(try Peer(daemon.endpoint).state("till")["value"]?["epoch"] == epoch)
    }

    @Test func `a witness that holds anything else is refused untouched`() throws {
      let other = try TestDirectory()
      let file = try other.write("witness", "somebody's notes\n")
      let daemon = try TestDirectory()
      let child = try Child(
        Binaries.path("navd"),
        [
          "--listen", "ipc://\(daemon.path)/op", "--state", daemon.path + "/state", "--config",
          try daemon.write("navd.conf", "[daemon]\nwitness = \(file)\n"),
        ], environment: ["HOME": daemon.path])
      #expect(try child.ended() == 5)
      #expect(child.standardError.contains(file))
      #expect(try String(contentsOfFile: file, encoding: .utf8) == "somebody's notes\n")
    }
  }
}
