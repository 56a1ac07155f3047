import NavigationCore
import NavigationHub

/// Reads the heads of a group's rows one after the other.
///
/// The bytes have passed their checksum, so an unreadable head was written wrongly. Reading ends
/// there, and `hasEnded` then returns false.
struct RecordCursor {
  /// The columns of the row read last.
  private(set) var header: RowHeader
  /// The range of the body of the row read last, in the bodies of the group.
  private(set) var bodyRange = 0..<0
  /// The authors described so far, each with its last op.
  private var authors: [RowAuthor] = []
  /// The index of the author read last.
  private var lastAuthor = 0
  private var reader = ByteReader()

  /// Begins before the first row of the group with this key.
  init(first: UInt64) {
    header = RowHeader(
      sequence: first &- 1, nav: 0, revision: 0, previous: 0, time: 0, kind: .created, depth: 0,
      top: nil)
  }

  /// Reads the next head; returns false if there is none, or if it is unreadable.
  mutating func next(in heads: Span<UInt8>) -> Bool {
    guard reader.offset < heads.count else { return false }
    let (sequence, isTooLarge) = header.sequence.addingReportingOverflow(reader.number(in: heads))
    let sort = reader.number(in: heads)
    let kind = UInt8(exactly: sort & ~RowGroup.openNavBit).flatMap(JournalRow.Kind.init(rawValue:))
    header.nav = reader.number(in: heads)
    header.revision = reader.number(in: heads)
    let distance = reader.number(in: heads)
    let difference = reader.number(in: heads)
    let size = reader.number(in: heads)
    readAuthor(in: heads)
    let depth = reader.number(in: heads)
    let top = depth == 0 ? nil : ScreenID(reader.text(in: heads))
    guard !reader.isBroken, let kind, !isTooLarge, sequence < .max, distance <= sequence,
      max(size, depth) <= UInt64(Int32.max), (depth == 0) == (top == nil)
    else {
      reader.isBroken = true
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
    let index = reader.number(in: heads)
    guard index > 0 else { return header.author = nil }
    let place = Int(clamping: index - 1)
    guard place <= authors.count else { return reader.isBroken = true }
    if place == authors.count {
      authors.append(newAuthor(in: heads))
    } else {
      authors[place].op &+= Self.zigzagDecoded(reader.number(in: heads))
    }
    // Most rows have the author of the row before, which need not be retained again.
    if place == lastAuthor, header.author != nil {
      header.author?.op = authors[place].op
    } else {
      (lastAuthor, header.author) = (place, authors[place])
    }
  }

  private mutating func newAuthor(in heads: Span<UInt8>) -> RowAuthor {
    let client = ClientID(high: reader.word(in: heads), low: reader.word(in: heads))
    let principal = String(copying: reader.text(in: heads))
    let name = String(copying: reader.text(in: heads))
    let process = reader.number(in: heads)
    let author = Author(
      name: name, principal: principal,
      pid: process == 0 ? nil : Int32(truncatingIfNeeded: process - 1))
    return RowAuthor(author, client: client, op: reader.number(in: heads))
  }

  /// Reverses `RowGroup.zigzagEncoded`, which stores the sign in the lowest bit.
  private static func zigzagDecoded(_ number: UInt64) -> UInt64 { number >> 1 ^ (0 &- number & 1) }

  /// Whether all heads were read, `last` is the last row, and its body ends where the bodies end.
  func hasEnded(_ heads: Span<UInt8>, at last: UInt64, bodyBytes: Int) -> Bool {
    !reader.isBroken && reader.offset == heads.count && header.sequence == last && reader.offset > 0
      && bodyRange.upperBound == bodyBytes
  }
}
