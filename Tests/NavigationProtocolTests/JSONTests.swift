import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

@Suite struct JSONTests {
  static func read(_ text: String, depth: Int = 32) -> JSONError.Reason? {
    read(Array(text.utf8), depth: depth)
  }

  static func read(_ bytes: [UInt8], depth: Int = 32) -> JSONError.Reason? {
    var tape = JSONTape()
    do {
      try tape.read(bytes, maximumDepth: depth)
      return nil
    } catch {
      return error.reason
    }
  }

  /// Writes what a tape holds, member by member.
  static func write(_ tape: JSONTape, _ at: Int, to json: inout JSONWriter) {
    switch tape.kind(at) {
    case .null: json.null()
    case .yes: json.bool(true)
    case .no: json.bool(false)
    case .integer: json.integer(tape.integer(at) ?? 0)
    case .number: json.raw(tape.raw(at))
    case .string: json.string(tape.string(at) ?? "")
    case .array:
      json.beginArray()
      tape.forEachElement(of: at) { write(tape, $0, to: &json) }
      json.endArray()
    case .object:
      json.beginObject()
      tape.forEachMember(of: at) { name, value in
        json.dynamicName(name)
        write(tape, value, to: &json)
      }
      json.endObject()
    }
  }

  static let accepted = [
    "0", "-0", "1.5e-7", "1E400000000000000000000000".replacingOccurrences(of: "E4", with: "E-4"),
    "9007199254740991", "9007199254740992", "123456789012345678901234567890", "-1", "0.1", "1e308",
    #""""#, #""\u0000\u001f""#, #""\ud83d\ude00\"\\\/\b\f\n\r\t""#, "\"\u{7f}\u{80}\u{10FFFF}\"",
    "true", "false", "null", "[]", "{}", " [ 1 , 2 ] ", "\t\r\n{\"a\":{}}\n", #"{"":1}"#,
    #"{"a":1,"A":2,"\u00e9":3}"#, "[[],[[]],{}]", "\"\u{FEFF}\"", "[1e2,1E+2,1.0E-2]",
  ]

  static let refused: [(String, JSONError.Reason)] = [
    ("", .unexpectedEnd), (" ", .unexpectedEnd), ("[", .unexpectedEnd), ("[1,]", .unexpectedByte),
    ("[,1]", .unexpectedByte), ("[1 2]", .unexpectedByte), ("{\"a\"}", .unexpectedByte),
    ("{\"a\":}", .unexpectedByte), ("{a:1}", .unexpectedByte), ("{\"a\":1,}", .unexpectedByte),
    ("[1}", .unexpectedByte), ("1 2", .trailingBytes), ("{}x", .trailingBytes),
    ("01", .invalidNumber), ("-01", .invalidNumber), ("-", .unexpectedEnd), ("1.", .unexpectedEnd),
    ("1.e3", .invalidNumber), (".5", .unexpectedByte), ("+1", .unexpectedByte),
    ("1e", .unexpectedEnd), ("1e+]", .invalidNumber), ("0x10", .trailingBytes),
    ("1e999", .numberOutOfRange), ("-1e999", .numberOutOfRange), ("NaN", .unexpectedByte),
    ("nul", .unexpectedEnd), ("nulL", .unexpectedByte), ("True", .unexpectedByte),
    ("'a'", .unexpectedByte), ("\"a", .unexpectedEnd), ("\"\n\"", .controlCharacter),
    ("\"\u{0}\"", .controlCharacter), ("\"\u{1f}\"", .controlCharacter),
    (#""\x""#, .invalidEscape), (#""\u12G4""#, .invalidEscape), (#""\u12"#, .unexpectedEnd),
    (#""\ud800""#, .loneSurrogate), (#""\udc00""#, .loneSurrogate),
    (#""\ud800\u0041""#, .loneSurrogate), (#""\ud800\ud800""#, .loneSurrogate),
    (#""\ude00\ud83d""#, .loneSurrogate), (#"{"a":1,"a":1}"#, .duplicateMember),
    (#"{"a":1,"\u0061":1}"#, .duplicateMember), (#"{"\/":1,"/":2}"#, .duplicateMember),
    (#"[{"x":{"a":1,"b":2,"a":3}}]"#, .duplicateMember), ("\u{FEFF}{}", .unexpectedByte),
    ("/**/1", .unexpectedByte), ("\u{a0}1", .unexpectedByte), ("\u{c}1", .unexpectedByte),
  ]

  @Test func `an integer is written with all its digits`() {
    var numbers: [UInt64] = [0, .max]
    var power: UInt64 = 1
    for _ in 0..<20 {
      numbers += [power &- 1, power, power &+ 1, power &* 5 &+ 7]
      power &*= 10
    }
    var random = SeededGenerator(seed: 5)
    for _ in 0..<4000 { numbers.append(random.next() >> (random.next() % 64)) }
    for number in numbers {
      #expect(JSONWriter.value { $0.integer(number) } == Array("\(number)".utf8))
    }
  }

  @Test(arguments: accepted) func `valid texts are accepted`(text: String) {
    #expect(Self.read(text) == nil)
  }

  @Test(arguments: refused)
  func `other texts are refused with the reason`(text: String, reason: JSONError.Reason) {
    #expect(Self.read(text) == reason)
  }

  @Test(
    arguments: [
      [0x80], [0xC0, 0xAF], [0xC1, 0xBF], [0xC2], [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF],
      [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x8F, 0xBF, 0xBF],
      [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFF], [0xE2, 0x82], [0xE2, 0x28, 0xA1],
    ] as [[UInt8]])
  func `invalid UTF-8 is refused`(bytes: [UInt8]) {
    #expect(Self.read([0x22] + bytes + [0x22]) == .invalidUTF8)
    #expect(Self.read([0x7B, 0x22] + bytes + [0x22, 0x3A, 0x31, 0x7D]) == .invalidUTF8)
  }

  @Test func `integers end at 2 to the 53rd`() throws {
    var tape = JSONTape()
    for (text, value) in [
      ("0", 0), ("9007199254740991", 9_007_199_254_740_991), ("9007199254740992", nil),
      ("-0", nil), ("-1", nil), ("1.0", nil), ("1e2", nil), ("99999999999999999999", nil),
    ] as [(String, UInt64?)] {
      try tape.read(Array(text.utf8))
      #expect(tape.integer(0) == value, "\(text)")
      #expect(tape.number(0) == Double(text), "\(text)")
    }
  }

  @Test func `a text may be nested 32 deep`() {
    func nested(_ depth: Int) -> String {
      String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }
    func objects(_ depth: Int) -> String {
      String(repeating: #"{"a":"#, count: depth) + "1" + String(repeating: "}", count: depth)
    }
    #expect(Self.read(nested(32)) == nil)
    #expect(Self.read(nested(33)) == .tooDeep)
    #expect(Self.read(objects(32)) == nil)
    #expect(Self.read(objects(33)) == .tooDeep)
    #expect(Self.read(nested(60_000)) == .tooDeep)
  }

  @Test func `many members are compared quickly and rightly`() {
    let members = (0..<4000).map { #""m\#($0)":0"# }.joined(separator: ",")
    #expect(Self.read("{\(members)}") == nil)
    #expect(Self.read(#"{\#(members),"m77":1}"#) == .duplicateMember)
    #expect(Self.read(#"{\#(members),"\u006d77":1}"#) == .duplicateMember)
  }

  @Test func `strings come out as they went in`() throws {
    var tape = JSONTape()
    for text in ["", "a", "\"\\/\u{8}\u{c}\n\r\t", "\u{0}\u{1f}\u{7f}", "é😀\u{10FFFF}", "日本"] {
      var json = JSONWriter()
      json.string(text)
      try tape.read(json.bytes)
      #expect(tape.string(0) == text)
      let other = try JSONSerialization.jsonObject(
        with: Data(json.bytes), options: .fragmentsAllowed)
      #expect(other as? String == text)
    }
  }

  @Test func `a string of any length is escaped wherever it must be`() throws {
    let escapes: [(Character, String)] = [
      ("\"", "\\\""), ("\\", "\\\\"), ("\n", "\\n"), ("\u{1}", "\\u0001"),
      ("\u{1f}", "\\u001f"), ("\u{20}", " "), ("!", "!"), ("#", "#"), ("]", "]"),
      ("\u{7f}", "\u{7f}"), ("é", "é"),
    ]
    for length in 0..<36 {
      for place in 0...length {
        for (character, escaped) in escapes {
          var text = String(repeating: "x", count: length)
          text.insert(character, at: text.index(text.startIndex, offsetBy: place))
          let expected = text.replacing(String(character), with: escaped)
          // The smallest memory grows under way.
          var json = JSONWriter(reserving: 0)
          json.string(text)
          #expect(json.bytes == Array("\"\(expected)\"".utf8))
        }
      }
      let word = String(repeating: "w", count: length)
      #expect(JSONWriter.value { $0.word(word) } == Array("\"\(word)\"".utf8))
    }
  }

  @Test func `a comma stands between values and nowhere else`() {
    let bytes = JSONWriter.value { json in
      json.beginArray()
      json.beginObject()
      json.endObject()
      json.beginArray()
      json.endArray()
      json.string(",")
      json.raw([0x31])
      json.beginObject()
      json.dynamicName("a,")
      json.null()
      json.name("b")
      json.hex(UInt64(1))
      json.endObject()
      json.endArray()
    }
    let hex = "0000000000000001"
    #expect(String(decoding: bytes, as: UTF8.self) == #"[{},[],",",1,{"a,":null,"b":"\#(hex)"}]"#)
  }

  @Test(arguments: accepted + Samples.clientMessages + Samples.serverMessages)
  func `what is read and written again reads the same`(text: String) throws {
    var tape = JSONTape()
    try tape.read(Array(text.utf8))
    var json = JSONWriter()
    Self.write(tape, 0, to: &json)
    var again = JSONTape()
    try again.read(json.bytes)
    var twice = JSONWriter()
    Self.write(again, 0, to: &twice)
    #expect(twice.bytes == json.bytes)
    let left = try JSONSerialization.jsonObject(
      with: Data(text.utf8), options: .fragmentsAllowed)
    let right = try JSONSerialization.jsonObject(
      with: Data(json.bytes), options: .fragmentsAllowed)
    #expect((left as? NSObject) == (right as? NSObject))
  }

  @Test(arguments: Samples.clientMessages + Samples.serverMessages)
  func `no truncation of a message is a message`(text: String) {
    let bytes = Array(text.utf8)
    for count in 0..<bytes.count { #expect(Self.read(Array(bytes[..<count])) != nil) }
  }

  @Test(arguments: UInt64(1)...4)
  func `random bytes never trap, and what is accepted is UTF-8`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let verbs = ClientVerb.allCases
    var client = ClientMessageReader()
    var server = ServerMessageReader()
    for _ in 0..<500 {
      let samples = random.next() % 2 == 0 ? Samples.clientMessages : Samples.serverMessages
      var bytes = Array(samples[Int(random.next() % UInt64(samples.count))].utf8)
      for _ in 0...random.next() % 3 {
        let place = Int(random.next() % UInt64(bytes.count))
        switch random.next() % 4 {
        case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
        case 1: bytes.insert(UInt8(truncatingIfNeeded: random.next()), at: place)
        case 2: bytes[place] = Array(#"[]{}":,0\n1"#.utf8)[Int(random.next() % 11)]
        default: if bytes.count > 1 { bytes.remove(at: place) }
        }
      }
      if Self.read(bytes) == nil {
        #expect(String(validating: bytes, as: UTF8.self) != nil, "seed \(seed)")
        let other = try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
        #expect(other != nil, "seed \(seed): \(String(decoding: bytes, as: UTF8.self))")
      }
      for verb in verbs { _ = try? client.read(frame: verb.frame.span, body: bytes.span) }
      for verb in ServerVerb.allCases { _ = try? server.read(verb: verb.frame, body: bytes) }
    }
  }
}

/// Eight bytes at a time must say what one at a time says.
@Suite struct ByteWordTests {
  @Test func `hex digits are those of the standard library`() {
    var random = SeededGenerator(seed: 7)
    for _ in 0..<2000 {
      let number = UInt32(truncatingIfNeeded: random.next()) >> UInt32(random.next() % 32)
      let word = ByteWord(hexDigitsOf: number)
      let digits = String(decoding: (0..<8).map { word[$0] }, as: UTF8.self)
      let plain = String(number, radix: 16)
      #expect(digits == String(repeating: "0", count: 8 - plain.count) + plain)
    }
  }

  @Test func `the end of a plain run is found wherever it is`() {
    let enders: [UInt8] = [0x00, 0x1F, 0x22, 0x5C, 0x7F, 0x80, 0xFF, 0x20, 0x21, 0x23, 0x5B, 0x5D]
    for length in 0..<40 {
      for place in 0..<length {
        for ender in enders {
          for filler: UInt8 in [0x61, 0x20, 0x7F] {
            var bytes = [UInt8](repeating: filler, count: length)
            bytes[place] = ender
            for stops in [false, true] {
              let naive =
                bytes.firstIndex {
                  $0 < 0x20 || $0 == 0x22 || $0 == 0x5C || stops && $0 >= 0x80
                } ?? length
              let found =
                stops
                ? ByteWord.firstToEscapeOrNonASCII(
                  inPadded: (bytes + [UInt8](repeating: 0, count: 8)).span, from: 0)
                : ByteWord.firstToEscape(in: bytes.span, from: 0)
              #expect(found == naive)
            }
          }
        }
      }
    }
  }

  @Test func `a name and its colon are found wherever they are`() {
    let some: [UInt8] = [0x00, 0x1F, 0x20, 0x22, 0x3A, 0x5C, 0x61, 0x7F, 0x80, 0xA2, 0xBA, 0xFF]
    var random = SeededGenerator(seed: 11)
    for round in 0..<50_000 {
      // Mostly letters, so that a quote can be anywhere.
      var bytes = (0..<8).map { _ in
        random.next() % 3 == 0 ? some[Int(random.next() % UInt64(some.count))] : 0x61
      }
      if round % 2 == 0 {
        let place = Int(random.next() % 7)
        bytes.replaceSubrange(place...place + 1, with: [0x22, 0x3A])
      }
      let quote = bytes.firstIndex { $0 < 0x20 || $0 == 0x22 || $0 == 0x5C || $0 >= 0x80 } ?? 8
      let hasColon = quote < 7 && bytes[quote] == 0x22 && bytes[quote + 1] == 0x3A
      let found = ByteWord(bytes.span, at: 0).nameBeforeColon
      #expect(found?.byteCount == (hasColon ? quote : nil))
      if let found {
        #expect(found.bits == bytes[..<quote].reversed().reduce(0) { $0 << 8 | UInt64($1) })
      }
    }
  }

  @Test func `digits at the start are counted`() {
    let some: [UInt8] = [0x00, 0x20, 0x2C, 0x2F, 0x3A, 0x65, 0x7D, 0x80, 0xB0, 0xB9, 0xFF]
    for count in 0...8 {
      for digit: UInt8 in 0x30...0x39 {
        for other in some {
          for rest in some + [0x30, 0x39] {
            var bytes = [UInt8](repeating: rest, count: 8)
            for index in 0..<count { bytes[index] = digit }
            if count < 8 { bytes[count] = other }
            #expect(ByteWord(bytes.span, at: 0).leadingDigitCount == count)
          }
        }
      }
    }
  }
}
