import NavigationProtocol
import NavigationHub

/// What the journal remembers about one nav, some hundred bytes.
struct NavEntry {
  /// A snapshot in the file.
  struct Snapshot {
    var revision: UInt64
    var sequence: UInt64
    var checksum: UInt64
    /// The time of the newest row it stands for.
    var time: UInt64
  }

  let nav: UInt64
  /// The newest row.
  var headRevision: UInt64 = 0
  var headSequence: UInt64 = 0
  var headTime: UInt64 = 0
  /// Where a search for its rows has to begin.
  var oldestSequence: UInt64 = .max
  /// Whether its history still begins with its creation, and may do so.
  var isWhole = false
  /// How many rows it has.
  var rows = 0
  /// Bytes of its rows' bodies, and the overhead of each.
  var bytes = 0
  /// Rising by revision; the oldest is the floor once history is no longer whole.
  var snapshots: [Snapshot] = []
  /// When the oldest row was written that no snapshot stands for.
  var uncoveredSince: UInt64?
  var isClosed = false

  init(nav: UInt64) { self.nav = nav }

  /// The revision below which nothing can be rebuilt; 0 when history is complete.
  var floor: UInt64 { isWhole ? 0 : snapshots.first?.revision ?? 0 }

  /// Rows up to this sequence are to be deleted; 0 when none are.
  ///
  /// By sequence, not by revision: a new epoch comes after the snapshot of the same revision.
  var doomed: UInt64 { isWhole ? 0 : snapshots.first?.sequence ?? 0 }
}

/// The journal's view of all navs, built by replay and kept by each commit.
struct Ledger {
  /// What a row costs besides its body.
  static let rowOverhead = 16

  private(set) var entries: [NavEntry] = []
  private var places = NumberIndex()
  /// Bytes of all rows.
  private(set) var bytes = 0

  /// Reaches the entry of a nav, making it on first use.
  subscript(nav: UInt64) -> NavEntry {
    get { entry(nav) ?? NavEntry(nav: nav) }
    _modify {
      let place = places[nav] ?? append(nav)
      yield &entries[place]
    }
  }

  /// The entry of a nav, if there is one.
  func entry(_ nav: UInt64) -> NavEntry? { places[nav].map { entries[$0] } }

  private mutating func append(_ nav: UInt64) -> Int {
    entries.append(NavEntry(nav: nav))
    places[nav] = entries.count - 1
    return entries.count - 1
  }

  /// Forgets a nav; the last entry takes its place.
  mutating func remove(_ nav: UInt64) {
    guard let place = places[nav] else { return }
    places[nav] = nil
    entries.swapAt(place, entries.count - 1)
    entries.removeLast()
    if place < entries.count { places[entries[place].nav] = place }
  }

  /// Takes note of a stored row.
  mutating func add(_ row: RowNote) {
    let size = row.bodyCount + Self.rowOverhead
    bytes += size
    self[row.nav].add(row, size: size)
  }

  /// Takes note of a deleted row.
  mutating func remove(_ row: RowNote) {
    let size = row.bodyCount + Self.rowOverhead
    bytes -= size
    guard places[row.nav] != nil else { return }
    self[row.nav].remove(size: size)
  }

  /// Takes note of a stored snapshot, which replaces one of the same revision.
  mutating func add(_ snapshot: SnapshotHeader) {
    self[snapshot.nav].add(snapshot)
  }

  /// Takes note of a stored record.
  mutating func add(_ record: StagedRecord) {
    switch record {
    case .row(let row): add(row)
    case .snapshot(let snapshot): add(snapshot)
    }
  }
}

extension NavEntry {
  fileprivate mutating func remove(size: Int) {
    bytes -= size
    rows -= 1
    isWhole = false
    if rows == 0 { oldestSequence = .max }
  }

  fileprivate mutating func add(_ row: RowNote, size: Int) {
    if oldestSequence == .max {
      oldestSequence = row.sequence
      isWhole = row.previous == 0
    }
    bytes += size
    rows += 1
    headRevision = max(headRevision, row.revision)
    headSequence = max(headSequence, row.sequence)
    headTime = row.time
    if row.kind == .closed { isClosed = true }
    if let index = snapshots.lastIndex(where: { $0.revision == row.revision }) {
      snapshots[index].time = row.time
    }
    if row.sequence > snapshots.last?.sequence ?? 0, uncoveredSince == nil {
      uncoveredSince = row.time
    }
  }

  fileprivate mutating func add(_ snapshot: SnapshotHeader) {
    precondition(snapshot.revision >= snapshots.last?.revision ?? 0, "snapshots must not go back")
    if snapshots.last?.revision == snapshot.revision { snapshots.removeLast() }
    let isHead = snapshot.sequence == headSequence
    snapshots.append(
      Snapshot(
        revision: snapshot.revision, sequence: snapshot.sequence, checksum: snapshot.checksum,
        time: isHead ? headTime : snapshot.time))
    if snapshot.sequence >= headSequence { uncoveredSince = nil }
    headRevision = max(headRevision, snapshot.revision)
    headSequence = max(headSequence, snapshot.sequence)
  }
}
