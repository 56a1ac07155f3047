/// The state machine that splits a JSON text into tokens and checks the whole text.
struct JSONScanner {
  /// The number of zeros that must follow a text.
  ///
  /// The zeros end each loop over the text, and let eight bytes be loaded from each byte of it on.
  static let padding = 8

  private var at = 0
  private(set) var count = 0
  /// How many more arrays and objects may be open.
  private var depthLeft: Int
  /// The token of the innermost open array or object.
  ///
  /// While it is open, its `next` holds the token of the container around it, and its `end` and
  /// `name` the `closer` and `marks` of that container.
  private var container = 0
  /// The byte that closes the innermost open array or object; 0 if none is open.
  private var closer: UInt8 = 0
  /// One bit for each name in the innermost object; all bits if names may repeat and must be
  /// compared.
  private var marks: UInt64 = 0

  init(maximumDepth: Int) { depthLeft = maximumDepth }

  /// Continues the scan; returns true at the end of the text, false if `tokens` is full.
  ///
  /// After false, the caller calls again with a longer `tokens`. `padded` is the text with
  /// `padding` zeros behind it.
  mutating func scan(
    _ padded: Span<UInt8>, into tokens: consuming MutableSpan<JSONTape.Token>
  ) throws(JSONError) -> Bool {
    precondition(padded.count >= Self.padding && padded.count < UInt32.max)
    // A local copy, which no other code can see, stays in registers.
    var state = self
    var byte = try state.next(padded)
    while true {
      // Room for a name and a value.
      guard state.count <= tokens.count - 2 else {
        self = state
        return false
      }
      if state.closer == 0x7D {
        try state.key(byte, padded, &tokens)
        byte = try state.next(padded)
      }
      if byte == 0x22 {
        try state.string(padded, &tokens)
      } else if byte | 0x20 == 0x7B {
        try state.begin(byte, &tokens)
        byte = try state.next(padded)
        if byte != state.closer { continue }
        try state.close(padded, &tokens)
      } else if byte == 0x2D || byte &- 0x30 <= 9 {
        try state.number(byte, padded, &tokens)
      } else {
        try state.literal(byte, padded, &tokens)
      }
      while state.closer != 0, try !state.hasMore(padded) { try state.close(padded, &tokens) }
      if state.closer == 0 { break }
      byte = try state.next(padded)
    }
    let end = Self.endOfSpace(padded, state.at)
    guard end == padded.count - Self.padding else { throw JSONError(.trailingBytes, at: end) }
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

  /// Skips spaces; returns the byte at `at` without going on, and throws at the end of the text.
  @inline(__always)
  private mutating func next(_ padded: Span<UInt8>) throws(JSONError) -> UInt8 {
    let byte = Self.peek(padded, at)
    guard byte <= 0x20 else { return byte }
    at = try Self.startOfToken(padded, at)
    return Self.peek(padded, at)
  }

  /// Consumes the comma after a value; returns false at the byte that closes the container.
  @inline(__always)
  private mutating func hasMore(_ padded: Span<UInt8>) throws(JSONError) -> Bool {
    let byte = try next(padded)
    if byte == 0x2C {
      at &+= 1
      return true
    }
    guard byte == closer else { throw JSONError(.unexpectedByte, at: at) }
    return false
  }

  /// Reads a member name and the colon after it.
  @inline(__always)
  private mutating func key(
    _ first: UInt8, _ padded: Span<UInt8>, _ tokens: inout MutableSpan<JSONTape.Token>
  ) throws(JSONError) {
    guard first == 0x22 else { throw JSONError(.unexpectedByte, at: at) }
    let start = at &+ 1
    if let name = ByteWord(padded, at: start).upToColon {
      // Nearly all names have at most six bytes, so one word holds the name, its quote and the
      // colon.
      append(.string, start, start &+ name.count, name: name.bits, &tokens)
      at = start &+ name.count &+ 2
      markName(name.bits)
    } else {
      let name = try Self.longName(padded, start)
      append(
        .string, start, name.end, isEscaped: name.isEscaped, isASCII: name.isASCII,
        name: name.bits, &tokens)
      at = try Self.endOfColon(padded, name.end &+ 1)
      if name.isEscaped { marks = .max } else { markName(name.digest) }
    }
  }

  /// Notes a name by one bit of `marks`, equal for equal names.
  ///
  /// Names must be compared only if the bit was set before.
  @inline(__always)
  private mutating func markName(_ digest: UInt64) {
    // With this factor, no two members of a message of the protocol or of a journal row share a
    // bit.
    let mark: UInt64 = 1 &<< ((digest &* 0x8C68_9A3D_B7F2_2D5B) >> 58)
    if marks & mark == 0 { marks |= mark } else { marks = .max }
  }

  @inline(__always)
  private mutating func begin(
    _ byte: UInt8, _ tokens: inout MutableSpan<JSONTape.Token>
  ) throws(JSONError) {
    guard depthLeft > 0 else { throw JSONError(.tooDeep, at: at) }
    depthLeft &-= 1
    tokens[count] = JSONTape.Token(
      kind: byte == 0x7B ? .object : .array, start: UInt32(truncatingIfNeeded: at),
      end: UInt32(closer), next: UInt32(truncatingIfNeeded: container), name: marks)
    container = count
    count &+= 1
    closer = byte &+ 2
    marks = 0
    at &+= 1
  }

  @inline(__always)
  private mutating func close(
    _ padded: Span<UInt8>, _ tokens: inout MutableSpan<JSONTape.Token>
  ) throws(JSONError) {
    at &+= 1
    let closed = container
    let mustCompare = marks == .max
    container = Int(tokens[closed].next)
    closer = UInt8(truncatingIfNeeded: tokens[closed].end)
    marks = tokens[closed].name
    tokens[closed].end = UInt32(truncatingIfNeeded: at)
    tokens[closed].next = UInt32(truncatingIfNeeded: count)
    tokens[closed].name = 0
    depthLeft &+= 1
    if mustCompare {
      try Self.checkNames(of: closed, padded, tokens.span.extracting(first: count))
    }
  }

  @inline(__always)
  private mutating func literal(
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
    append(kind, start, at, &tokens)
  }

  @inline(__always)
  private mutating func append(
    _ kind: JSONTape.Kind, _ start: Int, _ end: Int, isEscaped: Bool = false, isASCII: Bool = true,
    name: UInt64 = 0, _ tokens: inout MutableSpan<JSONTape.Token>
  ) {
    tokens[count] = JSONTape.Token(
      kind: kind, isEscaped: isEscaped, isASCII: isASCII, start: UInt32(truncatingIfNeeded: start),
      end: UInt32(truncatingIfNeeded: end), next: UInt32(truncatingIfNeeded: count &+ 1), name: name
    )
    count &+= 1
  }

  @inline(__always)
  private mutating func number(
    _ first: UInt8, _ padded: Span<UInt8>, _ tokens: inout MutableSpan<JSONTape.Token>
  ) throws(JSONError) {
    let start = at
    var digits = ByteWord(padded, at: start).leadingDigits
    if digits == 8, start <= padded.count &- 16 {
      digits &+= ByteWord(padded, at: start &+ 8).leadingDigits
    }
    let last = Self.peek(padded, start &+ digits)
    // Most numbers are short integers, which need no further check.
    let isPlain =
      UInt(bitPattern: digits &- 1) < 15 && (first != 0x30 || digits == 1) && last != 0x2E
      && last | 0x20 != 0x65
    if isPlain {
      at = start &+ digits
      return append(.integer, start, at, &tokens)
    }
    let number = try Self.longNumber(padded, start)
    at = number.end
    append(number.isInteger ? .integer : .number, start, at, &tokens)
  }

  /// Reads a string; `at` is the index of its opening quote.
  @inline(__always)
  private mutating func string(
    _ padded: Span<UInt8>, _ tokens: inout MutableSpan<JSONTape.Token>
  ) throws(JSONError) {
    let start = at &+ 1
    var rest = TextEnd(end: ByteWord.firstStop(inPadded: padded, from: start))
    if Self.peek(padded, rest.end) != 0x22 { rest = try Self.textEnd(padded, rest.end) }
    append(.string, start, rest.end, isEscaped: rest.isEscaped, isASCII: rest.isASCII, &tokens)
    at = rest.end &+ 1
  }

  // The functions below are rarely called. They take and return indices instead of changing `at`,
  // so that the loops above keep it in a register. Each returns the index after what it checked.

  /// The text without the zeros behind it.
  @inline(__always)
  @_lifetime(copy padded)
  private static func withoutPadding(_ padded: Span<UInt8>) -> Span<UInt8> {
    padded.extracting(first: padded.count - padding)
  }

  /// The byte at an index of the text, which must exist.
  private static func byte(_ padded: Span<UInt8>, _ at: Int) throws(JSONError) -> UInt8 {
    guard at < padded.count - padding else { throw JSONError(.unexpectedEnd, at: at) }
    return padded[at]
  }

  /// Returns the index of the first byte from `start` on that is no space, which must exist.
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
        let blanks = ByteWord(padded, at: at).leadingBlanks
        at += blanks
        if blanks < 8 { break }
      }
    }
  }

  /// A name that a word does not hold.
  private struct LongName {
    var end: Int
    var isEscaped: Bool
    var isASCII: Bool
    /// The `ShortName` of the name if it has at most seven bytes, else 0.
    var bits: UInt64
    /// A number that is equal for equal names without escapes.
    var digest: UInt64
  }

  @inline(never)
  private static func longName(
    _ padded: Span<UInt8>, _ start: Int
  ) throws(JSONError) -> LongName {
    let rest = try textEnd(padded, ByteWord.firstStop(inPadded: padded, from: start))
    let isPlain = !rest.isEscaped && rest.isASCII
    let count = rest.end - start
    // The bytes of a short name as a number; for a long name, its first eight bytes and its length.
    let bits = count < 8 ? ShortName(padded, from: start, to: rest.end).bits : 0
    let digest = count < 8 ? bits : ByteWord(padded, at: start).bits &+ UInt64(count)
    return LongName(
      end: rest.end, isEscaped: rest.isEscaped, isASCII: rest.isASCII, bits: isPlain ? bits : 0,
      digest: digest)
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
  private static func longNumber(
    _ padded: Span<UInt8>, _ start: Int
  ) throws(JSONError) -> (end: Int, isInteger: Bool) {
    let text = withoutPadding(padded)
    let number = try number(text, start)
    if !number.isInteger { try checkFinite(text, start..<number.end) }
    return number
  }

  private static func number(
    _ text: Span<UInt8>, _ start: Int
  ) throws(JSONError) -> (end: Int, isInteger: Bool) {
    var at = start
    var isInteger = true
    if text[at] == 0x2D {
      isInteger = false
      at += 1
    }
    let first = at
    at = try digits(text, at)
    if text[first] == 0x30, at > first + 1 { throw JSONError(.invalidNumber, at: first) }
    if at < text.count, text[at] == 0x2E {
      isInteger = false
      at = try digits(text, at + 1)
    }
    if at < text.count, text[at] == 0x65 || text[at] == 0x45 {
      isInteger = false
      at += 1
      if at < text.count, text[at] == 0x2B || text[at] == 0x2D { at += 1 }
      at = try digits(text, at)
    }
    if isInteger, isBeyondExactIntegers(text, start..<at) { isInteger = false }
    return (at, isInteger)
  }

  /// Returns the end of the digits at `start`, at least one.
  @inline(__always)
  private static func digits(_ text: Span<UInt8>, _ start: Int) throws(JSONError) -> Int {
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
  private struct TextEnd {
    var end: Int
    var isEscaped = false
    var isASCII = true
  }

  /// Reads the rest of a string, from its first byte that is not plain ASCII to the closing quote.
  private static func textEnd(_ padded: Span<UInt8>, _ start: Int) throws(JSONError) -> TextEnd {
    var rest = TextEnd(end: start)
    while true {
      let byte = try byte(padded, rest.end)
      if byte == 0x22 { return rest }
      if byte == 0x5C {
        rest.isEscaped = true
        rest.end = try escape(padded, rest.end)
      } else if byte < 0x20 {
        throw JSONError(.controlCharacter, at: rest.end)
      } else {
        rest.isASCII = false
        rest.end = try multibyte(byte, padded, rest.end)
      }
      rest.end = ByteWord.firstStop(inPadded: padded, from: rest.end)
    }
  }

  private static func escape(_ padded: Span<UInt8>, _ start: Int) throws(JSONError) -> Int {
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
      guard let digit = JSONText.hexValue(try byte(padded, at)) else {
        throw JSONError(.invalidEscape, at: at)
      }
      unit = unit << 4 | UInt32(digit)
    }
    return unit
  }

  /// Checks one multi-byte sequence by the Unicode Standard's table of well-formed UTF-8 (table
  /// 3-7).
  private static func multibyte(
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
