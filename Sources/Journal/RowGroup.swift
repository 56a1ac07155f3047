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
@safe struct RowGroup: ~Copyable {
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
  private var headBuffer = ScratchBuffer(capacity: 4096)
  private var bodyBuffer = ScratchBuffer(capacity: Self.maximumBytes)

  /// Removes all rows; `first` is the key of the next group.
  mutating func begin(_ first: UInt64) {
    precondition(first > 0, "a row has no key")
    self.first = first
    last = first - 1
    records = 0
    lastRowTime = 0
    authors.removeAll(keepingCapacity: true)
    headBuffer.clear()
    bodyBuffer.clear()
  }

  /// Whether a row with a body of this size no longer fits.
  func isFull(for bodyBytes: Int) -> Bool {
    records == Self.maximumRows || records > 0 && bodyBuffer.count + bodyBytes > Self.maximumBytes
  }

  /// Appends a row with a sequence higher than those in the group; returns the summary that stays
  /// in memory.
  // Inlined into its two callers, which saves 33 instructions of an op.
  @discardableResult @inline(__always)
  mutating func append(_ header: borrowing RowHeader, _ body: Span<UInt8>) -> RowSummary {
    let row = RowSummary(header, bodyBytes: body.count)
    precondition(row.sequence > last, "sequence \(row.sequence) behind \(last)")
    precondition(row.previous < row.sequence, "\(row.sequence) must follow its previous")
    headBuffer.makeRoom(numbers: 9)
    headBuffer.append(number: row.sequence - last - 1)
    headBuffer.append(
      number: UInt64(row.kind.rawValue) | (header.needsRecovery ? Self.openNavBit : 0))
    headBuffer.append(number: row.nav)
    headBuffer.append(number: row.revision)
    headBuffer.append(number: row.previous == 0 ? 0 : row.sequence - row.previous)
    headBuffer.append(number: Self.zigzagEncoded(header.time &- lastRowTime))
    headBuffer.append(number: UInt64(row.bodyBytes))
    if let author = header.author { append(author) } else { headBuffer.append(number: 0) }
    headBuffer.makeRoom(numbers: 1)
    headBuffer.append(number: UInt64(header.depth))
    if let top = header.top { headBuffer.append(top.text) }
    bodyBuffer.append(body)
    last = row.sequence
    lastRowTime = header.time
    records += 1
    return row
  }

  /// Appends the index of an author to the head; the caller has made room for two numbers.
  private mutating func append(_ author: borrowing RowAuthor) {
    var place = 0
    while place < authors.count,
      authors[place].client != author.client || authors[place].author != author.author
    {
      place += 1
    }
    headBuffer.append(number: UInt64(place) + 1)
    guard place == authors.count else {
      headBuffer.append(number: Self.zigzagEncoded(author.op &- authors[place].op))
      authors[place].op = author.op
      return
    }
    headBuffer.append(word: author.client.high)
    headBuffer.append(word: author.client.low)
    headBuffer.append(author.author.principal)
    headBuffer.append(author.author.name)
    headBuffer.makeRoom(numbers: 2)
    headBuffer.append(number: author.author.pid.map { UInt64(UInt32(bitPattern: $0)) + 1 } ?? 0)
    headBuffer.append(number: author.op)
    authors.append(copy author)
  }

  var heads: Span<UInt8> {
    @_lifetime(borrow self)
    get { headBuffer.bytes }
  }

  var bodies: Span<UInt8> {
    @_lifetime(borrow self)
    get { bodyBuffer.bytes }
  }

  var checksum: UInt64 { Self.checksum(first: first, last: last, heads: heads, bodies) }

  /// Moves the sign of a difference into the lowest bit, so that small negative ones are short too.
  private static func zigzagEncoded(_ difference: UInt64) -> UInt64 {
    difference << 1 ^ UInt64(bitPattern: Int64(bitPattern: difference) >> 63)
  }
}

/// A byte buffer that is filled again and again in the same memory.
@safe struct ScratchBuffer: ~Copyable {
  private var memory: UnsafeMutableRawPointer
  private var capacity: Int
  private let usualCapacity: Int
  private(set) var count = 0

  /// The maximum size of a number: 64 bits in bytes of seven bits.
  private static let maximumNumberBytes = 10

  /// Makes an empty buffer, which usually has at most `capacity` bytes.
  ///
  /// It takes no memory before it is used: a cluster has two for each of 1,024 shards.
  init(capacity: Int) {
    unsafe memory = .allocate(byteCount: 0, alignment: 1)
    self.capacity = 0
    usualCapacity = capacity
  }

  deinit { unsafe memory.deallocate() }

  mutating func clear() {
    count = 0
    // Much longer contents are rare, so their memory is not kept.
    if capacity > 4 * usualCapacity { reallocate(capacity: usualCapacity) }
  }

  var bytes: Span<UInt8> {
    @_lifetime(borrow self)
    get {
      // The bytes are initialised, and stay in place while this is borrowed.
      let span = unsafe Span<UInt8>(
        _unsafeStart: memory.assumingMemoryBound(to: UInt8.self), count: count)
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  mutating func append(_ bytes: Span<UInt8>) {
    makeRoom(bytes: bytes.count)
    unsafe bytes.withUnsafeBufferPointer { buffer in
      guard let start = buffer.baseAddress else { return }
      // The capacity was checked above.
      unsafe (memory + count).copyMemory(from: start, byteCount: buffer.count)
    }
    count += bytes.count
  }

  /// Appends the size of a text, and its bytes.
  @inline(__always)
  mutating func append(_ text: String) {
    let bytes = text.utf8.span
    makeRoom(numbers: 1)
    append(number: UInt64(bytes.count))
    append(bytes)
  }

  /// Appends a number as 8 bytes, the least significant first.
  @inline(__always)
  mutating func append(word: UInt64) {
    makeRoom(bytes: 8)
    unsafe memory.storeBytes(of: word.littleEndian, toByteOffset: count, as: UInt64.self)
    count += 8
  }

  @inline(__always)
  mutating func makeRoom(numbers: Int) { makeRoom(bytes: numbers * Self.maximumNumberBytes) }

  /// Appends a number with seven bits in each byte, the least significant first.
  ///
  /// The caller has made room for it.
  @inline(__always)
  mutating func append(number: UInt64) {
    assert(count + Self.maximumNumberBytes <= capacity, "no room was made")
    var rest = number
    // A local variable: as far as the compiler knows, storing a byte could change `count`.
    var end = count
    while rest > 0x7F {
      unsafe memory.storeBytes(
        of: UInt8(truncatingIfNeeded: rest) | 0x80, toByteOffset: end, as: UInt8.self)
      end += 1
      rest >>= 7
    }
    unsafe memory.storeBytes(
      of: UInt8(truncatingIfNeeded: rest), toByteOffset: end, as: UInt8.self)
    count = end + 1
  }

  @inline(__always)
  private mutating func makeRoom(bytes more: Int) {
    if count + more > capacity { reallocate(capacity: max(count + more, capacity * 2)) }
  }

  private mutating func reallocate(capacity wanted: Int) {
    let other = UnsafeMutableRawPointer.allocate(byteCount: wanted, alignment: 1)
    unsafe other.copyMemory(from: memory, byteCount: count)
    unsafe memory.deallocate()
    unsafe memory = other
    capacity = wanted
  }
}
