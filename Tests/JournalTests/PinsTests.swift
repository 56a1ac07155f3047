import Foundation
import NavigationCore
import Testing

@testable import Journal

/// History that is kept until another daemon has it, as docs/publish.md states it.
@Suite struct PinsTests {
  private static let retention = Retention(
    revisions: 50, milliseconds: 10_000, bytes: 1 << 30, revisionsPerSnapshot: 10)

  /// Lets a journal work for 30 s with four navs, and calls `maintain` after each batch.
  private func work(
    _ journal: Journal, _ writer: inout Writer, pins: (UInt64) -> [UInt64: UInt64]
  ) throws {
    for step in 0..<60 as Range<UInt64> {
      try journal.commit(writer.batch(20, navs: 4, time: step * 500))
      journal.pins = pins(step)
      for _ in 0..<50 {
        let report = try journal.maintain(now: step * 500, budget: 400)
        for nav in report.needsSnapshot {
          try journal.commit([.snapshot(writer.snapshot(nav: nav, time: step * 500))])
        }
        if !report.hasMore, report.needsSnapshot.isEmpty, report.floors.isEmpty { break }
      }
    }
  }

  @Test(arguments: [0, 1, 2, 3] as [UInt64])
  func `a pinned nav keeps every row that the other daemon lacks`(seed: UInt64) throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: seed)
    let journal = try Journal.open(directory.path, retention: Self.retention)
    _ = try journal.contents()
    try work(journal, &writer) { step in [1: 0, 2: min(step, 40)] }
    let reader = try JournalReader.open(directory: directory.path)
    #expect(journal.floor(of: 1) == 0)
    #expect(journal.floor(of: 2) <= 40)
    #expect(journal.floor(of: 3) > 40 && journal.floor(of: 4) > 40)
    for (nav, first) in [(1, 0), (2, 40)] as [(UInt64, UInt64)] {
      let head = try #require(writer.heads[nav])
      let kept = try reader.history(of: nav, from: head.sequence, downTo: first + 1, limit: .max)
      #expect(
        kept == writer.rows.filter { $0.nav == nav && $0.revision > first }.reversed())
    }
    try journal.close()
    // The next start knows what was acknowledged.
    let again = try Journal.open(directory.path, retention: Self.retention)
    #expect(again.pins[1] == 0 && again.pins[2] ?? 41 <= 40)
  }

  @Test(arguments: [4, 5, 6] as [UInt64])
  func `beyond the bytes the oldest rows go, and the rest stays whole`(seed: UInt64) throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: seed)
    var retention = Self.retention
    retention.publishBytes = 20_000
    let journal = try Journal.open(directory.path, retention: retention)
    _ = try journal.contents()
    try work(journal, &writer) { _ in [1: 0, 2: 0, 3: 0, 4: 0] }
    let pins = Pins(journal.pins, journal.ledger, bytes: 20_000)
    #expect(pins.bytes <= 20_000)
    let reader = try JournalReader.open(directory: directory.path)
    for nav in 1...4 as ClosedRange<UInt64> {
      let floor = journal.floor(of: nav)
      #expect(floor > 0)
      let head = try #require(writer.heads[nav])
      #expect(try reader.snapshot(nav: nav, notAfter: floor)?.revision == floor)
      let history = try reader.history(
        of: nav, from: head.sequence, downTo: floor + 1, limit: .max)
      #expect(history == writer.rows.filter { $0.nav == nav && $0.revision > floor }.reversed())
    }
  }

  @Test(arguments: 0..<50 as Range<UInt64>)
  func `pins rise a snapshot at a time, the oldest first, and only beyond the budget`(
    seed: UInt64
  ) {
    var random = SeededGenerator(seed: seed)
    var ledger = Ledger()
    var revisions: [UInt64: UInt64] = [:]
    for nav in 1...5 as ClosedRange<UInt64> {
      let count = UInt64.random(in: 1...60, using: &random)
      for revision in 1...count {
        let row = RowHeader(
          sequence: nav * 1000 + revision, nav: nav, revision: revision,
          previous: revision == 1 ? 0 : nav * 1000 + revision - 1, time: revision,
          kind: revision == 1 ? .created : .changed)
        ledger.add(RowNote(row, bodyCount: 84))
        guard revision.isMultiple(of: 10) else { continue }
        let snapshot = SnapshotRow(
          nav: nav, revision: revision, sequence: row.sequence, time: revision, body: [])
        ledger.add(SnapshotHeader(snapshot, checksum: 0))
      }
      if Bool.random(using: &random) {
        revisions[nav] = UInt64.random(in: 0...count, using: &random)
      }
    }
    let all = Pins(revisions, ledger, bytes: .max)
    for (nav, revision) in revisions { #expect(all[nav] == revision) }
    #expect(all[99] == .max)
    let budget = Int.random(in: 0...max(1, all.bytes), using: &random)
    let pins = Pins(revisions, ledger, bytes: budget)
    var mayRise = true
    for nav in revisions.keys.sorted() {
      guard let entry = ledger.entry(nav), let revision = revisions[nav] else { continue }
      let steps = entry.snapshots.map(\.revision)
      #expect(pins[nav] == revision || steps.contains(pins[nav]) && pins[nav] > revision)
      // A nav rises only if every older one has risen as far as it can.
      #expect(mayRise || pins[nav] == revision)
      if steps.contains(where: { $0 > pins[nav] }) { mayRise = false }
    }
    #expect(pins.bytes <= budget || mayRise)
  }

  @Test func `rows of any revisions are read whole, in any order`() throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: 8)
    let journal = try Journal.open(directory.path, retention: Retention())
    _ = try journal.contents()
    for step in 0..<300 as Range<UInt64> {
      try journal.commit(writer.batch(20, navs: 1, time: step))
      if step.isMultiple(of: 20) {
        try journal.commit([.snapshot(writer.snapshot(nav: 1, time: step))])
      }
    }
    let reader = try JournalReader.open(directory: directory.path)
    let head = try #require(writer.heads[1])
    let rows = writer.rows.filter { $0.nav == 1 }
    var random = SeededGenerator(seed: 8)
    for _ in 0..<300 {
      let first = UInt64.random(in: 1...head.revision, using: &random)
      let last = first + UInt64.random(in: 0...400, using: &random)
      let found = try reader.rows(of: 1, from: head.sequence, first...last)
      #expect(found == rows.filter { $0.revision >= first && $0.revision <= last })
    }
    for first in stride(from: 1, to: head.revision + 50, by: 97) {
      let found = try reader.rows(of: 1, from: head.sequence, first...first + 96)
      #expect(found == rows.filter { $0.revision >= first && $0.revision <= first + 96 })
    }
    // What comes later belongs to it.
    try journal.commit(writer.batch(20, navs: 1, time: 999))
    let newest = try #require(writer.heads[1])
    let end = try reader.rows(of: 1, from: newest.sequence, head.revision...newest.revision)
    #expect(end == writer.rows.filter { $0.revision >= head.revision && $0.nav == 1 })
  }
}
