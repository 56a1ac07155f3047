import NavigationHub

/// A record of a batch without its body.
enum StagedRecord: Hashable {
  case row(RowNote)
  case snapshot(SnapshotHeader)
}

/// The batch being written.
struct StagedBatch: ~Copyable {
  /// The rows that are not in the database yet; pruning collects here what is left of a group.
  var group = RowGroup()
  /// What is to be noted once the batch is stored.
  var records: [StagedRecord] = []
  /// Whether there are snapshots among them, whose census must go with the batch.
  var hasSnapshots = false

  /// Begins a batch whose first row has this sequence.
  mutating func begin(_ sequence: UInt64) {
    group.begin(sequence)
    records.removeAll(keepingCapacity: true)
    hasSnapshots = false
  }

  /// Collects rows from `index` on, up to a snapshot or a row that finds the group full.
  ///
  /// - Returns: where it ended.
  mutating func collect(_ batch: [JournalRecord], from index: Int) -> Int {
    var index = index
    while index < batch.count, case .row(let row) = batch[index] {
      if group.isFull(for: row.body.count) { break }
      let next = group.last + 1
      precondition(row.sequence == next, "sequence \(row.sequence) where \(next) is next")
      records.append(.row(group.append(row)))
      index += 1
    }
    return index
  }
}
