import NavigationCore

/// Finds places, such as indexes of an array, by the numbers of navs or connections.
///
/// Such numbers are given one after the other, so most of them are neighbours. Sixteen neighbours
/// share one cell of a `PlaceIndex` and 64 bytes of places. A start looks up the nav of each row
/// twice. With 100,000 navs and a cell for each number, a start took 1.1 to 1.7 times as long, by
/// the processor. An index of one number takes 150 bytes.
package struct NumberIndex: Sendable {
  private static let blockSize = 16

  /// Where in `places` each block begins, by its numbers divided by the size of a block.
  private var blocks = PlaceIndex()
  // Law: a block that `blocks` knows has a place; one that it does not know is in `free`.
  /// The places, block by block; -1 for a number without one.
  private var places: [Int32] = []
  /// Where the blocks begin that have no place.
  private var free: [Int] = []
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
    places[taken(number)] = Int32(new)
  }

  /// Removes the place of a number, which must have one.
  package mutating func remove(_ number: UInt64) {
    let position = taken(number)
    places[position] = -1
    count -= 1
    let start = position - position % Self.blockSize
    for next in start..<start + Self.blockSize where places[next] >= 0 { return }
    blocks.remove(start, Self.block(of: number))
    free.append(start)
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

  private func taken(_ number: UInt64) -> Int {
    guard let position = position(of: number), places[position] >= 0 else {
      preconditionFailure("number \(number) has no place")
    }
    return position
  }

  /// Makes a block for a number, and returns the position of the number.
  private mutating func addBlock(of number: UInt64) -> Int {
    let start = free.popLast() ?? places.count
    if start == places.count {
      places.append(contentsOf: repeatElement(-1, count: Self.blockSize))
    }
    blocks.insert(start, Self.block(of: number))
    return start + Int(number % UInt64(Self.blockSize))
  }
}
