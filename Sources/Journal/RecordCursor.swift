import NavigationSync

/// Reads the records of a group one after the other.
///
/// The bytes have passed their checksum, so what does not fit was written wrong: it ends the reading
/// all the same, and `hasEnded` says so.
struct RecordCursor {
  /// The columns of the record that was read last.
  private(set) var header: RowHeader
  /// Where its body is.
  private(set) var body = 0..<0
  private var offset = 0
  private var isBroken = false

  /// Begins before the first record of the row with this key.
  init(first: UInt64) {
    header = RowHeader(
      sequence: first &- 1, nav: 0, revision: 0, previous: 0, time: 0, kind: .created)
  }

  /// Goes to the next record; false when there is none, or none that can be read.
  mutating func next(in bytes: Span<UInt8>) -> Bool {
    guard offset < bytes.count else { return false }
    let (sequence, isTooLarge) = header.sequence.addingReportingOverflow(number(in: bytes))
    let kind = UInt8(exactly: number(in: bytes)).flatMap(JournalRow.Kind.init(rawValue:))
    header.nav = number(in: bytes)
    header.revision = number(in: bytes)
    let distance = number(in: bytes)
    let difference = number(in: bytes)
    let size = number(in: bytes)
    guard !isBroken, let kind, !isTooLarge, sequence < .max, distance <= sequence,
      size <= UInt64(bytes.count - offset)
    else {
      isBroken = true
      return false
    }
    header.sequence = sequence + 1
    header.kind = kind
    header.previous = distance == 0 ? 0 : header.sequence - distance
    // The sign comes last, see `RowGroup`.
    header.time &+= difference >> 1 ^ (0 &- difference & 1)
    body = offset..<offset + Int(size)
    offset = body.upperBound
    return true
  }

  /// Whether every byte was read, and the record read last is the one named.
  func hasEnded(_ bytes: Span<UInt8>, at last: UInt64) -> Bool {
    !isBroken && offset == bytes.count && header.sequence == last && offset > 0
  }

  /// Reads a number of seven bits a byte, the least significant first.
  @inline(__always)
  private mutating func number(in bytes: Span<UInt8>) -> UInt64 {
    guard offset < bytes.count else {
      isBroken = true
      return 0
    }
    let byte = bytes[offset]
    offset += 1
    return byte < 0x80 ? UInt64(byte) : longNumber(in: bytes, from: UInt64(byte & 0x7F))
  }

  private mutating func longNumber(in bytes: Span<UInt8>, from low: UInt64) -> UInt64 {
    var value = low
    var shift: UInt64 = 7
    while offset < bytes.count, shift < 64 {
      let byte = bytes[offset]
      offset += 1
      value |= UInt64(byte & 0x7F) << shift
      guard byte >= 0x80 else { return value }
      shift += 7
    }
    isBroken = true
    return 0
  }
}
