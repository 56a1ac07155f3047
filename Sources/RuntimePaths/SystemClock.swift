import CLinux

/// The kernel's clocks, in milliseconds unless said otherwise.
package enum SystemClock {
  /// Time that never jumps and stands still while the machine sleeps; for timeouts.
  package static func monotonicMilliseconds() -> UInt64 { milliseconds(CLOCK_MONOTONIC) }

  /// Time since the machine started, sleep included; for ages.
  package static func bootMilliseconds() -> UInt64 { milliseconds(CLOCK_BOOTTIME) }

  /// Time since 1970, which may jump either way; for people, never for order.
  package static func wallMilliseconds() -> UInt64 { milliseconds(CLOCK_REALTIME) }

  /// Time that never jumps, in nanoseconds; for spans that are shorter than a millisecond.
  package static func monotonicNanoseconds() -> UInt64 {
    let time = read(CLOCK_MONOTONIC)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  private static func milliseconds(_ clock: clockid_t) -> UInt64 {
    let time = read(clock)
    // A wall clock set before 1970 counts as 1970.
    guard time.tv_sec >= 0 else { return 0 }
    return UInt64(time.tv_sec) * 1000 + UInt64(time.tv_nsec) / 1_000_000
  }

  private static func read(_ clock: clockid_t) -> timespec {
    var time = timespec()
    let result = unsafe clock_gettime(clock, &time)
    precondition(result == 0, "clock_gettime(\(clock)) fails only for a clock that does not exist")
    return time
  }
}
