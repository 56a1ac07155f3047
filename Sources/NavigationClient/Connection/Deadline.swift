package import NavigationCore
import RuntimePaths

/// A time of `SystemClock.bootMilliseconds` at which a wait ends.
struct Deadline {
  let milliseconds: UInt64

  init(_ duration: Duration) {
    milliseconds = SystemClock.bootMilliseconds() + UInt64(clamping: duration.milliseconds)
  }

  init(at milliseconds: UInt64) { self.milliseconds = milliseconds }

  var hasPassed: Bool { remainingMilliseconds == 0 }

  /// The milliseconds left, at most the longest timeout of poll(2).
  var remainingMilliseconds: Int {
    let now = SystemClock.bootMilliseconds()
    return now >= milliseconds ? 0 : Int(clamping: min(milliseconds - now, 60_000))
  }

  func earlier(than other: Deadline) -> Deadline { earlier(than: other.milliseconds) }

  /// The earlier of this deadline and a time of the monotonic clock; nil for no second one.
  func earlier(than other: UInt64?) -> Deadline {
    Deadline(at: min(milliseconds, other ?? .max))
  }
}

extension OpRequest {
  private static let machine = try? bootID(environment: .current())

  /// Sets the time limit, by a clock of this machine, which a daemon elsewhere does not have.
  package mutating func expire(after limit: Duration?, at place: String) {
    guard let limit, place.hasPrefix("ipc:") else { return }
    due = SystemClock.bootMilliseconds() + UInt64(clamping: limit.milliseconds)
    clock = Self.machine
  }
}

extension Duration {
  /// The duration in whole milliseconds, clamped to `Int64`.
  var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
    return overflow
      ? Int64.max / 4 : min(product, Int64.max / 4) + attoseconds / 1_000_000_000_000_000
  }
}

extension OperationKind {
  /// Whether a person does it, so that it must not happen when the person has gone on.
  package var isByPerson: Bool {
    self == .buttonActivate || name.hasPrefix("ui.") || name.hasPrefix("gesture.")
  }

  /// The time in which such an operation begins or never, unless the program chose another one.
  package static let personLimit = Duration.seconds(2)
}
