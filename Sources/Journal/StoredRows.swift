import NavigationCore
package import NavigationHub

/// The columns of a stored group besides its heads and bodies.
package struct StoredGroup: Hashable, Sendable {
  /// The names of all columns, in both databases.
  package static let columns = "seq, last, sum, heads, bodies"

  /// The key of the database row; no sequence in the group is below it.
  package var first: UInt64
  package var last: UInt64
  /// The checksum of the other columns.
  package var checksum: UInt64

  package init(first: UInt64, last: UInt64, checksum: UInt64) {
    self.first = first
    self.last = last
    self.checksum = checksum
  }

  /// The name of the rows in error messages.
  var name: String { first == last ? "row \(first)" : "rows \(first) to \(last)" }

  /// Throws `.damaged` unless the checksum fits the other columns; `path` names the database.
  package func verify(
    _ heads: Span<UInt8>, _ bodies: Span<UInt8>, in path: String
  ) throws(JournalError) {
    guard RowGroup.checksum(first: first, last: last, heads: heads, bodies) == checksum else {
      throw .damaged(path: path, what: "the checksum of \(name) is wrong")
    }
  }
}

extension Statement {
  /// Reads the current row of a `SELECT` of `StoredGroup.columns`, and passes it on.
  ///
  /// Throws `.damaged` if a column has another type or the checksum is wrong.
  func readCurrentGroup(_ path: String, _ consume: GroupConsumer) throws(JournalError) {
    func damage(_ what: String) -> JournalError { .damaged(path: path, what: what) }
    guard let first = unsigned(0), first > 0 else { throw damage("a row has no sequence") }
    guard let last = unsigned(1), last >= first, let sum = integer(2) else {
      throw damage("a column of row \(first) is not what a row has")
    }
    let group = StoredGroup(first: first, last: last, checksum: UInt64(bitPattern: sum))
    var hasBytes = false
    try withBlob(3) { (heads) throws(JournalError) in
      try withBlob(4) { (bodies) throws(JournalError) in
        hasBytes = true
        try group.verify(heads, bodies, in: path)
        try consume(group, heads, bodies)
      }
    }
    guard hasBytes else { throw damage("row \(first) has no heads or no bodies") }
  }

  /// Reads the current row of a `SELECT` of `SnapshotRow.columns`.
  func readCurrentSnapshot(_ path: String) throws(JournalError) -> SnapshotRow {
    guard let nav = unsigned(0), let revision = unsigned(1) else {
      throw .damaged(path: path, what: "a snapshot has no key")
    }
    guard let sequence = unsigned(2), let time = integer(3), let checksum = integer(4),
      let body = bytes(5)
    else { throw .damaged(path: path, what: "a column of snapshot \(nav)@\(revision) is wrong") }
    return try SnapshotRow(
      nav: nav, revision: revision, sequence: sequence, time: UInt64(bitPattern: time), body: body
    ).verified(checksum: UInt64(bitPattern: checksum), path)
  }
}

extension SnapshotRow {
  /// The names of the columns, in both databases.
  package static let columns = "nav, rev, seq, t, sum, body"

  /// Returns the snapshot if the stored checksum fits it.
  package func verified(checksum: UInt64, _ path: String) throws(JournalError) -> SnapshotRow {
    guard self.checksum == checksum else {
      throw .damaged(path: path, what: "the checksum of snapshot \(nav)@\(revision) is wrong")
    }
    return self
  }
}

/// A copy of a group, from which single rows are read.
struct LoadedGroup {
  private let group: StoredGroup
  private let bodies: [UInt8]
  private let rows: [(header: RowHeader, body: Range<Int>)]

  /// Copies a group after its checksum was verified.
  init(
    _ group: StoredGroup, _ heads: Span<UInt8>, _ bodies: Span<UInt8>, _ path: String
  ) throws(JournalError) {
    self.group = group
    self.bodies = [UInt8](copying: bodies)
    var rows: [(header: RowHeader, body: Range<Int>)] = []
    var cursor = RecordCursor(first: group.first)
    while cursor.next(in: heads) { rows.append((cursor.header, cursor.bodyRange)) }
    guard cursor.hasEnded(heads, at: group.last, bodyBytes: bodies.count) else {
      throw .damaged(path: path, what: "\(group.name) cannot be separated")
    }
    self.rows = rows
  }

  /// Whether the row with this sequence is in this group, unless it was pruned.
  func holds(_ sequence: UInt64) -> Bool { group.first <= sequence && sequence <= group.last }

  /// Returns the row with this sequence; nil if it was pruned.
  func row(at sequence: UInt64) -> JournalRow? {
    guard let found = rows.first(where: { $0.header.sequence == sequence }) else { return nil }
    return JournalRow(found.header, body: Array(bodies[found.body]))
  }
}
