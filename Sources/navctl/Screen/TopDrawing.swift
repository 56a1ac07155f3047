import NavigationCore
import NavigationHub

struct TopCommandDrawing: Sendable {
  struct Sample: Sendable {
    var statistics: JSONValue
    /// The time of the sample on the monotonic clock, in milliseconds.
    var milliseconds: UInt64
  }

  let columns: Int
  let rows: Int?

  /// Draws a frame; without `before`, or after a restart of navd, without rates.
  func lines(_ sample: Sample, before: Sample?, endpoint: String) -> [StyledLine] {
    let statistics = sample.statistics
    let boot = statistics.text("boot")
    let before = before.flatMap { $0.statistics.text("boot") == boot ? $0 : nil }
    var lines = header(statistics, endpoint)
    lines.append(StyledLine())
    lines += rates(sample, before)
    lines.append(StyledLine())
    lines += times(statistics, before?.statistics)
    let principals = ConnectionLoad.ofPrincipals(statistics)
    if !principals.isEmpty { lines += [StyledLine()] + connections(principals) }
    let busiest = statistics.list("busiest")
    if !busiest.isEmpty { lines += [StyledLine()] + sessions(busiest, sample, before) }
    return fitted(lines)
  }

  func lines(failure: String) -> [StyledLine] { fitted([StyledLine(failure, .alert)]) }

  private func fitted(_ lines: [StyledLine]) -> [StyledLine] {
    lines.prefix(rows ?? lines.count).map { $0.fitted(columns: columns) }
  }

  private func header(_ statistics: JSONValue, _ endpoint: String) -> [StyledLine] {
    let count = Figures.count
    var first = StyledLine(TerminalText.visible(statistics.text("server")), .strong)
    first.append("  up \(Figures.age(milliseconds: statistics.number("uptime")))  ")
    if statistics["storageProblem"]?.string != nil {
      first.append("storage failing", .alert)
    } else if statistics["serving"]?.bool == false {
      first.append("stopping", .alert)
    } else {
      first.append("serving")
    }
    first.append("  \(TerminalText.visible(endpoint))", .faint)
    let connections = ConnectionLoad.ofAllClients(statistics)
    var counts = StyledLine(
      ["navs", "sessions", "watches"].map { "\($0) \(count(statistics.number($0)))  " }.joined())
    counts.append("connections \(connections.text)", connections.isNearLimit ? .alert : .plain)
    let (behind, stalled) = (statistics.number("lag.watches"), statistics.number("lag.stalled"))
    let lag = StyledLine(
      "behind \(count(behind))  lag \(count(statistics.number("lag.max"))) rev  "
        + "stalled \(count(stalled))", behind > 0 || stalled > 0 ? .alert : .plain)
    return [first, counts, lag, StyledLine("journal \(StatusDrawing.journal(statistics))")]
  }

  // Each table has a column of names and two columns of numbers.

  private static func row(
    _ name: String, _ left: String, _ right: String, _ style: StyledLine.Style = .plain
  ) -> StyledLine {
    StyledLine(
      TerminalText.padded(TerminalText.visible(name), columns: 18)
        + Self.rightAligned(left, columns: 10) + Self.rightAligned(right, columns: 12), style)
  }

  private static func rightAligned(_ text: String, columns: Int) -> String {
    String(repeating: " ", count: max(0, columns - TerminalText.width(text))) + text
  }

  private func rates(_ sample: Sample, _ before: Sample?) -> [StyledLine] {
    let refusals = StatusDrawing.refusals(sample.statistics).filter { $0.count > 0 }
      .sorted { ($1.count, Text($0.code)) < ($0.count, Text($1.code)) }
    var lines = [Self.row("OPERATIONS", "A SECOND", "IN ALL", .strong)]
    func add(_ name: String, _ paths: [String]) {
      let rate = Self.rate(sample, before, paths).map(Figures.rate) ?? "-"
      lines.append(Self.row(name, rate, Figures.count(Self.sum(paths, sample.statistics))))
    }
    for word in ["ok", "unchanged"] + refusals.prefix(4).map(\.code) {
      add(word, ["operations.\(word)"])
    }
    if refusals.count > 4 {
      add("other refusals", refusals.dropFirst(4).map { "operations.\($0.code)" })
    }
    add("messages in", ["messages.received"])
    add("messages out", ["messages.sent"])
    add("diffs", ["messages.diffs"])
    return lines
  }

  private static func sum(_ paths: [String], _ statistics: JSONValue) -> UInt64 {
    paths.reduce(0) { $0 + statistics.number($1) }
  }

  private static func rate(_ sample: Sample, _ before: Sample?, _ paths: [String]) -> Double? {
    guard let before, sample.milliseconds > before.milliseconds else { return nil }
    let (new, old) = (sum(paths, sample.statistics), sum(paths, before.statistics))
    guard new >= old else { return nil }
    return Double(new - old) * 1000 / Double(sample.milliseconds - before.milliseconds)
  }

  private func times(_ statistics: JSONValue, _ before: JSONValue?) -> [StyledLine] {
    var lines = [Self.row("TIMES", "P50", "P99", .strong)]
    func add(_ name: String, _ path: String, _ text: (Double) -> String) {
      guard let histogram = Histogram(statistics[path]) else { return }
      let recent = Histogram(before?[path]).flatMap { histogram.increase(since: $0) } ?? histogram
      let cells = [0.5, 0.99].map { recent.quantile($0).map(text) ?? "-" }
      lines.append(Self.row(name, cells[0], cells[1]))
    }
    add("commit", "commit") { Figures.time(nanoseconds: $0) }
    add("fan-out", "fanOut") { Figures.time(nanoseconds: $0) }
    add("records a commit", "batch") { Figures.count(UInt64($0.rounded(.up))) }
    return lines
  }

  private func connections(_ principals: [ConnectionLoad]) -> [StyledLine] {
    [Self.row("CONNECTIONS OF", "NOW", "LIMIT", .strong)]
      + principals.prefix(4).map { load in
        Self.row(
          load.principal ?? "", Figures.count(load.count), Figures.count(load.limit),
          load.isNearLimit ? .alert : .plain)
      }
  }

  private func sessions(
    _ busiest: [JSONValue], _ sample: Sample, _ before: Sample?
  ) -> [StyledLine] {
    let former = Dictionary(
      (before?.statistics.list("busiest") ?? []).map { ($0.text("id"), $0.number("ops")) },
      uniquingKeysWith: max)
    let ranked = busiest.map { session in
      let (id, name, count) = (session.text("id"), session.text("name"), session.number("ops"))
      let since = former[id].flatMap { count >= $0 ? $0 : nil }
      let span = before.map { sample.milliseconds - min(sample.milliseconds, $0.milliseconds) } ?? 0
      let rate = since.flatMap { span > 0 ? Double(count - $0) * 1000 / Double(span) : nil }
      return (name: name.isEmpty ? id : name, count: count, rate: rate)
    }.sorted { ($1.rate ?? 0, $1.count) < ($0.rate ?? 0, $0.count) }
    return [Self.row("BUSIEST SESSIONS", "A SECOND", "IN ALL", .strong)]
      + ranked.map { Self.row($0.name, $0.rate.map(Figures.rate) ?? "-", Figures.count($0.count)) }
  }
}
