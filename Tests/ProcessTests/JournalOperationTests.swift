import Foundation
import Testing

extension ProcessTests {
  /// Long work on the journal: what navd shows of it, how it is interrupted, and its own backups.
  @Suite struct JournalOperationTests {
    /// A journal with three navs, which exists as long as the first value.
    private static func journal() throws -> (daemon: TestDaemon, file: String) {
      let daemon = try TestDaemon()
      let peer = try Peer(daemon.endpoint)
      for nav in ["kiosk", "till", "hud"] { try peer.create(nav) }
      #expect(try daemon.stop() == 0)
      return (daemon, daemon.state + "/journal.sqlite")
    }

    /// A state directory with a restored journal; it exists as long as the first value.
    private static func restored() throws -> (directory: TestDirectory, state: String) {
      let directory = try TestDirectory()
      let state = directory.path + "/state"
      let (daemon, file) = try journal()
      try withExtendedLifetime(daemon) {
        let child = try Child(Binaries.path("navd"), ["--restore", file, "--state", state])
        #expect(try child.ended() == 0, "\(child.transcript)")
      }
      return (directory, state)
    }

    private static func files(_ path: String) throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }

    /// The objects of the type `work` among lines.
    private static func works(_ text: String) throws -> [JSON] {
      try text.split(separator: "\n").filter { $0.hasPrefix("{") }.map { try JSON(String($0)) }
    }

    @Test func `a restoration and a start write their progress as JSON when that is asked for`()
      throws
    {
      let (made, file) = try Self.journal()
      defer { withExtendedLifetime(made) {} }
      let size = try Data(contentsOf: URL(fileURLWithPath: file)).count
      let directory = try TestDirectory()
      let state = directory.path + "/state"
      let restored = try Child(
        Binaries.path("navd"), ["--restore", file, "--state", state, "--progress=json"])
      #expect(try restored.ended() == 0, "\(restored.transcript)")
      let works = try Self.works(restored.standardError)
      #expect(works.first?["percent"]?.integer == 0 && works.last?["percent"]?.integer == 100)
      #expect(works.allSatisfy { $0["work"]?.string == "restore" && $0["unit"]?.string == "bytes" })
      #expect(works.last?["total"]?.integer == 2 * UInt64(size))
      let daemon = try Child(
        Binaries.path("navd"),
        ["--listen", "ipc://\(directory.path)/op", "--state", state, "--progress", "json"])
      try daemon.complains("serving 3 navs")
      let start = try Self.works(daemon.standardError)
      #expect(start.first?["work"]?.string == "start" && start.last?["percent"]?.integer == 100)
      daemon.kill(SIGTERM)
      #expect(try daemon.ended() == 0)
      // Nobody asked, and there is no terminal.
      let quiet = try Child(Binaries.path("navd"), ["--restore", file, "--state", state])
      #expect(try quiet.ended() == 0)
      #expect(quiet.standardError.split(separator: "\n").count == 1, "\(quiet.transcript)")
      let wrong = try Child(Binaries.path("navd"), ["--state", state, "--progress=loud"])
      #expect(try wrong.ended() == 2 && wrong.standardError.contains("takes auto, json or none"))
    }

    @Test func `on a terminal, a restoration shows a bar, and erases it`() throws {
      let (made, file) = try Self.journal()
      defer { withExtendedLifetime(made) {} }
      let directory = try TestDirectory()
      let command = "\(Binaries.path("navd")) --restore \(file) --state \(directory.path)/state"
      let child = try Child("/usr/bin/script", ["-qec", command, "/dev/null"])
      #expect(try child.ended() == 0, "\(child.transcript)")
      let output = child.standardOutput
      #expect(output.contains("\rrestoring [") && output.contains("  0 %"), "\(output)")
      #expect(output.contains("\r\u{1B}[Knavd: restored 3 navs"), "\(output)")
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `an interrupted restoration removes its copy, and leaves the journal`(signal: Int32) throws
    {
      let (directory, state) = try Self.restored()
      let journal = URL(fileURLWithPath: state + "/journal.sqlite")
      let before = try Data(contentsOf: journal)
      // navd reads from a pipe, so the test decides how far it comes.
      let pipe = directory.path + "/pipe"
      #expect(unsafe mkfifo(pipe, 0o600) == 0)
      let child = try Child(Binaries.path("navd"), ["--restore", pipe, "--state", state])
      // A pipe that nobody reads cannot be opened in this way. navd opens it with its signals blocked.
      var descriptor: Int32 = -1
      let isOpen = try eventually {
        descriptor = unsafe open(pipe, O_WRONLY | O_NONBLOCK)
        return descriptor >= 0
      }
      try #require(isOpen, "\(child.transcript)")
      let writer = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
      try writer.write(contentsOf: before.prefix(4096))
      child.kill(signal)
      // The next piece finds the signal.
      try? writer.write(contentsOf: before.prefix(4096))
      try? writer.close()
      #expect(try child.ended() == 128 + signal, "\(child.transcript)")
      #expect(child.standardError.contains("interrupted: nothing was restored"))
      #expect(try Self.files(state) == ["journal.sqlite", "lock"])
      #expect(try Data(contentsOf: journal) == before)
    }

    @Test(.enabled(if: ProcessTests.LifecycleTests.canTrace, "no process can be traced"))
    func `a start that is asked to stop during the replay ends, and has changed nothing`() throws {
      let (directory, state) = try Self.restored()
      let journal = URL(fileURLWithPath: state + "/journal.sqlite")
      let before = try Data(contentsOf: journal)
      // navd locks the directory right before it reads the journal.
      let child = try Child(
        "/usr/bin/strace",
        [
          "-f", "-qq", "-o", "/dev/null", "-e", "trace=flock", "-e",
          "inject=flock:signal=TERM:when=1", Binaries.path("navd"), "--listen",
          "ipc://\(directory.path)/op", "--state", state,
        ])
      #expect(try child.ended() == 0, "\(child.transcript)")
      #expect(child.standardError.contains("stopped while it replayed the journal"))
      #expect(try Data(contentsOf: journal) == before)
      let daemon = try Child(
        Binaries.path("navd"), ["--listen", "ipc://\(directory.path)/op", "--state", state])
      try daemon.complains("serving 3 navs")
      daemon.kill(SIGTERM)
      #expect(try daemon.ended() == 0)
    }

    @Test func `the service manager sees the progress of a backup, then what navd serves`() throws {
      let directory = try TestDirectory()
      let manager = try NotifySocket(directory.path + "/notify")
      let endpoint = "ipc://\(directory.path)/op"
      let daemon = try Child(
        Binaries.path("navd"), ["--listen", endpoint, "--state", directory.path + "/state"],
        environment: ["NOTIFY_SOCKET": manager.path])
      try manager.hears("STATUS=serving 0 navs")
      let answer = try Peer(endpoint).get(#""what":"backup""#)
      #expect(answer["value"]?.string != nil, "\(answer)")
      try manager.hears("STATUS=backing up: ")
      try manager.hears("STATUS=serving 0 navs")
      daemon.kill(SIGTERM)
      #expect(try daemon.ended() == 0)
    }

    @Test
    func `navd makes a backup when one is due, also after a reload, and not again at a start`()
      throws
    {
      let daemon = try TestDaemon(configuration: "[backup]\nevery = 1h\n")
      try daemon.child.complains("backed up 0 navs to \(daemon.state)/backups/navd-")
      let names = try Self.files(daemon.state + "/backups")
      #expect(
        names.count == 1 && names[0].wholeMatch(of: /navd-\d{8}T\d{6}Z\.db/) != nil, "\(names)")
      let statistics = try Peer(daemon.endpoint).get(#""what":"stats""#)["value"]
      #expect(statistics?["backups"]?["made"]?.integer == 1)
      #expect(statistics?["backups"]?["overdue"]?.bool == false)
      #expect(try daemon.navctl(["status"]).output.contains("every 1h 0m"))
      #expect(try daemon.stop() == 0)
      // As a daemon leaves it that is killed during a backup.
      let draft = daemon.state + "/backups/.new"
      try FileManager.default.createDirectory(atPath: draft, withIntermediateDirectories: false)
      try Data("partial".utf8).write(to: URL(fileURLWithPath: draft + "/journal.sqlite"))
      try daemon.start()
      #expect(try Self.files(daemon.state + "/backups") == names)
      // A backup for a client is made at once, so one of navd's own would have been begun before.
      #expect(try daemon.navctl(["backup"]).status == 0)
      #expect(try Self.files(daemon.state + "/backups").count == 2)
      let other = daemon.directory.path + "/other"
      _ = try daemon.directory.write("navd.conf", "[backup]\nevery = 1h\ndirectory = \(other)\n")
      #expect(try daemon.navctl(["reload"]).status == 0)
      try daemon.child.complains("backed up 0 navs to \(other)/navd-")
      // What was made can be restored.
      #expect(try daemon.stop() == 0)
      let copy = try #require(try Self.files(other).first)
      let restored = try Child(
        Binaries.path("navd"), ["--restore", "\(other)/\(copy)", "--state", daemon.state])
      #expect(try restored.ended() == 0, "\(restored.transcript)")
    }

    @Test func `a backup that cannot be made is logged with its remedy, and shown as overdue`()
      throws
    {
      let daemon = try TestDaemon(
        configuration: "[backup]\nevery = 1d\ndirectory = /proc/none/backups\n")
      try daemon.child.complains("backup failed: cannot write /proc/none/backups")
      try daemon.child.complains("no older backup was removed; the next attempt is in 60 s")
      let statistics = try Peer(daemon.endpoint).get(#""what":"stats""#)["value"]
      #expect(statistics?["backups"]?["overdue"]?.bool == true)
      #expect(statistics?["backups"]?["failed"]?.integer == 1)
      let doctor = try daemon.navctl(["doctor"])
      #expect(doctor.output.contains("warn  backup"), "\(doctor.output)")
      #expect(doctor.output.contains("OVERDUE: 1 failed"), "\(doctor.output)")
      #expect(try daemon.navctl(["status"]).output.contains("OVERDUE"))
      #expect(try daemon.stop() == 0)
    }

    @Test(.enabled(if: ProcessTests.FullDiskTests.canMount, "nothing can be mounted"))
    func `an old backup that cannot be removed is logged and shown, and the others go`() throws {
      let directory = try TestDirectory()
      let folder = directory.path + "/copies"
      let names = (1...3).map { "navd-2026010\($0)T000000Z.db" }
      let manager = FileManager.default
      try manager.createDirectory(
        atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
      for name in names { try Data().write(to: URL(fileURLWithPath: folder + "/" + name)) }
      // The kernel removes no name that something is mounted on.
      let busy = folder + "/" + names[0]
      #expect(try Child("/usr/bin/mount", ["--bind", busy, busy]).ended() == 0)
      defer { _ = try? Child("/usr/bin/umount", [busy]).ended() }
      let daemon = try TestDaemon(
        configuration: "[backup]\nevery = 1d\nkeep = 1\ndirectory = \(folder)\n")
      try daemon.child.complains("; removed \(names[1]), \(names[2])")
      try daemon.child.complains("not every older backup was removed: cannot write \(busy)")
      let statistics = try Peer(daemon.endpoint).get(#""what":"stats""#)["value"]
      #expect(statistics?["backups"]?["retentionFailed"]?.bool == true)
      #expect(statistics?["backups"]?["overdue"]?.bool == false)
      let doctor = try daemon.navctl(["doctor"])
      #expect(doctor.output.contains("NOT BE REMOVED"), "\(doctor.output)")
      #expect(try daemon.stop() == 0)
      #expect(try Self.files(folder).count == 2)
    }

    @Test(.enabled(if: ProcessTests.FullDiskTests.canMount, "no small file system can be mounted"))
    func `a full disk of the journal does not prevent a backup to another one`() throws {
      let directory = try TestDirectory()
      let disk = try SmallDisk(directory.path + "/disk")
      let endpoint = "ipc://\(directory.path)/op"
      let file = try directory.write("navd.conf", "")
      let daemon = try Child(
        Binaries.path("navd"),
        ["--config", file, "--listen", endpoint, "--state", disk.path + "/state"])
      try daemon.complains("serving ")
      try Peer(endpoint).create("kiosk")
      disk.fill()
      let other = directory.path + "/other"
      _ = try directory.write("navd.conf", "[backup]\nevery = 1d\ndirectory = \(other)\n")
      daemon.kill(SIGHUP)
      try daemon.complains("backed up 1 nav to \(other)/navd-")
      try disk.makeRoom()
      daemon.kill(SIGTERM)
      #expect(try daemon.ended() == 0, "\(daemon.transcript)")
    }

    @Test func `a cluster refuses backups of its own, and names the way of the server`() throws {
      let directory = try TestDirectory()
      let file = try directory.write(
        "navd.conf", "[cluster]\ndatabase = dbname=navd\n[backup]\nevery = 1d\n")
      let child = try Child(
        Binaries.path("navd-cluster"), ["--config", file, "--check-config"])
      #expect(try child.ended() == 3, "\(child.transcript)")
      #expect(child.standardError.contains("navd.conf:4: [backup] every is 86400"))
      #expect(child.standardError.contains("pg_basebackup or pg_dump"))
      let migration = try Child(
        Binaries.path("navd-cluster"),
        [
          "--config", try directory.write("other.conf", "[cluster]\ndatabase = dbname=navd\n"),
          "--migrate", "--dry-run",
        ])
      #expect(try migration.ended() == 2 && migration.standardError.contains("pg_dump"))
    }
  }
}
