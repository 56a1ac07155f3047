/// What the daemon has done since it started, in numbers.
///
/// The hub counts what it decides; the shell adds what only it can know: times, bytes on the disk,
/// connections. All figures are in one array, so counting is one addition, and a hub that is handed
/// on carries one reference more.
package struct Measurements: Sendable {
  /// What only ever grows, besides answers and ends of sessions.
  package enum Counter: Int, CaseIterable, Sendable {
    /// Messages of clients that the hub was given.
    case received
    /// Messages handed out for clients.
    case sent
    /// Revisions sent to watches, each counted once for each watch.
    case diffs
    /// Whole states sent to watches.
    case snapshots
    /// Sessions opened.
    case opened
  }

  /// What the shell reads when it is asked, and hands in.
  package enum Gauge: Int, CaseIterable, Sendable {
    /// When the process started, CLOCK_BOOTTIME in milliseconds.
    case startedAt
    /// Open connections of peers.
    case connections
    /// The same when it was compared last, and the sockets of peers that the kernel had then.
    case countedConnections
    case openConnections
    /// How often those two were found to differ for more than 2 s, since the start.
    case connectionDifferences
    /// The most connections, and the most of one user or key.
    case connectionLimit
    case principalLimit
    /// The most descriptors that the process may have.
    case descriptorLimit
    /// Bytes of the journal's file and of its write-ahead log.
    case journalBytes
    case logBytes
    /// Bytes of rows at which history is shortened; 0 for no bound.
    case journalLimit
    /// Pages in the write-ahead log that are not in the file yet.
    case logPages
    /// Bytes of the journal's file system that are free to the daemon, and all of them.
    case diskFree
    case diskSize
    /// 1 while the journal takes no commits.
    case storageFailing
    /// The version of libzmq, as major · 10000 + minor · 100 + patch.
    case transportVersion
  }

  /// What is counted by size.
  package enum Series: Int, CaseIterable, Sendable {
    /// Nanoseconds from handing records to the journal until they are durable.
    case commit
    /// Nanoseconds from there until the last message about them was handed to the socket.
    case fanOut
    /// Records that one commit made durable.
    case batch

    /// The smallest bound; the others are doubled from it.
    fileprivate var unit: UInt64 { self == .batch ? 1 : 16_000 }
    /// The number of bounds: up to 4.2 s, and up to 4096 records.
    fileprivate static let boundCount = 19
    /// Counts, one for what lies beyond the bounds, and the sum.
    fileprivate static let room = boundCount + 2
  }

  private static let gauges = Counter.allCases.count
  private static let answers = gauges + Gauge.allCases.count
  private static let ends = answers + Outcome.count
  private static let series = ends + SessionEndReason.allCases.count
  private static let all = series + Series.allCases.count * Series.room

  private var values: [UInt64]
  /// The users and keys with the most connections, those first.
  package var principals: [PrincipalConnections] = []

  /// Makes measurements of nothing.
  package init() { values = [UInt64](repeating: 0, count: Self.all) }

  /// What was counted.
  package subscript(_ counter: Counter) -> UInt64 { values[counter.rawValue] }

  /// What was handed in.
  package subscript(_ gauge: Gauge) -> UInt64 {
    get { values[Self.gauges + gauge.rawValue] }
    set { values[Self.gauges + gauge.rawValue] = newValue }
  }

  /// How often a request was answered in one way.
  package subscript(_ outcome: Outcome) -> UInt64 { values[Self.answers + Int(outcome.place)] }

  /// How many sessions ended for a reason.
  package subscript(_ endReason: SessionEndReason) -> UInt64 { values[Self.ends + endReason.place] }

  /// What was counted by size.
  package subscript(_ series: Series) -> Histogram {
    let start = Self.series + series.rawValue * Series.room
    return Histogram(
      bounds: (0..<Series.boundCount).map { series.unit << UInt64($0) },
      counts: Array(values[start...(start + Series.boundCount)]),
      sum: values[start + Series.boundCount + 1])
  }

  mutating func count(_ counter: Counter, _ number: Int = 1) {
    values[counter.rawValue] &+= UInt64(number)
  }

  mutating func count(_ outcome: Outcome) {
    if outcome != .none { values[Self.answers + Int(outcome.place)] &+= 1 }
  }

  mutating func count(_ endReason: SessionEndReason) { values[Self.ends + endReason.place] &+= 1 }

  /// Counts a value by its size.
  ///
  /// O(1).
  package mutating func note(_ value: UInt64, _ series: Series) {
    let start = Self.series + series.rawValue * Series.room
    // The number of doublings until the unit is not less than the value.
    let units = (value + series.unit - 1) / series.unit
    let doublings = units <= 1 ? 0 : UInt64.bitWidth - (units - 1).leadingZeroBitCount
    values[start + min(doublings, Series.boundCount)] &+= 1
    values[start + Series.boundCount + 1] &+= value
  }
}

/// How many connections a user or a key has.
package struct PrincipalConnections: Hashable, Sendable {
  /// The most principals that statistics name.
  package static let limit = 16
  /// The user or key, as in `uid:1000`.
  package var principal: String
  /// Its connections, those included that have not sent a message yet.
  package var count: UInt64

  /// Makes the count of a principal.
  package init(principal: String, count: UInt64) {
    (self.principal, self.count) = (principal, count)
  }
}

/// How a request was answered.
///
/// An op is `ok`, `unchanged` (nothing was to be done), `repeated` (it was decided before), or
/// refused with a code; any other message is counted only when it is refused.
package struct Outcome: Hashable, Sendable {
  let place: UInt8

  /// Nothing to count.
  static let none = Outcome(place: .max)
  /// An op that made a revision.
  package static let ok = Outcome(place: 0)
  /// An op that changed nothing.
  package static let unchanged = Outcome(place: 1)
  /// An op that was decided before, and got the same answer.
  package static let repeated = Outcome(place: 2)

  /// An op that was refused.
  package static func refused(_ code: ErrorCode) -> Outcome { Outcome(place: 3 + code.place) }

  /// Another message that was refused.
  package static func refusedMessage(_ code: ErrorCode) -> Outcome {
    Outcome(place: 3 + UInt8(ErrorCode.inOrder.count) + code.place)
  }

  static let count = 3 + 2 * ErrorCode.inOrder.count

  /// What may become of an op, with the words of the statistics.
  package static var ofOperations: [(word: String, outcome: Outcome)] {
    [("ok", .ok), ("unchanged", .unchanged), ("repeated", .repeated)]
      + ErrorCode.inOrder.map { ($0.rawValue, .refused($0)) }
  }
}

extension ErrorCode {
  fileprivate static let inOrder = allCases

  /// Its number among the codes; only refusals look for it, which cost much more.
  fileprivate var place: UInt8 { UInt8(Self.inOrder.firstIndex(of: self) ?? 0) }
}

/// Why a session ended.
package enum SessionEndReason: String, CaseIterable, Sendable {
  /// The client said so.
  case bye
  /// Its connection is gone.
  case lost
  /// The same connection began another one.
  case renewed
  /// Another process came with the same client id.
  case fenced
  /// It sent what is no message.
  case `protocol`
  /// It was out of credit for too long.
  case stalled
  /// The daemon stops.
  case shuttingDown = "shutting-down"
  /// It is not let in any more.
  case revoked

  fileprivate var place: Int { Self.inOrder.firstIndex(of: self) ?? 0 }

  private static let inOrder = allCases
}
