/// Writes numbers as people read them.
package enum NumberText {
  /// A number of bytes in the unit that gives one to three digits before the point.
  package static func bytes(_ number: Double) -> String {
    var (value, unit) = (number, 0)
    let units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"]
    while value >= 999.5, unit + 1 < units.count { (value, unit) = (value / 1000, unit + 1) }
    return "\(decimal(value, digits: unit == 0 || value >= 99.95 ? 0 : 1)) \(units[unit])"
  }

  /// A whole number with a comma after each three digits.
  package static func grouped(_ number: UInt64) -> String {
    var digits = Array(String(number))
    for place in stride(from: digits.count - 3, to: 0, by: -3) { digits.insert(",", at: place) }
    return String(digits)
  }

  /// A number with one digit behind the point, or none if `digits` is 0; 0 for a negative one.
  package static func decimal(_ value: Double, digits: Int) -> String {
    let scale: UInt64 = digits == 0 ? 1 : 10
    let scaled = UInt64(max(0, value * Double(scale)).rounded())
    return digits == 0 ? "\(scaled)" : "\(scaled / scale).\(scaled % scale)"
  }
}
