/// The time of the event at hand, and the hub's next deadline.
///
/// Law: `wakeAt` is the earliest time planned since the last `fire`; nil if none was planned.
struct WakeTimer: Sendable {
  /// The time of the event at hand.
  private(set) var now = Instant(boot: 0, wall: 0)
  /// When the hub wants to be woken, in milliseconds of CLOCK_BOOTTIME.
  private(set) var wakeAt: UInt64?

  /// Takes over the time of an event.
  mutating func advance(to now: Instant) { self.now = now }

  /// Asks to be woken no later than `time`.
  mutating func plan(_ time: UInt64) {
    wakeAt = min(wakeAt ?? time, time)
    assert(wakeAt.map { $0 <= time } == true, "wake at \(wakeAt ?? 0), planned \(time)")
  }

  /// Forgets the deadline: the hub is awake, and plans what is left anew.
  mutating func fire() { wakeAt = nil }

  /// Milliseconds until `deadline`; nil if it has passed.
  func time(until deadline: UInt64) -> UInt64? {
    deadline > now.boot ? deadline - now.boot : nil
  }
}
