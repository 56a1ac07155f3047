package import NavigationCore

// The two frames of a client's message: the verb, the checksum of the body, and the error of a
// message that cannot be read.

/// A 64-bit checksum of a message's bytes, by which the hub recognises a repeated message.
///
/// The hash is not cryptographic. A client that makes two of its own messages collide gets the
/// answer of the first one for both.
package struct BodyHash: Hashable, Sendable {
  package let bits: UInt64

  package init(bits: UInt64) { self.bits = bits }

  /// Computes the hash; equal octets with different seeds have different hashes.
  package init(_ span: Span<UInt8>, seed: UInt64 = 0) {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325 ^ UInt64(span.count) ^ seed
    var at = 0
    let last = span.count - 8
    while at <= last {
      // In bounds, because `at` counts from 0 to `last`.
      let word = unsafe ByteWord(unchecked: span, at: at)
      hash = Self.mix(hash ^ word.bigEndian)
      at &+= 8
    }
    while at < span.count {
      hash = Self.mix(hash ^ UInt64(span[at]))
      at += 1
    }
    bits = hash
  }

  /// Hashes an op that is sent again as it was sent first: without its last member, `again`.
  init(again body: Span<UInt8>) {
    var octets = [UInt8](copying: body)
    octets.replaceSubrange((octets.lastIndex(of: 0x2C) ?? 0)..., with: [0x7D])
    self.init(octets.span)
  }

  private static func mix(_ bits: UInt64) -> UInt64 {
    let product = bits &* 0x9E37_79B9_7F4A_7C15
    return product ^ product >> 32
  }
}

/// The error with which the daemon answers an unreadable message.
package struct MessageFailure: Error, Hashable, Sendable {
  package var code: ErrorCode
  /// The verb of the message; nil if it has none that the daemon knows.
  package var verb: ClientVerb?
  /// The id of the message; nil if it could not be read.
  package var id: UInt64?
  /// The description of the fault, for people.
  package var text: String

  /// Makes a failure without a verb; the reader adds it.
  init(_ code: ErrorCode, id: UInt64? = nil, _ text: String) {
    self.code = code
    self.id = id
    self.text = text
  }

  /// The failure of a message that does not have exactly two frames.
  package static let wrongFrameCount = MessageFailure(
    .badFrame, "a message has two frames: verb and body")
}
