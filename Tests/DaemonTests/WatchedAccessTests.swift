import ZeroMQ
import Foundation
import NavigationCore
import NavigationHub
import Testing

@testable import NavigationDaemon

@Suite(.timeLimit(.minutes(1))) struct WatchedAccessTests {
  private func access(keys: String) throws -> WatchedAccess {
    let configuration = try Configuration.parse("[access]\nkeys = \(keys)\n", file: "f")
    return WatchedAccess(
      AccessControl(configuration.access, daemonUser: getuid()), keyDirectory: keys)
  }

  private func authorize(_ name: String, in directory: String) throws {
    try KeyDirectory(path: directory).authorize(
      AuthorizedKey(name: name, publicKey: try CurveKeyPair.generate().publicKey, role: "ui"))
  }

  private func names(_ control: AccessControl) -> [String] { control.access.keys.keys.sorted() }

  @Test func `a key that comes is reported, and counts when it is put to use`() throws {
    try withTemporaryDirectory { root in
      let keys = root + "/keys"
      try authorize("first", in: keys)
      var access = try access(keys: keys)
      #expect(names(access.control) == ["first"])
      #expect(!isReadable(access.watch.descriptor))
      try authorize("second", in: keys)
      #expect(isReadable(access.watch.descriptor))
      let control = access.reread()
      #expect(names(control) == ["first", "second"])
      #expect(names(access.control) == ["first"])
      #expect(!isReadable(access.watch.descriptor))
      access.control = control
      #expect(names(access.control) == ["first", "second"])
      #expect(try KeyDirectory(path: keys).revoke("first"))
      #expect(isReadable(access.watch.descriptor))
      #expect(names(access.reread()) == ["second"])
    }
  }

  @Test func `a directory that does not exist yet is found when it is made`() throws {
    try withTemporaryDirectory { root in
      let keys = root + "/a/keys"
      let access = try access(keys: keys)
      #expect(names(access.control) == [])
      for directory in [root + "/a", keys] {
        try FileManager.default.createDirectory(
          atPath: directory, withIntermediateDirectories: false)
        #expect(isReadable(access.watch.descriptor))
        #expect(names(access.reread()) == [])
      }
      try authorize("first", in: keys)
      #expect(isReadable(access.watch.descriptor))
      #expect(names(access.reread()) == ["first"])
    }
  }

  @Test func `another directory is watched after a reload`() throws {
    try withTemporaryDirectory { root in
      try authorize("first", in: root + "/one")
      try authorize("second", in: root + "/two")
      var access = try access(keys: root + "/one")
      access.watch(root + "/two")
      #expect(!isReadable(access.watch.descriptor))
      try authorize("third", in: root + "/two")
      #expect(isReadable(access.watch.descriptor))
      // The keys come from the directory of the roles in use, until those are replaced.
      #expect(names(access.reread()) == ["first"])
    }
  }

  @Test func `a watch that is given up gives its instance back`() {
    // By default a user has 128.
    for _ in 0..<1000 {
      let watch = DirectoryWatch()
      #expect(!watch.isBlind)
    }
  }
}
