import Foundation
@testable import RuntimePaths
import Testing

@Suite struct PathRulesTests {
  private func rules(_ variables: [String: String], user: UInt32 = 1000) -> PathRules {
    PathRules(environment: ProcessEnvironment(variables), userID: user)
  }

  @Test func `the runtime directory follows its four rules in order`() {
    let all = ["RUNTIME_DIRECTORY": "/run/a:/run/b", "XDG_RUNTIME_DIR": "/run/user/1000"]
    #expect(rules(all).runtimeDirectory.path == "/run/a")
    #expect(
      rules(["XDG_RUNTIME_DIR": "/run/user/1000"]).runtimeDirectory.path == "/run/user/1000/navd")
    #expect(rules([:], user: 0).runtimeDirectory.path == "/run/navd")
    #expect(rules([:]).runtimeDirectory.path == "/tmp/navd-1000")
    #expect(rules([:]).runtimeDirectory.isInSharedDirectory)
  }

  @Test func `empty and relative variables count as unset`() {
    #expect(
      rules(["RUNTIME_DIRECTORY": "", "XDG_RUNTIME_DIR": "x"]).runtimeDirectory.path
        == "/tmp/navd-1000")
  }

  @Test func `the state directory follows its four rules in order`() throws {
    let home = ["HOME": "/home/u"]
    #expect(try rules(["STATE_DIRECTORY": "/s"]).stateDirectory() == "/s")
    #expect(try rules(["XDG_STATE_HOME": "/x/"]).stateDirectory() == "/x/navd")
    #expect(try rules(home, user: 0).stateDirectory() == "/var/lib/navd")
    #expect(try rules(home).stateDirectory() == "/home/u/.local/state/navd")
    #expect(throws: PathError.noStateDirectory) { try rules([:]).stateDirectory() }
  }

  @Test func `a socket path may have 107 bytes and not 108`() throws {
    let longest = "/" + String(repeating: "a", count: 106)
    #expect(try PathRules.endpoint(socketPath: longest) == "ipc://" + longest)
    #expect(throws: PathError.socketPathTooLong(path: longest + "a", byteCount: 108)) {
      try PathRules.endpoint(socketPath: longest + "a")
    }
  }

  @Test func `a client prefers the option, then the variable, then the first socket`() throws {
    let variables = ["NAVD_ENDPOINT": "ipc:///v", "XDG_RUNTIME_DIR": "/r"]
    let socket = FileStatus(kind: .socket, owner: 1000, mode: 0o600)
    let everywhere: (String) -> FileStatus? = { _ in socket }
    #expect(
      try rules(variables).clientEndpoint(option: "ipc:///o", probe: everywhere) == "ipc:///o")
    #expect(try rules(variables).clientEndpoint(option: nil, probe: everywhere) == "ipc:///v")
    let system: (String) -> FileStatus? = { $0 == "/run/navd/navd.sock" ? socket : nil }
    #expect(
      try rules(["XDG_RUNTIME_DIR": "/r"]).clientEndpoint(option: nil, probe: system)
        == "ipc:///run/navd/navd.sock")
  }

  @Test func `a client names each path it tried`() {
    do {
      _ = try rules(["XDG_RUNTIME_DIR": "/r"]).clientEndpoint(option: nil, probe: { _ in nil })
      Issue.record("an endpoint was found")
    } catch {
      let text = error.description
      for path in ["/r/navd/navd.sock", "/tmp/navd-1000/navd.sock", "/run/navd/navd.sock"] {
        #expect(text.contains("\n  \(path): not there"))
      }
    }
  }

  @Test func `the socket of the system counts although its directory hides it`() throws {
    let hidden = FileStatus(kind: .hidden, owner: 0, mode: 0)
    let probe: (String) -> FileStatus? = { _ in hidden }
    // Of another user's session, nothing is known.
    #expect(
      try rules(["XDG_RUNTIME_DIR": "/r"]).clientEndpoint(option: nil, probe: probe)
        == "ipc:///run/navd/navd.sock")
  }

  @Test func `a client passes over a socket in a directory another user made`() {
    let probe: (String) -> FileStatus? = { path in
      switch path {
      case "/tmp/navd-1000/navd.sock": FileStatus(kind: .socket, owner: 7, mode: 0o777)
      case "/tmp/navd-1000": FileStatus(kind: .directory, owner: 7, mode: 0o700)
      default: nil
      }
    }
    do {
      let endpoint = try rules([:]).clientEndpoint(option: nil, probe: probe)
      Issue.record("found \(endpoint)")
    } catch {
      #expect(error.description.contains("belongs to user 7, not to user 1000"))
    }
  }
}

@Suite struct PrivateDirectoryTests {
  private func prepare(_ path: String) throws {
    try prepareRuntimeDirectory(
      PathRules.RuntimeDirectory(path: path, isInSharedDirectory: true),
      userID: effectiveUserID())
  }

  @Test func `a new directory and its parents have mode 0700`() throws {
    try withTemporaryDirectory { root in
      try createPrivateDirectory(root + "/a/b")
      #expect(FileStatus.probe(root + "/a")?.mode == 0o700)
      #expect(FileStatus.probe(root + "/a/b")?.mode == 0o700)
      try createPrivateDirectory(root + "/a/b")
    }
  }

  @Test func `a directory with permissions for others is refused`() throws {
    try withTemporaryDirectory { root in
      try prepare(root + "/mine")
      try prepare(root + "/mine")
      try FileManager.default.setAttributes(
        [.posixPermissions: 0o750], ofItemAtPath: root + "/mine")
      #expect(throws: PathError.self) { try prepare(root + "/mine") }
    }
  }

  @Test func `a link in place of the directory is refused`() throws {
    try withTemporaryDirectory { root in
      try prepare(root + "/mine")
      try FileManager.default.createSymbolicLink(
        atPath: root + "/link", withDestinationPath: root + "/mine")
      do {
        try prepare(root + "/link")
        Issue.record("the link was accepted")
      } catch let error as PathError {
        #expect(error.description.contains("symbolic link"))
      }
    }
  }

  @Test func `a file in place of the directory is refused`() throws {
    try withTemporaryDirectory { root in
      try writeFileAtomically(root + "/file", [])
      #expect(throws: PathError.self) { try prepare(root + "/file") }
    }
  }
}

@Suite struct SmallFileTests {
  @Test func `a file is replaced whole, with its mode, and nothing is left beside it`() throws {
    try withTemporaryDirectory { root in
      try writeFileAtomically(root + "/f", [1, 2, 3])
      try writeFileAtomically(root + "/f", [4])
      #expect(try readSmallFile(root + "/f") == [4])
      #expect(FileStatus.probe(root + "/f")?.mode == 0o600)
      #expect(try namesInDirectory(root) == ["f"])
    }
  }

  @Test func `a file at the limit is read and one byte more is refused`() throws {
    try withTemporaryDirectory { root in
      try writeFileAtomically(root + "/f", [UInt8](repeating: 1, count: 9))
      #expect(try readSmallFile(root + "/f", maximumBytes: 9).count == 9)
      #expect(throws: SystemError.self) { try readSmallFile(root + "/f", maximumBytes: 8) }
    }
  }

  @Test func `an error says what was attempted, on what, and what came back`() {
    let error = SystemError("open", "/x", code: 2)
    #expect(error.description == "cannot open /x: No such file or directory")
  }

  @Test func `a directory that is not there has no names`() throws {
    #expect(try namesInDirectory("/nowhere/at/all") == [])
  }

  @Test func `the boot id is read in either spelling`() throws {
    let dashed = ProcessEnvironment(["NAVD_BOOT_ID": "D5E3A1B0-1111-4222-8333-444455556666"])
    #expect(try bootID(environment: dashed) == "d5e3a1b0111142228333444455556666")
    #expect(try bootID(environment: ProcessEnvironment([:])).utf8.count == 32)
  }
}
