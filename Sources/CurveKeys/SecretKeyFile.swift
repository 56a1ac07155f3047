import RuntimePaths
package import ZeroMQ

/// The file of a secret key, as Z85, which only its owner may read.
package enum SecretKeyFile {
  /// Reads a key.
  ///
  /// - Throws: what is wrong: a file that others may read has lost its secret already.
  package static func read(_ path: String) throws(KeyError) -> CurveSecretKey {
    let contents: [UInt8]
    do {
      contents = try readSmallFile(path, maximumBytes: 4096)
    } catch {
      throw KeyError(error.description)
    }
    // A link, as the service manager's credentials may be, is judged by what it leads to.
    guard isSecret(path) else {
      throw KeyError(
        "others may read this secret key: chmod 0600 \(path), or make another")
    }
    let text = String(decoding: contents, as: UTF8.self).filter { !$0.isWhitespace }
    guard let key = CurveSecretKey(z85: text) else {
      throw KeyError("\(path) is no secret key: expected 40 characters, as navctl key new writes")
    }
    return key
  }

  /// Makes a new key in a file that is not there yet; returns the public half.
  package static func create(_ path: String) throws(KeyError) -> CurvePublicKey {
    var pair: CurveKeyPair
    do {
      repeat {
        pair = try CurveKeyPair.generate()
        // Programs other than navctl take one that begins with a dash for an option.
      } while "\(pair.publicKey)".hasPrefix("-")
    } catch {
      throw KeyError(error.description)
    }
    do {
      try createFile(path, Array((pair.secretKey.z85 + "\n").utf8), mode: 0o600)
    } catch {
      throw KeyError(error.description)
    }
    return pair.publicKey
  }

  /// The public half of the key in a file.
  package static func publicKey(ofSecretIn path: String) throws(KeyError) -> CurvePublicKey {
    try pair(path).publicKey
  }

  /// Both halves of the key in a file.
  package static func pair(_ path: String) throws(KeyError) -> CurveKeyPair {
    let secret = try read(path)
    do throws(ZeroMQError) {
      return try CurveKeyPair(of: secret)
    } catch {
      throw KeyError(error.description)
    }
  }

  /// Reads a public key: its 40 characters, or the path of a file that begins with them.
  package static func publicKey(_ text: String) throws(KeyError) -> CurvePublicKey {
    if let key = CurvePublicKey(z85: text) { return key }
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
