import NavigationHub
import NavigationProtocol

/// A copy of a group, to look for single rows in.
struct LoadedGroup {
  private let group: StoredGroup
  private let bodies: [UInt8]
  private let rows: [(header: RowHeader, body: Range<Int>)]

  /// Copies the bytes of a group, which passed their checksum.
  init(
    _ group: StoredGroup, _ heads: Span<UInt8>, _ bodies: Span<UInt8>, _ path: String
  ) throws(JournalError) {
    self.group = group
    self.bodies = [UInt8](copying: bodies)
    var rows: [(header: RowHeader, body: Range<Int>)] = []
    var cursor = RecordCursor(first: group.first)
    while cursor.next(in: heads) { rows.append((cursor.header, cursor.body)) }
    guard cursor.hasEnded(heads, at: group.last, bodyCount: bodies.count) else {
      throw .damaged(path: path, what: "\(group.name) cannot be told apart")
    }
    self.rows = rows
  }

  /// Whether the row with this sequence can only be in this group.
  func holds(_ sequence: UInt64) -> Bool { group.first <= sequence && sequence <= group.last }

  /// The row with this sequence; nil when it was pruned.
  func row(at sequence: UInt64) -> JournalRow? {
    guard let found = rows.first(where: { $0.header.sequence == sequence }) else { return nil }
    return JournalRow(found.header, body: bodies.span.extracting(found.body))
  }
}
