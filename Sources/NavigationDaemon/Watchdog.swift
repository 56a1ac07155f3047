/// Decides when to report to the service manager that the loop makes progress.
///
/// Times are in milliseconds.
struct Watchdog {
  /// The time between two reports; nil if no report is ever due.
  let interval: UInt64?
  private(set) var reportedAt: UInt64 = 0

  /// When the next report is due; nil for never.
  var wakeAt: UInt64? { interval.map { reportedAt + $0 } }

  /// Returns whether a report is due, and counts it as made.
  mutating func isDue(at now: UInt64) -> Bool {
    guard let wakeAt, now >= wakeAt else { return false }
    reportedAt = now
    return true
  }
}
