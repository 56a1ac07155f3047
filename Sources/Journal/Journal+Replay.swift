import NavigationCore
package import NavigationHub

extension Journal {
  /// Passes on the stored records: the latest snapshot of each nav, then every row.
  ///
  /// Snapshots are in the order of the nav numbers, rows in the order of their sequences. The
  /// checksum of each group and snapshot is verified.
  ///
  /// The caller calls `replay` once, before all other methods. `replay` omits rows of navs that are
  /// being deleted. A body is valid within the closure only. The caller may rely on the records
  /// only after this returns, because a missing row is found at the end. `replay` succeeds on a
  /// full or read-only disk too; `shortageAtStart` then has the error. Throws `.notReplayed` if a
  /// closure refuses a record.
  package func replay(
    snapshots: (SnapshotRow) throws(HubReplayError) -> Void,
    rows: (borrowing RowHeader, Span<UInt8>) throws(HubReplayError) -> Void
  ) throws(JournalError) {
    precondition(!isReplayed, "replayed twice")
    let expected = try metadata.census()
    let newest = try engine.newestSequence()
    try replaySnapshots(snapshots)
    try replayRows(rows, expected)
    census.stored.lastSequence = max(census.stored.lastSequence, expected.lastSequence)
    guard census.stored.lastSequence >= newest else {
      throw damage("the rows \(census.stored.lastSequence + 1) to \(newest) are missing")
    }
    ages.removeSamples(above: census.stored.lastSequence)
    resumePruning()
    isReplayed = true
    // Writes of a killed process may be in the kernel's memory only, and be read from there. They
    // must be on the disk before navd serves them.
    do throws(JournalError) {
      if let problem = engine.problem, problem.isFullOrReadOnly { throw problem }
      try checkpoint(emptyingLog: true, minimumLogPages: 0)
      try syncNow()
    } catch {
      // The journal can be read: its log stays as it is, and was synced before it was opened.
      guard error.isFullOrReadOnly, engine.lease == nil else { throw error }
      shortageAtStart = error
    }
  }

  private func replaySnapshots(
    _ consume: (SnapshotRow) throws(HubReplayError) -> Void
  ) throws(JournalError) {
    let deletedNavs = Set(deletedNavs)
    var latest: SnapshotRow?
    try engine.readSnapshots { (next) throws(JournalError) in
      if let latest {
        guard (latest.nav, latest.revision) < (next.nav, next.revision) else {
          throw damage("its snapshots are out of order")
        }
        if latest.nav != next.nav, !deletedNavs.contains(latest.nav) {
          try replayStep(in: name) { () throws(HubReplayError) in try consume(latest) }
        }
      }
      let checksum = next.checksum
      census.stored.count(snapshotChecksum: checksum)
      ledger.add(LedgerEntry.Snapshot(next, checksum: checksum), of: next.nav)
      latest = next
    }
    if let latest, !deletedNavs.contains(latest.nav) {
      try replayStep(in: name) { () throws(HubReplayError) in try consume(latest) }
    }
  }

  private func replayRows(
    _ consume: (borrowing RowHeader, Span<UInt8>) throws(HubReplayError) -> Void,
    _ expected: Census
  ) throws(JournalError) {
    let deletedNavs = Set(deletedNavs)
    var last: UInt64 = 0
    var isCounted = false
    try engine.readGroups { (group, heads, bodies) throws(JournalError) in
      guard group.first > last else { throw damage("\(group.name) are out of order") }
      if group.first > expected.lastSequence {
        guard isCounted || censusMatches(expected) else { throw damage(Self.missingRecords) }
        isCounted = true
        guard group.first == max(last, expected.lastSequence) + 1 else {
          throw damage("row \(max(last, expected.lastSequence) + 1) is missing")
        }
      }
      // A group is committed as a whole, so the census counts all of its rows or none.
      guard isCounted || group.last <= expected.lastSequence else {
        throw damage("\(group.name) are counted in part")
      }
      last = group.last
      let count = try replayGroup(group, heads, bodies, deletedNavs, consume)
      census.stored.lastSequence = last
      census.stored.count(rows: count, checksum: group.checksum)
    }
    guard isCounted || censusMatches(expected) else { throw damage(Self.missingRecords) }
  }

  /// Passes on the rows of a group; returns their number.
  private func replayGroup(
    _ group: StoredGroup, _ heads: Span<UInt8>, _ bodies: Span<UInt8>,
    _ deletedNavs: Set<UInt64>,
    _ consume: (borrowing RowHeader, Span<UInt8>) throws(HubReplayError) -> Void
  ) throws(JournalError) -> Int {
    var count = 0
    var cursor = RecordCursor(first: group.first)
    while cursor.next(in: heads) {
      count += 1
      ledger.add(RowSummary(cursor.header, bodyBytes: cursor.bodyRange.count))
      guard deletedNavs.isEmpty || !deletedNavs.contains(cursor.header.nav) else { continue }
      guard cursor.bodyRange.upperBound <= bodies.count else { break }
      do throws(HubReplayError) {
        try consume(cursor.header, bodies.extracting(cursor.bodyRange))
      } catch {
        throw JournalError(error, in: name)
      }
    }
    guard cursor.hasEnded(heads, at: group.last, bodyBytes: bodies.count) else {
      throw damage("\(group.name) cannot be separated")
    }
    return count
  }

  /// Whether the records read so far add up to the stored census.
  private func censusMatches(_ expected: Census) -> Bool {
    var found = census.stored
    found.lastSequence = expected.lastSequence
    return found == expected
  }

  private static var missingRecords: String { "rows or snapshots it once held are missing" }

  func damage(_ what: String) -> JournalError { .damaged(path: name, what: what) }
}
