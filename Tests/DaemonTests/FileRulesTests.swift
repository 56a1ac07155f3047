import Foundation
@testable import RuntimePaths
import Testing

/// Files, directories and paths at their edges.
@Suite struct FileRulesTests {
  @Test func `a file is created once, with its mode, whatever the umask is`() throws {
    try withTemporaryDirectory { root in
      let path = root + "/f"
      try createFile(path, [1, 2], mode: 0o600)
      #expect(FileStatus.probe(path)?.mode == 0o600)
      let error = #expect(throws: SystemError.self) { try createFile(path, [3], mode: 0o600) }
      #expect(error?.description == "cannot create \(path): File exists")
      #expect(try readSmallFile(path) == [1, 2])
      #expect(throws: SystemError.self) { try createFile(root + "/none/f", [], mode: 0o600) }
    }
  }

  @Test(arguments: [0, 1, 16_383, 16_384, 16_385, 40_000])
  func `a file is read whole, whatever its length is to the buffer`(count: Int) throws {
    try withTemporaryDirectory { root in
      let octets = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
      try writeFileAtomically(root + "/f", octets)
      #expect(try readSmallFile(root + "/f", maximumBytes: count) == octets)
      guard count > 0 else { return }
      let error = #expect(throws: SystemError.self) {
        try readSmallFile(root + "/f", maximumBytes: count - 1)
      }
      #expect(error?.code == EFBIG && error?.operation == "read")
    }
  }

  @Test func `a replacement that fails leaves the file, and nothing beside it`() throws {
    try withTemporaryDirectory { root in
      // A directory cannot be replaced by a file.
      try createPrivateDirectory(root + "/d")
      let error = #expect(throws: SystemError.self) { try writeFileAtomically(root + "/d", [1]) }
      #expect(error?.operation == "replace" && error?.path == root + "/d")
      #expect(try namesInDirectory(root) == ["d"])
      #expect(throws: SystemError.self) { try writeFileAtomically(root + "/none/f", [1]) }
    }
  }

  @Test func `the rest of an earlier process is replaced, a link is not followed`() throws {
    try withTemporaryDirectory { root in
      let temporary = root + "/f.new-\(getpid())"
      try FileManager.default.createSymbolicLink(
        atPath: temporary, withDestinationPath: root + "/victim")
      try writeFileAtomically(root + "/victim", [9])
      try writeFileAtomically(root + "/f", [1], mode: 0o640)
      #expect(try readSmallFile(root + "/victim") == [9])
      #expect(FileStatus.probe(root + "/f")?.mode == 0o640)
      #expect(try namesInDirectory(root) == ["f", "victim"])
    }
  }

  @Test func `a file is removed once, and what is no file not at all`() throws {
    try withTemporaryDirectory { root in
      try writeFileAtomically(root + "/f", [])
      #expect(try removeFile(root + "/f"))
      #expect(try !removeFile(root + "/f"))
      #expect(throws: SystemError.self) { try removeFile(root) }
      #expect(throws: SystemError.self) { try syncDirectory(root + "/none") }
      #expect(throws: SystemError.self) { try namesInDirectory("/dev/null") }
    }
  }

  @Test func `each kind of file is told apart, and a link is not followed`() throws {
    try withTemporaryDirectory { root in
      try writeFileAtomically(root + "/f", [])
      try FileManager.default.createSymbolicLink(
        atPath: root + "/l", withDestinationPath: root + "/f")
      #expect(unsafe mkfifo(root + "/p", 0o600) == 0)
      let kinds = ["f", "l", "p", ""].map { FileStatus.probe("\(root)/\($0)")?.kind }
      #expect(kinds == [.regular, .symbolicLink, .other, .directory])
      #expect(FileStatus.probe(root + "/none") == nil)
      #expect(FileStatus.probe(root + "/f/x") == nil)
    }
  }

  @Test func `names come in the order of their octets`() throws {
    try withTemporaryDirectory { root in
      let names = ["b", "B", "a.1", "a", "长", "é", "_", ".h"]
      for name in names { try writeFileAtomically("\(root)/\(name)", []) }
      let sorted = names.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
      #expect(try namesInDirectory(root) == sorted)
    }
  }

  @Test(
    arguments: [
      (FileStatus.Kind.directory, 7, 0o700, nil),
      (.directory, 7, 0o1700, nil), (.directory, 7, 0o500, nil),
      (.directory, 8, 0o700, "it belongs to user 8, not to user 7"),
      (.directory, 7, 0o710, "its mode is 0710, so others can use it; expected 0700"),
      (.directory, 7, 0o701, "its mode is 0701, so others can use it; expected 0700"),
      (.symbolicLink, 7, 0o700, "it is a symbolic link, not a directory"),
      (.socket, 8, 0o777, "it is a socket, not a directory"),
    ] as [(FileStatus.Kind, UInt32, UInt32, String?)])
  func `a private directory belongs to one user alone`(
    kind: FileStatus.Kind, owner: UInt32, mode: UInt32, reason: String?
  ) {
    #expect(FileStatus(kind: kind, owner: owner, mode: mode).reasonNotPrivate(to: 7) == reason)
  }

  @Test(arguments: [
    ("/a/b", "/a"), ("/a", "/"), ("/", "/"), ("", "."), ("a", "."), ("a/b", "a"), ("/a/b/", "/a/b"),
    ("//a", "/"),
  ])
  func `a path has a parent`(path: String, parent: String) {
    #expect(parentDirectory(of: path) == parent)
  }

  @Test(arguments: [0o600, 0o400, 0o700]) func `a secret is for its owner`(mode: UInt32) throws {
    try withTemporaryDirectory { root in
      try writeFileAtomically(root + "/s", [], mode: mode)
      #expect(FileStatus.target(of: root + "/s")?.isSecret == true)
      // Through a link the target counts.
      try FileManager.default.createSymbolicLink(
        atPath: root + "/l", withDestinationPath: root + "/s")
      #expect(FileStatus.target(of: root + "/l")?.isSecret == true)
      try writeFileAtomically(root + "/s", [], mode: mode | 0o004)
      #expect(FileStatus.target(of: root + "/s")?.isSecret == false)
      #expect(FileStatus.target(of: root + "/l")?.isSecret == false)
      #expect(FileStatus.target(of: root + "/none") == nil)
    }
  }
}

@Suite struct EnvironmentRulesTests {
  private func path(_ value: String?) -> String? {
    ProcessEnvironment(value.map { ["X": $0] } ?? [:]).absolutePath("X")
  }

  @Test func `of several paths the first counts, if it is absolute`() {
    #expect(path("/a:/b") == "/a" && path("/a") == "/a" && path(":/b") == "/b")
    #expect(path("a:/b") == nil && path("") == nil && path(nil) == nil && path(":") == nil)
  }

  @Test func `own names are those of the project, in order, and only if they are set`() {
    let environment = ProcessEnvironment([
      "NAVD_B": "1", "NAVD_A": "2", "NAVD_EMPTY": "", "HOME": "/h", "XNAVD_C": "3",
    ])
    #expect(environment.navdVariableNames == ["NAVD_A", "NAVD_B"])
    #expect(environment["NAVD_EMPTY"] == nil && environment["HOME"] == "/h")
  }

  @Test func `the environment of this process has all variables`() {
    let current = ProcessEnvironment.current()
    for (name, value) in ProcessInfo.processInfo.environment where !value.isEmpty {
      #expect(current[name] == value, "\(name)")
    }
    #expect(current["PATH"] != nil)
    #expect(PathRules.current().userID == getuid())
  }

  @Test func `a client looks in each directory once, its own before the system's`() {
    func places(_ variables: [String: String], _ user: UInt32) -> [String] {
      PathRules(environment: ProcessEnvironment(variables), userID: user).clientDirectories
        .map(\.path)
    }
    #expect(places([:], 5) == ["/tmp/navd-5", "/run/navd"])
    #expect(places([:], 0) == ["/run/navd"])
    #expect(
      places(["RUNTIME_DIRECTORY": "/run/navd", "XDG_RUNTIME_DIR": "/r/"], 5)
        == ["/run/navd", "/r/navd", "/tmp/navd-5"])
    #expect(places(["RUNTIME_DIRECTORY": "/tmp/navd-5"], 5) == ["/tmp/navd-5", "/run/navd"])
  }

  @Test func `a path of a socket that is too long is refused for daemon and client`() {
    let long = "/" + String(repeating: "长", count: 40)
    let rules = PathRules(
      environment: ProcessEnvironment(["XDG_RUNTIME_DIR": long]), userID: 5)
    let path = long + "/navd/navd.sock"
    let expected = PathError.socketPathTooLong(path: path, byteCount: path.utf8.count)
    #expect(throws: expected) { try rules.defaultEndpoint() }
    let socket = FileStatus(kind: .socket, owner: 5, mode: 0o600)
    #expect(throws: expected) { try rules.clientEndpoint(option: nil, probe: { _ in socket }) }
    #expect(
      expected.description
        == "socket path \(path) is 136 bytes long; the kernel accepts at most 107")
  }

  @Test(arguments: [
    ("d5e3a1b0-1111-4222-8333-444455556666", "d5e3a1b0111142228333444455556666"),
    ("D5E3A1B0111142228333444455556666\n", "d5e3a1b0111142228333444455556666"),
  ])
  func `a boot id is 32 digits in lower case`(text: String, id: String) throws {
    #expect(try bootID(environment: ProcessEnvironment(["NAVD_BOOT_ID": text])) == id)
  }

  @Test(arguments: ["", "d5e3", "not-an-id", String(repeating: "a", count: 33)])
  func `what is no boot id does not count`(text: String) throws {
    let kernel = try bootID(environment: ProcessEnvironment([:]))
    #expect(try bootID(environment: ProcessEnvironment(["NAVD_BOOT_ID": text])) == kernel)
    #expect(kernel.count == 32)
  }

  @Test func `clocks go on, and agree on their units`() throws {
    // The kernel's time since the boot, of which it shows hundredths of seconds.
    func uptime() throws -> UInt64 {
      let text = try String(contentsOfFile: "/proc/uptime", encoding: .utf8)
      return UInt64((try #require(Double(text.prefix { $0 != " " })) * 1000).rounded())
    }
    func now() -> UInt64 { UInt64(Date().timeIntervalSince1970 * 1000) }
    for _ in 0..<100 {
      let milli = SystemClock.monotonicMilliseconds()
      let nano = SystemClock.monotonicNanoseconds() / 1_000_000
      #expect(milli <= nano && nano <= SystemClock.monotonicMilliseconds())
      let before = try uptime()
      let boot = SystemClock.bootMilliseconds()
      #expect(try before <= boot && boot < uptime() + 10)
    }
    // The wall clock may be set at any moment, so that one of three tries counts.
    #expect(
      (0..<3).contains { _ in
        let before = now()
        let wall = SystemClock.wallMilliseconds()
        return before <= wall && wall <= now()
      })
  }
}
