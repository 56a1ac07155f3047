/// The records of a batch, or of a part of it, with the bodies of all rows in one buffer.
///
/// The loop allocates a batch and the writer's thread frees it. With a buffer for each body, an op
/// would take 500 instructions more: an allocation and a deallocation that miss glibc's caches.
package struct JournalRecords: Hashable, Sendable {
  /// A row without its body.
  ///
  /// The body is in `bodies`, from the end of the previous row's body up to `bodyEnd`.
  package struct Row: Hashable, Sendable {
    /// The columns of the row.
    package var header: RowHeader
    /// The end of its body.
    package var bodyEnd: Int
  }

  /// A snapshot, which stands behind the first `rowsBefore` rows.
  package struct Snapshot: Hashable, Sendable {
    /// The number of rows before it.
    package var rowsBefore: Int
    /// The snapshot.
    package var snapshot: SnapshotRow
  }

  /// The rows in the order of their sequence.
  package private(set) var rows: [Row] = []
  /// The snapshots in order.
  package private(set) var snapshots: [Snapshot] = []
  /// The bodies of the rows, one after the other.
  package private(set) var bodies: [UInt8] = []

  /// Makes an empty value.
  package init() {}

  /// Makes an empty value with the room of `other`, up to 64 rows and 32 KB.
  init(like other: borrowing JournalRecords) {
    rows.reserveCapacity(Self.room(other.rows.capacity, used: other.rows.count, most: 64))
    bodies.reserveCapacity(
      Self.room(other.bodies.capacity, used: other.bodies.count, most: 32 << 10))
  }

  /// The room to reserve next, which shrinks only if less than an eighth of it was used.
  ///
  /// The last part of a batch is often small, and the next one full again.
  private static func room(_ capacity: Int, used: Int, most: Int) -> Int {
    Swift.min(used < capacity / 8 ? capacity / 2 : capacity, most)
  }

  /// Whether there are no records.
  package var isEmpty: Bool { rows.isEmpty && snapshots.isEmpty }

  /// The number of records.
  package var count: Int { rows.count + snapshots.count }

  /// The range of a row's body in `bodies`.
  package func body(of row: Int) -> Range<Int> {
    (row > 0 ? rows[row - 1].bodyEnd : 0)..<rows[row].bodyEnd
  }

  /// Appends a row with a copy of its body.
  package mutating func append(_ header: consuming RowHeader, body: Span<UInt8>) {
    rows.append(Row(header: consume header, bodyEnd: bodies.count + body.count))
    // The bytes are copied before their memory can go.
    unsafe body.withUnsafeBufferPointer { unsafe bodies.append(contentsOf: $0) }
  }

  /// Appends a snapshot.
  package mutating func append(_ snapshot: SnapshotRow) {
    snapshots.append(Snapshot(rowsBefore: rows.count, snapshot: snapshot))
  }
}

/// A record of `JournalRecords`, by itself.
package enum JournalRecord: Hashable, Sendable {
  /// Append this row.
  case row(JournalRow)
  /// Store this snapshot beside the rows.
  case snapshot(SnapshotRow)
}

extension JournalRecords: Sequence {
  /// Makes a value of these records.
  package init(_ records: some Sequence<JournalRecord>) {
    for record in records {
      switch record {
      case .row(let row): append(RowHeader(row), body: row.body.span)
      case .snapshot(let snapshot): append(snapshot)
      }
    }
  }

  /// Makes an iterator over the records in order; each row is a copy.
  package func makeIterator() -> some IteratorProtocol<JournalRecord> {
    var (row, snapshot) = (0, 0)
    return AnyIterator { () -> JournalRecord? in
      if snapshot < snapshots.count, snapshots[snapshot].rowsBefore == row {
        snapshot += 1
        return .snapshot(snapshots[snapshot - 1].snapshot)
      }
      guard row < rows.count else { return nil }
      row += 1
      return .row(JournalRow(rows[row - 1].header, body: Array(bodies[body(of: row - 1)])))
    }
  }
}
