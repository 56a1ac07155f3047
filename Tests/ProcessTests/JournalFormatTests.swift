import Foundation
import Testing

extension ProcessTests {
  /// Journals of another format than that of this version, and the dry run that reports them.
  @Suite struct JournalFormatTests {
    /// The format that this version writes.
    private static let format: UInt8 = 7

    /// A state directory with a journal of this version, whose header names another format.
    private static func state(_ format: UInt8) throws -> TestDaemon {
      let daemon = try TestDaemon()
      let peer = try Peer(daemon.endpoint)
      try peer.create("kiosk")
      try peer.perform("kiosk", #"[{"push":{"screen":{"id":"a"}}}]"#)
      #expect(try daemon.stop() == 0)
      let file = URL(fileURLWithPath: daemon.state + "/journal.sqlite")
      var bytes = try Data(contentsOf: file)
      // The user version of SQLite, big-endian.
      #expect(bytes[63] == Self.format)
      bytes[63] = format
      try bytes.write(to: file)
      return daemon
    }

    /// The bytes of each file of a directory; empty if there is none.
    private static func contents(_ directory: String) throws -> [String: Data] {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
      return try Dictionary(
        uniqueKeysWithValues: names.map {
          ($0, try Data(contentsOf: URL(fileURLWithPath: "\(directory)/\($0)")))
        })
    }

    /// Runs navd to its end, and checks that it leaves the directory as it is, byte by byte.
    private static func run(_ arguments: [String], on state: String) throws -> Child {
      let before = try contents(state)
      let child = try Child(Binaries.path("navd"), arguments + ["--state", state])
      try child.ended()
      #expect(try contents(state) == before, "\(child.transcript)")
      return child
    }

    @Test(
      arguments: [
        (9, "has format 9, this version reads up to 7; upgrade navd"),
        (
          6,
          "has format 6, this version reads from 7 on; use the navd that wrote it, or begin in an empty place"
        ),
      ] as [(UInt8, String)])
    func `a journal of another format is refused with 6 and its words, and stays as it is`(
      format: UInt8, words: String
    ) throws {
      let daemon = try Self.state(format)
      let start = try Self.run(["--listen", daemon.endpoint], on: daemon.state)
      #expect(try start.ended() == 6, "\(start.transcript)")
      let plan = try Self.run(["--migrate", "--dry-run"], on: daemon.state)
      #expect(try plan.ended() == 6, "\(plan.transcript)")
      for child in [start, plan] {
        #expect(child.standardError.contains(words), "\(child.transcript)")
        #expect(!child.standardError.contains("damaged"), "\(child.transcript)")
      }
      // As a backup it is refused too, and the journal of the directory stays.
      let other = try Self.state(Self.format)
      let before = try Self.contents(other.state)["journal.sqlite"]
      let restored = try Child(
        Binaries.path("navd"),
        ["--restore", daemon.state + "/journal.sqlite", "--state", other.state])
      #expect(try restored.ended() == 6, "\(restored.transcript)")
      #expect(try Self.contents(other.state)["journal.sqlite"] == before)
      #expect(restored.standardError.contains("has format \(format)"), "\(restored.transcript)")
      try other.start()
      #expect(try Peer(other.endpoint).state("kiosk")["value"]?["rev"]?.integer == 2)
      #expect(try other.stop() == 0)
    }

    @Test func `a dry run reports the format, and disturbs no daemon that serves`() throws {
      let daemon = try Self.state(Self.format)
      let plan = try Self.run(["--migrate", "--dry-run"], on: daemon.state)
      #expect(try plan.ended() == 0, "\(plan.transcript)")
      #expect(plan.standardOutput.contains("found     format 7, "))
      #expect(plan.standardOutput.contains("steps     none: there is nothing to do\n"))
      try daemon.start()
      let during = try Self.run(["--migrate", "--dry-run"], on: daemon.state)
      #expect(
        try during.ended() == 0 && during.standardOutput.contains("in use    by navd serving"))
      let peer = try Peer(daemon.endpoint)
      try peer.perform("kiosk", #"[{"push":{"screen":{"id":"new"}}}]"#)
      #expect(try daemon.stop() == 0)
    }

    @Test func `a dry run reports what is no journal, and makes none`() throws {
      for (bytes, text) in [
        (Data("rubbish".utf8), "does not carry the mark of a journal"), (Data(), "mark"),
      ] {
        let directory = try TestDirectory()
        let state = directory.path + "/state"
        try FileManager.default.createDirectory(
          atPath: state, withIntermediateDirectories: false,
          attributes: [.posixPermissions: 0o700])
        try bytes.write(to: URL(fileURLWithPath: state + "/journal.sqlite"))
        let child = try Self.run(["--migrate", "--dry-run"], on: state)
        #expect(try child.ended() == 5, "\(child.transcript)")
        #expect(child.standardError.contains(text), "\(child.transcript)")
      }
      let directory = try TestDirectory()
      let none = try Self.run(["--migrate", "--dry-run"], on: directory.path + "/none")
      #expect(try none.ended() == 0 && none.standardOutput.contains("found     no journal yet"))
      #expect(!FileManager.default.fileExists(atPath: directory.path + "/none"))
      for half in ["--migrate", "--dry-run"] {
        let child = try Child(Binaries.path("navd"), [half, "--state", directory.path])
        #expect(try child.ended() == 2 && child.standardError.contains("--migrate --dry-run"))
      }
    }
  }
}
