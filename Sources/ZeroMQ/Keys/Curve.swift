import CZeroMQ

/// A CURVE public key: 32 bytes, or 40 characters of Z85.
package struct CurvePublicKey: Hashable, Sendable, CustomStringConvertible {
  package let bytes: [UInt8]

  /// Takes 32 bytes; nil for any other number.
  package init?(bytes: [UInt8]) {
    guard bytes.count == 32 else { return nil }
    self.bytes = bytes
  }

  /// Reads 40 characters of Z85; nil for anything else.
  package init?(z85 text: String) {
    guard text.utf8.count == 40, let bytes = Z85.decode(text) else { return nil }
    self.init(bytes: bytes)
  }

  package var description: String { Z85.encode(bytes) ?? "" }
}

/// A CURVE secret key; its description hides the key.
package struct CurveSecretKey: Hashable, Sendable, CustomStringConvertible {
  package let bytes: [UInt8]

  package init?(bytes: [UInt8]) {
    guard bytes.count == 32 else { return nil }
    self.bytes = bytes
  }

  package init?(z85 text: String) {
    guard text.utf8.count == 40, let bytes = Z85.decode(text) else { return nil }
    self.init(bytes: bytes)
  }

  /// The key as Z85, for a file that only its owner can read.
  package var z85: String { Z85.encode(bytes) ?? "" }

  /// Throws `ENOTSUP` from a libzmq without CURVE.
  package func publicKey() throws(ZeroMQError) -> CurvePublicKey {
    var text = [CChar](repeating: 0, count: Z85.keyTextBytes)
    let secret = z85
    try check("zmq_curve_public") { unsafe zmq_curve_public(&text, secret) }
    guard let key = CurvePublicKey(z85: Z85.string(text)) else {
      throw ZeroMQError("zmq_curve_public", code: EINVAL)
    }
    return key
  }

  package var description: String { "(secret key)" }
}

/// A secret CURVE key and its public key.
package struct CurveKeyPair: Hashable, Sendable {
  package let publicKey: CurvePublicKey
  package let secretKey: CurveSecretKey

  /// Throws `ENOTSUP` from a libzmq without CURVE.
  package init(of secretKey: CurveSecretKey) throws(ZeroMQError) {
    publicKey = try secretKey.publicKey()
    self.secretKey = secretKey
  }

  /// Throws `ENOTSUP` from a libzmq without CURVE.
  package static func generate() throws(ZeroMQError) -> CurveKeyPair {
    var publicText = [CChar](repeating: 0, count: Z85.keyTextBytes)
    var secretText = publicText
    try check("zmq_curve_keypair") { unsafe zmq_curve_keypair(&publicText, &secretText) }
    guard let secretKey = CurveSecretKey(z85: Z85.string(secretText)) else {
      throw ZeroMQError("zmq_curve_keypair", code: EINVAL)
    }
    return try CurveKeyPair(of: secretKey)
  }
}

/// ZeroMQ's text form of bytes (RFC 32): five printable characters for four bytes.
package enum Z85 {
  /// The buffer size for a key as text: 40 characters and the terminator.
  static let keyTextBytes = 41

  /// The bytes as text; nil if their number is not divisible by four.
  package static func encode(_ bytes: [UInt8]) -> String? {
    guard bytes.count.isMultiple(of: 4) else { return nil }
    var text = [CChar](repeating: 0, count: bytes.count / 4 * 5 + 1)
    guard unsafe zmq_z85_encode(&text, bytes, bytes.count) != nil else { return nil }
    return string(text)
  }

  /// The text as bytes; nil if it is not Z85.
  package static func decode(_ text: String) -> [UInt8]? {
    let count = text.utf8.count
    guard count.isMultiple(of: 5), !text.utf8.contains(0) else { return nil }
    var bytes = [UInt8](repeating: 0, count: count / 5 * 4)
    guard count > 0 else { return bytes }
    guard unsafe zmq_z85_decode(&bytes, text) != nil else { return nil }
    return bytes
  }

  fileprivate static func string(_ text: [CChar]) -> String {
    String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
