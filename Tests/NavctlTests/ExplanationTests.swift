import NavigationCore
import NavigationHub
import Testing

@testable import navctl

@Suite struct ExplanationTests {
  @Test func `every code of the protocol and of navctl is explained once`() {
    #expect(Set(CodeExplanation.all.map(\.code)).count == CodeExplanation.all.count)
    #expect(CodeExplanation.all.compactMap(\.errorCode) == ErrorCode.allCases)
    #expect(ErrorCode.rows.map(\.code) == ErrorCode.allCases)
  }

  @Test func `the reasons of unknown-button are among its causes`() throws {
    let cause = try CodeExplanation.find("unknown-button").lines(columns: 200).joined(
      separator: " ")
    for reason in [ButtonRefusal.notDisplayed, .disabled] { #expect(cause.contains("\(reason)")) }
  }

  @Test func `text is broken at spaces, and a long word stands alone`() {
    #expect(TerminalText.wrapped("one two three", columns: 7) == ["one two", "three"])
    #expect(
      TerminalText.wrapped("a incomprehensible b", columns: 4) == ["a", "incomprehensible", "b"])
    #expect(TerminalText.wrapped("", columns: 4) == [])
  }

  @Test(arguments: [
    ("desnyc", ["desync"]), ("nodaemon", ["no-daemon"]), ("time", ["timeout"]), ("zzzzzzzzz", []),
    ("", []),
  ]) func `the nearest codes are those that take few letters to change`(
    typed: String, near: [String]
  ) {
    #expect(Array(CodeExplanation.nearest(to: typed).prefix(1)) == near)
  }

  @Test func `lines are as wide as the terminal but for what is to be copied`() throws {
    for explanation in CodeExplanation.all {
      let lines = explanation.lines(columns: 60)
      #expect(lines.first?.hasPrefix("\(explanation.code)  ") == true)
      #expect(lines.last == "  try: \(explanation.remedy)")
      #expect(lines.dropLast(2).allSatisfy { $0.count <= 60 }, "\(lines)")
    }
  }
}
