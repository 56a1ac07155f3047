import NavigationCore

/// The lines about one nav's changes, newest last, and the position to which a user has scrolled.
struct ChangeStream: Sendable {
  var watchLines = WatchLines()
  private var entries: [String] = []
  private var droppedCount = 0
  /// The number of the last shown entry; nil while the newest is shown as it arrives.
  private var lastShown: Int?

  static let maximumEntries = 1000

  var count: Int { droppedCount + entries.count }

  var isFollowing: Bool { lastShown == nil }

  var newerCount: Int { lastShown.map { count - $0 } ?? 0 }

  mutating func append(_ text: String) {
    entries.append(text)
    guard entries.count > Self.maximumEntries else { return }
    droppedCount += entries.count - Self.maximumEntries
    entries.removeFirst(entries.count - Self.maximumEntries)
    if let held = lastShown { lastShown = max(held, min(droppedCount + 1, count)) }
  }

  mutating func hold() { lastShown = lastShown ?? count }

  mutating func follow() { lastShown = nil }

  /// Scrolls by lines, to newer ones if `step` is positive; at the newest line it follows again.
  mutating func scroll(_ step: Int) {
    let end = (lastShown ?? count) + step
    lastShown = end >= count ? nil : max(end, min(droppedCount + 1, count))
  }

  /// The shown lines, broken to a width; the newest of them is the last.
  func lines(columns: Int, rows: Int) -> [StyledLine] {
    var lines: [StyledLine] = []
    var index = (lastShown ?? count) - droppedCount
    while index > 0, lines.count < rows {
      index -= 1
      lines =
        TerminalText.indentWrapped(entries[index], columns: columns).map { StyledLine($0) } + lines
    }
    return Array(lines.suffix(rows))
  }
}
