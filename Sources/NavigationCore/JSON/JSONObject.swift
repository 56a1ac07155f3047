/// A JSON object to write: its members, in the order in which they are added.
///
/// The type does not check for equal names; only readers refuse an object that has one name twice.
package struct JSONObject: Hashable, Sendable, ExpressibleByDictionaryLiteral {
  /// A name and its value.
  package struct Member: Hashable, Sendable {
    package var name: String
    package var value: OpaqueJSON

    package init(name: String, value: OpaqueJSON) {
      self.name = name
      self.value = value
    }
  }

  package private(set) var members: [Member] = []

  /// Makes an object; leaves out each member whose value is nil.
  package init(dictionaryLiteral elements: (String, OpaqueJSON?)...) {
    for (name, value) in elements { add(name, value) }
  }

  package init(_ members: [Member]) { self.members = members }

  package var isEmpty: Bool { members.isEmpty }

  package func contains(_ name: String) -> Bool { members.contains { $0.name == name } }

  /// Adds a member; adds nothing for nil.
  package mutating func add(_ name: String, _ value: OpaqueJSON?) {
    if let value { members.append(Member(name: name, value: value)) }
  }

  package mutating func add(_ name: String, _ text: String?) {
    add(name, text.map { OpaqueJSON.string($0) })
  }

  package mutating func add(_ name: String, _ flag: Bool?) {
    add(name, flag.map { OpaqueJSON.bool($0) })
  }

  /// An object with the members of both, those of `left` first.
  package static func + (left: JSONObject, right: JSONObject) -> JSONObject {
    var sum = left
    sum.members += right.members
    return sum
  }
}

extension OpaqueJSON {
  package var text: String { String(decoding: bytes, as: UTF8.self) }

  package static func object(_ object: JSONObject) -> OpaqueJSON {
    written { json in
      json.beginObject()
      for member in object.members {
        json.dynamicName(member.name)
        json.raw(member.value.bytes)
      }
      json.endObject()
    }
  }

  package static func array(_ elements: [OpaqueJSON]) -> OpaqueJSON {
    written { json in
      json.beginArray()
      for element in elements { json.raw(element.bytes) }
      json.endArray()
    }
  }

  package static func string(_ text: String) -> OpaqueJSON { written { $0.string(text) } }

  package static func integer(_ value: UInt64) -> OpaqueJSON { written { $0.integer(value) } }

  package static func bool(_ value: Bool) -> OpaqueJSON { written { $0.bool(value) } }

  package static var null: OpaqueJSON { written { $0.null() } }

  private static func written(_ write: (inout JSONWriter) -> Void) -> OpaqueJSON {
    OpaqueJSON(validated: JSONWriter.value(write))
  }
}
