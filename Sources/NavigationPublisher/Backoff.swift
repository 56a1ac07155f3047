/// Growing pauses between attempts that fail.
///
/// Law: after n failures in a row, a pause is between a half and the whole of 250 ms · 2^(n−1), and
/// at most 30 s.
package struct Backoff: Sendable {
  /// The first pause, and the longest one, in milliseconds.
  private static let (first, longest): (UInt64, UInt64) = (250, 30_000)

  private var failures: UInt64 = 0
  /// The time of the next attempt, in milliseconds of the clock that the caller uses.
  package private(set) var retryAt: UInt64 = 0

  /// Makes a value without failures.
  package init() {}

  /// Notes a failure; `random` is between 0 and 1, and keeps devices from coming back together.
  package mutating func noteFailure(at now: UInt64, random: Double) {
    let whole = min(Self.first << min(failures, 16), Self.longest)
    failures += 1
    retryAt = now + whole / 2 + UInt64(Double(whole / 2) * min(max(random, 0), 1))
  }

  /// Notes that the daemon asked for a pause.
  package mutating func wait(until time: UInt64) { retryAt = max(retryAt, time) }

  /// Notes a success.
  package mutating func noteSuccess() { self = Backoff() }
}
