import Foundation
import Testing

extension ProcessTests {
  /// A journal that somebody moves, removes or cuts short, beside a daemon and between two.
  @Suite struct LostJournalTests {
    private func push(_ peer: Peer, _ id: String) throws -> Peer.Message {
      try peer.ask(
        "op",
        #""nav":"kiosk","client":"\#(peer.client)","do":[{"push":{"screen":{"id":"\#(id)"}}}]"#)
    }

    @Test func `a journal that is gone is noticed by an idle daemon, until it is back`() throws {
      let daemon = try TestDaemon()
      let peer = try Peer(daemon.endpoint)
      try peer.create("kiosk")
      let away = daemon.directory.path + "/away"
      try FileManager.default.moveItem(atPath: daemon.state, toPath: away)
      // Nothing was asked.
      try daemon.child.complains("cannot use \(daemon.state): it is gone; put it back")
      let refusal = try push(peer, "a")
      #expect(refusal.body["code"]?.string == "storage", "\(refusal)")
      #expect(try peer.state("kiosk")["value"]?["rev"]?.integer == 1)
      let doctor = try daemon.navctl(["doctor"])
      #expect(doctor.status == 1 && doctor.output.contains("fail  storage"), "\(doctor.output)")
      #expect(doctor.output.contains("try: cannot use \(daemon.state): it is gone"))
      #expect(!doctor.output.contains("free disk space"))
      #expect(try daemon.navctl(["status"]).output.contains("cannot write the journal"))

      try FileManager.default.moveItem(atPath: away, toPath: daemon.state)
      try daemon.child.complains("the journal can be written again")
      #expect(try push(peer, "a").body["rev"]?.integer == 2)
      try daemon.kill()
      try daemon.start()
      #expect(try Peer(daemon.endpoint).state("kiosk")["value"]?["rev"]?.integer == 2)
      #expect(try daemon.stop() == 0)
    }

    @Test func `a daemon whose journal was removed ends with 7, and touches nothing in its place`()
      throws
    {
      let daemon = try TestDaemon()
      let peer = try Peer(daemon.endpoint)
      try peer.create("kiosk")
      try FileManager.default.removeItem(atPath: daemon.state)
      try daemon.child.complains("it is gone")
      #expect(try push(peer, "a").body["code"]?.string == "storage")
      try FileManager.default.createDirectory(
        atPath: daemon.state, withIntermediateDirectories: false)
      let other = daemon.state + "/journal.sqlite-wal"
      try "another".write(toFile: other, atomically: false, encoding: .utf8)
      #expect(try daemon.stop() == 7, "\(daemon.child.transcript)")
      #expect(try String(contentsOfFile: other, encoding: .utf8) == "another")
    }

    @Test(.enabled(if: canBecomeOthers, "only root can start a daemon of another user"))
    func `a file of another user is named with both users`() throws {
      let directory = try TestDirectory()
      let state = directory.path + "/state"
      try FileManager.default.setAttributes(
        [.posixPermissions: 0o711], ofItemAtPath: directory.path)
      let own = ["--listen", "ipc://\(directory.path)/none/s", "--state", state]
      // The first leaves a journal, which no address keeps it from making.
      #expect(try Child(Binaries.path("navd"), own).ended() == 8)
      let user: UInt32 = 65534
      for (owned, foreign) in [("", "/lock"), ("/lock", "/journal.sqlite")] {
        try #require(unsafe chown(state + owned, user, user) == 0)
        let daemon = try Child(
          Self.setpriv,
          ["--reuid=\(user)", "--regid=\(user)", "--clear-groups", Binaries.path("navd")] + own)
        #expect(try daemon.ended() == 7, "\(daemon.transcript)")
        let text = "\(state)\(foreign): it belongs to user 0, and navd is user \(user)"
        #expect(daemon.standardError.contains(text), "\(daemon.transcript)")
      }
    }

    private static let setpriv = "/usr/bin/setpriv"
    private static let canBecomeOthers =
      geteuid() == 0 && FileManager.default.isExecutableFile(atPath: setpriv)

    @Test func `a log that is removed between two runs is damage`() throws {
      let daemon = try TestDaemon()
      try Peer(daemon.endpoint).create("kiosk")
      try daemon.kill()
      try FileManager.default.removeItem(atPath: daemon.state + "/journal.sqlite-wal")
      for _ in 0..<2 {
        try daemon.start(until: "its write-ahead log is missing, or cut short")
        #expect(try daemon.child.ended() == 5)
      }
    }
  }
}
