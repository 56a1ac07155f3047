import Testing

@testable import NavigationCore
@testable import NavigationHub

@Suite struct WakeTimerTests {
  @Test(arguments: UInt64(1)...4)
  func `the deadline is the earliest planned since the last wake`(seed: UInt64) {
    var timer = WakeTimer()
    var planned: [UInt64] = []
    var random = SeededGenerator(seed: seed)
    for _ in 0..<500 {
      if random.next() % 5 == 0 {
        timer.fire()
        planned = []
      } else {
        let time = random.next() % 1000
        timer.plan(time)
        planned.append(time)
      }
      #expect(timer.wakeAt == planned.min())
    }
  }

  @Test func `the time until a deadline is never negative or 0`() {
    var timer = WakeTimer()
    timer.advance(to: Instant(boot: 50, wall: 7))
    #expect(timer.now == Instant(boot: 50, wall: 7))
    #expect([49, 50, 51, 90].map(timer.millisecondsLeft) == [nil, nil, 1, 40])
  }
}
