/// The share of a long piece of work that is done, its rate, and the time that remains.
///
/// The caller passes what is done and the time, so the value has no clock. Laws: `done` and `fraction`
/// never fall, and `fraction` is 1 only when everything is done. There is no rate before
/// `millisecondsBeforeRate` milliseconds of work, and no remaining time without a rate above 0.
package struct ProgressEstimate: Hashable, Sendable {
  package static let millisecondsBeforeRate: UInt64 = 500
  /// The length of a window in milliseconds; the rate covers the last one to two windows.
  package static let rateWindowMilliseconds: UInt64 = 5000

  /// How many units were done at a time in milliseconds.
  private struct ProgressSample: Hashable {
    var time: UInt64
    var done: UInt64
  }

  package private(set) var done: UInt64 = 0
  /// All units, as last reported; never fewer than `done`.
  package private(set) var total: UInt64 = 0
  /// The share that is done, from 0 to 1.
  package private(set) var fraction = 0.0
  private var now: UInt64
  private var windowStart: ProgressSample
  private var nextWindowStart: ProgressSample

  /// Begins at a time in milliseconds of a clock that does not fall.
  package init(at now: UInt64) {
    self.now = now
    windowStart = ProgressSample(time: now, done: 0)
    nextWindowStart = windowStart
  }

  /// Records how much is done; it ignores less work than before, and an earlier time.
  ///
  /// `total` can grow while the work goes on; `now` is in milliseconds.
  package mutating func update(_ done: UInt64, of total: UInt64, at now: UInt64) {
    self.now = max(self.now, now)
    self.done = max(self.done, min(done, total))
    self.total = max(total, self.done)
    let share = self.total > 0 ? Double(self.done) / Double(self.total) : 0
    // Rounding must not make 1 of what is not complete.
    fraction = max(fraction, self.done < self.total ? min(share, 1.0.nextDown) : share)
    guard self.now - nextWindowStart.time >= Self.rateWindowMilliseconds else { return }
    windowStart = nextWindowStart
    nextWindowStart = ProgressSample(time: self.now, done: self.done)
  }

  package var isComplete: Bool { total > 0 && done == total }

  /// The share that is done in whole percent; 100 only if everything is done.
  package var percent: Int { Int(fraction * 100) }

  /// The units done per second, lately; nil before `millisecondsBeforeRate`.
  package var unitsPerSecond: Double? {
    let elapsed = now - windowStart.time
    guard elapsed >= Self.millisecondsBeforeRate, done > 0 else { return nil }
    return Double(done - windowStart.done) * 1000 / Double(elapsed)
  }

  /// The milliseconds until everything is done at the present rate; nil without a rate.
  package var remainingMilliseconds: UInt64? {
    if isComplete { return 0 }
    guard let unitsPerSecond, unitsPerSecond > 0 else { return nil }
    let milliseconds = Double(total - done) / unitsPerSecond * 1000
    return milliseconds < Double(Self.longestRemaining) ? UInt64(milliseconds.rounded(.up)) : nil
  }

  /// A year; for a longer time, `remainingMilliseconds` is nil.
  private static let longestRemaining: UInt64 = 365 * 86_400_000
}
