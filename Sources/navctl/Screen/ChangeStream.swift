import NavigationCore

/// The lines of one nav's changes, the newest at the end, and the part of them that is shown.
struct ChangeStream: Sendable {
  var watch = WatchLines()
  private var entries: [String] = []
  private var dropped = 0
  /// Behind which entry the shown part ends; nil while it follows the newest.
  private var heldAt: Int?

  static let maximumEntries = 1000

  var count: Int { dropped + entries.count }

  var isFollowing: Bool { heldAt == nil }

  var newer: Int { heldAt.map { count - $0 } ?? 0 }

  mutating func append(_ text: String) {
    entries.append(text)
    guard entries.count > Self.maximumEntries else { return }
    dropped += entries.count - Self.maximumEntries
    entries.removeFirst(entries.count - Self.maximumEntries)
    if let held = heldAt { heldAt = max(held, min(dropped + 1, count)) }
  }

  mutating func hold() { heldAt = heldAt ?? count }

  mutating func follow() { heldAt = nil }

  /// Moves by lines, towards newer ones if `step` is positive; at the newest it follows.
  mutating func scroll(_ step: Int) {
    let end = (heldAt ?? count) + step
    heldAt = end >= count ? nil : max(end, min(dropped + 1, count))
  }

  /// The shown lines, broken to a width; the newest of them is the last.
  func lines(columns: Int, rows: Int) -> [StyledLine] {
    var lines: [StyledLine] = []
    var index = (heldAt ?? count) - dropped
    while index > 0, lines.count < rows {
      index -= 1
      lines =
        TerminalText.continued(entries[index], columns: columns).map { StyledLine($0) } + lines
    }
    return Array(lines.suffix(rows))
  }
}
