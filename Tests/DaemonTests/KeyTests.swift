import ZeroMQ
import Foundation
import Testing

@Suite struct KeyTests {
  private let own = getuid()

  private func write(_ path: String, _ text: String, mode: Int = 0o644) throws {
    try text.write(toFile: path, atomically: false, encoding: .utf8)
    try setMode(path, mode)
  }

  private func setMode(_ path: String, _ mode: Int) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
  }

  private func key() throws -> String { "\(try CurveKeyPair.generate().publicKey)" }

  /// Lends a directory of keys with these files, and its listing.
  private func listing(
    _ files: [String: String], _ change: (String) throws -> Void = { _ in }
  ) throws -> KeyDirectory.KeysAndProblems {
    try withTemporaryDirectory { root in
      try setMode(root, 0o755)
      for (name, text) in files { try write("\(root)/\(name)", text) }
      try change(root)
      return KeyDirectory(path: root).list(trusting: own)
    }
  }

  @Test func `a file holds a key and perhaps a role, under the name it goes by`() throws {
    let (one, two) = (try key(), try key())
    let listing = try listing([
      "panel-1.pub": one + "\n", "remote.2.pub": "# a remark\n\n\(two) operator\n",
      "notes.txt": "nonsense", ".hidden.pub": "nonsense",
    ])
    #expect(listing.problems == [])
    #expect(listing.keys.map(\.name) == ["panel-1", "remote.2"])
    #expect(listing.keys.map(\.role) == [nil, "operator"])
    #expect(listing.keys.map { "\($0.publicKey)" } == [one, two])
  }

  @Test(arguments: [
    "", "\n\n", "short", "KEY KEY", "KEY admin more", "KEY\nKEY", "KEY ro:le", "KEY ../x",
    "KEY -admin", String(repeating: "\"", count: 40), "\u{FEFF}KEY", "KEY admin\u{1}",
  ])
  func `a file of another form lets nobody in and is named`(text: String) throws {
    let key = try key()
    let listing = try listing(["panel.pub": text.replacing("KEY", with: key)])
    #expect(listing.keys == [])
    #expect(listing.problems.count == 1)
    #expect(listing.problems.first?.contains("panel.pub: ") == true)
  }

  @Test(arguments: ["a b", "a:b", "-a", "uid:0", String(repeating: "a", count: 65), "ä"])
  func `a file whose name can name nobody is left out`(name: String) throws {
    let listing = try listing(["\(name).pub": key()])
    #expect(listing.keys == [])
    #expect(listing.problems.first?.contains("the name of a key has") == true)
  }

  @Test func `a key counts once, under the first name`() throws {
    let key = try key()
    let listing = try listing(["b.pub": key + " admin", "a.pub": key])
    #expect(listing.keys.map(\.name) == ["a"])
    #expect(listing.problems.first?.contains("b.pub: a has the same key already") == true)
  }

  @Test(arguments: [0o666, 0o664, 0o646, 0o777])
  func `a file that others may write does not count`(mode: Int) throws {
    let key = try key()
    let listing = try listing(["a.pub": key]) { try setMode("\($0)/a.pub", mode) }
    #expect(listing.keys == [])
    #expect(listing.problems.first?.contains("other users can write it: chmod go-w") == true)
  }

  @Test(arguments: [0o777, 0o775, 0o757, 0o1777])
  func `no file counts in a directory that others may write`(mode: Int) throws {
    let listing = try listing(["a.pub": key()]) { try setMode($0, mode) }
    #expect(listing.keys == [])
    #expect(listing.problems.first?.contains("no key is authorised") == true)
  }

  @Test func `links, directories and pipes do not count`() throws {
    let key = try key()
    let listing = try listing(["real": key]) { root in
      try FileManager.default.createSymbolicLink(
        atPath: "\(root)/link.pub", withDestinationPath: "\(root)/real")
      try FileManager.default.createDirectory(
        atPath: "\(root)/dir.pub", withIntermediateDirectories: false)
      #expect(unsafe mkfifo("\(root)/pipe.pub", 0o644) == 0)
    }
    #expect(listing.keys == [])
    #expect(listing.problems.count == 3)
  }

  @Test func `a long file is not read in part`() throws {
    let text = try key() + "\n" + String(repeating: "#\n", count: 5000)
    #expect(try listing(["a.pub": text]).keys == [])
  }

  @Test(.enabled(if: getuid() == 0)) func `a file of another user does not count`() throws {
    let listing = try listing(["a.pub": key(), "b.pub": key()]) {
      #expect(unsafe chown("\($0)/a.pub", 4242, 4242) == 0)
    }
    #expect(listing.keys.map(\.name) == ["b"])
    #expect(listing.problems.first?.contains("it belongs to user 4242") == true)
  }

  @Test func `a directory that is not there has no keys and no problem`() {
    let listing = KeyDirectory(path: "/nowhere/keys").list(trusting: own)
    #expect(listing.keys == [] && listing.problems == [])
  }

  @Test func `what is authorised is listed, replaced and revoked`() throws {
    try withTemporaryDirectory { root in
      let directory = KeyDirectory(path: root + "/etc/keys")
      let pair = try CurveKeyPair.generate()
      let panel = try AuthorizedKey(name: "panel", publicKey: pair.publicKey, role: "ui")
      try directory.authorize(panel)
      #expect(directory.list(trusting: own).keys == [panel])
      var other = panel
      other.publicKey = try CurveKeyPair.generate().publicKey
      try directory.authorize(other)
      #expect(directory.list(trusting: own).keys == [other])
      #expect(try directory.revoke("panel"))
      #expect(try !directory.revoke("panel"))
      for name in ["../keys", "..", "", "a/b"] { #expect(try !directory.revoke(name)) }
      #expect(directory.list(trusting: own).keys == [])
    }
  }

  @Test func `names and roles that could leave the directory are refused`() throws {
    let key = try CurveKeyPair.generate().publicKey
    for name in ["../panel", "", ".pub", "a\nb", "a/b", "uid:0"] {
      #expect(throws: KeyError.self) {
        _ = try AuthorizedKey(name: name, publicKey: key, role: nil)
      }
    }
    #expect(throws: KeyError.self) { _ = try AuthorizedKey(name: "a", publicKey: key, role: "a b") }
  }

  @Test func `a secret key is made for its owner alone, and never over another`() throws {
    try withTemporaryDirectory { root in
      let path = root + "/own.key"
      let publicKey = try SecretKeyFile.create(path)
      let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
      #expect(mode as? Int == 0o600)
      #expect(try SecretKeyFile.pair(path).publicKey == publicKey)
      #expect(throws: KeyError.self) { _ = try SecretKeyFile.create(path) }
      #expect(try SecretKeyFile.pair(path).publicKey == publicKey)
      #expect("\(try SecretKeyFile.read(path))" == "(secret key)")
    }
  }

  @Test(arguments: [0o644, 0o604, 0o602, 0o660, 0o620, 0o610])
  func `a secret key that others may read is refused`(mode: Int) throws {
    try withTemporaryDirectory { root in
      let path = root + "/own.key"
      _ = try SecretKeyFile.create(path)
      try setMode(path, mode)
      do {
        _ = try SecretKeyFile.read(path)
        Issue.record("read")
      } catch let error as KeyError {
        #expect(
          error.description.contains("other users can read this secret key: chmod 0600 \(path)"))
      }
    }
  }

  @Test(.enabled(if: getuid() == 0))
  func `a credential that the group of root may read is taken, another group's is not`() throws {
    try withTemporaryDirectory { root in
      let path = root + "/own.key"
      _ = try SecretKeyFile.create(path)
      // As the service manager's access lists look in a file's mode.
      try setMode(path, 0o440)
      _ = try SecretKeyFile.read(path)
      #expect(unsafe chown(path, 0, 4242) == 0)
      try setMode(path, 0o440)
      #expect(throws: KeyError.self) { _ = try SecretKeyFile.read(path) }
    }
  }

  @Test(
    .enabled(if: getuid() == 0, "only root can give files away"),
    arguments: [
      (0, 0, 0o600, nil), (0, 0, 0o400, nil), (0, 0, 0o640, nil),
      (0, 4242, 0o640, "other users can read this secret key"),
      (0, 0, 0o644, "other users can read this secret key"),
      (0, 0, 0o660, "other users can write it: chmod go-w "),
      (4242, 4242, 0o600, "it belongs to user 4242, not to root or user 0: chown 0 "),
      (1, 1, 0o400, "it belongs to user 1, not to root or user 0: runuser -u daemon -- "),
    ] as [(uid_t, gid_t, Int, String?)])
  func `the daemon's key belongs to root or its user, and only root's is for its group too`(
    owner: uid_t, group: gid_t, mode: Int, reason: String?
  ) throws {
    try withTemporaryDirectory { root in
      let path = root + "/navd.key"
      _ = try SecretKeyFile.create(path)
      #expect(unsafe chown(path, owner, group) == 0)
      try setMode(path, mode)
      if let reason {
        let error = #expect(throws: KeyError.self) { try SecretKeyFile.read(path, by: .daemon) }
        #expect(error?.description.contains(reason) == true, "\(error as Any)")
      } else {
        _ = try SecretKeyFile.read(path, by: .daemon)
      }
      // A client takes anybody's key that is secret, and the service manager's counts as it is.
      if mode & 0o077 == 0 { _ = try SecretKeyFile.read(path) }
      _ = try SecretKeyFile.read(path, by: .credential)
    }
  }

  @Test func `a file that is no secret key is refused without telling what it holds`() throws {
    try withTemporaryDirectory { root in
      try write(root + "/own.key", "hunter2\n", mode: 0o600)
      do {
        _ = try SecretKeyFile.read(root + "/own.key")
        Issue.record("read")
      } catch let error as KeyError {
        #expect(
          error.description.contains("is not a secret key") && !"\(error)".contains("hunter2"))
      }
      #expect(throws: KeyError.self) { _ = try SecretKeyFile.read(root + "/absent") }
    }
  }

  @Test func `no key that is made looks like an option`() throws {
    try withTemporaryDirectory { root in
      for index in 0..<200 {
        let key = try SecretKeyFile.create("\(root)/\(index).key")
        #expect(!"\(key)".hasPrefix("-"))
      }
    }
  }

  @Test func `a public key is a text or a file`() throws {
    try withTemporaryDirectory { root in
      let text = try key()
      try write(root + "/a.pub", text + " ui\n")
      #expect("\(try SecretKeyFile.publicKey(text))" == text)
      #expect("\(try SecretKeyFile.publicKey(root + "/a.pub"))" == text)
      #expect(throws: KeyError.self) { _ = try SecretKeyFile.publicKey("nothing") }
    }
  }

  /// A text with the form of a key that begins so.
  private static func text(_ beginning: String) -> String {
    beginning + String(repeating: "a", count: 40 - beginning.utf8.count)
  }

  @Test(arguments: ["", ".", "a/", "../", "b./", "*"])
  func `a text that has the form of a key is no path, whatever files there are`(beginning: String)
    async
  {
    // Alone in its process, since it changes the working directory.
    await #expect(processExitsWith: .success) { [text = Self.text(beginning) as String] in
      try withTemporaryDirectory { root in
        precondition(CurvePublicKey(z85: text) != nil)
        let place = root + "/in"
        try FileManager.default.createDirectory(
          atPath: "\(place)/\(text)", withIntermediateDirectories: true)
        try FileManager.default.removeItem(atPath: "\(place)/\(text)")
        precondition(FileManager.default.changeCurrentDirectoryPath(place))
        let other = try CurveKeyPair.generate().publicKey
        try "\(other)".write(toFile: text, atomically: false, encoding: .utf8)
        let found = try SecretKeyFile.publicKey(text)
        precondition("\(found)" == text, "the file was read")
      }
    }
  }

  @Test func `a path that has the form of a key is a path if it begins like one and is there`()
    async
  {
    await #expect(processExitsWith: .success) {
      try withTemporaryDirectory { root in
        precondition(FileManager.default.changeCurrentDirectoryPath(root))
        let other = "\(try CurveKeyPair.generate().publicKey)"
        let dotted = "./" + String(repeating: "a", count: 38)
        let absolute = "/tmp/" + UUID().uuidString.replacing("-", with: "") + "abc"
        for path in [dotted, absolute] {
          let before = try SecretKeyFile.publicKey(path)
          precondition("\(before)" == path, "it is not there yet")
          try other.write(toFile: path, atomically: false, encoding: .utf8)
          defer { try? FileManager.default.removeItem(atPath: path) }
          let found = try SecretKeyFile.publicKey(path)
          precondition("\(found)" == other, "the file was not read")
        }
      }
    }
  }
}
