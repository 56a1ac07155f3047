/// The name of a nav: `[a-z0-9][a-z0-9._/-]{0,127}`, or one that begins with `$`.
///
/// A virtual nav, such as `$navs`, is a list that the daemon computes and that clients can watch.
package struct NavName: Hashable, Comparable, Sendable {
  package let text: String

  /// Makes the name of an ordinary nav; nil if `text` does not follow the grammar.
  ///
  /// The names that begin with `$` give nil too.
  package init?(_ text: String) {
    guard Grammar.isNavName(text.utf8.span) else { return nil }
    self.text = text
  }

  private init(virtual text: String) {
    self.text = text
    assert(isVirtual, "\(text) is a name that clients may choose")
  }

  /// The virtual nav that lists all navs.
  package static let navs = NavName(virtual: "$navs")
  /// The virtual nav that lists all sessions.
  package static let clients = NavName(virtual: "$clients")

  /// The virtual nav that lists all navs with their newest revisions.
  package static let heads = NavName(virtual: "$heads")
  /// The nav whose settings have the appearance of all bars; unlike virtual navs, it is stored.
  package static let appearance = NavName(virtual: "$appearance")
  /// The virtual navs, in the order of their slots in the hub.
  package static let virtualNames = [navs, clients, heads]

  /// Whether a text is the name of a virtual nav that exists.
  package static func isVirtualName(_ text: String) -> Bool {
    text.utf8.first == UInt8(ascii: "$") && virtualNames.contains { $0.text == text }
  }

  /// Whether the name begins with `$`; clients cannot choose such names.
  package var isVirtual: Bool { text.utf8.first == UInt8(ascii: "$") }

  /// Compares the bytes of the names; `$navs` has the navs in this order.
  package static func < (left: NavName, right: NavName) -> Bool {
    left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
  }
}

/// The identity of a screen within its nav: `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`.
///
/// An id of at most 16 bytes lies in the value itself. A String of 16 bytes takes 64 more in the
/// heap: a sixth of the memory of a nav.
package struct ScreenID: Hashable, Sendable, CustomStringConvertible {
  /// The first 16 bytes, the first one lowest, padded with zeros, which no id has.
  private let first, second: UInt64
  /// All bytes of an id of more than 16; else nil.
  private let long: [UInt8]?

  package init?(_ text: String) { self.init(text.utf8.span) }

  package init?(_ bytes: Span<UInt8>) {
    guard Grammar.isID(bytes) else { return nil }
    self.init(checked: bytes)
  }

  /// Makes the id of bytes that have been those of an id before.
  @inline(__always)
  package init(checked bytes: Span<UInt8>) {
    assert(Grammar.isID(bytes))
    long = bytes.count > 16 ? [UInt8](copying: bytes) : nil
    guard bytes.count >= 8 else {
      (first, second) = (ByteWord(padding: bytes).bits & (1 &<< (bytes.count &* 8) &- 1), 0)
      return
    }
    first = ByteWord(bytes, at: 0).bits
    // The second word may overlap the first.
    let size = min(bytes.count, 16)
    second = size > 8 ? ByteWord(bytes, at: size &- 8).bits &>> ((16 &- size) &* 8) : 0
  }

  /// The id `s<rev>.<k>`, which the daemon assigns to the `ordinal`-th new screen of a revision.
  package init(assignedAt revision: Revision, ordinal: Int) {
    assert(ordinal > 0)
    self.init(checked: "s\(revision.number).\(ordinal)".utf8.span)
    assert(isAssignedForm, "\(text) could be a client's")
  }

  /// Whether the daemon assigns identifiers of this form, so that clients may not choose it.
  package var isAssignedForm: Bool {
    withBytes { Grammar.isAssignedForm($0, prefix: UInt8(ascii: "s")) }
  }

  /// The id as a String, which each call makes; `withBytes` lends the bytes.
  package var text: String { withBytes { String(ascii: $0) } }
  package var description: String { text }

  /// The number of bytes, 1 to 64.
  package var byteCount: Int {
    long?.count ?? 16
      &- (second == 0 ? 64 &+ first.leadingZeroBitCount : second.leadingZeroBitCount) &>> 3
  }

  /// The bytes of an id of at most 16 in two words, the first byte lowest; nil for a longer one.
  @inline(__always)
  package var words: (first: UInt64, second: UInt64)? { long == nil ? (first, second) : nil }

  /// Makes the id that has these `words`.
  @inline(__always)
  package init(words: (first: UInt64, second: UInt64)) {
    (first, second, long) = (words.first, words.second, nil)
  }

  /// Calls `body` with the bytes, 1 to 64.
  @inline(__always)
  package func withBytes<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
    if let long { return body(long.span) }
    // The closure uses the bytes at most as long as the copy of the words lives.
    return unsafe withUnsafeBytes(of: (first.littleEndian, second.littleEndian)) { words in
      body(unsafe words.bindMemory(to: UInt8.self).span.extracting(first: byteCount))
    }
  }
}

/// The identity of a bar button within its nav, with the grammar of `ScreenID`.
package struct ButtonID: Hashable, Sendable {
  package let text: String

  package init?(_ text: String) {
    guard Grammar.isID(text.utf8.span) else { return nil }
    self.text = text
  }

  /// The id `b<rev>.<k>`, which the daemon assigns to the `ordinal`-th new button of a revision.
  package init(assignedAt revision: Revision, ordinal: Int) {
    assert(ordinal > 0)
    text = "b\(revision.number).\(ordinal)"
    assert(isAssignedForm, "\(text) could be a client's")
  }

  /// Whether the daemon assigns identifiers of this form, so that clients may not choose it.
  package var isAssignedForm: Bool {
    Grammar.isAssignedForm(text.utf8.span, prefix: UInt8(ascii: "b"))
  }
}

/// The number of a state within its epoch: 1 at creation, one more with every commit.
package struct Revision: Hashable, Comparable, Sendable {
  /// The number as it stands on the wire, 0 … 2^53−1.
  package var number: UInt64

  package init(_ number: UInt64) { self.number = number }

  package var next: Revision {
    assert(number < 1 << 53, "no number on the wire")
    return Revision(number + 1)
  }

  /// Compares two revisions of one epoch.
  package static func < (left: Revision, right: Revision) -> Bool { left.number < right.number }
}

/// 64 random bits that identify one history of a nav's revisions; as text 16 lower-case hex digits.
///
/// Revisions of different epochs are not comparable. A nav that is created again has a new epoch.
package struct Epoch: Hashable, Sendable {
  package let bits: UInt64

  package init(bits: UInt64) { self.bits = bits }

  package init?(_ text: String) {
    guard text.utf8.count == 16, text.utf8.allSatisfy(Grammar.isLowerHex),
      let bits = UInt64(text, radix: 16)
    else { return nil }
    self.bits = bits
  }

  package var text: String { hexText(bits, digits: 16) }
}

/// The number as `count` lower-case hex digits with leading zeros; the number must fit into them.
package func hexText(_ bits: UInt64, digits count: Int) -> String {
  let digits = String(bits, radix: 16)
  return String(repeating: "0", count: count - digits.utf8.count) + digits
}

/// The validated bytes of one JSON value, kept as the sender wrote them.
package struct OpaqueJSON: Hashable, Sendable {
  /// The bytes of the value, without white space around it.
  package let bytes: [UInt8]

  /// Takes bytes that the codec has validated.
  package init(validated bytes: [UInt8]) {
    assert(!bytes.isEmpty, "no value")
    self.bytes = bytes
  }
}

/// Checks of names and ids by the grammars of the protocol.
package enum Grammar {
  /// Whether a text is an id: `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`.
  package static func isID(_ text: Span<UInt8>) -> Bool {
    guard !text.isEmpty, text.count <= 64, isAlphanumeric(text[0]) else { return false }
    for index in text.indices where !isAlphanumeric(text[index]) && !isPunctuation(text[index]) {
      return false
    }
    return true
  }

  /// Whether a text is the name of a nav: `[a-z0-9][a-z0-9._/-]{0,127}`.
  package static func isNavName(_ text: Span<UInt8>) -> Bool {
    guard !text.isEmpty, text.count <= 128, isLowerAlphanumeric(text[0]) else { return false }
    for index in text.indices
    where !isLowerAlphanumeric(text[index]) && !isPunctuation(text[index]) && text[index] != 0x2F {
      return false
    }
    return true
  }

  /// Whether a byte is one of `._-`.
  static func isPunctuation(_ byte: UInt8) -> Bool {
    byte == 0x2D || byte == 0x2E || byte == 0x5F
  }

  /// Whether a text has the form of ids that the daemon assigns: `<prefix><digits>.<digits>`.
  package static func isAssignedForm(_ text: Span<UInt8>, prefix: UInt8) -> Bool {
    assert(isLowerAlphanumeric(prefix))
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

  /// Whether a byte is a lower-case hex digit: `0-9a-f`.
  package static func isLowerHex(_ byte: UInt8) -> Bool {
    isDigit(byte) || (byte >= 0x61 && byte <= 0x66)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 <= 9 }

  private static func isLowerAlphanumeric(_ byte: UInt8) -> Bool {
    byte &- 0x61 <= 25 || isDigit(byte)
  }

  /// Whether a text has the form of a language tag of BCP 47.
  package static func isLanguageTag(_ text: String) -> Bool {
    let subtags = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    return text.utf8.count <= 64
      && subtags.allSatisfy { (1...8).contains($0.count) && $0.allSatisfy(isAlphanumeric) }
      && !subtags[0].contains(where: isDigit)
  }

  static func isAlphanumeric(_ byte: UInt8) -> Bool {
    // Setting this bit turns capitals into small letters, and no other byte into a letter.
    (byte | 0x20) &- 0x61 <= 25 || isDigit(byte)
  }
}

// In the order of the digest.
/// The name of one of the six parts of a nav's state that it has beside the stack.
package enum PartName: UInt8, CaseIterable, Sendable {
  /// The properties that clients set of the navigation bar.
  case bar
  /// The properties that clients set of the toolbar.
  case toolbar
  /// The presented screens.
  case presented
  /// The open transition.
  case transition
  /// The properties of the display.
  case environment
  /// The settings of the nav.
  case settings
}

/// Eight bytes of a text in one number; the first byte is the lowest.
package struct ByteWord {
  package let bits: UInt64

  @inline(__always)
  init(bits: UInt64) { self.bits = bits }

  /// Loads eight bytes of a text from `index` on; the text must have that many.
  @inline(__always)
  package init(_ text: Span<UInt8>, at index: Int) {
    // A span that is too short makes the second number negative.
    precondition(text.count >= 8 && UInt(bitPattern: index) <= UInt(bitPattern: text.count &- 8))
    // The precondition checked the bounds, and every pattern of bits is a number.
    unsafe self.init(unchecked: text, at: index)
  }

  /// Loads eight bytes of a text from `index` on, without a check of the bounds.
  @unsafe
  @inline(__always)
  package init(unchecked text: Span<UInt8>, at index: Int) {
    bits = UInt64(
      littleEndian: unsafe text.bytes.unsafeLoadUnaligned(
        fromUncheckedByteOffset: index, as: UInt64.self))
  }

  /// The number 1 in each of the eight bytes.
  static var oneInEachByte: UInt64 {
    @inline(__always) get { 0x0101_0101_0101_0101 }
  }
  /// The highest bit of each of the eight bytes.
  static var highBits: UInt64 {
    @inline(__always) get { 0x8080_8080_8080_8080 }
  }
}

extension String {
  /// Makes a string of bytes that are all ASCII, which the caller has checked.
  init(ascii bytes: Span<UInt8>) {
    assert(unsafe bytes.withUnsafeBufferPointer { unsafe $0.allSatisfy { $0 < 0x80 } })
    guard bytes.count <= 15 else {
      self.init(copying: unsafe UTF8Span(unchecked: bytes, isKnownASCII: true))
      return
    }
    // A string of at most 15 bytes has no storage. This initialiser fills it by a copy, where the
    // other one shifts it in byte by byte: 60 instructions less an op.
    unsafe self.init(unsafeUninitializedCapacity: 15) { target in
      unsafe bytes.withUnsafeBufferPointer { source in
        _ = unsafe target.initialize(fromContentsOf: source)
      }
      return bytes.count
    }
  }
}
