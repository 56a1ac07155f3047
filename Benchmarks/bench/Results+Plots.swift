import Foundation

extension Results {
  /// Draws charts of the results, by the last part of their file names.
  func plots(_ workloads: [Workload]) -> [String: String] {
    var pictures: [String: String] = [:]
    for workload in workloads where hasLatencies(workload) {
      pictures["latency-\(workload.name)"] = latencies(workload).svg()
    }
    for series in Self.series { pictures[series.name] = plot(series).svg() }
    return pictures
  }

  private static let quantiles = ["p1", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "p999"]

  private func hasLatencies(_ workload: Workload) -> Bool {
    Target.allCases.contains { median(workload.name, $0, "p999_us") != nil }
  }

  /// Draws the latencies of a workload by quantile.
  ///
  /// Each quantile has the same width, because the high ones matter most.
  private func latencies(_ workload: Workload) -> Plot {
    let isLast = workload.metric.hasPrefix("last_") || workload.metric == "deliveries_s"
    let lines = Target.allCases.compactMap { target -> Plot.Line? in
      let points = Self.quantiles.enumerated().compactMap { index, name in
        median(workload.name, target, "\(isLast ? "last_" : "")\(name)_us")
          .map { (x: Double(index), y: $0) }
      }
      return points.isEmpty ? nil : Plot.Line(target: target, points: points)
    }
    let ticks = Self.quantiles.enumerated().map { index, name in
      (x: Double(index), text: name == "p999" ? "p99.9" : name)
    }
    return Plot(
      title: "\(workload.name): \(workload.title)", better: .less, xTitle: "quantile",
      yTitle: isLast ? "until the last watcher has it" : "until it is done", areTimes: true,
      ticks: ticks, lines: lines)
  }

  /// One metric of several workloads that differ in a size.
  private struct Series {
    /// The last part of the file name.
    var name: String
    var title: String
    var sizes: [Int]
    var xTitle: String
    /// The name of the workloads before the size.
    var prefix: String
    var metric: String
  }

  private static let series = [
    Series(
      name: "throughput", title: "throughput by operations in flight, 16 navs",
      sizes: Workload.windowSizes, xTitle: "operations in flight", prefix: "window",
      metric: "ops_s"),
    Series(
      name: "fan-out", title: "fan-out by watchers, 64 operations in flight",
      sizes: Workload.watcherCounts, xTitle: "connections that watch the nav", prefix: "fan",
      metric: "deliveries_s"),
    Series(
      name: "fan-out-cost", title: "deliveries for each second the server works, by watchers",
      sizes: Workload.watcherCounts, xTitle: "connections that watch the nav", prefix: "fan",
      metric: "deliveries_cpu_s"),
    Series(
      name: "navs", title: "throughput by navs, 64 operations in flight",
      sizes: Workload.navCounts, xTitle: "navs, written in turn", prefix: "navs", metric: "ops_s"),
    Series(
      name: "depth", title: "throughput by depth, 64 operations in flight",
      sizes: Workload.depths, xTitle: "screens on each of 16 stacks", prefix: "depth",
      metric: "ops_s"),
  ]

  private func plot(_ series: Series) -> Plot {
    let metric = Metric.named(series.metric)
    let found = Target.allCases.compactMap { target -> Plot.Line? in
      let points = series.sizes.compactMap { size in
        median("\(series.prefix)\(size)", target, series.metric)
          .map { (x: log2(Double(size)), y: $0) }
      }
      return points.isEmpty ? nil : Plot.Line(target: target, points: points)
    }
    // Sizes without results get no label.
    let places = Set(found.flatMap { $0.points.map(\.x) })
    let ticks = series.sizes.map { (x: log2(Double($0)), text: Metric.text(count: $0)) }
      .filter { places.contains($0.x) }
    return Plot(
      title: series.title, better: metric.better, xTitle: series.xTitle, yTitle: metric.unit,
      ticks: ticks, lines: found)
  }
}
