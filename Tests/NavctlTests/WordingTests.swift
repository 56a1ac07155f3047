import NavigationClient
import NavigationCore
import NavigationHub
import Testing

@testable import navctl

/// The sentences that people read: number and subject.
@Suite struct WordingTests {
  @Test(arguments: [
    (0, "session", "0 sessions"), (1, "session", "1 session"), (2, "session", "2 sessions"),
    (1, "watch", "1 watch"), (2, "watch", "2 watches"), (21, "nav", "21 navs"),
  ])
  func `a noun follows its number`(_ number: Int, _ noun: String, _ text: String) {
    #expect(counted(number, noun) == text)
  }

  @Test func `large numbers keep their commas`() {
    #expect(Figures.counted(12_000, "revision") == "12,000 revisions")
    #expect(Figures.counted(1, "revision") == "1 revision")
  }

  @Test func `the doctor and the status count one as one`() {
    var statistics = SampleStatistics()
    (statistics["sessions"], statistics["lag.max"]) = (1, 1)
    #expect(Doctor.clientLag(statistics.value).finding == "1 session, none stalled, lag 1 revision")
    (statistics["lag.stalled"], statistics["watches"], statistics["lag.watches"]) = (1, 1, 1)
    #expect(
      Doctor.clientLag(statistics.value).finding == "1 stalled, 1 watch behind by up to 1 revision")
    let lines = StatusDrawing.lines(statistics.value, endpoint: "ipc:///x").map(\.plain)
    #expect(lines.contains { $0.hasSuffix("1, 1 behind by up to 1 revision") }, "\(lines)")
  }

  @Test func `what is wrong on a command line has a subject`() {
    func message(_ body: () throws -> Void) -> String {
      do { try body() } catch { return (error as? UsageError)?.message ?? "\(error)" }
      return "accepted"
    }
    let found = [
      message { _ = try OperationParser.record(.button, verb: "release", []) },
      message { _ = try NavObject.button.operations(id: nil, []) },
      message { _ = try NavArguments([], rest: 0...0, option: nil, variable: nil, usage: "x") },
    ]
    #expect(
      found == [
        "button release takes an id, and nothing else", "BUTTON is missing",
        "the command needs a nav",
      ])
  }
}
