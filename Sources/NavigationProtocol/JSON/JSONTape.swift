/// A JSON text read into a flat list of tokens, without a tree and without copies.
///
/// A token's index names a value; `next` of a token is the index behind its whole subtree. The text
/// has been checked completely: grammar, UTF-8, depth, duplicate members, lone surrogates. The
/// buffers are reused from text to text, so reading costs no allocation once they have grown.
package struct JSONTape: Sendable {
  /// The text.
  package private(set) var bytes: [UInt8] = []
  /// The tokens, and room for more behind them.
  private(set) var tokens: [Token] = []

  /// What a value is.
  package enum Kind: UInt8, Sendable {
    /// The kinds of JSON values; an integer is 0 … 2^53−1 without fraction or exponent.
    case null, no, yes, integer, number, string, array, object
  }

  /// One value or member name of the text.
  package struct Token: Sendable {
    var kind: Kind
    /// Whether a string contains escapes.
    var isEscaped = false
    /// Whether a string is written in ASCII.
    var isASCII = true
    /// Bytes of the value; of a string, without its quotes.
    var start: UInt32
    var end: UInt32
    /// The index of the token behind this value.
    var next: UInt32
    /// What `ShortName` makes of a member's name, where it was seen at once; 0 where it was not.
    var name: UInt64 = 0

    static let blank = Token(kind: .null, start: 0, end: 0, next: 0)
  }

  /// Makes a tape without a text.
  package init() {}

  /// Reads a text that is one JSON value.
  ///
  /// - Parameters:
  ///   - text: UTF-8; the caller has checked its size.
  ///   - maximumDepth: how many arrays and objects may be nested.
  /// - Throws: what is wrong and at which byte; the tape is then empty.
  package mutating func read(_ text: [UInt8], maximumDepth: Int = 32) throws(JSONError) {
    bytes = text
    try scan(text.span, maximumDepth)
  }

  /// Reads a text that is one JSON value, of which it takes a copy.
  ///
  /// - Parameters:
  ///   - text: UTF-8; the caller has checked its size.
  ///   - maximumDepth: how many arrays and objects may be nested.
  /// - Throws: what is wrong and at which byte; the tape is then empty.
  package mutating func read(_ text: Span<UInt8>, maximumDepth: Int = 32) throws(JSONError) {
    bytes.removeAll(keepingCapacity: true)
    unsafe text.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
    try scan(text, maximumDepth)
  }

  private mutating func scan(_ text: Span<UInt8>, _ maximumDepth: Int) throws(JSONError) {
    var scanner = JSONScanner(maximumDepth: maximumDepth)
    do {
      while try !scan(text, &scanner) {
        tokens.append(contentsOf: repeatElement(.blank, count: max(tokens.count, 64)))
      }
    } catch {
      tokens.removeAll(keepingCapacity: true)
      throw error
    }
  }

  @inline(__always)
  private mutating func scan(
    _ text: Span<UInt8>, _ scanner: inout JSONScanner
  ) throws(JSONError) -> Bool {
    // Lent as a span, the tokens are written without asking at each whether they are shared.
    try scanner.scan(text, into: tokens.mutableSpan)
  }

  /// The index of the whole text's value.
  package var root: Int { 0 }

  /// The kind of a value.
  package func kind(_ index: Int) -> Kind { tokens[index].kind }

  /// The index behind a value, which is that of the next one in its array.
  package func next(_ index: Int) -> Int { Int(tokens[index].next) }

  /// The text of a string value, or nil.
  package func string(_ index: Int) -> String? {
    let token = tokens[index]
    guard token.kind == .string else { return nil }
    let range = Int(token.start)..<Int(token.end)
    guard !token.isEscaped else { return JSONText.unescape(bytes[range]) }
    // The scanner has checked that the text is UTF-8.
    return String(
      copying: unsafe UTF8Span(
        unchecked: bytes.span.extracting(range), isKnownASCII: token.isASCII))
  }

  /// Whether a string value has no escapes, so that its bytes are what it reads as.
  @inline(__always)
  package func isPlain(_ index: Int) -> Bool {
    tokens[index].kind == .string && !tokens[index].isEscaped
  }

  /// The bytes of a string value as they stand in the text.
  @inline(__always)
  @_lifetime(borrow self)
  package func text(_ index: Int) -> Span<UInt8> {
    let token = tokens[index]
    return bytes.span.extracting(Int(token.start)..<Int(token.end))
  }

  /// The name of a member, or another string, to compare with short literals.
  @inline(__always)
  package func shortName(_ index: Int) -> ShortName {
    if tokens[index].name != 0 { return ShortName(bits: tokens[index].name) }
    return longName(index)
  }

  private func longName(_ index: Int) -> ShortName {
    let token = tokens[index]
    guard !token.isEscaped else { return ShortName(unescaped: string(index) ?? "") }
    return ShortName(bytes.span, from: Int(token.start), to: Int(token.end))
  }

  /// An integer in 0 … 2^53−1, or nil.
  package func integer(_ index: Int) -> UInt64? {
    let token = tokens[index]
    guard token.kind == .integer else { return nil }
    let text = bytes.span
    let start = Int(token.start)
    let end = Int(token.end)
    // At most 16 digits, so nothing overflows.
    guard end - start > 1, end >= 16 else {
      var value: UInt64 = 0
      for position in start..<end { value = value &* 10 &+ UInt64(text[position] &- 0x30) }
      return value
    }
    let low = ByteWord(text, at: end - 8).number(digits: min(end - start, 8))
    guard end - start > 8 else { return low }
    return ByteWord(text, at: end - 16).number(digits: end - start - 8) &* 100_000_000 &+ low
  }

  /// A truth value, or nil.
  package func bool(_ index: Int) -> Bool? {
    switch tokens[index].kind {
    case .yes: true
    case .no: false
    case .null, .integer, .number, .string, .array, .object: nil
    }
  }

  /// A finite number, or nil.
  package func number(_ index: Int) -> Double? {
    let token = tokens[index]
    guard token.kind == .integer || token.kind == .number else { return nil }
    return Double(String(decoding: bytes[Int(token.start)..<Int(token.end)], as: UTF8.self))
  }

  /// The bytes of any value as they stand in the text.
  package func raw(_ index: Int) -> [UInt8] {
    let token = tokens[index]
    let quote = token.kind == .string ? 1 : 0
    return Array(bytes[Int(token.start) - quote..<Int(token.end) + quote])
  }

  /// The bytes of a value with other bytes in the place of a value inside it.
  package func raw(_ index: Int, replacing inner: Int, by bytes: [UInt8]) -> [UInt8] {
    let outer = tokens[index]
    let hole = tokens[inner]
    var result = Array(self.bytes[Int(outer.start)..<Int(hole.start)])
    result.append(contentsOf: bytes)
    result.append(contentsOf: self.bytes[Int(hole.end)..<Int(outer.end)])
    return result
  }

  /// Where a value that is no string begins among the bytes of a value around it.
  package func offset(of inner: Int, in outer: Int) -> Int {
    Int(tokens[inner].start) - Int(tokens[outer].start)
  }

  /// How many bytes the value has in the text.
  package func rawCount(_ index: Int) -> Int {
    let token = tokens[index]
    return Int(token.end - token.start) + (token.kind == .string ? 2 : 0)
  }

  /// Calls `body` with the index of each element of an array.
  ///
  /// O(elements).
  package func forEachElement<Failure: Error>(
    of index: Int, _ body: (Int) throws(Failure) -> Void
  ) throws(Failure) {
    assert(tokens[index].kind == .array)
    let end = Int(tokens[index].next)
    var element = index + 1
    while element < end {
      try body(element)
      element = Int(tokens[element].next)
    }
  }

  /// Calls `body` with the name and the value's index of each member of an object.
  ///
  /// O(members).
  package func forEachMember<Failure: Error>(
    of index: Int, _ body: (String, Int) throws(Failure) -> Void
  ) throws(Failure) {
    assert(tokens[index].kind == .object)
    let end = Int(tokens[index].next)
    var key = index + 1
    while key < end {
      try body(string(key) ?? "", key + 1)
      key = Int(tokens[key + 1].next)
    }
  }

  /// Whether a string value reads as `text`; without making a string, unless it has escapes.
  package func isString(_ index: Int, _ text: String) -> Bool {
    let token = tokens[index]
    guard !token.isEscaped else { return string(index) == text }
    let count = Int(token.end - token.start)
    guard text.utf8.count == count else { return false }
    let start = Int(token.start)
    let span = bytes.span
    let isEqual = unsafe text.utf8.withContiguousStorageIfAvailable { utf8 in
      let name = unsafe utf8.span
      for index in 0..<count where name[index] != span[start + index] { return false }
      return true
    }
    return isEqual ?? (string(index) == text)
  }

  /// The number of elements or members.
  ///
  /// O(their number).
  package func count(_ index: Int) -> Int {
    let isObject = tokens[index].kind == .object
    let end = Int(tokens[index].next)
    var count = 0
    var at = index + 1
    while at < end {
      count += 1
      at = Int(tokens[isObject ? at + 1 : at].next)
    }
    return count
  }

  /// The index of a member's value, or nil.
  ///
  /// O(members).
  package func member(_ name: String, of index: Int) -> Int? {
    guard tokens[index].kind == .object else { return nil }
    let end = Int(tokens[index].next)
    var key = index + 1
    while key < end {
      if isString(key, name) { return key + 1 }
      key = Int(tokens[key + 1].next)
    }
    return nil
  }
}

/// Why a text is not the JSON that the protocol takes.
package struct JSONError: Error, Hashable, Sendable {
  /// What is wrong.
  package enum Reason: String, Sendable {
    /// The reasons, in words for people.
    case unexpectedByte = "unexpected byte"
    case unexpectedEnd = "text ends too early"
    case trailingBytes = "text goes on behind the value"
    case invalidUTF8 = "invalid UTF-8"
    case invalidEscape = "invalid escape"
    case loneSurrogate = "lone surrogate"
    case controlCharacter = "control character in a string"
    case invalidNumber = "invalid number"
    case numberOutOfRange = "number out of range"
    case tooDeep = "nested too deeply"
    case duplicateMember = "member named twice"
  }

  /// What is wrong.
  package var reason: Reason
  /// The offset of the byte at which it was seen.
  package var offset: Int

  /// Makes an error.
  package init(_ reason: Reason, at offset: Int) {
    self.reason = reason
    self.offset = offset
  }
}
