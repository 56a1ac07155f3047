import NavigationCore
import Testing

@testable import navctl

/// Values of options at each limit, and one beyond it.
@Suite struct QuantityLimitTests {
  private func message(_ body: () throws -> Void) -> String? {
    do {
      try body()
      return nil
    } catch {
      return (error as? UsageError)?.message
    }
  }

  @Test(arguments: [
    ("0ms", 0), ("1ms", 1), ("0.5ms", 0), ("1.999ms", 1), ("0.001s", 1), (".5s", 500),
    ("5.", 5000), ("720h", 2_592_000_000), ("43200m", 2_592_000_000), ("60", 60_000),
    ("2592000000ms", 2_592_000_000), ("007s", 7000),
  ])
  func `a time is taken up to 30 days`(text: String, expected: UInt64) throws {
    #expect(try ArgumentReader.milliseconds(text, option: "timeout") == expected)
  }

  @Test(arguments: [
    "720.1h", "2592001", "2592000001ms", "1d", "1 s", " 1s", "+1s", "1e3", "0x10", "１s", "s5",
    "5sm", "nan", ".", "..", "1,5s", "5S",
  ])
  func `any other time is refused with the option and the form`(text: String) {
    let message = message { _ = try ArgumentReader.milliseconds(text, option: "interval") }
    #expect(message == "--interval takes a time such as 500ms, 5s or 2m, not '\(text)'")
  }

  @Test(arguments: ["60.5", "61", "1000", "2592000"])
  func `a large number needs its unit`(text: String) {
    let message = message { _ = try ArgumentReader.milliseconds(text, option: "timeout") }
    #expect(message == "--timeout \(text) has no unit")
  }

  @Test func `whole numbers go up to 2^53 − 1`() throws {
    #expect(try ArgumentReader.integer("0", option: "rev") == 0)
    #expect(try ArgumentReader.integer("9007199254740991", option: "rev") == 9_007_199_254_740_991)
    for text in ["9007199254740992", "18446744073709551616", "", "-0", "+1", "1.0", "1 ", "٣"] {
      #expect(
        message { _ = try ArgumentReader.integer(text, option: "rev") }
          == "--rev takes a whole number, not '\(text)'")
    }
  }

  @Test func `an epoch has 16 lower-case hex digits`() throws {
    #expect(
      try ArgumentReader.epoch("0123456789abcdef", option: "epoch").text == "0123456789abcdef")
    for text in [
      "", "0123456789abcde", "0123456789abcdef0", "0123456789ABCDEF", "0123456789abcdeg",
    ] {
      #expect(message { _ = try ArgumentReader.epoch(text, option: "epoch") } != nil, "\(text)")
    }
  }

  @Test func `no prefix of a position is one, nor with a character of another kind`() throws {
    let text = "c0ffee12c0ffee12:18:985cc24d0000000000000000"
    _ = try ArgumentReader.position(text, option: "from")
    let signed = text.replacing(":18:", with: ":+18:")
    #expect(message { _ = try ArgumentReader.position(signed, option: "f") } != nil)
    for length in 0..<text.utf8.count {
      #expect(
        message { _ = try ArgumentReader.position(String(text.prefix(length)), option: "f") } != nil
      )
    }
    for place in text.indices {
      for character in ":x-+G " where text[place] != character {
        var other = text
        other.replaceSubrange(place...place, with: String(character))
        #expect(message { _ = try ArgumentReader.position(other, option: "f") } != nil, "\(other)")
      }
    }
  }

  @Test func `the name of a nav has 1 to 128 of its characters`() throws {
    for name in ["a", "0", "a.b_c/d-e", String(repeating: "n", count: 128), "$navs", "$clients"] {
      #expect(try ArgumentReader.nav(name) == name)
    }
    for name in [
      "", "A", "-a", "/a", ".a", "_a", "a b", "ä", "a\u{1B}", String(repeating: "n", count: 129),
    ] {
      let error = #expect(throws: UsageError.self) { try ArgumentReader.nav(name) }
      #expect(error?.remedy == "a name is one of a-z 0-9, then up to 127 of a-z 0-9 . _ / -")
      #expect(error?.message.contains("\u{1B}") == false)
    }
  }

  @Test func `JSON is refused at the place of its fault`() throws {
    #expect(try ArgumentReader.json(" [1] ", what: "x").text == "[1]")
    #expect(
      message { _ = try ArgumentReader.json("[1,]", what: "--args") }?.hasPrefix(
        "--args is not JSON: ")
        == true)
    #expect(
      message { _ = try ArgumentReader.json("[1,]", what: "--args") }?.hasSuffix(" at byte 3")
        == true)
    for text in ["[]", "1", #""{}""#, "null"] {
      #expect(
        message { _ = try ArgumentReader.jsonObject(text, what: "an appearance") }
          == "an appearance is not a JSON object: '\(text)'")
    }
  }

  @Test func `arguments nest as deep as the daemon reads them, not deeper`() throws {
    let nested = { (depth: Int) in
      String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }
    _ = try ArgumentReader.json(nested(32), what: "x")
    #expect(message { _ = try ArgumentReader.json(nested(33), what: "x") } != nil)
  }

  @Test(arguments: [
    (WaitCondition.top(nil), "top none"), (.depth(0), "depth 0"), (.revision(7), "rev 7"),
    (.top("wifi"), "top wifi"),
  ])
  func `a condition has a text`(condition: WaitCondition, text: String) {
    #expect(condition.text == text)
  }

  @Test func `each condition of wait is read from its option, an empty top is an empty stack`()
    throws
  {
    #expect(try WaitCondition(line([("top", "")])) == .top(nil))
    #expect(try WaitCondition(line([("depth", "3")])) == .depth(3))
    #expect(try WaitCondition(line([("rev", "12")])) == .revision(12))
    #expect(
      message { _ = try WaitCondition(line([("rev", "x")])) }
        == "--rev takes a whole number, not 'x'")
    #expect(!WaitCondition.top(nil).holds(top: "a", route: nil, depth: 0, revision: 1))
    #expect(!WaitCondition.top("a").holds(top: nil, route: nil, depth: 0, revision: 1))
    #expect(!WaitCondition.depth(2).holds(top: "a", route: nil, depth: 3, revision: 1))
    #expect(WaitCondition.revision(7).holds(top: nil, route: nil, depth: 0, revision: 7))
  }
}
