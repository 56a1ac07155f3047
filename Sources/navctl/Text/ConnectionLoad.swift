import NavigationCore

/// A number of open connections and its limit: of all clients, or of one user or key.
struct ConnectionLoad {
  /// The user or key; nil for the connections of all clients.
  let principal: String?
  let count: UInt64
  /// The limit that applies; 0 if the daemon does not report it.
  let limit: UInt64

  init(all statistics: JSONValue) {
    (principal, count) = (nil, statistics.number("connections"))
    limit = statistics.number("process.connectionLimit")
  }

  /// The loads of the users and keys with the most connections, in descending order.
  static func principals(_ statistics: JSONValue) -> [ConnectionLoad] {
    (statistics["principals"]?.elements ?? []).map { entry in
      ConnectionLoad(
        principal: entry.text("principal"), count: entry.number("connections"),
        limit: statistics.number("process.principalLimit"))
    }
  }

  private init(principal: String, count: UInt64, limit: UInt64) {
    (self.principal, self.count, self.limit) = (principal, count, limit)
  }

  /// The used part of the limit, 0 if there is none.
  var share: Double { limit == 0 ? 0 : Double(count) / Double(limit) }

  /// Whether at least 80 % of the limit is in use.
  var isScarce: Bool { limit > 0 && count * 5 >= limit * 4 }

  /// For example `12 of 256`, or `uid:1000 12 of 64` for one user.
  var text: String {
    let figures =
      limit > 0 ? "\(Figures.count(count)) of \(Figures.count(limit))" : Figures.count(count)
    return principal.map { "\($0) \(figures)" } ?? figures
  }
}
