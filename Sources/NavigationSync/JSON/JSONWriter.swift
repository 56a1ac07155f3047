/// Writes JSON straight into bytes; members come out in the order in which they are written.
package struct JSONWriter: ~Copyable {
  private var buffer: ByteBuffer
  private var needsComma = false

  /// Makes an empty writer.
  package init(reserving capacity: Int = 256) { buffer = ByteBuffer(reserving: capacity) }

  /// What has been written; O(size), for it is copied.
  package var bytes: [UInt8] { buffer.array }

  /// How much has been written, in bytes.
  package var count: Int { buffer.count }

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
    buffer.appendQuoted(name, hasComma: needsComma, hasColon: true)
    needsComma = false
  }

  /// Writes a name that is not known when this is compiled.
  package mutating func dynamicName(_ name: String) {
    string(name)
    buffer.append(0x3A)
    needsComma = false
  }

  /// Writes a string.
  package mutating func string(_ text: String) {
    separate()
    buffer.append(0x22)
    appendEscaped(text)
    buffer.append(0x22)
    needsComma = true
  }

  /// Writes a string that needs no escapes.
  @inline(__always)
  package mutating func plain(_ text: StaticString) {
    buffer.appendQuoted(text, hasComma: needsComma, hasColon: false)
    needsComma = true
  }

  /// Writes an integer.
  package mutating func integer(_ value: UInt64) {
    separate()
    buffer.appendDigits(value)
    needsComma = true
  }

  /// Writes a truth value.
  package mutating func bool(_ value: Bool) {
    separate()
    if value { buffer.append("true") } else { buffer.append("false") }
    needsComma = true
  }

  /// Writes null.
  package mutating func null() {
    separate()
    buffer.append("null")
    needsComma = true
  }

  /// Writes bytes that are a JSON value already.
  package mutating func raw(_ value: [UInt8]) {
    separate()
    buffer.append(value)
    needsComma = true
  }

  /// Writes bytes that are a JSON value with null between them.
  mutating func raw(_ head: ArraySlice<UInt8>, nullAnd tail: ArraySlice<UInt8>) {
    separate()
    buffer.append(head)
    buffer.append("null")
    buffer.append(tail)
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
    buffer.append(0x22)
    appendHex(high, digits: 16)
    appendHex(low, digits: 16)
    buffer.append(0x22)
    needsComma = true
  }

  private mutating func hex(_ bits: UInt64, digits: Int) {
    separate()
    buffer.append(0x22)
    appendHex(bits, digits: digits)
    buffer.append(0x22)
    needsComma = true
  }

  /// Appends 8 or 16 digits.
  private mutating func appendHex(_ bits: UInt64, digits: Int) {
    if digits == 16 {
      buffer.append(ByteWord(hexDigitsOf: UInt32(truncatingIfNeeded: bits >> 32)))
    }
    buffer.append(ByteWord(hexDigitsOf: UInt32(truncatingIfNeeded: bits)))
  }

  private mutating func begin(_ byte: UInt8) {
    separate()
    buffer.append(byte)
    needsComma = false
  }

  private mutating func end(_ byte: UInt8) {
    buffer.append(byte)
    needsComma = true
  }

  @inline(__always)
  private mutating func separate() { if needsComma { buffer.append(0x2C) } }

  private mutating func appendEscaped(_ text: String) {
    let isContiguous: Void? = unsafe text.utf8.withContiguousStorageIfAvailable { utf8 in
      let span = unsafe utf8.span
      let plain = ByteWord.firstSpecial(in: span, from: 0)
      unsafe buffer.append(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(utf8)[..<plain]))
      for index in plain..<span.count { appendEscaped(span[index]) }
    }
    guard isContiguous == nil else { return }
    for byte in text.utf8 { appendEscaped(byte) }
  }

  private mutating func appendEscaped(_ byte: UInt8) {
    switch byte {
    case 0x22, 0x5C:
      buffer.append(0x5C)
      buffer.append(byte)
    case 0x0A: buffer.append("\\n")
    case 0x0D: buffer.append("\\r")
    case 0x09: buffer.append("\\t")
    case 0x00..<0x20:
      buffer.append("\\u00")
      appendHexDigit(byte >> 4)
      appendHexDigit(byte & 15)
    default: buffer.append(byte)
    }
  }

  private mutating func appendHexDigit(_ digit: UInt8) { buffer.append(Self.hexDigit(digit)) }

  private static func hexDigit(_ digit: UInt8) -> UInt8 {
    digit < 10 ? 0x30 + digit : 0x57 + digit
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
