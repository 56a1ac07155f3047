package import NavigationCore

/// Reads a value, which is not null; the text is what errors call it.
package typealias ReadValue<Value> =
  (borrowing JSONTape, Int, String) throws(ReadFailure) -> Value

/// A type of members that has one form on the wire.
package protocol WireValue: Sendable, SendableMetatype {
  /// Returns the reader of a value that is not null.
  static func read(_ reader: RecordReader) -> ReadValue<Self>
  func write(_ json: inout JSONWriter)
  func equals(_ other: Self) -> Bool
}

extension WireValue where Self: Equatable {
  package func equals(_ other: Self) -> Bool { self == other }
}

extension Optional: WireValue where Wrapped: WireValue {
  package static func read(_ reader: RecordReader) -> ReadValue<Wrapped?> {
    { tape, at, name throws(ReadFailure) in try Wrapped.read(reader)(tape, at, name) }
  }
  package func write(_ json: inout JSONWriter) {
    if let self { self.write(&json) } else { json.null() }
  }
  package func equals(_ other: Wrapped?) -> Bool {
    switch (self, other) {
    case (let left?, let right?): left.equals(right)
    case (nil, nil): true
    case (_?, nil), (nil, _?): false
    }
  }
}

extension WireValue where Self: WireNamed {
  package static func read(_ reader: RecordReader) -> ReadValue<Self> { reader.word }
  package func write(_ json: inout JSONWriter) { json.word(word) }
}

extension Bool: WireValue {
  package static func read(_ reader: RecordReader) -> ReadValue<Bool> { reader.bool }
  package func write(_ json: inout JSONWriter) { json.bool(self) }
}

extension UInt64: WireValue {
  package static func read(_ reader: RecordReader) -> ReadValue<UInt64> {
    { tape, at, name throws(ReadFailure) in try reader.integer(tape, at, name) }
  }
  package func write(_ json: inout JSONWriter) { json.integer(self) }
}

extension String: WireValue {
  package static func read(_ reader: RecordReader) -> ReadValue<String> { reader.string }
  package func write(_ json: inout JSONWriter) { json.string(self) }
  // Not generic, so that octets are compared.
  package func equals(_ other: String) -> Bool { self == other }
}

extension Text: WireValue {
  package static func read(_ reader: RecordReader) -> ReadValue<Text> {
    { tape, at, name throws(ReadFailure) in Text(try reader.string(tape, at, name)) }
  }
  package func write(_ json: inout JSONWriter) { json.string(string) }
}

extension OpaqueJSON: WireValue {
  package static func read(_ reader: RecordReader) -> ReadValue<OpaqueJSON> { reader.opaque }
  package func write(_ json: inout JSONWriter) { json.raw(bytes) }
}

// The words on the wire for the cases of the model's enumerations.

extension ScreenKind: WireNamed, WireValue { package static let words = names }
extension ButtonStyle: WireNamed, WireValue { package static let words = names }
extension LargeTitleDisplayMode: WireNamed, WireValue { package static let words = names }
extension GuardPolicy: WireNamed, WireValue { package static let words = names }
extension VetoScope: WireNamed, WireValue { package static let words = names }
extension HidingCause: WireNamed, WireValue { package static let words = names }
extension AppearanceSlot: WireNamed, WireValue { package static let words = names }
extension BarStyle: WireNamed, WireValue { package static let words = names }
extension BarMetrics: WireNamed, WireValue { package static let words = names }
extension BarPosition: WireNamed, WireValue { package static let words = names }
extension Orientation: WireNamed, WireValue { package static let words = names }
extension Relation: WireNamed, WireValue { package static let words = names }
extension RunningTransition.Kind: WireNamed, WireValue { package static let words = names }
extension TransitionOutcome: WireNamed, WireValue { package static let words = names }
extension Animations: WireNamed, WireValue { package static let words = names }
extension ContentSizeCategory: WireNamed, WireValue { package static let words = names }

extension AccessibilityMember: WireNamed, WireValue {
  package static let words = [
    "accessibilityLabel", "accessibilityHint", "accessibilityIdentifier", "language",
  ]
}
