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

  /// The milliseconds left, at most 60 000, after which callers wait again.
  var remainingMilliseconds: Int {
    let now = SystemClock.bootMilliseconds()
    return now >= milliseconds ? 0 : Int(clamping: min(milliseconds - now, 60_000))
  }

  /// The earlier of this deadline and a time of `SystemClock.bootMilliseconds`, if that is not nil.
  func earlier(than other: UInt64?) -> Deadline {
    Deadline(at: min(milliseconds, other ?? .max))
  }
}

extension OpRequest {
  private static let localBootID = try? bootID(environment: .current())

  /// Sets the time limit of an op if the daemon is on this machine, and so has the same clock.
  package mutating func setTimeLimit(_ limit: Duration?, ifLocal endpoint: String) {
    guard let limit, endpoint.hasPrefix("ipc:") else { return }
    startDeadline = SystemClock.bootMilliseconds() + UInt64(clamping: limit.milliseconds)
    deadlineBootID = Self.localBootID
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
  /// Whether a person triggers it by touch, so the daemon should begin it soon or not at all.
  package var isByPerson: Bool {
    self == .buttonActivate || name.hasPrefix("ui.") || name.hasPrefix("gesture.")
  }

  /// The time limit of an operation by a person, unless the program chose another one.
  package static let personLimit = Duration.seconds(2)
}
