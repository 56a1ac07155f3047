import CZlib

/// A checksum and a hash of one revision of a nav, written as 24 lower-case hex digits.
///
/// The first 8 digits are the checksum, the CRC-32 of the ids and versions, which a client computes
/// over its mirror. The checksum covers one line for each screen, bottom first, `id@ver`, then one
/// line for each part, `:name@ver`. LF separates the lines; the last line has none. The other 16
/// digits are the chain: a hash over all diffs of the epoch. Only the daemon computes it; clients
/// store the value that they receive. Two histories with the same ids and versions, but other
/// contents, have different chains. The digest is not a signature.
package struct Digest: Hashable, Sendable {
  package let checksum: UInt32
  package let chain: UInt64

  package init(checksum: UInt32, chain: UInt64) {
    self.checksum = checksum
    self.chain = chain
  }

  /// Reads 24 lower-case hex digits; nil for anything else.
  package init?(_ text: String) {
    guard text.utf8.count == 24, text.utf8.allSatisfy(Grammar.isLowerHex),
      let checksum = UInt32(text.prefix(8), radix: 16),
      let chain = UInt64(text.suffix(16), radix: 16)
    else { return nil }
    self.init(checksum: checksum, chain: chain)
  }

  package var text: String { hexText(UInt64(checksum), digits: 8) + hexText(chain, digits: 16) }

  /// Computes the checksum from scratch; O(screens + parts).
  package static func checksum(
    screens: some Sequence<(id: String, version: UInt64)>,
    parts: some Sequence<(name: String, version: UInt64)>
  ) -> UInt32 {
    var lines = LineChecksum(hasPrecedingLine: false)
    for screen in screens { lines.append(screen.id.utf8.span, screen.version) }
    for part in parts { lines.append((":" + part.name).utf8.span, part.version) }
    return lines.checksum
  }
}

extension JSONWriter {
  /// Writes the digest as 24 hex digits in quotes.
  package mutating func hex(_ digest: Digest) { hex(digest.checksum, digest.chain) }

  @inline(__always)
  package mutating func member(_ name: StaticString, _ digest: Digest) {
    self.name(name)
    hex(digest)
  }
}

extension JSONTape {
  /// The digest in a string of 24 lower-case hex digits; nil for any other value.
  package func digest(_ index: Int) -> Digest? {
    hex96(index).map { Digest(checksum: $0.high, chain: $0.low) }
  }
}

/// The CRC-32 of a digest's lines, computed byte by byte as the lines are composed.
///
/// zlib would need the lines in memory first, which costs more for such short lines.
package struct LineChecksum: Sendable {
  /// The CRC register, the complement of the checksum.
  private var crcRegister: UInt32
  /// x^8n modulo the CRC polynomial, for n bytes of lines; the highest power is in the lowest bit.
  ///
  /// `checksum(after:)` multiplies the checksum of the bytes before these lines by it.
  private var powerOfX: UInt32 = 1 << 31
  /// Whether a line precedes the next one, so that `append` writes a line feed first.
  private var hasPrecedingLine: Bool

  /// Continues the CRC-32 of other bytes, whose checksum is `seed`; 0 begins a new CRC-32.
  package init(hasPrecedingLine: Bool, from seed: UInt32 = 0) {
    self.hasPrecedingLine = hasPrecedingLine
    crcRegister = ~seed
  }

  /// The CRC-32 of the bytes before these lines, followed by these lines.
  package var checksum: UInt32 { ~crcRegister }

  /// Appends the line `name@version`, with a line feed before it unless it is the first line.
  package mutating func append(_ name: Span<UInt8>, _ version: UInt64) {
    let table = Self.table.span
    if hasPrecedingLine { append(0x0A, table) }
    hasPrecedingLine = true
    for index in name.indices { append(name[index], table) }
    append(0x40, table)
    var divisor: UInt64 = 1
    while version / divisor >= 10 { divisor *= 10 }
    while divisor > 0 {
      append(UInt8(truncatingIfNeeded: 0x30 + version / divisor % 10), table)
      divisor /= 10
    }
  }

  /// Computes the checksum of bytes that have the checksum `first`, followed by these lines.
  ///
  /// crc(a + b) is crc(a) · x^8n + crc(b), for a text b of n bytes.
  package func checksum(after first: UInt32) -> UInt32 { Self.product(first, powerOfX) ^ checksum }

  @inline(__always)
  private mutating func append(_ byte: UInt8, _ table: Span<UInt32>) {
    crcRegister = table[Int((crcRegister ^ UInt32(byte)) & 0xFF)] ^ crcRegister >> 8
    // A zero byte multiplies the polynomial by x^8.
    powerOfX = table[Int(powerOfX & 0xFF)] ^ powerOfX >> 8
  }

  /// The product of two polynomials modulo the polynomial of the CRC; the highest power is in the
  /// lowest bit.
  ///
  /// The loop handles four bits of `left` at a time; with one bit at a time, each op would take 200
  /// instructions more.
  private static func product(_ left: UInt32, _ right: UInt32) -> UInt32 {
    let x1 = timesX(right)
    let x2 = timesX(x1)
    let x3 = timesX(x2)
    // The products of `right` and each polynomial of a degree below 4.
    let multiples: InlineArray<16, UInt32> = [
      0, x3, x2, x2 ^ x3, x1, x1 ^ x3, x1 ^ x2, x1 ^ x2 ^ x3,
      right, right ^ x3, right ^ x2, right ^ x2 ^ x3,
      right ^ x1, right ^ x1 ^ x3, right ^ x1 ^ x2, right ^ x1 ^ x2 ^ x3,
    ]
    let table = table.span
    // A subscript of the array itself would copy all of it.
    let choices = multiples.span
    var product: UInt32 = 0
    var rest = left
    for _ in 0..<8 {
      // Times x^4: eight steps make of a byte whose lower half is 0 what four make of the other.
      product = table[Int(product & 15) &<< 4] ^ product &>> 4 ^ choices[Int(rest & 15)]
      rest &>>= 4
    }
    return product
  }

  private static func timesX(_ value: UInt32) -> UInt32 {
    value >> 1 ^ polynomial & (0 &- value & 1)
  }

  private static let polynomial: UInt32 = 0xEDB8_8320

  /// The register after eight steps of the CRC, for each value of the byte.
  private static let table: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { value, _ in timesX(value) }
  }
}

/// Continues a CRC-32, as zlib computes it, over more bytes; `seed` is the CRC-32 before them.
///
/// Law: `crc32(b, seed: crc32(a)) == crc32(a + b)`.
package func crc32(_ bytes: Span<UInt8>, seed: UInt32 = 0) -> UInt32 {
  unsafe bytes.withUnsafeBufferPointer { buffer in
    // zlib returns the initial value for a null pointer, whatever the seed is.
    guard let address = buffer.baseAddress, !buffer.isEmpty else { return seed }
    return UInt32(truncatingIfNeeded: unsafe crc32_z(UInt(seed), address, buffer.count))
  }
}

/// Continues a CRC-32, as zlib computes it, over the bytes of an array.
package func crc32(_ bytes: [UInt8], seed: UInt32 = 0) -> UInt32 {
  crc32(bytes.span, seed: seed)
}
