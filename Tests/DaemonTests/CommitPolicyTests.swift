import NavigationCore
import Testing

@testable import NavigationDaemon

/// Clients with one op each in flight and a disk, in virtual time, as `JournalWriter` serves them.
///
/// Times are in nanoseconds.
private struct Model {
  let sync: UInt64
  /// How long after its answer each client sends the next op, in turns.
  let delays: [[UInt64]]
  private var policy: CommitPolicy?
  private var arrivals: [(at: UInt64, client: Int)]
  private var waiting: [Int] = []
  private var sent: [Int]
  private var now: UInt64 = 0
  private var lastEnd: UInt64 = 0
  /// How many commits waited, and the longest wait behind the end of the sync before.
  private(set) var waits = 0
  private(set) var longestWait: UInt64 = 0

  init(sync: UInt64, delays: [[UInt64]], hasPolicy: Bool) {
    self.sync = sync
    self.delays = delays
    policy = hasPolicy ? CommitPolicy() : nil
    arrivals = delays.indices.map { (UInt64($0) * 1000, $0) }
    sent = delays.map { _ in 0 }
  }

  /// The records that become durable in a second, over 500 syncs.
  mutating func rate() -> Double {
    var stored = 0
    for _ in 0..<500 {
      take(until: now)
      if waiting.isEmpty, let next {
        now = next
        take(until: now)
      }
      gather()
      let batch = waiting
      waiting = []
      now += sync
      lastEnd = now
      take(until: now)
      stored += batch.count
      policy?.noteCommit(of: batch.count, waiting: waiting.count, duration: sync)
      for client in batch {
        let turns = delays[client]
        arrivals.append((now + turns[sent[client] % turns.count], client))
        sent[client] += 1
      }
    }
    return Double(stored) * 1e9 / Double(now)
  }

  private var next: UInt64? { arrivals.map(\.at).min() }

  private mutating func take(until time: UInt64) {
    waiting += arrivals.filter { $0.at <= time }.map(\.client)
    arrivals.removeAll { $0.at <= time }
  }

  private mutating func gather() {
    guard let policy, waiting.count < policy.expectedRecords else { return }
    let (start, before, end) = (now, waiting.count, lastEnd + policy.maximumWait)
    guard start < end else { return }
    while waiting.count < policy.expectedRecords, now < end {
      now = min(next ?? end, end)
      take(until: now)
    }
    waits += 1
    longestWait = max(longestWait, now - lastEnd)
    self.policy?.noteWait(from: before, to: waiting.count)
  }
}

@Suite struct CommitPolicyTests {
  @Test func `commits are short when they have been, and long again only well above that`() {
    var policy = CommitPolicy()
    #expect(!policy.commitsAreShort, "nothing is known yet")
    func noted(_ duration: UInt64, until areShort: Bool) -> Int {
      for count in 1...100 {
        policy.noteDuration(duration)
        if policy.commitsAreShort == areShort { return count }
      }
      return .max
    }
    #expect(noted(100_000, until: true) < 15)
    #expect(noted(450_000, until: false) == .max, "neither way is better there")
    #expect(noted(600_000, until: false) < 15)
    #expect(noted(400_000, until: true) == .max)
    #expect(noted(100_000, until: true) < 15)
    // A stall counts at once, and is forgotten soon.
    #expect(noted(30_000_000_000, until: false) == 1)
    #expect(noted(100_000, until: true) < 15)
  }

  private static let millisecond: UInt64 = 1_000_000

  /// The rate with the policy in parts of the rate without, and the model with it.
  private func gain(sync: UInt64, _ delays: [[UInt64]]) -> (gain: Double, model: Model) {
    var without = Model(sync: sync, delays: delays, hasPolicy: false)
    var with = Model(sync: sync, delays: delays, hasPolicy: true)
    let gain = with.rate() / without.rate()
    return (gain, with)
  }

  @Test(arguments: [(1, 1.5), (5, 1.85), (20, 1.95)] as [(UInt64, Double)])
  func `halves that take turns on a slow disk become one`(milliseconds: UInt64, least: Double) {
    let delays = (0..<64).map { [100_000 + UInt64($0) * 3000] }
    let (gain, model) = gain(sync: milliseconds * Self.millisecond, delays)
    #expect(gain > least, "\(gain)")
    #expect(model.longestWait <= milliseconds * Self.millisecond / 2)
  }

  @Test func `a client that waits for each answer is never made to wait`() {
    let (gain, model) = gain(sync: 5 * Self.millisecond, [[50_000]])
    #expect(gain == 1 && model.waits == 0)
  }

  @Test func `clients that think for longer than a sync cost next to nothing`() {
    let delays = (0..<64).map { [(8 + UInt64($0) % 7) * Self.millisecond] }
    let (gain, _) = gain(sync: 2 * Self.millisecond, delays)
    #expect(gain > 0.97, "\(gain)")
  }

  @Test(arguments: 1...200 as ClosedRange<UInt64>)
  func `whatever comes, a wait is short and the rate does not fall`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let sync = UInt64.random(in: 50_000...20_000_000, using: &random)
    let delays = (0..<Int.random(in: 1...64, using: &random)).map { _ in
      (0..<17).map { _ in UInt64.random(in: 1...sync * 3, using: &random) }
    }
    let (gain, model) = gain(sync: sync, delays)
    #expect(gain > 0.95, "\(gain) with a sync of \(sync) ns, \(delays.count) clients")
    #expect(model.longestWait <= sync / 2)
  }

  @Test func `without arrivals during the last syncs there is no wait`() {
    var policy = CommitPolicy()
    for _ in 0..<10 { policy.noteCommit(of: 4, waiting: 4, duration: 1000) }
    #expect(policy.maximumWait == 500 && policy.expectedRecords == 8)
    policy.noteCommit(of: 8, waiting: 0, duration: 1000)
    #expect(policy.maximumWait == 0)
  }

  @Test func `a wait in vain is followed by commits without one, ever more`() {
    var policy = CommitPolicy()
    for _ in 0..<3 { policy.noteCommit(of: 4, waiting: 4, duration: 1000) }
    var pauses: [Int] = []
    for _ in 0..<4 {
      policy.noteWait(from: 4, to: 4)
      var pause = 0
      while policy.maximumWait == 0 {
        policy.noteCommit(of: 4, waiting: 4, duration: 1000)
        pause += 1
      }
      pauses.append(pause)
    }
    #expect(pauses == [8, 16, 32, 64])
  }
}
