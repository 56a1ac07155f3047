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

  /// Writes an object; the closure writes its members.
  @inline(__always)
  package mutating func object(_ members: (inout JSONWriter) -> Void) {
    beginObject()
    members(&self)
    endObject()
  }

  /// Writes a member whose value is an object; the closure writes the members of the object.
  @inline(__always)
  package mutating func object(_ name: StaticString, _ members: (inout JSONWriter) -> Void) {
    self.name(name)
    object(members)
  }

  /// Writes an array; calls `write` for each element, to write its value.
  @inline(__always)
  package mutating func array<Elements: Sequence>(
    _ elements: Elements, _ write: (inout JSONWriter, Elements.Element) -> Void
  ) {
    beginArray()
    for element in elements { write(&self, element) }
    endArray()
  }

  /// Writes a member whose value is an array; calls `write` for each element, to write its value.
  @inline(__always)
  package mutating func array<Elements: Sequence>(
    _ name: StaticString, _ elements: Elements,
    _ write: (inout JSONWriter, Elements.Element) -> Void
  ) {
    self.name(name)
    array(elements, write)
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
  package mutating func member(_ name: StaticString, word unescaped: String) {
    self.name(name)
    word(unescaped)
  }

  @inline(__always)
  package mutating func member(_ name: StaticString, _ id: ScreenID) {
    self.name(name)
    word(id)
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

  /// Writes the members `nav`, `epoch` and `rev`, which identify one revision of a nav.
  package mutating func navRevision(_ nav: String, _ epoch: Epoch, _ revision: Revision) {
    member("nav", word: nav)
    self.revision(epoch, revision)
  }

  /// Writes the members `epoch` and `rev`, which identify one revision of a nav.
  package mutating func revision(_ epoch: Epoch, _ revision: Revision) {
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
  package mutating func memberIfTrue(_ name: StaticString, _ value: Bool) {
    guard value else { return }
    self.name(name)
    bool(true)
  }
}
