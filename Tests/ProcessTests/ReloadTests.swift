import Foundation
import Testing

extension ProcessTests {
  /// Another configuration while serving.
  @Suite struct ReloadTests {
    private static let file = "navd.conf"

    private func daemon(_ text: String, _ manager: NotifySocket? = nil) throws -> TestDaemon {
      let environment = manager.map { ["NOTIFY_SOCKET": $0.path] } ?? [:]
      return try TestDaemon(environment: environment, configuration: text)
    }

    private func rewrite(_ daemon: TestDaemon, _ text: String) throws {
      _ = try daemon.directory.write(Self.file, text)
      daemon.child.kill(SIGHUP)
    }

    @Test func `a good file counts at once, and the service manager is told`() throws {
      let directory = try TestDirectory()
      let manager = try NotifySocket(directory.path + "/notify")
      let daemon = try daemon("[limits]\ndepth = 3\n", manager)
      try manager.hears("READY=1")
      let peer = try Peer(daemon.endpoint)
      try peer.hello()
      try peer.create("kiosk")
      for id in ["a", "b"] { try peer.perform("kiosk", #"[{"push":{"screen":{"id":"\#(id)"}}}]"#) }
      let more = #""nav":"kiosk","do":[{"push":{"screen":{"id":"c"}}}]"#
      #expect(try peer.ask("op", more).body["code"]?.string == "limit")
      try rewrite(daemon, "[limits]\ndepth = 4\nnavs = 1\n[log]\nlevel = debug\n")
      try manager.hears("RELOADING=1")
      try manager.hears("MONOTONIC_USEC=")
      try manager.hears("READY=1")
      try manager.hears("STATUS=reloaded: limits.depth 3 to 4, limits.navs 100000 to 1, log.level")
      #expect(try peer.ask("op", more).verb == "ok")
      let second = #""nav":"other","do":[{"nav.create":{"root":{"id":"r"}}}]"#
      #expect(try peer.ask("op", second).body["code"]?.string == "limit")
      try daemon.child.complains("reloaded: limits.depth 3 to 4")
      #expect(try daemon.stop() == 0)
    }

    @Test func `a bad file changes nothing and says where and why`() throws {
      let directory = try TestDirectory()
      let manager = try NotifySocket(directory.path + "/notify")
      let daemon = try daemon("[limits]\nnavs = 1\n", manager)
      let peer = try Peer(daemon.endpoint)
      try peer.hello()
      try peer.create("kiosk")
      let path = "\(daemon.directory.path)/\(Self.file)"
      let bad = "[limits]\nnavs = 5\n[log]\nlevel = debug\n\n[limits]\ndepht = 3\n"
      try rewrite(daemon, bad)
      try manager.hears("RELOADING=1")
      try manager.hears("READY=1")
      try manager.hears("STATUS=reload refused: \(path):7: [limits] has no key depht: expected ")
      try daemon.child.complains("error: reload refused: \(path):7: [limits] has no key depht")
      let second = #""nav":"other","do":[{"nav.create":{"root":{"id":"r"}}}]"#
      #expect(try peer.ask("op", second).body["code"]?.string == "limit")
      // What was refused is not what the next one is compared with.
      try rewrite(daemon, "[limits]\nnavs = 2\n")
      try manager.hears("STATUS=reloaded: limits.navs 1 to 2;")
      #expect(try peer.ask("op", second).verb == "ok")
      try FileManager.default.removeItem(atPath: path)
      daemon.child.kill(SIGHUP)
      try manager.hears("STATUS=reload refused: \(path): cannot open")
      #expect(try peer.ask("ping", "\"a\":1").verb == "pong")
    }

    @Test(arguments: [
      ("durability = relaxed", "durability is sync and would be relaxed"),
      ("socket-mode = 0660", "socket-mode is auto and would be 0660"),
      ("socket-group = nobody", "socket-group is (empty) and would be nobody"),
    ])
    func `what takes a restart is refused with its name, and nothing is applied`(
      line: String, expected: String
    ) throws {
      let daemon = try daemon("[limits]\nnavs = 1\n")
      let peer = try Peer(daemon.endpoint)
      try peer.hello()
      try peer.create("kiosk")
      try rewrite(daemon, "[limits]\nnavs = 5\n[daemon]\n\(line)\n")
      try daemon.child.complains("reload refused: [daemon] \(expected), which needs a restart")
      let second = #""nav":"other","do":[{"nav.create":{"root":{"id":"r"}}}]"#
      #expect(try peer.ask("op", second).body["code"]?.string == "limit")
    }

    @Test func `what options and variables decide stays, whatever the file says`() throws {
      let daemon = try TestDaemon(
        environment: ["NAVD_LIMITS_NAVS": "1"], configuration: "[limits]\nnavs = 7\n")
      let peer = try Peer(daemon.endpoint)
      try peer.hello()
      try peer.create("kiosk")
      let text = "[limits]\nnavs = 5\n[daemon]\nlisten = ipc:///elsewhere\nstate = /elsewhere\n"
      try rewrite(daemon, text)
      try daemon.child.complains("reloaded: nothing has changed")
      let second = #""nav":"other","do":[{"nav.create":{"root":{"id":"r"}}}]"#
      #expect(try peer.ask("op", second).body["code"]?.string == "limit")
    }

    @Test func `history that a reload gives up goes, and what comes is kept by the new rule`()
      throws
    {
      let daemon = try daemon("[history]\nrevisions = 1000\n")
      let peer = try Peer(daemon.endpoint)
      try peer.create("kiosk")
      func rename(_ count: Int) throws {
        for number in 0..<count {
          try peer.perform("kiosk", #"[{"screen.set":{"screen":"home","title":"\#(number)"}}]"#)
        }
      }
      try rename(40)
      #expect(try peer.log("kiosk").count == 41)
      try rewrite(daemon, "[history]\nrevisions = 5\nsnapshot-every = 2\n")
      try daemon.child.complains("reloaded: history.revisions 1000 to 5, history.snapshot-every")
      try rename(10)
      // What was to be pruned later is due at once.
      try rewrite(daemon, "[history]\nrevisions = 4\nsnapshot-every = 2\n")
      let end = Date(timeIntervalSinceNow: Child.patience)
      var floor: UInt64 = 0
      while floor < 40, end > Date() {
        // Maintenance prefers quiet moments.
        _ = try peer.receive(within: 0.5)
        floor = try peer.get(#""nav":"kiosk","what":"stats""#)["value"]?["floor"]?.integer ?? 0
      }
      #expect(floor >= 40)
      #expect(try daemon.navctl(["verify", "kiosk"]).status == 0)
      // The revision that put it there is gone.
      #expect(try daemon.navctl(["why", "kiosk", "home"]).status == 6)
    }

    @Test func `under load no op fails and no session ends`() throws {
      let directory = try TestDirectory()
      let manager = try NotifySocket(directory.path + "/notify")
      let daemon = try daemon("[limits]\ndepth = 64\n", manager)
      let workers = 4
      let operations = 400
      let tallies = Tallies()
      let group = DispatchGroup()
      let endpoint = daemon.endpoint
      for number in 0..<workers {
        DispatchQueue.global().async(group: group) {
          tallies.add(Self.work(endpoint, "nav\(number)", operations))
        }
      }
      var reloads = 0
      while group.wait(timeout: .now()) == .timedOut, reloads < 200 {
        let isBad = reloads % 5 == 4
        let depth = 20 + reloads % 7
        let text =
          "[limits]\ndepth = \(depth)\nresume-revisions = \(1 + reloads % 9)\n"
          + "remembered-ops = \(64 + reloads % 3)\n[history]\nsnapshot-every = \(1 + reloads % 5)\n"
          + (isBad ? "[limits]\ndepth = none\n" : "")
        try rewrite(daemon, text)
        try manager.hears(isBad ? "STATUS=reload refused" : "STATUS=reloaded")
        reloads += 1
      }
      group.wait()
      #expect(reloads > 3)
      #expect(tallies.ok == workers * operations, "\(tallies.failures.prefix(3))")
      #expect(tallies.failures.isEmpty)
      #expect(try daemon.stop() == 0)
    }

    /// Pushes and pops with a window of ops in flight; returns how many were done, and what failed.
    private static func work(
      _ endpoint: String, _ nav: String, _ count: Int
    ) -> (ok: Int, failures: [String]) {
      var done = 0
      var failures: [String] = []
      do {
        let peer = try Peer(endpoint)
        try peer.hello()
        try peer.create(nav)
        _ = try peer.ask("watch", #""nav":"\#(nav)""#)
        let window = 16
        for index in 0..<(count + window) {
          if index < count {
            let op = index % 2 == 0 ? #"{"push":{"screen":{"id":"a"}}}"# : #"{"pop":{}}"#
            try peer.send(
              "op", #"{"id":\#(1000 + index),"nav":"\#(nav)","if":{"any":true},"do":[\#(op)]}"#)
          }
          guard index >= window else { continue }
          let id = UInt64(1000 + index - window)
          let answer = try peer.awaits("answer \(id)") { message in
            message.verb == "bye" || message.body["id"]?.integer == id
          }
          if answer.verb == "ok" { done += 1 } else { failures.append("\(answer.body)") }
        }
      } catch {
        failures.append("\(error)")
      }
      return (done, failures)
    }

    @Test func `print-config prints what counts, which check-config takes as a file`() throws {
      let directory = try TestDirectory()
      let file = try directory.write("navd.conf", "[limits]\ndepth = 3\n")
      func ends(
        _ options: [String], _ more: [String: String] = [:]
      ) throws -> (status: Int32, output: String, errors: String) {
        let child = try Child(
          Binaries.path("navd"), options,
          environment: ["HOME": directory.path].merging(more) { $1 })
        let status = try child.ended()
        return (status, child.standardOutput, child.standardError)
      }
      let options = ["--config", file, "--state", directory.path + "/s", "--print-config"]
      let printed = try ends(options, ["NAVD_LOG_LEVEL": "debug"])
      #expect(printed.status == 0, "\(printed.errors)")
      #expect(printed.output.contains("; \(file):2\n"))
      #expect(printed.output.contains("; NAVD_LOG_LEVEL\n"))
      #expect(printed.output.contains("; --state\n"))
      let again = try directory.write("again.conf", printed.output)
      let values = try ends(["--config", again, "--print-config"])
      func withoutOrigins(_ text: String) -> [String] {
        text.split(separator: "\n").map { String($0.split(separator: " ;")[0]) }.map {
          $0.split(separator: " ").joined(separator: " ")
        }
      }
      #expect(withoutOrigins(values.output) == withoutOrigins(printed.output))
      let misspelt = try ends(["--print-config"], ["NAVD_LIMITS_DEPHT": "3"])
      #expect(misspelt.status == 3)
      #expect(misspelt.output == "")
      #expect(misspelt.errors.contains("NAVD_LIMITS_DEPHT: [limits] has no key depht"))
      #expect(!FileManager.default.fileExists(atPath: directory.path + "/s"))
    }
  }
}

/// What several workers have to tell.
private final class Tallies: @unchecked Sendable {
  private let lock = NSLock()
  private(set) var ok = 0
  private(set) var failures: [String] = []

  func add(_ tally: (ok: Int, failures: [String])) {
    lock.withLock {
      ok += tally.ok
      failures += tally.failures
    }
  }
}
