/// The state machine that splits a JSON text into tokens and checks the whole text.
struct JSONScanner {
  private let maximumDepth: Int
  private var at = 0
  /// The number of tokens found.
  private(set) var count = 0
  /// How many arrays and objects are open.
  private var depth = 0
  /// The token of the innermost open array or object.
  ///
  /// While it is open, its `next` holds the token of the container around it, and its `name` the
  /// `marks` of that container.
  private var container = 0
  /// The byte that closes the innermost open array or object.
  private var closer: UInt8 = 0
  /// One bit for each name in the innermost object; all bits if names may repeat and must be
  /// compared.
  private var marks: UInt64 = 0

  init(maximumDepth: Int) { self.maximumDepth = maximumDepth }

  /// Continues the scan; returns true at the end of the text, false if `tokens` is full.
  ///
  /// After false, the caller calls again with a longer `tokens`.
  mutating func scan(
    _ text: Span<UInt8>, into tokens: consuming MutableSpan<JSONTape.Token>
  ) throws(JSONError) -> Bool {
    precondition(text.count >= 0 && text.count < UInt32.max)
    // A local copy, which no other code can see, stays in registers.
    var state = self
    repeat {
      // Room for a name and a value.
      guard state.count <= tokens.count - 2 else {
        self = state
        return false
      }
      if state.closer == 0x7D { try state.key(text, &tokens) }
      let byte = try state.next(text)
      if byte == 0x22 {
        _ = try state.string(text, &tokens)
      } else if byte == 0x7B || byte == 0x5B {
        try state.begin(byte, &tokens)
        if try state.next(text) != state.closer { continue }
        try state.close(text, &tokens)
      } else if byte == 0x2D || byte &- 0x30 <= 9 {
        try state.number(text, &tokens)
      } else {
        try state.word(byte, text, &tokens)
      }
      while state.depth > 0, try !state.hasMore(text) { try state.close(text, &tokens) }
    } while state.depth > 0
    let end = Self.endOfSpace(text, state.at)
    guard end == text.count else { throw JSONError(.trailingBytes, at: end) }
    self = state
    return true
  }

  /// Skips spaces and returns the next byte, which must exist.
  @inline(__always)
  private mutating func next(_ text: Span<UInt8>) throws(JSONError) -> UInt8 {
    var byte = try Self.byte(text, at)
    if byte <= 0x20 {
      at = Self.endOfSpace(text, at)
      byte = try Self.byte(text, at)
    }
    return byte
  }

  /// Consumes the comma after a value; returns false at the byte that closes the container.
  @inline(__always)
  private mutating func hasMore(_ text: Span<UInt8>) throws(JSONError) -> Bool {
    let byte = try next(text)
    if byte == 0x2C {
      at &+= 1
      return true
    }
    guard byte == closer else { throw JSONError(.unexpectedByte, at: at) }
    return false
  }

  @inline(__always)
  private static func byte(_ text: Span<UInt8>, _ at: Int) throws(JSONError) -> UInt8 {
    // `at` is never negative. The unsigned comparison saves the bounds check of the span.
    guard UInt(bitPattern: at) < UInt(bitPattern: text.count) else {
      throw JSONError(.unexpectedEnd, at: at)
    }
    return text[at]
  }

  private static func endOfSpace(_ text: Span<UInt8>, _ start: Int) -> Int {
    var at = start
    while at < text.count {
      let byte = text[at]
      guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { break }
      at += 1
      // Indented and aligned texts have many spaces.
      while text.count - at >= 8 {
        let blanks = ByteWord(text, at: at).leadingBlanks
        at += blanks
        if blanks < 8 { break }
      }
    }
    return at
  }

  /// Reads a member name and the colon after it.
  @inline(__always)
  private mutating func key(
    _ text: Span<UInt8>, _ tokens: inout MutableSpan<JSONTape.Token>
  ) throws(JSONError) {
    guard try next(text) == 0x22 else { throw JSONError(.unexpectedByte, at: at) }
    let start = at &+ 1
    if start <= text.count - 8, let name = ByteWord(text, at: start).upToQuote {
      // Nearly all names have fewer than eight bytes, so one word holds the name and its quote.
      at = start &+ name.count
      append(.string, start, at, name: name.bits, &tokens)
      at &+= 1
      note(name.bits)
    } else if try string(text, &tokens) {
      marks = .max
    } else {
      note(Self.digest(ofName: text, start..<at - 1))
    }
    guard try next(text) == 0x3A else { throw JSONError(.unexpectedByte, at: at) }
    at &+= 1
  }

  /// Notes a name by one bit of `marks`, equal for equal names.
  ///
  /// Names must be compared only if the bit was set before.
  @inline(__always)
  private mutating func note(_ digest: UInt64) {
    // With this factor, no two members of a message of the protocol or of a journal row share a
    // bit.
    let mark: UInt64 = 1 &<< ((digest &* 0x8C68_9A3D_B7F2_2D5B) >> 58)
    marks = marks & mark == 0 ? marks | mark : .max
  }

  /// The bytes of a short name as a number; for a long name, its first eight bytes plus its length.
  private static func digest(ofName text: Span<UInt8>, _ range: Range<Int>) -> UInt64 {
    guard range.count >= 8 else {
      return ShortName(text, from: range.lowerBound, to: range.upperBound).bits
    }
    return ByteWord(text, at: range.lowerBound).bits &+ UInt64(range.count)
  }

  @inline(__always)
  private mutating func begin(
    _ byte: UInt8, _ tokens: inout MutableSpan<JSONTape.Token>
  ) throws(JSONError) {
    guard depth < maximumDepth else { throw JSONError(.tooDeep, at: at) }
    tokens[count] = JSONTape.Token(
      kind: byte == 0x7B ? .object : .array, start: UInt32(truncatingIfNeeded: at), end: 0,
      next: UInt32(truncatingIfNeeded: container), name: marks)
    container = count
    count &+= 1
    depth &+= 1
    closer = byte &+ 2
    marks = 0
    at &+= 1
  }

  @inline(__always)
  private mutating func close(
    _ text: Span<UInt8>, _ tokens: inout MutableSpan<JSONTape.Token>
  ) throws(JSONError) {
    at += 1
    let closed = container
    let mustCompare = marks == .max
    container = Int(tokens[closed].next)
    marks = tokens[closed].name
    tokens[closed].name = 0
    depth &-= 1
    closer = tokens[container].kind == .object ? 0x7D : 0x5D
    tokens[closed].end = UInt32(truncatingIfNeeded: at)
    tokens[closed].next = UInt32(truncatingIfNeeded: count)
    if mustCompare {
      try Self.checkNames(of: closed, text, tokens.span.extracting(first: count))
    }
  }

  @inline(__always)
  private mutating func word(
    _ first: UInt8, _ text: Span<UInt8>, _ tokens: inout MutableSpan<JSONTape.Token>
  ) throws(JSONError) {
    let start = at
    let kind: JSONTape.Kind
    switch first {
    case 0x74:
      kind = .yes
      at = try Self.end(of: "true", text, at)
    case 0x66:
      kind = .no
      at = try Self.end(of: "false", text, at)
    case 0x6E:
      kind = .null
      at = try Self.end(of: "null", text, at)
    default: throw JSONError(.unexpectedByte, at: at)
    }
    append(kind, start, at, &tokens)
  }

  private static func end(
    of word: StaticString, _ text: Span<UInt8>, _ start: Int
  ) throws(JSONError) -> Int {
    var at = start
    for expected in word.description.utf8 {
      guard try byte(text, at) == expected else { throw JSONError(.unexpectedByte, at: at) }
      at += 1
    }
    return at
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
    _ text: Span<UInt8>, _ tokens: inout MutableSpan<JSONTape.Token>
  ) throws(JSONError) {
    let start = at
    while at < text.count, text[at] &- 0x30 <= 9 { at &+= 1 }
    // Most numbers are short integers, which need no further check.
    let isPlain =
      at > start && at - start <= 15 && (at == start + 1 || text[start] != 0x30)
      && (at == text.count || text[at] != 0x2E && text[at] | 0x20 != 0x65)
    if isPlain { return append(.integer, start, at, &tokens) }
    let number = try Self.number(text, start)
    at = number.end
    append(number.isInteger ? .integer : .number, start, at, &tokens)
    if !number.isInteger { try Self.checkFinite(text, start..<at) }
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

  /// Reads a string whose opening quote is at `at`; returns whether it has escapes.
  @inline(__always)
  private mutating func string(
    _ text: Span<UInt8>, _ tokens: inout MutableSpan<JSONTape.Token>
  ) throws(JSONError) -> Bool {
    let start = at &+ 1
    var rest = Rest(end: ByteWord.firstStop(in: text, from: start))
    if rest.end == text.count || text[rest.end] != 0x22 { rest = try Self.rest(text, rest.end) }
    append(.string, start, rest.end, isEscaped: rest.isEscaped, isASCII: rest.isASCII, &tokens)
    at = rest.end &+ 1
    return rest.isEscaped
  }

  // The functions below are rarely called. They take and return indices instead of changing `at`,
  // so that the loops above keep it in a register. Each returns the index after what it checked.

  /// The end of a string and the properties found after its plain ASCII start.
  private struct Rest {
    var end: Int
    var isEscaped = false
    var isASCII = true
  }

  /// Reads the rest of a string, from its first byte that is not plain ASCII to the closing quote.
  private static func rest(_ text: Span<UInt8>, _ start: Int) throws(JSONError) -> Rest {
    var rest = Rest(end: start)
    while true {
      let byte = try byte(text, rest.end)
      if byte == 0x22 { return rest }
      if byte == 0x5C {
        rest.isEscaped = true
        rest.end = try escape(text, rest.end)
      } else if byte < 0x20 {
        throw JSONError(.controlCharacter, at: rest.end)
      } else {
        rest.isASCII = false
        rest.end = try multibyte(byte, text, rest.end)
      }
      rest.end = ByteWord.firstStop(in: text, from: rest.end)
    }
  }

  private static func escape(_ text: Span<UInt8>, _ start: Int) throws(JSONError) -> Int {
    switch try byte(text, start + 1) {
    case 0x22, 0x5C, 0x2F, 0x62, 0x66, 0x6E, 0x72, 0x74: return start + 2
    case 0x75:
      let unit = try hexUnit(text, start + 2)
      let at = start + 6
      if unit & 0xFC00 == 0xDC00 { throw JSONError(.loneSurrogate, at: start) }
      guard unit & 0xFC00 == 0xD800 else { return at }
      guard at + 1 < text.count, text[at] == 0x5C, text[at + 1] == 0x75,
        try hexUnit(text, at + 2) & 0xFC00 == 0xDC00
      else { throw JSONError(.loneSurrogate, at: start) }
      return at + 6
    default: throw JSONError(.invalidEscape, at: start)
    }
  }

  /// The value of the four hex digits of a `\u` escape.
  private static func hexUnit(_ text: Span<UInt8>, _ start: Int) throws(JSONError) -> UInt32 {
    var unit: UInt32 = 0
    for at in start..<start + 4 {
      guard let digit = JSONText.hexValue(try byte(text, at)) else {
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

  /// Throws if the object has two members with the same name, after unescaping.
  ///
  /// An object with more than 12 members or an escaped name goes through a set, so a hostile one
  /// costs no quadratic time.
  private static func checkNames(
    of object: Int, _ text: Span<UInt8>, _ tokens: Span<JSONTape.Token>
  ) throws(JSONError) {
    var count = 0
    var key = object + 1
    while key < tokens.count {
      count += 1
      let name = tokens[key]
      if count > 12 || name.isEscaped { return try checkManyNames(of: object, text, tokens) }
      if isName(key, usedIn: object, text, tokens) {
        throw JSONError(.duplicateMember, at: Int(name.start))
      }
      key = Int(tokens[key + 1].next)
    }
  }

  private static func isName(
    _ key: Int, usedIn object: Int, _ text: Span<UInt8>, _ tokens: Span<JSONTape.Token>
  ) -> Bool {
    var other = object + 1
    while other < key {
      if areEqual(tokens[key], tokens[other], text) { return true }
      other = Int(tokens[other + 1].next)
    }
    return false
  }

  private static func checkManyNames(
    of object: Int, _ text: Span<UInt8>, _ tokens: Span<JSONTape.Token>
  ) throws(JSONError) {
    var names: Set<[UInt8]> = []
    var next = object + 1
    while next < tokens.count {
      let token = tokens[next]
      next = Int(tokens[next + 1].next)
      var name: [UInt8] = []
      for position in Int(token.start)..<Int(token.end) { name.append(text[position]) }
      if token.isEscaped { name = Array(JSONText.unescape(name[...]).utf8) }
      guard names.insert(name).inserted else {
        throw JSONError(.duplicateMember, at: Int(token.start))
      }
    }
  }

  private static func areEqual(
    _ left: JSONTape.Token, _ right: JSONTape.Token, _ text: Span<UInt8>
  ) -> Bool {
    let length = left.end - left.start
    guard length == right.end - right.start else { return false }
    for offset in 0..<Int(length)
    where text[Int(left.start) + offset] != text[Int(right.start) + offset] {
      return false
    }
    return true
  }
}
