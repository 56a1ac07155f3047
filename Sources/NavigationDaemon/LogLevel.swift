/// How important a message is, in syslog's words.
package enum LogLevel: String, CaseIterable, Comparable, Sendable {
  /// The daemon cannot go on.
  case error
  /// Something is wrong that it could deal with.
  case warning
  /// Rare, and worth knowing.
  case notice
  /// What goes on.
  case info
  /// What goes on inside.
  case debug

  /// The number the journal uses, 3 to 7; smaller is more important.
  package var priority: Int {
    switch self {
    case .error: 3
    case .warning: 4
    case .notice: 5
    case .info: 6
    case .debug: 7
    }
  }

  /// More important comes first: `.error < .debug`.
  package static func < (left: LogLevel, right: LogLevel) -> Bool {
    left.priority < right.priority
  }
}
