import NavigationCore

/// Draws one frame of `navctl top` from two samples of the statistics.
struct TopDrawing: Sendable {
  struct Sample: Sendable {
    var statistics: DaemonStatistics
    /// The time of the sample on the monotonic clock, in milliseconds.
    var time: UInt64
  }

  let columns: Int
  /// Nil for as many lines as a frame needs.
  let rows: Int?

  /// Draws one frame.
  ///
  /// Without the sample `before`, and after a restart of the daemon, the frame has no rates, and
  /// its times are those since the start.
  func lines(_ sample: Sample, before: Sample?, endpoint: String) -> [StyledLine] {
    let statistics = sample.statistics
    let before = before.flatMap { $0.statistics.boot == statistics.boot ? $0 : nil }
    var lines = head(statistics, endpoint)
    lines.append(StyledLine())
    lines += rates(sample, before)
    lines.append(StyledLine())
    lines += times(statistics, before?.statistics)
    if !statistics.principals.isEmpty {
      lines.append(StyledLine())
      lines += connections(statistics)
    }
    if let busiest = statistics.busiest, !busiest.isEmpty {
      lines.append(StyledLine())
      lines += sessions(busiest, sample, before)
    }
    return fitted(lines)
  }

  func lines(failure: String) -> [StyledLine] { fitted([StyledLine(failure, .alert)]) }

  private func fitted(_ lines: [StyledLine]) -> [StyledLine] {
    lines.prefix(rows ?? lines.count).map { $0.fitted(columns: columns) }
  }

  private func head(_ statistics: DaemonStatistics, _ endpoint: String) -> [StyledLine] {
    let count = Figures.count
    var first = StyledLine(TerminalText.visible(statistics.server), .strong)
    first.append("  up \(Figures.age(milliseconds: statistics.uptime))  ")
    if statistics.storageProblem != nil {
      first.append("storage failing", .alert)
    } else if statistics.isServing == false {
      first.append("stopping", .alert)
    } else {
      first.append("serving")
    }
    first.append("  \(TerminalText.visible(endpoint))", .faint)
    let connections = ConnectionLoad(all: statistics)
    var who = StyledLine(
      "navs \(count(statistics.navs))  sessions \(count(statistics.sessions))  "
        + "watches \(count(statistics.watches))  ")
    who.append("connections \(connections.text)", connections.isScarce ? .alert : .plain)
    let isBehind = statistics.watchesBehind > 0 || statistics.stalledSessions > 0
    let lag = StyledLine(
      "behind \(count(statistics.watchesBehind))  lag \(count(statistics.largestLag)) rev  "
        + "stalled \(count(statistics.stalledSessions))", isBehind ? .alert : .plain)
    return [first, who, lag, StyledLine("journal \(StatusDrawing.journal(statistics))")]
  }

  // Each table has a column of names and two columns of numbers.

  private func row(_ name: String, _ left: String, _ right: String) -> StyledLine {
    StyledLine(Self.cells(name, left, right))
  }

  private static func cells(_ name: String, _ left: String, _ right: String) -> String {
    TerminalText.padded(TerminalText.visible(name), columns: 18)
      + Self.right(left, columns: 10) + Self.right(right, columns: 12)
  }

  private static func right(_ text: String, columns: Int) -> String {
    String(repeating: " ", count: max(0, columns - TerminalText.width(text))) + text
  }

  private func rates(_ sample: Sample, _ before: Sample?) -> [StyledLine] {
    let statistics = sample.statistics
    let refusals = statistics.operations
      .filter { !StatusDrawing.answers.contains($0.key) && $0.value > 0 }
      .sorted { ($1.value, Text($0.key)) < ($0.value, Text($1.key)) }
    var lines = [StyledLine(Self.cells("OPERATIONS", "A SECOND", "IN ALL"), .strong)]
    func add(_ name: String, _ read: (DaemonStatistics) -> UInt64) {
      let rate = Self.rate(sample, before, read).map(Figures.rate) ?? "-"
      lines.append(row(name, rate, Figures.count(read(statistics))))
    }
    for outcome in ["ok", "unchanged"] { add(outcome) { $0.operations[outcome] ?? 0 } }
    for (code, _) in refusals.prefix(4) { add(code) { $0.operations[code] ?? 0 } }
    if refusals.count > 4 {
      let shown = Set(refusals.prefix(4).map(\.key)).union(StatusDrawing.answers)
      add("other refusals") { $0.operations.filter { !shown.contains($0.key) }.values.reduce(0, +) }
    }
    add("messages in") { $0.received }
    add("messages out") { $0.sent }
    add("diffs") { $0.diffs }
    return lines
  }

  /// The events per second between two samples.
  private static func rate(
    _ sample: Sample, _ before: Sample?, _ read: (DaemonStatistics) -> UInt64
  ) -> Double? {
    guard let before, sample.time > before.time else { return nil }
    let (new, old) = (read(sample.statistics), read(before.statistics))
    guard new >= old else { return nil }
    return Double(new - old) * 1000 / Double(sample.time - before.time)
  }

  private func times(_ statistics: DaemonStatistics, _ before: DaemonStatistics?) -> [StyledLine] {
    var lines = [StyledLine(Self.cells("TIMES", "P50", "P99"), .strong)]
    func add(_ name: String, _ read: (DaemonStatistics) -> Histogram?, _ text: (Double) -> String) {
      guard let histogram = read(statistics) else { return }
      let recent = before.flatMap(read).flatMap { histogram.since($0) } ?? histogram
      let cells = [0.5, 0.99].map { recent.quantile($0).map(text) ?? "-" }
      lines.append(row(name, cells[0], cells[1]))
    }
    add("commit", \.commit) { Figures.time(nanoseconds: $0) }
    add("fan-out", \.fanOut) { Figures.time(nanoseconds: $0) }
    add("records a commit", \.batch) { Figures.count(UInt64($0.rounded(.up))) }
    return lines
  }

  /// The users and keys with the most connections, and the limit for one of them.
  private func connections(_ statistics: DaemonStatistics) -> [StyledLine] {
    [StyledLine(Self.cells("CONNECTIONS OF", "NOW", "LIMIT"), .strong)]
      + statistics.principals.prefix(4).map { entry in
        let load = ConnectionLoad(entry, of: statistics)
        return StyledLine(
          Self.cells(entry.principal, Figures.count(load.count), Figures.count(load.limit)),
          load.isScarce ? .alert : .plain)
      }
  }

  private func sessions(
    _ busiest: [DaemonStatistics.BusySession], _ sample: Sample, _ before: Sample?
  ) -> [StyledLine] {
    let former = Dictionary(
      (before?.statistics.busiest ?? []).map { ($0.id, $0.operations) }, uniquingKeysWith: max)
    let ranked = busiest.map { session in
      let since = former[session.id].flatMap { session.operations >= $0 ? $0 : nil }
      let span = before.map { sample.time - min(sample.time, $0.time) } ?? 0
      let rate = since.flatMap {
        span > 0 ? Double(session.operations - $0) * 1000 / Double(span) : nil
      }
      return (session: session, rate: rate)
    }.sorted { ($1.rate ?? 0, $1.session.operations) < ($0.rate ?? 0, $0.session.operations) }
    return [StyledLine(Self.cells("BUSIEST SESSIONS", "A SECOND", "IN ALL"), .strong)]
      + ranked.map { entry in
        let name = entry.session.name.isEmpty ? entry.session.id : entry.session.name
        return row(
          name, entry.rate.map(Figures.rate) ?? "-", Figures.count(entry.session.operations))
      }
  }
}
