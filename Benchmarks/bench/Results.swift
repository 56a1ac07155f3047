import Foundation

/// The results: all runs, their medians, the table.
struct Results {
  private(set) var runs: [(workload: String, target: Target, numbers: Numbers)] = []
  /// The failed runs, with the reasons.
  private(set) var failures: [(workload: String, target: Target, reason: String)] = []

  mutating func add(_ numbers: Numbers, _ workload: Workload, _ target: Target) {
    runs.append((workload.name, target, numbers))
  }

  mutating func addFailure(_ reason: String, _ workload: Workload, _ target: Target) {
    failures.append((workload.name, target, reason))
  }

  func values(_ workload: String, _ target: Target, _ metric: String) -> [Double] {
    runs.filter { $0.workload == workload && $0.target == target }
      .compactMap { $0.numbers[metric] }.sorted()
  }

  func median(_ workload: String, _ target: Target, _ metric: String) -> Double? {
    let sorted = values(workload, target, metric)
    guard !sorted.isEmpty else { return nil }
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  }

  /// The ratio of navd's median to a peer's; nil if one is missing.
  func ratio(_ workload: Workload, _ metric: String, to peer: Target) -> Double? {
    guard let own = median(workload.name, .navd, metric),
      let other = median(workload.name, peer, metric), other > 0
    else { return nil }
    return own / other
  }

  /// A table in Markdown, followed by the goals and the failed runs.
  func table(_ workloads: [Workload]) -> String {
    var lines = [
      "| workload | number | target | median | better | least … most | p50 µs | p99 µs | CPU µs/op "
        + "| navd : echo | navd : sqlite | navd : redis | goal |",
      "| --- | --- | --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    for workload in workloads {
      for metric in [workload.metric] + workload.also {
        lines += Target.allCases.compactMap { row(workload, $0, metric) }
      }
    }
    var parts = [lines.joined(separator: "\n"), goals]
    if !failures.isEmpty {
      parts.append(
        "Void runs:\n"
          + failures.map { "- \($0.workload), \($0.target.rawValue): \($0.reason)" }
          .joined(separator: "\n"))
    }
    return parts.filter { !$0.isEmpty }.joined(separator: "\n\n")
  }

  private func row(_ workload: Workload, _ target: Target, _ metric: String) -> String? {
    let found = values(workload.name, target, metric)
    guard let least = found.first, let most = found.last,
      let median = median(workload.name, target, metric)
    else { return nil }
    let shown = Metric.named(metric)
    let prefix = metric.hasPrefix("last_") ? "last_" : ""
    var cells = [
      "\(workload.name): \(workload.title)", shown.label, target.rawValue,
      "\(Metric.text(median)) \(shown.unit)", shown.better.rawValue,
      "\(Metric.text(least)) … \(Metric.text(most))",
    ]
    for name in ["\(prefix)p50_us", "\(prefix)p99_us", "cpu_us_op"] {
      let value = metric == workload.metric ? self.median(workload.name, target, name) : nil
      cells.append(value.map(Metric.text) ?? "")
    }
    for peer in [Target.echo, .sqlite, .redis] {
      let ratio = target == .navd ? ratio(workload, metric, to: peer) : nil
      cells.append(ratio.map { String(format: "%.2f", $0) } ?? "")
    }
    let goals = Goal.all.filter {
      $0.workload == workload.name && $0.target == target && $0.metric == metric
    }
    let verdicts = goals.map { "\($0.text): \($0.verdict(self) ?? "not measured")" }
    cells.append(verdicts.joined(separator: "; "))
    return "| " + cells.joined(separator: " | ") + " |"
  }

  /// All runs and medians, as JSON.
  func json(_ workloads: [Workload], machine: Machine) throws -> Data {
    var medians: [String: [String: Numbers]] = [:]
    for run in runs {
      for metric in run.numbers.keys {
        medians[run.workload, default: [:]][run.target.rawValue, default: [:]][metric] =
          median(run.workload, run.target, metric)
      }
    }
    let object: [String: Any] = [
      "machine": Dictionary(uniqueKeysWithValues: machine.facts.map { ($0.name, $0.value) }),
      "medians": medians,
      "runs": runs.map { run -> [String: Any] in
        ["workload": run.workload, "target": run.target.rawValue, "numbers": run.numbers]
      },
      "goals": Goal.all.compactMap { goal -> [String: Any]? in
        goal.found(self).map {
          [
            "workload": goal.workload, "metric": goal.metric, "goal": goal.text, "found": $0,
            "met": goal.isMet(by: $0),
          ]
        }
      },
      "void": failures.map {
        ["workload": $0.workload, "target": $0.target.rawValue, "reason": $0.reason]
      },
    ]
    return try JSONSerialization.data(
      withJSONObject: object, options: [.prettyPrinted, .sortedKeys])
  }
}
