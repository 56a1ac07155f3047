/// When the leases of the members end, by the clock of this process.
///
/// The server's clock counts only for a lease that this process sees for the first time. An
/// administrator can set that clock, and after a promotion another server's clock counts.
struct LeaseWatch {
  let leaseMilliseconds: UInt64
  private(set) var knownEnds: [String: Lease] = [:]
  /// By how many milliseconds two reads can differ without a step of the server's clock.
  private static let readJitter: Int64 = 100

  struct Lease {
    var serverEnd: Int64
    var bootEnd: UInt64
    /// The server's clock less that of this process, in milliseconds, at the last read.
    var clockLead: Int64
  }

  /// Notes a lease as the database has it; returns the milliseconds that are left of it, and not more
  /// than 0 if it has ended.
  ///
  /// `serverEnd` is the end that its member has written, and `left` the time until then, both by the
  /// clock of the server; `now` is by the boot clock.
  mutating func noteLease(
    of member: String, serverEnd: Int64, millisecondsLeft left: Int64, at now: UInt64
  ) -> Int64 {
    let former = knownEnds[member]
    let lead = serverEnd - left - Int64(now)
    knownEnds[member]?.clockLead = lead
    if former?.serverEnd != serverEnd {
      // A lease that was renewed counts in full if the server's clock has stepped since the last read.
      let isNew = former.map { $0.serverEnd < serverEnd } ?? false
      let hasStepped = former.map { lead > $0.clockLead + Self.readJitter } ?? false
      let isLikely = left <= Int64(leaseMilliseconds) && (!isNew || left > 0 && !hasStepped)
      let bootEnd = now + (isLikely ? UInt64(max(left, 0)) : leaseMilliseconds)
      knownEnds[member] = Lease(serverEnd: serverEnd, bootEnd: bootEnd, clockLead: lead)
    }
    guard let end = knownEnds[member]?.bootEnd else { return left }
    return end > now ? Int64(end - now) : min(0, Int64(end) - Int64(now))
  }
}
