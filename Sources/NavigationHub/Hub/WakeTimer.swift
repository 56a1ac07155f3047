import NavigationCore

/// The time of the event at hand, and the hub's next deadline.
///
/// Law: `wakeAt` is the earliest time planned since the last `fire`; nil if none was planned.
struct WakeTimer: Sendable {
  private(set) var now = Instant(boot: 0, wall: 0)
  /// The time of the next deadline, in milliseconds of CLOCK_BOOTTIME; nil for none.
  private(set) var wakeAt: UInt64?

  mutating func advance(to now: Instant) {
    assert(now.boot >= self.now.boot, "the clock goes back")
    self.now = now
  }

  /// Plans a deadline: `wakeAt` will be no later than `time`; nil plans nothing.
  mutating func plan(_ time: UInt64?) {
    guard let time else { return }
    wakeAt = min(wakeAt ?? time, time)
    assert(wakeAt.map { $0 <= time } == true, "wake at \(wakeAt ?? 0), planned \(time)")
  }

  /// Forgets the deadline, which has come; the hub then plans the remaining ones again.
  mutating func fire() { wakeAt = nil }

  /// Milliseconds until `deadline`; nil if it has passed.
  func millisecondsLeft(until deadline: UInt64) -> UInt64? {
    deadline > now.boot ? deadline - now.boot : nil
  }
}
