import NavigationCore

/// One JSON object that navctl prints with `-o json`, in one line.
///
/// The first member is `type`; `navctl schema TYPE` describes the other members.
struct JSONRecord: Sendable {
  /// The types of records; the schema has a definition of each.
  enum Kind: String, CaseIterable, Sendable {
    case changed, planned
    case state, bar, top, screen, detached, restoration, part, transition
    case log, history, verify, position, navs, clients, why, comparison, dump, routes
    case diffs, refusals
    case config, reload, status, stats, doctor, cluster, backup, backMenu, lease, saved
    case key, keys, code, codes
    case snapshot, resync, diff, latest, event, progress, traced, dropped, work
    case recording, proof, playback
    case delegate, ask, settled
  }

  let kind: Kind
  let bytes: [UInt8]

  /// Adds the member `type` to an object, and the `time` of an event, in milliseconds since 1970.
  init(_ kind: Kind, _ object: [UInt8], at time: UInt64? = nil) {
    self.kind = kind
    var head = #"{"type":"\#(kind.rawValue)""#
    if let time { head += #","t":\#(time)"# }
    // Another program may answer at the address of navd: what is no object becomes a member.
    let value = try? JSONValue(object)
    guard let value, value.kind == .object else {
      let raw = value == nil ? OpaqueJSON.null : OpaqueJSON(validated: object)
      bytes = Array("\(head),\"value\":".utf8) + raw.bytes + [UInt8(ascii: "}")]
      return
    }
    let members = object.drop { $0 != UInt8(ascii: "{") }.dropFirst()
    bytes = Array((head + (value.members.isEmpty ? "" : ",")).utf8) + members
  }

  /// The revision of the record or of the state in it; nil if there is none.
  var revision: UInt64? {
    guard let value = try? JSONValue(bytes) else { return nil }
    return value["rev"]?.integer ?? value["state"]?["rev"]?.integer
  }

  init(_ kind: Kind, _ members: JSONObject, at time: UInt64? = nil) {
    self.init(kind, OpaqueJSON.object(members).bytes, at: time)
  }

  /// The JSON Schema of all records; a released member keeps its name and its type.
  static var schema: [UInt8] { PackageResources.navctl_schema_json }

  static func schema(of kind: Kind) throws -> [UInt8] {
    let whole = try JSONValue(schema)
    let definitions = (whole["$defs"]?.object.members ?? []).filter {
      $0.name == kind.rawValue || Kind(rawValue: $0.name) == nil
    }
    var part = JSONObject(
      whole.object.members.filter { $0.name != "oneOf" && $0.name != "$defs" })
    part.add("$ref", "#/$defs/\(kind.rawValue)")
    part.add("$defs", .object(JSONObject(definitions)))
    return OpaqueJSON.object(part).bytes
  }
}
