package import NavigationSync

/// One value of a JSON text, to be looked into by name.
///
/// For drawing answers of the daemon, where speed does not matter and members may be missing.
package struct JSONValue: Sendable {
  private let tape: JSONTape
  private let index: Int

  private init(tape: JSONTape, index: Int) {
    self.tape = tape
    self.index = index
  }

  /// Reads a text.
  ///
  /// - Parameter bytes: one JSON value in UTF-8.
  /// - Throws: what is wrong and at which byte.
  package init(_ bytes: [UInt8]) throws(JSONError) {
    var tape = JSONTape()
    // The daemon nests records deeper than a client may.
    try tape.read(bytes, maximumDepth: 64)
    self.init(tape: tape, index: tape.root)
  }

  /// What the value is.
  package var kind: JSONTape.Kind { tape.kind(index) }

  /// A member of an object; nil when it is missing, null, or this is no object.
  package subscript(name: String) -> JSONValue? {
    guard let member = tape.member(name, of: index), tape.kind(member) != .null else { return nil }
    return JSONValue(tape: tape, index: member)
  }

  /// The text of a string.
  package var string: String? { tape.string(index) }

  /// An integer.
  package var integer: UInt64? { tape.integer(index) }

  /// A truth value.
  package var bool: Bool? { tape.bool(index) }

  /// The value as it stands in the text.
  package var bytes: [UInt8] { tape.raw(index) }

  /// The elements of an array; none for anything else.
  package var elements: [JSONValue] {
    guard kind == .array else { return [] }
    var elements: [JSONValue] = []
    tape.forEachElement(of: index) { elements.append(JSONValue(tape: tape, index: $0)) }
    return elements
  }

  /// The members of an object in their order; none for anything else.
  package var members: [(name: String, value: JSONValue)] {
    guard kind == .object else { return [] }
    var members: [(name: String, value: JSONValue)] = []
    tape.forEachMember(of: index) { name, value in
      members.append((name, JSONValue(tape: tape, index: value)))
    }
    return members
  }

  /// The value as text for people: a string without quotes, anything else as JSON.
  package var plainText: String { string ?? String(decoding: bytes, as: UTF8.self) }
}
