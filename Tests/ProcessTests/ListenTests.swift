import Foundation
import Testing

extension ProcessTests {
  /// Where navd listens: at sockets of the service manager, of the configuration, and by the rule.
  @Suite struct ListenTests {
    private static let activator = "/usr/bin/systemd-socket-activate"

    @Test(
      .enabled(if: ServiceManagerTests.hasActivator, "systemd-socket-activate is not installed"))
    func `an address of the configuration is served besides the service manager's socket`() throws {
      let directory = try TestDirectory()
      let (passed, own) = (directory.path + "/op", directory.path + "/own")
      let text = "[daemon]\nlisten = ipc://\(own)\nlisten = ipc://\(passed)\n"
      let file = try directory.write("navd.conf", text)
      let daemon = try Child(
        Self.activator,
        [
          "--listen=\(passed)", Binaries.path("navd"), "--config", file, "--state",
          directory.path + "/state",
        ], environment: ["HOME": directory.path])
      try daemon.complains("Listening on ")
      let first = try Peer("ipc://\(passed)")
      try first.create("kiosk")
      // Each once: one of them is the service manager's.
      try daemon.complains("serving 0 navs on ipc://\(passed) ipc://\(own), ")
      #expect(try Peer("ipc://\(own)").state("kiosk")["rev"]?.integer == 1)
      // Nobody takes the path of the service manager's socket by mistake.
      let second = try Child(
        Binaries.path("navd"), ["--listen", "ipc://\(passed)", "--state", directory.path + "/b"],
        environment: ["LISTEN_FDS": "1", "LISTEN_PID": "1"])
      #expect(try second.ended() == 8)
      #expect(second.standardError.contains(" serves it; stop it or use another path"))
      #expect(second.standardError.contains("passed its sockets to process 1, and navd is"))
      try Peer("ipc://\(passed)").create("other")
      // Under systemd the socket has no second name, because root owns it.
      try FileManager.default.removeItem(atPath: passed + ".own")
      try FileManager.default.removeItem(atPath: passed)
      try daemon.complains("cannot restore ipc://\(passed), which another process replaced: ")
      let doctor = try Child(Binaries.path("navctl"), ["doctor", "-e", "ipc://\(own)"])
      #expect(try doctor.ended() == 1)
      #expect(doctor.standardOutput.contains("fail  socket"))
      #expect(doctor.standardOutput.contains("; systemctl restart navd.socket"))
      daemon.kill(SIGTERM)
      #expect(try daemon.ended() == 0, "\(daemon.transcript)")
      #expect(!FileManager.default.fileExists(atPath: own))
    }

    @Test func `an address that no interface has yet does not keep clients on ipc waiting`() throws
    {
      let directory = try TestDirectory()
      let key = directory.path + "/navd.key"
      // An address of RFC 5737, which no machine has.
      let daemon = try TestDaemon(
        ["--listen", "tcp://192.0.2.7:\(FreePort.find())"],
        environment: ["NAVD_ACCESS_SECRET_KEY": try makeKey(key)])
      try daemon.child.complains("no interface of this machine has the address of tcp://192.0.2.7")
      try Peer(daemon.endpoint).create("kiosk")
      #expect(try daemon.stop() == 0)
    }

    private func makeKey(_ path: String) throws -> String {
      let navctl = try Child(Binaries.path("navctl"), ["key", "new", path])
      #expect(try navctl.ended() == 0, "\(navctl.transcript)")
      return path
    }
  }
}
