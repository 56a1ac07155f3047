import CZlib

/// Continues a CRC-32 (zlib's, ISO-HDLC) over more bytes.
///
/// `crc32(b, seed: crc32(a)) == crc32(a + b)`, so a text may be fed in pieces.
package func crc32(_ bytes: Span<UInt8>, seed: UInt32 = 0) -> UInt32 {
  unsafe bytes.withUnsafeBufferPointer { buffer in
    // zlib takes a null pointer as "give me the initial value", whatever the seed is.
    guard let start = buffer.baseAddress, !buffer.isEmpty else { return seed }
    return UInt32(truncatingIfNeeded: unsafe crc32_z(UInt(seed), start, buffer.count))
  }
}

/// Continues a CRC-32 over the bytes of an array; the same law as for a span.
package func crc32(_ bytes: [UInt8], seed: UInt32 = 0) -> UInt32 {
  crc32(bytes.span, seed: seed)
}
