import CZlib

/// The proof of one revision of a nav, written as 24 lower-case hex digits.
///
/// The first 8 digits are the checksum, the CRC-32 of the ids and versions, which a client computes
/// over its mirror. It covers one line for each screen, bottom first, `id@ver`, then one line for each
/// part, `:name@ver`. LF separates the lines; the last line has none. The other 16 digits are the
/// chain: a hash of each diff of the epoch, which a client keeps as it comes. Two histories with the
/// same ids and versions, but other contents, have different chains. The digest is not a signature.
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
    var lines = DigestLines()
    for screen in screens { lines.append(screen.id, screen.version) }
    for part in parts { lines.append(":" + part.name, part.version) }
    return lines.checksum(from: 0)
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
  /// The digest written as 24 lower-case hex digits; nil for anything else.
  package func digest(_ index: Int) -> Digest? {
    hex96(index).map { Digest(checksum: $0.high, chain: $0.low) }
  }
}

/// The text that a digest's checksum is computed over.
package struct DigestLines {
  private(set) var bytes: [UInt8] = []
  /// Whether other lines precede those in `bytes`, so that the first one needs a line feed before
  /// it.
  private var isContinued = false

  package init() { bytes.reserveCapacity(128) }

  /// Removes all lines, but keeps the memory for new ones.
  package mutating func begin(isContinued: Bool) {
    bytes.removeAll(keepingCapacity: true)
    self.isContinued = isContinued
  }

  package mutating func append(_ name: String, _ version: UInt64) {
    if isContinued || !bytes.isEmpty { bytes.append(0x0A) }
    var name = name
    name.withUTF8 { utf8 in unsafe bytes.append(contentsOf: utf8) }
    bytes.append(0x40)
    bytes.appendDigits(version)
  }

  /// Computes the CRC-32 of the lines, continued from `seed`, the CRC-32 of the lines before them.
  package func checksum(from seed: UInt32) -> UInt32 { crc32(bytes, seed: seed) }
}

/// Continues a CRC-32 (ISO-HDLC, zlib's) over more bytes.
///
/// Law: `crc32(b, seed: crc32(a)) == crc32(a + b)`, so callers can compute the checksum of a text
/// in pieces.
package func crc32(_ bytes: Span<UInt8>, seed: UInt32 = 0) -> UInt32 {
  unsafe bytes.withUnsafeBufferPointer { buffer in
    // zlib returns the initial value for a null pointer, whatever the seed is.
    guard let start = buffer.baseAddress, !buffer.isEmpty else { return seed }
    return UInt32(truncatingIfNeeded: unsafe crc32_z(UInt(seed), start, buffer.count))
  }
}

/// Continues a CRC-32 over the bytes of an array, by the same law as for a span.
package func crc32(_ bytes: [UInt8], seed: UInt32 = 0) -> UInt32 {
  crc32(bytes.span, seed: seed)
}
