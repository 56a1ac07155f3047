import Foundation
import Testing

extension ProcessTests {
  /// What navd does not let its clients do, and navctl's status 5.
  @Suite struct NavctlForbiddenTests {
    private static let setpriv = "/usr/bin/setpriv"
    /// Users and groups that own nothing here.
    private static let member: UInt32 = 65534
    private static let stranger: UInt32 = 65533

    /// Runs navctl as another user.
    private static func navctl(_ words: [String], as id: UInt32, endpoint: String = "") throws
      -> Child
    {
      try Child(
        setpriv,
        ["--reuid", "\(id)", "--regid", "\(id)", "--clear-groups", Binaries.path("navctl")] + words,
        environment: ["HOME": "/nonexistent", "NAVD_ENDPOINT": endpoint])
    }

    /// Whether the tests may be other users, who can run the binary.
    static let canBeOthers: Bool = {
      guard geteuid() == 0, FileManager.default.isExecutableFile(atPath: setpriv),
        (try? navctl(["--version"], as: member).ended()) == 0
      else {
        print("skipped: navctl cannot be run as another user; run as root")
        return false
      }
      return true
    }()

    /// A daemon with a configuration, where others can reach the socket.
    private func daemon(_ configuration: String) throws -> (TestDirectory, Child, String) {
      let directory = try TestDirectory()
      try FileManager.default.setAttributes(
        [.posixPermissions: 0o755], ofItemAtPath: directory.path)
      let file = try directory.write("navd.conf", configuration)
      let endpoint = "ipc://\(directory.path)/op"
      let child = try Child(
        Binaries.path("navd"),
        ["--config", file, "--listen", endpoint, "--state", directory.path + "/state"],
        environment: ["HOME": directory.path])
      try child.complains("serving ")
      return (directory, child, endpoint)
    }

    @Test(.enabled(if: canBeOthers, "navctl cannot be run as another user"))
    func `another user may look, and change what is the user's own, and nothing else`() throws {
      let (directory, child, endpoint) = try daemon(
        "[daemon]\nsocket-group = \(Self.member)\n")
      defer { child.kill(SIGKILL) }
      let owner = try Peer(endpoint)
      try owner.create("kiosk")
      try owner.hello()
      #expect(try owner.ask("lease", #""nav":"kiosk","take":true"#).verb == "ok")
      for (words, status) in [
        (["show", "kiosk"], Int32(0)), (["push", "kiosk", "a", "--new"], 0),
        (["pop", "kiosk", "--top", "a"], 0), (["set", "kiosk", "settings", "guard=none"], 5),
        (["set", "proxy", "barTintColor=red"], 5), (["close", "kiosk", "--any"], 5),
        (["lease", "kiosk", "release", "--force"], 5), (["list", "--clients"], 5),
        (["watch", "$clients"], 5), (["create", "own", "--root", "r"], 0),
        (["set", "own", "settings", "guard=none"], 0), (["close", "own"], 2),
        (["close", "own", "--any"], 0), (["list"], 0),
      ] {
        let other = try Self.navctl(words, as: Self.member, endpoint: endpoint)
        #expect(try other.ended() == status, "\(other.transcript)")
        #expect(other.standardError.contains("forbidden: ") == (status == 5), "\(other.transcript)")
      }
      let stranger = try Self.navctl(["list"], as: Self.stranger, endpoint: endpoint)
      #expect(try stranger.ended() == 5, "\(stranger.transcript)")
      #expect(stranger.standardError.contains("\(directory.path)/op"), "\(stranger.transcript)")
      #expect(stranger.standardError.contains("usermod -aG "), "\(stranger.transcript)")
    }

    @Test(.enabled(if: canBeOthers, "navctl cannot be run as another user"))
    func `the doctor names the directory that hides the socket, its group and the command`() throws
    {
      let (directory, child, endpoint) = try daemon("")
      defer { child.kill(SIGKILL) }
      try FileManager.default.setAttributes(
        [.posixPermissions: 0o750], ofItemAtPath: directory.path)
      for words in [["doctor"], ["list"]] {
        let other = try Self.navctl(words, as: Self.stranger, endpoint: endpoint)
        #expect(try other.ended() == (words == ["doctor"] ? 1 : 5), "\(other.transcript)")
        let text = other.standardOutput + other.standardError
        #expect(text.contains("\(directory.path)/ is open to group "), "\(text)")
        #expect(text.contains("usermod -aG ") && !text.contains("systemctl start"), "\(text)")
      }
    }

    @Test func `one connection too many is refused, those that ended do not count`() throws {
      let (directory, child, endpoint) = try daemon(
        "[limits]\nconnections = 3\nconnections-per-principal = 3\n")
      defer { child.kill(SIGKILL) }
      // Strangers come and go; the daemon has seen the end of all when it serves as many as it may.
      for _ in 0..<20 { try RawConnection(directory.path + "/op").send(Array("GET /".utf8)) }
      var peers: [Peer] = []
      for _ in 0..<3 {
        peers.append(try Peer(endpoint))
        #expect(try peers.last?.ask("ping", "\"a\":1").verb == "pong")
      }
      let refused = try Child(
        Binaries.path("navctl"), ["list", "--timeout", "3s"],
        environment: ["HOME": directory.path, "NAVD_ENDPOINT": endpoint])
      #expect(try refused.ended() == 5, "\(refused.transcript)")
      #expect(refused.standardError.contains("connections"), "\(refused.transcript)")
      #expect(try peers[0].ask("ping", "\"a\":1").verb == "pong")
    }
  }
}
