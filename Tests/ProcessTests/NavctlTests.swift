import Foundation
import Testing

extension ProcessTests {
  /// The command line against a living daemon.
  @Suite struct NavctlTests {
    /// Every command once, in an order in which each succeeds.
    private static let commands: [[String]] = [
      ["create", "kiosk", "--root", "home", "--title", "Home"],
      ["create", "kiosk", "--root", "home", "--if-absent"],
      ["show", "kiosk"], ["push", "kiosk", "wifi", "--title", "Wi-Fi", "--route", "settings/wifi"],
      ["push", "kiosk", "dns", "--title", "DNS"], ["set", "kiosk", "screen", "dns", "title=Names"],
      ["set", "kiosk", "item", "dns", "prompt=Choose", "rightItems=scan=Scan"],
      ["button", "kiosk", "create", "more", "title=More"],
      ["set", "kiosk", "button", "more", "title=Most"], ["set", "kiosk", "button", "more"],
      ["button", "kiosk", "activate", "scan"], ["button", "kiosk", "release", "more"],
      ["get", "kiosk", "--what", "top"], ["get", "kiosk", "--at", "1"],
      ["get", "kiosk", "--screen", "wifi"], ["log", "kiosk", "--from", "1", "--limit", "3"],
      ["history", "kiosk", "--limit", "3"], ["history", "kiosk", "--at", "2"],
      ["set", "kiosk", "settings", "hidesBarsOnTap=true", "veto.deadline=500"],
      ["set", "kiosk", "settings"], ["set", "kiosk", "display"], ["set", "kiosk", "bar"],
      ["set", "kiosk", "toolbar"], ["transition", "kiosk"],
      ["screen", "kiosk", "create", "later", "title=Later"],
      ["set", "kiosk", "screen", "later", "route=later"], ["screen", "kiosk", "release", "later"],
      ["detach", "kiosk"], ["attach", "kiosk"], ["get", "--what", "stats"],
      ["push", "kiosk", "queued", "--new", "--on-busy", "queue"],
      ["pop", "kiosk", "--stack", "home,wifi,dns,queued"], ["list", "--clients"],
      ["list"], ["status"], ["verify"], ["verify", "kiosk"], ["wait", "kiosk", "--top", "dns"],
      ["watch", "kiosk", "--count", "1"], ["pop", "kiosk", "--top", "dns"],
      ["push", "kiosk", "deep", "--title", "Deep"], ["pop-to", "kiosk", "wifi"],
      ["pop-to-root", "kiosk"], ["op", "kiosk", #"{"push":{"screen":{"id":"x"}}}"#],
      ["show", "kiosk"], ["stack", "kiosk", "home", #"{"id":"about"}"#, "--any"],
      ["close", "kiosk", "--any"],
    ]

    @Test(arguments: [[], ["-o", "json"]])
    func `every command does its work`(options: [String]) throws {
      let daemon = try TestDaemon()
      for command in Self.commands {
        let result = try daemon.navctl(command + options)
        #expect(result.status == 0, "\(command): \(result.output)\(result.errors)")
        // A remark that nothing had to be done is all that may stand here.
        #expect(result.errors.isEmpty || command.contains("--if-absent"), "\(command)")
        guard !options.isEmpty else { continue }
        #expect(!result.output.isEmpty, "\(command)")
        for line in result.output.split(separator: "\n") {
          #expect(throws: Never.self, "\(command): \(line)") { try JSON(line.utf8) }
        }
      }
      #expect(try daemon.navctl(["explain", "desync"]).status == 0)
      #expect(try daemon.stop() == 0)
    }

    @Test func `the exit status says what kind of failure it is`() throws {
      let daemon = try TestDaemon()
      #expect(try daemon.navctl(["create", "kiosk", "--root", "home"]).status == 0)
      #expect(try daemon.navctl(["push", "kiosk", "a", "--new"]).status == 0)
      let cases: [([String], Int32)] = [
        (["create", "kiosk", "--root", "home"], 1), (["push", "kiosk", "a"], 1),
        (["fly"], 2), ([], 2), (["pop", "kiosk", "--depht", "1"], 2), (["show"], 2),
        (["op", "kiosk", "{"], 2), (["wait", "kiosk", "--depth", "x"], 2),
        (["swipe", "kiosk", "left"], 2), (["gesture", "kiosk"], 2),
        (["gesture", "kiosk", "begin", "update"], 2), (["set", "kiosk", "lamp"], 2),
        (["set", "kiosk", "display", "vCompact"], 2),
        (["set", "kiosk", "appearance", "none={}"], 2),
        (["delegate", "kiosk", "--roles", "veto"], 2), (["lease", "kiosk", "release"], 2),
        (["revert", "kiosk", "first"], 2), (["restore", "kiosk", "/nowhere"], 2),
        (["transition", "kiosk", "complete"], 2), (["push", "kiosk", "b", "--sender", "x"], 2),
        (["pop", "kiosk", "--any", "--on-busy", "later"], 2),
        (["pop", "kiosk", "--top", "home"], 3), (["pop", "kiosk", "--rev", "99"], 3),
        (["wait", "kiosk", "--top", "nobody", "--timeout", "200ms"], 4),
        (["wait", "kiosk", "--depth", "9", "--timeout", "200ms"], 4),
        (["wait", "kiosk", "--rev", "99", "--timeout", "200ms"], 4),
        (["watch", "kiosk", "--count", "9", "--timeout", "200ms"], 4),
        (["show", "nobody"], 6), (["pop-to", "kiosk", "nobody"], 6),
        (["watch", "nobody"], 6), (["get", "kiosk", "--at", "99"], 6),
      ]
      for (command, status) in cases {
        let result = try daemon.navctl(command)
        #expect(result.status == status, "\(command): \(result.output)\(result.errors)")
        #expect(result.output == "" || status == 4, "\(command)")
        #expect(result.errors != "", "\(command)")
      }
    }

    /// Runs a line of a shell in which "$navctl" is navctl; returns its status and errors.
    private func shell(_ line: String, _ daemon: TestDaemon) throws -> (Int32, String) {
      let child = try Child(
        "/bin/sh", ["-c", "cd '\(daemon.directory.path)' && \(line)"],
        environment: [
          "HOME": daemon.directory.path, "NAVD_ENDPOINT": daemon.endpoint,
          "navctl": Binaries.path("navctl"),
        ])
      return (try child.ended(), child.standardError)
    }

    @Test func `a change that was made and cannot be printed has its own status`() throws {
      let daemon = try TestDaemon()
      try Peer(daemon.endpoint).create("kiosk")
      for (step, form) in ["text", "json"].enumerated() {
        let push = "$navctl push kiosk s\(step) --new -o \(form)"
        let (full, errors) = try shell("\(push) >/dev/full", daemon)
        #expect(full == 9 && errors.contains("the change was made"), "\(errors)")
      }
      #expect(try Peer(daemon.endpoint).state("kiosk")["value"]?["screens"]?.array.count == 3)
      #expect(try shell("$navctl show kiosk >/dev/full", daemon).0 == 1)
      #expect(try shell("$navctl push kiosk s9 --dry-run --new >/dev/full", daemon).0 == 1)
    }

    @Test func `words that are not UTF-8 are refused`() throws {
      let daemon = try TestDaemon()
      for program in ["navctl create", "navd -s"] {
        let path = Binaries.path(String(program.prefix { $0 != " " }))
        let rest = program.drop { $0 != " " }
        let (status, errors) = try shell("\(path)\(rest) \"$(printf 'k\\377')\"", daemon)
        #expect(status == 2 && errors.contains("is not UTF-8"), "\(errors)")
      }
      for words in ["apply k", "routes k test", "restore k"] {
        let (status, errors) = try shell("printf 'push k\\377' >f; $navctl \(words) f", daemon)
        #expect(status == 2 && errors.contains("is not UTF-8"), "\(words): \(errors)")
      }
      #expect(try Peer(daemon.endpoint).get(#""nav":"$navs","what":"state""#)["value"]?.ids == [])
    }

    @Test func `without a daemon it ends with 7 and names each path it tried`() throws {
      let directory = try TestDirectory()
      let child = try Child(
        Binaries.path("navctl"), ["list"],
        environment: ["HOME": directory.path, "XDG_RUNTIME_DIR": directory.path])
      #expect(try child.ended() == 7)
      #expect(
        child.standardError.contains("\(directory.path)/navd/navd.sock"), "\(child.transcript)")
      #expect(child.standardError.contains("/run/navd/navd.sock"), "\(child.transcript)")
      let named = try Child(
        Binaries.path("navctl"),
        ["--endpoint", "ipc://\(directory.path)/none", "list", "--timeout", "300ms"],
        environment: ["HOME": directory.path])
      #expect(try named.ended() == 7)
      #expect(named.standardError.contains("\(directory.path)/none"), "\(named.transcript)")
    }

    @Test func `a watch goes on over a restart of the daemon without a gap`() throws {
      let daemon = try TestDaemon()
      let peer = try Peer(daemon.endpoint)
      try peer.create("kiosk")
      let watch = try daemon.startNavctl(["watch", "kiosk", "-o", "json", "--count", "10"])
      try watch.writes(lines: 1)
      let titles = (2...10).map { #"[{"screen.set":{"screen":"home","title":"T\#($0)"}}]"# }
      for title in titles[..<4] { try peer.perform("kiosk", title) }
      try daemon.kill()
      try watch.complains("connection lost")
      try daemon.start()
      let next = try Peer(daemon.endpoint)
      for title in titles[4...] { try next.perform("kiosk", title) }
      #expect(try watch.ended() == 0, "\(watch.transcript)")
      let lines = try watch.standardOutput.split(separator: "\n").map { try JSON($0.utf8) }
      #expect(lines.first?["state"]?["rev"]?.integer == 1)
      #expect(lines.dropFirst().compactMap { $0["rev"]?.integer } == Array(2...10))
      #expect(lines.dropFirst().compactMap { $0["base"]?.integer } == Array(1...9))
    }

    @Test func `a watch waits for a nav that does not exist yet, and again when it is closed`()
      throws
    {
      let daemon = try TestDaemon()
      let watch = try daemon.startNavctl(["watch", "later", "--wait", "-o", "json", "--count", "2"])
      try watch.complains("waiting for later")
      let peer = try Peer(daemon.endpoint)
      try peer.create("later")
      try watch.writes(lines: 1)
      try peer.perform("later", #"[{"nav.close":{}}]"#, guards: #"{"any":true}"#)
      try watch.complains("later was closed")
      try peer.create("later")
      #expect(try watch.ended() == 0, "\(watch.transcript)")
    }

    @Test func `a wait ends when another makes it true`() throws {
      let daemon = try TestDaemon()
      let peer = try Peer(daemon.endpoint)
      try peer.create("kiosk")
      let wait = try daemon.startNavctl(["wait", "kiosk", "--top", "a", "--timeout", "15s"])
      #expect(wait.isRunning)
      try peer.perform("kiosk", #"[{"push":{"screen":{"id":"a"}}}]"#)
      #expect(try wait.ended() == 0, "\(wait.transcript)")
    }

    @Test func `in a session whose leader has ended, the refusal of a pop names the ways out`()
      throws
    {
      let daemon = try TestDaemon()
      try Peer(daemon.endpoint).create("kiosk")
      let leader = try Child(
        "/usr/bin/setsid",
        [
          "--wait", "/bin/sh", "-c",
          """
          cd "$HOME"
          (while kill -0 $$; do sleep 0.01; done 2>wait
          "$NAVCTL" show kiosk >show; "$NAVCTL" pop kiosk 2>partial; mv partial refusal) </dev/null >out 2>&1 &
          """,
        ],
        environment: [
          "HOME": daemon.directory.path,
          "NAVD_ENDPOINT": daemon.endpoint, "NAVCTL": Binaries.path("navctl"),
          "PATH": "/usr/bin:/bin",
        ])
      #expect(try leader.ended() == 0, "\(leader.transcript)")
      let path = "\(daemon.directory.path)/refusal"
      #expect(try eventually { FileManager.default.fileExists(atPath: path) })
      #expect(
        try String(contentsOfFile: path, encoding: .utf8) == """
          navctl: usage: pop would remove screens, and navctl cannot record what it shows: \
          the leader of this session has ended
            try: add --top ID, or --any for any state

          """)
    }

    @Test func `what one terminal was shown, another's user did not see`() throws {
      let daemon = try TestDaemon()
      let peer = try Peer(daemon.endpoint)
      try peer.create("kiosk")
      for id in ["a", "b", "c"] {
        try peer.perform("kiosk", #"[{"push":{"screen":{"id":"\#(id)"}}}]"#)
      }
      let terminals = try (0..<2).map { _ in try Terminal(daemon) }
      #expect(try terminals[0].run("show kiosk") == 0)
      // The other one has seen nothing and must not pop by what the first was shown.
      #expect(try terminals[1].run("pop kiosk") != 0)
      #expect(try peer.state("kiosk")["value"]?["screens"]?.ids.last == "c")
      #expect(try terminals[0].run("pop kiosk") == 0)
      #expect(try terminals[1].run("show kiosk") == 0)
      #expect(try terminals[0].run("pop kiosk") == 0)
      // What it saw is gone.
      #expect(try terminals[1].run("pop kiosk") == 3)
      #expect(try peer.state("kiosk")["value"]?["screens"]?.ids == ["home", "a"])
    }
  }
}
