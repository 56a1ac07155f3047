import NavigationCore
package import NavigationHub

/// The reason why a replay ended early.
package enum ReplayError<Refusal: Error>: Error {
  /// The journal could not be read.
  case journal(JournalError)
  /// A closure refused a snapshot or row.
  case refused(Refusal)

  /// Runs a part of a replay that only the journal can fail.
  package static func journal<Result>(
    _ body: () throws(JournalError) -> Result
  ) throws(Self) -> Result {
    do throws(JournalError) { return try body() } catch { throw .journal(error) }
  }
}

/// Selects the rows whose bodies a replay reads.
///
/// All other rows get empty bodies.
package enum ReplayedBodies: Sendable {
  case all
  /// The rows of groups in which a row creates a nav or gives it a new epoch.
  ///
  /// The bodies of other groups are not unpacked.
  case beginnings
}

extension Journal {
  /// The sequence of the newest stored row, known before `replay` too; 0 if there is none.
  package func newestSequence() throws(JournalError) -> UInt64 {
    try engine.newestSequence()
  }

  /// Passes on the stored records: the latest snapshot of each nav, then every row.
  ///
  /// Snapshots are in the order of the nav numbers, rows in the order of their sequences. The
  /// checksum of each group and snapshot is verified.
  ///
  /// The caller calls it once, before all other methods. It omits rows of navs that are being
  /// deleted. A body is valid within the closure only; `JournalRow(_:body:)` copies it. The caller
  /// may rely on the records only after this returns, because a missing row is found at the end.
  /// A full disk or a read-only one fails no replay: see `shortage`.
  package func replay<Refusal: Error>(
    bodies: ReplayedBodies = .all,
    snapshots: (SnapshotRow) throws(Refusal) -> Void,
    rows: (RowHeader, Span<UInt8>) throws(Refusal) -> Void
  ) throws(ReplayError<Refusal>) {
    precondition(!isReplayed, "replayed twice")
    let expected = try ReplayError<Refusal>.journal { () throws(JournalError) in
      try metadata.census()
    }
    let newest = try ReplayError<Refusal>.journal { () throws(JournalError) in
      try engine.newestSequence()
    }
    try replaySnapshots(snapshots)
    try replayRows(bodies, rows, expected)
    census.stored.through = max(census.stored.through, expected.through)
    guard census.stored.through >= newest else {
      throw damage(
        Refusal.self, "the rows \(census.stored.through + 1) to \(newest) are missing")
    }
    ages.cut(through: census.stored.through)
    resumePruning()
    try ReplayError<Refusal>.journal { () throws(JournalError) in
      isReplayed = true
      // Writes of a killed process may be in the kernel's memory only, and be read from there. They
      // must be on the disk before navd serves them.
      do throws(JournalError) {
        if let problem = engine.problem, problem.isShortage { throw problem }
        try checkpoint(emptying: true, leaving: 0)
        try syncNow()
      } catch {
        // The journal can be read: its log stays as it is, and was synced before it was opened.
        guard error.isShortage, engine.lease == nil else { throw error }
        shortage = error
      }
    }
  }

  private func replaySnapshots<Refusal: Error>(
    _ consume: (SnapshotRow) throws(Refusal) -> Void
  ) throws(ReplayError<Refusal>) {
    let closing = Set(closing)
    var latest: SnapshotRow?
    try engine.readSnapshots { (next) throws(ReplayError<Refusal>) in
      if let latest {
        guard (latest.nav, latest.revision) < (next.nav, next.revision) else {
          throw damage(Refusal.self, "its snapshots are out of order")
        }
        if latest.nav != next.nav, !closing.contains(latest.nav) { try hand(latest, to: consume) }
      }
      let checksum = next.checksum
      census.stored.count(snapshotChecksum: checksum)
      ledger.add(SnapshotHeader(next, checksum: checksum))
      latest = next
    }
    if let latest, !closing.contains(latest.nav) { try hand(latest, to: consume) }
  }

  private func replayRows<Refusal: Error>(
    _ wanted: ReplayedBodies, _ consume: (RowHeader, Span<UInt8>) throws(Refusal) -> Void,
    _ expected: Census
  ) throws(ReplayError<Refusal>) {
    let closing = Set(closing)
    var last: UInt64 = 0
    var isCounted = false
    try engine.readGroups { (group, heads, bodies) throws(ReplayError<Refusal>) in
      guard group.first > last else {
        throw damage(Refusal.self, "\(group.name) are out of order")
      }
      if group.first > expected.through {
        guard isCounted || agrees(expected) else { throw damage(Refusal.self, Self.missing) }
        isCounted = true
        guard group.first == max(last, expected.through) + 1 else {
          throw damage(Refusal.self, "row \(max(last, expected.through) + 1) is missing")
        }
      }
      // A group is committed as a whole, so the census counts all of its rows or none.
      guard isCounted || group.last <= expected.through else {
        throw damage(Refusal.self, "\(group.name) are counted in part")
      }
      last = group.last
      let count = try replay(group, heads, bodies, wanted, closing, consume)
      census.stored.through = last
      census.stored.count(rows: count, checksum: group.checksum)
    }
    guard isCounted || agrees(expected) else { throw damage(Refusal.self, Self.missing) }
  }

  /// Passes on the rows of a group; returns their number.
  private func replay<Refusal: Error>(
    _ group: StoredGroup, _ heads: Span<UInt8>, _ bodies: Span<UInt8>, _ wanted: ReplayedBodies,
    _ closing: Set<UInt64>, _ consume: (RowHeader, Span<UInt8>) throws(Refusal) -> Void
  ) throws(ReplayError<Refusal>) -> Int {
    guard wanted == .all || RecordCursor.hasBeginnings(heads) else {
      return try hand(group, heads, Span(), group.bodyCount(bodies), closing, consume)
    }
    var count = 0
    try group.unpacking(bodies, damage: { damage(Refusal.self, $0) }) {
      (bodies) throws(ReplayError<Refusal>) in
      count = try hand(group, heads, bodies, bodies.count, closing, consume)
    }
    return count
  }

  /// Passes on rows, with their bodies if `bodies` has them; returns their number.
  private func hand<Refusal: Error>(
    _ group: StoredGroup, _ heads: Span<UInt8>, _ bodies: Span<UInt8>, _ bodyCount: Int,
    _ closing: Set<UInt64>, _ consume: (RowHeader, Span<UInt8>) throws(Refusal) -> Void
  ) throws(ReplayError<Refusal>) -> Int {
    var count = 0
    var cursor = RecordCursor(first: group.first)
    while cursor.next(in: heads) {
      count += 1
      ledger.add(RowNote(cursor.header, bodyCount: cursor.body.count))
      guard closing.isEmpty || !closing.contains(cursor.header.nav) else { continue }
      let isThere = cursor.body.upperBound <= bodies.count
      do throws(Refusal) {
        try consume(cursor.header, isThere ? bodies.extracting(cursor.body) : Span())
      } catch {
        throw ReplayError.refused(error)
      }
    }
    guard cursor.hasEnded(heads, at: group.last, bodyCount: bodyCount) else {
      throw damage(Refusal.self, "\(group.name) cannot be separated")
    }
    return count
  }

  /// Whether the records read so far add up to the stored census.
  private func agrees(_ expected: Census) -> Bool {
    var found = census.stored
    found.through = expected.through
    return found == expected
  }

  private static var missing: String { "rows or snapshots it once held are missing" }

  private func damage<Refusal: Error>(
    _ refusal: Refusal.Type, _ what: String
  ) -> ReplayError<Refusal> {
    .journal(.damaged(path: name, what: what))
  }

  private func hand<Refusal: Error>(
    _ snapshot: SnapshotRow, to consume: (SnapshotRow) throws(Refusal) -> Void
  ) throws(ReplayError<Refusal>) {
    do throws(Refusal) { try consume(snapshot) } catch { throw .refused(error) }
  }
}
