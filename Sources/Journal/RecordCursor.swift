import NavigationCore
import NavigationHub

/// Reads the heads of a group's rows one after the other.
///
/// The bytes have passed their checksum, so an unreadable head was written wrongly. Reading ends
/// there, and `hasEnded` then returns false.
struct RecordCursor {
  /// The columns of the row read last.
  private(set) var header: RowHeader
  /// The range of the body of the row read last, in the uncompressed bodies of the group.
  private(set) var bodyRange = 0..<0
  /// The authors described so far, each with its last op.
  private var authors: [RowAuthor] = []
  private var offset = 1
  private var isBroken = false

  /// Begins before the first row of the group with this key.
  init(first: UInt64) {
    header = RowHeader(
      sequence: first &- 1, nav: 0, revision: 0, previous: 0, time: 0, kind: .created, depth: 0,
      top: nil)
  }

  /// Whether a row of the group creates a nav or begins an epoch: then a start needs the bodies.
  static func hasNavBeginnings(_ heads: Span<UInt8>) -> Bool { !heads.isEmpty && heads[0] != 0 }

  /// Reads the next head; returns false if there is none, or if it is unreadable.
  mutating func next(in heads: Span<UInt8>) -> Bool {
    guard offset < heads.count else { return false }
    let (sequence, isTooLarge) = header.sequence.addingReportingOverflow(number(in: heads))
    let sort = number(in: heads)
    let kind = UInt8(exactly: sort & ~RowGroup.openNavBit).flatMap(JournalRow.Kind.init(rawValue:))
    header.nav = number(in: heads)
    header.revision = number(in: heads)
    let distance = number(in: heads)
    let difference = number(in: heads)
    let size = number(in: heads)
    readAuthor(in: heads)
    let depth = number(in: heads)
    let top = depth == 0 ? nil : ScreenID(text(in: heads))
    guard !isBroken, let kind, !isTooLarge, sequence < .max, distance <= sequence,
      max(size, depth) <= UInt64(Int32.max), (depth == 0) == (top == nil)
    else {
      isBroken = true
      return false
    }
    header.sequence = sequence + 1
    header.kind = kind
    header.depth = Int(depth)
    header.top = top
    header.needsRecovery = sort & RowGroup.openNavBit != 0
    header.previous = distance == 0 ? 0 : header.sequence - distance
    header.time &+= Self.zigzagDecoded(difference)
    bodyRange = bodyRange.upperBound..<bodyRange.upperBound + Int(size)
    return true
  }

  private mutating func readAuthor(in heads: Span<UInt8>) {
    let number = number(in: heads)
    guard number > 0 else {
      header.author = nil
      return
    }
    let place = Int(clamping: number - 1)
    if place < authors.count {
      authors[place].op &+= Self.zigzagDecoded(self.number(in: heads))
    } else {
      guard place == authors.count else {
        isBroken = true
        return
      }
      authors.append(newAuthor(in: heads))
    }
    header.author = authors[place]
  }

  private mutating func newAuthor(in heads: Span<UInt8>) -> RowAuthor {
    let client = ClientID(high: number(in: heads), low: number(in: heads))
    let principal = [UInt8](copying: text(in: heads))
    return RowAuthor(
      principal: String(decoding: principal, as: UTF8.self), client: client, op: number(in: heads))
  }

  /// Reads the size of a text, and its bytes.
  @_lifetime(copy heads)
  private mutating func text(in heads: Span<UInt8>) -> Span<UInt8> {
    let count = Int(clamping: number(in: heads))
    guard !isBroken, count <= heads.count - offset else {
      isBroken = true
      return heads.extracting(first: 0)
    }
    defer { offset += count }
    return heads.extracting(offset..<offset + count)
  }

  /// Reverses `RowGroup.zigzagEncoded`, which stores the sign in the lowest bit.
  private static func zigzagDecoded(_ number: UInt64) -> UInt64 { number >> 1 ^ (0 &- number & 1) }

  /// Whether all heads were read, `last` is the last row, and its body ends where the bodies end.
  func hasEnded(_ heads: Span<UInt8>, at last: UInt64, bodyBytes: Int) -> Bool {
    !isBroken && offset == heads.count && header.sequence == last && offset > 1
      && bodyRange.upperBound == bodyBytes
  }

  /// Reads a number with seven bits in each byte, the least significant first.
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
