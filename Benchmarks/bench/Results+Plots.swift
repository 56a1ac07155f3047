import Foundation

extension Results {
  /// Pictures of what was measured, by the end of their file's name.
  func plots(_ workloads: [Workload]) -> [String: String] {
    var pictures: [String: String] = [:]
    for workload in workloads where hasLatencies(workload) {
      pictures["latency-\(workload.name)"] = latencies(workload).svg()
    }
    pictures["throughput"] = throughput().svg()
    return pictures
  }

  private static let quantiles = ["p1", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "p999"]

  private func hasLatencies(_ workload: Workload) -> Bool {
    Target.allCases.contains { median(workload.name, $0, "p999_us") != nil }
  }

  /// Each quantile has the same room, for what matters is at the end.
  private func latencies(_ workload: Workload) -> Plot {
    let prefix = workload.metric.hasPrefix("last_") ? "last_" : ""
    let lines = Target.allCases.compactMap { target -> Plot.Line? in
      let points = Self.quantiles.enumerated().compactMap { index, name in
        median(workload.name, target, "\(prefix)\(name)_us").map { (x: Double(index), y: $0) }
      }
      return points.isEmpty ? nil : Plot.Line(name: target.rawValue, points: points)
    }
    let ticks = Self.quantiles.enumerated().map { index, name in
      (x: Double(index), text: name == "p999" ? "p99.9" : name)
    }
    return Plot(
      title: workload.title, xTitle: "quantile", yTitle: "latency in µs", ticks: ticks, lines: lines
    )
  }

  private func throughput() -> Plot {
    let sizes = Workload.windowSizes
    let lines = Target.allCases.compactMap { target -> Plot.Line? in
      let points = sizes.compactMap { size in
        median("window\(size)", target, "ops_s").map { (x: log2(Double(size)), y: $0) }
      }
      return points.isEmpty ? nil : Plot.Line(name: target.rawValue, points: points)
    }
    return Plot(
      title: "throughput by operations in flight", xTitle: "operations in flight",
      yTitle: "operations in a second", ticks: sizes.map { (log2(Double($0)), "\($0)") },
      lines: lines)
  }
}
