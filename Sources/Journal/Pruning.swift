import NavigationHub

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
