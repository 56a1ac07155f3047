import Testing

@testable import PostgresJournal

/// A lease ends by the clock of the process that watches it.
@Suite struct LeaseWatchTests {
  /// The server's clock runs `offset` ms ahead; a member renews its lease of 5 s at 0 and 1 s.
  private func watch(_ offset: @escaping (Int64) -> Int64) -> (UInt64) -> Int64 {
    var watch = LeaseWatch(leaseMilliseconds: 5000)
    let first = 5000 + offset(0)
    let renewed = 6000 + offset(1000)
    for now: Int64 in [10, 900] {
      _ = watch.noteLease(
        of: "a", serverEnd: first, millisecondsLeft: first - now - offset(now), at: UInt64(now))
    }
    for now: Int64 in [1100, 2000] {
      _ = watch.noteLease(
        of: "a", serverEnd: renewed, millisecondsLeft: renewed - now - offset(now), at: UInt64(now))
    }
    return { now in
      watch.noteLease(
        of: "a", serverEnd: renewed, millisecondsLeft: renewed - Int64(now) - offset(Int64(now)),
        at: now)
    }
  }

  private static let jumps: [Int64] = [
    0, 28_800_000, -28_800_000, 3_600_000, -7000, 1000, 4000, 4899,
  ]
  private static let times: [Int64] = [500, 1050, 1500, 3000]

  @Test(
    "its last renewal has been there for its length, whatever the server's clock does",
    arguments: jumps, times)
  func jump(by jump: Int64, at time: Int64) {
    let left = watch { $0 >= time ? jump : 0 }
    #expect(left(5900) > 0)
    // What it has seen of the lease began 100 ms after the renewal, and a clock that was set back
    // between the two hides how much.
    #expect(left(6101) <= 0)
  }

  @Test func `who sees a lease for the first time believes the server, up to the length`() {
    var watch = LeaseWatch(leaseMilliseconds: 5000)
    #expect(watch.noteLease(of: "gone", serverEnd: 1, millisecondsLeft: -7, at: 10) == 0)
    #expect(watch.noteLease(of: "gone", serverEnd: 1, millisecondsLeft: -9, at: 20) == -10)
    #expect(watch.noteLease(of: "late", serverEnd: 1, millisecondsLeft: 800, at: 10) == 800)
    #expect(watch.noteLease(of: "late", serverEnd: 1, millisecondsLeft: 28_800_000, at: 810) <= 0)
    #expect(watch.noteLease(of: "odd", serverEnd: 1, millisecondsLeft: 28_800_000, at: 10) == 5000)
  }

  @Test func `a lease that was given back has ended at once`() {
    var watch = LeaseWatch(leaseMilliseconds: 5000)
    #expect(watch.noteLease(of: "a", serverEnd: 6000, millisecondsLeft: 5000, at: 1000) == 5000)
    #expect(watch.noteLease(of: "a", serverEnd: 2000, millisecondsLeft: 0, at: 2000) == 0)
  }
}
