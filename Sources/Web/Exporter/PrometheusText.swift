import NavigationCore
import NavigationHub

/// Writes the text format of Prometheus, version 0.0.4.
enum PrometheusText {
  static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  /// Writes all metrics of `statistics`, each with its `# HELP` and `# TYPE` line.
  static func render(_ statistics: JSONValue) -> String {
    var text = ""
    for metric in Metric.all {
      text += "# HELP \(metric.name) \(escaped(metric.help, escapesQuotes: false))\n"
      text += "# TYPE \(metric.name) \(metric.prometheusType)\n"
      append(metric, of: statistics, to: &text)
    }
    return text
  }

  private static func append(_ metric: Metric, of statistics: JSONValue, to text: inout String) {
    let value = statistics.at(metric.statisticsPath)
    switch metric.conversion {
    case .number(let divisor, let missing):
      let figure = value?.integer.map { Double($0) } ?? value?.bool.map { $0 ? 1 : 0 } ?? missing
      text += "\(metric.name) \(decimal(figure / divisor))\n"
    case .textPresence: text += "\(metric.name) \(value?.string == nil ? 0 : 1)\n"
    case .byLabel(let label, let always):
      let numbers = numbersByLabel(in: value, label)
      // Label values appear with 0 before their first event, because `rate` ignores the first
      // sample.
      let others = numbers.keys.filter { !always.contains($0) }.sorted()
      for word in always + others {
        text += sampleLine(metric.name, [(label, word)], Double(numbers[word] ?? 0))
      }
    case .histogram(let divisor):
      if let histogram = Histogram(value) { append(histogram, metric.name, divisor, to: &text) }
    case .infoLabels(let labels):
      text += sampleLine(metric.name, labels.map { ($0.label, statistics.text($0.path)) }, 1)
    }
  }

  /// The numbers of an object by member name; of a list of objects, the member `connections` of each
  /// by the member `label`.
  private static func numbersByLabel(in value: JSONValue?, _ label: String) -> [String: UInt64] {
    let members = value?.members.map { ($0.name, $0.value.integer) } ?? []
    let entries = value?.elements.map { ($0.text(label), $0["connections"]?.integer ?? 0) } ?? []
    return Dictionary(
      entries + members.compactMap { name, number in number.map { (name, $0) } },
      uniquingKeysWith: +)
  }

  private static func append(
    _ histogram: Histogram, _ name: String, _ divisor: Double, to text: inout String
  ) {
    var count: UInt64 = 0
    for (bound, here) in zip(histogram.bounds, histogram.counts) {
      count += here
      let limit = decimal(Double(bound) / divisor)
      text += sampleLine("\(name)_bucket", [("le", limit)], Double(count))
    }
    text += sampleLine("\(name)_bucket", [("le", "+Inf")], Double(histogram.count))
    text += "\(name)_sum \(decimal(Double(histogram.sum) / divisor))\n"
    text += "\(name)_count \(decimal(Double(histogram.count)))\n"
  }

  private static func sampleLine(
    _ name: String, _ labels: [(label: String, value: String)], _ value: Double
  ) -> String {
    let pairs = labels.map { "\($0.label)=\"\(escaped($0.value, escapesQuotes: true))\"" }
    return "\(name){\(pairs.joined(separator: ","))} \(decimal(value))\n"
  }

  /// A number as text, without a fraction if it is an integer.
  private static func decimal(_ value: Double) -> String {
    value.magnitude < 9e15 && value == value.rounded() ? "\(Int64(value))" : "\(value)"
  }

  private static func escaped(_ text: String, escapesQuotes: Bool) -> String {
    var result = ""
    for character in text {
      switch character {
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\"" where escapesQuotes: result += "\\\""
      default: result.append(character)
      }
    }
    return result
  }
}
