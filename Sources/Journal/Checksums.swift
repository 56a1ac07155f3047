import CJournal
import NavigationCore
import NavigationHub

/// The numbers that a checksum covers besides bytes, folded into a seed.
///
/// A change of any one number changes the seed.
private struct ChecksumSeed {
  private(set) var bits: UInt64

  /// Begins with the kind of record, so that the checksum of one kind never fits another.
  init(_ kind: UInt64) { bits = kind }

  mutating func mix(_ number: UInt64) {
    // An odd factor has an inverse modulo 2^64, so the fold loses no information.
    bits = (bits ^ number) &* 0x9e37_79b9_7f4a_7c15
  }

  /// Computes XXH3 with 64 bits, which takes an eighth of the time of a table-driven CRC-32.
  func checksum(of bytes: Span<UInt8>) -> UInt64 {
    unsafe bytes.withUnsafeBufferPointer { buffer in
      unsafe navd_xxh3(buffer.baseAddress, buffer.count, bits)
    }
  }
}

extension RowGroup {
  /// Computes the checksum stored with a group, which covers all its other columns.
  static func checksum(
    first: UInt64, last: UInt64, heads: Span<UInt8>, _ bodies: Span<UInt8>
  ) -> UInt64 {
    var seed = ChecksumSeed(1)
    for number in [first, last] { seed.mix(number) }
    seed.mix(seed.checksum(of: heads))
    return seed.checksum(of: bodies)
  }
}

extension SnapshotRow {
  /// The checksum stored with the snapshot, which covers all its other columns.
  var checksum: UInt64 {
    var seed = ChecksumSeed(2)
    for number in [nav, revision, sequence, time] { seed.mix(number) }
    return seed.checksum(of: body.span)
  }
}

extension Metadata {
  /// Computes the checksum stored with an entry of the metadata table.
  static func checksum(_ key: UInt64, _ value: [UInt8]) -> UInt64 {
    var seed = ChecksumSeed(3)
    seed.mix(key)
    return seed.checksum(of: value.span)
  }
}
