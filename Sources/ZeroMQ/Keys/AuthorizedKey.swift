import RuntimePaths

/// The reason why a key or its file cannot be used, with the file and a remedy.
package struct KeyError: Error, Hashable, Sendable, CustomStringConvertible {
  package let description: String
  /// Whether the disk failed to read the file, which may contain a valid key.
  package let isFailedRead: Bool

  package init(_ description: String, isFailedRead: Bool = false) {
    (self.description, self.isFailedRead) = (description, isFailedRead)
  }

  /// Evaluates a call about a key or its file, and throws its error as a `KeyError`.
  static func converting<Value>(
    _ call: @autoclosure () throws -> Value
  ) throws(KeyError) -> Value {
    do { return try call() } catch {
      throw KeyError("\(error)", isFailedRead: (error as? SystemError)?.isDiskFailure == true)
    }
  }
}

/// A client that can connect over the network: its name, its public key and its role.
package struct AuthorizedKey: Hashable, Sendable {
  /// The length of a public key as text; the first character can be a dash.
  package static let keyWidth = 40

  /// The name of the client in logs, in the configuration, and as the owner of navs.
  package var name: String
  /// The public key; the client must prove that it has the secret key.
  package var publicKey: CurvePublicKey
  /// The role of the client; if nil, a `role` line of the configuration can give it one.
  package var role: String?

  /// Makes an entry; throws if the name or the role is not well-formed.
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

  /// Whether a text can name a key or a role: 1 to 64 of letters, digits, `.`, `-` and `_`, the
  /// first a letter or a digit.
  package static func isName(_ text: String) -> Bool {
    let bytes = text.utf8
    return (1...64).contains(bytes.count) && bytes.first?.isLetterOrDigit == true
      && bytes.allSatisfy { $0.isLetterOrDigit || "-._".utf8.contains($0) }
  }

  /// Reads the contents of the file NAME.pub: the public key as Z85, and an optional role.
  ///
  /// Empty lines and lines that begin with `#` are ignored.
  package init(name: String, parsing contents: [UInt8]) throws(KeyError) {
    guard let text = String(validating: contents, as: UTF8.self) else {
      throw KeyError("the file is not UTF-8 text")
    }
    let lines = text.split(whereSeparator: \.isNewline).filter { line in
      line.contains { !$0.isWhitespace } && line.first != "#"
    }
    guard lines.count == 1, let line = lines.first else {
      throw KeyError("expected one line with a public key and an optional role, not \(lines.count)")
    }
    let words = line.split(whereSeparator: \.isWhitespace)
    guard (1...2).contains(words.count), let key = CurvePublicKey(z85: String(words[0])) else {
      throw KeyError("expected 40 characters of a public key, and an optional role")
    }
    try self.init(
      name: name, publicKey: key, role: words.count == 2 ? String(words[1]) : nil)
  }

  /// The contents of the file, in the form that `init(name:parsing:)` reads.
  package var contents: [UInt8] {
    Array((publicKey.description + (role.map { " " + $0 } ?? "") + "\n").utf8)
  }
}
