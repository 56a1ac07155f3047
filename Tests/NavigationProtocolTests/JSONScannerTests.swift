import Testing

@testable import NavigationCore

@Suite struct JSONScannerTests {
  private static func failure(_ text: String) -> JSONError? {
    var tape = JSONTape()
    do {
      try tape.read(Array(text.utf8))
      return nil
    } catch {
      return error
    }
  }

  @Test func `an integer reads the same wherever it stands`() throws {
    var tape = JSONTape()
    var digits = ""
    var number: UInt64 = 0
    for digit in [9, 0, 0, 7, 1, 9, 9, 2, 5, 4, 7, 4, 0, 9, 9, 1] as [UInt64] {
      digits += "\(digit)"
      number = number * 10 + digit
      for before in ["", " ", "[", "[[", "{\"a\":", "[\"////////\",", "[9,"] {
        let after = before.isEmpty || before == " " ? "" : before.hasPrefix("{") ? "}" : "]"
        let end = before == "[[" ? "]]" : after
        try tape.read(Array("\(before)\(digits)\(end)".utf8))
        var at = 0
        while tape.kind(at) != .integer || tape.next(at) < tape.next(tape.root) { at += 1 }
        #expect(tape.integer(at) == number, "\(before)\(digits)\(end)")
      }
    }
  }

  @Test func `white space of any length may stand between tokens`() throws {
    var tape = JSONTape()
    for count in 0..<20 {
      for space in [" ", "\n", "\t\r"] {
        let space = String(repeating: space, count: count)
        let words = ["{", "\"a\"", ":", "[", "1", ",", "true", "]", ",", "\"b\"", ":", "null", "}"]
        try tape.read(Array((space + words.joined(separator: space) + space).utf8))
        #expect(tape.member("b", of: tape.root).map { tape.kind($0) } == .null)
        #expect(tape.count(tape.root) == 2)
      }
    }
  }

  @Test(arguments: ["a", "ab", "abcdefg", "abcdefgh", "abcdefghi", "abcdefghijklmnop", "é", ""])
  func `a name is refused the second time, wherever it stands`(name: String) {
    for between in ["", "\"x\":1,", "\"x\":{\"\(name)\":1,\"y\":[]},"] {
      for after in ["", ",\"\(name)z\":2", ",\"zzzzzzzzzzzzzzzzzz\":[1,2,3]"] {
        let head = "{\"\(name)\":0,\(between)\""
        let failure = Self.failure("\(head)\(name)\":1\(after)}")
        #expect(failure == JSONError(.duplicateMember, at: head.utf8.count))
        #expect(Self.failure("\(head)\(name)q\":1\(after)}") == nil)
      }
    }
  }

  @Test func `names that fall on one bit are told apart`() {
    // More names than there are bits.
    for length in [1, 3, 7, 8, 12] {
      for count in 1...12 {
        let names = (0..<count).map { index in
          String(repeating: "n", count: length - 1) + String(UnicodeScalar(UInt8(0x61 + index)))
        }
        let members = names.map { "\"\($0)\":0" }.joined(separator: ",")
        #expect(Self.failure("{\(members)}") == nil)
        for name in names {
          #expect(
            Self.failure("{\(members),\"\(name)\":0}")
              == JSONError(.duplicateMember, at: members.utf8.count + 3))
        }
      }
    }
  }

  @Test func `a long text is read like a short one`() throws {
    var tape = JSONTape()
    let elements = (0..<5000).map { #"{"n":\#($0),"s":["\#($0)"]}"# }
    try tape.read(Array("[\(elements.joined(separator: ","))]".utf8))
    var number: UInt64 = 0
    tape.forEachElement(of: tape.root) { at in
      #expect(tape.member("n", of: at).flatMap { tape.integer($0) } == number)
      number += 1
    }
    #expect(number == 5000)
    // Then a short one behind it.
    try tape.read(Array("[1]".utf8))
    #expect(tape.count(tape.root) == 1)
  }
}
