/// Writes JSON straight into bytes, with members in the order of the calls.
///
/// The writer appends a comma after each value, and removes it at the end of an object or list. So
/// it needs no check before a name or a value.
package struct JSONWriter: ~Copyable {
  private var buffer: ByteBuffer
  private static let comma: UInt8 = 0x2C

  package init(reserving capacity: Int = 256) { buffer = ByteBuffer(reserving: capacity) }

  /// Calls `body` with a writer that uses 1,024 bytes of the stack, and the heap if these do not
  /// suffice.
  package static func withScratch(_ body: (inout JSONWriter) -> Void) {
    unsafe withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 1) { memory in
      var json = unsafe JSONWriter(buffer: ByteBuffer(lent: memory))
      body(&json)
    }
  }

  private init(buffer: consuming ByteBuffer) { self.buffer = buffer }

  /// A copy of the JSON written so far; O(size).
  package var bytes: [UInt8] { buffer.prefix(count) }

  package var written: Span<UInt8> {
    @_lifetime(borrow self)
    get { buffer.bytes(0..<count) }
  }

  /// Removes what was written, but keeps the memory.
  package mutating func removeAll() { buffer.removeAll() }

  /// Removes what was written since the writer had this `position`.
  package mutating func remove(from position: Int) { buffer.remove(from: position) }

  /// The number of bytes written, without a comma at the end.
  package var count: Int { buffer.count - (buffer.last == Self.comma ? 1 : 0) }

  /// The byte offset at which the next name or value will begin.
  package var position: Int { buffer.count }

  /// A copy of the bytes written so far, with the comma at the end.
  package var pieces: [UInt8] { buffer.prefix(buffer.count) }

  @inline(__always)
  package mutating func beginObject() { buffer.append(0x7B) }

  package mutating func endObject() { buffer.appendEnd(0x7D) }

  @inline(__always)
  package mutating func beginArray() { buffer.append(0x5B) }

  package mutating func endArray() { buffer.appendEnd(0x5D) }

  /// Writes the name of the next value, which must need no escapes.
  @inline(__always)
  package mutating func name(_ name: StaticString) { buffer.appendName(name) }

  /// Writes a name that is not a literal, with escapes if needed.
  package mutating func dynamicName(_ name: String) { buffer.appendString(name.utf8.span, 0x3A) }

  package mutating func string(_ text: String) {
    buffer.appendString(text.utf8.span, Self.comma)
  }

  package mutating func string(utf8 bytes: Span<UInt8>) {
    buffer.appendString(bytes, Self.comma)
  }

  /// Writes a text that needs no escapes; ids and names of navs never do.
  package mutating func word(_ text: String) {
    assert(text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C })
    buffer.appendWord(text.utf8.span)
  }

  /// Writes a literal string that needs no escapes.
  @inline(__always)
  package mutating func plain(_ text: StaticString) {
    buffer.appendPlain(text)
  }

  package mutating func integer(_ value: UInt64) {
    buffer.appendInteger(value)
  }

  package mutating func digits(_ digits: Digits) { buffer.append(digits) }

  @inline(__always)
  package mutating func bool(_ value: Bool) {
    if value { buffer.append("true,") } else { buffer.append("false,") }
  }

  package mutating func null() { buffer.append("null,") }

  /// Writes a value that is already encoded as JSON.
  package mutating func raw(_ value: [UInt8]) { buffer.append(value.span, Self.comma) }

  package mutating func raw(_ value: Span<UInt8>) { buffer.append(value, Self.comma) }

  /// Writes JSON as it is; if a value follows, the text must end with a comma.
  @inline(__always)
  package mutating func literal(_ text: StaticString) { buffer.append(text) }

  /// Writes a JSON value made of `head`, `null` and `tail`.
  package mutating func raw(_ head: Span<UInt8>, nullAnd tail: Span<UInt8>) {
    buffer.append(head)
    buffer.append("null")
    buffer.append(tail, Self.comma)
  }

  package mutating func raw(_ head: Span<UInt8>, and tail: Span<UInt8>) {
    buffer.append(head)
    buffer.append(tail, Self.comma)
  }

  /// Writes what `pieces` of another writer gave.
  package mutating func pieces(_ pieces: [UInt8]) { buffer.append(pieces.span) }

  /// Writes a range of the bytes that `pieces` returned.
  package mutating func piece(_ pieces: [UInt8], _ range: Range<Int>) {
    buffer.append(pieces.span.extracting(range))
  }

  /// Writes 64 bits as 16 hex digits in quotes.
  package mutating func hex(_ bits: UInt64) { buffer.appendHex(bits) }

  package mutating func hex(_ high: UInt32, _ low: UInt64) { buffer.appendHex(high, low) }

  package mutating func hex(_ high: UInt64, _ low: UInt64) { buffer.appendHex(high, low) }
}

extension [UInt8] {
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
  package static func value(_ write: (inout JSONWriter) -> Void) -> [UInt8] {
    var json = JSONWriter(reserving: 64)
    write(&json)
    return json.bytes
  }
}

// Members of an object: a name and its value in one call. They are inlined, so that the compiler
// knows the bytes of each name and nothing copies a text.

extension JSONWriter {
  package static func object(
    reserving capacity: Int = 256, _ members: (inout JSONWriter) -> Void
  ) -> [UInt8] {
    var json = JSONWriter(reserving: capacity)
    json.beginObject()
    members(&json)
    json.endObject()
    return json.bytes
  }

  @inline(__always)
  package mutating func member(_ name: StaticString, _ value: String) {
    self.name(name)
    string(value)
  }

  @inline(__always)
  package mutating func member(_ name: StaticString, utf8 bytes: Span<UInt8>) {
    self.name(name)
    string(utf8: bytes)
  }

  /// Writes a member with a text that needs no escapes.
  @inline(__always)
  package mutating func member(_ name: StaticString, word value: String) {
    self.name(name)
    word(value)
  }

  @inline(__always)
  package mutating func member(_ name: StaticString, _ value: UInt64) {
    self.name(name)
    integer(value)
  }

  @inline(__always)
  package mutating func member(_ name: StaticString, _ value: Bool) {
    self.name(name)
    bool(value)
  }

  /// Writes a member with a literal that needs no escapes.
  @inline(__always)
  package mutating func member(_ name: StaticString, plain value: StaticString) {
    self.name(name)
    plain(value)
  }

  /// Writes a member whose value is already encoded as JSON.
  @inline(__always)
  package mutating func member(_ name: StaticString, raw value: [UInt8]) {
    self.name(name)
    raw(value)
  }

  @inline(__always)
  package mutating func member(_ name: StaticString, hex bits: UInt64) {
    self.name(name)
    hex(bits)
  }

  /// Writes the members `nav`, `epoch` and `rev`, which name one state of a nav.
  package mutating func place(_ nav: String, _ epoch: Epoch, _ revision: Revision) {
    member("nav", word: nav)
    place(epoch, revision)
  }

  /// Writes the members `epoch` and `rev`, which name one state of the message's nav.
  package mutating func place(_ epoch: Epoch, _ revision: Revision) {
    member("epoch", hex: epoch.bits)
    member("rev", revision.number)
  }

  /// Writes a member with a string; writes nothing for nil.
  @inline(__always)
  package mutating func optional(_ name: StaticString, _ text: String?) {
    guard let text else { return }
    self.name(name)
    string(text)
  }

  /// Writes a member with a value that navd does not interpret; writes nothing for nil.
  @inline(__always)
  package mutating func optional(_ name: StaticString, _ value: OpaqueJSON?) {
    guard let value else { return }
    self.name(name)
    raw(value.bytes)
  }

  /// Writes a member with `true`; writes nothing for false.
  @inline(__always)
  package mutating func flag(_ name: StaticString, _ value: Bool) {
    guard value else { return }
    self.name(name)
    bool(true)
  }
}
