import Navigation

/// Writes JSON straight into bytes; members come out in the order in which they are written.
///
/// Every value is written with a comma behind it, which the end of the object or list takes back:
/// so nothing has to be asked before a name or a value.
package struct JSONWriter: ~Copyable {
  private var buffer: ByteBuffer
  private static let comma: UInt8 = 0x2C

  /// Makes an empty writer.
  package init(reserving capacity: Int = 256) { buffer = ByteBuffer(reserving: capacity) }

  /// Lends a writer whose memory is on the stack, as long as all fits there.
  package static func withScratch(_ body: (inout JSONWriter) -> Void) {
    unsafe withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 1) { memory in
      var json = unsafe JSONWriter(buffer: ByteBuffer(lent: memory))
      body(&json)
    }
  }

  private init(buffer: consuming ByteBuffer) { self.buffer = buffer }

  /// What has been written; O(size), for it is copied.
  package var bytes: [UInt8] { buffer.prefix(count) }

  /// Makes `copy` what has been written; tells whether it was something else before.
  func copy(to copy: inout [UInt8]) -> Bool { buffer.copyPrefix(count, to: &copy) }

  /// Forgets what has been written, to write something else into the same memory.
  package mutating func removeAll() { buffer.removeAll() }

  /// How much has been written, in bytes.
  package var count: Int { buffer.count - (buffer.last == Self.comma ? 1 : 0) }

  /// Where the next name or value begins, unless the object or list ends before it.
  var position: Int { buffer.count }

  /// What has been written, with the comma that waits for the next value.
  package var pieces: [UInt8] { buffer.prefix(buffer.count) }

  /// Opens an object.
  @inline(__always)
  package mutating func beginObject() { buffer.append(0x7B) }

  /// Closes an object.
  package mutating func endObject() { buffer.appendEnd(0x7D) }

  /// Opens an array.
  @inline(__always)
  package mutating func beginArray() { buffer.append(0x5B) }

  /// Closes an array.
  package mutating func endArray() { buffer.appendEnd(0x5D) }

  /// Writes the name of the next value; `name` needs no escapes.
  @inline(__always)
  package mutating func name(_ name: StaticString) { buffer.appendName(name) }

  /// Writes a name that is not known when this is compiled.
  package mutating func dynamicName(_ name: String) { buffer.appendString(name.utf8.span, 0x3A) }

  /// Writes a string.
  package mutating func string(_ text: String) {
    buffer.appendString(text.utf8.span, Self.comma)
  }

  /// Writes a text of letters, digits and marks that need no escapes, as all ids and names of navs
  /// are.
  package mutating func word(_ text: String) {
    assert(text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C })
    buffer.appendWord(text.utf8.span)
  }

  /// Writes a string that needs no escapes.
  @inline(__always)
  package mutating func plain(_ text: StaticString) {
    buffer.appendPlain(text)
  }

  /// Writes an integer.
  package mutating func integer(_ value: UInt64) {
    buffer.appendInteger(value)
  }

  /// Writes a truth value.
  @inline(__always)
  package mutating func bool(_ value: Bool) {
    if value { buffer.append("true,") } else { buffer.append("false,") }
  }

  /// Writes null.
  package mutating func null() { buffer.append("null,") }

  /// Writes bytes that are a JSON value already.
  package mutating func raw(_ value: [UInt8]) { buffer.append(value.span, Self.comma) }

  /// Writes bytes that are a JSON value already.
  package mutating func raw(_ value: Span<UInt8>) { buffer.append(value, Self.comma) }

  /// Writes JSON as it stands, with the comma that goes before what follows.
  @inline(__always)
  mutating func literal(_ text: StaticString) { buffer.append(text) }

  /// Writes bytes that are a JSON value with null between them.
  package mutating func raw(_ head: Span<UInt8>, nullAnd tail: Span<UInt8>) {
    buffer.append(head)
    buffer.append("null")
    buffer.append(tail, Self.comma)
  }

  /// Writes bytes that together are a JSON value.
  package mutating func raw(_ head: Span<UInt8>, and tail: Span<UInt8>) {
    buffer.append(head)
    buffer.append(tail, Self.comma)
  }

  /// Writes what `pieces` of another writer gave.
  package mutating func pieces(_ pieces: [UInt8]) { buffer.append(pieces.span) }

  /// Writes a part of what `pieces` gave.
  mutating func piece(_ pieces: [UInt8], _ range: Range<Int>) {
    buffer.append(pieces.span.extracting(range))
  }

  /// Writes 64 bits as 16 hex digits in quotes.
  package mutating func hex(_ bits: UInt64) { buffer.appendHex(bits) }

  /// Writes 32 bits as 8 hex digits in quotes.
  package mutating func hex(_ bits: UInt32) { buffer.appendHex(bits) }

  /// Writes 128 bits as 32 hex digits in quotes.
  package mutating func hex(_ high: UInt64, _ low: UInt64) { buffer.appendHex(high, low) }
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

extension JSONWriter {
  /// The bytes of one value.
  package static func value(_ write: (inout JSONWriter) -> Void) -> [UInt8] {
    var json = JSONWriter(reserving: 64)
    write(&json)
    return json.bytes
  }
}

// Whole members of an object: a name and its value. They are inlined, so that a name is a few bytes
// known when this is compiled and not a text to copy.

extension JSONWriter {
  /// The bytes of one object.
  package static func object(
    reserving capacity: Int = 256, _ members: (inout JSONWriter) -> Void
  ) -> [UInt8] {
    var json = JSONWriter(reserving: capacity)
    json.beginObject()
    members(&json)
    json.endObject()
    return json.bytes
  }

  /// Writes a member with a string.
  @inline(__always)
  package mutating func member(_ name: StaticString, _ value: String) {
    self.name(name)
    string(value)
  }

  /// A text that needs no escapes.
  @inline(__always)
  package mutating func member(_ name: StaticString, word value: String) {
    self.name(name)
    word(value)
  }

  /// Writes a member with a number.
  @inline(__always)
  package mutating func member(_ name: StaticString, _ value: UInt64) {
    self.name(name)
    integer(value)
  }

  /// Writes a member with `true` or `false`.
  @inline(__always)
  package mutating func member(_ name: StaticString, _ value: Bool) {
    self.name(name)
    bool(value)
  }

  /// A value that needs no escapes.
  @inline(__always)
  package mutating func member(_ name: StaticString, plain value: StaticString) {
    self.name(name)
    plain(value)
  }

  /// A value that is JSON already.
  @inline(__always)
  package mutating func member(_ name: StaticString, raw value: [UInt8]) {
    self.name(name)
    raw(value)
  }

  /// Writes a member with 16 hexadecimal digits.
  @inline(__always)
  package mutating func member(_ name: StaticString, hex bits: UInt64) {
    self.name(name)
    hex(bits)
  }

  /// Writes a member with 8 hexadecimal digits.
  @inline(__always)
  package mutating func member(_ name: StaticString, hex bits: UInt32) {
    self.name(name)
    hex(bits)
  }

  /// Which state of which nav the message speaks of.
  mutating func place(_ nav: String, _ epoch: Epoch, _ revision: Revision) {
    member("nav", word: nav)
    place(epoch, revision)
  }

  /// Which state of the nav the message speaks of.
  mutating func place(_ epoch: Epoch, _ revision: Revision) {
    member("epoch", hex: epoch.bits)
    member("rev", revision.number)
  }
}
