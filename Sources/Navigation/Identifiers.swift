/// The name of a nav: `[a-z0-9][a-z0-9._/-]{0,127}`, or a virtual nav's name, which begins with `$`.
package struct NavName: Hashable, Comparable, Sendable {
  /// The name as it stands on the wire.
  package let text: String

  /// Makes a name, or returns nil if `text` does not follow the grammar; virtual names are refused.
  package init?(_ text: String) {
    guard Grammar.isNavName(text.utf8.span) else { return nil }
    self.text = text
  }

  private init(virtual text: String) { self.text = text }

  /// The directory of all navs.
  package static let navs = NavName(virtual: "$navs")
  /// The list of all sessions.
  package static let clients = NavName(virtual: "$clients")

  /// Whether this names a virtual nav.
  package var isVirtual: Bool { text.utf8.first == UInt8(ascii: "$") }

  /// Byte order, the order of `$navs`.
  package static func < (left: NavName, right: NavName) -> Bool {
    left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
  }
}

/// The identity of a screen within its nav: `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`.
package struct ScreenID: Hashable, Sendable {
  /// The identifier as it stands on the wire.
  package let text: String

  /// Makes an identifier, or returns nil if `text` does not follow the grammar.
  package init?(_ text: String) {
    guard Grammar.isID(text.utf8.span) else { return nil }
    self.text = text
  }

  /// Makes an identifier from its bytes, or returns nil if they do not follow the grammar.
  package init?(_ bytes: Span<UInt8>) {
    guard let text = Grammar.id(bytes) else { return nil }
    self.text = text
  }

  /// The identifier the daemon assigns to the `ordinal`-th new screen of a revision: `s<rev>.<k>`.
  package init(assignedAt revision: Revision, ordinal: Int) {
    text = "s\(revision.number).\(ordinal)"
  }

  /// Whether a client may not choose this identifier because the daemon assigns such ones.
  package var isAssignedForm: Bool {
    Grammar.isAssignedForm(text.utf8.span, prefix: UInt8(ascii: "s"))
  }
}

/// The identity of a bar button within its nav, with the grammar of `ScreenID`.
package struct ButtonID: Hashable, Sendable {
  /// The identifier as it stands on the wire.
  package let text: String

  /// Makes an identifier, or returns nil if `text` does not follow the grammar.
  package init?(_ text: String) {
    guard Grammar.isID(text.utf8.span) else { return nil }
    self.text = text
  }

  /// Makes an identifier from its bytes, or returns nil if they do not follow the grammar.
  package init?(_ bytes: Span<UInt8>) {
    guard let text = Grammar.id(bytes) else { return nil }
    self.text = text
  }

  /// The identifier the daemon assigns to the `ordinal`-th new button of a revision: `b<rev>.<k>`.
  package init(assignedAt revision: Revision, ordinal: Int) {
    text = "b\(revision.number).\(ordinal)"
  }

  /// Whether a client may not choose this identifier because the daemon assigns such ones.
  package var isAssignedForm: Bool {
    Grammar.isAssignedForm(text.utf8.span, prefix: UInt8(ascii: "b"))
  }
}

/// The number of a state within its epoch: 1 at creation, one more with every commit.
package struct Revision: Hashable, Comparable, Sendable {
  /// The number as it stands on the wire, 0 … 2^53−1.
  package var number: UInt64

  /// Makes a revision from its number.
  package init(_ number: UInt64) { self.number = number }

  /// The revision after this one.
  package var next: Revision { Revision(number + 1) }

  /// Order within one epoch.
  package static func < (left: Revision, right: Revision) -> Bool { left.number < right.number }
}

/// 64 random bits that name one life of a nav; written as 16 lower-case hex digits.
///
/// Revisions of different epochs are not comparable.
package struct Epoch: Hashable, Sendable {
  /// The bits.
  package let bits: UInt64

  /// Makes an epoch from its bits.
  package init(bits: UInt64) { self.bits = bits }

  /// Reads 16 hex digits; nil for anything else.
  package init?(_ text: String) {
    guard text.utf8.count == 16, text.utf8.allSatisfy(Grammar.isLowerHex),
      let bits = UInt64(text, radix: 16)
    else { return nil }
    self.bits = bits
  }

  /// The 16 hex digits.
  package var text: String {
    let digits = String(bits, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }
}

/// JSON that is kept as it came, unread: validated bytes of one value.
package struct OpaqueJSON: Hashable, Sendable {
  /// The bytes of the value, without white space around it.
  package let bytes: [UInt8]

  /// Takes bytes that the codec has validated.
  package init(validated bytes: [UInt8]) { self.bytes = bytes }
}

/// The grammars of names, over ASCII bytes.
package enum Grammar {
  // Names are read with every message, hence by spans: a collection of any kind costs several times
  // as much a byte.

  /// `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`.
  package static func isID(_ text: Span<UInt8>) -> Bool {
    guard !text.isEmpty, text.count <= 64, isAlphanumeric(text[0]) else { return false }
    // From - on: - and ., the digits, the capitals, _.
    let others: UInt64 = 0x3 | 0x3FF << 3 | 0x3FF_FFFF << 20 | 1 << 50
    for index in 1..<text.count where !isSmallLetter(text[index], or: others) { return false }
    return true
  }

  /// The text of bytes that are an identifier, or nil.
  static func id(_ bytes: Span<UInt8>) -> String? {
    guard isID(bytes) else { return nil }
    // The grammar knows no byte but ASCII.
    return String(copying: unsafe UTF8Span(unchecked: bytes, isKnownASCII: true))
  }

  /// `[a-z0-9][a-z0-9._/-]{0,127}`.
  package static func isNavName(_ text: Span<UInt8>) -> Bool {
    guard !text.isEmpty, text.count <= 128, isLowerAlphanumeric(text[0]) else { return false }
    // From - on: - and . and /, the digits, _.
    let others: UInt64 = 0x7 | 0x3FF << 3 | 1 << 50
    for index in 1..<text.count where !isSmallLetter(text[index], or: others) { return false }
    return true
  }

  /// `<prefix><digits>.<digits>`, the form of identifiers that the daemon assigns.
  package static func isAssignedForm(_ text: Span<UInt8>, prefix: UInt8) -> Bool {
    guard !text.isEmpty, text[0] == prefix else { return false }
    var digits = 0
    var dots = 0
    for index in 1..<text.count {
      if text[index] == 0x2E {
        guard digits > 0, dots == 0 else { return false }
        dots = 1
        digits = 0
      } else {
        guard isDigit(text[index]) else { return false }
        digits += 1
      }
    }
    return dots == 1 && digits > 0
  }

  /// `0-9a-f`.
  package static func isLowerHex(_ byte: UInt8) -> Bool {
    isDigit(byte) || (byte >= 0x61 && byte <= 0x66)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 <= 9 }

  /// Whether a byte is a small letter, or one of others, which have a bit each, that of - first.
  @inline(__always)
  private static func isSmallLetter(_ byte: UInt8, or others: UInt64) -> Bool {
    if byte &- 0x61 <= 25 { return true }
    let place = byte &- 0x2D
    return place < 64 && others &>> UInt64(place) & 1 != 0
  }

  private static func isLowerAlphanumeric(_ byte: UInt8) -> Bool {
    byte &- 0x61 <= 25 || isDigit(byte)
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    // With this bit set, a capital is a small letter, and nothing else becomes one.
    (byte | 0x20) &- 0x61 <= 25 || isDigit(byte)
  }
}
