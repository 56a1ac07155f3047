import NavigationCore
import Testing

@testable import NavigationDaemon

@Suite struct BackOffTests {
  /// Failures alone: 8, 16, 32 … turns apart, and never more than the most.
  @Test func `each failure doubles the pause, up to a limit`() {
    var backOff = BackOff(from: 8, to: 100)
    var pauses: [Int] = []
    for _ in 0..<6 {
      #expect(backOff.isOver)
      backOff.noteFailure()
      var turns = 0
      while !backOff.isOver {
        backOff.noteTurn()
        turns += 1
      }
      pauses.append(turns)
    }
    #expect(pauses == [8, 16, 32, 64, 100, 100])
  }

  @Test(arguments: 0..<100 as Range<UInt64>)
  func `a pause is within its limits, and successes make the next one shorter`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let shortest = Int.random(in: 1...20, using: &random)
    let longest = shortest * Int.random(in: 1...50, using: &random)
    var backOff = BackOff(from: shortest, to: longest)
    var (twin, remaining) = (shortest, 0)
    for _ in 0..<500 {
      switch Int.random(in: 0..<4, using: &random) {
      case 0 where remaining == 0:
        backOff.noteFailure()
        #expect((shortest...longest).contains(twin))
        (remaining, twin) = (twin, min(twin * 2, longest))
      case 1:
        backOff.noteSuccess(divisor: 2)
        twin = max(shortest, twin - twin / 2)
      default:
        backOff.noteTurn()
        remaining = max(0, remaining - 1)
      }
      #expect(backOff.isOver == (remaining == 0))
    }
  }
}
