import NavigationCore

/// Decides when the hub looks for navs that nobody uses, and since which batch they must be unused.
///
/// A sweep visits all slots in slices. Laws:
/// - While a nav is loaded, a slice is due at some time.
/// - A nav is idle only if no client has used it since the beginning of the previous sweep. So a
///   nav stays for at least the interval between two sweeps, and at most for twice that.
struct IdleSweep: Sendable {
  /// When the next slice is due, in milliseconds of CLOCK_BOOTTIME; nil while no nav is loaded.
  private(set) var dueAt: UInt64?
  /// Whether a slice is due; the hub runs it when every batch is durable.
  private(set) var isDue = false
  /// The number of the slot at which the next slice begins.
  private(set) var cursor = 0
  /// The number of navs that the present sweep has made dormant.
  var unloadedCount = 0
  /// The number of the batch at hand when the newest sweep began.
  private var firstBatchOfRound: UInt64 = 0
  private var firstBatchOfFormerRound: UInt64 = 0

  /// Begins to sweep at this time; returns false if a slice is planned already.
  mutating func begin(at time: UInt64) -> Bool {
    guard dueAt == nil else { return false }
    dueAt = time
    return true
  }

  mutating func wake(at now: UInt64) { isDue = dueAt.map { $0 <= now } ?? false }

  /// Whether a nav is idle; `batch` is the number of the last batch that used it.
  func isIdle(_ batch: UInt64) -> Bool { batch < firstBatchOfFormerRound }

  /// Ends a slice; the next one begins with the slot of this number.
  mutating func pause(at number: Int, until time: UInt64) {
    (cursor, dueAt, isDue) = (number, time, false)
  }

  /// Begins a sweep, with the number of the batch at hand.
  mutating func beginRound(by batch: UInt64) {
    assert(cursor == 0 && batch >= firstBatchOfRound)
    (firstBatchOfFormerRound, firstBatchOfRound, unloadedCount) = (firstBatchOfRound, batch, 0)
  }

  /// Ends a sweep; the next one is due at a time, or never if no nav is loaded.
  mutating func endRound(next: UInt64?) { (cursor, dueAt, isDue) = (0, next, false) }

  /// Makes the next slice due at this time at the latest, because the interval became shorter.
  mutating func hasten(to time: UInt64) { dueAt = dueAt.map { min($0, time) } }
}
