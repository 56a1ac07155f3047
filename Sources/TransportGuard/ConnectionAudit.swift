/// Compares the connections in the table with the sockets that the kernel has for the process.
///
/// Both sides name a connection by the kernel's number of its socket. While an event is on its way,
/// a connection is on one side only. So only a difference older than ``minimumAge`` counts.
///
/// Law: each difference is returned once.
struct ConnectionAudit {
  /// The milliseconds that a difference must last to count.
  static let minimumAge: UInt64 = 2000

  /// Connections that were on one side only for longer than ``minimumAge``.
  struct Differences: Hashable {
    /// Connections in the table whose sockets are gone.
    var onlyCounted: [UInt64] = []
    /// Sockets that are not in the table.
    var onlyOpen: [UInt64] = []

    var count: Int { onlyCounted.count + onlyOpen.count }
  }

  /// When an audit first found each connection that only one side knows; `.max` once it is returned.
  private var firstSeen: [UInt64: UInt64] = [:]
  /// The time of the next comparison, in milliseconds; nil if no connection changed since the last
  /// one and no difference is pending.
  private(set) var dueAt: UInt64?

  private var comparedAt: UInt64?

  /// Whether the last comparison is too old for metrics: 1 s or more.
  ///
  /// A comparison costs some system calls for each descriptor.
  func isStale(at now: UInt64) -> Bool { comparedAt.map { now >= $0 + 1000 } ?? true }

  /// Notes an accepted or closed connection, which makes a comparison due after ``minimumAge``.
  mutating func noteChange(at now: UInt64) {
    if dueAt == nil { dueAt = now + Self.minimumAge }
  }

  /// Compares both sides; returns the differences that are now older than ``minimumAge``.
  mutating func compare(counted: [UInt64], open: [UInt64], at now: UInt64) -> Differences {
    comparedAt = now
    let (counted, open) = (Set(counted), Set(open))
    var differences = Differences()
    var still: [UInt64: UInt64] = [:]
    for cookie in counted.symmetricDifference(open) {
      let first = firstSeen[cookie] ?? now
      guard first != .max, now >= first + Self.minimumAge else {
        still[cookie] = first
        continue
      }
      still[cookie] = .max
      if counted.contains(cookie) {
        differences.onlyCounted.append(cookie)
      } else {
        differences.onlyOpen.append(cookie)
      }
    }
    firstSeen = still
    dueAt = still.values.contains { $0 != .max } ? now + Self.minimumAge : nil
    differences.onlyCounted.sort()
    differences.onlyOpen.sort()
    return differences
  }
}
