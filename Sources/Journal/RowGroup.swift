import NavigationSync

/// Records that lie together in one row of the table, in the order of their sequence.
///
/// A row of SQLite costs more than what is in it, so the records of a batch share some. The bytes
/// are, for each record: how far its sequence is from the one before less one, its kind, its nav,
/// its revision, how far back its nav's previous record is or 0, how its time differs from the one
/// before, the size of its body, all in base 128, and the body. `RecordCursor` reads them. What is
/// stored are these bytes or, if that is shorter, what LZ4 makes of them.
@safe struct RowGroup: ~Copyable {
  /// A group takes no further record when it has this many, or would have more bytes with its body.
  static let mostRecords = 64
  static let mostBytes = 48 << 10

  /// What numbers take at most before a body: six of 64 bits, and the kind.
  private static let mostHeaderBytes = 6 * 10 + 1

  /// The key of the row, which no sequence in it is below.
  private(set) var first: UInt64 = 0
  /// The sequence of the last record.
  private(set) var last: UInt64 = 0
  /// How many records there are.
  private(set) var records = 0
  private var time: UInt64 = 0
  private var count = 0
  private var capacity = Self.mostBytes
  private var memory: UnsafeMutableRawPointer
  private var packed = Packing()

  init() {
    unsafe memory = .allocate(byteCount: Self.mostBytes, alignment: 1)
  }

  deinit { unsafe memory.deallocate() }

  /// Forgets all records; `first` is the key of the row that is begun.
  mutating func begin(_ first: UInt64) {
    precondition(first > 0, "a row has no key")
    self.first = first
    last = first - 1
    records = 0
    time = 0
    count = 0
    // A body of many megabytes is rare, and its memory is not kept.
    if capacity > 4 * Self.mostBytes { replaceMemory(Self.mostBytes) }
  }

  /// Whether another record with a body of this size would make the group too large.
  func isFull(for bodyCount: Int) -> Bool {
    records == Self.mostRecords || records > 0 && count + bodyCount > Self.mostBytes
  }

  /// Appends a record.
  mutating func append(_ row: JournalRow) {
    append(RowHeader(row), row.body.span)
  }

  /// Appends a record; its sequence is above all that are there.
  mutating func append(_ header: RowHeader, _ body: Span<UInt8>) {
    precondition(header.sequence > last, "sequence \(header.sequence) behind \(last)")
    precondition(header.previous < header.sequence, "\(header.sequence) must follow its previous")
    let needed = count + Self.mostHeaderBytes + body.count
    if needed > capacity { replaceMemory(max(needed, capacity * 2)) }
    write(header.sequence - last - 1)
    write(UInt64(header.kind.rawValue))
    write(header.nav)
    write(header.revision)
    write(header.previous == 0 ? 0 : header.sequence - header.previous)
    write(Self.folded(header.time &- time))
    write(UInt64(body.count))
    unsafe body.withUnsafeBufferPointer { buffer in
      guard let start = buffer.baseAddress else { return }
      // Room was made above.
      unsafe (memory + count).copyMemory(from: start, byteCount: buffer.count)
    }
    count += body.count
    last = header.sequence
    time = header.time
    records += 1
  }

  /// The records.
  var bytes: Span<UInt8> {
    @_lifetime(borrow self)
    get {
      // What is there was written, and stays in place while the group is borrowed.
      let span = unsafe Span<UInt8>(
        _unsafeStart: memory.assumingMemoryBound(to: UInt8.self), count: count)
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  /// Ends the row: packs it if that is worth it.
  ///
  /// One record alone has little that repeats, and its answer waits.
  mutating func seal() {
    packed.clear()
    guard records > 1 else { return }
    // By its own name, because the group is being changed.
    let memory = unsafe memory
    packed.pack(
      unsafe Span<UInt8>(_unsafeStart: memory.assumingMemoryBound(to: UInt8.self), count: count))
  }

  /// How many bytes were packed; 0 if the row is stored as it is.
  var packedFrom: UInt64 { packed.isEmpty ? 0 : UInt64(count) }

  /// The body of the row as it is stored; valid behind `seal`.
  var storedBytes: Span<UInt8> {
    @_lifetime(borrow self)
    get { packed.isEmpty ? bytes : packed.bytes }
  }

  /// The checksum of the row; valid behind `seal`.
  var checksum: UInt64 {
    Self.checksum(first: first, last: last, size: packedFrom, storedBytes)
  }

  /// Puts the sign of a difference last, so that small ones are short either way.
  private static func folded(_ difference: UInt64) -> UInt64 {
    difference << 1 ^ UInt64(bitPattern: Int64(bitPattern: difference) >> 63)
  }

  /// Appends a number, seven bits a byte, the least significant first; room must have been made.
  @inline(__always)
  private mutating func write(_ number: UInt64) {
    var rest = number
    while rest > 0x7F {
      unsafe memory.storeBytes(
        of: UInt8(truncatingIfNeeded: rest) | 0x80, toByteOffset: count, as: UInt8.self)
      count += 1
      rest >>= 7
    }
    unsafe memory.storeBytes(
      of: UInt8(truncatingIfNeeded: rest), toByteOffset: count, as: UInt8.self)
    count += 1
  }

  private mutating func replaceMemory(_ wanted: Int) {
    let other = UnsafeMutableRawPointer.allocate(byteCount: wanted, alignment: 1)
    unsafe other.copyMemory(from: memory, byteCount: count)
    unsafe memory.deallocate()
    unsafe memory = other
    capacity = wanted
  }
}
