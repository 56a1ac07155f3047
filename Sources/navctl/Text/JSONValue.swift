import NavigationCore

/// One value of a JSON text, with its members by name.
///
/// navctl draws replies with it. A member that is missing or has another type reads as nil.
struct JSONValue: Sendable {
  private let tape: JSONTape
  private let index: Int

  private init(tape: JSONTape, index: Int) {
    self.tape = tape
    self.index = index
  }

  /// Reads one JSON value in UTF-8; throws the syntax error and its byte offset.
  init(_ bytes: [UInt8]) throws(JSONError) {
    var tape = JSONTape()
    // Replies nest deeper than the limit for messages of clients.
    try tape.read(bytes, maximumDepth: 64)
    self.init(tape: tape, index: tape.root)
  }

  var kind: JSONTape.Kind { tape.kind(index) }

  /// A member of an object; nil if it is missing or null, or if the value is not an object.
  subscript(name: String) -> JSONValue? {
    guard let member = tape.member(name, of: index), tape.kind(member) != .null else { return nil }
    return JSONValue(tape: tape, index: member)
  }

  var string: String? { tape.string(index) }

  /// The number, if the value is an integer from 0 to 2^53 − 1.
  var integer: UInt64? { tape.integer(index) }

  var bool: Bool? { tape.bool(index) }

  var bytes: [UInt8] { tape.raw(index) }

  /// The elements, if the value is an array; else none.
  var elements: [JSONValue] {
    kind == .array ? tape.elements(of: index) { JSONValue(tape: tape, index: $0) } : []
  }

  /// The members in their order, if the value is an object; else none.
  var members: [(name: String, value: JSONValue)] {
    guard kind == .object else { return [] }
    var members: [(name: String, value: JSONValue)] = []
    tape.forEachMember(of: index) { name, value in
      members.append((name, JSONValue(tape: tape, index: value)))
    }
    return members
  }

  /// The value as display text: a string without quotes, any other value as JSON.
  var plainText: String { string ?? String(decoding: bytes, as: UTF8.self) }
}
