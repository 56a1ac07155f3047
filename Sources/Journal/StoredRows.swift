import NavigationSync

extension Statement {
  /// Reads the current row of a `SELECT` of `Schema.rowColumns`, and its body in place.
  ///
  /// - Throws: `.damaged` when a column is of another type or the checksum is wrong.
  func row<Failure: Error>(
    damage: (String) -> Failure,
    _ consume: (RowHeader, UInt32, Span<UInt8>) throws(Failure) -> Void
  ) throws(Failure) {
    guard let sequence = unsigned(0) else { throw damage("a row has no sequence") }
    guard let nav = unsigned(1), let revision = unsigned(2), let previous = unsigned(3),
      let time = integer(4), let number = unsigned(5).flatMap({ UInt8(exactly: $0) }),
      let kind = JournalRow.Kind(rawValue: number), let checksum = unsigned(6)
    else { throw damage("a column of row \(sequence) is not what a row has") }
    let header = RowHeader(
      sequence: sequence, nav: nav, revision: revision, previous: previous,
      time: UInt64(bitPattern: time), kind: kind)
    let hasBody: Void? = try withBlob(7) { (body) throws(Failure) in
      let computed = header.checksum(body: body)
      guard UInt64(computed) == checksum else {
        throw damage("the checksum of row \(sequence) is wrong")
      }
      try consume(header, computed, body)
    }
    guard hasBody != nil else { throw damage("row \(sequence) has no body") }
  }

  /// Reads the current row of a `SELECT` of `Schema.snapshotColumns`.
  func snapshot(_ path: String) throws(JournalError) -> SnapshotRow {
    guard let nav = unsigned(0), let revision = unsigned(1) else {
      throw .damaged(path: path, what: "a snapshot has no key")
    }
    guard let sequence = unsigned(2), let time = integer(3), let checksum = unsigned(4),
      let body = bytes(5)
    else { throw .damaged(path: path, what: "a column of snapshot \(nav)@\(revision) is wrong") }
    let row = SnapshotRow(
      nav: nav, revision: revision, sequence: sequence, time: UInt64(bitPattern: time), body: body)
    guard UInt64(row.checksum) == checksum else {
      throw .damaged(path: path, what: "the checksum of snapshot \(nav)@\(revision) is wrong")
    }
    return row
  }
}
