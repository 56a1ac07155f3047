import RuntimePaths

/// The directory of the authorised keys, with a file `NAME.pub` for each.
package struct KeyDirectory: Sendable {
  package static let standardPath = "/etc/navd/keys"
  private static let suffix = ".pub"
  private static let maximumBytes = 4096

  package let path: String

  package init(path: String) { self.path = path }

  /// The contents of the directory: the keys in the order of their names, and the problems.
  package struct KeysAndProblems: Hashable, Sendable {
    package var keys: [AuthorizedKey] = []
    /// Why the other files are ignored, one text for each; their keys are not authorised.
    package var problems: [String] = []
  }

  /// Reads all keys; a directory that does not exist has none.
  ///
  /// A file is ignored if a user other than root and `user` can write it or its directory.
  package func list(trusting user: UInt32) -> KeysAndProblems {
    var listing = KeysAndProblems()
    if let reason = Self.reasonNotTrusted(path, .directory, user) {
      guard FileStatus.probe(path) != nil else { return listing }
      listing.problems.append("\(path): \(reason); no key is authorised")
      return listing
    }
    let names: [String]
    do {
      names = try namesInDirectory(path)
    } catch {
      listing.problems.append("\(error); no key is authorised")
      return listing
    }
    var seen: [[UInt8]: String] = [:]
    for file in names where file.hasSuffix(Self.suffix) && !file.hasPrefix(".") {
      do {
        let key = try read(file, trusting: user)
        if let other = seen[key.publicKey.bytes] {
          throw KeyError("\(path)/\(file): \(other) has the same key already")
        }
        seen[key.publicKey.bytes] = key.name
        listing.keys.append(key)
      } catch {
        listing.problems.append("\(error)")
      }
    }
    return listing
  }

  private func read(_ file: String, trusting user: UInt32) throws(KeyError) -> AuthorizedKey {
    let full = "\(path)/\(file)"
    if let reason = Self.reasonNotTrusted(full, .regular, user) {
      throw KeyError("\(full): \(reason)")
    }
    let contents = try KeyError.converting(
      try readSmallFile(full, maximumBytes: Self.maximumBytes))
    do {
      return try AuthorizedKey(
        name: String(file.dropLast(Self.suffix.count)), parsing: contents)
    } catch {
      throw KeyError("\(full): \(error)")
    }
  }

  /// The reason why another user could have written a file or directory; nil if none could.
  private static func reasonNotTrusted(
    _ path: String, _ kind: FileStatus.Kind, _ user: UInt32
  ) -> String? {
    guard let status = FileStatus.probe(path) else { return "it does not exist" }
    guard status.kind == kind else { return "it is \(status.kind.rawValue), not \(kind.rawValue)" }
    return status.distrust(of: path, by: user).map { "\($0.reason): \($0.remedy)" }
  }

  package func file(of name: String) -> String { "\(path)/\(name)\(Self.suffix)" }

  /// Authorises a key, and replaces an earlier key with the same name; creates the directory.
  ///
  /// It throws if the key is authorised under another name, because a client can have only one.
  package func authorize(_ key: AuthorizedKey) throws(KeyError) {
    let other = list(trusting: effectiveUserID()).keys
      .first { $0.publicKey == key.publicKey && $0.name != key.name }
    if let other {
      throw KeyError(
        "\(key.publicKey) is authorised as \(other.name): revoke that, or create another key")
    }
    try KeyError.converting(try createPrivateDirectory(path, mode: 0o755))
    try KeyError.converting(
      try writeFileAtomically(file(of: key.name), key.contents, mode: 0o644))
  }

  /// Removes the key with a name; returns false if there was none.
  package func revoke(_ name: String) throws(KeyError) -> Bool {
    guard AuthorizedKey.isName(name), try KeyError.converting(try removeFile(file(of: name)))
    else { return false }
    try KeyError.converting(try syncDirectory(path))
    return true
  }
}
