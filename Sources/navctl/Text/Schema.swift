import NavigationCore

/// The JSON Schema of what navctl prints with `-o json`.
///
/// `Schema/navctl.schema.json` is a part of the program. A released member keeps its name, its type
/// and whether it is required.
enum Schema {
  static var text: [UInt8] { PackageResources.navctl_schema_json }

  /// The schema of one type, with the definitions that it refers to; nil if there is no such type.
  static func text(of kind: Record.Kind) throws -> [UInt8] {
    let whole = try JSONValue(text)
    var members = whole.members.filter { $0.name != "oneOf" && $0.name != "$defs" }
      .map { JSONObject.Member(name: $0.name, value: OpaqueJSON(validated: $0.value.bytes)) }
    members.append(
      .init(name: "$ref", value: .string("#/$defs/\(kind.rawValue)")))
    let kinds = Set(Record.Kind.allCases.map(\.rawValue))
    let definitions = (whole["$defs"]?.members ?? []).filter {
      $0.name == kind.rawValue || !kinds.contains($0.name)
    }
    members.append(
      .init(
        name: "$defs",
        value: .object(
          JSONObject(
            definitions.map { .init(name: $0.name, value: OpaqueJSON(validated: $0.value.bytes)) }))
      ))
    return OpaqueJSON.object(JSONObject(members)).bytes
  }
}
