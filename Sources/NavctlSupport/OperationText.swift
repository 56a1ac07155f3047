package import NavigationSync

/// An operation as navctl sends it: its kind, which decides about guards, and its JSON.
package struct OperationText: Hashable, Sendable {
  /// The kind.
  package var kind: OperationKind
  /// One object with one member, as in `{"pop":{}}`.
  package var json: [UInt8]

  /// Makes an operation from the members of its arguments.
  package init(_ kind: OperationKind, _ arguments: [(String, [UInt8])] = []) {
    self.kind = kind
    json = Self.object([(kind.name, Self.object(arguments))])
  }

  /// Makes an operation from its arguments as one object.
  package init(_ kind: OperationKind, json arguments: [UInt8]) {
    self.kind = kind
    json = Self.object([(kind.name, arguments)])
  }

  /// Reads an operation that was typed as JSON; the daemon judges its arguments.
  package init(typed text: String) throws(UsageError) {
    json = try Quantities.jsonObject(text, what: "an operation")
    let members: [(name: String, value: JSONValue)]
    do {
      members = try JSONValue(json).members
    } catch {
      throw UsageError("an operation is not JSON: \(error.reason.rawValue)")
    }
    guard members.count == 1 else {
      throw UsageError(
        "an operation is an object with one member, not \(members.count)",
        remedy: "as in '{\"push\":{\"screen\":{\"title\":\"Home\"}}}'")
    }
    kind = OperationKind(name: members[0].name)
  }

  /// What must be known about the state before the operation may remove something.
  ///
  /// The daemon asks for no guard on a dismissal. One that does not name its presenter takes
  /// whatever is presented, so here it is guarded as what replaces everything.
  package var neededGuard: OperationKind.NeededGuard {
    guard kind == .dismiss else { return kind.neededGuard }
    do {
      return try JSONValue(json)[kind.name]?["from"] == nil ? .wholeStack : .none
    } catch {
      return .wholeStack
    }
  }

  /// An object of members that are JSON already.
  package static func object(_ members: [(String, [UInt8])]) -> [UInt8] {
    var json = JSONWriter()
    json.beginObject()
    for (name, value) in members {
      json.dynamicName(name)
      json.raw(value)
    }
    json.endObject()
    return json.bytes
  }

  /// An array of values that are JSON already.
  package static func array(_ elements: [[UInt8]]) -> [UInt8] {
    var json = JSONWriter()
    json.beginArray()
    for element in elements { json.raw(element) }
    json.endArray()
    return json.bytes
  }

  /// A JSON string.
  package static func string(_ text: String) -> [UInt8] {
    var json = JSONWriter()
    json.string(text)
    return json.bytes
  }

  /// A JSON string as text.
  package static func quoted(_ text: String) -> String {
    String(decoding: string(text), as: UTF8.self)
  }

  /// A JSON truth value.
  package static func bool(_ value: Bool) -> [UInt8] { Array((value ? "true" : "false").utf8) }

  /// JSON's null.
  package static let null = Array("null".utf8)
}
