import Foundation
import Testing

extension ProcessTests {
  /// Starting, stopping, and starting again after what a machine can do.
  @Suite struct LifecycleTests {
    /// Runs navd, which must end by itself.
    private func ends(
      _ options: [String], _ environment: [String: String] = [:]
    ) throws -> (status: Int32, output: String, errors: String) {
      let child = try Child(Binaries.path("navd"), options, environment: environment)
      let status = try child.ended()
      return (status, child.standardOutput, child.standardError)
    }

    @Test func `a stop signal says bye to clients and ends with 0`() throws {
      let daemon = try TestDaemon()
      let peer = try Peer(daemon.endpoint)
      try peer.hello()
      daemon.child.kill(SIGTERM)
      #expect(try daemon.child.ended() == 0)
      let end = try peer.awaits("bye") { $0.verb == "bye" }
      #expect(end.body["why"]?.string == "shutting-down")
      let path = String(daemon.endpoint.dropFirst("ipc://".count))
      #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `more peers than the limit are let in only when others leave`() throws {
      let limits = "[limits]\nconnections = 3\nconnections-per-principal = 3\n"
      let daemon = try TestDaemon(configuration: limits)
      // They say nothing, so that only their connections count.
      var peers = try (0..<3).map { _ in try Peer(daemon.endpoint) }
      for peer in peers { #expect(try peer.isAdmitted()) }
      #expect(try !Peer(daemon.endpoint).isAdmitted())
      peers.removeLast()
      #expect(try eventually { try Peer(daemon.endpoint).isAdmitted() })
      #expect(try daemon.stop() == 0)
    }

    @Test func `the sessions of many peers that leave a busy daemon end at once`() throws {
      let daemon = try TestDaemon(configuration: "[session]\nheartbeat = 60s\n")
      let witness = try Peer(daemon.endpoint)
      try witness.hello()
      func sessions() throws -> Int {
        try witness.get(#""nav":"$clients""#)["value"]?["screens"]?.array.count ?? 0
      }
      for _ in 0..<10 {
        var peers = try (0..<20).map { _ in try Peer(daemon.endpoint) }
        for peer in peers { try peer.hello() }
        #expect(try sessions() == 21)
        peers = []
        // Each question is a turn of the daemon's loop, so that it is never idle meanwhile.
        let end = Date(timeIntervalSinceNow: Child.patience)
        while try sessions() > 1, end > Date() {}
        #expect(try sessions() == 1)
      }
      #expect(try daemon.stop() == 0)
    }

    @Test func `a session ends at once when its peer is gone`() throws {
      // With more heartbeats a sign of life would find out, seconds later.
      let daemon = try TestDaemon(configuration: "[session]\nheartbeat = 60s\n")
      let witness = try Peer(daemon.endpoint)
      try witness.hello()
      var peer: Peer? = try Peer(daemon.endpoint)
      try peer?.hello()
      let client = try #require(peer?.client)
      _ = try witness.ask("watch", #""nav":"$clients""#)
      peer = nil
      _ = try witness.awaits("end of \(client)") { message in
        (message.body["ch"]?.array ?? []).contains {
          $0["del"]?.array.contains(.string(client)) == true
        }
      }
      #expect(try daemon.stop() == 0)
    }

    @Test(arguments: [[], ["--durability", "relaxed"]])
    func `after kill -9 epochs are the same and revisions go on`(options: [String]) throws {
      let daemon = try TestDaemon(options)
      let peer = try Peer(daemon.endpoint)
      try peer.create("kiosk")
      try peer.perform("kiosk", #"[{"push":{"screen":{"id":"a"}}}]"#)
      let before = try peer.state("kiosk")["value"]
      try daemon.kill()
      try daemon.start()
      let next = try Peer(daemon.endpoint)
      #expect(try next.state("kiosk")["value"] == before)
      let answer = try next.perform("kiosk", #"[{"push":{"screen":{"id":"b"}}}]"#)
      #expect(answer["rev"]?.integer == 3)
      #expect(answer["epoch"] == before?["epoch"])
      #expect(try next.log("kiosk").compactMap { $0["rev"]?.integer } == [1, 2, 3])
      #expect(try daemon.stop() == 0)
    }

    @Test func `a second daemon on the same endpoint ends with 8 and says who serves it`() throws {
      let daemon = try TestDaemon()
      let other = try ends([
        "--listen", daemon.endpoint, "--state", daemon.directory.path + "/other",
      ])
      #expect(other.status == 8)
      #expect(other.errors.contains("process \(daemon.child.pid)"), "\(other.errors)")
      #expect(try Peer(daemon.endpoint).ask("ping", "\"a\":1").verb == "pong")
    }

    @Test func `a second daemon with the same state ends with 4 and says who has it`() throws {
      let daemon = try TestDaemon()
      let other = try ends([
        "--listen", daemon.endpoint + "2", "--state", daemon.state,
      ])
      #expect(other.status == 4)
      #expect(other.errors.contains("\(daemon.child.pid)"), "\(other.errors)")
      #expect(other.errors.contains(daemon.endpoint), "\(other.errors)")
    }

    @Test func `a damaged journal ends with 5 and is left alone`() throws {
      let daemon = try TestDaemon()
      let peer = try Peer(daemon.endpoint)
      try peer.create("kiosk")
      for number in 0..<20 {
        try peer.perform("kiosk", #"[{"screen.set":{"screen":"home","title":"T\#(number)"}}]"#)
      }
      #expect(try daemon.stop() == 0)
      let path = daemon.state + "/journal.sqlite"
      var bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
      let title = Array("\"T7\"".utf8)
      guard let place = Data(bytes).range(of: Data(title)) else { throw Failure("no T7") }
      bytes[place.lowerBound + 2] = UInt8(ascii: "8")
      try Data(bytes).write(to: URL(fileURLWithPath: path))
      let result = try ends(["--listen", daemon.endpoint, "--state", daemon.state])
      #expect(result.status == 5, "\(result.errors)")
      #expect(Array(try Data(contentsOf: URL(fileURLWithPath: path))) == bytes)
    }

    @Test func `a file that is no journal ends with 5`() throws {
      let directory = try TestDirectory()
      let state = directory.path + "/state"
      try FileManager.default.createDirectory(
        atPath: state, withIntermediateDirectories: false,
        attributes: [.posixPermissions: 0o700])
      _ = try directory.write("state/journal.sqlite", String(repeating: "rubbish ", count: 2000))
      let result = try ends(["--listen", "ipc://\(directory.path)/op", "--state", state])
      #expect(result.status == 5, "\(result.errors)")
    }

    @Test func `state that cannot be written ends with 7`() throws {
      let directory = try TestDirectory()
      let file = try directory.write("file", "")
      for state in ["\(file)/state", "/proc/navd-state", "/sys/navd-state"] {
        let result = try ends(["--listen", "ipc://\(directory.path)/op", "--state", state])
        #expect(result.status == 7, "\(state): \(result.errors)")
        #expect(result.errors.contains(state), "\(result.errors)")
      }
    }

    static let strace = "/usr/bin/strace"

    /// Whether system calls of another process can be made to fail; says why not.
    static let canTrace: Bool = {
      guard let tracer = try? Child(strace, ["-qq", "-o", "/dev/null", "/bin/true"]),
        (try? tracer.ended()) == 0
      else {
        print("skipped: \(strace) is not there or may not trace; install strace")
        return false
      }
      return true
    }()

    @Test(.enabled(if: canTrace, "no process can be traced"))
    func `a sync that fails while serving ends with 9, and nothing it was about was answered`()
      throws
    {
      let daemon = try TestDaemon()
      let peer = try Peer(daemon.endpoint)
      try peer.create("kiosk")
      try peer.hello()
      let tracer = try Child(
        Self.strace,
        [
          "-f", "-p", "\(daemon.child.pid)", "-e", "trace=fsync,fdatasync",
          "-e", "inject=fsync,fdatasync:error=EIO",
        ])
      try tracer.complains(" attached")
      try peer.send(
        "op", #"{"id":900,"nav":"kiosk","do":[{"push":{"screen":{"id":"a"}}}]}"#)
      #expect(try daemon.child.ended() == 9, "\(daemon.child.transcript)")
      var answered: [String] = []
      _ = try peer.awaits("bye") { message in
        if message.body["id"]?.integer == 900 { answered.append(message.verb) }
        return message.verb == "bye"
      }
      #expect(answered == [])
      #expect(daemon.child.standardError.contains("cannot sync"), "\(daemon.child.transcript)")
      try tracer.ended()
      try daemon.start()
      // It may be there or not, but only once, and what was answered is.
      let ids = try Peer(daemon.endpoint).state("kiosk")["value"]?["screens"]?.ids
      #expect(ids == ["home"] || ids == ["home", "a"])
      #expect(try daemon.navctl(["verify", "kiosk"]).status == 0)
    }

    @Test func `an endpoint in a directory that is not there ends with 8`() throws {
      let directory = try TestDirectory()
      let result = try ends([
        "--listen", "ipc://\(directory.path)/none/op", "--state", "\(directory.path)/state",
      ])
      #expect(result.status == 8, "\(result.errors)")
    }

    @Test(arguments: [
      ("[limits]\ndepth = none\n", ":2"), ("[limits]\n\ndepht = 3\n", ":3"),
      ("[daemon]\nlisten = tcp://0.0.0.0:5719\n", ":2"), ("[nobody]\na = 1\n", ":"),
    ])
    func `a bad configuration ends with 3 and says where`(text: String, line: String) throws {
      let directory = try TestDirectory()
      let file = try directory.write("navd.conf", text)
      for options in [["--config", file], ["--config", file, "--check-config"]] {
        let result = try ends(options, ["HOME": directory.path])
        #expect(result.status == 3, "\(result.errors)")
        #expect(result.errors.contains(file + line), "\(result.errors)")
      }
    }

    @Test func `the command line is checked`() throws {
      let directory = try TestDirectory()
      let environment = ["HOME": directory.path]
      for options in [["--fly"], ["--listen"], ["operand"]] {
        #expect(try ends(options, environment).status == 2, "\(options)")
      }
      let tcp = try ends(["--listen", "tcp://127.0.0.1:5719"], environment)
      #expect([2, 3].contains(tcp.status))
      #expect(tcp.errors.contains("tcp"))
      #expect(try ends(["--config", "/nowhere/navd.conf"], environment).status == 3)
      let version = try ends(["--version"], environment)
      #expect(version.status == 0)
      #expect(version.output.hasPrefix("navd "))
      #expect(try ends(["--help"], environment).status == 0)
      let file = try directory.write("navd.conf", "[limits]\ndepth = 32\n")
      #expect(try ends(["--config", file, "--check-config"], environment).status == 0)
      #expect(!FileManager.default.fileExists(atPath: directory.path + "/.local"))
    }

    /// Runs a command in a user namespace that permits no instance of inotify(7).
    private static func withoutInotify(_ words: [String]) throws -> Child {
      let script = "echo 0 >/proc/sys/user/max_inotify_instances && exec \"$@\""
      return try Child(
        "/usr/bin/unshare",
        ["--user", "--map-root-user", "sh", "-c", script, "sh"] + words)
    }

    /// Whether a user namespace can be made here; prints the reason if not.
    static let canLimit: Bool = {
      let child = try? withoutInotify(["true"])
      if (try? child?.ended()) == 0 { return true }
      print("skipped: no user namespace: \(child?.standardError ?? "unshare is missing")")
      return false
    }()

    @Test(.enabled(if: canLimit, "no user namespace can be made"))
    func `without an inotify instance navd serves, and logs what it does not notice`() throws {
      let directory = try TestDirectory()
      let endpoint = "ipc://\(directory.path)/op"
      let daemon = try Self.withoutInotify([
        Binaries.path("navd"), "--listen", endpoint, "--state", directory.path + "/state",
      ])
      try daemon.complains("serving ")
      try daemon.complains("raise fs.inotify.max_user_instances")
      try Peer(endpoint).create("kiosk")
      daemon.kill(SIGTERM)
      #expect(try daemon.ended() == 0, "\(daemon.transcript)")
    }
  }
}
