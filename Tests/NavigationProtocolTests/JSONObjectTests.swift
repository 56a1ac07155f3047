import NavigationCore
import Testing

/// Laws of the objects that clients write, against a list of names and values.
@Suite struct JSONObjectTests {
  private static func value(_ random: inout SeededGenerator) -> OpaqueJSON {
    switch Int.random(in: 0..<6, using: &random) {
    case 0: .null
    case 1: .bool(Bool.random(using: &random))
    case 2: .integer(UInt64.random(in: 0..<1 << 53, using: &random))
    case 3: .string(["", "a", "\"\\\n\u{1F600}"].randomElement(using: &random) ?? "")
    case 4: .array((0..<Int.random(in: 0..<3, using: &random)).map { _ in value(&random) })
    default: .object(["inner": value(&random)])
    }
  }

  /// What a reader finds in the octets of an object: each name, and the octets of its value.
  private static func members(_ json: OpaqueJSON) throws -> [(String, [UInt8])] {
    var tape = JSONTape()
    try tape.read(json.bytes)
    var members: [(String, [UInt8])] = []
    tape.forEachMember(of: tape.root) { members.append(($0, tape.raw($1))) }
    return members
  }

  @Test(arguments: 0..<200)
  func `an object is read as it was put together, member by member`(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    var object: JSONObject = [:]
    var twin: [(String, OpaqueJSON)] = []
    for index in 0..<Int.random(in: 0..<8, using: &random) {
      let name = ["\(index)", "a\(index)\n", "é\(index)"].randomElement(using: &random) ?? ""
      let value = Self.value(&random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0: object.add(name, OpaqueJSON?.none)
      case 1:
        object.add(name, "text \(index)")
        twin.append((name, .string("text \(index)")))
      case 2:
        object = object + [name: value]
        twin.append((name, value))
      default:
        object.add(name, value)
        twin.append((name, value))
      }
      #expect(object.isEmpty == twin.isEmpty)
      #expect(object.contains(name) == (twin.last?.0 == name))
    }
    let read = try Self.members(.object(object))
    #expect(read.map(\.0) == twin.map(\.0))
    #expect(read.map(\.1) == twin.map(\.1.bytes))
    #expect(JSONObject(object.members) == object)
  }

  @Test func `values are written without white space`() {
    let object: JSONObject = ["a": .array([.integer(1), .null]), "b": .object([:])]
    #expect(OpaqueJSON.object(object).text == #"{"a":[1,null],"b":{}}"#)
    #expect(OpaqueJSON.array([]).text == "[]")
    #expect(OpaqueJSON.bool(false).text == "false")
  }
}
