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
    let definitions = (whole["$defs"]?.object.members ?? []).filter {
      $0.name == kind.rawValue || Record.Kind(rawValue: $0.name) == nil
    }
    var schema = JSONObject(
      whole.object.members.filter { $0.name != "oneOf" && $0.name != "$defs" })
    schema.add("$ref", "#/$defs/\(kind.rawValue)")
    schema.add("$defs", .object(JSONObject(definitions)))
    return OpaqueJSON.object(schema).bytes
  }
}
