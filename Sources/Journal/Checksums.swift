import NavigationSync

/// Feeds 64-bit numbers, least significant byte first, and then bytes into a CRC-32.
private func columnChecksum(_ numbers: InlineArray<6, UInt64>, _ body: Span<UInt8>) -> UInt32 {
  var image = InlineArray<48, UInt8>(repeating: 0)
  for index in 0..<6 {
    var number = numbers[index]
    for byte in 0..<8 {
      image[index * 8 + byte] = UInt8(truncatingIfNeeded: number)
      number >>= 8
    }
  }
  return crc32(body, seed: crc32(image.span))
}

extension RowHeader {
  /// The checksum stored beside the row: over every other column, in the order of the table.
  func checksum(body: Span<UInt8>) -> UInt32 {
    columnChecksum([sequence, nav, revision, previous, time, UInt64(kind.rawValue)], body)
  }
}

extension SnapshotRow {
  /// The checksum stored beside the snapshot.
  var checksum: UInt32 {
    // The last number keeps a snapshot from ever passing for a row, whose kind is not 0.
    columnChecksum([nav, revision, sequence, time, 0, 0], body.span)
  }
}
