import NavigationCore

/// Draws the statistics of a daemon for `navctl status`.
enum StatusDrawing {
  static func lines(
    _ statistics: DaemonStatistics, endpoint: String, columns: Int = 80
  ) -> [StyledLine] {
    var lines = [StyledLine("navd answers at \(endpoint)", .strong), verdict(statistics)]
    let rows = subjects(statistics)
    let width = rows.map { TerminalText.width($0.name) }.max() ?? 0
    lines += rows.map { row in
      var line = StyledLine("  \(TerminalText.padded(row.name, columns: width))  ", .faint)
      line.append(TerminalText.visible(row.text), row.isAlert ? .alert : .plain)
      return line
    }
    return lines.map { $0.fitted(columns: columns) }
  }

  /// The state of the daemon: serving, stopping, or unable to write its journal.
  static func verdict(_ statistics: DaemonStatistics) -> StyledLine {
    if statistics.storageProblem != nil {
      return StyledLine("  cannot write the journal; find the error: navctl doctor", .alert)
    }
    if statistics.socketProblem != nil {
      return StyledLine("  new clients cannot connect; find the error: navctl doctor", .alert)
    }
    if statistics.isServing == false { return StyledLine("  stopping", .alert) }
    return StyledLine("  serving")
  }

  private static func subjects(
    _ statistics: DaemonStatistics
  ) -> [(name: String, text: String, isAlert: Bool)] {
    let count = Figures.count
    var rows: [(name: String, text: String, isAlert: Bool)] = [
      ("version", version(statistics), false),
      ("up", Figures.age(milliseconds: statistics.uptime), false),
      ("navs", count(statistics.navs), false),
      ("sessions", sessions(statistics), statistics.stalledSessions > 0),
      ("connections", connections(statistics), isScarce(statistics)),
      ("watches", watches(statistics), statistics.watchesBehind > 0),
      ("operations", operations(statistics), false), ("journal", journal(statistics), false),
    ]
    if statistics.backupInterval > 0 || statistics.backupTotal > 0 {
      let isFaulty = statistics.isBackupOverdue || statistics.hasBackupRetentionFailed
      rows.append(("backup", backups(statistics), isFaulty))
    }
    if statistics.toPrune > 0 {
      let percent = statistics.pruned * 100 / statistics.toPrune
      rows.append(
        ("pruning", "\(percent) % of \(Figures.counted(statistics.toPrune, "row"))", false))
    }
    if let cluster = statistics.cluster {
      let rest = cluster.unowned > 0 ? ", \(count(cluster.unowned)) without a daemon" : ""
      let text =
        "\(cluster.member) of \(Figures.counted(cluster.members, "daemon")), "
        + "\(Figures.counted(cluster.shards, "shard"))\(rest)"
      rows.insert(("cluster", text, cluster.unowned > 0), at: 2)
    }
    if let times = times(statistics.commit) { rows.append(("commit", times, false)) }
    if let times = times(statistics.fanOut) { rows.append(("fan-out", times, false)) }
    return rows
  }

  private static func version(_ statistics: DaemonStatistics) -> String {
    let library = statistics.libzmq.isEmpty ? "" : ", libzmq \(statistics.libzmq)"
    return "\(statistics.server)\(library)"
  }

  private static func sessions(_ statistics: DaemonStatistics) -> String {
    let count = Figures.count(statistics.sessions)
    guard statistics.stalledSessions > 0 else { return count }
    return "\(count), \(Figures.count(statistics.stalledSessions)) stalled"
  }

  /// The number of all connections and its limit, and the same for each user and key.
  private static func connections(_ statistics: DaemonStatistics) -> String {
    let all = ConnectionLoad(all: statistics).text
    guard !statistics.principals.isEmpty else { return all }
    let shown = statistics.principals.prefix(principalsShown).map {
      "\($0.principal) \(Figures.count($0.count))"
    }
    let more = statistics.principals.count - shown.count
    return all + "; " + shown.joined(separator: ", ") + (more > 0 ? ", \(more) more" : "")
      + " of \(Figures.count(statistics.principalLimit))\(statistics.principals.count > 1 ? " each" : "")"
  }

  private static let principalsShown = 3

  private static func isScarce(_ statistics: DaemonStatistics) -> Bool {
    ConnectionLoad(all: statistics).isScarce
      || statistics.principals.contains { ConnectionLoad($0, of: statistics).isScarce }
  }

  private static func watches(_ statistics: DaemonStatistics) -> String {
    let count = Figures.count(statistics.watches)
    guard statistics.watchesBehind > 0 else { return "\(count), all up to date" }
    return "\(count), \(Figures.count(statistics.watchesBehind)) behind by up to "
      + Figures.counted(statistics.largestLag, "revision")
  }

  private static func operations(_ statistics: DaemonStatistics) -> String {
    let refused = statistics.operations.filter { !Self.answers.contains($0.key) }.values
    return "\(Figures.count(statistics.operations["ok"] ?? 0)) done, "
      + "\(Figures.count(statistics.operations["unchanged"] ?? 0)) without effect, "
      + "\(Figures.count(refused.reduce(0, +))) refused"
  }

  /// The outcomes of operations that are not refusals.
  static let answers: Set<String> = ["ok", "unchanged", "repeated"]

  static func journal(_ statistics: DaemonStatistics) -> String {
    let size = statistics.journalBytes + statistics.logBytes
    guard statistics.diskSize > 0 else { return Figures.bytes(size) }
    return "\(Figures.bytes(size)), \(Figures.bytes(statistics.diskFree)) free of "
      + Figures.bytes(statistics.diskSize)
  }

  /// The newest backup of the daemon's own, whether the next one is overdue, and one that is being made.
  static func backups(_ statistics: DaemonStatistics) -> String {
    var parts: [String] = []
    if statistics.backupInterval > 0 {
      let age = statistics.backupAge.map { "newest " + Figures.age(milliseconds: $0) + " old" }
      parts.append(age ?? "none yet")
      parts.append("every " + Figures.age(milliseconds: statistics.backupInterval))
      if statistics.isBackupOverdue {
        let failed = statistics.backupsFailed
        parts.append(
          failed > 0 ? "OVERDUE: \(Figures.count(failed)) failed since the start" : "OVERDUE")
      }
      if statistics.hasBackupRetentionFailed { parts.append("older ones could NOT BE REMOVED") }
    }
    if statistics.backupTotal > 0 {
      parts.append("\(statistics.backupDone * 100 / statistics.backupTotal) % of one copied")
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
