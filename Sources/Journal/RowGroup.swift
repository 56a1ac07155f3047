import NavigationHub
import NavigationProtocol

/// Records that lie together in one row of the table, in the order of their sequence.
///
/// A row of SQLite costs more than what is in it, so the records of a batch share some. It has two
/// parts. The heads begin with a byte that says whether a start needs bodies of this group. Then come,
/// for each record: how far its sequence is from the one before less one, its kind, its nav, its
/// revision, how far back its nav's previous record is or 0, how its time differs from the one
/// before, the size of its body, whose op it tells of, all in base 128. `RecordCursor` reads them.
/// The bodies follow one another in the other part, which is stored as it is or, if that is shorter,
/// as LZ4 makes it.
@safe struct RowGroup: ~Copyable {
  /// A group takes no further record when it has this many, or its bodies would have more bytes.
  static let mostRecords = 64
  static let mostBytes = 48 << 10

  /// The bit beside the kind that says that something is open.
  static let openBit: UInt64 = 0x40

  /// The key of the row, which no sequence in it is below.
  private(set) var first: UInt64 = 0
  /// The sequence of the last record.
  private(set) var last: UInt64 = 0
  /// How many records there are.
  private(set) var records = 0
  private var time: UInt64 = 0
  /// The authors so far, each with its last op: a head names one by its place, from 1 on, and
  /// describes one that is not there yet.
  private var authors: [RowAuthor] = []
  private var headBuffer = ScratchBuffer(capacity: 4096)
  private var bodyBuffer = ScratchBuffer(capacity: Self.mostBytes)
  private var packed = Packing()

  init() {}

  /// Forgets all records; `first` is the key of the row that is begun.
  mutating func begin(_ first: UInt64) {
    precondition(first > 0, "a row has no key")
    self.first = first
    last = first - 1
    records = 0
    time = 0
    authors.removeAll(keepingCapacity: true)
    headBuffer.clear()
    headBuffer.append(0)
    bodyBuffer.clear()
  }

  /// Whether another record with a body of this size would make the group too large.
  func isFull(for bodyCount: Int) -> Bool {
    records == Self.mostRecords || records > 0 && bodyBuffer.count + bodyCount > Self.mostBytes
  }

  /// Appends a record.
  ///
  /// - Parameter row: the record; its sequence is higher than those in the group.
  /// - Returns: the numbers of the record that the journal keeps in memory.
  @discardableResult
  mutating func append(_ row: borrowing JournalRow) -> RowNote {
    let note = RowNote(row)
    append(note, isOpen: row.isOpen, row.author)
    bodyBuffer.append(row.body.span)
    return note
  }

  /// Appends a record of another group.
  mutating func append(_ header: RowHeader, _ body: Span<UInt8>) {
    append(RowNote(header, bodyCount: body.count), isOpen: header.isOpen, header.author)
    bodyBuffer.append(body)
  }

  private mutating func append(_ row: RowNote, isOpen: Bool, _ author: RowAuthor?) {
    precondition(row.sequence > last, "sequence \(row.sequence) behind \(last)")
    precondition(row.previous < row.sequence, "\(row.sequence) must follow its previous")
    if row.kind == .created || row.kind == .epoch { headBuffer.replaceFirst(by: 1) }
    headBuffer.makeRoom(numbers: 9)
    headBuffer.append(number: row.sequence - last - 1)
    headBuffer.append(number: UInt64(row.kind.rawValue) | (isOpen ? Self.openBit : 0))
    headBuffer.append(number: row.nav)
    headBuffer.append(number: row.revision)
    headBuffer.append(number: row.previous == 0 ? 0 : row.sequence - row.previous)
    headBuffer.append(number: Self.folded(row.time &- time))
    headBuffer.append(number: UInt64(row.bodyCount))
    if let author { append(author) } else { headBuffer.append(number: 0) }
    last = row.sequence
    time = row.time
    records += 1
  }

  /// Appends the place of an author; there is room for two numbers.
  private mutating func append(_ author: borrowing RowAuthor) {
    var place = 0
    while place < authors.count,
      authors[place].client != author.client || authors[place].principal != author.principal
    {
      place += 1
    }
    headBuffer.append(number: UInt64(place) + 1)
    guard place == authors.count else {
      headBuffer.append(number: Self.folded(author.op &- authors[place].op))
      authors[place].op = author.op
      return
    }
    headBuffer.makeRoom(numbers: 4)
    headBuffer.append(number: author.client.high)
    headBuffer.append(number: author.client.low)
    headBuffer.append(number: UInt64(author.principal.utf8.count))
    for byte in author.principal.utf8 { headBuffer.append(byte) }
    headBuffer.makeRoom(numbers: 1)
    headBuffer.append(number: author.op)
    authors.append(copy author)
  }

  /// The heads of the records.
  var heads: Span<UInt8> {
    @_lifetime(borrow self)
    get { headBuffer.bytes }
  }

  /// The bodies of the records.
  var bodies: Span<UInt8> {
    @_lifetime(borrow self)
    get { bodyBuffer.bytes }
  }

  /// Ends the row: packs the bodies if that is worth it.
  ///
  /// One record alone has little that repeats, and its answer waits.
  mutating func seal() {
    packed.clear()
    guard records > 1 else { return }
    // Taken out while it is written to, because the group lends the bodies meanwhile.
    var target = Packing()
    swap(&target, &packed)
    target.pack(bodyBuffer.bytes)
    swap(&target, &packed)
  }

  /// How many bytes of bodies were packed; 0 if they are stored as they are.
  var packedFrom: UInt64 { packed.isEmpty ? 0 : UInt64(bodyBuffer.count) }

  /// The bodies as they are stored; valid behind `seal`.
  var storedBodies: Span<UInt8> {
    @_lifetime(borrow self)
    get { packed.isEmpty ? bodyBuffer.bytes : packed.bytes }
  }

  /// The checksum of the row; valid behind `seal`.
  var checksum: UInt64 {
    Self.checksum(first: first, last: last, size: packedFrom, heads: heads, storedBodies)
  }

  /// Puts the sign of a difference last, so that small ones are short either way.
  private static func folded(_ difference: UInt64) -> UInt64 {
    difference << 1 ^ UInt64(bitPattern: Int64(bitPattern: difference) >> 63)
  }
}
