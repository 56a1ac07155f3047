import Foundation

/// A number that runs report, and how it is shown.
struct Metric {
  /// Its name in what `bench-load` prints.
  var name: String
  var unit: String
  /// What is better.
  var better: Better

  enum Better: String { case more, less }

  /// The metric of that name; latencies in microseconds need no entry.
  static func named(_ name: String) -> Metric {
    let (unit, better): (String, Better) =
      switch name {
      case "ops_s": ("ops/s", .more)
      case "deliveries_s": ("deliveries/s", .more)
      case "deliveries_cpu_s": ("deliveries/CPU s", .more)
      case "of_idle", "of_reading": ("× the rate", .more)
      case "of_thousand", "net_of_thousand": ("× per CPU s", .more)
      case "cost_ratio": ("× the cost", .less)
      case "cpu_us_op": ("CPU µs/op", .less)
      case "ready_ms", "caught_up_ms", "p50_ms": ("ms", .less)
      case "bytes_per_nav": ("bytes/nav", .less)
      case "rss_kib": ("KiB", .less)
      case "switches": ("wake-ups in 10 s", .less)
      case "lost": ("revisions", .less)
      default: ("µs", .less)
      }
    return Metric(name: name, unit: unit, better: better)
  }

  /// A number with as many digits as mean something.
  static func text(_ value: Double) -> String {
    switch abs(value) {
    case 0: "0"
    case ..<10: String(format: "%.2f", value)
    case ..<100: String(format: "%.1f", value)
    default: text(count: Int(value.rounded()))
    }
  }

  /// With a comma between thousands.
  static func text(count value: Int) -> String {
    var digits = String(value)
    var place = digits.count - 3
    while place > 0 {
      digits.insert(",", at: digits.index(digits.startIndex, offsetBy: place))
      place -= 3
    }
    return digits
  }
}
