/// Holds back a storm of the same message, and counts what it held back.
///
/// What is told of somebody's rights is the same message only if it is about the same principal and
/// code, so that one who is refused without end hides nothing of the others.
/// Of one message, `burst` are let through in `windowMilliseconds`; after the window the number of
/// the others is reported. At most `maximumTexts` different messages are watched at a time.
package struct LogRateLimit: Sendable {
  /// How many of one message are let through in a window.
  package static let burst = 10
  /// How many of one that is told of somebody's rights.
  package static let auditBurst = 100
  /// The length of a window.
  package static let windowMilliseconds: UInt64 = 30_000
  /// How many different messages are watched; beyond that, new ones are let through uncounted.
  package static let maximumTexts = 256

  private struct Window {
    var entry: LogEntry
    var start: UInt64
    var count: Int
  }

  /// In the order in which the windows began, so what comes out does not hang on hash seeds.
  private var windows: [Window] = []

  /// Makes a limit that has seen nothing.
  package init() {}

  /// Takes a message and says what to write, in order: summaries of windows that have ended, then
  /// the message unless it is held back.
  package mutating func admit(_ entry: LogEntry, at now: UInt64) -> [LogEntry] {
    var output = expire(at: now)
    if let index = windows.firstIndex(where: { Self.same($0.entry, entry) }) {
      windows[index].count += 1
      if windows[index].count > Self.burst(of: entry) { return output }
    } else if windows.count < Self.maximumTexts {
      windows.append(Window(entry: entry, start: now, count: 1))
    }
    output.append(entry)
    return output
  }

  /// Ends the windows whose time is over, and returns the summaries of what was held back.
  package mutating func expire(at now: UInt64) -> [LogEntry] {
    var output: [LogEntry] = []
    while let first = windows.first, now >= first.start + Self.windowMilliseconds {
      windows.removeFirst()
      let heldBack = first.count - Self.burst(of: first.entry)
      guard heldBack > 0 else { continue }
      var summary = LogEntry(
        first.entry.level, "\(first.entry.message) (\(heldBack) more of these not shown)",
        kind: first.entry.kind)
      if Self.isAudit(first.entry) {
        summary.principal = first.entry.principal
        summary.code = first.entry.code
      }
      output.append(summary)
    }
    return output
  }

  private static func isAudit(_ entry: LogEntry) -> Bool {
    entry.kind == .refused || entry.kind == .overridden
  }

  private static func burst(of entry: LogEntry) -> Int { isAudit(entry) ? auditBurst : burst }

  /// Whether two entries are the same message: the kind counts if there is one, else the text.
  private static func same(_ left: LogEntry, _ right: LogEntry) -> Bool {
    guard left.level == right.level, left.kind == right.kind else { return false }
    if isAudit(left) { return left.principal == right.principal && left.code == right.code }
    return left.kind != nil || left.message == right.message
  }
}
