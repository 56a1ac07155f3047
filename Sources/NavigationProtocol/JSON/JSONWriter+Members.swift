import Navigation

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
