import NavigationCore
import Testing

@testable import NavigationClient

/// The JSON of the library: written and read without loss, and safe to read from anybody.
@Suite struct NavigationValueTests {
  private struct Values {
    var random: SeededGenerator

    mutating func below(_ bound: UInt64) -> UInt64 { random.next() % bound }

    mutating func text() -> String {
      let pieces = ["", "a", "\"", "\\", "\n", "\u{1}", "长", "👩‍👩‍👧", "e\u{301}", "\u{202E}", "/"]
      return (0..<below(5)).reduce(into: "") { text, _ in
        text += pieces[Int(below(UInt64(pieces.count)))]
      }
    }

    mutating func value(_ depth: Int) -> NavigationValue {
      switch below(depth > 0 ? 8 : 6) {
      case 0: return nil
      case 1: return .bool(below(2) == 0)
      case 2: return .integer(Int64(bitPattern: random.next()) >> Int64(11 + below(50)))
      case 3: return .number(Double(Int64(bitPattern: random.next()) >> 40) + 0.5)
      case 4, 5: return .string(text())
      case 6: return .array((0..<below(4)).map { _ in value(depth - 1) })
      default:
        let members = (0..<below(4)).map { _ in (text(), value(depth - 1)) }
        return .object(Dictionary(members) { $1 })
      }
    }
  }

  @Test(arguments: 0..<60 as Range<UInt64>)
  func `what is written is read as the same value`(seed: UInt64) throws {
    var values = Values(random: SeededGenerator(seed: seed))
    let value = values.value(5)
    #expect(try NavigationValue(json: value.json) == value)
    #expect(try NavigationValue(json: value.json).json == value.json)
  }

  @Test(
    arguments: [
      ("0", .integer(0)), ("-0", .integer(0)),
      ("9007199254740991", .integer(9_007_199_254_740_991)),
      ("-5", .integer(-5)), ("1e2", .integer(100)), ("1.0", .integer(1)), ("0.5", .number(0.5)),
      ("-1.5e-3", .number(-0.0015)), (#""\u00e9""#, .string("é")),
      (#""\ud83d\ude00""#, .string("😀")), (" [ ] ", .array([])), ("{ }", .object([:])),
    ] as [(String, NavigationValue)])
  func `a text is read as the value that it means`(json: String, value: NavigationValue) throws {
    #expect(try NavigationValue(json: json) == value)
  }

  @Test(arguments: [
    "", " ", "nul", "tru", "+1", "01", "1.", ".5", "1e", "0x1", "NaN", "Infinity", "'a'", "\"a",
    "\"\n\"", "\"\\x\"", "\"\\ud800\"", "[1,]", "[,]", "[1 2]", "{", "{a:1}", #"{"a"}"#,
    #"{"a":1,}"#, #"{"a":1,"a":2}"#, "1 2", "[]]", "\u{FEFF}1",
  ])
  func `a text that is no JSON is an invalid argument, with the place of the fault`(json: String) {
    let error = #expect(throws: NavigationClientError.self) { try NavigationValue(json: json) }
    #expect(error?.code == .invalidArgument)
    #expect(error?.message.hasPrefix("not JSON: ") == true)
    #expect(error?.message.contains(" at octet ") == true)
    #expect(error?.mayHaveHappened == false && error?.retry == .never)
  }

  @Test func `forty levels are read, one more is refused`() throws {
    func nested(_ depth: Int) -> String {
      String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }
    _ = try NavigationValue(json: nested(40))
    #expect(throws: NavigationClientError.self) { try NavigationValue(json: nested(41)) }
    #expect(throws: NavigationClientError.self) { try NavigationValue(json: nested(100_000)) }
  }

  @Test func `no prefix of a value is read as a value`() {
    let json = #"{"a":[1,-2.5,true,null,"x\n\u00e9"],"b":{"c":"长"}}"#
    for length in 0..<json.utf8.count {
      let prefix = String(decoding: Array(json.utf8.prefix(length)), as: UTF8.self)
      #expect(throws: NavigationClientError.self, "\(prefix)") {
        try NavigationValue(json: prefix)
      }
    }
  }

  @Test func `a changed octet gives another value or an error, never this value`() throws {
    let json = #"{"a":[10,-2.5,true,null,"xy"],"b":{"c":"z"}}"#
    let value = try NavigationValue(json: json)
    for place in json.utf8.indices {
      for octet in [0x00, 0x22, 0x2C, 0x30, 0x5D, 0x7B, 0x7E, 0xFF] as [UInt8] {
        var octets = Array(json.utf8)
        let offset = json.utf8.distance(from: json.startIndex, to: place)
        guard octets[offset] != octet else { continue }
        octets[offset] = octet
        // A lone 0xFF becomes U+FFFD, which is another character than any in the text.
        let text = String(decoding: octets, as: UTF8.self)
        do {
          let other = try NavigationValue(json: text)
          #expect(other != value, "\(text)")
        } catch {
          #expect(error.code == .invalidArgument)
        }
      }
    }
  }

  @Test func `numbers that JSON does not have are written as null`() {
    for number in [Double.nan, .infinity, -.infinity] {
      #expect(NavigationValue.number(number).json == "null")
      #expect((["n": .number(number)] as NavigationValue).json == #"{"n":null}"#)
    }
    #expect(NavigationValue.number(-0.25).json == "-0.25")
    #expect(NavigationValue.integer(.min).json == "-9223372036854775808")
  }

  @Test func `members are written in the order of their names, the last of equal ones counts`() {
    let value: NavigationValue = ["b": 1, "a": 2, "B": 3, "b": 4]
    #expect(value.json == #"{"B":3,"a":2,"b":4}"#)
  }

  @Test func `a value answers only to its own type, but an integer is a number too`() {
    let values: [NavigationValue] = [nil, true, 7, 0.5, "x", [1], ["a": 1]]
    #expect(values.map { $0.text } == [nil, nil, nil, nil, "x", nil, nil])
    #expect(values.map { $0.bool } == [nil, true, nil, nil, nil, nil, nil])
    #expect(values.map { $0.integer } == [nil, nil, 7, nil, nil, nil, nil])
    #expect(values.map { $0.double } == [nil, nil, 7, 0.5, nil, nil, nil])
    #expect(values.map { $0.array?.count } == [nil, nil, nil, nil, nil, 1, nil])
    #expect(values.map { $0.object?.count } == [nil, nil, nil, nil, nil, nil, 1])
    #expect(values.map { $0["a"] } == [nil, nil, nil, nil, nil, nil, 1])
  }

  @Test func `an operation as JSON is sent as it was written`() throws {
    let json = #" { "later.op" : {"x":1.50,"é":"\u00e9"} }"#
    #expect(try NavigationOperation(json: json).json == json)
  }

  @Test func `what is presented last is visible, the stack is left alone`() throws {
    let home = #"{"id":"home","ver":5}"#
    var mirror = Mirror(
      kind: "controller", epoch: Epoch(bits: 1), revision: Revision(5),
      screens: [
        MirrorRecord(
          id: "home", version: Revision(5), json: OpaqueJSON(validated: Array(home.utf8)))
      ], parts: [], resolved: nil, digest: Digest(checksum: 7, chain: 0))
    #expect(NavigationState(nav: "n", mirror: mirror).presented == [])
    #expect(NavigationState(nav: "n", mirror: mirror).visible?.id == "home")
    let chain =
      #"{"ver":7,"chain":[{"screen":{"id":"p","ver":6,"title":"P"},"from":"home"},{"screen":{"id":"q","ver":7}}]}"#
    mirror.parts = [
      MirrorRecord(
        id: "presented", version: Revision(7), json: OpaqueJSON(validated: Array(chain.utf8)))
    ]
    let state = NavigationState(nav: "n", mirror: mirror)
    #expect(state.presented.map(\.id) == ["p", "q"])
    #expect(state.presented.map(\.version) == [6, 7])
    #expect(state.presented[0].json == #"{"id":"p","ver":6,"title":"P"}"#)
    #expect(state.visible?.id == "q")
    #expect(state.top?.id == "home")
  }
}
