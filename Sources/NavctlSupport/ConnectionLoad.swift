import NavigationSync

/// Connections beside the limit that they count against: all of them, or those of one user or key.
struct ConnectionLoad {
  /// The user or key; nil for all together.
  let principal: String?
  let count: UInt64
  /// 0 where the daemon does not report it.
  let limit: UInt64

  /// All connections of a daemon.
  init(all statistics: DaemonStatistics) {
    (principal, count, limit) = (nil, statistics.connections, statistics.connectionLimit)
  }

  /// The connections of one user or key.
  init(_ entry: PrincipalConnections, of statistics: DaemonStatistics) {
    (principal, count, limit) = (entry.principal, entry.count, statistics.principalLimit)
  }

  /// The part of the limit that is in use.
  var share: Double { limit == 0 ? 0 : Double(count) / Double(limit) }

  /// Whether four fifths of the limit are in use.
  var isScarce: Bool { limit > 0 && count * 5 >= limit * 4 }

  /// As in `12 of 256`, behind the name of a principal.
  var text: String {
    let figures =
      limit > 0 ? "\(Figures.count(count)) of \(Figures.count(limit))" : Figures.count(count)
    return principal.map { "\($0) \(figures)" } ?? figures
  }
}
