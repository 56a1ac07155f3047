/// A JSON text split into a flat list of tokens, without a tree.
///
/// The index of a token names a value; a token's `next` is the index after its whole subtree. The
/// scanner has checked the whole text: grammar, UTF-8, depth, duplicate members, lone surrogates. A
/// tape reuses its buffers for the next text, so reading allocates nothing once they have grown.
package struct JSONTape: Sendable {
  /// The text that was read last and the scanner's padding; bytes after them are unused.
  private var bytes: [UInt8] = []
  /// The tokens of the text; elements after the last token are unused.
  private(set) var tokens: [Token] = []

  /// The kind of a value.
  package enum Kind: UInt8, Sendable {
    /// The kinds of JSON values; an integer is 0 … 2^53−1 without fraction or exponent.
    case null, no, yes, integer, number, string, array, object
  }

  /// One value or member name of the text.
  package struct Token: Sendable {
    var kind: Kind
    var isEscaped = false
    var isASCII = true
    // With it, these four bytes are usually written at once.
    private let filler: UInt8 = 0
    /// The range of the value in the text; for a string, without its quotes.
    var start: UInt32
    var end: UInt32
    /// The index of the token after this value and its subtree.
    var next: UInt32
    /// The `ShortName` of a member name of at most seven ASCII bytes without escapes, else 0.
    var nameBits: UInt64 = 0

    static let blank = Token(kind: .null, start: 0, end: 0, next: 0)
  }

  package init() {}

  /// Reads a text in UTF-8, which must be one JSON value; the caller has checked its size.
  ///
  /// After an error the tape is empty.
  package mutating func read(_ text: [UInt8], maximumDepth: Int = 32) throws(JSONError) {
    try read(text.span, maximumDepth: maximumDepth)
  }

  /// Copies and reads a text in UTF-8, which must be one JSON value.
  package mutating func read(_ text: Span<UInt8>, maximumDepth: Int = 32) throws(JSONError) {
    copy(text)
    let paddedCount = text.count + JSONScanner.paddingBytes
    var scanner = JSONScanner(maximumDepth: maximumDepth)
    do {
      while try !Self.scanReachesEnd(bytes, paddedCount, &tokens, &scanner) {
        tokens.append(contentsOf: repeatElement(.blank, count: max(tokens.count, 64)))
      }
    } catch {
      tokens.removeAll(keepingCapacity: true)
      throw error
    }
  }

  /// Copies a text and the zeros behind it to `bytes`, which grows but never shrinks.
  private mutating func copy(_ text: Span<UInt8>) {
    let count = text.count + JSONScanner.paddingBytes
    if bytes.count < count { bytes = [UInt8](repeating: 0, count: max(count, bytes.count * 2)) }
    // In bounds, because `bytes` has `count` bytes or more.
    unsafe bytes.withUnsafeMutableBytes { bytes in
      unsafe text.withUnsafeBytes { unsafe bytes.copyMemory(from: $0) }
      unsafe bytes.storeBytes(of: 0, toByteOffset: text.count, as: UInt64.self)
    }
  }

  @inline(__always)
  private static func scanReachesEnd(
    _ bytes: [UInt8], _ paddedCount: Int, _ tokens: inout [Token], _ scanner: inout JSONScanner
  ) throws(JSONError) -> Bool {
    // A mutable span avoids the check for shared storage at each token.
    try scanner.scanReachesEnd(
      of: bytes.span.extracting(first: paddedCount), into: tokens.mutableSpan)
  }

  /// The index of the outermost value of the text.
  package var root: Int { 0 }

  package func kind(_ index: Int) -> Kind { tokens[index].kind }

  /// The index after a value and its subtree; in an array, the index of the next element.
  package func next(_ index: Int) -> Int { Int(tokens[index].next) }

  /// The text of a string value, or nil.
  package func string(_ index: Int) -> String? {
    let token = tokens[index]
    guard token.kind == .string else { return nil }
    let range = Int(token.start)..<Int(token.end)
    guard !token.isEscaped else { return JSONStringEscapes.unescape(bytes[range]) }
    // The scanner has checked that the text is UTF-8.
    let text = bytes.span.extracting(range)
    return token.isASCII
      ? String(ascii: text)
      : String(copying: unsafe UTF8Span(unchecked: text, isKnownASCII: false))
  }

  /// Whether a value is a string without escapes, so that its bytes in the text are its contents.
  @inline(__always)
  package func isUnescapedString(_ index: Int) -> Bool {
    tokens[index].kind == .string && !tokens[index].isEscaped
  }

  /// The bytes of a string value in the text, with its escapes.
  @inline(__always)
  @_lifetime(borrow self)
  package func text(_ index: Int) -> Span<UInt8> {
    let token = tokens[index]
    return bytes.span.extracting(Int(token.start)..<Int(token.end))
  }

  /// The short name of a string, to compare with literals of at most eight bytes.
  @inline(__always)
  package func shortName(_ index: Int) -> ShortName {
    if tokens[index].nameBits != 0 { return ShortName(bits: tokens[index].nameBits) }
    return computedShortName(index)
  }

  private func computedShortName(_ index: Int) -> ShortName {
    let token = tokens[index]
    guard !token.isEscaped else { return ShortName(unescaped: string(index) ?? "") }
    return ShortName(bytes.span, from: Int(token.start), to: Int(token.end))
  }

  /// The value of an integer in 0 … 2^53−1; nil for any other value.
  package func integer(_ index: Int) -> UInt64? {
    let token = tokens[index]
    guard token.kind == .integer else { return nil }
    let text = bytes.span
    let start = Int(token.start)
    let end = Int(token.end)
    // At most 16 digits, so the sum cannot overflow.
    guard end - start > 1, end >= 16 else {
      var value: UInt64 = 0
      for position in start..<end { value = value &* 10 &+ UInt64(text[position] &- 0x30) }
      return value
    }
    let low = ByteWord(text, at: end - 8).number(ofLastDigits: min(end - start, 8))
    guard end - start > 8 else { return low }
    return ByteWord(text, at: end - 16).number(ofLastDigits: end - start - 8) &* 100_000_000 &+ low
  }

  /// The text of a member; nil if there is none, or if it is no text.
  package func string(_ name: String, of index: Int) -> String? {
    member(name, of: index).flatMap { string($0) }
  }

  /// The number of a member; nil if there is none, or if it is no integer.
  package func integer(_ name: String, of index: Int) -> UInt64? {
    member(name, of: index).flatMap { integer($0) }
  }

  /// The truth value of a member; nil if there is none, or if it is no truth value.
  package func bool(_ name: String, of index: Int) -> Bool? {
    member(name, of: index).flatMap { bool($0) }
  }

  /// The index of the value of a member; nil if there is none, or if it is null; O(members).
  package func value(_ name: String, of index: Int) -> Int? {
    member(name, of: index).flatMap { kind($0) == .null ? nil : $0 }
  }

  /// The value of `true` or `false`; nil for any other value.
  package func bool(_ index: Int) -> Bool? {
    switch tokens[index].kind {
    case .yes: true
    case .no: false
    case .null, .integer, .number, .string, .array, .object: nil
    }
  }

  /// The value of a number; nil for any other value.
  package func number(_ index: Int) -> Double? {
    let token = tokens[index]
    guard token.kind == .integer || token.kind == .number else { return nil }
    return Double(String(decoding: bytes[Int(token.start)..<Int(token.end)], as: UTF8.self))
  }

  /// A copy of the bytes of any value in the text, with the quotes of a string.
  package func raw(_ index: Int) -> [UInt8] {
    let token = tokens[index]
    let quote = token.kind == .string ? 1 : 0
    return Array(bytes[Int(token.start) - quote..<Int(token.end) + quote])
  }

  /// The byte offset of `inner` within the bytes of `outer`; neither value is a string.
  package func offset(of inner: Int, in outer: Int) -> Int {
    Int(tokens[inner].start) - Int(tokens[outer].start)
  }

  /// The number of bytes of a value in the text, with the quotes of a string.
  package func rawByteCount(_ index: Int) -> Int {
    let token = tokens[index]
    return Int(token.end - token.start) + (token.kind == .string ? 2 : 0)
  }

  /// Calls `body` with the index of each element; O(elements).
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

  /// Returns an array of the results of `read` for each element; O(elements).
  package func elements<Element, Failure: Error>(
    of index: Int, _ read: (Int) throws(Failure) -> Element
  ) throws(Failure) -> [Element] {
    var elements: [Element] = []
    try forEachElement(of: index) { at throws(Failure) in elements.append(try read(at)) }
    return elements
  }

  /// The elements of an array of strings; nil for any other value.
  package func strings(_ list: Int) -> [String]? {
    guard kind(list) == .array else { return nil }
    var texts: [String] = []
    var element = list + 1
    while element < next(list) {
      guard let text = string(element) else { return nil }
      texts.append(text)
      element = next(element)
    }
    return texts
  }

  /// Calls `body` with each name and the index of its value; O(members).
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

  /// Returns the concatenated arrays that `read` makes of the members; O(members).
  package func members<Element, Failure: Error>(
    of index: Int, _ read: (String, Int) throws(Failure) -> [Element]
  ) throws(Failure) -> [Element] {
    var elements: [Element] = []
    try forEachMember(of: index) { name, at throws(Failure) in elements += try read(name, at) }
    return elements
  }

  /// Whether a value is a string equal to `text`; allocates a string only if the value has escapes.
  package func isString(_ index: Int, _ text: String) -> Bool {
    isUnescapedString(index)
      ? self.text(index).hasSameBytes(as: text.utf8.span) : string(index) == text
  }

  /// The number of elements of an array or members of an object; O(elements).
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

  /// The index of the value of a member; nil if there is none, or if `index` is no object;
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

/// The first error in a text that is not valid JSON, or that exceeds the limits of the protocol.
package struct JSONError: Error, Hashable, Sendable {
  /// The kinds of errors.
  package enum Reason: String, Sendable {
    /// The raw value of each kind is its name in error messages.
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

  package var reason: Reason
  /// The offset of the byte at which the scanner found the error.
  package var offset: Int

  package init(_ reason: Reason, at offset: Int) {
    self.reason = reason
    self.offset = offset
  }
}

/// A name of one to eight bytes as one number, so that a `switch` over names compares numbers.
package struct ShortName: Equatable, ExpressibleByStringLiteral {
  /// The bytes of the name, the first one lowest; 0 for a longer name, which equals no literal.
  let bits: UInt64

  @inline(__always)
  init(bits: UInt64) { self.bits = bits }

  /// Makes a name of a literal; the compiler inlines the call, and replaces it by a constant.
  @inline(__always)
  package init(stringLiteral name: StaticString) {
    var bits: UInt64 = 0
    var index = name.utf8CodeUnitCount
    assert(index > 0 && index <= 8)
    while index > 0 {
      index -= 1
      // Within the count of the literal.
      bits = bits << 8 | UInt64(unsafe name.utf8Start[index])
    }
    self.bits = bits
  }

  /// The name in the bytes of a text from `start` up to, not including, `end`; none of them is 0.
  @inline(__always)
  init(_ text: Span<UInt8>, from start: Int, to end: Int) {
    let count = end &- start
    guard count > 0, count <= 8 else {
      bits = 0
      return
    }
    guard start > text.count - 8 else {
      bits = ByteWord(text, at: start).bits & (.max &>> UInt64(64 &- count &* 8))
      return
    }
    bits = Self.bits(text, from: start, to: end)
  }

  private static func bits(_ text: Span<UInt8>, from start: Int, to end: Int) -> UInt64 {
    var bits: UInt64 = 0
    for index in (start..<end).reversed() { bits = bits << 8 | UInt64(text[index]) }
    return bits
  }

  /// The name as a string, for error messages.
  package var text: String {
    let count = (64 - bits.leadingZeroBitCount + 7) / 8
    return String(
      decoding: (0..<count).map { UInt8(truncatingIfNeeded: bits >> ($0 * 8)) }, as: UTF8.self)
  }

  /// Makes a name of a decoded string.
  ///
  /// A string with U+0000 gives 0, which matches no literal.
  init(unescaped name: String) {
    let bytes = Array(name.utf8)
    self.init(bytes.span, from: 0, to: bytes.contains(0) ? 0 : bytes.count)
  }
}

// Accessors for texts that this program wrote: known short names, and numbers in hex.

extension JSONTape {
  /// The index of the value of a member with a name of at most eight bytes; nil if there is none;
  /// O(members).
  package func member(short name: ShortName, of index: Int) -> Int? {
    guard kind(index) == .object else { return nil }
    let end = next(index)
    var key = index + 1
    while key < end {
      if shortName(key) == name { return key + 1 }
      key = next(key + 1)
    }
    return nil
  }

  /// The number in a string of 16 lower-case hex digits; nil for any other value.
  package func hex64(_ index: Int) -> UInt64? { hexNumber(index, at: 0..<16, ofDigits: 16) }

  /// The numbers in a string of 8 and 16 lower-case hex digits; nil for any other value.
  package func hex96(_ index: Int) -> (high: UInt32, low: UInt64)? {
    guard let high = hexNumber(index, at: 0..<8, ofDigits: 24),
      let low = hexNumber(index, at: 8..<24, ofDigits: 24)
    else { return nil }
    return (UInt32(high), low)
  }

  /// Reads the hex digits at `places` of a string of `count` hex digits.
  private func hexNumber(_ index: Int, at places: Range<Int>, ofDigits count: Int) -> UInt64? {
    guard isUnescapedString(index) else { return nil }
    let text = text(index)
    guard text.count == count else { return nil }
    var value: UInt64 = 0
    for place in places {
      let byte = text[place]
      guard Grammar.isLowerHex(byte) else { return nil }
      value = value << 4 | UInt64(byte <= 0x39 ? byte - 0x30 : byte - 0x57)
    }
    return value
  }
}
