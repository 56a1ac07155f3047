/// When the leases of the members end, by the clock of this process.
///
/// The server's clock counts only for a lease that this process sees for the first time. That clock can
/// be set, and a promotion brings another one.
struct LeaseWatch {
  /// The duration of a lease in milliseconds.
  let length: UInt64
  private(set) var knownEnds: [String: (renewal: Int64, end: UInt64)] = [:]

  /// Notes a lease as the database has it; returns the milliseconds that are left of it, and not more
  /// than 0 if it has ended.
  ///
  /// `renewal` is the end that its member has written, and `left` the time until then, both by the
  /// clock of the server; `now` is by the boot clock.
  mutating func note(_ member: String, renewal: Int64, left: Int64, at now: UInt64) -> Int64 {
    let former = knownEnds[member]
    if former?.renewal != renewal {
      // A lease that changed since the last read counts in full, whatever the server's clock says.
      let isNew = former.map { $0.renewal < renewal } ?? false
      let isPlausible = left <= Int64(length) && (left > 0 || !isNew)
      knownEnds[member] = (renewal, now + (isPlausible ? UInt64(max(left, 0)) : length))
    }
    guard let end = knownEnds[member]?.end else { return left }
    return end > now ? Int64(end - now) : min(0, Int64(end) - Int64(now))
  }
}
