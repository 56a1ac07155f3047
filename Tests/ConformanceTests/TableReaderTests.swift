import Testing

@testable import Conformance

@Suite struct TableReaderTests {
  /// A row with a script.
  static func row(_ script: String...) -> String {
    "C-900 X ◇\n  Given g\n  When w\n  Then t\n" + script.map { "  \($0)\n" }.joined()
  }

  @Test func `a row is read with its words and its place`() throws {
    let text = "# comment\n\n" + Self.row("nav [A,B]", "# why", "op pop", "ok+", "stack [A]")
    let row = try #require(try TableReader.read(text, file: "t").first)
    #expect(row.id == "C-900")
    #expect(row.line == 3)
    #expect(row.source == "X ◇")
    #expect([row.given, row.when, row.then] == ["g", "w", "t"])
    #expect(row.lines.map(\.number) == [7, 9, 10, 11])
  }

  /// A text that is no table, and the line that says so.
  struct Wrong: CustomTestStringConvertible {
    var text: String
    var line: Int
    var testDescription: String { text }

    init(_ text: String, _ line: Int) {
      self.text = text
      self.line = line
    }
  }

  static let wrong: [Wrong] = [
    Wrong(Self.row("nav [A]", "op pop", "okay"), 7),
    Wrong(Self.row("nav [A]", "op pop", "ok+ twice"), 7),
    Wrong(Self.row("nav [A]", "op quickly", "ok+", "frobnicate"), 8),
    Wrong(Self.row("nav A", "stack [A]"), 5),
    Wrong(Self.row("nav [A,,B]", "stack [A]"), 5),
    Wrong(Self.row("nav [A]", "op push {\"screen\":", "ok+"), 6),
    Wrong(Self.row("nav [A]", "op push {\"screen\" \"A\"}", "ok+"), 6),
    Wrong(Self.row("nav [A]", "state bar.hidden is true"), 6),
    Wrong(Self.row("nav [A]", "advance soon", "same"), 6),
    Wrong(Self.row(), 1),
    Wrong(Self.row("nav [A]"), 1),
    Wrong(Self.row("nav [A]", "ok+"), 6),
    Wrong(Self.row("nav [A]", "ev []"), 6),
    Wrong(Self.row("nav [A]", "op pop"), 6),
    Wrong(Self.row("nav [A]", "op pop", "stack [A]"), 6),
    Wrong(Self.row("nav [A]", "op pop", "op pop", "ok+"), 6),
    Wrong(Self.row("nav [A]", "op pop", "ok+", "advance 5"), 8),
    Wrong(Self.row("code", "nav [A]", "stack [A]"), 1),
    Wrong("C-900 X\n  Given g\n  When w\n  nav [A]\n  stack [A]\n", 1),
    Wrong("C-9 X\n", 1),
    Wrong("C-900\n  Given g\n  When w\n  Then t\n  nav [A]\n  stack [A]\n", 1),
    Wrong("  nav [A]\n", 1),
  ]

  @Test(arguments: wrong)
  func `what is not understood is refused with its line`(wrong: Wrong) {
    do {
      let rows = try TableReader.read(wrong.text, file: "t")
      Issue.record("read as \(rows)")
    } catch {
      #expect(error.line == wrong.line, "\(error)")
      #expect(error.file == "t")
    }
  }

  @Test func `a range stands for its names`() throws {
    var cursor = ScriptCursor("[A, S9...S11 ,f(a,b)]")
    #expect(try cursor.list() == ["A", "S9", "S10", "S11", "f(a,b)"])
  }

  @Test func `placeholders are filled in outside of strings`() {
    let text = Placeholders.fill(#"{"a":$x,"b":"$x @y","c":[@y],"d":$z}"#) {
      $0 == "x" ? "7" : nil
    } record: {
      "<\($0)>"
    }
    #expect(text == #"{"a":7,"b":"$x @y","c":[<y>],"d":$z}"#)
  }
}
