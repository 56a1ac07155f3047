/// When the leases of the members end, by the clock of this process.
///
/// The server's clock counts only for a lease that this process sees for the first time. An
/// administrator can set that clock, and after a promotion another server's clock counts.
struct LeaseWatch {
  let leaseMilliseconds: UInt64
  private(set) var knownEnds: [String: (serverEnd: Int64, bootEnd: UInt64)] = [:]

  /// Notes a lease as the database has it; returns the milliseconds that are left of it, and not more
  /// than 0 if it has ended.
  ///
  /// `serverEnd` is the end that its member has written, and `left` the time until then, both by the
  /// clock of the server; `now` is by the boot clock.
  mutating func noteLease(
    of member: String, serverEnd: Int64, millisecondsLeft left: Int64, at now: UInt64
  ) -> Int64 {
    let former = knownEnds[member]
    if former?.serverEnd != serverEnd {
      // A lease that changed since the last read counts in full, whatever the server's clock says.
      let isNew = former.map { $0.serverEnd < serverEnd } ?? false
      let isLikely = left <= Int64(leaseMilliseconds) && (left > 0 || !isNew)
      knownEnds[member] = (serverEnd, now + (isLikely ? UInt64(max(left, 0)) : leaseMilliseconds))
    }
    guard let end = knownEnds[member]?.bootEnd else { return left }
    return end > now ? Int64(end - now) : min(0, Int64(end) - Int64(now))
  }
}
