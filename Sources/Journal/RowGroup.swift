import NavigationCore
import NavigationHub

/// The rows of a group, which are stored together in one row of the database.
///
/// A database row costs more than its contents, so rows of a batch share one. It has two parts. The
/// heads have these numbers for each row, in base 128:
///
/// 1. the distance of its sequence from the row before, minus one
/// 2. its kind, with `openNavBit`
/// 3. its nav
/// 4. its revision
/// 5. the distance to the nav's previous row, or 0
/// 6. the difference of its time from the row before
/// 7. the size of its body
/// 8. its author, or 0
/// 9. the depth of its nav's stack, and behind a depth above 0 the top: its size and its bytes
///
/// The bodies follow one another in the other part. `RecordCursor` reads the heads.
struct RowGroup: ~Copyable {
  /// The maximum of rows and of bytes of bodies; a single larger body has a group of its own.
  static let maximumRows = 64
  static let maximumBytes = 48 << 10

  /// The bit for `RowHeader.needsRecovery`, stored in one number with the kind.
  static let openNavBit: UInt64 = 0x40

  private(set) var first: UInt64 = 0
  private(set) var last: UInt64 = 0
  private(set) var records = 0
  private var lastRowTime: UInt64 = 0
  /// The authors in the group, each with its last op.
  ///
  /// A head has the index of its author, from 1 on, and the difference of the op from the author's
  /// last; at the first use, it describes the author instead.
  private var authors: [RowAuthor] = []
  // With 16 bytes each before they are used: a cluster has a group for each of 1,024 shards.
  private var headWriter = JSONWriter(reserving: 0)
  private var bodyWriter = JSONWriter(reserving: 0)

  /// Removes all rows; `first` is the key of the next group.
  mutating func begin(_ first: UInt64) {
    precondition(first > 0, "a row has no key")
    self.first = first
    last = first - 1
    records = 0
    lastRowTime = 0
    authors.removeAll(keepingCapacity: true)
    headWriter.removeAll()
    // Larger bodies are rare, so their memory is not kept: at most 192 KiB stay.
    if bodyWriter.position > 2 * Self.maximumBytes { bodyWriter = JSONWriter(reserving: 0) }
    bodyWriter.removeAll()
  }

  /// Whether a row with a body of this size no longer fits.
  func isFull(for bodyBytes: Int) -> Bool {
    records == Self.maximumRows
      || records > 0 && bodyWriter.position + bodyBytes > Self.maximumBytes
  }

  /// Appends a row with a sequence higher than those in the group; returns the summary that stays
  /// in memory.
  // Inlined into its two callers, which saves 33 instructions of an op.
  @discardableResult @inline(__always)
  mutating func append(_ header: borrowing RowHeader, _ body: Span<UInt8>) -> RowSummary {
    let row = RowSummary(header, bodyBytes: body.count)
    precondition(row.sequence > last, "sequence \(row.sequence) behind \(last)")
    precondition(row.previous < row.sequence, "\(row.sequence) must follow its previous")
    headWriter.binary(row.sequence - last - 1)
    headWriter.binary(UInt64(row.kind.rawValue) | (header.needsRecovery ? Self.openNavBit : 0))
    headWriter.binary(row.nav)
    headWriter.binary(row.revision)
    headWriter.binary(row.previous == 0 ? 0 : row.sequence - row.previous)
    headWriter.binary(Self.zigzagEncoded(header.time &- lastRowTime))
    headWriter.binary(UInt64(row.bodyBytes))
    if let author = header.author { append(author) } else { headWriter.binary(0) }
    headWriter.binary(UInt64(header.depth))
    header.top?.withBytes { headWriter.binary($0) }
    bodyWriter.literal(body)
    last = row.sequence
    lastRowTime = header.time
    records += 1
    return row
  }

  /// Appends the index of an author to the head.
  private mutating func append(_ author: borrowing RowAuthor) {
    var place = 0
    while place < authors.count,
      authors[place].client != author.client || authors[place].author != author.author
    {
      place += 1
    }
    headWriter.binary(UInt64(place) + 1)
    guard place == authors.count else {
      headWriter.binary(Self.zigzagEncoded(author.op &- authors[place].op))
      authors[place].op = author.op
      return
    }
    headWriter.binary(word: author.client.high)
    headWriter.binary(word: author.client.low)
    headWriter.binary(author.author.principal.utf8.span)
    headWriter.binary(author.author.name.utf8.span)
    headWriter.binary(author.author.pid.map { UInt64(UInt32(bitPattern: $0)) + 1 } ?? 0)
    headWriter.binary(author.op)
    authors.append(copy author)
  }

  var heads: Span<UInt8> {
    @_lifetime(borrow self)
    get { headWriter.writtenWithComma }
  }

  var bodies: Span<UInt8> {
    @_lifetime(borrow self)
    get { bodyWriter.writtenWithComma }
  }

  var checksum: UInt64 { Self.checksum(first: first, last: last, heads: heads, bodies) }

  /// Moves the sign of a difference into the lowest bit, so that small negative ones are short too.
  private static func zigzagEncoded(_ difference: UInt64) -> UInt64 {
    difference << 1 ^ UInt64(bitPattern: Int64(bitPattern: difference) >> 63)
  }
}
