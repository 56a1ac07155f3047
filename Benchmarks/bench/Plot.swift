import Foundation

/// A line chart as SVG.
struct Plot {
  /// One line of the chart, for one target.
  struct Line {
    var target: Target
    var points: [(x: Double, y: Double)]
  }

  var title: String
  /// Whether larger or smaller values of the vertical axis are better.
  var better: Metric.Better
  var xTitle: String
  var yTitle: String
  /// Whether the vertical axis is in microseconds.
  var areTimes = false
  /// The labels of the horizontal axis, with their positions.
  var ticks: [(x: Double, text: String)]
  var lines: [Line]

  private static let width = 720.0, height = 440.0
  private static let left = 80.0, right = 610.0, top = 62.0, bottom = 380.0

  /// The chart, with a logarithmic vertical axis; nil without data.
  func svg() -> String? {
    let values = lines.flatMap { $0.points.map(\.y) }.filter { $0 > 0 }
    guard let least = values.min(), let most = values.max(), ticks.count > 1 else { return nil }
    let steps = Self.steps(from: least, to: most)
    let range = log10(steps[0])...log10(steps[steps.count - 1])
    var parts = [
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(Int(Self.width))\" "
        + "height=\"\(Int(Self.height))\" font-family=\"sans-serif\" font-size=\"12\">",
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>",
      text("\(title) (\(better.rawValue) is better)", Self.width / 2, 25, size: 15),
      text(xTitle, (Self.left + Self.right) / 2, Self.height - 15),
      text(yTitle, 14, Self.top - 12, anchor: "start"),
    ]
    parts += horizontals(steps, range) + verticals()
    for (index, line) in lines.enumerated() { parts += drawing(line, index, range) }
    return parts.joined(separator: "\n") + "\n</svg>\n"
  }

  /// The labelled values of the vertical axis: 1, 2 and 5 times powers of ten, around all values.
  private static func steps(from least: Double, to most: Double) -> [Double] {
    let powers = Int(log10(least).rounded(.down))...Int(log10(most).rounded(.up))
    let all = powers.flatMap { power in [1, 2, 5].map { $0 * pow(10, Double(power)) } }
    let first = all.lastIndex { $0 <= least } ?? 0
    var last = all.firstIndex { $0 >= most } ?? all.count - 1
    if last == first { last = first + 1 }
    return Array(all[first...min(last, all.count - 1)])
  }

  private func horizontals(_ steps: [Double], _ range: ClosedRange<Double>) -> [String] {
    // With more than 14 lines, only those at powers of ten get a label.
    let isLong = steps.count > 14
    return steps.flatMap { step in
      let y = vertical(step, range)
      let isDecade = abs(log10(step) - log10(step).rounded()) < 1e-9
      return [stroke(Self.left, y, Self.right, y)]
        + (isLong && !isDecade ? [] : [text(label(step), Self.left - 6, y + 4, anchor: "end")])
    }
  }

  private func verticals() -> [String] {
    ticks.flatMap { tick in
      let x = horizontal(tick.x)
      return [stroke(x, Self.top, x, Self.bottom), text(tick.text, x, Self.bottom + 18)]
    }
  }

  private func drawing(_ line: Line, _ index: Int, _ range: ClosedRange<Double>) -> [String] {
    let color = Self.color(line.target)
    let places = line.points.filter { $0.y > 0 }
      .map { (x: horizontal($0.x), y: vertical($0.y, range)) }
    let path = places.map { number($0.x) + "," + number($0.y) }.joined(separator: " ")
    let y = Self.top + 10 + Double(index) * 20
    return [
      "<polyline points=\"\(path)\" fill=\"none\" stroke=\"\(color)\" stroke-width=\"2\"/>"
    ]
      + places.map {
        "<circle cx=\"\(number($0.x))\" cy=\"\(number($0.y))\" r=\"3\" fill=\"\(color)\"/>"
      } + [
        "<rect x=\"\(number(Self.right + 15))\" y=\"\(number(y - 9))\" width=\"14\" height=\"10\" "
          + "fill=\"\(color)\"/>",
        text(line.target.rawValue, Self.right + 36, y, anchor: "start"),
      ]
  }

  private func horizontal(_ x: Double) -> Double {
    let places = ticks.map(\.x)
    let least = places.min() ?? 0
    let most = places.max() ?? 1
    return Self.left + (x - least) / max(most - least, .leastNonzeroMagnitude)
      * (Self.right - Self.left)
  }

  private func vertical(_ y: Double, _ range: ClosedRange<Double>) -> Double {
    let part = (log10(y) - range.lowerBound) / (range.upperBound - range.lowerBound)
    return Self.bottom - part * (Self.bottom - Self.top)
  }

  private func stroke(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double) -> String {
    "<line x1=\"\(number(x1))\" y1=\"\(number(y1))\" x2=\"\(number(x2))\" y2=\"\(number(y2))\" "
      + "stroke=\"#dddddd\"/>"
  }

  private func text(
    _ text: String, _ x: Double, _ y: Double, anchor: String = "middle", size: Int = 12
  ) -> String {
    let escaped = text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
    return "<text x=\"\(number(x))\" y=\"\(number(y))\" text-anchor=\"\(anchor)\" "
      + "font-size=\"\(size)\">\(escaped)</text>"
  }

  private func number(_ value: Double) -> String { String(format: "%.1f", value) }

  /// Formats a value of the vertical axis; times include their unit.
  private func label(_ value: Double) -> String {
    let units = areTimes ? [" s", " ms", " µs"] : [" M", " k", ""]
    let (size, unit) =
      switch value {
      case 1_000_000...: (1_000_000.0, units[0])
      case 1000...: (1000.0, units[1])
      default: (1.0, units[2])
      }
    return String(format: "%g", value / size) + unit
  }

  private static func color(_ target: Target) -> String {
    switch target {
    case .echo: "#888888"
    case .sqlite: "#1f77b4"
    case .redis: "#d62728"
    case .navd: "#2ca02c"
    case .cluster: "#9467bd"
    case .pgbench: "#17becf"
    }
  }
}
