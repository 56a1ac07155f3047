import RuntimePaths

/// The file of a secret key in Z85, which only its owner can read.
package enum SecretKeyFile {
  /// Which users may own and read the file of a secret key.
  package enum AccessRule {
    /// Any user may own the file, and only the owner may read it.
    case client
    /// Root or this process's user must own the file, and only the owner may read it; if root owns
    /// it, also the process's group.
    case daemon
    /// Any owner and mode, as the service manager has passed the file as a credential.
    case credential
  }

  /// Reads a secret key; throws if other users can read its file: it is then no longer secret.
  package static func read(_ path: String, by rule: AccessRule = .client) throws(KeyError)
    -> CurveSecretKey
  {
    let (contents, status) = try KeyError.converting(try readFileAndStat(path, maximumBytes: 4096))
    let isSecret: Bool
    switch rule {
    case .client: isSecret = status.isSecret
    case .daemon:
      isSecret = status.mode & 0o077 == 0 || status.isSecretOfGroup
      if let found = status.distrust(of: path, by: effectiveUserID()) {
        throw KeyError("\(path): \(found.reason): \(found.remedy)")
      }
    case .credential: isSecret = true
    }
    guard isSecret else {
      throw KeyError(
        "other users can read this secret key: chmod 0600 \(path), or create another")
    }
    let text = String(decoding: contents, as: UTF8.self).filter { !$0.isWhitespace }
    guard let key = CurveSecretKey(z85: text) else {
      throw KeyError(
        "\(path) is not a secret key: expected 40 characters, as navctl key new writes")
    }
    return key
  }

  /// Creates a key in a file that does not exist yet; returns the public key.
  package static func create(_ path: String) throws(KeyError) -> CurvePublicKey {
    do {
      var pair: CurveKeyPair
      repeat {
        pair = try CurveKeyPair.generate()
        // Other programs would read a key that begins with a dash as an option.
      } while "\(pair.publicKey)".hasPrefix("-")
      try createFile(path, Array((pair.secretKey.z85 + "\n").utf8), mode: 0o600)
      return pair.publicKey
    } catch {
      throw KeyError("\(error)")
    }
  }

  package static func pair(_ path: String) throws(KeyError) -> CurveKeyPair {
    let secret = try read(path)
    return try KeyError.converting(try CurveKeyPair(of: secret))
  }

  /// Reads a public key: its 40 characters, or the path of a file that contains it.
  ///
  /// If a text has the form of both, it is a path only if it begins with `/` or `./` and the file
  /// exists: a file in the working directory must not replace the key that somebody typed.
  package static func publicKey(_ text: String) throws(KeyError) -> CurvePublicKey {
    let isPath = text.utf8.starts(with: "/".utf8) || text.utf8.starts(with: "./".utf8)
    if !(isPath && FileStatus.probe(text) != nil), let key = CurvePublicKey(z85: text) {
      return key
    }
    let contents: [UInt8]
    do {
      contents = try readSmallFile(text, maximumBytes: 4096)
    } catch {
      throw KeyError(
        "'\(text)' is neither 40 characters of a public key nor a file: \(error.reason)")
    }
    return try AuthorizedKey(name: "x", parsing: contents).publicKey
  }
}
