import Foundation
import Testing

extension ProcessTests {
  /// What navctl says of the daemon itself.
  @Suite struct NavctlDaemonTests {
    @Test func `top draws a block each time, with rates from the second on`() throws {
      let daemon = try TestDaemon()
      #expect(try daemon.navctl(["create", "kiosk", "--root", "home"]).status == 0)
      let top = try daemon.startNavctl(["top", "--count", "2", "--interval", "700ms"])
      try top.says("OPERATIONS")
      #expect(try daemon.navctl(["push", "kiosk", "a", "--new"]).status == 0)
      #expect(try top.ended() == 0)
      let frames = top.standardOutput.components(separatedBy: "navd/").dropFirst()
      #expect(frames.count == 2, "\(top.transcript)")
      let counts = frames.compactMap { frame in
        frame.split(separator: "\n").first { $0.hasPrefix("ok ") }?.split(separator: " ")
      }
      #expect(counts.first?.dropFirst() == ["-", "1"])
      #expect(counts.last?.last == "2")
      #expect(counts.last.flatMap { Double($0[1]) }.map { $0 > 0 } == true)
      #expect(!top.standardOutput.contains("\u{1B}"), "escape sequences where there is no terminal")
    }

    @Test func `top refuses what it cannot do`() throws {
      let daemon = try TestDaemon()
      #expect(try daemon.navctl(["top", "--interval", "10ms"]).status == 2)
      try daemon.kill()
      #expect(try daemon.navctl(["top", "--timeout", "300ms"]).status == 7)
    }

    @Test func `top ends in order when it is told to`() throws {
      let daemon = try TestDaemon()
      let top = try daemon.startNavctl(["top"])
      try top.says("OPERATIONS")
      top.kill(SIGINT)
      #expect(try top.ended() == 0)
    }

    @Test func `status is a summary, and JSON keeps every member`() throws {
      let daemon = try TestDaemon()
      let text = try daemon.navctl(["status"])
      #expect(text.status == 0)
      #expect(text.output.hasPrefix("navd answers at \(daemon.endpoint)\n  serving\n"))
      #expect(text.output.split(separator: "\n").count < 24)
      let value = try #require(try JSON(daemon.navctl(["status", "-o", "json"]).output)["value"])
      for member in [
        "server", "boot", "seq", "navs", "sessions", "watches", "rememberedClients",
        "resumeBytes", "operations", "commit", "journal", "disk", "process", "lag",
      ] {
        #expect(value[member] != nil, "\(member)")
      }
      try daemon.kill()
      let gone = try daemon.navctl(["status", "--timeout", "300ms"])
      #expect(gone.status == 7)
      #expect(gone.errors.contains("try: systemctl restart navd.socket"))
    }

    @Test func `doctor finds a sound daemon sound, and one that is gone`() throws {
      let daemon = try TestDaemon()
      let sound = try daemon.navctl(["doctor"])
      #expect(sound.status == 0, "\(sound.output)")
      #expect(!sound.output.contains("fail"))
      for subject in ["endpoint", "socket", "daemon", "clock", "version", "storage", "libzmq"] {
        #expect(sound.output.contains("ok    \(subject)"), "\(subject): \(sound.output)")
      }
      try daemon.kill()
      let gone = try daemon.navctl(["doctor", "-o", "json", "--timeout", "300ms"])
      #expect(gone.status == 1)
      #expect(try JSON(gone.output)["ok"] == .bool(false))
      let nowhere = try daemon.navctl([
        "doctor", "--endpoint", "ipc:///nowhere/x", "--timeout", "1s",
      ])
      #expect(nowhere.status == 1)
      #expect(nowhere.output.contains("fail  socket"))
      #expect(nowhere.output.contains("try: systemctl restart navd.socket"))
    }

    @Test func `the busiest sessions are told to an admin`() throws {
      let daemon = try TestDaemon()
      let value = try #require(
        try JSON(daemon.navctl(["get", "--what", "stats", "-o", "json"]).output)["value"])
      // Whoever runs the tests runs the daemon.
      #expect(value["busiest"] == .array([]))
    }
  }
}
