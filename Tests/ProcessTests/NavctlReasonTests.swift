import Foundation
import Testing

extension ProcessTests {
  /// What navctl says of who did something, and why something cannot be had.
  @Suite struct NavctlReasonTests {
    /// Runs a command that must succeed.
    @discardableResult private func run(_ daemon: TestDaemon, _ words: [String]) throws -> String {
      let result = try daemon.navctl(words)
      #expect(result.status == 0, "\(words): \(result.errors)")
      return result.output
    }

    /// A nav with home and wifi.
    private func daemon(_ configuration: String? = nil) throws -> TestDaemon {
      let daemon = try TestDaemon(configuration: configuration)
      try run(daemon, ["create", "kiosk", "--root", "home"])
      try run(daemon, ["push", "kiosk", "wifi", "--new"])
      return daemon
    }

    private func position(_ daemon: TestDaemon) throws -> (text: String, state: JSON) {
      let answer = try JSON(run(daemon, ["get", "kiosk", "-o", "json"]))
      let state = try #require(answer["value"])
      let (epoch, dig) = (state["epoch"]?.string ?? "", state["dig"]?.string ?? "")
      return ("\(epoch):\(state["rev"]?.integer ?? 0):\(dig)", state)
    }

    /// The first line of a watch that goes on from a place.
    private func resync(_ daemon: TestDaemon, _ from: String) throws -> String? {
      let words = ["watch", "kiosk", "--from", from, "--count", "1"]
      let text = try run(daemon, words)
      let why = try JSON(run(daemon, words + ["-o", "json"]))["why"]?.string
      #expect(text.hasPrefix("resync  rev ") && text.contains("  \(why ?? "?")  ["), "\(text)")
      return why
    }

    @Test func `a refused pop says who popped and when, before and after a restart`() throws {
      let daemon = try daemon()
      let remote = try Peer(daemon.endpoint)
      try remote.hello(name: "remote")
      try remote.perform("kiosk", #"[{"pop":{}}]"#, guards: #"{"top":"wifi"}"#)
      let sentence =
        "navctl: desync: wifi is not on top any more: popped by remote "
        + "(uid \(getuid()), pid \(getpid())) "
      for isSecond in [false, true] {
        let refused = try daemon.navctl(["pop", "kiosk", "--top", "wifi"])
        #expect(refused.status == 3)
        let first = refused.errors.split(separator: "\n").first ?? ""
        #expect(first.hasPrefix(sentence) && first.hasSuffix(" ago, rev 3"), "\(refused.errors)")
        guard !isSecond else { break }
        try daemon.kill()
        try daemon.start()
      }
      #expect(try run(daemon, ["log", "kiosk", "--limit", "1"]).contains("remote uid:\(getuid())"))
      #expect(try daemon.stop() == 0)
    }

    @Test func `a watch that cannot go on says what is wrong with the place`() throws {
      let daemon = try daemon("[limits]\nresume-revisions = 2\n")
      let (old, state) = try position(daemon)
      let epoch = state["epoch"]?.string ?? ""
      #expect(try resync(daemon, "\(epoch):99:000000000000000000000000") == "ahead")
      #expect(try resync(daemon, "\(epoch):2:000000000000000000000000") == "digest")
      for index in 0..<4 { try run(daemon, ["set", "kiosk", "screen", "wifi", "title=T\(index)"]) }
      #expect(try resync(daemon, old) == "lag")
      #expect(try resync(daemon, "\(epoch):0:000000000000000000000000") == "lag")
      try run(daemon, ["close", "kiosk", "--any"])
      try run(daemon, ["create", "kiosk", "--root", "home"])
      #expect(try resync(daemon, old) == "epoch")
      // And where it can go on, it does.
      let (new, _) = try position(daemon)
      try run(daemon, ["push", "kiosk", "a", "--new"])
      let line = try run(daemon, ["watch", "kiosk", "--from", new, "--count", "1"])
      #expect(line.hasPrefix("rev 2 "), "\(line)")
      #expect(try daemon.stop() == 0)
    }

    @Test func `a state too large to be read is the reason why a watch does not go on`() throws {
      let daemon = try daemon()
      let text = String(repeating: "x", count: 60_000)
      let peer = try Peer(daemon.endpoint)
      for index in 0..<5 {
        try peer.perform(
          "kiosk", #"[{"push":{"screen":{"id":"s\#(index)","args":"\#(text)"}}}]"#)
      }
      let reply = try peer.perform("kiosk", #"[{"item.set":{"screen":"wifi","title":"T"}}]"#)
      let (epoch, dig) = (reply["epoch"]?.string ?? "", reply["dig"]?.string ?? "")
      try run(daemon, ["set", "kiosk", "screen", "wifi", "title=U"])
      #expect(try resync(daemon, "\(epoch):\(reply["rev"]?.integer ?? 0):\(dig)") == "limit")
      #expect(try daemon.stop() == 0)
    }

    @Test func `a revision of the future does not exist yet, and the newest is named`() throws {
      let daemon = try daemon()
      let refused = try daemon.navctl(["history", "kiosk", "--at", "99"])
      #expect(refused.status == 6)
      #expect(
        refused.errors == """
          navctl: compacted: revision 99 does not exist yet: the newest is 2
            try: draw the newest revision: navctl history kiosk --at 2

          """)
      #expect(try run(daemon, ["history", "kiosk", "--at", "2"]).contains("wifi"))
      #expect(try daemon.stop() == 0)
    }

    @Test func `log prints the newest revisions, leases and forced takes by whom`() throws {
      let daemon = try daemon()
      for index in 0..<4 { try run(daemon, ["set", "kiosk", "screen", "wifi", "title=T\(index)"]) }
      func revisions(_ words: [String]) throws -> [String] {
        try run(daemon, ["log", "kiosk"] + words).split(separator: "\n").dropFirst().map {
          String($0.prefix { $0 != " " })
        }
      }
      #expect(try revisions(["--limit", "2"]) == ["5", "6"])
      #expect(try revisions(["--from", "2", "--limit", "2"]) == ["2", "3"])
      #expect(try revisions([]) == ["1", "2", "3", "4", "5", "6"])
      try run(daemon, ["lease", "kiosk", "take", "--name", "first", "--", "true"])
      let holder = try daemon.startNavctl(["lease", "kiosk", "take", "--name", "second"])
      try holder.says("second")
      try run(daemon, ["lease", "kiosk", "take", "--force", "--name", "third", "--", "true"])
      #expect(try holder.ended() == 5)
      let log = try JSON(run(daemon, ["log", "kiosk", "--from", "7", "-o", "json"]))
      let entries = log["value"]?.array ?? []
      #expect(entries.allSatisfy { $0["cause"]?.string == "lease" })
      let names = entries.map { $0["by"]?["name"]?.string }
      #expect(names == ["first", "first", "second", "third", "third"], "\(entries)")
      #expect(entries.allSatisfy { $0["by"]?["principal"]?.string == "uid:\(getuid())" })
      #expect(entries.map { $0["override"]?.bool } == [nil, nil, nil, true, nil])
      #expect(try daemon.stop() == 0)
    }

    @Test func `the log says that a backup was restored`() throws {
      let daemon = try daemon()
      let path = try run(daemon, ["backup"]).trimmingCharacters(in: .newlines)
      #expect(try daemon.stop() == 0)
      let child = try Child(Binaries.path("navd"), ["--restore", path, "--state", daemon.state])
      #expect(try child.ended() == 0, "\(child.transcript)")
      try daemon.start()
      let epoch = try position(daemon).state["epoch"]?.string ?? ""
      for command in ["log", "history"] {
        let last = try run(daemon, [command, "kiosk"]).split(separator: "\n").last ?? ""
        #expect(last.contains("restored from a backup"), "\(last)")
      }
      let log = try JSON(run(daemon, ["log", "kiosk", "-o", "json"]))
      #expect(log["value"]?.array.last?["cause"]?.string == "backup")
      #expect(log["value"]?.array.last?["epoch"]?.string == epoch)
      #expect(try daemon.stop() == 0)
    }
  }
}
