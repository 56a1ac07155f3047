import NavigationHub

/// How much history the journal keeps.
///
/// A revision is kept while it is among its nav's newest `revisions` and younger than
/// `milliseconds`, unless all rows together are larger than `bytes`.
package struct Retention: Hashable, Sendable {
  /// Revisions kept for each nav.
  package var revisions: UInt64
  /// Age up to which rows are kept.
  package var milliseconds: UInt64
  /// Bytes of all rows together, from which on the oldest go first.
  package var bytes: Int
  /// A nav needs a new snapshot this many revisions after the last.
  package var revisionsPerSnapshot: UInt64
  /// Age from which on the rows of a closed nav may go.
  package var closedMilliseconds: UInt64

  /// Makes a retention; the defaults are the protocol's.
  package init(
    revisions: UInt64 = 10_000, milliseconds: UInt64 = 30 * 24 * 3_600_000, bytes: Int = 1 << 30,
    revisionsPerSnapshot: UInt64 = 1_000, closedMilliseconds: UInt64 = 600_000
  ) {
    self.revisions = revisions
    self.milliseconds = milliseconds
    self.bytes = bytes
    self.revisionsPerSnapshot = revisionsPerSnapshot
    self.closedMilliseconds = closedMilliseconds
  }
}

/// When a commit counts as done.
package enum Durability: Hashable, Sendable {
  /// When it is synced to the disk.
  case sync
  /// When it is written; a crash of the machine may lose it, a crash of the process does not.
  case relaxed
}

/// What one look at a part of the ledger decides, before anything is deleted.
struct RetentionPlan {
  /// Navs to keep from their snapshot number `keeping` on.
  var raised: [(nav: UInt64, keeping: Int)] = []
  /// Closed navs that may go.
  var closed: [UInt64] = []
  /// Navs whose owner should provide a snapshot.
  var needsSnapshot: [UInt64] = []

  /// How many navs one plan may ask a snapshot of, or let go.
  private static let most = 64

  /// Looks at `entries` in the light of `retention`; there are `excess` bytes too many in all.
  init(_ entries: ArraySlice<NavEntry>, _ retention: Retention, now: UInt64, excess: Int) {
    var excess = excess
    // The oldest history goes first when space is short.
    let order = excess > 0 ? entries.sorted { $0.oldestSequence < $1.oldestSequence } : nil
    for entry in order.map({ $0[...] }) ?? entries {
      let rules = Rules(entry: entry, retention: retention, now: now)
      guard !entry.isClosed else {
        if rules.mayForget, closed.count < Self.most { closed.append(entry.nav) }
        continue
      }
      var keeping = rules.oldestToKeep
      if excess > 0 {
        keeping = keeping ?? rules.nextToKeep
        if let keeping { excess -= rules.bytes(below: keeping) }
      }
      if let keeping { raised.append((entry.nav, keeping)) }
      let isPressed = excess > 0 && keeping == nil && entry.uncoveredSince != nil
      if rules.needsSnapshot || isPressed, needsSnapshot.count < Self.most {
        needsSnapshot.append(entry.nav)
      }
    }
    needsSnapshot.sort()
  }
}

/// The rules of retention, applied to one nav.
private struct Rules {
  let entry: NavEntry
  let retention: Retention
  let now: UInt64

  private func age(_ time: UInt64) -> UInt64 { now > time ? now - time : 0 }

  var mayForget: Bool { age(entry.headTime) >= retention.closedMilliseconds }

  /// The newest snapshot below which nothing is promised any more, if that raises the floor.
  var oldestToKeep: Int? {
    let found = entry.snapshots.lastIndex { snapshot in
      entry.headRevision - min(snapshot.revision, entry.headRevision) >= retention.revisions
        || age(snapshot.time) >= retention.milliseconds
    }
    return found.flatMap { entry.snapshots[$0].revision > entry.floor ? $0 : nil }
  }

  /// The next snapshot above the floor.
  var nextToKeep: Int? { entry.snapshots.firstIndex { $0.revision > entry.floor } }

  var needsSnapshot: Bool {
    guard let since = entry.uncoveredSince else { return false }
    let covered = entry.snapshots.last?.revision ?? 0
    // A quarter of the age, so that no row lives much longer than the age for want of a snapshot.
    return entry.headRevision - covered >= retention.revisionsPerSnapshot
      || age(since) >= retention.milliseconds / 4
  }

  /// An estimate of what goes when history begins at that snapshot.
  func bytes(below keeping: Int) -> Int {
    let all = max(1, entry.headRevision - entry.floor)
    let gone = entry.snapshots[keeping].revision - entry.floor
    return Int(Double(entry.bytes) * Double(gone) / Double(all))
  }
}

/// What one call of `Journal.maintain` did and found.
package struct MaintenanceReport: Hashable, Sendable {
  /// The revision below which a nav's history cannot be rebuilt.
  package struct Floor: Hashable, Sendable {
    /// The nav.
    package var nav: UInt64
    /// The revision of its oldest snapshot.
    package var revision: UInt64
  }

  /// Navs whose owner should commit a snapshot at their head, so that older rows may go.
  package var needsSnapshot: [UInt64] = []
  /// Navs whose history now begins above a later revision than before.
  package var floors: [Floor] = []
  /// Closed navs of which nothing is handed out any more.
  package var forgotten: [UInt64] = []
  /// Rows deleted.
  package var deletedRows = 0
  /// Pages given back to the file system.
  package var freedPages = 0
  /// Whether another call at the same time would find more to do.
  package var hasMore = false
}

/// Where the search for rows to delete stands; nothing of it is stored.
struct Pruning {
  /// The next sequence to look at, and the last one that may have to go.
  var next: UInt64 = .max
  var last: UInt64 = 0
  /// The next entry of the ledger to look at.
  var entry = 0

  var isActive: Bool { next <= last }

  /// Widens the search to these sequences.
  mutating func include(_ first: UInt64, _ last: UInt64) {
    guard first <= last else { return }
    if !isActive { self.last = 0 }
    next = min(isActive ? next : .max, first)
    self.last = max(self.last, last)
  }
}

/// What one call looks at, and what it finds.
struct PruningSlice {
  /// The next sequence to look at, and the last one.
  var next: UInt64
  let last: UInt64
  /// How many more rows may be looked at.
  var budget: Int
  /// The rows that go.
  var deleted: [RowNote] = []

  init(next: UInt64, last: UInt64, budget: Int) {
    self.next = next
    self.last = last
    self.budget = budget
  }

  var isDone: Bool { budget == 0 || next > last }

  /// Whether a row is to be looked at, which counts.
  mutating func takes(_ row: RowHeader) -> Bool {
    guard budget > 0, row.sequence >= next, row.sequence <= last else { return false }
    budget -= 1
    next = row.sequence + 1
    return true
  }
}
