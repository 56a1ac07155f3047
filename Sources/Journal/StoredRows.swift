import NavigationSync

/// What a row of the table of groups says beside its bytes.
struct StoredGroup {
  /// The row's key, which no sequence in it is below.
  var first: UInt64
  /// The sequence of its last record.
  var last: UInt64
  /// How many bytes its body is when it is unpacked; 0 if it lies as it is.
  var size: UInt64
  /// The checksum over all these and the body as it lies.
  var checksum: UInt64

  /// How messages name its records.
  var name: String { first == last ? "row \(first)" : "rows \(first) to \(last)" }
}

extension Statement {
  /// Reads the current row of a `SELECT` of `Schema.groupColumns`, and its bytes, in place if they lie as they are.
  ///
  /// - Throws: `.damaged` when a column is of another type or the checksum is wrong.
  func group<Failure: Error>(
    damage: (String) -> Failure,
    _ consume: (StoredGroup, Span<UInt8>) throws(Failure) -> Void
  ) throws(Failure) {
    guard let first = unsigned(0), first > 0 else { throw damage("a row has no sequence") }
    guard let last = unsigned(1), last >= first, let size = unsigned(2), let sum = integer(3) else {
      throw damage("a column of row \(first) is not what a row has")
    }
    let group = StoredGroup(
      first: first, last: last, size: size, checksum: UInt64(bitPattern: sum))
    let hasBytes: Void? = try withBlob(4) { (bytes) throws(Failure) in
      guard RowGroup.checksum(first: first, last: last, size: size, bytes) == group.checksum else {
        throw damage("the checksum of \(group.name) is wrong")
      }
      guard size > 0 else { return try consume(group, bytes) }
      guard let unpacked = Packing.unpack(bytes, size: size) else {
        throw damage("\(group.name) cannot be unpacked")
      }
      try consume(group, unpacked.span)
    }
    guard hasBytes != nil else { throw damage("row \(first) has no body") }
  }

  /// Reads the current row of a `SELECT` of `Schema.snapshotColumns`.
  func snapshot(_ path: String) throws(JournalError) -> SnapshotRow {
    guard let nav = unsigned(0), let revision = unsigned(1) else {
      throw .damaged(path: path, what: "a snapshot has no key")
    }
    guard let sequence = unsigned(2), let time = integer(3), let checksum = integer(4),
      let body = bytes(5)
    else { throw .damaged(path: path, what: "a column of snapshot \(nav)@\(revision) is wrong") }
    let row = SnapshotRow(
      nav: nav, revision: revision, sequence: sequence, time: UInt64(bitPattern: time), body: body)
    guard row.checksum == UInt64(bitPattern: checksum) else {
      throw .damaged(path: path, what: "the checksum of snapshot \(nav)@\(revision) is wrong")
    }
    return row
  }
}
