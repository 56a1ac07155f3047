/// Decodes the escapes of JSON strings.
enum JSONStringEscapes {
  /// Returns a string with its escapes replaced; the scanner must have checked them.
  static func unescape(_ bytes: ArraySlice<UInt8>) -> String {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var at = bytes.startIndex
    while at < bytes.endIndex {
      let byte = bytes[at]
      guard byte == 0x5C else {
        result.append(byte)
        at += 1
        continue
      }
      switch bytes[at + 1] {
      case 0x75:
        var scalar = utf16Unit(bytes, at + 2)
        at += 6
        if scalar & 0xFC00 == 0xD800 {
          scalar = 0x10000 + (scalar & 0x3FF) << 10 + utf16Unit(bytes, at + 2) & 0x3FF
          at += 6
        }
        result.append(contentsOf: String(Unicode.Scalar(scalar) ?? "\u{FFFD}").utf8)
        continue
      case 0x62: result.append(0x08)
      case 0x66: result.append(0x0C)
      case 0x6E: result.append(0x0A)
      case 0x72: result.append(0x0D)
      case 0x74: result.append(0x09)
      case let plain: result.append(plain)
      }
      at += 2
    }
    return String(decoding: result, as: UTF8.self)
  }

  private static func utf16Unit(_ bytes: ArraySlice<UInt8>, _ start: Int) -> UInt32 {
    var unit: UInt32 = 0
    for offset in 0..<4 { unit = unit << 4 | UInt32(hexValue(bytes[start + offset]) ?? 0) }
    return unit
  }

  static func hexValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x37
    case 0x61...0x66: byte - 0x57
    default: nil
    }
  }
}

// The search for a name that an object has twice.

extension JSONScanner {
  /// Throws if the object has two members with the same name, after unescaping.
  ///
  /// For an object with more than 12 members or an escaped name, the function collects the names in
  /// a set, because comparing each pair would take quadratic time.
  static func checkNames(
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
      if haveSameBytes(tokens[key], tokens[other], in: text) { return true }
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
      var name = [UInt8](copying: text.extracting(Int(token.start)..<Int(token.end)))
      if token.isEscaped { name = Array(JSONStringEscapes.unescape(name[...]).utf8) }
      guard names.insert(name).inserted else {
        throw JSONError(.duplicateMember, at: Int(token.start))
      }
    }
  }

  private static func haveSameBytes(
    _ left: JSONTape.Token, _ right: JSONTape.Token, in text: Span<UInt8>
  ) -> Bool {
    text.extracting(Int(left.start)..<Int(left.end))
      .hasSameBytes(as: text.extracting(Int(right.start)..<Int(right.end)))
  }
}
