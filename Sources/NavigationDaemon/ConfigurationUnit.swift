extension ConfigurationKey {
  /// The unit of a number, which decides its suffixes.
  enum Unit: String, Sendable {
    /// Bytes; K, M and G multiply by 1024.
    case bytes
    case milliseconds
    case seconds
    case days
    /// A count, without suffixes.
    case count
    /// Events per second, without suffixes.
    case perSecond

    /// The suffixes with their factors in bytes or milliseconds.
    private var suffixes: [(text: String, factor: Int)] {
      switch self {
      case .bytes: [("K", 1 << 10), ("M", 1 << 20), ("G", 1 << 30)]
      case .milliseconds, .seconds, .days:
        // "ms" must be tried before "s".
        [("ms", 1), ("min", 60_000), ("s", 1000), ("h", 3_600_000), ("d", 86_400_000)]
      case .count, .perSecond: []
      }
    }

    /// Milliseconds per unit of time; 1 for other units.
    fileprivate var millisecondsPerUnit: Int {
      switch self {
      case .seconds: 1000
      case .days: 86_400_000
      case .bytes, .milliseconds, .count, .perSecond: 1
      }
    }

    /// Reads a number with an optional suffix; nil if it is malformed, or no multiple of the unit.
    func parse(_ text: String) -> Int? {
      for suffix in suffixes where text.hasSuffix(suffix.text) {
        let digits = text.dropLast(suffix.text.count)
        guard let number = Self.digits(digits.last == " " ? digits.dropLast() : digits) else {
          return nil
        }
        let (product, overflow) = number.multipliedReportingOverflow(by: suffix.factor)
        guard !overflow, product % millisecondsPerUnit == 0 else { return nil }
        return product / millisecondsPerUnit
      }
      return Self.digits(text[...])
    }

    /// Writes a number; bytes get the largest suffix that is exact, such as 64K for 65536.
    func text(of number: Int) -> String {
      guard self == .bytes, number > 0 else { return String(number) }
      for suffix in suffixes.reversed() where number % suffix.factor == 0 {
        return "\(number / suffix.factor)\(suffix.text)"
      }
      return String(number)
    }

    /// The accepted form: the unit with its suffixes, and the range.
    func expectation(_ range: ClosedRange<Int>) -> String {
      let bounds = "\(text(of: range.lowerBound)) to \(text(of: range.upperBound))"
      return switch self {
      case .bytes: "bytes, K, M or G, from \(bounds)"
      case .milliseconds, .seconds, .days:
        "\(rawValue), or a time with ms, s, min, h or d, from \(bounds)"
      case .count: "a whole number from \(bounds)"
      case .perSecond: "a number per second from \(bounds), 0 for no limit"
      }
    }

    private static func digits(_ text: Substring) -> Int? {
      guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
      return Int(text)
    }
  }
}

extension UInt64 {
  /// This number in the unit of its key; navd stores a time in milliseconds.
  subscript(unit: ConfigurationKey.Unit) -> Int {
    get { Int(self / UInt64(unit.millisecondsPerUnit)) }
    set { self = UInt64(newValue) * UInt64(unit.millisecondsPerUnit) }
  }
}
