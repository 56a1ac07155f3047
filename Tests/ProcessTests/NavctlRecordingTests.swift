import Foundation
import Testing

extension ProcessTests {
  /// `navctl record` and `navctl play`, as built.
  @Suite struct NavctlRecordingTests {
    private let daemon: TestDaemon

    init() throws {
      daemon = try TestDaemon(["--durability", "relaxed"])
      let peer = try Peer(daemon.endpoint)
      try peer.create("kiosk")
      for step in 1...30 {
        let operation =
          step % 5 == 0
          ? #"{"pop":{}}"#
          : #"{"push":{"screen":{"id":"s\#(step)","title":"Hidden \#(step)","route":"r/\#(step % 2)"}}}"#
        try peer.perform("kiosk", "[\(operation)]", guards: #"{"any":true}"#)
      }
    }

    private func path(_ name: String) -> String { "\(daemon.directory.path)/\(name)" }

    /// Records the nav; returns the record that navctl prints.
    @discardableResult
    private func record(_ name: String, _ more: String...) throws -> JSON {
      let result = try daemon.navctl(["record", "kiosk", path(name), "-o", "json"] + more)
      #expect(result.status == 0, "\(result.errors)")
      return try JSON(result.output)
    }

    private func verify(_ name: String) throws -> (status: Int32, output: String, errors: String) {
      // No daemon is there for it.
      try daemon.navctl(
        ["play", "--verify", path(name)], environment: ["NAVD_ENDPOINT": "ipc:///nowhere"])
    }

    @Test func `a recording is written once, whole, for its user alone, and is proven`() throws {
      let newest = try Peer(daemon.endpoint).state("kiosk")
      let made = try record("a.navrec")
      #expect(made["to"]?.integer == newest["rev"]?.integer && made["from"]?.integer == 1)
      #expect(made["dig"]?.string == newest["value"]?["dig"]?.string)
      let attributes = try FileManager.default.attributesOfItem(atPath: path("a.navrec"))
      #expect(attributes[.posixPermissions] as? Int == 0o600)
      #expect(attributes[.size] as? UInt64 == made["bytes"]?.integer)
      let proof = try verify("a.navrec")
      #expect(proof.status == 0 && proof.output.contains("  ok  kiosk  "), "\(proof.errors)")
      let again = try daemon.navctl(["record", "kiosk", path("a.navrec")])
      #expect(again.status == 1 && again.errors.contains("try: --force"))
      try record("a.navrec", "--force", "--last", "3")
      #expect(try verify("a.navrec").output.contains("3 revisions"))
      let range = try record("b.navrec", "--from", "5", "--to", "9", "--redact", "--keep", "r/1")
      #expect(range["entries"]?.integer == 5 && range["to"]?.integer == 9)
      #expect(try verify("b.navrec").output.contains("  redacted"))
      let names = try FileManager.default.contentsOfDirectory(atPath: daemon.directory.path)
      #expect(names.filter { $0.contains(".navrec") }.sorted() == ["a.navrec", "b.navrec"])
    }

    @Test func `what cannot be recorded is refused, and leaves no file`() throws {
      for (words, text, status) in [
        (["kiosk", path("x"), "--keep", "a"], "--redact", 2),
        (["kiosk", path("x"), "--from", "9", "--to", "5"], "revision 9", 2),
        (["kiosk", path("x"), "--from", "2", "--last", "5"], "--last", 2),
        (["kiosk", path("x"), "--to", "999"], "compacted", 6),
        (["nobody", path("x")], "no-nav", 6),
        (["$navs", path("x")], "virtual", 2), (["kiosk", "/nowhere/x"], "create", 7),
        (["kiosk", path("x"), "--html", "--page", "/nowhere"], "make inspector", 1),
      ] as [([String], String, Int32)] {
        let result = try daemon.navctl(["record"] + words)
        #expect(result.errors.contains(text), "\(words): \(result.errors)")
        #expect(result.status == status, "\(words): \(result.errors)")
      }
      let names = try FileManager.default.contentsOfDirectory(atPath: daemon.directory.path)
      #expect(!names.contains { $0.hasPrefix("x") })
    }

    @Test func `a page has the recording in it, and nothing else of it changes`() throws {
      let mark = #"<script type="application/octet-stream" id="navrec">"#
      let page = "<!doctype html>\n<title>t</title>\(mark)old</script><script>run()</script>\n"
      _ = try daemon.directory.write("offline.html", page)
      let made = try record("k.html", "--html", "--page", daemon.directory.path)
      #expect(made["html"] == .bool(true))
      let text = try String(contentsOfFile: path("k.html"), encoding: .utf8)
      let start = try #require(text.range(of: mark)?.upperBound)
      let end = try #require(text[start...].range(of: "</script>")?.lowerBound)
      let file = try #require(Data(base64Encoded: String(text[start..<end])))
      #expect(text.replacingCharacters(in: start..<end, with: "old") == page)
      try file.write(to: URL(fileURLWithPath: path("k.navrec")))
      #expect(try verify("k.navrec").status == 0)
    }

    @Test func `a damaged, cut or foreign file is refused with its reason`() throws {
      try record("a.navrec")
      let whole = try Data(contentsOf: URL(fileURLWithPath: path("a.navrec")))
      var flipped = whole
      flipped[whole.count / 2] ^= 4
      for (name, data, text) in [
        ("cut", whole.prefix(whole.count / 2), "truncated"), ("flipped", flipped, "recording: "),
        ("none", Data("nothing".utf8), "no recording"), ("empty", Data(), "no recording"),
      ] {
        try data.write(to: URL(fileURLWithPath: path(name)))
        let result = try verify(name)
        #expect(result.status == 1 && result.errors.contains(text), "\(name): \(result.errors)")
      }
      #expect(try verify("absent").status == 1)
      let json = try daemon.navctl(["play", "--verify", path("cut"), "-o", "json"])
      #expect(json.status == 1 && json.errors.isEmpty)
      #expect(try JSON(json.output)["ok"] == .bool(false))
      // No daemon is started for a file that is none.
      #expect(try daemon.navctl(["play", path("none")]).status == 1)
    }

    /// Starts `play`, and returns the address that it prints.
    private func play(_ words: [String]) throws -> (child: Child, endpoint: String) {
      let child = try daemon.startNavctl(["play"] + words)
      try child.says("  kiosk  revisions ")
      let line = child.standardOutput.split(separator: "\n").first ?? ""
      return (child, String(line.prefix { $0 != " " }))
    }

    @Test(arguments: [false, true])
    func `clients watch what is played, nobody changes it, and a signal removes it`(
      isRedacted: Bool
    ) throws {
      try record("a.navrec", "--from", "2")
      if isRedacted { try record("a.navrec", "--from", "2", "--redact", "--force") }
      let own = try Peer(daemon.endpoint).state("kiosk")["value"]
      let (child, endpoint) = try play([path("a.navrec"), "--speed", "0"])
      try child.says("  ended  ")
      #expect(child.standardOutput.hasSuffix("  ok\n"), "\(child.transcript)")
      let directory = String(endpoint.dropFirst("ipc://".count).dropLast("/navd.sock".count))
      let attributes = try FileManager.default.attributesOfItem(atPath: directory)
      #expect(attributes[.posixPermissions] as? Int == 0o700)
      let its = try Peer(endpoint).state("kiosk")["value"]
      for name in ["epoch", "rev", "dig"] { #expect(its?[name] == own?[name]) }
      if !isRedacted {
        #expect(its?["screens"] == own?["screens"] && its?["resolved"] == own?["resolved"])
      }
      let push = try daemon.navctl(["push", "kiosk", "x", "--new", "--endpoint", endpoint])
      #expect(push.errors.contains("readonly"))
      let old = try daemon.navctl(["history", "kiosk", "--at", "9", "--endpoint", endpoint])
      #expect(old.status == 0 && old.output.contains("Hidden") == !isRedacted, "\(old.output)")
      child.kill(isRedacted ? SIGINT : SIGTERM)
      #expect(try child.ended() == 0)
      #expect(!FileManager.default.fileExists(atPath: directory))
    }

    @Test func `play starts navd from PATH, with its files below TMPDIR`() throws {
      try record("a.navrec")
      let bin = path("bin")
      let manager = FileManager.default
      try manager.createDirectory(atPath: bin, withIntermediateDirectories: true)
      try manager.copyItem(atPath: Binaries.path("navctl"), toPath: bin + "/navctl")
      let found = [
        "PATH": "\(Binaries.directory.path):/usr/bin:/bin", "TMPDIR": daemon.directory.path,
      ]
      let child = try Child(
        bin + "/navctl", ["play", path("a.navrec"), "--speed", "0"], environment: found)
      try child.says("ipc://\(daemon.directory.path)/navd-play-")
      try child.says("  ended  ")
      child.kill(SIGTERM)
      #expect(try child.ended() == 0)
      let missing = try Child(
        bin + "/navctl", ["play", path("a.navrec")], environment: ["PATH": "/usr/bin:/bin"])
      #expect(try missing.ended() == 127)
      #expect(missing.standardError.contains("put its directory into PATH"))
      // The path of a socket has at most 107 octets.
      let long = path(String(repeating: "l", count: 100))
      try manager.createDirectory(atPath: long, withIntermediateDirectories: true)
      let refused = try daemon.navctl(["play", path("a.navrec")], environment: ["TMPDIR": long])
      #expect(refused.status == 1)
      #expect(refused.errors.contains("TMPDIR") && refused.errors.contains("107"), "\(refused)")
      #expect(try manager.contentsOfDirectory(atPath: long).isEmpty)
    }

    @Test func `steps go forward, back and anywhere, and the nav is there at each`() throws {
      try record("a.navrec")
      let (child, endpoint) = try play([path("a.navrec"), "--step", "--at", "4"])
      var at = 4
      try child.says("rev 4  paused  ")
      for (line, revision) in [("n", 5), ("", 6), ("b", 5), ("b", 4), ("g 29", 29), ("g 2", 2)] {
        let former = child.standardOutput
        try child.tell(line)
        try child.says("rev \(revision)  paused  ", after: former)
        at = revision
        #expect(try Peer(endpoint).state("kiosk")["rev"]?.integer == UInt64(at))
        let bar = try Peer(daemon.endpoint).get(#""nav":"kiosk","what":"bar","at":\#(revision)"#)
        #expect(try Peer(endpoint).state("kiosk")["value"]?["resolved"] == bar["value"])
      }
      try child.tell("g 99")
      try child.complains("no revision 99")
      try child.tell("jump")
      try child.complains("'jump' is none of n, b")
      try child.tell("q")
      #expect(try child.ended() == 0)
    }

    @Test func `a range is played at its pace`() throws {
      try record("a.navrec")
      let (child, endpoint) = try play(
        [path("a.navrec"), "--at", "3", "--until", "12", "--speed", "1000"])
      try child.says("rev 12  ended  ")
      #expect(try Peer(endpoint).state("kiosk")["rev"]?.integer == 12)
      child.kill(SIGTERM)
      #expect(try child.ended() == 0)
      for words in [["--speed", "-1"], ["--at", "99"], ["--verify", "--step"]] {
        #expect(try daemon.navctl(["play", path("a.navrec")] + words).status == 2)
      }
    }
  }
}
