import NavigationCore
import NavigationHub

/// The rules by which the journal keeps history.
///
/// A revision is kept while it is among its nav's newest `revisions` and younger than
/// `milliseconds` (``RowAges``). If all rows together exceed `bytes`, older history is deleted before that.
package struct Retention: Hashable, Sendable {
  /// The number of newest revisions kept for each nav.
  package var revisions: UInt64 = 10_000
  /// The age up to which revisions are kept, in milliseconds.
  package var milliseconds: UInt64 = 30 * 24 * 3_600_000
  /// The maximum bytes of all rows; above it, the oldest history is deleted first.
  package var bytes: Int = 1 << 30
  /// The number of revisions after its last snapshot at which a nav needs a new one.
  package var revisionsPerSnapshot: UInt64 = 1_000
  /// The age in milliseconds at which a closed nav and its rows may be deleted.
  package var closedMilliseconds: UInt64 = 600_000

  /// The rules with the defaults of the protocol.
  package static let standard = Retention()
}

/// The point at which a commit returns.
package enum Durability: String, CaseIterable, Sendable {
  /// After the commit is synced to the disk.
  case sync
  /// After the commit is written; a crash of the machine may lose it, a crash of the process
  /// cannot.
  case relaxed
}

/// The decisions for some navs, before anything is deleted.
struct RetentionPlan {
  /// Navs that lose the rows before one of their snapshots, which has the index `firstKeptSnapshot`.
  var shortenedHistories: [(nav: UInt64, firstKeptSnapshot: Int)] = []
  var forgotten: [UInt64] = []
  /// Navs that need a snapshot of their newest state.
  var needsSnapshot: [UInt64] = []

  /// The maximum number of navs that one plan forgets, and of those that it asks for a snapshot.
  private static let maximumNavs = 64

  /// Applies `retention` to `entries`; all rows together exceed their limit by `excess` bytes.
  init(
    _ entries: ArraySlice<LedgerEntry>, _ retention: Retention, _ ages: RowAges, excess: Int
  ) {
    var excess = excess
    let agedSequences = (
      pastMaximumAge: ages.newestSequence(ofAge: retention.milliseconds),
      pastQuarterAge: ages.newestSequence(ofAge: retention.milliseconds / 4),
      pastClosedAge: ages.newestSequence(ofAge: retention.closedMilliseconds)
    )
    // If space is short, the oldest history is deleted first.
    let order = excess > 0 ? entries.sorted { $0.oldestSequence < $1.oldestSequence } : nil
    for entry in order.map({ $0[...] }) ?? entries {
      let rules = NavRetention(entry: entry, retention: retention, agedSequences: agedSequences)
      guard !entry.isClosed else {
        if rules.mayForget, forgotten.count < Self.maximumNavs { forgotten.append(entry.nav) }
        continue
      }
      var keeping = rules.newFloorSnapshot
      if excess > 0 {
        keeping = keeping ?? rules.snapshotAboveFloor
        if let keeping { excess -= rules.estimatedBytes(belowSnapshot: keeping) }
      }
      if let keeping { shortenedHistories.append((entry.nav, keeping)) }
      let isPressed = excess > 0 && keeping == nil && entry.firstUncovered != nil
      if rules.needsSnapshot || isPressed, needsSnapshot.count < Self.maximumNavs {
        needsSnapshot.append(entry.nav)
      }
    }
    needsSnapshot.sort()
  }
}

private struct NavRetention {
  let entry: LedgerEntry
  let retention: Retention
  /// The newest sequences that are older than the maximum age, than a quarter of it, and than the
  /// age at which closed navs are deleted.
  let agedSequences: (pastMaximumAge: UInt64, pastQuarterAge: UInt64, pastClosedAge: UInt64)

  var mayForget: Bool { entry.headSequence <= agedSequences.pastClosedAge }

  /// The index of the newest snapshot below which retention keeps nothing; nil if the floor stays.
  var newFloorSnapshot: Int? {
    let found = entry.snapshots.lastIndex { snapshot in
      entry.headRevision - min(snapshot.revision, entry.headRevision) >= retention.revisions
        || snapshot.sequence <= agedSequences.pastMaximumAge
    }
    return found.flatMap { entry.snapshots[$0].revision > entry.floorRevision ? $0 : nil }
  }

  var snapshotAboveFloor: Int? { entry.snapshots.firstIndex { $0.revision > entry.floorRevision } }

  var needsSnapshot: Bool {
    guard let first = entry.firstUncovered else { return false }
    let covered = entry.snapshots.last?.revision ?? 0
    // Before the maximum age, so that rows do not outlive it by much for want of a snapshot.
    return entry.headRevision - covered >= retention.revisionsPerSnapshot
      || first <= agedSequences.pastQuarterAge
  }

  /// Estimates the bytes that are freed if history begins at this snapshot.
  func estimatedBytes(belowSnapshot index: Int) -> Int {
    let last = entry.snapshots[index].revision
    guard last > entry.floorRevision else { return 0 }
    let all = max(1, entry.headRevision - min(entry.floorRevision, entry.headRevision))
    return Int(Double(entry.bytes) * Double(last - entry.floorRevision) / Double(all))
  }
}

/// The results of one call of `Journal.maintain`.
package struct MaintenanceReport: Hashable, Sendable {
  /// The lowest revision of a nav that can still be rebuilt.
  package struct Floor: Hashable, Sendable {
    package var nav: UInt64
    /// The revision of the nav's oldest snapshot.
    package var revision: UInt64
  }

  /// Navs that need a snapshot of their newest state, so that older rows can be deleted.
  package var needsSnapshot: [UInt64] = []
  /// Navs whose floor this call has raised.
  package var floors: [Floor] = []
  /// Closed navs that are now forgotten: `replay` no longer passes them on.
  package var forgotten: [UInt64] = []
  package var deletedRows = 0
  /// The number of rows that later calls have to examine for deletion.
  package var rowsLeft: UInt64 = 0
  /// Whether another call at the same time would do more.
  package var hasMore = false

  package init() {}
}

/// The position of the search for rows to delete; it is not stored.
struct Pruning {
  /// The next sequence to examine, and the last one.
  var nextSequence: UInt64 = .max
  var lastSequence: UInt64 = 0
  var nextEntryIndex = 0

  var isActive: Bool { nextSequence <= lastSequence }

  /// The number of sequences that are still to be examined.
  var sequencesLeft: UInt64 { isActive ? lastSequence - nextSequence + 1 : 0 }

  /// Extends the search to the sequences from `first` to `last`.
  mutating func include(_ first: UInt64, _ last: UInt64) {
    guard first <= last else { return }
    if !isActive { self.lastSequence = 0 }
    nextSequence = min(isActive ? nextSequence : .max, first)
    self.lastSequence = max(self.lastSequence, last)
  }
}

/// The part of the search that one call of `maintain` makes, and its results.
struct PruningSlice {
  /// The next sequence to examine, and the last one.
  var nextSequence: UInt64
  let lastSequence: UInt64
  var rowBudget: Int
  var deleted: [RowSummary] = []

  var isDone: Bool { rowBudget == 0 || nextSequence > lastSequence }

  /// Whether a row belongs to this slice; if so, it uses up one row of the budget.
  mutating func spendBudget(on row: RowHeader) -> Bool {
    guard rowBudget > 0, row.sequence >= nextSequence, row.sequence <= lastSequence
    else { return false }
    rowBudget -= 1
    nextSequence = row.sequence + 1
    return true
  }
}
