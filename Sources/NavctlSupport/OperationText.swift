package import NavigationProtocol

/// One operation of a request: its JSON, and its kind, by which navctl chooses the guards.
package struct OperationText: Hashable, Sendable {
  /// The kind; `unknown` for a name that this version does not know.
  package var kind: OperationKind
  /// A JSON object with one member, such as `{"pop":{}}`.
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

  /// Reads an operation that the user typed as JSON; only the daemon checks its arguments.
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
        remedy: "for example '{\"push\":{\"screen\":{\"title\":\"Home\"}}}'")
    }
    kind = OperationKind(name: members[0].name)
  }

  /// The guard that the operation needs, because it can remove screens.
  ///
  /// navctl is stricter than the daemon, which requires no guard for `dismiss`. Without `from`, a
  /// `dismiss` ends any presentation, so navctl guards it like a replacement of the whole stack.
  package var neededGuard: OperationKind.NeededGuard {
    guard kind == .dismiss else { return kind.neededGuard }
    do {
      return try JSONValue(json)[kind.name]?["from"] == nil ? .wholeStack : .none
    } catch {
      return .wholeStack
    }
  }

  /// Writes an object; the values are JSON.
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

  /// Writes an array; the elements are JSON.
  package static func array(_ elements: [[UInt8]]) -> [UInt8] {
    var json = JSONWriter()
    json.beginArray()
    for element in elements { json.raw(element) }
    json.endArray()
    return json.bytes
  }

  /// Writes a text as a JSON string.
  package static func string(_ text: String) -> [UInt8] {
    var json = JSONWriter()
    json.string(text)
    return json.bytes
  }

  /// The JSON string of a text, as text.
  package static func quoted(_ text: String) -> String {
    String(decoding: string(text), as: UTF8.self)
  }

  /// Writes `true` or `false`.
  package static func bool(_ value: Bool) -> [UInt8] { Array((value ? "true" : "false").utf8) }

  /// The JSON value `null`.
  package static let null = Array("null".utf8)
}
