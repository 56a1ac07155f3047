import NavigationCore
import NavigationHub

/// Writes the text format of Prometheus, version 0.0.4.
enum PrometheusText {
  static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  /// Writes all metrics of `statistics`, each with its `# HELP` and `# TYPE` line.
  static func render(_ statistics: JSONValue) -> String {
    var text = ""
    for metric in Metric.all {
      text += "# HELP \(metric.name) \(escaped(metric.help, quotes: false))\n"
      text += "# TYPE \(metric.name) \(metric.kind)\n"
      append(metric, of: statistics, to: &text)
    }
    return text
  }

  private static func append(_ metric: Metric, of statistics: JSONValue, to text: inout String) {
    let value = statistics.at(metric.path)
    switch metric.value {
    case .number(let scale, let missing):
      let figure = value?.integer.map { Double($0) } ?? value?.bool.map { $0 ? 1 : 0 } ?? missing
      text += "\(metric.name) \(number(figure / scale))\n"
    case .presence: text += "\(metric.name) \(value?.string == nil ? 0 : 1)\n"
    case .byLabel(let label, let always):
      let numbers = numbers(value, by: label)
      // Label values appear with 0 before their first event, because `rate` ignores the first
      // sample.
      let others = numbers.keys.filter { !always.contains($0) }.sorted()
      for word in always + others {
        text += sample(metric.name, [(label, word)], Double(numbers[word] ?? 0))
      }
    case .histogram(let scale):
      if let histogram = Histogram(value) { append(histogram, metric.name, scale, to: &text) }
    case .information(let labels):
      text += sample(metric.name, labels.map { ($0.label, statistics.text($0.path)) }, 1)
    }
  }

  /// The numbers in an object by their names, or in a list of objects those of connections by label.
  private static func numbers(_ value: JSONValue?, by label: String) -> [String: UInt64] {
    let members = value?.members.map { ($0.name, $0.value.integer) } ?? []
    let entries = value?.elements.map { ($0.text(label), $0["connections"]?.integer ?? 0) } ?? []
    return Dictionary(
      entries + members.compactMap { name, number in number.map { (name, $0) } },
      uniquingKeysWith: +)
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
