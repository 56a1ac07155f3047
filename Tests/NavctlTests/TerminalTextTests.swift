import Testing

@testable import navctl
import NavigationCore

/// Texts in columns, against a count by hand.
@Suite struct TerminalTextTests {
  @Test(arguments: SampleTexts.narrow) func `a narrow character takes one column`(text: String) {
    #expect(TerminalText.width(text) == 1)
  }

  @Test(arguments: SampleTexts.wide) func `a wide character takes two columns`(text: String) {
    #expect(TerminalText.width(text) == 2)
  }

  @Test(arguments: 0..<4 as Range<UInt64>)
  func `a text is cut to its columns, never within a character`(seed: UInt64) {
    var texts = SampleTexts(seed: seed)
    for _ in 0..<40 {
      let text = texts.text(atMost: 14)
      #expect(TerminalText.width(text) == SampleTexts.columns(text))
      for limit in -1...18 {
        let cut = TerminalText.fitted(text, columns: limit)
        #expect(cut == SampleTexts.cut(text, to: limit), "\(text) in \(limit)")
        let padded = TerminalText.padded(text, columns: limit)
        #expect(TerminalText.width(padded) == max(limit, 0), "\(text) in \(limit)")
        #expect(padded.hasPrefix(cut))
      }
    }
  }

  @Test(arguments: 0..<4 as Range<UInt64>)
  func `wrapped lines have all words in order, and as many as fit`(seed: UInt64) {
    var texts = SampleTexts(seed: seed)
    for _ in 0..<60 {
      let text = texts.text(atMost: 40)
      let limit = 4 + texts.below(20)
      let lines = TerminalText.wrapped(text, columns: limit)
      #expect(lines.flatMap { $0.split(separator: " ") } == text.split(separator: " "))
      for line in lines where line.contains(" ") { #expect(SampleTexts.columns(line) <= limit) }
      for (line, next) in zip(lines, lines.dropFirst()) {
        let word = next.split(separator: " ").first.map(String.init) ?? ""
        #expect(SampleTexts.columns(line) + 1 + SampleTexts.columns(word) > limit)
      }
    }
  }

  @Test(arguments: SampleTexts.steering)
  func `what steers a terminal is replaced, one mark for one`(scalar: String) {
    #expect(TerminalText.visible("a\(scalar)b") == "a\u{FFFD}b")
    #expect(TerminalText.visible(scalar + scalar) == "\u{FFFD}\u{FFFD}")
  }

  @Test func `JSON with escapes means the same, and steers nothing`() throws {
    let title = SampleTexts.steering.joined() + "é👨\u{200D}👩 \"\\\u{10FFFF}"
    let json = OpaqueJSON.string(title).bytes
    for isASCII in [false, true] {
      let text = TerminalText.json(json, isASCII: isASCII)
      #expect(try JSONValue(Array(text.utf8)).string == title)
      #expect(TerminalText.visible(text) == text && TerminalText.json(Array(text.utf8)) == text)
      #expect(text.utf8.allSatisfy { $0 < 0x80 } == isASCII)
    }
    #expect(TerminalText.json(Array("{\n\t\"a\": 1}".utf8)) == "{  \"a\": 1}")
  }

  @Test func `no scalar that steers is left, and every other one is`() {
    let steering: [ClosedRange<UInt32>] = [
      0x00...0x1F, 0x7F...0x9F, 0x61C...0x61C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069,
    ]
    var wrong: [UInt32] = []
    for value in 0...0x3000 as ClosedRange<UInt32> {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let text = "\(Character(scalar))"
      let expected = steering.contains { $0.contains(value) } ? "\u{FFFD}" : text
      if TerminalText.visible(text) != expected { wrong.append(value) }
    }
    #expect(wrong == [])
  }

  @Test func `a carriage return before a line feed does not hide it`() {
    #expect(TerminalText.visible("a\r\nb") == "a\u{FFFD}\u{FFFD}b")
  }
}

/// Lines of pieces with styles.
@Suite struct StyledLineTests {
  private func line(_ pieces: [(String, StyledLine.Style)]) -> StyledLine {
    var line = StyledLine()
    for piece in pieces { line.append(piece.0, piece.1) }
    return line
  }

  @Test func `each style has its sequence, and each sequence is ended`() {
    let line = line([
      ("a", .plain), ("b", .strong), ("c", .faint), ("d", .tint), ("e", .alert),
    ])
    #expect(
      line.rendered(isColoured: true)
        == "a\u{1B}[1mb\u{1B}[0m\u{1B}[2mc\u{1B}[0m\u{1B}[34md\u{1B}[0m\u{1B}[31me\u{1B}[0m")
    #expect(line.rendered(isColoured: false) == "abcde")
  }

  @Test func `without colours no line ends in spaces`() {
    #expect(line([("a ", .strong), ("  ", .plain)]).plain == "a")
    #expect(StyledLine("   ").plain == "" && StyledLine("   ").width == 3)
  }

  @Test(arguments: 0..<6 as Range<UInt64>)
  func `a line is cut as its text is, and colours do not change its width`(seed: UInt64) {
    var texts = SampleTexts(seed: seed)
    let styles: [StyledLine.Style] = [.plain, .strong, .faint, .tint, .alert]
    for _ in 0..<80 {
      let pieces = (0..<texts.below(5)).map { _ in (texts.text(atMost: 8), texts.pick(styles)) }
      let line = line(pieces)
      let limit = texts.below(24)
      let fitted = line.fitted(columns: limit)
      #expect(fitted.width <= limit || line.width <= limit)
      #expect(line.width > limit || fitted == line)
      let bare = fitted.rendered(isColoured: true)
        .replacing(/\u{1B}\[[0-9]+m/, with: "")
      #expect(TerminalText.width(bare) == fitted.width)
      let text = pieces.map(\.0).joined()
      if line.width > limit {
        // What remains is the beginning of the text.
        #expect(text.hasPrefix(bare.last == "…" ? String(bare.dropLast()) : bare))
      }
      if pieces.count == 1 { #expect(bare == SampleTexts.cut(text, to: limit)) }
    }
  }

  @Test func `a cut between two pieces has its ellipsis`() {
    let line = line([("abc", .plain), ("", .strong), ("def", .faint)])
    #expect(line.fitted(columns: 3).plain == "ab…")
    #expect(line.fitted(columns: 6) == line)
    #expect(line.fitted(columns: 0).plain == "")
  }

  @Test func `equal texts in other styles are other lines`() {
    #expect(StyledLine("a", .strong) != StyledLine("a", .faint))
    #expect(StyledLine("a", .strong) == StyledLine("a", .strong))
    #expect(Set([StyledLine("a"), StyledLine("a"), StyledLine("a", .alert)]).count == 2)
  }

  @Test func `pieces flow into lines of the width, and a long one is cut`() {
    let pieces = ["one", "two", "长长长长长长长", "three", "4"].map { StyledLine($0) }
    #expect(
      StyledLine.flow(pieces, columns: 12).map(\.plain)
        == ["one  two", "  长长长长…", "  three  4"])
    #expect(StyledLine.flow([], columns: 12).isEmpty)
  }

  @Test func `a sign that is never drawn takes no cell, and hides no line that is too wide`() {
    let cells = StyledLine("a\u{200B}b\u{AD}").cells(columns: 2)
    #expect(cells.map(\.column) == [0, 1])
    let text = String(repeating: "\u{200B}", count: 200) + String(repeating: "x", count: 50)
    let parts = TerminalText.indentWrapped(text, columns: 20)
    #expect(parts.allSatisfy { TerminalText.width($0) <= 20 } && parts.count > 2)
  }
}
