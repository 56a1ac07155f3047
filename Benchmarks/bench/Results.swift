import Foundation

/// What was measured: all runs, their medians, the table.
struct Results {
  private(set) var runs: [(workload: String, target: Target, numbers: Numbers)] = []

  mutating func add(_ numbers: Numbers, _ workload: Workload, _ target: Target) {
    runs.append((workload.name, target, numbers))
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

  /// How navd compares with a peer, from the medians.
  func ratio(_ workload: Workload, to peer: Target) -> Double? {
    guard let own = median(workload.name, .navd, workload.metric),
      let other = median(workload.name, peer, workload.metric), other > 0
    else { return nil }
    return own / other
  }

  /// A table in Markdown.
  func table(_ workloads: [Workload]) -> String {
    var lines = [
      "| workload | target | median | least … most | p50 µs | p99 µs "
        + "| navd : echo | navd : sqlite | navd : redis |",
      "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for workload in workloads {
      for target in Target.allCases {
        let found = values(workload.name, target, workload.metric)
        guard let least = found.first, let most = found.last,
          let median = median(workload.name, target, workload.metric)
        else { continue }
        let prefix = workload.metric.hasPrefix("last_") ? "last_" : ""
        var cells = [
          "\(workload.name): \(workload.title)", target.rawValue,
          "\(Self.text(median)) \(Self.unit(workload.metric))",
          "\(Self.text(least)) … \(Self.text(most))",
        ]
        for metric in ["p50_us", "p99_us"] {
          cells.append(self.median(workload.name, target, prefix + metric).map(Self.text) ?? "")
        }
        for peer in [Target.echo, .sqlite, .redis] {
          let ratio = target == .navd ? ratio(workload, to: peer) : nil
          cells.append(ratio.map { String(format: "%.2f", $0) } ?? "")
        }
        lines.append("| " + cells.joined(separator: " | ") + " |")
      }
    }
    return lines.joined(separator: "\n")
  }

  /// Every run and every median, as JSON.
  func json(_ workloads: [Workload], machine: [String: String]) throws -> Data {
    var medians: [String: [String: Numbers]] = [:]
    for run in runs {
      for metric in run.numbers.keys {
        medians[run.workload, default: [:]][run.target.rawValue, default: [:]][metric] =
          median(run.workload, run.target, metric)
      }
    }
    let object: [String: Any] = [
      "machine": machine,
      "medians": medians,
      "runs": runs.map { run -> [String: Any] in
        ["workload": run.workload, "target": run.target.rawValue, "numbers": run.numbers]
      },
    ]
    return try JSONSerialization.data(
      withJSONObject: object, options: [.prettyPrinted, .sortedKeys])
  }

  private static func text(_ value: Double) -> String {
    String(format: value < 10 ? "%.2f" : value < 1000 ? "%.1f" : "%.0f", value)
  }

  private static func unit(_ metric: String) -> String {
    switch metric {
    case "ops_s": "ops/s"
    case "deliveries_s": "deliveries/s"
    case "ready_ms": "ms"
    case "cost_ratio": "×"
    case "bytes_per_nav": "bytes"
    case "rss_kib": "KiB"
    case "switches": "switches"
    default: "µs"
    }
  }
}
