import Foundation
import Testing

extension ProcessTests {
  /// The example of every command's help, run as it is printed.
  @Suite struct NavctlExampleTests {
    /// Commands that go on until they are interrupted, and what they print first.
    private static let endless = ["delegate": "kiosk  delegate  veto", "top": "OPERATIONS"]

    /// What the nav needs, beside what every example has, for the example of a command.
    private static let preparations: [String: [String]] = [
      "create": ["close kiosk --any"], "push": ["pop kiosk --top wifi"],
      "segue": ["pop kiosk --top wifi"], "restore": ["save kiosk kiosk.json"],
      "play": ["record kiosk kiosk.navrec --force"],
    ]

    /// Commands that replace or remove what was seen: people have looked at it before.
    private static let guarded: Set = ["stack", "open", "restore", "revert", "gesture"]

    private let daemon: TestDaemon
    private let peer: Peer

    init() throws {
      daemon = try TestDaemon(["--durability", "relaxed"])
      peer = try Peer(daemon.endpoint)
      // The examples name the program as people do.
      try FileManager.default.createSymbolicLink(
        atPath: "\(daemon.directory.path)/navctl", withDestinationPath: Binaries.path("navctl"))
    }

    /// Each command that the help lists, in that order.
    private func commands() throws -> [String] {
      let help = try daemon.navctl(["help", "all"]).output.split(separator: "\n")
      return help.prefix { !$0.hasPrefix("      --") }
        .filter { $0.hasPrefix("  ") && !$0.hasPrefix("    ") }
        .compactMap { $0.split(separator: " ").first.map(String.init) }
    }

    /// The example of a command's help; argp may have broken it into lines.
    private func example(_ command: String) throws -> String {
      let help = try daemon.navctl([command, "--help"]).output.split(separator: "\n")
      let text = help.drop { !$0.hasPrefix("Example: ") }.joined(separator: " ")
      return String(text.dropFirst("Example: ".count))
    }

    /// The navs that the examples are about: a stack of three screens, and a bar.
    private func makeNavs() throws {
      for nav in ["kiosk", "hud"] {
        // One that is not there, or was closed by an example, is no reason to stop.
        let members = #""nav":"\#(nav)","if":{"any":true},"client":"\#(peer.client)""#
        _ = try peer.ask("op", members + #","do":[{"nav.close":{}}]"#)
      }
      try peer.perform(
        "kiosk",
        #"""
        [{"nav.create":{"root":{"id":"home","restorationID":"home"}}},{"attach":{}},
        {"nav.configure":{"restorationID":"kiosk","routes":[{"match":"settings/:page",
        "screens":["home",{"route":"settings/{page}"}]}]}}]
        """#)
      let pushes = [("settings", "settings"), ("wifi", "settings/wifi")].map { id, route in
        #"{"push":{"screen":{"id":"\#(id)","title":"\#(id)","route":"\#(route)","restorationID":"\#(id)"}}}"#
      }
      try peer.perform("kiosk", "[\(pushes.joined(separator: ","))]")
      try peer.perform("hud", #"[{"nav.create":{"kind":"bar"}}]"#)
    }

    /// Starts a line of a shell, in the directory of the daemon.
    ///
    /// It leads a session of its own, as in a terminal: navctl remembers by it what it has shown, and
    /// nothing where the leader has ended, as that of the tests may have.
    private func shell(_ line: String) throws -> Child {
      try Child(
        "/usr/bin/setsid", ["--wait", "/bin/sh", "-c", "cd \"$HOME\" && \(line)"],
        environment: [
          "HOME": daemon.directory.path, "NAVD_ENDPOINT": daemon.endpoint,
          "PATH": "\(daemon.directory.path):/usr/bin:/bin",
        ])
    }

    /// The files that examples read.
    private func makeFiles() throws {
      _ = try daemon.directory.write("plan.txt", "if --top wifi\npop\npush dns --title DNS\n")
    }

    @Test func `the example of every help works as it is printed`() throws {
      let commands = try commands()
      #expect(commands.count > 40)
      try makeFiles()
      for command in commands {
        let example = try example(command)
        #expect(example.hasPrefix("navctl \(command)"), "\(example)")
        // It needs a cluster: ClusterClientTests runs it.
        if command == "cluster" {
          #expect(example == "navctl cluster drain b")
          continue
        }
        // It needs a terminal: Tests/TerminalTests/test_ui.py runs it.
        if command == "ui" {
          #expect(example == "navctl ui kiosk")
          continue
        }
        // It becomes another program, which needs a page: InspectorTests has both.
        if command == "inspect" {
          #expect(example == "navctl inspect kiosk")
          continue
        }
        // It needs servers: ClusterTests runs the command.
        if command == "engine-test" {
          #expect(example == "navctl engine-test 'host=db1,db2 dbname=navd user=navd'")
          continue
        }
        try makeNavs()
        for words in Self.preparations[command] ?? [] {
          let preparation = try shell("navctl \(words)")
          preparation.closeInput()
          #expect(try preparation.ended() == 0, "\(preparation.transcript)")
        }
        let nav = example.contains(" hud ") ? "hud" : "kiosk"
        let look = Self.guarded.contains(command) ? "navctl show \(nav) >seen; " : ""
        let isEndless = Self.endless[command] != nil
        let child = try shell(look + (isEndless ? "exec " : "") + example)
        if let first = Self.endless[command] {
          try child.says(first)
          child.kill(SIGINT)
        } else {
          child.closeInput()
        }
        let status = try child.ended()
        #expect(status == 0, "\(example): \(child.transcript)")
        #expect(!child.standardError.contains("try: "), "\(example): \(child.transcript)")
      }
    }
  }
}
