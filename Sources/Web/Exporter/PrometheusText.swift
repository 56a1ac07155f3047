import NavigationCore

/// Writes the text format of Prometheus, version 0.0.4.
enum PrometheusText {
  /// The value of `Content-Type` for this format.
  static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  /// Writes all metrics of `statistics`, each with its `# HELP` and `# TYPE` line.
  static func render(_ statistics: DaemonStatistics) -> String {
    var text = ""
    for metric in Metric.all {
      text += "# HELP \(metric.name) \(escaped(metric.help, quotes: false))\n"
      text += "# TYPE \(metric.name) \(metric.kind.rawValue)\n"
      append(metric, of: statistics, to: &text)
    }
    return text
  }

  private static func append(
    _ metric: Metric, of statistics: DaemonStatistics, to text: inout String
  ) {
    switch metric.value {
    case .number(let read): text += "\(metric.name) \(number(read(statistics)))\n"
    case .byLabel(let label, let always, let read):
      let numbers = read(statistics)
      // Label values appear with 0 before their first event, because `rate` ignores the first
      // sample.
      let others = numbers.keys.filter { !always.contains($0) }.sorted()
      for word in always + others {
        text += sample(metric.name, [(label, word)], Double(numbers[word] ?? 0))
      }
    case .histogram(let scale, let read):
      if let histogram = read(statistics) { append(histogram, metric.name, scale, to: &text) }
    case .information(let read): text += sample(metric.name, read(statistics), 1)
    }
  }

  private static func append(
    _ histogram: Histogram, _ name: String, _ scale: Double, to text: inout String
  ) {
    var count: UInt64 = 0
    for (bound, here) in zip(histogram.bounds, histogram.counts) {
      count += here
      text += sample("\(name)_bucket", [("le", number(Double(bound) / scale))], Double(count))
    }
    text += sample("\(name)_bucket", [("le", "+Inf")], Double(histogram.count))
    text += "\(name)_sum \(number(Double(histogram.sum) / scale))\n"
    text += "\(name)_count \(number(Double(histogram.count)))\n"
  }

  private static func sample(
    _ name: String, _ labels: [(label: String, value: String)], _ value: Double
  ) -> String {
    let pairs = labels.map { "\($0.label)=\"\(escaped($0.value, quotes: true))\"" }
    return "\(name){\(pairs.joined(separator: ","))} \(number(value))\n"
  }

  /// A number as text, without a fraction if it is an integer.
  private static func number(_ value: Double) -> String {
    value.magnitude < 9e15 && value == value.rounded() ? "\(Int64(value))" : "\(value)"
  }

  private static func escaped(_ text: String, quotes: Bool) -> String {
    var result = ""
    for character in text {
      switch character {
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\"" where quotes: result += "\\\""
      default: result.append(character)
      }
    }
    return result
  }
}
