/// Finds places by the hashes of what stands there.
///
/// It keeps neither keys nor values: the owner compares what stands at a place. An entry takes 8 bytes, a
/// look-up about a quarter of the instructions of `Dictionary`, which hashes a text by SipHash.
package struct PlaceIndex: Sendable {
  private struct Cell: Sendable {
    var hash: UInt32
    /// -1 where nothing is.
    var place: Int32

    static let vacant = Cell(hash: 0, place: -1)
  }

  // Law: a power of two or none, at most half of them taken; from the cell that a hash names to where
  // its entry is, no cell is vacant.
  private var cells: [Cell] = []
  /// The number of places.
  package private(set) var count = 0

  /// Makes an empty index.
  package init() {}

  /// The place with a hash at which the right thing stands; nil if there is none.
  package func find(_ hash: NameHash, where isRight: (Int) -> Bool) -> Int? {
    cell(hash, where: isRight).map { Int(cells[$0].place) }
  }

  /// Adds a place that is not there.
  package mutating func insert(_ place: Int, _ hash: NameHash) {
    precondition(place >= 0 && place < Int32.max, "place=\(place)")
    if (count + 1) * 2 > cells.count { grow() }
    count += 1
    put(Cell(hash: hash.bits, place: Int32(place)))
  }

  /// Puts another place in the stead of one that is there.
  package mutating func replace(_ place: Int, _ hash: NameHash, by new: Int) {
    precondition(new >= 0 && new < Int32.max, "place=\(new)")
    guard let cell = cell(hash, where: { $0 == place }) else {
      preconditionFailure("place=\(place) is not there")
    }
    cells[cell].place = Int32(new)
  }

  /// Removes a place that is there.
  package mutating func remove(_ place: Int, _ hash: NameHash) {
    guard var gap = cell(hash, where: { $0 == place }) else {
      preconditionFailure("place=\(place) is not there")
    }
    count -= 1
    let mask = cells.count - 1
    // Whatever was pushed beyond the gap moves back into it, so that it is found without it.
    var next = (gap + 1) & mask
    while cells[next].place >= 0 {
      let distance = (next - Int(cells[next].hash)) & mask
      if distance >= (next - gap) & mask {
        cells[gap] = cells[next]
        gap = next
      }
      next = (next + 1) & mask
    }
    cells[gap] = .vacant
  }

  @inline(__always)
  private func cell(_ hash: NameHash, where isRight: (Int) -> Bool) -> Int? {
    guard !cells.isEmpty else { return nil }
    let mask = cells.count - 1
    var cell = Int(hash.bits) & mask
    while cells[cell].place >= 0 {
      if cells[cell].hash == hash.bits, isRight(Int(cells[cell].place)) { return cell }
      cell = (cell + 1) & mask
    }
    return nil
  }

  private mutating func put(_ entry: Cell) {
    let mask = cells.count - 1
    var cell = Int(entry.hash) & mask
    while cells[cell].place >= 0 { cell = (cell + 1) & mask }
    cells[cell] = entry
  }

  private mutating func grow() {
    let old = cells
    cells = Array(repeating: .vacant, count: max(old.count * 2, 4))
    for entry in old where entry.place >= 0 { put(entry) }
  }
}

/// The hash of a name, eight bytes at a time.
///
/// Its factor is random and differs between runs, so that nobody can choose names that collide.
package struct NameHash: Hashable, Sendable {
  /// The 32-bit hash of the name.
  package let bits: UInt32

  /// Hashes a name.
  package init(_ name: String) {
    let name = name.utf8.span
    let factor = Self.factor
    // The length goes in by the factor, too: as it is, a first byte could make up for it.
    var hash = factor &* UInt64(truncatingIfNeeded: name.count)
    var index = 0
    while index < name.count - 8 {
      hash = Self.mix(hash ^ EightBytes(name, at: index).bits, factor)
      index += 8
    }
    if name.count >= 8 {
      // The last eight, some of them once more.
      hash = Self.mix(hash ^ EightBytes(name, at: name.count - 8).bits, factor)
    } else {
      var rest: UInt64 = 0
      for index in name.indices { rest = rest << 8 | UInt64(name[index]) }
      hash = Self.mix(hash ^ rest, factor)
    }
    bits = UInt32(truncatingIfNeeded: hash)
  }

  @inline(__always)
  private static func mix(_ bits: UInt64, _ factor: UInt64) -> UInt64 {
    let product = bits.multipliedFullWidth(by: factor)
    return product.high ^ product.low
  }

  private static let factor = UInt64(UInt(bitPattern: Hasher().finalize())) | 1
}
