import Foundation

/// A number that runs report, and its presentation.
struct Metric {
  /// The name in the output of `bench-load`.
  var name: String
  var unit: String
  /// Whether a larger or a smaller number is better.
  var better: Better
  /// The name in tables.
  var label: String

  enum Better: String { case more, less }

  /// Returns the metric with a name; unknown names are latencies in microseconds.
  static func named(_ name: String) -> Metric {
    let (unit, better, label): (String, Better, String) =
      switch name {
      case "ops_s": ("ops/s", .more, "throughput")
      case "deliveries_s": ("deliveries/s", .more, "fan-out")
      case "deliveries_cpu_s": ("deliveries/CPU s", .more, "fan-out by the server's work")
      case "of_idle": ("×", .more, "rate : without a watcher")
      case "of_reading": ("×", .more, "rate : beside one that reads")
      case "of_thousand": ("×", .more, "deliveries by the server's work")
      case "net_of_thousand": ("×", .more, "the same without the work of writing, at least")
      case "cost_ratio": ("×", .less, "cost by time")
      case "four_cpu_ratio": ("×", .less, "the same of four : one")
      case "two_cpu_ratio": ("×", .less, "the same of two : one")
      case "daemon_ratio": ("×", .less, "the same of the daemons alone, four : one")
      case "database_ratio": ("×", .less, "the same of PostgreSQL, four : one")
      case "one_cpu_us_op": ("µs", .less, "processor time with one")
      case "one_database_us_op": ("µs", .less, "the same of PostgreSQL")
      case "cpu_ratio": ("×", .less, "cost by the server's work")
      case "ready_ms": ("ms", .less, "until it is ready")
      case "caught_up_ms": ("ms", .less, "until the watcher is at the head")
      case "bytes_per_nav": ("bytes/nav", .less, "memory of one")
      case "used_bytes_per_nav": ("bytes/nav", .less, "memory of one in use")
      case "rss_kib": ("KiB", .less, "resident memory")
      case "switches": ("wake-ups in 10 s", .less, "wake-ups")
      case "lost": ("revisions", .less, "revisions lost")
      case "alone_p50_us": ("µs", .less, "p50 without it")
      case "get_p50_us": ("µs", .less, "p50 of the other client")
      case "mean_us": ("µs", .less, "mean")
      case "p95_us": ("µs", .less, "p95")
      case "true_mean_us": ("µs", .less, "mean of /bin/true")
      case "last_p50_us": ("µs", .less, "p50 until the last has it")
      default: ("µs", .less, "p50")
      }
    return Metric(name: name, unit: unit, better: better, label: label)
  }

  /// Formats a number with three significant digits, or with all digits of its integer part.
  static func text(_ value: Double) -> String {
    switch abs(value) {
    case 0: "0"
    case ..<10: String(format: "%.2f", value)
    case ..<100: String(format: "%.1f", value)
    default: text(count: Int(value.rounded()))
    }
  }

  /// Formats an integer with commas between groups of three digits.
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
