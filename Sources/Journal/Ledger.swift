import NavigationCore
import NavigationHub

/// The journal's bookkeeping for one nav, about 100 bytes.
struct LedgerEntry {
  struct Snapshot {
    var revision: UInt64
    var sequence: UInt64
    var checksum: UInt64

    /// The checksum, if a new snapshot replaces this one; else nil.
    func checksum(of new: SnapshotRow) -> UInt64? { new.revision == revision ? checksum : nil }
  }

  let nav: UInt64
  /// The revision of the nav's newest row or snapshot.
  var headRevision: UInt64 = 0
  /// The sequence of the newest row or snapshot; sequences number the rows of all navs together.
  var headSequence: UInt64 = 0
  /// No row of the nav has a lower sequence.
  var oldestSequence: UInt64 = .max
  var rows = 0
  /// The bytes of its rows' bodies, plus `Ledger.rowOverheadBytes` for each row.
  var bytes = 0
  /// The snapshots in ascending order of revision.
  ///
  /// Once `hasWholeHistory` is false, no revision below the first one can be rebuilt.
  var snapshots: [Snapshot] = []
  /// The sequence of the oldest row that no snapshot covers; nil if there is none.
  var firstUncovered: UInt64?
  // Flags come last, because each of them would take eight bytes between numbers.
  /// Whether the history still begins with the nav's creation, and retention has not cut it.
  var hasWholeHistory = false
  var isClosed = false

  init(nav: UInt64) { self.nav = nav }

  /// The lowest revision that can be rebuilt; 0 if the history is complete.
  var floorRevision: UInt64 { hasWholeHistory ? 0 : snapshots.first?.revision ?? 0 }

  /// The sequence up to which rows are to be deleted; 0 for none.
  ///
  /// It is no revision, because the row of a new epoch has the revision of the snapshot before it.
  var deletionEnd: UInt64 { hasWholeHistory ? 0 : snapshots.first?.sequence ?? 0 }
}

/// The journal's bookkeeping for all navs, built by `replay` and updated by each commit.
struct Ledger {
  /// The bytes counted for a row besides its body: it takes 27 bytes more in a group of 64, 142 alone.
  static let rowOverheadBytes = 64

  private(set) var entries: [LedgerEntry] = []
  private var entryIndices = NumberIndex()
  /// The counted bytes of all rows.
  private(set) var bytes = 0

  /// The entry of a nav; made at the first write access.
  subscript(nav: UInt64) -> LedgerEntry {
    get { entry(nav) ?? LedgerEntry(nav: nav) }
    _modify {
      let place = entryIndices.find(nav) ?? append(nav)
      yield &entries[place]
    }
  }

  func entry(_ nav: UInt64) -> LedgerEntry? { entryIndices.find(nav).map { entries[$0] } }

  private mutating func append(_ nav: UInt64) -> Int {
    entryIndices.insert(entries.count, nav)
    entries.append(LedgerEntry(nav: nav))
    return entries.count - 1
  }

  /// Removes the entry of a nav; the last entry takes its place.
  mutating func remove(_ nav: UInt64) {
    guard let place = entryIndices.find(nav) else { return }
    entryIndices.remove(nav)
    let last = entries.removeLast()
    guard place < entries.count else { return }
    entries[place] = last
    entryIndices.replace(last.nav, by: place)
  }

  mutating func add(_ row: RowSummary) {
    let size = row.bodyBytes + Self.rowOverheadBytes
    bytes += size
    self[row.nav].add(row, size: size)
  }

  mutating func remove(_ row: RowSummary) {
    let size = row.bodyBytes + Self.rowOverheadBytes
    bytes -= size
    guard entryIndices.find(row.nav) != nil else { return }
    self[row.nav].remove(size: size)
  }

  /// Adds a stored snapshot, which replaces one of the same revision.
  mutating func add(_ snapshot: LedgerEntry.Snapshot, of nav: UInt64) { self[nav].add(snapshot) }

  mutating func add(_ record: StagedRecord) {
    switch record {
    case .row(let row): add(row)
    case .snapshot(let nav, let snapshot): add(snapshot, of: nav)
    }
  }
}

/// The numbers of a row that the journal keeps in memory until the commit.
struct RowSummary: Hashable {
  var sequence: UInt64
  var nav: UInt64
  var revision: UInt64
  var previous: UInt64
  var kind: JournalRow.Kind
  var bodyBytes: Int

  init(_ row: borrowing RowHeader, bodyBytes: Int) {
    sequence = row.sequence
    nav = row.nav
    revision = row.revision
    previous = row.previous
    kind = row.kind
    self.bodyBytes = bodyBytes
  }
}

extension LedgerEntry.Snapshot {
  init(_ row: SnapshotRow, checksum: UInt64) {
    self.init(revision: row.revision, sequence: row.sequence, checksum: checksum)
  }
}

extension LedgerEntry {
  fileprivate mutating func remove(size: Int) {
    bytes -= size
    rows -= 1
    hasWholeHistory = false
    if rows == 0 { oldestSequence = .max }
  }

  fileprivate mutating func add(_ row: RowSummary, size: Int) {
    if oldestSequence == .max {
      oldestSequence = row.sequence
      hasWholeHistory = row.previous == 0
    }
    bytes += size
    rows += 1
    headRevision = max(headRevision, row.revision)
    headSequence = max(headSequence, row.sequence)
    if row.kind == .closed { isClosed = true }
    if row.sequence > snapshots.last?.sequence ?? 0, firstUncovered == nil {
      firstUncovered = row.sequence
    }
  }

  fileprivate mutating func add(_ snapshot: Snapshot) {
    precondition(snapshot.revision >= snapshots.last?.revision ?? 0, "snapshots must not go back")
    if snapshots.last?.revision == snapshot.revision { snapshots.removeLast() }
    snapshots.append(snapshot)
    if snapshot.sequence >= headSequence { firstUncovered = nil }
    headRevision = max(headRevision, snapshot.revision)
    headSequence = max(headSequence, snapshot.sequence)
  }
}
