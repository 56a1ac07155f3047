/// The time on a clock that never jumps, in milliseconds.
func monotonicMilliseconds() -> UInt64 {
  let (seconds, attoseconds) = (ContinuousClock.now - clockOrigin).components
  return UInt64(clamping: seconds) * 1000 + UInt64(clamping: attoseconds / 1_000_000_000_000_000)
}

private let clockOrigin = ContinuousClock.now

/// A point in time after which something is not waited for.
struct Deadline {
  private let milliseconds: UInt64

  /// The point in time that long from now.
  init(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    let span = UInt64(clamping: seconds).multipliedReportingOverflow(by: 1000)
    let wait = span.overflow ? UInt64.max / 2 : span.partialValue
    let part = UInt64(clamping: attoseconds / 1_000_000_000_000_000)
    milliseconds = monotonicMilliseconds() + min(wait, UInt64.max / 2) + part
  }

  /// A point on the monotonic clock.
  init(at milliseconds: UInt64) { self.milliseconds = milliseconds }

  /// Whether the time is up.
  var hasPassed: Bool { remainingMilliseconds == 0 }

  /// How long is left; never more than a wait may take at once.
  var remainingMilliseconds: Int {
    let now = monotonicMilliseconds()
    return now >= milliseconds ? 0 : Int(clamping: min(milliseconds - now, 60_000))
  }

  /// The earlier one of this and another one.
  func earlier(than other: Deadline) -> Deadline { earlier(than: other.milliseconds) }

  /// The earlier one of this and another point in time.
  func earlier(than other: UInt64?) -> Deadline {
    Deadline(at: min(milliseconds, other ?? .max))
  }
}
