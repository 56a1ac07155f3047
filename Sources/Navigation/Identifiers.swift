/// The name of a nav: `[a-z0-9][a-z0-9._/-]{0,127}`, or a virtual nav's name, which begins with `$`.
package struct NavName: Hashable, Comparable, Sendable {
  /// The name as it stands on the wire.
  package let text: String

  /// Makes a name, or returns nil if `text` does not follow the grammar; virtual names are refused.
  package init?(_ text: String) {
    guard Grammar.isNavName(text.utf8) else { return nil }
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
    guard Grammar.isID(text.utf8) else { return nil }
    self.text = text
  }

  /// The identifier the daemon assigns to the `ordinal`-th new screen of a revision: `s<rev>.<k>`.
  package init(assignedAt revision: Revision, ordinal: Int) {
    text = "s\(revision.number).\(ordinal)"
  }

  /// Whether a client may not choose this identifier because the daemon assigns such ones.
  package var isAssignedForm: Bool { Grammar.isAssignedForm(text.utf8, prefix: UInt8(ascii: "s")) }
}

/// The identity of a bar button within its nav, with the grammar of `ScreenID`.
package struct ButtonID: Hashable, Sendable {
  /// The identifier as it stands on the wire.
  package let text: String

  /// Makes an identifier, or returns nil if `text` does not follow the grammar.
  package init?(_ text: String) {
    guard Grammar.isID(text.utf8) else { return nil }
    self.text = text
  }

  /// The identifier the daemon assigns to the `ordinal`-th new button of a revision: `b<rev>.<k>`.
  package init(assignedAt revision: Revision, ordinal: Int) {
    text = "b\(revision.number).\(ordinal)"
  }

  /// Whether a client may not choose this identifier because the daemon assigns such ones.
  package var isAssignedForm: Bool { Grammar.isAssignedForm(text.utf8, prefix: UInt8(ascii: "b")) }
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
  /// `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`.
  package static func isID(_ text: some Collection<UInt8>) -> Bool {
    guard let first = text.first, text.count <= 64, isAlphanumeric(first) else { return false }
    return text.allSatisfy { isAlphanumeric($0) || $0 == 0x2E || $0 == 0x5F || $0 == 0x2D }
  }

  /// `[a-z0-9][a-z0-9._/-]{0,127}`.
  package static func isNavName(_ text: some Collection<UInt8>) -> Bool {
    guard let first = text.first, text.count <= 128, isLowerAlphanumeric(first) else {
      return false
    }
    return text.allSatisfy {
      isLowerAlphanumeric($0) || $0 == 0x2E || $0 == 0x5F || $0 == 0x2F || $0 == 0x2D
    }
  }

  /// `<prefix><digits>.<digits>`, the form of identifiers that the daemon assigns.
  package static func isAssignedForm(_ text: some Collection<UInt8>, prefix: UInt8) -> Bool {
    var digits = 0
    var dots = 0
    for (offset, byte) in text.enumerated() {
      if offset == 0 {
        guard byte == prefix else { return false }
      } else if byte == 0x2E {
        guard digits > 0, dots == 0 else { return false }
        dots = 1
        digits = 0
      } else {
        guard isDigit(byte) else { return false }
        digits += 1
      }
    }
    return dots == 1 && digits > 0
  }

  /// `0-9a-f`.
  package static func isLowerHex(_ byte: UInt8) -> Bool {
    isDigit(byte) || (byte >= 0x61 && byte <= 0x66)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

  private static func isLowerAlphanumeric(_ byte: UInt8) -> Bool {
    isDigit(byte) || (byte >= 0x61 && byte <= 0x7A)
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    isLowerAlphanumeric(byte) || (byte >= 0x41 && byte <= 0x5A)
  }
}
