// Texts are octets: two texts are the same exactly if their octets in UTF-8 are.
//
// Swift's String goes by canonical equivalence: "é" as one scalar equals "é" as two, and the sign of
// kelvin equals "K". In every file that imports this module the operators below shadow Swift's, also
// in conformances that the compiler makes. Generic code does not see them, hence `Text` as the key
// of sets and dictionaries. TextObjectTests find every other use in what the compiler makes.

/// A string that compares and hashes by its UTF-8 octets, as a key of sets and dictionaries.
package struct Text: Hashable, Comparable, Sendable, ExpressibleByStringLiteral {
  package let string: String

  package init(_ string: String) { self.string = string }

  package init(stringLiteral string: String) { self.string = string }

  /// Compares the octets of the strings.
  package static func < (left: Text, right: Text) -> Bool { left.string < right.string }
}

extension String {
  @inline(__always)
  package static func == (left: String, right: String) -> Bool {
    // Equal bits, of a short text or of one storage, are equal texts; others are compared.
    unsafe unsafeBitCast(left, to: (UInt64, UInt64).self)
      == unsafeBitCast(right, to: (UInt64, UInt64).self)
      || left.utf8.count == right.utf8.count && left.utf8.span.hasSameBytes(as: right.utf8.span)
  }

  package static func != (left: String, right: String) -> Bool { !(left == right) }

  package var jsonOctets: Int { utf8.span.jsonOctets }

  /// Matches a string with a case of a `switch`, by its octets.
  package static func ~= (pattern: String, text: String) -> Bool { pattern == text }

  /// The parts between slashes, split by octets: Swift joins a slash and a combining mark after it.
  package var slashSeparatedParts: [String] {
    utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
  }

  package static func < (left: String, right: String) -> Bool {
    left.utf8.lexicographicallyPrecedes(right.utf8)
  }
}

extension String? {
  package static func == (left: String?, right: String?) -> Bool {
    switch (left, right) {
    case (let left?, let right?): left == right
    case (nil, nil): true
    case (_?, nil), (nil, _?): false
    }
  }

  package static func != (left: String?, right: String?) -> Bool { !(left == right) }

  // For literals, for which the compiler takes Swift's operator otherwise.

  package static func == (left: String?, right: String) -> Bool {
    left.map { $0 == right } ?? false
  }

  package static func != (left: String?, right: String) -> Bool { !(left == right) }

  package static func ~= (pattern: String?, text: String?) -> Bool { pattern == text }
}

extension [String] {
  package static func == (left: [String], right: [String]) -> Bool {
    left.elementsEqual(right) { $0 == $1 }
  }

  package static func != (left: [String], right: [String]) -> Bool { !(left == right) }
}

extension String?? {
  package static func == (left: String??, right: String??) -> Bool {
    switch (left, right) {
    case (let left??, let right??): left == right
    case (nil, nil), (.some(nil), .some(nil)): true
    case _: false
    }
  }

  package static func != (left: String??, right: String??) -> Bool { !(left == right) }
}

extension Sequence<String> {
  package func contains(_ text: String) -> Bool { contains { $0 == text } }

  package func sorted() -> [String] { sorted { $0 < $1 } }
}

extension Span<UInt8> {
  /// The number of octets of the text as a JSON string by `JSONWriter`, without the quotes.
  package var jsonOctets: Int {
    var (octets, index) = (count, ByteWord.firstToEscape(in: self, from: 0))
    while index < count {
      let byte = self[index]
      let isShort = byte == 0x22 || byte == 0x5C || byte == 0x0A || byte == 0x0D || byte == 0x09
      octets += isShort ? 1 : 5
      index = ByteWord.firstToEscape(in: self, from: index + 1)
    }
    return octets
  }

  /// Whether two spans have the same bytes; compares eight bytes at a time.
  package func hasSameBytes(as other: Span<UInt8>) -> Bool {
    guard count == other.count else { return false }
    var index = 0
    while index < count - 8 {
      guard ByteWord(self, at: index).bits == ByteWord(other, at: index).bits else { return false }
      index += 8
    }
    // The last eight bytes may overlap those compared before.
    if count >= 8 {
      return ByteWord(self, at: count - 8).bits == ByteWord(other, at: count - 8).bits
    }
    while index < count {
      guard self[index] == other[index] else { return false }
      index += 1
    }
    return true
  }
}
