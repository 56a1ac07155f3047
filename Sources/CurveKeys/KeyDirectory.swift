import RuntimePaths
import ZeroMQ

/// The directory of the keys that are authorised, one file `NAME.pub` each.
package struct KeyDirectory: Sendable {
  /// Where it is unless something else is said.
  package static let standardPath = "/etc/navd/keys"
  private static let suffix = ".pub"
  private static let maximumBytes = 4096

  /// Where it is.
  package let path: String

  /// Makes a value for a directory that need not be there.
  package init(path: String) { self.path = path }

  /// What is in the directory: the keys in the order of their names, and what cannot be used.
  package struct Listing: Hashable, Sendable {
    /// The keys.
    package var keys: [AuthorizedKey] = []
    /// Why files are left out; who has such a key is not let in.
    package var problems: [String] = []
  }

  /// Reads all keys; a directory that is not there has none.
  ///
  /// A file or a directory that others than root and `user` could have written does not count.
  ///
  /// - Parameter user: who may own them beside root.
  /// - Returns: the keys, and why others are left out.
  package func list(trusting user: UInt32) -> Listing {
    var listing = Listing()
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
          throw KeyError("\(path)/\(file): the key is that of \(other) already")
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
    let contents: [UInt8]
    do {
      contents = try readSmallFile(full, maximumBytes: Self.maximumBytes)
    } catch {
      throw KeyError(error.description)
    }
    do {
      return try AuthorizedKey(
        name: String(file.dropLast(Self.suffix.count)), parsing: contents)
    } catch {
      throw KeyError("\(full): \(error)")
    }
  }

  /// Why somebody else could have written it; nil if nobody could.
  private static func reasonNotTrusted(
    _ path: String, _ kind: FileStatus.Kind, _ user: UInt32
  ) -> String? {
    guard let status = FileStatus.probe(path) else { return "it is not there" }
    guard status.kind == kind else { return "it is \(status.kind.rawValue), not \(kind.rawValue)" }
    guard status.owner == 0 || status.owner == user else {
      return "it belongs to user \(status.owner), not to root or user \(user)"
    }
    guard status.mode & 0o022 == 0 else {
      return "others may write it: chmod go-w \(path)"
    }
    return nil
  }

  /// Where the file of a name is.
  package func file(of name: String) -> String { "\(path)/\(name)\(Self.suffix)" }

  /// Authorises a key, in the place of one with the same name; makes the directory if it is missing.
  ///
  /// - Throws: that it is another's already, for then one of the two names would mean nobody.
  package func authorize(_ key: AuthorizedKey) throws(KeyError) {
    let other = list(trusting: effectiveUserID()).keys
      .first { $0.publicKey == key.publicKey && $0.name != key.name }
    if let other {
      throw KeyError(
        "\(key.publicKey) is authorised as \(other.name) already: revoke that, or make another key")
    }
    do {
      try createPrivateDirectory(path, mode: 0o755)
      try writeFileAtomically(file(of: key.name), key.contents, mode: 0o644)
    } catch {
      throw KeyError(error.description)
    }
  }

  /// Takes the authorisation away; returns false if there was none of that name.
  package func revoke(_ name: String) throws(KeyError) -> Bool {
    guard AuthorizedKey.isName(name) else { return false }
    do {
      guard try removeFile(file(of: name)) else { return false }
      try syncDirectory(path)
      return true
    } catch {
      throw KeyError(error.description)
    }
  }
}
