import Conformance
import Testing

/// The runner must find what is wrong; that it finds nothing else is what all other rows show.
@Suite struct RunnerTests {
  private func failure(_ script: String...) throws -> ConformanceFailure? {
    let text = "C-900 X\n  Given g\n  When w\n  Then t\n" + script.map { "  \($0)\n" }.joined()
    let row = try #require(try TableReader.read(text, file: "t").first)
    var driver = HubDriver()
    do {
      try ConformanceRunner.run(row, on: &driver)
      return nil
    } catch let failure as ConformanceFailure {
      return failure
    }
  }

  @Test func `a row that holds passes`() throws {
    let failure = try failure(
      "nav [A,B]", "op pop", "ok+", "out popped = \"B\"", "stack [A]", "top A", "back nil",
      "ev [willShow(A,0),didPop(B),didShow(A,0)]", "touches [stack]", "L []")
    #expect(failure == nil)
  }

  @Test(arguments: [
    "ok=", "err desync", "err guard-required {}", "pending", "queued 1", "stack [A,B]", "top B",
    "back A", "ev []", "ev [willShow(A,0)]", "revisions 2", "touches [bar]", "L [back]", "same",
    "out popped = \"A\"", "out popped ~ {\"id\":\"A\"}", "state rev = 1", "diff cause = \"segue\"",
    "resolved left absent", "state screens != [{\"id\":\"A\",\"ver\":1}]", "nonav",
    "ephemeral [buttonActivated(x,y)]", "event didPop {\"screen\":\"A\"}", "asked 1 [shouldPop(B)]",
    "settled 1 [denied]", "log cause = \"segue\"", "got 1 [diff(1,2)]", "reply changed = false",
  ])
  func `a wrong expectation fails at its line`(expectation: String) throws {
    let failure = try #require(try failure("nav [A,B]", "op pop", "ok", expectation))
    #expect(failure.line == 8)
    #expect(failure.id == "C-900")
  }

  @Test(arguments: [
    "ok+", "err guard-required", "err desync {\"reason\":\"rev\"}", "ok",
  ])
  func `a refusal is no success and must be the one that is expected`(expectation: String) throws {
    let failure = try failure("nav [A,B]", "op if {\"top\":\"A\"} pop", expectation)
    #expect(failure?.line == 7)
  }

  @Test func `a set-up that is refused fails`() throws {
    let failure = try failure("nav [A]", "do popTo Z", "stack [A]")
    #expect(failure?.line == 6)
  }
}
