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

    @Test func `a recording goes through the standard streams`() throws {
      let navctl = Binaries.path("navctl")
      let pipe = try Child(
        "/bin/sh", ["-c", "'\(navctl)' record kiosk - -o json | '\(navctl)' play - --verify"],
        environment: ["HOME": daemon.directory.path, "NAVD_ENDPOINT": daemon.endpoint])
      #expect(try pipe.ended() == 0, "\(pipe.transcript)")
      #expect(pipe.standardOutput.hasPrefix("-  ok  kiosk  "))
      // The report is beside the recording.
      #expect(try JSON(pipe.standardError)["file"]?.string == "-")
      let keys = try daemon.navctl(["play", "-", "--step"])
      #expect(keys.status == 2 && keys.errors.contains("--step reads keys from stdin"))
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
      #expect(try daemon.navctl(["play", path("none")]).status == 1)
      let cut = try daemon.navctl(["play", path("cut"), "--speed", "0"])
      #expect(cut.status == 1 && cut.errors.contains("truncated"), "\(cut.errors)")
    }

    /// The records of `play` with these words, which needs no daemon.
    private func played(_ words: [String]) throws -> [JSON] {
      let result = try daemon.navctl(
        ["play", path("a.navrec"), "-o", "json"] + words,
        environment: ["NAVD_ENDPOINT": "ipc:///nowhere"])
      #expect(result.status == 0, "\(result.errors)")
      return try result.output.split(separator: "\n").map { try JSON(String($0)) }
    }

    @Test(arguments: [false, true])
    func `each revision is shown with its state, and the last one is proven`(
      isRedacted: Bool
    ) throws {
      try record("a.navrec", "--from", "2")
      if isRedacted { try record("a.navrec", "--from", "2", "--redact", "--force") }
      let records = try played(["--speed", "0"])
      let newest = try #require(try Peer(daemon.endpoint).state("kiosk")["rev"]?.integer)
      #expect(records.first?["state"]?.string == "started" && records.first?["from"]?.integer == 2)
      #expect(records.dropFirst().map { $0["rev"]?.integer } == (2...newest).map { $0 })
      #expect(records.last?["state"]?.string == "ended" && records.last?["proven"] == .bool(true))
      let peer = try Peer(daemon.endpoint)
      for record in records.dropFirst() {
        let revision = try #require(record["rev"]?.integer)
        let own = try peer.get(#""nav":"kiosk","at":\#(revision)"#)["value"]
        #expect(record["dig"] == own?["dig"])
        if isRedacted {
          #expect(record["value"]?["dig"] == own?["dig"] && record["value"] != own)
        } else {
          #expect(record["value"] == own, "rev \(revision)")
        }
      }
    }

    @Test func `the terminal shows what navctl shows of the nav`() throws {
      try record("a.navrec")
      let played = try daemon.navctl(["play", path("a.navrec"), "--speed", "0"])
      let shown = try daemon.navctl(["history", "kiosk", "--at", "9"])
      #expect(played.status == 0 && played.output.contains(shown.output), "\(played)")
      #expect(shown.output.contains("Hidden"))
      #expect(played.output.contains("rev 9  playing  push  "))
      #expect(played.output.hasSuffix("  ok\n") && played.output.contains("  ended  "))
    }

    @Test func `steps go forward, back and anywhere, and the nav is there at each`() throws {
      try record("a.navrec")
      let child = try daemon.startNavctl(["play", path("a.navrec"), "--step", "--at", "4"])
      try child.says("kiosk  revisions 1 to ")
      try child.says("rev 4  paused  ")
      for (line, revision) in [("n", 5), ("", 6), ("b", 5), ("b", 4), ("g 29", 29), ("g 2", 2)] {
        let former = child.standardOutput
        try child.tell(line)
        try child.says("rev \(revision)  paused  ", after: former)
        let shown = try daemon.navctl(["history", "kiosk", "--at", "\(revision)"]).output
        #expect(child.standardOutput.dropFirst(former.count).contains(shown), "\(child.transcript)")
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
      let range = ["--at", "3", "--until", "12", "--speed", "1000"]
      let records = try played(range).dropFirst()
      #expect(records.map { $0["rev"]?.integer } == (3...12).map { $0 })
      #expect(records.last?["state"]?.string == "ended" && records.last?["proven"] == .bool(false))
      for words in [["--speed", "-1"], ["--at", "99"], ["--verify", "--step"]] {
        #expect(try daemon.navctl(["play", path("a.navrec")] + words).status == 2)
      }
    }

    @Test func `a signal ends what is played`() throws {
      try record("a.navrec")
      let child = try daemon.startNavctl(["play", path("a.navrec"), "--speed", "0.000001"])
      try child.says("rev 1  playing  ")
      child.kill(SIGTERM)
      #expect(try child.ended() == 0)
    }
  }
}
