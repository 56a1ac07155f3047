import NavigationCore
import NavigationHub
import Testing

@testable import Journal

@Suite struct RowGroupTests {
  private static let tops = ["", "a", "fifteen.bytes-x", String(repeating: "Z", count: 64)]

  /// Rows as a group holds them, with gaps that pruning leaves, and numbers of every size.
  private static func rows(_ count: Int, from first: UInt64, seed: UInt64) -> [JournalRow] {
    var random = SeededGenerator(seed: seed)
    var sequence = first - 1
    var authors: [RowAuthor] = []
    return (0..<count).map { _ in
      sequence +=
        UInt64.random(in: 0...3, using: &random) == 0 ? UInt64.random(in: 1...9, using: &random) : 1
      func number() -> UInt64 {
        UInt64.random(in: 0...(.max), using: &random) >> UInt64.random(in: 0..<64, using: &random)
      }
      // Mostly one that a row before has, often the row just before, with another op.
      func author() -> RowAuthor? {
        if Int.random(in: 0..<4, using: &random) == 0 { return nil }
        if Bool.random(using: &random), var known = authors.suffix(3).randomElement(using: &random)
        {
          known.op = number()
          return known
        }
        let names = ["", "a", "a name of more than fifteen bytes"]
        let principals = ["", "uid:0", "uid:1000 and more than fifteen bytes"]
        let author = Author(
          name: names.randomElement(using: &random) ?? "",
          principal: principals.randomElement(using: &random) ?? "",
          pid: [nil, 0, 1, -1, .max].randomElement(using: &random) ?? nil)
        let client = ClientID(high: number() & 3, low: number() & 3)
        authors.append(RowAuthor(author, client: client, op: number()))
        return authors.last
      }
      let top = ScreenID(tops.randomElement(using: &random) ?? "")
      let header = RowHeader(
        sequence: sequence, nav: number(), revision: number(),
        previous: Bool.random(using: &random) ? 0 : UInt64.random(in: 0..<sequence, using: &random),
        time: number(),
        kind: JournalRow.Kind(rawValue: UInt8.random(in: 1...5, using: &random)) ?? .closed,
        depth: top == nil ? 0 : Int(number() % UInt64(Int32.max)) + 1, top: top,
        needsRecovery: Bool.random(using: &random),
        author: author())
      return JournalRow(
        header,
        body: (0..<Int.random(in: 0...300, using: &random)).map { UInt8(truncatingIfNeeded: $0) })
    }
  }

  /// The two parts of a group, copied.
  private struct Parts {
    var heads: [UInt8]
    var bodies: [UInt8]

    init(_ group: borrowing RowGroup) {
      heads = [UInt8](copying: group.heads)
      bodies = [UInt8](copying: group.bodies)
    }

    init(heads: [UInt8], bodies: [UInt8]) {
      self.heads = heads
      self.bodies = bodies
    }
  }

  private static func read(_ parts: Parts, _ first: UInt64, _ last: UInt64) -> [JournalRow]? {
    var cursor = RecordCursor(first: first)
    var rows: [JournalRow] = []
    while cursor.next(in: parts.heads.span) {
      guard cursor.bodyRange.upperBound <= parts.bodies.count else { return nil }
      rows.append(JournalRow(cursor.header, body: Array(parts.bodies[cursor.bodyRange])))
    }
    return cursor.hasEnded(parts.heads.span, at: last, bodyBytes: parts.bodies.count) ? rows : nil
  }

  @Test(arguments: 0..<50 as Range<UInt64>)
  func `what is written is read`(seed: UInt64) {
    var group = RowGroup()
    for first in [1, 77, UInt64(Int64.max) - 1000] {
      let rows = Self.rows(Int(1 + seed % 64), from: first, seed: seed)
      group.begin(first)
      for row in rows { group.append(row) }
      let (count, last) = (group.records, group.last)
      #expect(count == rows.count && last == rows.last?.sequence)
      let parts = Parts(group)
      let found = Self.read(parts, first, last)
      #expect(found == rows)
    }
  }

  @Test func `a part of a group is no group`() {
    var group = RowGroup()
    group.begin(5)
    for row in Self.rows(6, from: 5, seed: 3) { group.append(row) }
    let (parts, last) = (Parts(group), group.last)
    for count in 0..<parts.heads.count {
      let part = Parts(heads: Array(parts.heads[..<count]), bodies: parts.bodies)
      #expect(Self.read(part, 5, last) == nil, "\(count) bytes")
    }
    for count in 0..<parts.bodies.count {
      let part = Parts(heads: parts.heads, bodies: Array(parts.bodies[..<count]))
      #expect(Self.read(part, 5, last) == nil, "\(count) bytes")
    }
    #expect(Self.read(Parts(heads: parts.heads + [0], bodies: parts.bodies), 5, last) == nil)
    #expect(Self.read(Parts(heads: parts.heads, bodies: parts.bodies + [0]), 5, last) == nil)
    #expect(Self.read(parts, 5, last + 1) == nil)
    #expect(Self.read(parts, 6, last) == nil)
  }

  @Test(
    arguments: [
      ([0], 0, nil), ([1, 1, 0x61], 1, "a"), ([0x83, 0x10, 1, 0x61], 2051, "a"),
      // A depth without a top, a top without its size or its octets, tops that are no ids, a depth of 2^31.
      ([], nil, nil), ([1], nil, nil), ([1, 0], nil, nil), ([1, 2, 0x61], nil, nil),
      ([1, 1, 0xFF], nil, nil), ([1] + [UInt8](repeating: 0xFF, count: 9) + [1, 0x61], nil, nil),
      ([1, 65] + [UInt8](repeating: 0x61, count: 65), nil, nil),
      ([0x80, 0x80, 0x80, 0x80, 8, 1, 0x61], nil, nil), ([0, 1, 0x61], nil, nil),
    ] as [([UInt8], Int?, String?)])
  func `a position that cannot be one is not read`(
    octets: [UInt8], depth: Int?, top: String?
  ) {
    // Sequence 5, changed, nav 3, revision 4, no row before, time 0, no body, no author.
    let heads = [0, 2, 3, 4, 0, 0, 0, 0] + octets
    let row = Self.read(Parts(heads: heads, bodies: []), 5, 5)?.first
    #expect(row?.depth == depth && row?.top?.text == top)
  }

  @Test(arguments: 0..<4 as Range<UInt64>)
  func `no bytes lead the reading astray`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<2000 {
      let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
        // Long numbers and small ones alike.
        Bool.random(using: &random)
          ? UInt8.random(in: 0...8, using: &random) : .random(in: 0...255, using: &random)
      }
      for first in [1, UInt64.random(in: 1...(.max), using: &random), UInt64.max] {
        _ = Self.read(Parts(heads: bytes, bodies: bytes), first, first)
      }
    }
  }

  @Test(arguments: [4, 64]) func `every bit of a group is under its checksum`(count: Int) {
    var group = RowGroup()
    group.begin(5)
    for row in Self.rows(count, from: 5, seed: 3) { group.append(row) }
    let (sum, last) = (group.checksum, group.last)
    var bytes = [UInt8](copying: group.bodies)
    var heads = [UInt8](copying: group.heads)
    func checksum(_ first: UInt64, _ last: UInt64) -> UInt64 {
      RowGroup.checksum(first: first, last: last, heads: heads.span, bytes.span)
    }
    for bit in 0..<heads.count * 8 {
      heads[bit / 8] ^= 1 << (bit % 8)
      #expect(checksum(5, last) != sum, "bit \(bit) of the heads")
      heads[bit / 8] ^= 1 << (bit % 8)
    }
    for bit in 0..<bytes.count * 8 {
      bytes[bit / 8] ^= 1 << (bit % 8)
      #expect(checksum(5, last) != sum, "bit \(bit)")
      bytes[bit / 8] ^= 1 << (bit % 8)
    }
    for bit in 0..<64 as Range<UInt64> {
      #expect(checksum(5 ^ 1 << bit, last) != sum)
      #expect(checksum(5, last ^ 1 << bit) != sum)
    }
    #expect(checksum(last, 5) != sum)
    #expect(checksum(5, last) == sum)
  }

  @Test func `every bit of a snapshot is under its checksum`() {
    let row = SnapshotRow(nav: 3, revision: 9, sequence: 40, time: 7, body: Array(0..<250))
    for bit in 0..<row.body.count * 8 {
      var other = row
      other.body[bit / 8] ^= 1 << (bit % 8)
      #expect(other.checksum != row.checksum)
    }
    for bit in 0..<64 as Range<UInt64> {
      for member in [\SnapshotRow.nav, \.revision, \.sequence, \.time] {
        var other = row
        other[keyPath: member] ^= 1 << bit
        #expect(other.checksum != row.checksum)
      }
    }
    let swapped = SnapshotRow(nav: 9, revision: 3, sequence: 40, time: 7, body: row.body)
    #expect(swapped.checksum != row.checksum)
  }

  @Test func `a group is full by number and by bytes, but takes one of any size`() {
    var group = RowGroup()
    group.begin(1)
    // A value that cannot be copied cannot be looked at by `#expect`.
    var isFull = [group.isFull(for: 10 << 20)]
    func row(_ sequence: UInt64, _ size: Int) -> JournalRow {
      JournalRow(
        RowHeader(
          sequence: sequence, nav: 1, revision: sequence, previous: 0, time: 0, kind: .changed,
          depth: 0, top: nil), body: [UInt8](repeating: 7, count: size))
    }
    for sequence in 1..<64 as Range<UInt64> { group.append(row(sequence, 1)) }
    isFull.append(group.isFull(for: 1))
    group.append(row(64, 1))
    isFull.append(group.isFull(for: 0))
    #expect(isFull == [false, false, true])

    group.begin(1)
    group.append(row(1, 1000))
    let room = RowGroup.maximumBytes - group.bodies.count
    isFull = [group.isFull(for: room), group.isFull(for: room + 1)]
    #expect(isFull == [false, true])

    for size in [RowGroup.maximumBytes, 1 << 20, 0] {
      group.begin(1)
      let rows = [row(1, size), row(2, 3)]
      for row in rows { group.append(row) }
      let found = Self.read(Parts(group), 1, 2)
      #expect(found == rows)
    }
  }
}
