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
