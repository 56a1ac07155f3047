package import ZeroMQ

/// Why a key or a file of keys cannot be used: what, where, and what to do.
package struct KeyError: Error, Hashable, Sendable, CustomStringConvertible {
  /// One line for people.
  package let description: String

  /// Makes an error.
  package init(_ description: String) { self.description = description }
}

/// A client that may connect over the network: what it is called, and the key that it must prove.
package struct AuthorizedKey: Hashable, Sendable {
  /// How many characters a public key has as text, of which the first may be a dash.
  package static let keyWidth = 40

  /// What principals, logs and owners of navs are called by it.
  package var name: String
  /// The key whose secret the client must have.
  package var publicKey: CurvePublicKey
  /// The role that goes with it; nil where the configuration says.
  package var role: String?

  /// Makes a key.
  ///
  /// - Throws: what is wrong with the name or the role.
  package init(name: String, publicKey: CurvePublicKey, role: String?) throws(KeyError) {
    guard Self.isName(name) else {
      throw KeyError("the name of a key has 1 to 64 letters, digits, dots, - and _, not '\(name)'")
    }
    if let role, !Self.isName(role) {
      throw KeyError("a role has 1 to 64 letters, digits, dots, - and _, not '\(role)'")
    }
    self.name = name
    self.publicKey = publicKey
    self.role = role
  }

  /// Whether a text can name a key or a role: it begins with a letter or a digit.
  package static func isName(_ text: String) -> Bool {
    let bytes = text.utf8
    guard (1...64).contains(bytes.count), let first = bytes.first, isWord(first) else {
      return false
    }
    return bytes.allSatisfy { isWord($0) || [0x2D, 0x2E, 0x5F].contains($0) }
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
  }

  /// Reads the contents of a file of this name: the key as Z85, and a role if one goes with it.
  ///
  /// Empty lines and those that begin with `#` do not count.
  package init(name: String, parsing contents: [UInt8]) throws(KeyError) {
    guard let text = String(validating: contents, as: UTF8.self) else {
      throw KeyError("it is not text")
    }
    let lines = text.split(whereSeparator: \.isNewline).filter { line in
      line.contains { !$0.isWhitespace } && line.first != "#"
    }
    guard lines.count == 1, let line = lines.first else {
      throw KeyError("expected one line, a public key and perhaps a role; it has \(lines.count)")
    }
    let words = line.split(whereSeparator: \.isWhitespace)
    guard (1...2).contains(words.count), let key = CurvePublicKey(z85: String(words[0])) else {
      throw KeyError("expected 40 characters of a public key, and perhaps a role")
    }
    try self.init(
      name: name, publicKey: key, role: words.count == 2 ? String(words[1]) : nil)
  }

  /// What its file holds.
  package var contents: [UInt8] {
    Array((publicKey.description + (role.map { " " + $0 } ?? "") + "\n").utf8)
  }
}
