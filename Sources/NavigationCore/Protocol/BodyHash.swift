/// A 64-bit checksum of a message's bytes, by which the hub recognises a repeated message.
///
/// It is not cryptographic. A client that makes two of its own messages collide gets the answer of
/// the first one for both.
package struct BodyHash: Hashable, Sendable {
  /// The 64 bits of the checksum.
  package let bits: UInt64

  /// Takes the bits of a checksum that was computed earlier.
  package init(bits: UInt64) { self.bits = bits }

  /// Hashes the octets of a message.
  package init(_ span: Span<UInt8>) {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325 ^ UInt64(span.count)
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

  private static func mix(_ bits: UInt64) -> UInt64 {
    let product = bits &* 0x9E37_79B9_7F4A_7C15
    return product ^ product >> 32
  }
}
