/// A set of part names, a bit each: it is copied and emptied for nothing.
package struct PartSet: Equatable, Sendable {
  private var bits: UInt8 = 0

  /// Makes an empty set.
  package init() {}

  /// Whether no part is in the set.
  package var isEmpty: Bool { bits == 0 }

  /// Whether a part is in the set.
  package func contains(_ part: PartName) -> Bool { bits & Self.bit(of: part) != 0 }

  /// Puts a part in.
  package mutating func insert(_ part: PartName) { bits |= Self.bit(of: part) }

  /// Takes a part out.
  package mutating func remove(_ part: PartName) { bits &= ~Self.bit(of: part) }

  private static func bit(of part: PartName) -> UInt8 { 1 << part.rawValue }
}

extension PartSet: Sequence {
  /// The parts in the order of the digest.
  package func makeIterator() -> LazyFilterSequence<[PartName]>.Iterator {
    PartName.allCases.lazy.filter(contains).makeIterator()
  }
}

extension PartSet: ExpressibleByArrayLiteral {
  /// Makes a set of some parts.
  package init(arrayLiteral parts: PartName...) {
    for part in parts { insert(part) }
  }
}
