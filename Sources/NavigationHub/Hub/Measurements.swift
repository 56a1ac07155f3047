import NavigationCore

/// The counters, gauges and histograms of the daemon since its start.
///
/// The hub counts messages, ops and sessions. The shell adds the figures that a hub without I/O
/// cannot know: times, bytes on the disk and connections. All figures are in one array: counting is
/// one addition, and a copy of the hub copies one reference.
package struct Measurements: Sendable {
  /// Counts that only grow; counts of outcomes and ended sessions have subscripts of their own.
  package enum Counter: Int, CaseIterable, Sendable {
    /// Messages of clients that the hub received.
    case received
    /// Messages that the hub returned for clients.
    case sent
    /// Revisions sent to watches, counted once for each watch.
    case diffs
    /// Complete states sent to watches.
    case snapshots
    /// Sessions opened.
    case sessionsOpened
  }

  /// Values that the shell sets before a client reads the statistics.
  package enum Gauge: Int, CaseIterable, Sendable {
    /// When the process started, in milliseconds of CLOCK_BOOTTIME.
    case startedAt
    /// Connections of clients, as navd counts them.
    case connections
    /// Connections by navd's count, when navd last compared it with the kernel's.
    case comparedConnections
    /// Connections by the kernel's count at the same time.
    case kernelConnections
    /// How often navd's count and the kernel's differed for more than 2 s.
    case connectionDifferences
    /// The most connections that navd accepts.
    case connectionLimit
    /// The most connections of one user or key.
    case connectionsPerPrincipalLimit
    /// The number of file descriptors that the process can open.
    case descriptorLimit
    /// Bytes of the journal's file, without its write-ahead log.
    case journalBytes
    /// Bytes of the journal's write-ahead log.
    case walBytes
    /// Bytes of rows at which navd deletes history; 0 for no limit.
    case retentionBytes
    /// Pages in the write-ahead log that await a checkpoint.
    case walPages
    /// Bytes of the journal's file system that are free to the daemon.
    case diskFree
    /// The size of the journal's file system in bytes.
    case diskSize
    /// Milliseconds between two scheduled backups; 0 if navd makes none.
    case backupInterval
    /// 1 + the milliseconds since the newest scheduled backup; 0 if there is none.
    case backupAge
    /// 1 if the last scheduled backup failed or is an hour late; else 0.
    case backupOverdue
    /// 1 if navd could not remove older scheduled backups after the newest one; else 0.
    case backupRetentionFailed
    /// Scheduled backups since the start of the daemon, made and failed.
    case backupsMade, backupsFailed
    /// Pages of the running backup, done and in all; 0 if none runs.
    case backupDone, backupTotal
    /// Rows that pruning has examined, and all that it must examine; 0 while no pruning runs.
    case prunedRows, rowsToPrune
    /// The version of libzmq, as major · 10000 + minor · 100 + patch.
    case libzmqVersion
  }

  /// The values that are counted in a histogram.
  package enum Series: Int, CaseIterable, Sendable {
    /// Nanoseconds from the start of a commit until its records are durable.
    case commitNanoseconds
    /// Nanoseconds from the end of a commit until the last message about it is with the socket.
    case fanOutNanoseconds
    /// Records in one commit.
    case recordsPerCommit

    /// The first bound: 1 record, or 16 µs in nanoseconds.
    fileprivate var firstBound: UInt64 { self == .recordsPerCommit ? 1 : 16_000 }
    /// The number of bounds; the last, `firstBound` · 2^18, is 262,144 records or 4.2 s.
    fileprivate static let boundCount = 19
    /// The values of one series: a count for each bound, one for larger values, and the sum.
    fileprivate static let valueCount = boundCount + 2
  }

  private static let gaugesStart = Counter.allCases.count
  private static let outcomesStart = gaugesStart + Gauge.allCases.count
  private static let endReasonsStart = outcomesStart + Outcome.count
  private static let seriesStart = endReasonsStart + SessionEndReason.allCases.count
  private static let valueCount = seriesStart + Series.allCases.count * Series.valueCount

  private var values: [UInt64]
  /// The users and keys with the most connections, in descending order.
  package var principals: [PrincipalConnections] = []
  /// Why the journal accepts no commits; nil while it does.
  package var storageProblem: String?
  /// The reason why new clients cannot reach a socket by its path; nil if they can.
  package var socketProblem: String?

  package init() { values = [UInt64](repeating: 0, count: Self.valueCount) }

  package subscript(_ counter: Counter) -> UInt64 { values[counter.rawValue] }

  package subscript(_ gauge: Gauge) -> UInt64 {
    get { values[Self.gaugesStart + gauge.rawValue] }
    set { values[Self.gaugesStart + gauge.rawValue] = newValue }
  }

  package subscript(_ outcome: Outcome) -> UInt64 {
    values[Self.outcomesStart + Int(outcome.index)]
  }

  package subscript(_ endReason: SessionEndReason) -> UInt64 {
    values[Self.endReasonsStart + endReason.index]
  }

  package subscript(_ series: Series) -> Histogram {
    let start = Self.seriesStart + series.rawValue * Series.valueCount
    assert(start + Series.valueCount <= values.count, "\(series) has no place")
    return Histogram(
      bounds: (0..<Series.boundCount).map { series.firstBound << UInt64($0) },
      counts: Array(values[start...(start + Series.boundCount)]),
      sum: values[start + Series.boundCount + 1])
  }

  mutating func count(_ counter: Counter, _ number: Int = 1) {
    assert(number >= 0)
    values[counter.rawValue] &+= UInt64(number)
  }

  mutating func count(_ outcome: Outcome) {
    if outcome != .none { values[Self.outcomesStart + Int(outcome.index)] &+= 1 }
  }

  mutating func count(_ endReason: SessionEndReason) {
    values[Self.endReasonsStart + endReason.index] &+= 1
  }

  /// Counts a value in the histogram of a series, in O(1).
  package mutating func note(_ value: UInt64, _ series: Series) {
    let start = Self.seriesStart + series.rawValue * Series.valueCount
    assert(start + Series.valueCount <= values.count, "\(series) has no place")
    // How often the unit must double to reach the value, which is the index of its bucket.
    let units = (value + series.firstBound - 1) / series.firstBound
    let doublings = units <= 1 ? 0 : UInt64.bitWidth - (units - 1).leadingZeroBitCount
    values[start + min(doublings, Series.boundCount)] &+= 1
    values[start + Series.boundCount + 1] &+= value
  }
}

/// The number of connections of one user or key.
package struct PrincipalConnections: Hashable, Sendable {
  /// The number of principals that the statistics list.
  package static let listedCount = 16
  /// `uid:N` for a user, or the name of a key.
  package var principal: String
  /// The open connections of the user or key, including connections that have not sent a message
  /// yet.
  package var count: UInt64

  package init(principal: String, count: UInt64) {
    (self.principal, self.count) = (principal, count)
  }
}
