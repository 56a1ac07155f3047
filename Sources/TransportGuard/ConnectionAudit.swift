/// Compares the connections that the daemon counts with the sockets that the kernel has for it.
///
/// Both are named by the kernel's number of the socket. A connection is in one of them and not in the
/// other for as long as an event is on its way, so a difference counts when it is older than ``age``.
///
/// Law: each difference is returned once.
struct ConnectionAudit {
  /// How old a difference becomes before it counts, in milliseconds.
  static let age: UInt64 = 2000

  /// What was found to differ for too long.
  struct Differences: Hashable {
    /// Counted, and not open.
    var counted: [UInt64] = []
    /// Open, and not counted.
    var open: [UInt64] = []

    var count: Int { counted.count + open.count }
  }

  /// When each difference was seen first; `.max` for one that was returned.
  private var seen: [UInt64: UInt64] = [:]
  /// When to compare next, in milliseconds; nil while nothing has changed since, and nothing differs.
  private(set) var dueAt: UInt64?

  private var comparedAt: UInt64?

  /// Whether the last comparison is too old to answer a client with: it costs some system calls for
  /// each descriptor.
  func isDueForAnswers(at now: UInt64) -> Bool { comparedAt.map { now >= $0 + 1000 } ?? true }

  /// Notes that connections have come or gone.
  mutating func noteChange(at now: UInt64) {
    if dueAt == nil { dueAt = now + Self.age }
  }

  /// Compares, and returns what has just become too old.
  mutating func compare(counted: [UInt64], open: [UInt64], at now: UInt64) -> Differences {
    comparedAt = now
    let (counted, open) = (Set(counted), Set(open))
    var differences = Differences()
    var still: [UInt64: UInt64] = [:]
    for cookie in counted.symmetricDifference(open) {
      let first = seen[cookie] ?? now
      guard first != .max, now >= first + Self.age else {
        still[cookie] = first
        continue
      }
      still[cookie] = .max
      if counted.contains(cookie) {
        differences.counted.append(cookie)
      } else {
        differences.open.append(cookie)
      }
    }
    seen = still
    dueAt = still.values.contains { $0 != .max } ? now + Self.age : nil
    differences.counted.sort()
    differences.open.sort()
    return differences
  }
}
