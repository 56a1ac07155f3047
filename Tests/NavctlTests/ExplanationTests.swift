import NavigationCore
import Testing

@testable import navctl

@Suite struct ExplanationTests {
  @Test func `every code of the protocol is explained once, with the remedy of its error`() {
    let codes = Explanation.all.compactMap(\.refusal)
    #expect(Set(codes) == Set(ErrorCode.allCases) && codes.count == ErrorCode.allCases.count)
    #expect(Set(Explanation.all.map(\.code)).count == Explanation.all.count)
    for explanation in Explanation.all {
      guard let refusal = explanation.refusal else { continue }
      #expect(explanation.code == refusal.rawValue)
      #expect(explanation.exitStatus == refusal.exitStatus)
      #expect(explanation.remedy == Remedies.remedy(for: refusal))
    }
  }

  @Test(arguments: ErrorCode.allCases)
  func `the effect is the one that the protocol gives, unknown only of an op that is too old`(
    code: ErrorCode
  ) throws {
    let explanation = try Explanation.find(code.rawValue)
    let effect = code == .opTooOld ? "unknown" : "none"
    let lines = explanation.lines(columns: 80)
    #expect(lines.contains("  effect \(effect), retry \(code.retry.rawValue)"), "\(lines)")
  }

  @Test func `the reasons of unknown-button are among its causes`() throws {
    let cause = try Explanation.find("unknown-button").lines(columns: 200).joined(separator: " ")
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
    #expect(Array(Explanation.nearest(to: typed).prefix(1)) == near)
  }

  @Test func `lines are as wide as the terminal but for what is to be copied`() throws {
    for explanation in Explanation.all {
      let lines = explanation.lines(columns: 60)
      #expect(lines.first?.hasPrefix("\(explanation.code)  ") == true)
      #expect(lines.last == "  try: \(explanation.remedy)")
      #expect(lines.dropLast(2).allSatisfy { $0.count <= 60 }, "\(lines)")
    }
  }
}
