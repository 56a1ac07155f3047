import CZlib
import Navigation

/// The CRC-32 of lines of a digest, computed as they are put together, a byte at a time.
///
/// They are too short for zlib's way to pay: the lines would have to be put into memory first.
struct LineChecksum: Sendable {
  /// The state of the checksum: its complement.
  private var rest: UInt32
  /// What the lines do to the checksum of what goes before them: x^8n modulo the polynomial, for n
  /// bytes, the highest power in the lowest bit.
  private var shift: UInt32 = 1 << 31
  /// Whether lines went before.
  private var isContinued: Bool

  /// Begins, behind what has the checksum `seed`.
  init(isContinued: Bool, from seed: UInt32 = 0) {
    self.isContinued = isContinued
    rest = ~seed
  }

  /// The checksum.
  var checksum: UInt32 { ~rest }

  /// Appends a line, behind a line feed unless it is the first one.
  mutating func append(_ name: String, _ version: UInt64) {
    let table = Self.table.span
    if isContinued { append(0x0A, table) }
    isContinued = true
    let name = name.utf8.span
    for index in name.indices { append(name[index], table) }
    append(0x40, table)
    var divisor: UInt64 = 1
    while version / divisor >= 10 { divisor *= 10 }
    while divisor > 0 {
      append(UInt8(truncatingIfNeeded: 0x30 + version / divisor % 10), table)
      divisor /= 10
    }
  }

  /// Appends the lines of the parts.
  mutating func appendParts(of controller: borrowing NavigationController) {
    for part in PartName.allCases {
      append(Self.labels[Int(part.rawValue)], controller.version(of: part).number)
    }
  }

  /// The checksum of these lines behind bytes that have the checksum `first`.
  ///
  /// crc(a + b) is crc(a) · x^8n + crc(b), for n bytes b.
  func checksum(behind first: UInt32) -> UInt32 { Self.product(first, shift) ^ checksum }

  @inline(__always)
  private mutating func append(_ byte: UInt8, _ table: Span<UInt32>) {
    rest = table[Int((rest ^ UInt32(byte)) & 0xFF)] ^ rest >> 8
    // A byte 0 multiplies what there is by x^8.
    shift = table[Int(shift & 0xFF)] ^ shift >> 8
  }

  /// The product modulo the polynomial; the highest power is in the lowest bit.
  ///
  /// Takes four bits of `left` at a time, the highest powers first. One bit at a time takes 200
  /// instructions more, once for each op.
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
    var product: UInt32 = 0
    for place in stride(from: UInt32(0), to: 32, by: 4) {
      // Times x^4: eight steps make of a byte whose lower half is 0 what four make of the other.
      product = table[Int(product & 15) << 4] ^ product >> 4
      product ^= multiples[Int(left >> place & 15)]
    }
    return product
  }

  private static func timesX(_ value: UInt32) -> UInt32 {
    value >> 1 ^ polynomial & (0 &- value & 1)
  }

  private static let polynomial: UInt32 = 0xEDB8_8320

  /// What eight steps make of each byte.
  private static let table: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { rest, _ in timesX(rest) }
  }

  private static let labels = PartName.allCases.map { ":" + $0.text }
}

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
