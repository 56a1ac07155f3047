import NavigationCore

extension Digest {
  /// The digest of the next revision.
  ///
  /// `diff` is the beginning of its diff, up to and including the changes.
  func next(checksum: UInt32, diff: Span<UInt8>) -> Digest {
    Digest(checksum: checksum, chain: BodyHash(diff, seed: chain).bits)
  }
}

/// Keeps the digest's checksum of one nav up to date at a cost that depends on the size of the change only.
///
/// Law: `update(_:from:)` returns the same as `NavigationController.checksum()`. The value
/// keeps the checksum of the lines up to and including each screen, so a change at index i
/// recomputes only the lines from i on. It keeps the checksum of the parts' lines separately, and
/// combines it with that of the screens as long as no part changes.
package struct RunningDigest: Sendable {
  /// The checksums; empty before the first update, which computes all of them.
  private var prefixes: [UInt32] = []
  /// The checksum of the parts' lines, which follow the line of a screen.
  private var parts = LineChecksum(isContinued: true)
  /// The newest revision whose parts `parts` covers; versions never decrease.
  private var partsAt = Revision(0)

  /// Computes the checksum after a change that did not touch the screens below `index`; O(depth −
  /// index).
  package mutating func update(_ controller: borrowing NavigationController, from index: Int)
    -> UInt32
  {
    let count = controller.stack.count
    let kept = min(index, prefixes.count, count)
    if prefixes.count > kept { prefixes.removeLast(prefixes.count - kept) }
    var checksum = kept == 0 ? 0 : prefixes[kept - 1]
    for position in kept..<count {
      let screen = controller.stack[position]
      var line = LineChecksum(isContinued: position > 0, from: checksum)
      line.append(screen.id.text, screen.version.number)
      checksum = line.checksum
      prefixes.append(checksum)
    }
    guard count > 0 else {
      var lines = LineChecksum(isContinued: false)
      lines.appendParts(of: controller)
      return lines.checksum
    }
    let version = controller.partsVersion
    if partsAt < version {
      parts = LineChecksum(isContinued: true)
      parts.appendParts(of: controller)
      partsAt = version
    }
    return parts.checksum(behind: checksum)
  }
}

extension NavigationController {
  /// Computes the digest's checksum of the nav from scratch; O(depth).
  package func checksum() -> UInt32 {
    Digest.checksum(
      screens: stack.map { ($0.id.text, $0.version.number) },
      parts: PartName.allCases.map { ($0.text, version(of: $0).number) })
  }
}

/// The CRC-32 of a digest's lines, computed byte by byte as the lines are composed.
///
/// The lines are too short for zlib, which would need them in memory first.
struct LineChecksum: Sendable {
  /// The state of the CRC: the complement of the checksum.
  private var rest: UInt32
  /// The factor by which these lines multiply the checksum of the bytes before them.
  ///
  /// It is x^8n modulo the polynomial for n bytes, with the highest power in the lowest bit.
  private var shift: UInt32 = 1 << 31
  /// Whether a line precedes the next one, so that the next one needs a line feed before it.
  private var isContinued: Bool

  /// Continues the CRC-32 of other bytes.
  ///
  /// `seed` is the checksum of those bytes; 0 begins a new checksum.
  init(isContinued: Bool, from seed: UInt32 = 0) {
    self.isContinued = isContinued
    rest = ~seed
  }

  /// The CRC-32 of the bytes before these lines and of these lines.
  var checksum: UInt32 { ~rest }

  /// Appends the line `name@version`, with a line feed before it unless it is the first line.
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

  mutating func appendParts(of controller: borrowing NavigationController) {
    for part in PartName.allCases {
      append(Self.labels[Int(part.rawValue)], controller.version(of: part).number)
    }
  }

  /// Computes the checksum of bytes that have the checksum `first`, followed by these lines.
  ///
  /// crc(a + b) is crc(a) · x^8n + crc(b), for a text b of n bytes.
  func checksum(behind first: UInt32) -> UInt32 { Self.product(first, shift) ^ checksum }

  @inline(__always)
  private mutating func append(_ byte: UInt8, _ table: Span<UInt32>) {
    rest = table[Int((rest ^ UInt32(byte)) & 0xFF)] ^ rest >> 8
    // A zero byte multiplies the polynomial by x^8.
    shift = table[Int(shift & 0xFF)] ^ shift >> 8
  }

  /// The product of two polynomials modulo the polynomial of the CRC; the highest power is in the
  /// lowest bit.
  ///
  /// Takes four bits of `left` at a time, the highest powers first. One bit at a time takes 200
  /// instructions more for each op.
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

  /// The result of eight steps of the CRC for each byte.
  private static let table: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { rest, _ in timesX(rest) }
  }

  private static let labels = PartName.allCases.map { ":" + $0.text }
}
