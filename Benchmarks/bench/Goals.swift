import Foundation

/// A goal for one measurement of navd.
struct Goal {
  enum Relation: String {
    case atMost = "≤"
    case atLeast = "≥"
  }

  /// The number with which the measurement is compared.
  enum Reference {
    case one
    case peer(Target)
    /// The median of navd in another workload.
    case workload(String)
  }

  var workload: String
  /// The target that is measured.
  var target: Target
  var metric: String
  var relation: Relation
  var value: Double
  var reference: Reference

  private init(
    _ workload: String, by target: Target = .navd, _ metric: String, _ relation: Relation,
    _ value: Double, of reference: Reference = .one
  ) {
    self.workload = workload
    self.target = target
    self.metric = metric
    self.relation = relation
    self.value = value
    self.reference = reference
  }

  /// All goals; the table and the list of goals at its end are made from them.
  static let all: [Goal] = [
    Goal("w1", "p50_us", .atMost, 1.15, of: .peer(.sqlite)),
    Goal("w2a", "ops_s", .atLeast, 0.8, of: .peer(.sqlite)),
    Goal("w2a", "ops_s", .atLeast, 1.9, of: .peer(.redis)),
    Goal("w2b", "ops_s", .atLeast, 0.7, of: .peer(.sqlite)),
    Goal("w2b", "ops_s", .atLeast, 2.9, of: .peer(.redis)),
    Goal("members", by: .cluster, "cpu_ratio", .atMost, 1.1),
    Goal("fan100-rate", "last_p50_us", .atMost, 1.15, of: .peer(.sqlite)),
    Goal("fan1000-rate", "last_p50_us", .atMost, 1.15, of: .peer(.sqlite)),
    Goal("fan100", "deliveries_s", .atLeast, 1, of: .peer(.redis)),
    Goal("fan1000", "deliveries_s", .atLeast, 1, of: .peer(.redis)),
    Goal("fan1000", "deliveries_s", .atLeast, 1 / 1.3, of: .workload("fan100")),
    Goal("many", "of_thousand", .atLeast, 10),
    Goal("many", "net_of_thousand", .atLeast, 10),
    Goal("stalled", "of_idle", .atLeast, 0.95),
    Goal("stalled", "of_reading", .atLeast, 0.95),
    Goal("stalled", "lost", .atMost, 0),
    Goal("behind", "p50_us", .atMost, 2000),
    Goal("replay", "p50_us", .atMost, 12_000),
    Goal("restart1k", "ready_ms", .atMost, 50),
    Goal("restart100k", "ready_ms", .atMost, 1.2, of: .peer(.sqlite)),
    Goal("memory", "bytes_per_nav", .atMost, 2500),
    Goal("million", "rss_kib", .atMost, 3_000_000_000 / 1024),
    Goal("idle", "switches", .atMost, 0),
    Goal("idle", "rss_kib", .atMost, 15 * 1024),
    Goal("growth", "cost_ratio", .atMost, 1.3),
    Goal("growth100k", "cost_ratio", .atMost, 1.3),
    Goal("depth-push", "cost_ratio", .atMost, 1.3),
    Goal("depth-top", "cost_ratio", .atMost, 1.3),
    Goal("depth-root", "cost_ratio", .atMost, 1.3),
    Goal("navctl", "mean_us", .atMost, 10_000),
    Goal("navctl", "p95_us", .atMost, 10_000),
    Goal("navctl-help", "mean_us", .atMost, 5000),
    Goal("navctl-help", "p95_us", .atMost, 5000),
    Goal("navctl-complete", "mean_us", .atMost, 50_000),
    Goal("navctl-complete", "p95_us", .atMost, 50_000),
  ]

  /// The goal as text, such as `≤ 1.15 × sqlite`.
  var text: String {
    let bound = "\(relation.rawValue) \(Metric.text(value))"
    return switch reference {
    case .one: bound + " " + Metric.named(metric).unit
    case .peer(let target): "\(bound) × \(target.rawValue)"
    case .workload(let name): "\(bound) × \(name)"
    }
  }

  /// The measured number or ratio; nil if a measurement is missing.
  func found(_ results: Results) -> Double? {
    guard let own = results.median(workload, target, metric) else { return nil }
    let other: Double? =
      switch reference {
      case .one: 1
      case .peer(let target): results.median(workload, target, metric)
      case .workload(let name): results.median(name, .navd, metric)
      }
    guard let other, other > 0 else { return nil }
    return own / other
  }

  /// Whether a value meets the goal.
  func isMet(by found: Double) -> Bool {
    switch relation {
    case .atMost: found <= value
    case .atLeast: found >= value
    }
  }

  /// The value and the verdict, for a cell of the table; nil if a measurement is missing.
  func verdict(_ results: Results) -> String? {
    found(results).map { "\(Metric.text($0)), \(isMet(by: $0) ? "met" : "not met")" }
  }
}

extension Results {
  /// The table of the measured goals, and how many of them are met; empty if none was measured.
  var goals: String {
    var lines = ["| goal | asked for | found | |", "| --- | --- | ---: | --- |"]
    var met = 0, judged = 0
    var missing: [String] = []
    for goal in Goal.all {
      let metric = Metric.named(goal.metric)
      guard let found = goal.found(self) else {
        missing.append(goal.workload)
        continue
      }
      let isMet = goal.isMet(by: found)
      judged += 1
      met += isMet ? 1 : 0
      lines.append(
        "| \(goal.workload): \(metric.label) | \(goal.text) | \(Metric.text(found)) "
          + "| \(isMet ? "met" : "**not met**") |")
    }
    guard judged > 0 else { return "" }
    var summary = "\(met) of \(judged) goals are met"
    if !missing.isEmpty {
      let names = Set(missing).sorted().joined(separator: ", ")
      summary += "; not measured in this run, or without a peer: \(names)"
    }
    return lines.joined(separator: "\n") + "\n\n\(summary)\n"
  }
}
