import NavigationCore
import NavigationHub
import Testing

@testable import Journal

/// The journal's bookkeeping, against plain lists of what is stored.
@Suite struct LedgerTests {
  /// One nav as lists.
  private struct Twin {
    var rows: [RowSummary] = []
    var snapshots: [LedgerEntry.Snapshot] = []
    var head: (sequence: UInt64, revision: UInt64) = (0, 0)
    /// Whether a row or a snapshot was ever deleted.
    var isCut = false
    var isClosed = false

    var bytes: Int { rows.reduce(0) { $0 + $1.bodyBytes + Ledger.rowOverheadBytes } }
    /// The oldest row that the newest snapshot does not cover.
    var uncovered: RowSummary? { rows.first { $0.sequence > snapshots.last?.sequence ?? 0 } }
    var oldestSnapshot: LedgerEntry.Snapshot? { isCut ? snapshots.first : nil }
  }

  private struct Twins {
    var navs: [UInt64: Twin] = [:]
    var ledger = Ledger()
    var sequence: UInt64 = 0
    var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func step() {
      let nav = UInt64.random(in: 1...6, using: &random)
      switch Int.random(in: 0..<10, using: &random) {
      case 0...5: append(nav)
      case 6: store(nav)
      case 7: delete(nav)
      case 8: raise(nav)
      default: forget(nav)
      }
    }

    private mutating func append(_ nav: UInt64) {
      var twin = navs[nav, default: Twin()]
      guard !twin.isClosed else { return }
      sequence += 1
      let sort = Int.random(in: 0..<12, using: &random)
      let kind: JournalRow.Kind =
        twin.head.revision == 0 ? .created : sort == 0 ? .closed : sort == 1 ? .epoch : .changed
      let revision = kind == .epoch ? twin.head.revision : twin.head.revision + 1
      let header = RowHeader(
        sequence: sequence, nav: nav, revision: revision, previous: twin.head.sequence,
        time: 1_000 + sequence, kind: kind, depth: 0, top: nil)
      let note = RowSummary(header, bodyBytes: Int.random(in: 0..<300, using: &random))
      ledger.add(note)
      twin.rows.append(note)
      twin.head = (sequence, revision)
      twin.isClosed = kind == .closed
      navs[nav] = twin
    }

    private mutating func store(_ nav: UInt64) {
      guard var twin = navs[nav], twin.head.revision > 0 else { return }
      let row = SnapshotRow(
        nav: nav, revision: twin.head.revision, sequence: twin.head.sequence, time: 9, body: [1])
      let snapshot = LedgerEntry.Snapshot(row, checksum: row.checksum)
      ledger.add(snapshot, of: nav)
      if twin.snapshots.last?.revision == snapshot.revision { twin.snapshots.removeLast() }
      twin.snapshots.append(snapshot)
      navs[nav] = twin
    }

    /// Deletes the oldest row of a nav that the oldest snapshot covers, as pruning does.
    private mutating func delete(_ nav: UInt64) {
      guard var twin = navs[nav], let first = twin.rows.first,
        first.sequence <= twin.snapshots.first?.sequence ?? 0
      else { return }
      ledger.remove(first)
      twin.rows.removeFirst()
      twin.isCut = true
      navs[nav] = twin
    }

    private mutating func raise(_ nav: UInt64) {
      guard var twin = navs[nav], twin.snapshots.count > 1 else { return }
      ledger[nav].snapshots.removeFirst()
      ledger[nav].hasWholeHistory = false
      twin.snapshots.removeFirst()
      twin.isCut = true
      navs[nav] = twin
    }

    /// Removes a nav, its rows first.
    private mutating func forget(_ nav: UInt64) {
      guard let twin = navs[nav], Int.random(in: 0..<4, using: &random) == 0 else { return }
      for row in twin.rows { ledger.remove(row) }
      ledger.remove(nav)
      navs[nav] = nil
    }
  }

  @Test(arguments: 0..<8 as Range<UInt64>)
  func `each figure is what the lists add up to`(seed: UInt64) {
    var twins = Twins(seed: seed)
    for step in 0..<150 {
      twins.step()
      let note: Comment = "seed \(seed) step \(step)"
      #expect(Set(twins.ledger.entries.map(\.nav)) == Set(twins.navs.keys), note)
      #expect(twins.ledger.bytes == twins.navs.values.reduce(0) { $0 + $1.bytes }, note)
      for (nav, twin) in twins.navs {
        guard let entry = twins.ledger.entry(nav) else { continue }
        #expect(entry.nav == nav, note)
        #expect(entry.rows == twin.rows.count && entry.bytes == twin.bytes, note)
        #expect(entry.headSequence == twin.head.sequence, note)
        #expect(entry.headRevision == twin.head.revision, note)
        #expect(entry.floorRevision == twin.oldestSnapshot?.revision ?? 0, note)
        #expect(entry.deletionEnd == twin.oldestSnapshot?.sequence ?? 0, note)
        #expect(entry.snapshots.map(\.revision) == twin.snapshots.map(\.revision), note)
        #expect(entry.firstUncovered == twin.uncovered?.sequence, note)
        #expect(entry.isClosed == twin.isClosed, note)
        // The search for rows to delete begins here, so none may lie before it.
        #expect(entry.oldestSequence <= twin.rows.first?.sequence ?? .max, note)
      }
    }
  }

  @Test func `reading an entry that is not there makes none`() {
    var ledger = Ledger()
    #expect(ledger[7].floorRevision == 0 && ledger.entry(7) == nil && ledger.entries.isEmpty)
    ledger.remove(7)
    ledger[7].isClosed = true
    #expect(ledger.entry(7)?.isClosed == true && ledger.entries.count == 1)
  }

  /// What a start must know as well as the run before it did.
  private struct Known: Equatable {
    var head: [UInt64]
    var floor: [UInt64]
    var counts: [Int]
    var snapshots: [UInt64]
    var firstUncovered: UInt64?
    var isClosed: Bool

    init(_ entry: LedgerEntry) {
      head = [entry.headRevision, entry.headSequence]
      floor = [entry.floorRevision, entry.deletionEnd]
      counts = [entry.rows, entry.bytes]
      snapshots = entry.snapshots.flatMap { [$0.revision, $0.sequence, $0.checksum] }
      firstUncovered = entry.firstUncovered
      isClosed = entry.isClosed
    }
  }

  private func known(_ journal: Journal) -> [UInt64: Known] {
    Dictionary(uniqueKeysWithValues: journal.ledger.entries.map { ($0.nav, Known($0)) })
  }

  @Test(arguments: 0..<2 as Range<UInt64>)
  func `a start learns from the file what the run before knew`(seed: UInt64) throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: seed)
    var random = SeededGenerator(seed: seed + 100)
    let retention = Retention(revisions: 15, revisionsPerSnapshot: 10, closedMilliseconds: 1_000)
    var journal = try Journal.open(directory.path, retention: retention)
    _ = try journal.contents()
    for step in 0..<24 as Range<UInt64> {
      let now = step * 500
      try journal.commit(writer.batch(Int.random(in: 1..<70, using: &random), navs: 4, time: now))
      if step == 9 {
        try journal.commit([.row(writer.row(nav: 9, time: now))])
        try journal.commit([.row(writer.row(nav: 9, kind: .closed, time: now))])
      }
      let budget = Int.random(in: 1..<60, using: &random)
      let report = try journal.maintain(now: now, budget: budget)
      for nav in report.needsSnapshot {
        try journal.commit([.snapshot(writer.snapshot(nav: nav, time: now))])
      }
      guard step % 4 == 3 else { continue }
      // A floor counts after a start only once a row below it is deleted.
      while try journal.maintain(now: now, budget: 100).hasMore {}
      let before = known(journal)
      let bytes = journal.ledger.bytes
      try journal.close()
      journal = try Journal.open(directory.path, retention: retention)
      _ = try journal.contents()
      #expect(known(journal) == before, "seed \(seed) step \(step)")
      #expect(journal.ledger.bytes == bytes)
    }
    #expect((1...4).allSatisfy { journal.floorRevision(of: $0) > 0 }, "nothing was pruned")
    try journal.close()
  }
}
