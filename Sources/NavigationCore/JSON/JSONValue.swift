/// One value of a JSON text, with its members by name.
///
/// Programs read replies with it. A member that is missing or has another type reads as nil.
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

  /// The value at a path of names and of places in arrays, such as `principals.0.connections`.
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

  /// The elements, if the value is an array; else none.
  package var elements: [JSONValue] {
    kind == .array ? tape.elements(of: index) { JSONValue(tape: tape, index: $0) } : []
  }

  /// The members in their order, if the value is an object; else none.
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

extension OpaqueJSON {
  /// Whether both are the same JSON value.
  ///
  /// Members of an object may come in any order. Numbers are compared by value, texts by their
  /// characters and not by how they are escaped.
  package static func areEqual(_ left: OpaqueJSON, _ right: OpaqueJSON) -> Bool {
    if left.bytes == right.bytes { return true }
    var (one, other) = (JSONTape(), JSONTape())
    do throws(JSONError) {
      try one.read(left.bytes, maximumDepth: maximumDepth)
      try other.read(right.bytes, maximumDepth: maximumDepth)
    } catch {
      // A value that was read before is JSON.
      assertionFailure("\(error)")
      return false
    }
    return one.hasSameValue(one.root, as: other, other.root)
  }

  private static let maximumDepth = 64
}

extension JSONTape {
  fileprivate func hasSameValue(
    _ index: Int, as other: borrowing JSONTape, _ otherIndex: Int
  ) -> Bool {
    switch (kind(index), other.kind(otherIndex)) {
    case (.null, .null), (.no, .no), (.yes, .yes): return true
    case (.integer, .integer): return integer(index) == other.integer(otherIndex)
    // One of them has a sign, a fraction, an exponent, or more than 53 bits.
    case (.integer, .number), (.number, .integer), (.number, .number):
      let (text, its) = (raw(index), other.raw(otherIndex))
      // A double has not the room for all digits of a long integer.
      if max(text.count, its.count) > 15, text.allSatisfy(Self.isOfInteger),
        its.allSatisfy(Self.isOfInteger)
      {
        return text == its
      }
      return number(index) == other.number(otherIndex)
    case (.string, .string):
      return string(index) == other.string(otherIndex)
    case (.array, .array):
      guard count(index) == other.count(otherIndex) else { return false }
      var (element, its) = (index + 1, otherIndex + 1)
      while element < next(index) {
        guard hasSameValue(element, as: other, its) else { return false }
        (element, its) = (next(element), other.next(its))
      }
      return true
    case (.object, .object):
      guard count(index) == other.count(otherIndex) else { return false }
      return hasSameMembers(index, as: other, otherIndex)
    default: return false
    }
  }

  /// Compares two objects with equally many members; O(members).
  private func hasSameMembers(
    _ index: Int, as other: borrowing JSONTape, _ otherIndex: Int
  ) -> Bool {
    var (key, its) = (index + 1, otherIndex + 1)
    // Equal objects mostly have their members in the same order, which needs no table.
    while key < next(index), string(key) == other.string(its) {
      guard hasSameValue(key + 1, as: other, its + 1) else { return false }
      (key, its) = (next(key + 1), other.next(its + 1))
    }
    var rest: [Text: Int] = [:]
    while its < other.next(otherIndex) {
      rest[Text(other.string(its) ?? "")] = its + 1
      its = other.next(its + 1)
    }
    while key < next(index) {
      guard let value = rest[Text(string(key) ?? "")], hasSameValue(key + 1, as: other, value)
      else {
        return false
      }
      key = next(key + 1)
    }
    return true
  }

  /// Whether a byte of a number is a digit or a sign, and not of a fraction or an exponent.
  private static func isOfInteger(_ byte: UInt8) -> Bool {
    byte < 0x3A && byte != 0x2E && byte != 0x2B
  }
}
