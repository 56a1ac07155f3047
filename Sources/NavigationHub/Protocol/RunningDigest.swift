import NavigationCore

/// Keeps the digest's checksum of one nav up to date at a cost that depends on the size of the change only.
///
/// Law: `update(_:from:)` returns the same as `NavigationController.checksum()`. The value
/// keeps the checksum of the lines up to and including each screen, so a change at index i
/// recomputes only the lines from i on. It keeps the checksum of the parts' lines separately, and
/// combines it with that of the screens as long as no part changes.
package struct RunningDigest: Sendable {
  /// The checksum of the lines up to and including each screen; empty before the first update.
  private var prefixChecksums: [UInt32] = []
  /// The checksum of the parts' lines, which follow the line of a screen.
  private var partsChecksum = LineChecksum(hasPrecedingLine: true)
  /// The newest revision whose parts `partsChecksum` covers; versions never decrease.
  private var partsChecksumRevision = Revision(0)

  /// Computes the checksum after a change that left the screens below `index` as they were; O(depth
  /// − index).
  package mutating func update(_ controller: borrowing NavigationController, from index: Int)
    -> UInt32
  {
    let count = controller.stack.count
    let kept = min(index, prefixChecksums.count, count)
    if prefixChecksums.count > kept { prefixChecksums.removeLast(prefixChecksums.count - kept) }
    var checksum = kept == 0 ? 0 : prefixChecksums[kept - 1]
    for position in kept..<count {
      let screen = controller.stack[position]
      var line = LineChecksum(hasPrecedingLine: position > 0, from: checksum)
      screen.withID { line.append($0, screen.version.number) }
      checksum = line.checksum
      prefixChecksums.append(checksum)
    }
    guard count > 0 else {
      var lines = LineChecksum(hasPrecedingLine: false)
      lines.appendParts(of: controller)
      return lines.checksum
    }
    let version = controller.newestPartVersion
    if partsChecksumRevision < version {
      partsChecksum = LineChecksum(hasPrecedingLine: true)
      partsChecksum.appendParts(of: controller)
      partsChecksumRevision = version
    }
    return partsChecksum.checksum(after: checksum)
  }
}

extension Digest {
  /// The next revision's digest; `diff` is the beginning of its diff, up to and including the changes.
  func next(checksum: UInt32, diff: Span<UInt8>) -> Digest {
    Digest(checksum: checksum, chain: BodyHash(diff, seed: chain).bits)
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

extension LineChecksum {
  mutating func appendParts(of controller: borrowing NavigationController) {
    for part in PartName.allCases {
      append(Self.partLabels[Int(part.rawValue)].utf8.span, controller.version(of: part).number)
    }
  }

  private static let partLabels = PartName.allCases.map { ":" + $0.text }
}
