/// The CRC-32 of the ids and versions of a nav, which proves that a mirror equals the nav.
///
/// It covers one line for each screen, bottom first, `id@ver`, then one line for each part,
/// `:name@ver`. LF separates the lines; the last line has none. The digest detects divergence; it
/// is not a signature.
package struct Digest: Hashable, Sendable {
  /// The 32 bits of the CRC.
  package let bits: UInt32

  /// Takes the bits of a digest that was computed earlier.
  package init(bits: UInt32) { self.bits = bits }

  /// Reads 8 lower-case hex digits; nil for anything else.
  package init?(_ text: String) {
    guard text.utf8.count == 8, text.utf8.allSatisfy(Grammar.isLowerHex),
      let bits = UInt32(text, radix: 16)
    else { return nil }
    self.bits = bits
  }

  /// The digest as 8 lower-case hex digits.
  package var text: String {
    let digits = String(bits, radix: 16)
    return String(repeating: "0", count: 8 - digits.utf8.count) + digits
  }

  /// Computes the digest of a list of screens and parts from scratch.
  ///
  /// O(screens + parts).
  package init(
    screens: some Sequence<(id: String, version: UInt64)>,
    parts: some Sequence<(name: String, version: UInt64)>
  ) {
    var lines = DigestLines()
    for screen in screens { lines.append(screen.id, screen.version) }
    for part in parts { lines.append(":" + part.name, part.version) }
    bits = lines.checksum(from: 0)
  }
}

/// The text that a digest is computed over.
package struct DigestLines {
  private(set) var bytes: [UInt8] = []
  /// Whether other lines precede those in `bytes`, so that the first one needs a line feed before
  /// it.
  private var isContinued = false

  /// Makes an empty text.
  package init() { bytes.reserveCapacity(128) }

  /// Removes all lines, but keeps the memory for new ones.
  package mutating func begin(isContinued: Bool) {
    bytes.removeAll(keepingCapacity: true)
    self.isContinued = isContinued
  }

  /// Appends the line of one screen or part.
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

/// Keeps the digest of one nav up to date at a cost that depends on the size of the change only.
///
/// Law: `update(_:from:)` returns the same digest as `NavigationController.digest()`. The value
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

  /// Computes the digest after a change that did not touch the screens below `index`.
  ///
  /// O(depth − index).
  package mutating func update(_ controller: borrowing NavigationController, from index: Int)
    -> Digest
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
      return Digest(bits: lines.checksum)
    }
    let version = controller.partsVersion
    if partsAt < version {
      parts = LineChecksum(isContinued: true)
      parts.appendParts(of: controller)
      partsAt = version
    }
    return Digest(bits: parts.checksum(behind: checksum))
  }
}

extension NavigationController {
  /// Computes the digest of the nav from scratch.
  ///
  /// O(depth).
  package func digest() -> Digest {
    Digest(
      screens: stack.map { ($0.id.text, $0.version.number) },
      parts: PartName.allCases.map { ($0.text, version(of: $0).number) })
  }
}
