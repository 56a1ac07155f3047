/// One value of a JSON text, with its members by name.
///
/// Programs read replies with this type. A member that is missing or of another type reads as nil.
package struct JSONValue: Sendable {
  private let tape: JSONTape
  private let index: Int

  private init(tape: JSONTape, index: Int) {
    self.tape = tape
    self.index = index
  }

  /// Reads one JSON value in UTF-8; throws the syntax error and its byte offset.
  package init(_ bytes: [UInt8]) throws(JSONError) {
    var tape = JSONTape()
    // Replies nest deeper than the limit for messages of clients.
    try tape.read(bytes, maximumDepth: 64)
    self.init(tape: tape, index: tape.root)
  }

  package var kind: JSONTape.Kind { tape.kind(index) }

  /// A member of an object; nil if it is missing or null, or if the value is not an object.
  package subscript(name: String) -> JSONValue? {
    guard let member = tape.member(name, of: index), tape.kind(member) != .null else { return nil }
    return JSONValue(tape: tape, index: member)
  }

  package var string: String? { tape.string(index) }

  /// The number, if the value is an integer from 0 to 2^53 − 1.
  package var integer: UInt64? { tape.integer(index) }

  package var bool: Bool? { tape.bool(index) }

  package var bytes: [UInt8] { tape.raw(index) }

  /// The value at a path of member names and array indices, such as `principals.0.connections`.
  package func at(_ path: String) -> JSONValue? {
    path.utf8.split(separator: 0x2E).reduce(Optional(self)) { value, step in
      let step = String(Substring(step))
      guard let place = Int(step) else { return value?[step] }
      return place < 0 ? nil : value?.elements.dropFirst(place).first
    }
  }

  /// The number at a path; 0 if there is none.
  package func number(_ path: String) -> UInt64 { at(path)?.integer ?? 0 }

  /// The text at a path; empty if there is none.
  package func text(_ path: String) -> String { at(path)?.string ?? "" }

  /// Whether the value at a path is true.
  package func flag(_ path: String) -> Bool { at(path)?.bool ?? false }

  /// The elements of an array; empty for any other value.
  package var elements: [JSONValue] {
    kind == .array ? tape.elements(of: index) { JSONValue(tape: tape, index: $0) } : []
  }

  /// The members of an object in their order; empty for any other value.
  package var members: [(name: String, value: JSONValue)] {
    guard kind == .object else { return [] }
    var members: [(name: String, value: JSONValue)] = []
    tape.forEachMember(of: index) { name, value in
      members.append((name, JSONValue(tape: tape, index: value)))
    }
    return members
  }

  /// The value as display text: a string without quotes, any other value as JSON.
  package var plainText: String { string ?? String(decoding: bytes, as: UTF8.self) }
}
