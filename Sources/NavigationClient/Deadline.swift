/// The time of the monotonic clock in milliseconds since the start of the process.
func monotonicMilliseconds() -> UInt64 {
  let (seconds, attoseconds) = (ContinuousClock.now - clockOrigin).components
  return UInt64(clamping: seconds) * 1000 + UInt64(clamping: attoseconds / 1_000_000_000_000_000)
}

private let clockOrigin = ContinuousClock.now

/// A time of the monotonic clock at which a wait ends.
struct Deadline {
  let milliseconds: UInt64

  init(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    let span = UInt64(clamping: seconds).multipliedReportingOverflow(by: 1000)
    let wait = span.overflow ? UInt64.max / 2 : span.partialValue
    let part = UInt64(clamping: attoseconds / 1_000_000_000_000_000)
    milliseconds = monotonicMilliseconds() + min(wait, UInt64.max / 2) + part
  }

  /// Makes a deadline from a time of the monotonic clock in milliseconds.
  init(at milliseconds: UInt64) { self.milliseconds = milliseconds }

  var hasPassed: Bool { remainingMilliseconds == 0 }

  /// The milliseconds left, at most the longest timeout of poll(2).
  var remainingMilliseconds: Int {
    let now = monotonicMilliseconds()
    return now >= milliseconds ? 0 : Int(clamping: min(milliseconds - now, 60_000))
  }

  func earlier(than other: Deadline) -> Deadline { earlier(than: other.milliseconds) }

  /// The earlier of this deadline and a time of the monotonic clock; nil for no second one.
  func earlier(than other: UInt64?) -> Deadline {
    Deadline(at: min(milliseconds, other ?? .max))
  }
}
