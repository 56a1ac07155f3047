/// The state machine that turns a JSON text into tokens, checking all of it on the way.
struct JSONScanner {
  private let count: Int
  private let maximumDepth: Int
  private var at = 0
  /// The indexes of the open arrays and objects.
  private var open: [Int] = []

  init(count: Int, maximumDepth: Int) {
    self.count = count
    self.maximumDepth = maximumDepth
  }

  mutating func scan(
    _ text: Span<UInt8>, into tokens: inout [JSONTape.Token]
  ) throws(JSONError) {
    skipSpace(text)
    try value(text, &tokens)
    while let container = open.last {
      skipSpace(text)
      let byte = try peek(text)
      let isObject = tokens[container].kind == .object
      let isEmpty = tokens.count == container + 1
      if byte == (isObject ? 0x7D : 0x5D) {
        at += 1
        try close(container, text, &tokens)
        continue
      }
      if !isEmpty {
        guard byte == 0x2C else { throw JSONError(.unexpectedByte, at: at) }
        at += 1
        skipSpace(text)
      }
      if isObject { try key(text, &tokens) }
      try value(text, &tokens)
    }
    skipSpace(text)
    guard at == count else { throw JSONError(.trailingBytes, at: at) }
  }

  private func peek(_ text: Span<UInt8>) throws(JSONError) -> UInt8 {
    guard at < count else { throw JSONError(.unexpectedEnd, at: at) }
    return text[at]
  }

  private mutating func skipSpace(_ text: Span<UInt8>) {
    while at < count {
      let byte = text[at]
      guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
      at += 1
    }
  }

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

  private mutating func begin(
    _ kind: JSONTape.Kind, _ tokens: inout [JSONTape.Token]
  ) throws(JSONError) {
    guard open.count < maximumDepth else { throw JSONError(.tooDeep, at: at) }
    open.append(tokens.count)
    tokens.append(JSONTape.Token(kind: kind, start: UInt32(at)))
    at += 1
  }

  private mutating func close(
    _ container: Int, _ text: Span<UInt8>, _ tokens: inout [JSONTape.Token]
  ) throws(JSONError) {
    open.removeLast()
    tokens[container].end = UInt32(at)
    tokens[container].next = UInt32(tokens.count)
    if tokens[container].kind == .object { try checkNames(of: container, text, tokens) }
  }

  private mutating func word(
    _ word: StaticString, _ kind: JSONTape.Kind, _ text: Span<UInt8>,
    _ tokens: inout [JSONTape.Token]
  ) throws(JSONError) {
    let start = at
    for expected in word.description.utf8 {
      guard try peek(text) == expected else { throw JSONError(.unexpectedByte, at: at) }
      at += 1
    }
    append(kind, from: start, &tokens)
  }

  private mutating func append(
    _ kind: JSONTape.Kind, from start: Int, isEscaped: Bool = false,
    _ tokens: inout [JSONTape.Token]
  ) {
    tokens.append(
      JSONTape.Token(
        kind: kind, isEscaped: isEscaped, start: UInt32(start), end: UInt32(at),
        next: UInt32(tokens.count + 1)))
  }

  private mutating func number(
    _ text: Span<UInt8>, _ tokens: inout [JSONTape.Token]
  ) throws(JSONError) {
    let start = at
    var isInteger = true
    if text[at] == 0x2D {
      isInteger = false
      at += 1
    }
    let first = at
    try digits(text)
    if text[first] == 0x30, at > first + 1 { throw JSONError(.invalidNumber, at: first) }
    if at < count, text[at] == 0x2E {
      isInteger = false
      at += 1
      try digits(text)
    }
    if at < count, text[at] == 0x65 || text[at] == 0x45 {
      isInteger = false
      at += 1
      if at < count, text[at] == 0x2B || text[at] == 0x2D { at += 1 }
      try digits(text)
    }
    if isInteger, isBeyondExactIntegers(text, start) { isInteger = false }
    append(isInteger ? .integer : .number, from: start, &tokens)
    if !isInteger { try checkFinite(text, start) }
  }

  private mutating func digits(_ text: Span<UInt8>) throws(JSONError) {
    let start = at
    while at < count, text[at] >= 0x30, text[at] <= 0x39 { at += 1 }
    guard at > start else {
      throw JSONError(at < count ? .invalidNumber : .unexpectedEnd, at: at)
    }
  }

  /// Whether an integer exceeds 2^53−1, up to which a double is exact.
  private func isBeyondExactIntegers(_ text: Span<UInt8>, _ start: Int) -> Bool {
    guard at - start >= 16 else { return false }
    guard at - start == 16 else { return true }
    var value: UInt64 = 0
    for position in start..<at { value = value * 10 + UInt64(text[position] - 0x30) }
    return value > 9_007_199_254_740_991
  }

  private func checkFinite(_ text: Span<UInt8>, _ start: Int) throws(JSONError) {
    var digits: [UInt8] = []
    for position in start..<at { digits.append(text[position]) }
    guard let value = Double(String(decoding: digits, as: UTF8.self)), value.isFinite else {
      throw JSONError(.numberOutOfRange, at: start)
    }
  }

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
        try escape(text)
      } else if byte < 0x20 {
        throw JSONError(.controlCharacter, at: at)
      } else {
        try multibyte(byte, text)
      }
    }
    append(.string, from: start, isEscaped: isEscaped, &tokens)
    at += 1
  }

  private mutating func escape(_ text: Span<UInt8>) throws(JSONError) {
    let start = at
    at += 1
    switch try peek(text) {
    case 0x22, 0x5C, 0x2F, 0x62, 0x66, 0x6E, 0x72, 0x74: at += 1
    case 0x75:
      let unit = try hexUnit(text)
      if unit & 0xFC00 == 0xDC00 { throw JSONError(.loneSurrogate, at: start) }
      guard unit & 0xFC00 == 0xD800 else { return }
      guard at + 1 < count, text[at] == 0x5C, text[at + 1] == 0x75 else {
        throw JSONError(.loneSurrogate, at: start)
      }
      at += 1
      guard try hexUnit(text) & 0xFC00 == 0xDC00 else {
        throw JSONError(.loneSurrogate, at: start)
      }
    default: throw JSONError(.invalidEscape, at: start)
    }
  }

  /// Reads `uXXXX`; `at` stands on the `u`.
  private mutating func hexUnit(_ text: Span<UInt8>) throws(JSONError) -> UInt32 {
    at += 1
    var unit: UInt32 = 0
    for _ in 0..<4 {
      guard let digit = JSONText.hexValue(try peek(text)) else {
        throw JSONError(.invalidEscape, at: at)
      }
      unit = unit << 4 | UInt32(digit)
      at += 1
    }
    return unit
  }

  /// Checks one multi-byte sequence: the table of well-formed UTF-8 in the Unicode Standard.
  private mutating func multibyte(_ lead: UInt8, _ text: Span<UInt8>) throws(JSONError) {
    let start = at
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
    guard start + length <= count else { throw JSONError(.invalidUTF8, at: start) }
    guard text[start + 1] >= lower, text[start + 1] <= upper else {
      throw JSONError(.invalidUTF8, at: start)
    }
    for offset in 2..<max(length, 2) where text[start + offset] & 0xC0 != 0x80 {
      throw JSONError(.invalidUTF8, at: start)
    }
    at = start + length
  }

  /// Refuses an object that names a member twice, comparing names as they read, not as they are
  /// written.
  ///
  /// Large objects go through a set, so a hostile one costs no quadratic time.
  private func checkNames(
    of object: Int, _ text: Span<UInt8>, _ tokens: [JSONTape.Token]
  ) throws(JSONError) {
    var count = 0
    var key = object + 1
    while key < tokens.count {
      count += 1
      if count > 12 || tokens[key].isEscaped { return try checkManyNames(of: object, text, tokens) }
      var other = object + 1
      while other < key {
        if areEqual(tokens[key], tokens[other], text) {
          throw JSONError(.duplicateMember, at: Int(tokens[key].start))
        }
        other = Int(tokens[other + 1].next)
      }
      key = Int(tokens[key + 1].next)
    }
  }

  private func checkManyNames(
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

  private func areEqual(
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
