import NavigationCore
import Testing

@Suite struct IdentifierTests {
  private static let longest = String(repeating: "a", count: 64)

  @Test(arguments: ["a", "A", "0", "home", "a.b_c-d", longest])
  func `an id begins with a letter or digit and has at most 64 characters`(text: String) {
    #expect(ScreenID(text)?.text == text)
    #expect(ButtonID(text)?.text == text)
  }

  @Test(arguments: ["", ".a", "_a", "-a", "a b", "ä", "a/b", "$a", longest + "a", "a\u{0}"])
  func `anything else is no id`(text: String) {
    #expect(ScreenID(text) == nil)
    #expect(ButtonID(text) == nil)
  }

  @Test(arguments: 1...64)
  func `a screen's id of any length is its text, and no other`(length: Int) throws {
    var random = SeededGenerator(seed: UInt64(length))
    let characters = Array("abzABZ019._-")
    let text = String(
      (0..<length).map { $0 == 0 ? "s" : characters.randomElement(using: &random) ?? "a" })
    let id = try #require(ScreenID(text))
    #expect(id.text == text && "\(id)" == text && id.byteCount == length)
    #expect(id.withBytes { [UInt8](copying: $0) } == Array(text.utf8))
    #expect(JSONWriter.value { $0.word(id) } == Array("\"\(text)\"".utf8))
    let other = ScreenID(text.utf8.span)
    #expect(other == id)
    // Others: a byte changed, one less, one more.
    var others = [String(text.dropLast()), text + "x", String(text.dropLast()) + "y"]
    others += [String(text.prefix(length / 2)) + "q" + text.dropFirst(length / 2 + 1)]
    for other in others where other != text {
      #expect(ScreenID(other) != id, "\(other)")
    }
    #expect(Set([id, other]).count == 1)
  }

  @Test func `every byte is allowed or not, wherever it stands`() {
    func isLetter(_ byte: UInt8) -> Bool {
      UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
    }
    for byte in UInt8.min ... .max {
      let isCapital = UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
      let isOther =
        byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
      for length in 1...19 {
        for place in 0..<length {
          var bytes = [UInt8](repeating: UInt8(ascii: "k"), count: length)
          bytes[place] = byte
          let isID = isLetter(byte) || isCapital || isOther && place > 0
          #expect(Grammar.isID(bytes.span) == isID)
          let isSlash = byte == UInt8(ascii: "/")
          let isName = isLetter(byte) || (isOther || isSlash) && place > 0
          #expect(Grammar.isNavName(bytes.span) == isName)
        }
      }
    }
  }

  @Test func `the daemon's ids are known by their form`() throws {
    for text in ["s1.1", "s0.12", "s18446744073709551615.3"] {
      #expect(try #require(ScreenID(text)).isAssignedForm)
    }
    for text in ["s", "s1", "s1.", "s.1", "s1.1.1", "b1.1", "s1.x", "S1.1", "s1-1"] {
      #expect(!(try #require(ScreenID(text)).isAssignedForm))
    }
    #expect(ScreenID(assignedAt: Revision(7), ordinal: 2).isAssignedForm)
    #expect(ButtonID(assignedAt: Revision(7), ordinal: 2).text == "b7.2")
    #expect(ButtonID(assignedAt: Revision(7), ordinal: 2).isAssignedForm)
    #expect(!ButtonID("s7.2").isAssignedForm)
  }

  @Test func `nav names are lower case and may have slashes`() {
    for text in ["kiosk", "a/b.c_d-e", "0", String(repeating: "a", count: 128)] {
      #expect(NavName(text)?.text == text)
      #expect(NavName(text)?.isVirtual == false)
    }
    for text in ["", "/a", "Kiosk", "$navs", "a b", String(repeating: "a", count: 129)] {
      #expect(NavName(text) == nil)
    }
    #expect(NavName.navs.isVirtual && NavName.clients.isVirtual)
    #expect(NavName.clients < NavName.navs)
  }

  @Test func `an epoch is 16 lower-case hex digits`() {
    #expect(Epoch("c0ffee12c0ffee12")?.text == "c0ffee12c0ffee12")
    #expect(Epoch(bits: 1).text == "0000000000000001")
    for text in [
      "", "c0ffee12c0ffee1", "C0FFEE12C0FFEE12", "c0ffee12c0ffee123", "-00000000000000a",
    ] {
      #expect(Epoch(text) == nil)
    }
  }
}
