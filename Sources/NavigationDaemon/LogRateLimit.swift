import NavigationCore

/// Limits the rate of equal messages, and counts those that it holds back.
///
/// `burst` equal messages pass in `windowMilliseconds`. After the window, a summary reports how
/// many others there were. Messages about rights are equal only with the same principal and code,
/// so that one client with endless refusals does not hide those of others. The limit counts at most
/// `maximumTexts` different messages at a time.
struct LogRateLimit: Sendable {
  static let burst = 10
  /// How many equal messages about rights pass in a window.
  static let auditBurst = 100
  static let windowMilliseconds: UInt64 = 30_000
  /// How many different messages are counted; further ones pass without a count.
  static let maximumTexts = 256

  /// The windows in order of their start; an array, so that the order of summaries is
  /// deterministic.
  private var windows: [(entry: LogEntry, start: UInt64, count: Int)] = []

  /// Takes a message; returns the entries to write.
  ///
  /// They are the summaries of windows that have ended, then the message unless it is held back.
  mutating func admit(_ entry: LogEntry, at now: UInt64) -> [LogEntry] {
    var output = expire(at: now)
    if let index = windows.firstIndex(where: { Self.areEqual($0.entry, entry) }) {
      windows[index].count += 1
      if windows[index].count > Self.burst(of: entry) { return output }
    } else if windows.count < Self.maximumTexts {
      windows.append((entry, start: now, count: 1))
    }
    output.append(entry)
    return output
  }

  /// Closes the windows whose time has ended; returns the summaries of held-back messages.
  mutating func expire(at now: UInt64) -> [LogEntry] {
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
    entry.kind == .clientRefused || entry.kind == .checkOverridden
  }

  private static func burst(of entry: LogEntry) -> Int { isAudit(entry) ? auditBurst : burst }

  /// Whether two entries count as equal: by their message id if they have one, else by their text.
  private static func areEqual(_ left: LogEntry, _ right: LogEntry) -> Bool {
    guard left.level == right.level, left.kind == right.kind else { return false }
    if isAudit(left) { return left.principal == right.principal && left.code == right.code }
    return left.kind != nil || left.message == right.message
  }
}
