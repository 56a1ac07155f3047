/// Decides when to report to the service manager that the loop makes progress.
///
/// Times are in milliseconds.
struct Watchdog {
  private let interval: UInt64?
  private var reportedAt: UInt64 = 0

  /// Makes a watchdog; without an interval it is never due.
  init(interval: UInt64?) { self.interval = interval }

  /// When the next report is due; nil for never.
  var wakeAt: UInt64? { interval.map { reportedAt + $0 } }

  /// Returns whether a report is due, and counts it as made.
  mutating func isDue(at now: UInt64) -> Bool {
    guard let wakeAt, now >= wakeAt else { return false }
    reportedAt = now
    return true
  }
}
