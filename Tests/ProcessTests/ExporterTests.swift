import Foundation
import Testing

/// One request over HTTP, on a connection of its own.
private struct HTTPReply {
  let status: Int
  let head: String
  let body: String

  /// Sends a request to a Unix socket and reads to the end.
  init(_ path: String, _ request: String) throws {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var limit = timeval(tv_sec: 15, tv_usec: 0)
    unsafe setsockopt(
      descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    var address = UnixAddress.make(path)
    let result = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0 else { throw Failure("cannot connect to \(path): \(errno)") }
    let bytes = Array(request.utf8)
    _ = unsafe bytes.withUnsafeBytes {
      unsafe send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
    }
    var answer: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe recv(descriptor, &piece, piece.count, 0)
      guard count > 0 else { break }
      answer += piece[..<count]
    }
    let text = String(decoding: answer, as: UTF8.self)
    let parts = text.components(separatedBy: "\r\n\r\n")
    let words = text.split(separator: " ", maxSplits: 2)
    guard parts.count >= 2, words.count == 3, let status = Int(words[1]) else {
      throw Failure("no answer of HTTP: \(text)")
    }
    (self.status, head, body) = (status, parts[0], parts[1])
  }
}

/// An exporter of a daemon, on a socket beside the daemon's.
private struct TestExporter {
  let child: Child
  let path: String

  init(_ daemon: TestDaemon, listen: String? = nil) throws {
    path = "\(daemon.directory.path)/metrics"
    child = try Child(
      Binaries.path("navd-exporter"),
      ["--endpoint", daemon.endpoint, "--listen", listen ?? "unix:\(path)"])
    try child.complains("serving on ")
  }

  func get(_ path: String) throws -> HTTPReply {
    try HTTPReply(self.path, "GET \(path) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
  }

  /// The value of a series; nil where there is none.
  func metrics() throws -> [String: Double] {
    let reply = try get("/metrics")
    guard reply.status == 200 else { throw Failure("\(reply.status): \(reply.body)") }
    var values: [String: Double] = [:]
    for line in reply.body.split(separator: "\n") where !line.hasPrefix("#") {
      let words = line.split(separator: " ")
      values[String(words[0])] = Double(String(words[1]))
    }
    return values
  }

  /// Asks until the status is as wanted.
  func awaits(_ path: String, _ status: Int) throws {
    let end = Date(timeIntervalSinceNow: Child.patience)
    while try get(path).status != status {
      guard Date() < end else { throw Failure("\(path) does not become \(status)") }
    }
  }
}

extension ProcessTests {
  /// The exporter against a daemon that runs, stands still and is gone.
  @Suite struct ExporterTests {
    @Test func `the metrics add up with what was done`() throws {
      let daemon = try TestDaemon()
      let exporter = try TestExporter(daemon)
      let before = try exporter.metrics()
      #expect(before["navd_navs"] == 0)
      let commands: [([String], Int32)] = [
        (["create", "kiosk", "--root", "home"], 0), (["push", "kiosk", "a", "--new"], 0),
        (["push", "kiosk", "b", "--new"], 0),
        (["set", "kiosk", "screen", "b", "title=T", "--any"], 0),
        (["set", "kiosk", "screen", "b", "title=T", "--any"], 0),
        (["create", "kiosk", "--root", "x"], 1),
        (["pop", "kiosk", "--top", "zzz"], 3),
      ]
      for (command, status) in commands {
        let result = try daemon.navctl(command)
        #expect(result.status == status, "\(command): \(result.errors)")
      }
      let after = try exporter.metrics()
      func outcome(_ word: String) -> Double? {
        after["navd_operations_total{outcome=\"\(word)\"}"]
      }
      #expect(outcome("ok") == 4)
      #expect(outcome("unchanged") == 1)
      #expect(outcome("nav-exists") == 1)
      #expect(outcome("desync") == 1)
      #expect(after["navd_navs"] == 1)
      #expect(after["navd_journal_sequence"] == 4)
      #expect(after["navd_commit_seconds_count"] == 4)
      #expect(after["navd_fan_out_seconds_count"] == 4)
      #expect(after["navd_commit_records_sum"] == 4)
      #expect(after["navd_commit_seconds_bucket{le=\"+Inf\"}"] == 4)
      #expect((after["navd_commit_seconds_sum"] ?? 0) > 0)
      #expect((after["navd_journal_bytes"] ?? 0) > 4096)
      #expect((after["navd_disk_free_bytes"] ?? 0) > 0)
      let answered = after.filter { $0.key.hasPrefix("navd_operations_total") }.values.reduce(0, +)
      #expect(answered == 7)
      #expect(try daemon.stop() == 0)
    }

    @Test func `sessions and diffs are counted as they come and go`() throws {
      let daemon = try TestDaemon()
      let exporter = try TestExporter(daemon)
      #expect(try daemon.navctl(["create", "kiosk", "--root", "home"]).status == 0)
      let watch = try daemon.startNavctl(["watch", "kiosk", "--count", "3", "-o", "json"])
      try watch.writes(lines: 1)
      for id in ["a", "b"] {
        #expect(try daemon.navctl(["push", "kiosk", id, "--new"]).status == 0)
      }
      #expect(try watch.ended() == 0)
      let values = try exporter.metrics()
      #expect(values["navd_sessions_opened_total"] == 1)
      #expect(values[#"navd_sessions_ended_total{reason="bye"}"#] == 1)
      #expect(values["navd_diffs_sent_total"] == 2)
      #expect(values["navd_snapshots_sent_total"] == 1)
      #expect(values["navd_watches_behind"] == 0)
    }

    @Test func `a daemon that stands still is neither alive nor ready, and nothing hangs`() throws {
      let daemon = try TestDaemon()
      let exporter = try TestExporter(daemon)
      #expect(try exporter.get("/livez").status == 200)
      #expect(try exporter.get("/readyz").status == 200)
      daemon.child.kill(SIGSTOP)
      for path in ["/livez", "/readyz", "/metrics", "/livez", "/metrics"] {
        // Reading gives up after 15 s.
        #expect(try exporter.get(path).status == 503)
      }
      daemon.child.kill(SIGCONT)
      try exporter.awaits("/livez", 200)
      try exporter.awaits("/readyz", 200)
      #expect(try daemon.stop() == 0)
    }

    @Test func `a daemon that is killed is told, and one that is back is found`() throws {
      let daemon = try TestDaemon()
      let exporter = try TestExporter(daemon)
      #expect(try daemon.navctl(["create", "kiosk", "--root", "home"]).status == 0)
      #expect(try exporter.metrics()["navd_operations_total{outcome=\"ok\"}"] == 1)
      try daemon.kill()
      #expect(try exporter.get("/livez").status == 503)
      #expect(try exporter.get("/metrics").status == 503)
      try daemon.start()
      try exporter.awaits("/readyz", 200)
      let values = try exporter.metrics()
      #expect(values["navd_operations_total{outcome=\"ok\"}"] == 0)
      #expect(values["navd_navs"] == 1)
    }

    @Test func `only GET of what is there is answered, and nonsense harms nobody`() throws {
      let daemon = try TestDaemon()
      let exporter = try TestExporter(daemon)
      #expect(try exporter.get("/nope").status == 404)
      let posted = try HTTPReply(
        exporter.path, "POST /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nabc")
      #expect(posted.status == 405)
      #expect(posted.head.contains("Allow: GET"))
      let long = String(repeating: "x", count: 40_000)
      for request in ["GET /\(long) HTTP/1.1\r\n\r\n", "\u{0}\u{1}\r\n\r\n", "GET\r\n\r\n"] {
        // Whatever it answers, if anything.
        _ = try? HTTPReply(exporter.path, request)
      }
      // More connections than are served, all silent.
      let silent = try (0..<100).map { _ in try RawConnection(exporter.path) }
      silent[0].send(Array("GET /metr".utf8))
      try exporter.awaits("/livez", 200)
      #expect(silent.count == 100)
      exporter.child.kill(SIGTERM)
      #expect(try exporter.child.ended() == 0)
      #expect(!FileManager.default.fileExists(atPath: exporter.path))
    }

    @Test func `its manual has the options of its help, and no others`() throws {
      let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
      let manual = try String(
        contentsOf: repository.appendingPathComponent("man/navd-exporter.8.scd"), encoding: .utf8)
      let child = try Child(Binaries.path("navd-exporter"), ["--help"])
      #expect(try child.ended() == 0)
      func options(_ text: String) -> Set<String> {
        Set(text.matches(of: /--([a-z][a-z-]+)/).map { String($0.1) })
      }
      #expect(options(manual) == options(child.standardOutput))
    }

    @Test func `it starts without a daemon, on a port that is free, and refuses other machines`()
      throws
    {
      let directory = try TestDirectory()
      let arguments = ["--endpoint", "ipc://\(directory.path)/none", "--listen"]
      let child = try Child(Binaries.path("navd-exporter"), arguments + ["127.0.0.1:0"])
      try child.complains("serving on 127.0.0.1:")
      #expect(!child.standardError.contains("127.0.0.1:0\n"))
      child.kill(SIGINT)
      #expect(try child.ended() == 0)
      let remote = try Child(Binaries.path("navd-exporter"), arguments + ["0.0.0.0:0"])
      #expect(try remote.ended() == 2)
      #expect(remote.standardError.contains("--allow-remote"))
    }
  }
}
