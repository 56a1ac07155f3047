/// The state machine that turns a JSON text into tokens, checking all of it on the way.
struct JSONScanner {
  private let maximumDepth: Int
  private var at = 0
  /// How many arrays and objects are open.
  private var depth = 0
  /// The token of the innermost one, whose `next` is that of the one around it as long as it is open.
  private var container = 0
  private var isInObject = false

  init(maximumDepth: Int) { self.maximumDepth = maximumDepth }

  mutating func scan(
    _ text: Span<UInt8>, into tokens: inout [JSONTape.Token]
  ) throws(JSONError) {
    skipSpace(text)
    repeat {
      if isInObject { try key(text, &tokens) }
      try value(text, &tokens)
    } while try goesOn(text, &tokens)
    skipSpace(text)
    guard at == text.count else { throw JSONError(.trailingBytes, at: at) }
  }

  /// Closes the containers that end here; whether another member or element follows.
  @inline(__always)
  private mutating func goesOn(
    _ text: Span<UInt8>, _ tokens: inout [JSONTape.Token]
  ) throws(JSONError) -> Bool {
    while depth > 0 {
      skipSpace(text)
      let byte = try peek(text)
      if byte == (isInObject ? 0x7D : 0x5D) {
        try close(text, &tokens)
        continue
      }
      if tokens.count > container + 1 {
        guard byte == 0x2C else { throw JSONError(.unexpectedByte, at: at) }
        at += 1
        skipSpace(text)
      }
      return true
    }
    return false
  }

  @inline(__always)
  private func peek(_ text: Span<UInt8>) throws(JSONError) -> UInt8 {
    try Self.byte(text, at)
  }

  @inline(__always)
  private static func byte(_ text: Span<UInt8>, _ at: Int) throws(JSONError) -> UInt8 {
    guard at < text.count else { throw JSONError(.unexpectedEnd, at: at) }
    return text[at]
  }

  @inline(__always)
  private mutating func skipSpace(_ text: Span<UInt8>) {
    while at < text.count {
      let byte = text[at]
      guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
      at += 1
    }
  }

  @inline(__always)
  private mutating func key(
    _ text: Span<UInt8>, _ tokens: inout [JSONTape.Token]
  ) throws(JSONError) {
    guard try peek(text) == 0x22 else { throw JSONError(.unexpectedByte, at: at) }
    try string(text, &tokens)
    skipSpace(text)
    guard try peek(text) == 0x3A else { throw JSONError(.unexpectedByte, at: at) }
    at += 1
    skipSpace(text)
  }

  @inline(__always)
  private mutating func value(
    _ text: Span<UInt8>, _ tokens: inout [JSONTape.Token]
  ) throws(JSONError) {
    let byte = try peek(text)
    switch byte {
    case 0x22: try string(text, &tokens)
    case 0x7B: try begin(.object, &tokens)
    case 0x5B: try begin(.array, &tokens)
    case 0x74: try word("true", .yes, text, &tokens)
    case 0x66: try word("false", .no, text, &tokens)
    case 0x6E: try word("null", .null, text, &tokens)
    case 0x2D, 0x30...0x39: try number(text, &tokens)
    default: throw JSONError(.unexpectedByte, at: at)
    }
  }

  @inline(__always)
  private mutating func begin(
    _ kind: JSONTape.Kind, _ tokens: inout [JSONTape.Token]
  ) throws(JSONError) {
    guard depth < maximumDepth else { throw JSONError(.tooDeep, at: at) }
    let outer = container
    container = tokens.count
    depth += 1
    isInObject = kind == .object
    tokens.append(JSONTape.Token(kind: kind, start: UInt32(at), next: UInt32(outer)))
    at += 1
  }

  @inline(__always)
  private mutating func close(
    _ text: Span<UInt8>, _ tokens: inout [JSONTape.Token]
  ) throws(JSONError) {
    at += 1
    let closed = container
    let wasObject = isInObject
    depth -= 1
    container = Int(tokens[closed].next)
    isInObject = depth > 0 && tokens[container].kind == .object
    tokens[closed].end = UInt32(at)
    tokens[closed].next = UInt32(tokens.count)
    // A first member that ends with the object is the only one.
    let first = closed + 2
    guard wasObject, first < tokens.count, Int(tokens[first].next) < tokens.count else { return }
    try Self.checkNames(of: closed, text, tokens)
  }

  @inline(__always)
  private mutating func word(
    _ word: StaticString, _ kind: JSONTape.Kind, _ text: Span<UInt8>,
    _ tokens: inout [JSONTape.Token]
  ) throws(JSONError) {
    let start = at
    at = try Self.end(of: word, text, at)
    append(kind, from: start, &tokens)
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
    _ kind: JSONTape.Kind, from start: Int, isEscaped: Bool = false,
    _ tokens: inout [JSONTape.Token]
  ) {
    tokens.append(
      JSONTape.Token(
        kind: kind, isEscaped: isEscaped, start: UInt32(start), end: UInt32(at),
        next: UInt32(tokens.count + 1)))
  }

  @inline(__always)
  private mutating func number(
    _ text: Span<UInt8>, _ tokens: inout [JSONTape.Token]
  ) throws(JSONError) {
    let start = at
    let number = try Self.number(text, at)
    at = number.end
    append(number.isInteger ? .integer : .number, from: start, &tokens)
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

  /// The end of the digits that stand at `start`, of which there must be one.
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

  @inline(__always)
  private mutating func string(
    _ text: Span<UInt8>, _ tokens: inout [JSONTape.Token]
  ) throws(JSONError) {
    at += 1
    let start = at
    var isEscaped = false
    while true {
      at = ByteWord.firstSpecial(in: text, from: at, stopsAtNonASCII: true)
      let byte = try peek(text)
      if byte == 0x22 { break }
      if byte == 0x5C {
        isEscaped = true
        at = try Self.escape(text, at)
      } else if byte < 0x20 {
        throw JSONError(.controlCharacter, at: at)
      } else {
        at = try Self.multibyte(byte, text, at)
      }
    }
    append(.string, from: start, isEscaped: isEscaped, &tokens)
    at += 1
  }

  // What follows is rare and told where it is rather than changing it, so that the loops above keep
  // their place in a register. Each returns the index behind what it checked.

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

  /// The four hex digits of an escape.
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

  /// Checks one multi-byte sequence: the table of well-formed UTF-8 in the Unicode Standard.
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

  /// Refuses an object that names a member twice, comparing names as they read, not as they are
  /// written.
  ///
  /// A name is compared with the others only if one of them has the same mark. Large objects go
  /// through a set, so a hostile one costs no quadratic time.
  private static func checkNames(
    of object: Int, _ text: Span<UInt8>, _ tokens: [JSONTape.Token]
  ) throws(JSONError) {
    var count = 0
    var marks: UInt64 = 0
    var key = object + 1
    while key < tokens.count {
      count += 1
      let name = tokens[key]
      if count > 12 || name.isEscaped { return try checkManyNames(of: object, text, tokens) }
      let mark = mark(of: name, text)
      if marks & mark != 0, isName(key, usedIn: object, text, tokens) {
        throw JSONError(.duplicateMember, at: Int(name.start))
      }
      marks |= mark
      key = Int(tokens[key + 1].next)
    }
  }

  /// One bit, the same for equal names: of their length, first byte and byte in the middle.
  @inline(__always)
  private static func mark(of name: JSONTape.Token, _ text: Span<UInt8>) -> UInt64 {
    // A closing quote stands behind the name, so even an empty one has these bytes.
    let first = text[Int(name.start)]
    let middle = text[(Int(name.start) + Int(name.end)) / 2]
    return 1 &<< UInt64(first &+ middle &* 3 &+ UInt8(truncatingIfNeeded: name.end &- name.start))
  }

  private static func isName(
    _ key: Int, usedIn object: Int, _ text: Span<UInt8>, _ tokens: [JSONTape.Token]
  ) -> Bool {
    var other = object + 1
    while other < key {
      if areEqual(tokens[key], tokens[other], text) { return true }
      other = Int(tokens[other + 1].next)
    }
    return false
  }

  private static func checkManyNames(
    of object: Int, _ text: Span<UInt8>, _ tokens: [JSONTape.Token]
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
