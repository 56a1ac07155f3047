import NavigationCore
import NavigationHub

enum StatusDrawing {
  /// The output of `navctl status`: the verdict, then a row for each subject.
  static func lines(
    _ statistics: JSONValue, endpoint: String, columns: Int = 80
  ) -> [StyledLine] {
    var lines = [StyledLine("navd answers at \(endpoint)", .strong), verdict(statistics)]
    let rows = rows(statistics)
    let width = rows.map { TerminalText.width($0.name) }.max() ?? 0
    lines += rows.map { row in
      var line = StyledLine("  \(TerminalText.padded(row.name, columns: width))  ", .faint)
      line.append(TerminalText.visible(row.text), row.isAlert ? .alert : .plain)
      return line
    }
    return lines.map { $0.fitted(columns: columns) }
  }

  static func verdict(_ statistics: JSONValue) -> StyledLine {
    if statistics["storageProblem"]?.string != nil {
      return StyledLine("  cannot write the journal; find the error: navctl doctor", .alert)
    }
    if statistics["socketProblem"]?.string != nil {
      return StyledLine("  new clients cannot connect; find the error: navctl doctor", .alert)
    }
    if statistics["serving"]?.bool == false { return StyledLine("  stopping", .alert) }
    return StyledLine("  serving")
  }

  private static func rows(
    _ statistics: JSONValue
  ) -> [(name: String, text: String, isAlert: Bool)] {
    let count = Figures.count
    let library = statistics.text("process.libzmq")
    let server = statistics.text("server") + (library.isEmpty ? "" : ", libzmq \(library)")
    let stalled = statistics.number("lag.stalled")
    let sessions =
      count(statistics.number("sessions")) + (stalled > 0 ? ", \(count(stalled)) stalled" : "")
    let loads = [ConnectionLoad.ofAllClients(statistics)] + ConnectionLoad.ofPrincipals(statistics)
    var rows: [(name: String, text: String, isAlert: Bool)] = [
      ("version", server, false),
      ("up", Figures.age(milliseconds: statistics.number("uptime")), false),
      ("navs", count(statistics.number("navs")), false),
      ("sessions", sessions, stalled > 0),
      ("connections", connections(statistics), loads.contains(where: \.isNearLimit)),
      ("watches", watches(statistics), statistics.number("lag.watches") > 0),
      ("operations", operations(statistics), false), ("journal", journal(statistics), false),
    ]
    if statistics.number("backups.every") > 0 || statistics.number("backup.total") > 0 {
      let isFaulty =
        statistics.flag("backups.overdue") || statistics.flag("backups.retentionFailed")
      rows.append(("backup", backups(statistics), isFaulty))
    }
    let toPrune = statistics.number("prune.total")
    if toPrune > 0 {
      let percent = statistics.number("prune.done") * 100 / toPrune
      rows.append(("pruning", "\(percent) % of \(Figures.counted(toPrune, "row"))", false))
    }
    if let cluster = statistics["cluster"] {
      let unowned = cluster.number("unowned")
      let rest = unowned > 0 ? ", \(count(unowned)) without a daemon" : ""
      let text =
        "\(cluster.text("member")) of \(Figures.counted(cluster.number("members"), "daemon")), "
        + "\(Figures.counted(cluster.number("shards"), "shard"))\(rest)"
      rows.insert(("cluster", text, unowned > 0), at: 2)
    }
    for (name, path) in [("commit", "commit"), ("fan-out", "fanOut")] {
      if let times = times(Histogram(statistics[path])) { rows.append((name, times, false)) }
    }
    return rows
  }

  private static func connections(_ statistics: JSONValue) -> String {
    let all = ConnectionLoad.ofAllClients(statistics).text
    let principals = ConnectionLoad.ofPrincipals(statistics)
    guard let limit = principals.first?.limit else { return all }
    let shown = principals.prefix(3).map {
      "\($0.principal ?? "") \(Figures.count($0.count))"
    }
    let more = principals.count - shown.count
    return all + "; " + shown.joined(separator: ", ") + (more > 0 ? ", \(more) more" : "")
      + " of \(Figures.count(limit))\(principals.count > 1 ? " each" : "")"
  }

  private static func watches(_ statistics: JSONValue) -> String {
    let count = Figures.count(statistics.number("watches"))
    let behind = statistics.number("lag.watches")
    guard behind > 0 else { return "\(count), all up to date" }
    return "\(count), \(Figures.count(behind)) behind by up to "
      + Figures.counted(statistics.number("lag.max"), "revision")
  }

  private static func operations(_ statistics: JSONValue) -> String {
    "\(Figures.count(statistics.number("operations.ok"))) done, "
      + "\(Figures.count(statistics.number("operations.unchanged"))) without effect, "
      + "\(Figures.count(refusals(statistics).reduce(0) { $0 + $1.count })) refused"
  }

  static func refusals(_ statistics: JSONValue) -> [(code: String, count: UInt64)] {
    (statistics["operations"]?.members ?? []).compactMap { code, number in
      outcomesWithoutRefusal.contains(code) ? nil : (code, number.integer ?? 0)
    }
  }

  /// The outcomes of operations that are not refusals.
  private static let outcomesWithoutRefusal: Set<String> = ["ok", "unchanged", "repeated"]

  static func journal(_ statistics: JSONValue) -> String {
    let size = statistics.number("journal.bytes") + statistics.number("journal.walBytes")
    let disk = statistics.number("disk.size")
    guard disk > 0 else { return Figures.bytes(size) }
    let free = Figures.bytes(statistics.number("disk.free"))
    return "\(Figures.bytes(size)), \(free) free of \(Figures.bytes(disk))"
  }

  /// The age of the newest scheduled backup, whether the next is overdue, and the progress of one.
  static func backups(_ statistics: JSONValue) -> String {
    var parts: [String] = []
    let (every, total) = (statistics.number("backups.every"), statistics.number("backup.total"))
    if every > 0 {
      let age = statistics.at("backups.age")?.integer
      parts.append(age.map { "newest " + Figures.age(milliseconds: $0) + " old" } ?? "none yet")
      parts.append("every " + Figures.age(milliseconds: every))
      if statistics.flag("backups.overdue") {
        let failed = statistics.number("backups.failed")
        parts.append(
          failed > 0 ? "OVERDUE: \(Figures.count(failed)) failed since the start" : "OVERDUE")
      }
      if statistics.flag("backups.retentionFailed") {
        parts.append("older ones could NOT BE REMOVED")
      }
    }
    if total > 0 {
      parts.append("\(statistics.number("backup.done") * 100 / total) % of one copied")
    }
    return parts.joined(separator: ", ")
  }

  private static func times(_ histogram: Histogram?) -> String? {
    guard let histogram, let median = histogram.quantile(0.5), let late = histogram.quantile(0.99)
    else { return nil }
    return "p50 \(Figures.time(nanoseconds: median)), p99 \(Figures.time(nanoseconds: late)), "
      + "of \(Figures.count(histogram.count))"
  }
}

/// A number of open connections and its limit: of all clients, or of one user or key.
struct ConnectionLoad {
  /// The user or key; nil for the connections of all clients.
  let principal: String?
  let count: UInt64
  /// The limit that applies; 0 if the daemon does not report it.
  let limit: UInt64

  static func ofAllClients(_ statistics: JSONValue) -> ConnectionLoad {
    ConnectionLoad(
      principal: nil, count: statistics.number("connections"),
      limit: statistics.number("process.connectionLimit"))
  }

  static func ofPrincipals(_ statistics: JSONValue) -> [ConnectionLoad] {
    statistics.list("principals").map { entry in
      ConnectionLoad(
        principal: entry.text("principal"), count: entry.number("connections"),
        limit: statistics.number("process.principalLimit"))
    }
  }

  /// The used part of the limit, 0 if there is none.
  var usedFraction: Double { limit == 0 ? 0 : Double(count) / Double(limit) }

  var isNearLimit: Bool { limit > 0 && count * 5 >= limit * 4 }

  /// For example `12 of 256`, or `uid:1000 12 of 64` for one user.
  var text: String {
    let figures =
      limit > 0 ? "\(Figures.count(count)) of \(Figures.count(limit))" : Figures.count(count)
    return principal.map { "\($0) \(figures)" } ?? figures
  }
}
