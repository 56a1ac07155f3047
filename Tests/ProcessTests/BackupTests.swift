import Foundation
import Testing

extension LongProcessTests {
  /// Copies of the journal, made while serving and put back before a start.
  @Suite struct BackupTests {
    private func restore(_ file: String, _ state: String) throws -> Child {
      let child = try Child(Binaries.path("navd"), ["--restore", file, "--state", state])
      try child.ended()
      return child
    }

    private func files(_ path: String) throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }

    private func ids(_ peer: Peer, _ nav: String = "kiosk") throws -> [String] {
      try peer.state(nav)["value"]?["screens"]?.ids ?? []
    }

    private func push(_ peer: Peer, _ id: String) throws {
      try peer.perform("kiosk", #"[{"push":{"screen":{"id":"\#(id)"}}}]"#)
    }

    @Test func `the daemon can use the directories that it makes, whatever the umask is`() throws {
      let directory = try TestDirectory()
      let (endpoint, state) = ("ipc://\(directory.path)/op", directory.path + "/state")
      let daemon = try Child(
        "/bin/sh",
        [
          "-c", "umask 0177; exec \"$0\" \"$@\"", Binaries.path("navd"), "--listen", endpoint,
          "--state", state,
        ], environment: ["HOME": directory.path])
      try daemon.complains("serving ")
      let answer = try Peer(endpoint).get(#""what":"backup""#)
      #expect(answer["value"]?.string?.hasPrefix(state + "/backups/") == true, "\(answer)")
      for path in [state, state + "/backups"] {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o700, "\(path)")
      }
      daemon.kill(SIGTERM)
      #expect(try daemon.ended() == 0)
    }

    @Test func `a backup under load has all that was acknowledged before, and stops nobody`() throws
    {
      let daemon = try TestDaemon()
      let endpoint = daemon.endpoint
      let peer = try Peer(endpoint)
      try peer.create("kiosk")
      // So that there is something to copy.
      let text = String(repeating: "x", count: 20_000)
      for number in 0..<100 {
        try peer.perform(
          "kiosk", #"[{"screen.set":{"screen":"home","title":"\#(number)\#(text)"}}]"#)
      }
      try push(peer, "before")
      let load = Load()
      let group = DispatchGroup()
      DispatchQueue.global().async(group: group) { load.run(endpoint) }
      while load.count < 10 { _ = try peer.ask("ping", "\"a\":1") }
      var paths: [String] = []
      let atFirst = load.count
      for _ in 0..<3 {
        let before = load.count
        let result = try daemon.navctl(["backup", "-o", "json"])
        #expect(result.status == 0, "\(result.errors)")
        let reply = try JSON(result.output)
        paths.append(try #require(reply["value"]?.string))
        #expect(reply["navs"]?.integer == 2)
        #expect((reply["seq"]?.integer ?? 0) >= 100 + UInt64(before))
        #expect(reply["bytes"]?.integer ?? 0 > 10_000)
      }
      #expect(load.count > atFirst)
      load.mustEnd = true
      group.wait()
      #expect(load.failures.isEmpty, "\(load.failures.first ?? "")")
      #expect(try daemon.stop() == 0)
      let child = try restore(paths[0], daemon.state)
      #expect(try child.ended() == 0, "\(child.transcript)")
      try daemon.start()
      let after = try Peer(endpoint)
      #expect(try ids(after) == ["home", "before"])
      #expect(try daemon.navctl(["verify", "kiosk"]).status == 0)
      #expect(try daemon.navctl(["verify", "load"]).status == 0)
      #expect(try daemon.stop() == 0)
    }

    @Test func `after a restoration clients take a new epoch, and ops sent before are remembered`()
      throws
    {
      let daemon = try TestDaemon()
      let peer = try Peer(daemon.endpoint)
      try peer.hello()
      try peer.create("kiosk")
      let op = #"{"id":77,"nav":"kiosk","do":[{"push":{"screen":{"id":"a"}}}]}"#
      try peer.send("op", op)
      let answer = try peer.awaits("answer") { $0.body["id"]?.integer == 77 }
      let watcher = try daemon.startNavctl(["watch", "kiosk", "-o", "json"])
      try watcher.says("\"a\"")
      let epoch = try #require(answer.body["epoch"]?.string)
      let backup = try daemon.navctl(["backup"])
      #expect(backup.status == 0, "\(backup.errors)")
      #expect(backup.errors == "")
      let path = backup.output.trimmingCharacters(in: .newlines)
      #expect(path.hasPrefix(daemon.state + "/backups/navd-2"))
      #expect(path.hasSuffix("Z-2.db"))
      let rights = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
      #expect(rights == 0o600)
      try push(peer, "lost")
      try watcher.says("lost")
      let held = try restore(path, daemon.state)
      #expect(try held.ended() == 4, "\(held.transcript)")
      #expect(held.standardError.contains(daemon.endpoint))
      #expect(try daemon.stop() == 0)
      let before = try FileManager.default.attributesOfItem(atPath: daemon.state)
      let child = try restore(path, daemon.state)
      #expect(try child.ended() == 0, "\(child.transcript)")
      let former = try #require(try files(daemon.state).first { $0.hasPrefix("journal-2") })
      #expect(child.standardError.contains("the former journal is \(daemon.state)/\(former)"))
      let after = try FileManager.default.attributesOfItem(atPath: daemon.state)
      for key in [FileAttributeKey.posixPermissions, .ownerAccountID, .groupOwnerAccountID] {
        #expect(before[key] as? Int == after[key] as? Int)
      }
      try daemon.start()
      // The client that was there sees a snapshot of the new epoch, without what was lost.
      try watcher.says(#""why":"epoch""#, after: "lost")
      let next = try Peer(daemon.endpoint)
      let state = try next.state("kiosk")
      #expect(state["value"]?["screens"]?.ids == ["home", "a"])
      #expect(state["epoch"]?.string != epoch)
      try watcher.says(try #require(state["epoch"]?.string))
      // The octets of before are answered from the record.
      let again = try Peer(daemon.endpoint, client: peer.client)
      try again.hello()
      try again.send("op", op)
      let repeated = try again.awaits("answer") { $0.body["id"]?.integer == 77 }
      #expect(repeated.body == answer.body)
      watcher.kill(SIGKILL)
      #expect(try daemon.stop() == 0)
      // New epochs are given once.
      try daemon.start()
      #expect(try Peer(daemon.endpoint).state("kiosk")["epoch"] == state["epoch"])
      #expect(try daemon.stop() == 0)
    }

    @Test func `a file that cannot be served is refused, and nothing is touched`() throws {
      let daemon = try TestDaemon()
      let peer = try Peer(daemon.endpoint)
      try peer.create("kiosk")
      for number in 0..<20 { try push(peer, "T\(number)") }
      let path = try daemon.navctl(["backup"]).output.trimmingCharacters(in: .newlines)
      #expect(try daemon.stop() == 0)
      let good = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
      let journal = URL(fileURLWithPath: daemon.state + "/journal.sqlite")
      let before = try Data(contentsOf: journal)
      var damaged = good
      let place = try #require(Data(good).range(of: Data("T7".utf8)))
      damaged[place.lowerBound] = UInt8(ascii: "U")
      var newer = good
      // The user version, big-endian.
      newer[63] += 1
      for (bytes, status, text) in [
        (damaged, 5, "is damaged"), (Array(good.prefix(good.count / 2)), 5, "is damaged"),
        ([], 5, "is damaged"), (Array("rubbish ".utf8), 5, "is damaged"), (newer, 6, "has format"),
      ] as [([UInt8], Int32, String)] {
        let file = daemon.directory.path + "/copy.db"
        try Data(bytes).write(to: URL(fileURLWithPath: file))
        let child = try restore(file, daemon.state)
        #expect(try child.ended() == status, "\(child.transcript)")
        #expect(child.standardError.contains("\(file) \(text)"), "\(child.transcript)")
        #expect(child.standardError.contains("nothing was restored"))
        #expect(try files(daemon.state) == ["backups", "journal.sqlite", "lock"])
        #expect(try Data(contentsOf: journal) == before)
      }
      let none = try restore(daemon.directory.path + "/none", daemon.state)
      #expect(try none.ended() == 7, "\(none.transcript)")
      try daemon.start()
      #expect(try ids(try Peer(daemon.endpoint)).count == 21)
    }

    @Test(
      .enabled(if: ProcessTests.LifecycleTests.canTrace, "no process can be traced"),
      arguments: ["rename", "link", "unlink", "fsync", "pwrite64"])
    func `one that is killed at any step leaves the old journal or the new one`(call: String) throws
    {
      let daemon = try TestDaemon()
      let peer = try Peer(daemon.endpoint)
      try peer.create("kiosk")
      try push(peer, "kept")
      let path = try daemon.navctl(["backup"]).output.trimmingCharacters(in: .newlines)
      try push(peer, "late")
      // So that the old journal has a log that belongs to it.
      try daemon.kill()
      let old = daemon.directory.path + "/old"
      try FileManager.default.copyItem(atPath: daemon.state, toPath: old)
      var outcomes: Set<String> = []
      for number in 1...40 {
        try FileManager.default.removeItem(atPath: daemon.state)
        try FileManager.default.copyItem(atPath: old, toPath: daemon.state)
        let child = try Child(
          "/usr/bin/strace",
          [
            "-f", "-qq", "-o", "/dev/null", "-e", "trace=\(call)",
            "-e", "inject=\(call):signal=KILL:when=\(number)", Binaries.path("navd"), "--restore",
            path, "--state", daemon.state,
          ])
        let isDone = try child.ended() == 0
        try daemon.start()
        let found = try ids(try Peer(daemon.endpoint))
        #expect(found == ["home", "kept"] || found == ["home", "kept", "late"], "\(number)")
        if isDone { #expect(found == ["home", "kept"]) }
        outcomes.insert("\(found.count)")
        #expect(try daemon.navctl(["verify", "kiosk"]).status == 0)
        #expect(
          try !files(daemon.state).contains { $0.hasSuffix(".restored") || $0 == "restore.new" })
        try daemon.kill()
        if isDone { break }
        #expect(number < 40, "\(call) is called without end")
      }
      #expect(outcomes.contains("2"))
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
    func `root neither restores nor starts in a directory of another user, and reads the command`()
      throws
    {
      let daemon = try TestDaemon()
      try Peer(daemon.endpoint).create("kiosk")
      let path = try daemon.navctl(["backup"]).output.trimmingCharacters(in: .newlines)
      #expect(try daemon.stop() == 0)
      try FileManager.default.setAttributes([.ownerAccountID: 1], ofItemAtPath: daemon.state)
      let before = try files(daemon.state)
      let start = try Child(
        Binaries.path("navd"), ["--listen", daemon.endpoint, "--state", daemon.state],
        environment: ["HOME": daemon.directory.path])
      for child in [try restore(path, daemon.state), start] {
        #expect(try child.ended() == 7)
        let text =
          "it belongs to user 1, not to root or user 0; examine it, then type: runuser -u daemon"
        #expect(child.standardError.contains(text), "\(child.transcript)")
      }
      #expect(try files(daemon.state) == before)
    }

    @Test func `an empty journal is backed up and restored`() throws {
      let daemon = try TestDaemon()
      let backup = try daemon.navctl(["backup"])
      #expect(backup.status == 0, "\(backup.errors)")
      let path = backup.output.trimmingCharacters(in: .newlines)
      try Peer(daemon.endpoint).create("kiosk")
      #expect(try daemon.stop() == 0)
      // Into a directory that is not there yet, too.
      for state in [daemon.state, daemon.directory.path + "/other"] {
        let child = try restore(path, state)
        #expect(try child.ended() == 0, "\(child.transcript)")
      }
      try daemon.start()
      #expect(try daemon.navctl(["show", "kiosk"]).status == 6)
      #expect(try daemon.stop() == 0)
    }

    @Test func `progress is shown in lines when asked for, at once`() throws {
      let daemon = try TestDaemon()
      let peer = try Peer(daemon.endpoint)
      try peer.create("kiosk")
      let text = String(repeating: "x", count: 40_000)
      for number in 0..<100 {
        try peer.perform(
          "kiosk", #"[{"screen.set":{"screen":"home","title":"\#(number)\#(text)"}}]"#)
      }
      let result = try daemon.navctl(["backup", "--progress=json"])
      #expect(result.status == 0, "\(result.errors)")
      #expect(!result.errors.isEmpty)
      let lines = try result.errors.split(separator: "\n").map { try JSON(String($0)) }
      #expect(lines.allSatisfy { $0["done"]?.integer != nil && $0["total"]?.integer != nil })
      #expect(try daemon.navctl(["backup", "--progress=loud"]).status == 2)
      let state = daemon.state + "/backups"
      #expect(try files(state).allSatisfy { $0.hasPrefix("navd-") })
    }

    @Test(.enabled(if: ProcessTests.FullDiskTests.canMount, "no small file system can be mounted"))
    func `a disk without room for it gives no backup, and leaves nothing`() throws {
      let directory = try TestDirectory()
      let disk = try SmallDisk(directory.path + "/disk")
      let endpoint = "ipc://\(directory.path)/op"
      let daemon = try Child(
        Binaries.path("navd"), ["--listen", endpoint, "--state", disk.path + "/state"])
      try daemon.complains("serving ")
      let peer = try Peer(endpoint)
      try peer.create("kiosk")
      disk.fill()
      let answer = try peer.ask("get", #""what":"backup""#)
      #expect(answer.body["code"]?.string == "storage", "\(answer.body)")
      let names = (try? files(disk.path + "/state/backups")) ?? []
      #expect(names == [])
      try disk.makeRoom()
      try push(peer, "a")
      daemon.kill(SIGTERM)
      #expect(try daemon.ended() == 0, "\(daemon.transcript)")
    }
  }
}

/// Ops one after the other until told to end.
private final class Load: @unchecked Sendable {
  private let lock = NSLock()
  private var done = 0
  private var isEnding = false
  private var problems: [String] = []

  var count: Int { lock.withLock { done } }
  var failures: [String] { lock.withLock { problems } }
  var mustEnd: Bool {
    get { lock.withLock { isEnding } }
    set { lock.withLock { isEnding = newValue } }
  }

  func run(_ endpoint: String) {
    do {
      let peer = try Peer(endpoint)
      try peer.hello()
      try peer.create("load")
      while !mustEnd {
        let number = count
        try peer.perform("load", #"[{"screen.set":{"screen":"home","title":"\#(number)"}}]"#)
        lock.withLock { done += 1 }
      }
    } catch {
      lock.withLock { problems.append("\(error)") }
    }
  }
}
