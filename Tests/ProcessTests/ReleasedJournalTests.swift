import Foundation
import Testing

extension ProcessTests {
  /// Journals that earlier versions made; see `Fixtures/journals/README.md`.
  @Suite struct ReleasedJournalTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("Fixtures/journals")
    static let names = ["0.1.0", "0.1.0-ad45234"]

    private static func journal(_ name: String) throws -> Data {
      try Data(contentsOf: folder.appendingPathComponent(name + ".sqlite"))
    }

    /// A directory with a copy of a journal as it was made.
    private static func state(_ directory: TestDirectory, _ journal: Data) throws -> String {
      let state = directory.path + "/state"
      try FileManager.default.createDirectory(
        atPath: state, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
      try journal.write(to: URL(fileURLWithPath: state + "/journal.sqlite"))
      return state
    }

    /// Runs the dry run, and checks that it leaves the directory as it is, byte by byte.
    private static func dryRun(_ state: String) throws -> Child {
      let files = FileManager.default
      func contents() throws -> [String: Data] {
        let names = (try? files.contentsOfDirectory(atPath: state)) ?? []
        return try Dictionary(
          uniqueKeysWithValues: names.map {
            ($0, try Data(contentsOf: URL(fileURLWithPath: "\(state)/\($0)")))
          })
      }
      let before = try contents()
      let child = try Child(
        Binaries.path("navd"), ["--migrate", "--dry-run", "--state", state])
      try child.ended()
      #expect(try contents() == before, "\(child.transcript)")
      return child
    }

    @Test func `each journal of the folder has its answers, and a line in this list`() throws {
      let found = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
      let names = Set(Self.names)
      for kind in [".sqlite", ".jsonl"] {
        let files = found.filter { $0.hasSuffix(kind) }.map { String($0.dropLast(kind.count)) }
        #expect(Set(files) == names)
      }
      for name in Self.names { #expect(try Self.journal(name).count <= 50_000) }
    }

    @Test(arguments: names)
    func `a journal of an earlier version has the navs that this version reported`(name: String)
      throws
    {
      let directory = try TestDirectory()
      let state = try Self.state(directory, try Self.journal(name))
      let plan = try Self.dryRun(state)
      #expect(try plan.ended() == 0, "\(plan.transcript)")
      #expect(plan.standardOutput.contains("found     format 3, 32768 bytes\n"))
      #expect(plan.standardOutput.contains("steps     none: there is nothing to do\n"))

      let endpoint = "ipc://\(directory.path)/op"
      let daemon = try Child(Binaries.path("navd"), ["--listen", endpoint, "--state", state])
      try daemon.complains("serving 3 navs")
      let peer = try Peer(endpoint)
      try peer.hello()
      let answers = try String(
        contentsOf: Self.folder.appendingPathComponent(name + ".jsonl"), encoding: .utf8)
      for line in answers.split(separator: "\n") {
        let expected = try #require(try JSON(String(line))["value"])
        let nav = try #require(expected["nav"]?.string)
        let found = try #require(try peer.state(nav)["value"])
        for member in ["epoch", "rev", "dig", "screens", "bar", "toolbar", "presented", "settings"]
        {
          #expect(expected[member] != nil && found[member] == expected[member], "\(nav) \(member)")
        }
        let check = try peer.get(#""nav":"\#(nav)","what":"verify""#)["value"]
        #expect(check?["ok"]?.bool == true && check?["dig"] == expected["dig"], "\(nav)")
      }
      // The history is there too: the first revision of a nav with five.
      let first = try peer.get(#""nav":"till","what":"state","at":1"#)["value"]
      #expect(first?["screens"]?.ids == ["menu"])
      // A dry run does not disturb a daemon that serves, and names it.
      let during = try Self.dryRun(state)
      #expect(
        try during.ended() == 0 && during.standardOutput.contains("in use    by navd serving"))
      try peer.perform("till", #"[{"push":{"screen":{"id":"new"}}}]"#)
      daemon.kill(SIGTERM)
      #expect(try daemon.ended() == 0, "\(daemon.transcript)")
    }

    @Test func `a dry run reports a newer format, an older one, and what is no journal`() throws {
      let good = try Self.journal("0.1.0")
      // The user version of SQLite, big-endian.
      var (newer, older) = (good, good)
      newer[63] = 9
      older[63] = 2
      for (bytes, status, text) in [
        (newer, 6, "has format 9, this version reads up to 3; upgrade navd"),
        (older, 5, "its format 2 is from before the first release, and is not read"),
        (Data("rubbish".utf8), 5, "does not carry the mark of a journal"), (Data(), 5, "mark"),
      ] as [(Data, Int32, String)] {
        let directory = try TestDirectory()
        let child = try Self.dryRun(try Self.state(directory, bytes))
        #expect(try child.ended() == status, "\(child.transcript)")
        #expect(child.standardError.contains(text), "\(child.transcript)")
      }
      let directory = try TestDirectory()
      let none = try Self.dryRun(directory.path + "/none")
      #expect(try none.ended() == 0 && none.standardOutput.contains("found     no journal yet"))
      #expect(!FileManager.default.fileExists(atPath: directory.path + "/none"))
      for half in ["--migrate", "--dry-run"] {
        let child = try Child(Binaries.path("navd"), [half, "--state", directory.path])
        #expect(try child.ended() == 2 && child.standardError.contains("--migrate --dry-run"))
      }
    }
  }
}
