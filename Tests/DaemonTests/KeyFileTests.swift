import ZeroMQ
import Foundation
import RuntimePaths
import Testing

/// Files of keys under attack: every prefix, every changed character, and lengths at the limit.
@Suite struct KeyFileTests {
  // The pair of the manual page zmq_curve(7), whose text is public.
  private static let publicText = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"
  private static let secretText = "D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs"

  private func authorized(_ text: String) throws -> AuthorizedKey {
    try AuthorizedKey(name: "panel", parsing: Array(text.utf8))
  }

  @Test func `the secret key in a file has the public key of the manual`() throws {
    try withTemporaryDirectory { root in
      try createFile(root + "/k", Array(Self.secretText.utf8), mode: 0o600)
      #expect("\(try SecretKeyFile.pair(root + "/k").publicKey)" == Self.publicText)
    }
  }

  @Test func `no prefix of a key file authorises anybody, nor does a longer key`() throws {
    let text = Self.publicText + " ui"
    #expect(try authorized(text).role == "ui")
    for length in 0..<40 {
      #expect(throws: KeyError.self) { try authorized(String(text.prefix(length))) }
    }
    #expect(try authorized(String(text.prefix(40))).role == nil)
    #expect(try authorized(String(text.prefix(41))).role == nil)
    #expect(throws: KeyError.self) { try authorized(Self.publicText + "0") }
    #expect(throws: KeyError.self) { try authorized("0" + Self.publicText) }
  }

  @Test func `a changed character is another key or none, never this one`() throws {
    let key = try authorized(Self.publicText).publicKey
    var refused = 0
    for place in Self.publicText.indices {
      for character in "0Zz#~\"' ,;\\`|\u{7F}" where Self.publicText[place] != character {
        var text = Self.publicText
        text.replaceSubrange(place...place, with: String(character))
        do {
          let other = try authorized(text).publicKey
          #expect(other != key, "\(text)")
        } catch {
          refused += 1
        }
      }
    }
    // These characters stand in no text of Z85, wherever they are put.
    #expect(refused >= 40 * 8)
  }

  @Test func `what is written is read again, with any name and role`() throws {
    let key = try authorized(Self.publicText).publicKey
    let names = ["a", "0", "a.b-c_d", String(repeating: "x", count: 64)]
    for role in [nil] + names.map(Optional.some) {
      for name in names {
        let entry = try AuthorizedKey(name: name, publicKey: key, role: role)
        #expect(try AuthorizedKey(name: name, parsing: entry.contents) == entry)
      }
    }
  }

  @Test(arguments: ["a", "Z", "9", "a.b", "a-", "a_", String(repeating: "a", count: 64)])
  func `a name has up to 64 characters and begins with a letter or digit`(name: String) {
    #expect(AuthorizedKey.isName(name))
    #expect(!AuthorizedKey.isName(name + "é") && !AuthorizedKey.isName(name + "\n"))
    #expect(!AuthorizedKey.isName("-" + name) && !AuthorizedKey.isName("." + name))
    #expect(AuthorizedKey.isName(name + "x") == (name.count < 64))
  }

  @Test(arguments: ["\n", "\r\n", " ", "\t", "\n\n# remark\n", " \n\t\n"])
  func `white space and remarks around a key do not matter`(end: String) throws {
    #expect("\(try authorized(Self.publicText + end).publicKey)" == Self.publicText)
    #expect(try authorized("#a\n\n" + Self.publicText + "\tui" + end).role == "ui")
  }

  @Test func `octets that are no text authorise nobody`() {
    let error = #expect(throws: KeyError.self) {
      try AuthorizedKey(name: "a", parsing: Array(Self.publicText.utf8) + [0xFF])
    }
    #expect(error?.description == "the file is not UTF-8 text")
  }

  @Test func `a key under a second name is refused with the first`() throws {
    try withTemporaryDirectory { root in
      let directory = KeyDirectory(path: root + "/keys")
      let key = try authorized(Self.publicText).publicKey
      try directory.authorize(AuthorizedKey(name: "panel", publicKey: key, role: nil))
      let error = #expect(throws: KeyError.self) {
        try directory.authorize(AuthorizedKey(name: "hall", publicKey: key, role: nil))
      }
      #expect(
        error?.description
          == "\(Self.publicText) is authorised as panel: revoke that, or create another key")
      try directory.authorize(AuthorizedKey(name: "panel", publicKey: key, role: "ui"))
      #expect(directory.list(trusting: getuid()).keys.map(\.role) == ["ui"])
      #expect(FileStatus.probe(directory.path)?.mode == 0o755)
      #expect(FileStatus.probe(directory.file(of: "panel"))?.mode == 0o644)
    }
  }

  @Test func `a directory that is a file authorises nobody, and nobody is authorised in it`() throws
  {
    try withTemporaryDirectory { root in
      try writeFileAtomically(root + "/keys", [])
      let directory = KeyDirectory(path: root + "/keys")
      let listing = directory.list(trusting: getuid())
      #expect(listing.keys == [])
      #expect(
        listing.problems
          == ["\(root)/keys: it is a regular file, not a directory; no key is authorised"])
      let key = try authorized(Self.publicText)
      #expect(throws: KeyError.self) { try directory.authorize(key) }
      #expect(throws: KeyError.self) { try directory.revoke("panel") }
    }
  }

  @Test func `a secret key is created over no file, and in no directory that is not there`()
    throws
  {
    try withTemporaryDirectory { root in
      #expect(throws: KeyError.self) { try SecretKeyFile.create(root + "/none/k") }
      try writeFileAtomically(root + "/k", [7])
      let error = #expect(throws: KeyError.self) { try SecretKeyFile.create(root + "/k") }
      #expect(error?.description == "cannot create \(root)/k: File exists")
      #expect(try readSmallFile(root + "/k") == [7])
    }
  }

  @Test func `no prefix of a secret key is one, and no error has a part of it`() throws {
    try withTemporaryDirectory { root in
      for length in 0..<40 {
        let path = "\(root)/\(length)"
        try createFile(path, Array(Self.secretText.utf8.prefix(length)), mode: 0o600)
        let error = #expect(throws: KeyError.self) { try SecretKeyFile.read(path) }
        #expect(error?.description.contains("D:)Q") == false)
        #expect(error?.description.contains(path) == true)
      }
    }
  }

  @Test(arguments: [(4056, true), (4057, false)])
  func `a key file has at most 4096 octets`(padding: Int, isRead: Bool) throws {
    try withTemporaryDirectory { root in
      let text = Self.secretText + String(repeating: "\n", count: padding)
      try createFile(root + "/k", Array(text.utf8), mode: 0o600)
      if isRead {
        _ = try SecretKeyFile.read(root + "/k")
      } else {
        let error = #expect(throws: KeyError.self) { try SecretKeyFile.read(root + "/k") }
        #expect(error?.description == "cannot read \(root)/k: File too large")
      }
    }
  }

  @Test func `a public key that is neither text nor file names what was tried`() {
    let error = #expect(throws: KeyError.self) { try SecretKeyFile.publicKey("/nowhere/a.pub") }
    #expect(
      error?.description
        == "'/nowhere/a.pub' is neither 40 characters of a public key nor a file: "
        + "cannot open: No such file or directory")
  }
}
