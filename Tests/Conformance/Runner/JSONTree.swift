package import NavigationCore

/// A JSON value that keeps the order of its members and the digits of its numbers.
///
/// Two trees are equal if they mean the same; their `text` is equal if their bytes were.
package indirect enum JSONTree: Sendable {
  /// The kinds of value; a number keeps its digits.
  case null, bool(Bool), number(String), string(String), array([JSONTree])
  /// The members in the order of the text.
  case object([Member])

  /// A name and its value.
  package struct Member: Sendable {
    /// The name.
    package var name: String
    /// The value.
    package var value: JSONTree

    /// Makes a member.
    package init(name: String, value: JSONTree) {
      self.name = name
      self.value = value
    }
  }

  /// Reads a text by the protocol's rules.
  package init(reading bytes: [UInt8]) throws(JSONError) {
    var tape = JSONTape()
    try tape.read(bytes)
    self.init(tape, tape.root)
  }

  /// Reads a text by the protocol's rules.
  package init(_ text: String) throws(JSONError) { try self.init(reading: Array(text.utf8)) }

  private init(_ tape: JSONTape, _ index: Int) {
    switch tape.kind(index) {
    case .object:
      var members: [Member] = []
      tape.forEachMember(of: index) { name, value in
        members.append(Member(name: name, value: JSONTree(tape, value)))
      }
      self = .object(members)
    case .array:
      var elements: [JSONTree] = []
      tape.forEachElement(of: index) { elements.append(JSONTree(tape, $0)) }
      self = .array(elements)
    case .string: self = .string(tape.string(index) ?? "")
    default:
      if let bool = tape.bool(index) {
        self = .bool(bool)
      } else if tape.number(index) != nil {
        self = .number(String(decoding: tape.raw(index), as: UTF8.self))
      } else {
        self = .null
      }
    }
  }

  /// The value as compact JSON.
  package var text: String {
    switch self {
    case .null: "null"
    case .bool(let value): value ? "true" : "false"
    case .number(let digits): digits
    case .string(let text): Self.quoted(text)
    case .array(let elements): "[" + elements.map(\.text).joined(separator: ",") + "]"
    case .object(let members):
      "{" + members.map { "\(Self.quoted($0.name)):\($0.value.text)" }.joined(separator: ",") + "}"
    }
  }

  /// A text as a JSON string.
  package static func quoted(_ text: String) -> String {
    var writer = JSONWriter()
    writer.string(text)
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}

extension JSONTree {
  /// A member of an object; nil for any other value and for null.
  package subscript(name: String) -> JSONTree? {
    guard case .object(let members) = self else { return nil }
    let value = members.first { $0.name == name }?.value
    if case .null? = value { return nil }
    return value
  }

  /// The value at a path of names and indexes joined by dots; nil if there is none.
  package func at(_ path: some StringProtocol) -> JSONTree? {
    var value = self
    for step in path.split(separator: ".") {
      if case .array(let elements) = value {
        guard let index = Int(step), elements.indices.contains(index) else { return nil }
        value = elements[index]
      } else {
        guard let member = value[String(step)] else { return nil }
        value = member
      }
    }
    return value
  }

  /// The text of a string.
  package var string: String? { if case .string(let text) = self { text } else { nil } }
  /// The value of a boolean.
  package var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
  /// The elements of an array.
  package var array: [JSONTree]? { if case .array(let elements) = self { elements } else { nil } }
  /// The value of a number without a fraction.
  package var integer: Int? { if case .number(let digits) = self { Int(digits) } else { nil } }
  /// The value of a number.
  package var double: Double? {
    if case .number(let digits) = self { Double(digits) } else { nil }
  }
  /// The members of an object.
  package var members: [Member] { if case .object(let members) = self { members } else { [] } }

  /// Whether this value has all that a pattern names; other members of objects do not matter.
  ///
  /// In a pattern, `null` and `false` also stand for a member that is left out.
  package func has(_ pattern: JSONTree) -> Bool {
    switch (self, pattern) {
    case (.object, .object(let wanted)):
      wanted.allSatisfy { member in
        guard let value = self[member.name] else { return member.value.isNothing }
        return value.has(member.value)
      }
    case (.array(let elements), .array(let wanted)):
      elements.count == wanted.count && zip(elements, wanted).allSatisfy { $0.has($1) }
    default: self == pattern
    }
  }

  /// Whether a member with this value may be left out.
  package var isNothing: Bool {
    switch self {
    case .null, .bool(false): true
    default: false
    }
  }
}

extension JSONTree: Equatable {
  /// Whether the values mean the same, whatever the order of members.
  package static func == (left: JSONTree, right: JSONTree) -> Bool {
    switch (left, right) {
    case (.null, .null): return true
    case (.bool(let a), .bool(let b)): return a == b
    case (.number, .number): return left.double == right.double
    case (.string(let a), .string(let b)): return a == b
    case (.array(let a), .array(let b)): return a == b
    case (.object(let a), .object(let b)):
      return a.count == b.count
        && a.allSatisfy { member in
          b.contains { $0.name == member.name && $0.value == member.value }
        }
    default: return false
    }
  }
}
