import CLinux

/// The clocks of the kernel.
package enum SystemClock {
  /// CLOCK_MONOTONIC in milliseconds, for timeouts: it never jumps, and it stops while the machine
  /// is suspended.
  package static func monotonicMilliseconds() -> UInt64 { milliseconds(CLOCK_MONOTONIC) }

  /// CLOCK_BOOTTIME in milliseconds, for ages: the time since the boot, including suspension.
  ///
  /// The function subtracts the offset of the time namespace, so all processes get the same time.
  package static func bootMilliseconds() -> UInt64 {
    milliseconds(CLOCK_BOOTTIME) &- timeNamespaceOffsetMilliseconds
  }

  /// CLOCK_REALTIME in milliseconds since 1970, for display only: it can jump in both directions.
  package static func wallMilliseconds() -> UInt64 { milliseconds(CLOCK_REALTIME) }

  /// CLOCK_MONOTONIC in nanoseconds, for durations below a millisecond.
  package static func monotonicNanoseconds() -> UInt64 {
    let time = read(CLOCK_MONOTONIC)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// Formats a time in milliseconds since 1970 as local time of day, such as `14:03:27.041`.
  package static func localTimeOfDay(of milliseconds: UInt64) -> String {
    var seconds = time_t(milliseconds / 1000)
    var parts = unsafe tm()
    unsafe localtime_r(&seconds, &parts)
    return unsafe Timestamp.timeOfDay(of: parts, ":")
      + ".\(Timestamp.padded(Int(milliseconds % 1000), 3))"
  }

  private static let timeNamespaceOffsetMilliseconds = navd_boot_offset()

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
