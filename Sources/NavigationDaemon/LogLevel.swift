/// The level of a message, with the names of syslog.
package enum LogLevel: String, CaseIterable, Comparable, Sendable {
  /// The daemon, or one of its functions, cannot continue.
  case error
  /// A fault that the daemon handled.
  case warning
  /// A rare event that administrators should know.
  case notice
  /// Normal events.
  case info
  /// Details for developers of navd.
  case debug

  /// The syslog priority, 3 to 7; a smaller number is more important.
  package var priority: Int {
    switch self {
    case .error: 3
    case .warning: 4
    case .notice: 5
    case .info: 6
    case .debug: 7
    }
  }

  /// Orders by importance: `.error < .debug`.
  package static func < (left: LogLevel, right: LogLevel) -> Bool {
    left.priority < right.priority
  }
}
