import CXXHash
import NavigationHub

/// What a checksum is over besides bytes: a fold that a change of any one number changes.
private struct Seed {
  private(set) var bits: UInt64

  /// The kind of what is sealed keeps one from ever passing for another.
  init(_ kind: UInt64) { bits = kind }

  mutating func add(_ number: UInt64) {
    // An odd factor has an inverse, so neither number can be lost.
    bits = (bits ^ number) &* 0x9e37_79b9_7f4a_7c15
  }

  /// XXH3 with 64 bits: an eighth of what a table-driven CRC-32 takes for a byte.
  func checksum(of bytes: Span<UInt8>) -> UInt64 {
    unsafe bytes.withUnsafeBufferPointer { buffer in
      unsafe navd_xxh3(buffer.baseAddress, buffer.count, bits)
    }
  }
}

extension RowGroup {
  /// The checksum stored beside a group: over every other column.
  static func checksum(
    first: UInt64, last: UInt64, size: UInt64, heads: Span<UInt8>, _ bodies: Span<UInt8>
  ) -> UInt64 {
    var seed = Seed(1)
    for number in [first, last, size] { seed.add(number) }
    seed.add(seed.checksum(of: heads))
    return seed.checksum(of: bodies)
  }
}

extension SnapshotRow {
  /// The checksum stored beside the snapshot.
  var checksum: UInt64 {
    var seed = Seed(2)
    for number in [nav, revision, sequence, time] { seed.add(number) }
    return seed.checksum(of: body.span)
  }
}

extension Metadata {
  /// The checksum stored with a fact.
  static func checksum(_ key: UInt64, _ value: [UInt8]) -> UInt64 {
    var seed = Seed(3)
    seed.add(key)
    return seed.checksum(of: value.span)
  }
}
