import ZeroMQ
import Foundation
import Testing

extension ProcessTests {
  /// What navctl says to do about a refusal: the next command to type, for each cause its own.
  @Suite struct NavctlRemedyTests {
    /// A key in a file.
    private func key(_ site: NetworkDaemon, _ name: String) throws -> (file: String, pair: String) {
      let file = "\(site.keys.path)/\(name).key"
      return (file, "\(try SecretKeyFile.create(file))")
    }

    @Test func `a key that is not authorised is told how to authorise it`() throws {
      let site = try NetworkDaemon()
      let (file, text) = try key(site, "panel")
      let refused = try site.navctl(["list"], key: file)
      #expect(refused.status == 5, "\(refused.errors)")
      #expect(refused.errors.hasPrefix("navctl: not-admitted: "), "\(refused.errors)")
      #expect(
        refused.errors.contains("navctl key authorize NAME '\(text)' --role ui"),
        "\(refused.errors)")
      #expect(!refused.errors.contains("connections"), "\(refused.errors)")
    }

    @Test func `another server's key is told how to find the right one`() throws {
      let site = try NetworkDaemon()
      let (file, text) = try key(site, "panel")
      try site.directory.authorize(
        AuthorizedKey(name: "panel", publicKey: SecretKeyFile.publicKey(text), role: "ui"))
      let wrong = try CurveKeyPair.generate().publicKey
      let refused = try site.daemon.navctl(
        ["list"],
        environment: [
          "NAVD_ENDPOINT": site.endpoint, "NAVD_SERVER_KEY": "\(wrong)", "NAVD_KEY": file,
        ])
      #expect(refused.status == 5, "\(refused.errors)")
      #expect(refused.errors.hasPrefix("navctl: wrong-server-key: "), "\(refused.errors)")
      #expect(refused.errors.contains("\(wrong)"), "\(refused.errors)")
      #expect(refused.errors.contains("navctl key public FILE"), "\(refused.errors)")
    }

    @Test func `a revoked key is told so, and not to try again`() throws {
      let site = try NetworkDaemon()
      let (file, text) = try key(site, "panel")
      try site.directory.authorize(
        AuthorizedKey(name: "panel", publicKey: SecretKeyFile.publicKey(text), role: "ui"))
      try Peer(site.daemon.endpoint).create("kiosk")
      #expect(try eventually { try site.navctl(["list"], key: file).status == 0 })
      let watch = try site.startNavctl(["watch", "kiosk"], key: file)
      try watch.writes(lines: 1)
      #expect(try site.directory.revoke("panel"))
      #expect(try watch.ended() == 5, "\(watch.transcript)")
      #expect(watch.standardError.contains("navctl: revoked: "), "\(watch.transcript)")
      #expect(watch.standardError.contains("navctl key authorize"), "\(watch.transcript)")
    }

    @Test(arguments: [true, false])
    func `where there is no room navctl waits for it until its time is up`(isLocal: Bool) throws {
      let pair = try CurveKeyPair.generate()
      let site = try NetworkDaemon(
        "[limits]\nconnections-per-principal = 1\n", authorized: ["panel": (pair, "ui")])
      let file = "\(site.keys.path)/panel.key"
      try Data("\(pair.secretKey.z85)\n".utf8).write(to: URL(fileURLWithPath: file))
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
      func start(_ timeout: String) throws -> Child {
        let words = ["list", "--timeout", timeout]
        return isLocal ? try site.daemon.startNavctl(words) : try site.startNavctl(words, key: file)
      }
      var holder: Peer? = isLocal ? try Peer(site.daemon.endpoint) : try site.peer(pair)
      #expect(try holder?.ask("ping", "\"a\":1").verb == "pong")
      let refused = try start("300ms")
      #expect(try refused.ended() == 5, "\(refused.transcript)")
      #expect(
        refused.standardError.hasPrefix("navctl: too-many-connections: "), "\(refused.transcript)")
      #expect(refused.standardError.contains("--timeout 60s"), "\(refused.transcript)")
      #expect(
        refused.standardError.contains("connections-per-principal"), "\(refused.transcript)")
      let before = site.daemon.refusals
      let patient = try start("20s")
      #expect(try eventually { site.daemon.refusals > before }, "\(site.daemon.child.transcript)")
      #expect(patient.isRunning)
      holder = nil
      #expect(try patient.ended() == 0, "\(patient.transcript)")
    }

    @Test func `after a read timed out nothing may have been done, after a change something may`()
      throws
    {
      let daemon = try TestDaemon()
      #expect(try daemon.navctl(["create", "kiosk", "--root", "home"]).status == 0)
      daemon.child.kill(SIGSTOP)
      defer { daemon.child.kill(SIGCONT) }
      for words in [["list"], ["show", "kiosk"], ["backup"], ["lease", "kiosk", "take"]] {
        let read = try daemon.navctl(words + ["--timeout", "100ms"])
        #expect(read.status == 4, "\(words) \(read.errors)")
        #expect(read.errors.hasPrefix("navctl: timeout: "), "\(read.errors)")
        #expect(!read.errors.contains("may have been"), "\(read.errors)")
      }
      let change = try daemon.navctl(["push", "kiosk", "wifi", "--new", "--timeout", "100ms"])
      #expect(change.status == 4, "\(change.errors)")
      #expect(change.errors.contains("it may have made the change"), "\(change.errors)")
      #expect(change.errors.contains("navctl show NAV"), "\(change.errors)")
    }

    @Test func `what is forbidden names the right or the role that permits it`() throws {
      let site = try NetworkDaemon()
      let (file, text) = try key(site, "panel")
      try site.directory.authorize(
        AuthorizedKey(name: "panel", publicKey: SecretKeyFile.publicKey(text), role: "ui"))
      try Peer(site.daemon.endpoint).create("kiosk")
      #expect(try eventually { try site.navctl(["list"], key: file).status == 0 })
      for (words, remedy) in [
        (["backup"], "as root: sudo navctl backup; or role = admin WHO"),
        (["list", "--clients"], "as root: sudo navctl list; or role = admin WHO"),
        (["close", "kiosk", "--any"], "grant = WHO kiosk admin in [access]"),
        (["set", "kiosk", "settings", "guard=none"], "grant = WHO kiosk admin in [access]"),
      ] {
        let refused = try site.navctl(words, key: file)
        #expect(refused.status == 5, "\(words) \(refused.errors)")
        #expect(refused.errors.contains("navctl: forbidden: "), "\(refused.errors)")
        #expect(refused.errors.contains(remedy), "\(words) \(refused.errors)")
      }
    }

    @Test func `a screen that is missing, or there already, is told what the operation can do`()
      throws
    {
      let daemon = try TestDaemon()
      #expect(try daemon.navctl(["create", "kiosk", "--root", "home"]).status == 0)
      #expect(try daemon.navctl(["push", "kiosk", "wifi", "--new"]).status == 0)
      let look = "try: list the screens: navctl show kiosk, navctl get kiosk --what detached"
      let cases: [([String], Int32, String)] = [
        (["push", "kiosk", "gone"], 6, "try: make it: navctl push kiosk gone --new"),
        (["segue", "kiosk", "gone"], 6, "try: make it: navctl segue kiosk gone --new"),
        (["present", "kiosk", "gone"], 6, "try: make it: navctl present kiosk gone --new"),
        (["stack", "kiosk", "gone", "--any"], 6, #"{"id":"ID","title":"TEXT"}"#),
        (["pop-to", "kiosk", "gone"], 6, look),
        (["set", "kiosk", "screen", "gone", "title=T"], 6, look),
        (["dismiss", "kiosk", "--from", "gone"], 6, look),
        (["get", "kiosk", "--screen", "gone"], 6, look),
        (["push", "kiosk", "wifi"], 1, "--if-absent; or go back to it: navctl pop-to kiosk ID"),
        (["segue", "kiosk", "wifi"], 1, "try: go back to it: navctl pop-to kiosk ID"),
        (["screen", "kiosk", "create", "wifi", "title=T"], 1, "navctl set kiosk screen ID"),
        (["stack", "kiosk", #"{"id":"wifi"}"#, "--any"], 1, "by its id alone"),
      ]
      for (words, status, remedy) in cases {
        let refused = try daemon.navctl(words)
        #expect(refused.status == status, "\(words) \(refused.errors)")
        #expect(refused.errors.contains(remedy), "\(words) \(refused.errors)")
        let creates = refused.errors.contains("create it") || refused.errors.contains("push a rec")
        #expect(!creates, "\(words) \(refused.errors)")
      }
    }
  }
}

extension TestDaemon {
  /// How often the daemon's log has a connection that was one too many.
  fileprivate var refusals: Int {
    child.standardError.components(separatedBy: "too many connections").count - 1
  }
}
