/// Writes JSON straight into bytes; members come out in the order in which they are written.
package struct JSONWriter: Sendable {
  /// What has been written.
  package private(set) var bytes: [UInt8]
  private var needsComma = false

  /// Makes an empty writer.
  package init(reserving capacity: Int = 256) {
    bytes = []
    bytes.reserveCapacity(capacity)
  }

  /// Opens an object.
  package mutating func beginObject() { begin(0x7B) }

  /// Closes an object.
  package mutating func endObject() { end(0x7D) }

  /// Opens an array.
  package mutating func beginArray() { begin(0x5B) }

  /// Closes an array.
  package mutating func endArray() { end(0x5D) }

  /// Writes the name of the next value; `name` needs no escapes.
  @inline(__always)
  package mutating func name(_ name: StaticString) {
    quote(name, isName: true)
    needsComma = false
  }

  /// Writes a name that is not known when this is compiled.
  package mutating func dynamicName(_ name: String) {
    string(name)
    bytes.append(0x3A)
    needsComma = false
  }

  /// Writes a string.
  package mutating func string(_ text: String) {
    separate()
    bytes.append(0x22)
    appendEscaped(text)
    bytes.append(0x22)
    needsComma = true
  }

  /// Writes a string that needs no escapes.
  @inline(__always)
  package mutating func plain(_ text: StaticString) {
    quote(text, isName: false)
    needsComma = true
  }

  /// Writes an integer.
  package mutating func integer(_ value: UInt64) {
    separate()
    appendDigits(value)
    needsComma = true
  }

  /// Writes a truth value.
  package mutating func bool(_ value: Bool) {
    separate()
    if value { append("true") } else { append("false") }
    needsComma = true
  }

  /// Writes null.
  package mutating func null() {
    separate()
    append("null")
    needsComma = true
  }

  /// Writes bytes that are a JSON value already.
  package mutating func raw(_ value: [UInt8]) {
    separate()
    bytes.append(contentsOf: value)
    needsComma = true
  }

  /// Writes bytes that are a JSON value with null between them.
  mutating func raw(_ head: ArraySlice<UInt8>, nullAnd tail: ArraySlice<UInt8>) {
    separate()
    bytes.append(contentsOf: head)
    append("null")
    bytes.append(contentsOf: tail)
    needsComma = true
  }

  /// Writes 64 bits as 16 hex digits in quotes.
  package mutating func hex(_ bits: UInt64) {
    hex(bits, digits: 16)
  }

  /// Writes 32 bits as 8 hex digits in quotes.
  package mutating func hex(_ bits: UInt32) {
    hex(UInt64(bits), digits: 8)
  }

  /// Writes 128 bits as 32 hex digits in quotes.
  package mutating func hex(_ high: UInt64, _ low: UInt64) {
    separate()
    bytes.append(addingCapacity: 34) { output in
      output.append(0x22)
      Self.append(high, digits: 16, to: &output)
      Self.append(low, digits: 16, to: &output)
      output.append(0x22)
    }
    needsComma = true
  }

  private mutating func hex(_ bits: UInt64, digits: Int) {
    separate()
    bytes.append(addingCapacity: digits + 2) { output in
      output.append(0x22)
      Self.append(bits, digits: digits, to: &output)
      output.append(0x22)
    }
    needsComma = true
  }

  /// Appends 8 or 16 digits.
  private static func append(_ bits: UInt64, digits: Int, to output: inout OutputSpan<UInt8>) {
    if digits == 16 {
      append(ByteWord(hexDigitsOf: UInt32(truncatingIfNeeded: bits >> 32)), &output)
    }
    append(ByteWord(hexDigitsOf: UInt32(truncatingIfNeeded: bits)), &output)
  }

  private static func append(_ word: ByteWord, _ output: inout OutputSpan<UInt8>) {
    for index in 0..<8 { output.append(word[index]) }
  }

  /// Appends a comma if one is due, the text in quotes, and the colon behind a name, at once.
  private mutating func quote(_ text: StaticString, isName: Bool) {
    let hasComma = needsComma
    let count = text.utf8CodeUnitCount
    // A literal's bytes are constant memory of known length.
    let literal = unsafe UnsafeBufferPointer(start: text.utf8Start, count: count)
    bytes.append(addingCapacity: count + 4) { output in
      if hasComma { output.append(0x2C) }
      output.append(0x22)
      for index in 0..<count { output.append(unsafe literal[index]) }
      output.append(0x22)
      if isName { output.append(0x3A) }
    }
  }

  private mutating func begin(_ byte: UInt8) {
    separate()
    bytes.append(byte)
    needsComma = false
  }

  private mutating func end(_ byte: UInt8) {
    bytes.append(byte)
    needsComma = true
  }

  @inline(__always)
  private mutating func separate() { if needsComma { bytes.append(0x2C) } }

  @inline(__always)
  private mutating func append(_ text: StaticString) {
    // A literal's bytes are constant memory of known length.
    unsafe bytes.append(
      contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  private mutating func appendEscaped(_ text: String) {
    var text = text
    text.withUTF8 { utf8 in
      let span = unsafe utf8.span
      if ByteWord.firstSpecial(in: span, from: 0) == span.count {
        unsafe bytes.append(contentsOf: utf8)
      } else {
        for index in span.indices { appendEscaped(span[index]) }
      }
    }
  }

  private mutating func appendEscaped(_ byte: UInt8) {
    switch byte {
    case 0x22, 0x5C:
      bytes.append(0x5C)
      bytes.append(byte)
    case 0x0A: append("\\n")
    case 0x0D: append("\\r")
    case 0x09: append("\\t")
    case 0x00..<0x20:
      append("\\u00")
      appendHexDigit(byte >> 4)
      appendHexDigit(byte & 15)
    default: bytes.append(byte)
    }
  }

  private mutating func appendHexDigit(_ digit: UInt8) { bytes.append(Self.hexDigit(digit)) }

  private static func hexDigit(_ digit: UInt8) -> UInt8 {
    digit < 10 ? 0x30 + digit : 0x57 + digit
  }

  /// Appends the decimal digits of a number.
  mutating func appendDigits(_ value: UInt64) {
    bytes.appendDigits(value)
  }
}

extension [UInt8] {
  /// Appends the decimal digits of a number.
  mutating func appendDigits(_ value: UInt64) {
    if value < 10 {
      append(0x30 + UInt8(value))
      return
    }
    // 20 digits are enough for 64 bits.
    var digits = InlineArray<20, UInt8>(repeating: 0)
    var first = 20
    var rest = value
    while rest > 0 {
      first -= 1
      digits[first] = 0x30 + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    }
    append(addingCapacity: 20 - first) { output in
      for index in first..<20 { output.append(digits[index]) }
    }
  }
}
