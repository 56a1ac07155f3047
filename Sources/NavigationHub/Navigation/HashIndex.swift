import NavigationCore

/// A hash table that finds places, such as indexes of an array, by the hash of a name or of a number.
///
/// The table keeps no names: its owner compares the name at a place. A cell takes 16 bytes. A
/// look-up takes about a quarter of the instructions of `Dictionary`, which hashes by SipHash.
/// Numbers that are neighbours have a denser index, `NumberIndex`.
package struct HashIndex: Sendable {
  private struct Cell: Sendable {
    var hash: UInt64
    /// The place; -1 in a vacant cell.
    var place: Int

    static let vacant = Cell(hash: 0, place: -1)
  }

  // Laws: the number of cells is 0 or a power of two, and at most four fifths of the cells are
  // taken. No cell is vacant between the cell that an entry's hash names and the entry itself.
  // With half of the cells taken at most, 100,000 navs would have 60 bytes more each.
  private var cells: [Cell] = []
  package private(set) var count = 0

  package func find(_ number: UInt64) -> Int? { find(KeyHash(number)) { _ in true } }

  /// Returns the place with this hash that `isMatch` accepts; nil if there is none.
  @inline(__always)
  func find(_ hash: KeyHash, where isMatch: (Int) -> Bool) -> Int? {
    cell(hash, where: isMatch).map { cells[$0].place }
  }

  /// Adds a place, which must not be in the index yet.
  package mutating func insert(_ place: Int, _ hash: KeyHash) {
    precondition(place >= 0, "place=\(place)")
    if (count + 1) * 5 > cells.count * 4 { grow() }
    count += 1
    putCell(Cell(hash: hash.bits, place: place))
  }

  /// Replaces a place, which must be in the index, by another one.
  package mutating func replace(_ place: Int, _ hash: KeyHash, by new: Int) {
    precondition(new >= 0, "place=\(new)")
    guard let cell = cell(hash, where: { $0 == place }) else {
      preconditionFailure("place=\(place) is not there")
    }
    cells[cell].place = new
  }

  /// Removes a place, which must be in the index.
  package mutating func remove(_ place: Int, _ hash: KeyHash) {
    guard var gap = cell(hash, where: { $0 == place }) else {
      preconditionFailure("place=\(place) is not there")
    }
    count -= 1
    let mask = cells.count - 1
    // An entry behind the gap moves into it if a search for the entry would stop at the gap.
    var next = (gap + 1) & mask
    while cells[next].place >= 0 {
      let distance = (next &- Int(truncatingIfNeeded: cells[next].hash)) & mask
      if distance >= (next - gap) & mask {
        cells[gap] = cells[next]
        gap = next
      }
      next = (next + 1) & mask
    }
    cells[gap] = .vacant
    assert(count >= 0)
    assert(cell(hash, where: { $0 == place }) == nil, "place=\(place) was there twice")
  }

  @inline(__always)
  private func cell(_ hash: KeyHash, where isMatch: (Int) -> Bool) -> Int? {
    guard !cells.isEmpty else { return nil }
    assert(count < cells.count, "a search without an end")
    let mask = cells.count - 1
    var cell = Int(truncatingIfNeeded: hash.bits) & mask
    while cells[cell].place >= 0 {
      if cells[cell].hash == hash.bits, isMatch(cells[cell].place) { return cell }
      cell = (cell + 1) & mask
    }
    return nil
  }

  private mutating func putCell(_ entry: Cell) {
    assert(entry.place >= 0, "a vacant cell")
    let mask = cells.count - 1
    var cell = Int(truncatingIfNeeded: entry.hash) & mask
    while cells[cell].place >= 0 { cell = (cell + 1) & mask }
    cells[cell] = entry
  }

  private mutating func grow() {
    let old = cells
    cells = Array(repeating: .vacant, count: max(old.count * 2, 4))
    for entry in old where entry.place >= 0 { putCell(entry) }
    assert(cells.count & (cells.count - 1) == 0, "\(cells.count) cells are no power of two")
    assert(cells.count > count)
  }
}

/// The hash of a name, of other bytes, or of a number.
///
/// Bytes are hashed eight at a time. The factor is random in each process, so that no client can
/// choose names that collide. The hash of a number is reversible, so it stands for the number. The
/// hash scatters consecutive numbers: in neighbouring cells they would be one long run, which each
/// removal would read.
package struct KeyHash: Hashable, Sendable {
  let bits: UInt64

  package init(_ number: UInt64) {
    // The odd number nearest to 2^64 divided by the golden ratio.
    let product = number &* 0x9E37_79B9_7F4A_7C15
    bits = product ^ product >> 32
  }

  package init(_ name: String) { self.init(name.utf8.span) }

  package init(_ bytes: Span<UInt8>) {
    let factor = Self.factor
    // The length is multiplied too. Unmultiplied, a chosen first byte could cancel it.
    var hash = factor &* UInt64(truncatingIfNeeded: bytes.count)
    var index = 0
    // Two words at a time, because an encoded bar has 600 bytes.
    while index < bytes.count - 16 {
      // Both words are in bounds by the loop's condition.
      let first = unsafe ByteWord(unchecked: bytes, at: index).bits
      let second = unsafe ByteWord(unchecked: bytes, at: index &+ 8).bits
      hash = Self.mix(hash ^ first, factor ^ second)
      index &+= 16
    }
    if index < bytes.count - 8 {
      hash = Self.mix(hash ^ ByteWord(bytes, at: index).bits, factor)
    }
    if bytes.count >= 8 {
      // The last eight bytes may overlap those hashed before.
      hash = Self.mix(hash ^ ByteWord(bytes, at: bytes.count - 8).bits, factor)
    } else {
      var rest: UInt64 = 0
      for index in bytes.indices { rest = rest << 8 | UInt64(bytes[index]) }
      hash = Self.mix(hash ^ rest, factor)
    }
    bits = hash
  }

  @inline(__always)
  private static func mix(_ bits: UInt64, _ factor: UInt64) -> UInt64 {
    let product = bits.multipliedFullWidth(by: factor)
    return product.high ^ product.low
  }

  private static let factor = UInt64(UInt(bitPattern: Hasher().finalize())) | 1
}

/// Finds places, such as indexes of an array, by the numbers of navs or connections.
///
/// Navs and connections get consecutive numbers, so most numbers are neighbours. Sixteen neighbours
/// share one cell of a `HashIndex` and 64 bytes of places. With a cell for each number, a start of the
/// daemon with 100,000 navs took 1.1 to 1.7 times as long, depending on the processor.
package struct NumberIndex: Sendable {
  private static let blockSize = 16

  /// Finds the index in `places` at which a block begins, by its numbers divided by `blockSize`.
  private var blocks = HashIndex()
  // Law: a block that `blocks` knows has a place; one that it does not know is in `freeBlocks`.
  /// The places, block by block; -1 for a number without one.
  private var places: [Int32] = []
  /// The indexes in `places` at which unused blocks begin; `addBlock` uses them again.
  private var freeBlocks: [Int] = []
  package private(set) var count = 0

  package init() {}

  package func find(_ number: UInt64) -> Int? {
    guard let position = position(of: number), places[position] >= 0 else { return nil }
    return Int(places[position])
  }

  /// Adds the place, from 0 to 2^31 - 1, of a number that has none.
  package mutating func insert(_ place: Int, _ number: UInt64) {
    precondition(place >= 0 && place <= Int32.max, "place=\(place)")
    let position = position(of: number) ?? addBlock(of: number)
    precondition(places[position] < 0, "number \(number) has a place")
    places[position] = Int32(place)
    count += 1
  }

  /// Replaces the place of a number, which must have one, by another one from 0 to 2^31 - 1.
  package mutating func replace(_ number: UInt64, by new: Int) {
    precondition(new >= 0 && new <= Int32.max, "place=\(new)")
    places[requiredPosition(of: number)] = Int32(new)
  }

  /// Removes the place of a number, which must have one.
  package mutating func remove(_ number: UInt64) {
    let position = requiredPosition(of: number)
    places[position] = -1
    count -= 1
    let start = position - position % Self.blockSize
    for next in start..<start + Self.blockSize where places[next] >= 0 { return }
    blocks.remove(start, Self.block(of: number))
    freeBlocks.append(start)
    assert(count > 0 || blocks.count == 0, "\(blocks.count) blocks without a place")
  }

  private static func block(of number: UInt64) -> KeyHash { KeyHash(number / UInt64(blockSize)) }

  /// The position in `places` that the number has; nil if its block has no place.
  @inline(__always)
  private func position(of number: UInt64) -> Int? {
    guard let start = blocks.find(number / UInt64(Self.blockSize)) else { return nil }
    assert(start % Self.blockSize == 0)
    return start + Int(number % UInt64(Self.blockSize))
  }

  private func requiredPosition(of number: UInt64) -> Int {
    guard let position = position(of: number), places[position] >= 0 else {
      preconditionFailure("number \(number) has no place")
    }
    return position
  }

  /// Makes a block for a number, and returns the position of the number.
  private mutating func addBlock(of number: UInt64) -> Int {
    let start = freeBlocks.popLast() ?? places.count
    if start == places.count {
      places.append(contentsOf: repeatElement(-1, count: Self.blockSize))
    }
    blocks.insert(start, Self.block(of: number))
    return start + Int(number % UInt64(Self.blockSize))
  }
}
