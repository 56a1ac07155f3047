import ZeroMQ
import Foundation
import Testing

extension ProcessTests {
  /// Keys, leases and saved files: what navctl refuses, and what it says about it.
  @Suite struct NavctlKeyTests {
    private func authorize(
      _ daemon: TestDaemon, _ words: [String], environment: [String: String] = [:]
    ) throws -> (status: Int32, output: String, errors: String) {
      try daemon.navctl(
        ["key", "authorize"] + words + ["--keys", "\(daemon.directory.path)/keys"],
        environment: environment)
    }

    private func listed(_ daemon: TestDaemon) throws -> [JSON] {
      let list = try daemon.navctl(
        ["key", "list", "-o", "json", "--keys", "\(daemon.directory.path)/keys"])
      #expect(list.status == 0, "\(list.errors)")
      return try JSON(list.output.utf8)["keys"]?.array ?? []
    }

    @Test func `a list of keys is one object, with none at first`() throws {
      let daemon = try TestDaemon()
      let words = ["key", "list", "-o", "json", "--keys", "\(daemon.directory.path)/keys"]
      #expect(try daemon.navctl(words).output == #"{"type":"keys","keys":[]}"# + "\n")
      for name in ["a", "b"] {
        let key = "\(try CurveKeyPair.generate().publicKey)"
        #expect(try authorize(daemon, [name, key, "--role", "ui"]).status == 0)
      }
      #expect(try listed(daemon).compactMap { $0["name"]?.string } == ["a", "b"])
    }

    @Test func `a role that nobody knows is refused, one of the configuration is taken`() throws {
      let daemon = try TestDaemon(
        configuration: """
          [access]
          role = operators uid:12345
          grant = role:viewers * read
          """)
      let key = "\(try CurveKeyPair.generate().publicKey)"
      let refused = try authorize(daemon, ["panel", key, "--role", "operator"])
      #expect(refused.status == 2, "\(refused.errors)")
      #expect(refused.errors.contains("there is no role 'operator'"), "\(refused.errors)")
      #expect(refused.errors.contains("admin, operators, read, ui, viewers"), "\(refused.errors)")
      #expect(try listed(daemon).isEmpty)
      for role in ["operators", "viewers", "ui", "read", "admin"] {
        let taken = try authorize(daemon, ["panel", key, "--role", role])
        #expect(taken.status == 0, "\(taken.errors)")
        #expect(try listed(daemon).first?["role"]?.string == role)
      }
      // Without a daemon that could know it only the roles that are built in are sure to exist.
      let nowhere = ["NAVD_ENDPOINT": "ipc://\(daemon.directory.path)/none"]
      let words = ["panel", key, "--timeout", "100ms", "--role"]
      let unknown = try authorize(daemon, words + ["viewers"], environment: nowhere)
      #expect(unknown.status == 2 && unknown.errors.contains("start navd"), "\(unknown.errors)")
      #expect(try authorize(daemon, words + ["ui"], environment: nowhere).status == 0)
    }

    @Test func `a key that begins with a dash is a key`() throws {
      let daemon = try TestDaemon()
      let tail = "\(try CurveKeyPair.generate().publicKey)"
      // The last row looks like an option that is abbreviated and has a value.
      for (name, dashes) in [("one", "-"), ("two", "--"), ("short", "-e"), ("long", "--t=")] {
        let key = dashes + tail.dropFirst(dashes.count)
        for words in [[name, key, "--role", "ui"], ["--role", "ui", name, key]] {
          let taken = try authorize(daemon, words)
          #expect(taken.status == 0, "\(words) \(taken.errors)")
        }
        let found = try listed(daemon).first { $0["name"]?.string == name }
        #expect(found?["public"]?.string == key)
        #expect(
          try daemon.navctl(
            ["key", "revoke", name, "--keys", "\(daemon.directory.path)/keys"]).status == 0)
        // As the value of an option, in both forms, it is judged as a key.
        for option in [["--server-key", key], ["--server-key=\(key)"]] {
          let missing = try daemon.navctl(
            ["list", "--endpoint", "tcp://127.0.0.1:9"] + option)
          #expect(missing.errors.contains("needs this client's secret key"), "\(missing.errors)")
        }
      }
      // A word of another length is an option still.
      #expect(try authorize(daemon, ["three", "-x"]).status == 2)
    }

    @Test(arguments: ["0", "0s", "0.0001ms", "-1", "-5s", "soon", ""])
    func `a time of nothing is a usage error`(time: String) throws {
      for words in [["list", "--timeout", time], ["list", "--timeout=\(time)"]] {
        let child = try Child(
          Binaries.path("navctl"), words, environment: ["NAVD_ENDPOINT": "ipc:///nowhere"])
        #expect(try child.ended() == 2, "\(child.transcript)")
        #expect(
          child.standardError.hasPrefix("navctl: usage: --timeout takes"), "\(child.transcript)")
      }
    }

    @Test func `save names the screens that it leaves out`() throws {
      let daemon = try TestDaemon()
      let root = ["--root", "home", "--restoration-id", "home"]
      #expect(try daemon.navctl(["create", "kiosk"] + root).status == 0)
      #expect(try daemon.navctl(["set", "kiosk", "settings", "restorationID=kiosk"]).status == 0)
      let file = "\(daemon.directory.path)/saved"
      let whole = try daemon.navctl(["save", "kiosk", file])
      #expect(whole.status == 0 && whole.errors == "", "\(whole.errors)")
      for id in ["wifi", "dns"] {
        #expect(try daemon.navctl(["push", "kiosk", id, "--new"]).status == 0)
      }
      for words in [["save", "kiosk", file], ["save", "kiosk"]] {
        let part = try daemon.navctl(words)
        #expect(part.status == 0, "\(part.errors)")
        #expect(part.errors.contains("wifi, dns\n"), "\(part.errors)")
        #expect(
          part.errors.contains("try: navctl set kiosk screen wifi restorationID=wifi"),
          "\(part.errors)")
      }
    }

    @Test func `a command inside a lease is told how to hold the display itself`() throws {
      let daemon = try TestDaemon()
      #expect(try daemon.navctl(["create", "demo", "--root", "home"]).status == 0)
      #expect(try daemon.navctl(["push", "demo", "wifi", "--new"]).status == 0)
      let inner = [Binaries.path("navctl"), "gesture", "demo", "begin", "cancel", "--any"]
      let refused = try daemon.navctl(["lease", "demo", "take", "--"] + inner)
      #expect(refused.status == 5, "\(refused.errors)")
      #expect(refused.errors.contains("lease-lost: "), "\(refused.errors)")
      #expect(refused.errors.contains("navctl gesture demo ... --lease"), "\(refused.errors)")
      let instead = try daemon.navctl(Array(inner.dropFirst()) + ["--lease"])
      #expect(instead.status == 0, "\(instead.errors)")
      // A lease of another nav has nothing to do with it.
      #expect(try daemon.navctl(["create", "other", "--root", "home"]).status == 0)
      let holder = try daemon.startNavctl(["lease", "other", "take"])
      try holder.says("display held")
      let stranger = [Binaries.path("navctl"), "set", "other", "display", "scale=3"]
      let other = try daemon.navctl(["lease", "demo", "take", "--"] + stranger)
      #expect(other.status == 5 && !other.errors.contains("--lease"), "\(other.errors)")
    }
  }
}
