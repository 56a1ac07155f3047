/// The state machine that splits a JSON text into tokens and checks the whole text.
struct JSONScanner {
  /// The number of zero bytes that the caller appends to a text.
  ///
  /// Loops over the text stop at the zeros, and `ByteWord` can load eight bytes at each byte of it.
  static let paddingBytes = 8

  private var at = 0
  private(set) var tokenCount = 0
  /// How many more arrays and objects may be open.
  private var depthLeft: Int
  /// The index of the token of the innermost open array or object.
  ///
  /// While it is open, its token stores the values of the container around it: `containerIndex` in
  /// `next`, `closer` in `end`, and `seenNames` in `nameBits`.
  private var containerIndex = 0
  /// The byte that closes the innermost open array or object; 0 if none is open.
  private var closer: UInt8 = 0
  /// One bit for the hash of each name in the innermost object; all bits if a name may repeat.
  private var seenNames: UInt64 = 0

  init(maximumDepth: Int) { depthLeft = maximumDepth }

  /// Continues the scan; returns true at the end of the text, false if `tokens` is full.
  ///
  /// After false, the caller repeats the call with a longer `tokens`. `padded` is the text with
  /// `paddingBytes` zeros behind it.
  mutating func scanReachesEnd(
    of padded: Span<UInt8>, into tokens: consuming MutableSpan<JSONTape.Token>
  ) throws(JSONError) -> Bool {
    precondition(padded.count >= Self.paddingBytes && padded.count < UInt32.max)
    // A local copy, which no other code can see, stays in registers.
    var state = self
    var byte = try state.skipSpaces(padded)
    while true {
      // Room for a name and a value.
      guard state.tokenCount <= tokens.count - 2 else {
        self = state
        return false
      }
      if state.closer == 0x7D {
        try state.readName(byte, padded, &tokens)
        byte = try state.skipSpaces(padded)
      }
      if byte == 0x22 {
        try state.readString(padded, &tokens)
      } else if byte | 0x20 == 0x7B {
        try state.beginContainer(byte, &tokens)
        byte = try state.skipSpaces(padded)
        if byte != state.closer { continue }
        try state.closeContainer(padded, &tokens)
      } else if byte == 0x2D || byte &- 0x30 <= 9 {
        try state.readNumber(byte, padded, &tokens)
      } else {
        try state.readLiteral(byte, padded, &tokens)
      }
      while state.closer != 0, try !state.consumeComma(padded) {
        try state.closeContainer(padded, &tokens)
      }
      if state.closer == 0 { break }
      byte = try state.skipSpaces(padded)
    }
    let end = Self.endOfSpace(padded, state.at)
    guard end == padded.count - Self.paddingBytes else { throw JSONError(.trailingBytes, at: end) }
    self = state
    return true
  }

  /// The byte at an index of the text, or one of the zeros behind it.
  @inline(__always)
  private static func peek(_ padded: Span<UInt8>, _ at: Int) -> UInt8 {
    // The unsigned comparison saves half of the span's check.
    precondition(UInt(bitPattern: at) < UInt(bitPattern: padded.count))
    return padded[at]
  }

  /// Advances `at` past white space, and returns the byte there; throws at the end of the text.
  @inline(__always)
  private mutating func skipSpaces(_ padded: Span<UInt8>) throws(JSONError) -> UInt8 {
    let byte = Self.peek(padded, at)
    guard byte <= 0x20 else { return byte }
    at = try Self.startOfToken(padded, at)
    return Self.peek(padded, at)
  }

  /// Consumes the comma after a value; returns false at the byte that closes the container.
  @inline(__always)
  private mutating func consumeComma(_ padded: Span<UInt8>) throws(JSONError) -> Bool {
    let byte = try skipSpaces(padded)
    if byte == 0x2C {
      at &+= 1
      return true
    }
    guard byte == closer else { throw JSONError(.unexpectedByte, at: at) }
    return false
  }

  /// Reads a member name and the colon after it.
  @inline(__always)
  private mutating func readName(
    _ first: UInt8, _ padded: Span<UInt8>, _ tokens: inout MutableSpan<JSONTape.Token>
  ) throws(JSONError) {
    guard first == 0x22 else { throw JSONError(.unexpectedByte, at: at) }
    let start = at &+ 1
    if let name = ByteWord(padded, at: start).nameBeforeColon {
      // Nearly all names have at most six bytes, so one word holds the name, its quote and the
      // colon.
      appendToken(.string, start, start &+ name.byteCount, nameBits: name.bits, &tokens)
      at = start &+ name.byteCount &+ 2
      addSeenName(hash: name.bits)
    } else {
      let name = try Self.scanName(padded, start)
      appendToken(
        .string, start, name.end, isEscaped: name.isEscaped, isASCII: name.isASCII,
        nameBits: name.bits, &tokens)
      at = try Self.endOfColon(padded, name.end &+ 1)
      if name.isEscaped { seenNames = .max } else { addSeenName(hash: name.hash) }
    }
  }

  /// Sets the bit of `seenNames` that the hash of a name selects.
  ///
  /// If the bit was set before, the function sets all bits, and the names must be compared.
  @inline(__always)
  private mutating func addSeenName(hash: UInt64) {
    // With this factor, no two members of a message of the protocol or of a journal row share a
    // bit.
    let bit: UInt64 = 1 &<< ((hash &* 0x8C68_9A3D_B7F2_2D5B) >> 58)
    if seenNames & bit == 0 { seenNames |= bit } else { seenNames = .max }
  }

  @inline(__always)
  private mutating func beginContainer(
    _ byte: UInt8, _ tokens: inout MutableSpan<JSONTape.Token>
  ) throws(JSONError) {
    guard depthLeft > 0 else { throw JSONError(.tooDeep, at: at) }
    depthLeft &-= 1
    tokens[tokenCount] = JSONTape.Token(
      kind: byte == 0x7B ? .object : .array, start: UInt32(truncatingIfNeeded: at),
      end: UInt32(closer), next: UInt32(truncatingIfNeeded: containerIndex), nameBits: seenNames)
    containerIndex = tokenCount
    tokenCount &+= 1
    closer = byte &+ 2
    seenNames = 0
    at &+= 1
  }

  @inline(__always)
  private mutating func closeContainer(
    _ padded: Span<UInt8>, _ tokens: inout MutableSpan<JSONTape.Token>
  ) throws(JSONError) {
    at &+= 1
    let closed = containerIndex
    let mustCompare = seenNames == .max
    containerIndex = Int(tokens[closed].next)
    closer = UInt8(truncatingIfNeeded: tokens[closed].end)
    seenNames = tokens[closed].nameBits
    tokens[closed].end = UInt32(truncatingIfNeeded: at)
    tokens[closed].next = UInt32(truncatingIfNeeded: tokenCount)
    tokens[closed].nameBits = 0
    depthLeft &+= 1
    if mustCompare {
      try Self.checkNames(of: closed, padded, tokens.span.extracting(first: tokenCount))
    }
  }

  @inline(__always)
  private mutating func readLiteral(
    _ first: UInt8, _ padded: Span<UInt8>, _ tokens: inout MutableSpan<JSONTape.Token>
  ) throws(JSONError) {
    let start = at
    let kind: JSONTape.Kind
    switch first {
    case 0x74:
      kind = .yes
      at = try Self.end(ofLiteral: "true", padded, at)
    case 0x66:
      kind = .no
      at = try Self.end(ofLiteral: "false", padded, at)
    case 0x6E:
      kind = .null
      at = try Self.end(ofLiteral: "null", padded, at)
    default: throw JSONError(.unexpectedByte, at: at)
    }
    appendToken(kind, start, at, &tokens)
  }

  @inline(__always)
  private mutating func appendToken(
    _ kind: JSONTape.Kind, _ start: Int, _ end: Int, isEscaped: Bool = false, isASCII: Bool = true,
    nameBits: UInt64 = 0, _ tokens: inout MutableSpan<JSONTape.Token>
  ) {
    tokens[tokenCount] = JSONTape.Token(
      kind: kind, isEscaped: isEscaped, isASCII: isASCII, start: UInt32(truncatingIfNeeded: start),
      end: UInt32(truncatingIfNeeded: end), next: UInt32(truncatingIfNeeded: tokenCount &+ 1),
      nameBits: nameBits)
    tokenCount &+= 1
  }

  @inline(__always)
  private mutating func readNumber(
    _ first: UInt8, _ padded: Span<UInt8>, _ tokens: inout MutableSpan<JSONTape.Token>
  ) throws(JSONError) {
    let start = at
    var digits = ByteWord(padded, at: start).leadingDigitCount
    if digits == 8, start <= padded.count &- 16 {
      digits &+= ByteWord(padded, at: start &+ 8).leadingDigitCount
    }
    let last = Self.peek(padded, start &+ digits)
    // Most numbers are short integers, which need no further check.
    let isPlain =
      UInt(bitPattern: digits &- 1) < 15 && (first != 0x30 || digits == 1) && last != 0x2E
      && last | 0x20 != 0x65
    if isPlain {
      at = start &+ digits
      return appendToken(.integer, start, at, &tokens)
    }
    let number = try Self.endOfFiniteNumber(padded, start)
    at = number.end
    appendToken(number.isInteger ? .integer : .number, start, at, &tokens)
  }

  /// Reads a string, whose opening quote is at `at`.
  @inline(__always)
  private mutating func readString(
    _ padded: Span<UInt8>, _ tokens: inout MutableSpan<JSONTape.Token>
  ) throws(JSONError) {
    let start = at &+ 1
    var rest = StringEnd(end: ByteWord.firstToEscapeOrNonASCII(inPadded: padded, from: start))
    if Self.peek(padded, rest.end) != 0x22 { rest = try Self.endOfString(padded, rest.end) }
    appendToken(.string, start, rest.end, isEscaped: rest.isEscaped, isASCII: rest.isASCII, &tokens)
    at = rest.end &+ 1
  }

  // The functions below are rarely called. They take and return indices instead of changing `at`,
  // so that the loops above keep it in a register. Each returns the index after what it checked.

  /// The text without the zeros behind it.
  @inline(__always)
  @_lifetime(copy padded)
  private static func withoutPadding(_ padded: Span<UInt8>) -> Span<UInt8> {
    padded.extracting(first: padded.count - paddingBytes)
  }

  /// Returns the byte at an index of the text; throws at the end of the text.
  private static func byte(_ padded: Span<UInt8>, _ at: Int) throws(JSONError) -> UInt8 {
    guard at < padded.count - paddingBytes else { throw JSONError(.unexpectedEnd, at: at) }
    return padded[at]
  }

  /// Returns the index of the first byte after white space; throws at the end of the text.
  @inline(never)
  private static func startOfToken(
    _ padded: Span<UInt8>, _ start: Int
  ) throws(JSONError) -> Int {
    let at = endOfSpace(padded, start)
    _ = try byte(padded, at)
    return at
  }

  private static func endOfSpace(_ padded: Span<UInt8>, _ start: Int) -> Int {
    var at = start
    while true {
      let byte = peek(padded, at)
      guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return at }
      at += 1
      // Indented and aligned texts have many spaces.
      while padded.count - at >= 8 {
        let blanks = ByteWord(padded, at: at).leadingSpaceCount
        at += blanks
        if blanks < 8 { break }
      }
    }
  }

  /// The end and the properties of a member name that `ByteWord.nameBeforeColon` did not find.
  private struct ScannedName {
    var end: Int
    var isEscaped: Bool
    var isASCII: Bool
    /// The `ShortName` of the name if it has at most seven bytes, else 0.
    var bits: UInt64
    /// The same number for equal names without escapes.
    var hash: UInt64
  }

  @inline(never)
  private static func scanName(
    _ padded: Span<UInt8>, _ start: Int
  ) throws(JSONError) -> ScannedName {
    let special = ByteWord.firstToEscapeOrNonASCII(inPadded: padded, from: start)
    let rest = try endOfString(padded, special)
    let isPlain = !rest.isEscaped && rest.isASCII
    let count = rest.end - start
    // The bytes of a short name as a number; for a long name, its first eight bytes and its length.
    let bits = count < 8 ? ShortName(padded, from: start, to: rest.end).bits : 0
    let hash = count < 8 ? bits : ByteWord(padded, at: start).bits &+ UInt64(count)
    return ScannedName(
      end: rest.end, isEscaped: rest.isEscaped, isASCII: rest.isASCII, bits: isPlain ? bits : 0,
      hash: hash)
  }

  /// Returns the index after the colon that must follow a name.
  @inline(never)
  private static func endOfColon(_ padded: Span<UInt8>, _ start: Int) throws(JSONError) -> Int {
    let at = try startOfToken(padded, start)
    guard padded[at] == 0x3A else { throw JSONError(.unexpectedByte, at: at) }
    return at + 1
  }

  private static func end(
    ofLiteral word: StaticString, _ padded: Span<UInt8>, _ start: Int
  ) throws(JSONError) -> Int {
    var at = start
    for expected in word.description.utf8 {
      guard try byte(padded, at) == expected else { throw JSONError(.unexpectedByte, at: at) }
      at += 1
    }
    return at
  }

  @inline(never)
  private static func endOfFiniteNumber(
    _ padded: Span<UInt8>, _ start: Int
  ) throws(JSONError) -> (end: Int, isInteger: Bool) {
    let text = withoutPadding(padded)
    let number = try endOfNumber(text, start)
    if !number.isInteger { try checkFinite(text, start..<number.end) }
    return number
  }

  private static func endOfNumber(
    _ text: Span<UInt8>, _ start: Int
  ) throws(JSONError) -> (end: Int, isInteger: Bool) {
    var at = start
    var isInteger = true
    if text[at] == 0x2D {
      isInteger = false
      at += 1
    }
    let first = at
    at = try endOfDigits(text, at)
    if text[first] == 0x30, at > first + 1 { throw JSONError(.invalidNumber, at: first) }
    if at < text.count, text[at] == 0x2E {
      isInteger = false
      at = try endOfDigits(text, at + 1)
    }
    if at < text.count, text[at] == 0x65 || text[at] == 0x45 {
      isInteger = false
      at += 1
      if at < text.count, text[at] == 0x2B || text[at] == 0x2D { at += 1 }
      at = try endOfDigits(text, at)
    }
    if isInteger, isBeyondExactIntegers(text, start..<at) { isInteger = false }
    return (at, isInteger)
  }

  /// Returns the index after the digits at `start`; throws if there is no digit.
  @inline(__always)
  private static func endOfDigits(_ text: Span<UInt8>, _ start: Int) throws(JSONError) -> Int {
    var at = start
    while at < text.count, text[at] >= 0x30, text[at] <= 0x39 { at += 1 }
    guard at > start else {
      throw JSONError(at < text.count ? .invalidNumber : .unexpectedEnd, at: at)
    }
    return at
  }

  /// Whether an integer exceeds 2^53−1, up to which a double is exact.
  private static func isBeyondExactIntegers(_ text: Span<UInt8>, _ range: Range<Int>) -> Bool {
    guard range.count >= 16 else { return false }
    guard range.count == 16 else { return true }
    var value: UInt64 = 0
    for position in range { value = value * 10 + UInt64(text[position] - 0x30) }
    return value > 9_007_199_254_740_991
  }

  private static func checkFinite(
    _ text: Span<UInt8>, _ range: Range<Int>
  ) throws(JSONError) {
    var digits: [UInt8] = []
    for position in range { digits.append(text[position]) }
    guard let value = Double(String(decoding: digits, as: UTF8.self)), value.isFinite else {
      throw JSONError(.numberOutOfRange, at: range.lowerBound)
    }
  }

  /// The end of a string and the properties found after its plain ASCII start.
  private struct StringEnd {
    var end: Int
    var isEscaped = false
    var isASCII = true
  }

  /// Reads the rest of a string, from its first byte that is not plain ASCII to the closing quote.
  private static func endOfString(
    _ padded: Span<UInt8>, _ start: Int
  ) throws(JSONError) -> StringEnd {
    var rest = StringEnd(end: start)
    while true {
      let byte = try byte(padded, rest.end)
      if byte == 0x22 { return rest }
      if byte == 0x5C {
        rest.isEscaped = true
        rest.end = try endOfEscape(padded, rest.end)
      } else if byte < 0x20 {
        throw JSONError(.controlCharacter, at: rest.end)
      } else {
        rest.isASCII = false
        rest.end = try endOfMultibyteSequence(byte, padded, rest.end)
      }
      rest.end = ByteWord.firstToEscapeOrNonASCII(inPadded: padded, from: rest.end)
    }
  }

  private static func endOfEscape(_ padded: Span<UInt8>, _ start: Int) throws(JSONError) -> Int {
    switch try byte(padded, start + 1) {
    case 0x22, 0x5C, 0x2F, 0x62, 0x66, 0x6E, 0x72, 0x74: return start + 2
    case 0x75:
      let unit = try hexUnit(padded, start + 2)
      let at = start + 6
      if unit & 0xFC00 == 0xDC00 { throw JSONError(.loneSurrogate, at: start) }
      guard unit & 0xFC00 == 0xD800 else { return at }
      guard padded[at] == 0x5C, padded[at + 1] == 0x75,
        try hexUnit(padded, at + 2) & 0xFC00 == 0xDC00
      else { throw JSONError(.loneSurrogate, at: start) }
      return at + 6
    default: throw JSONError(.invalidEscape, at: start)
    }
  }

  /// The value of the four hex digits of a `\u` escape.
  private static func hexUnit(_ padded: Span<UInt8>, _ start: Int) throws(JSONError) -> UInt32 {
    var unit: UInt32 = 0
    for at in start..<start + 4 {
      guard let digit = JSONStringEscapes.hexValue(try byte(padded, at)) else {
        throw JSONError(.invalidEscape, at: at)
      }
      unit = unit << 4 | UInt32(digit)
    }
    return unit
  }

  /// Checks one multi-byte sequence by the Unicode Standard's table of well-formed UTF-8 (table
  /// 3-7).
  private static func endOfMultibyteSequence(
    _ lead: UInt8, _ text: Span<UInt8>, _ start: Int
  ) throws(JSONError) -> Int {
    let length: Int
    var lower: UInt8 = 0x80
    var upper: UInt8 = 0xBF
    switch lead {
    case 0xC2...0xDF: length = 2
    case 0xE0...0xEF:
      length = 3
      if lead == 0xE0 { lower = 0xA0 }
      if lead == 0xED { upper = 0x9F }
    case 0xF0...0xF4:
      length = 4
      if lead == 0xF0 { lower = 0x90 }
      if lead == 0xF4 { upper = 0x8F }
    default: throw JSONError(.invalidUTF8, at: start)
    }
    guard start + length <= text.count else { throw JSONError(.invalidUTF8, at: start) }
    guard text[start + 1] >= lower, text[start + 1] <= upper else {
      throw JSONError(.invalidUTF8, at: start)
    }
    for offset in 2..<max(length, 2) where text[start + offset] & 0xC0 != 0x80 {
      throw JSONError(.invalidUTF8, at: start)
    }
    return start + length
  }
}
