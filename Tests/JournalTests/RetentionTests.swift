import Foundation
@testable import NavigationCore
import Testing

@testable import Journal

@Suite struct RetentionTests {
  /// Calls `maintain` until it has nothing more to do, providing the snapshots it asks for.
  private func settle(
    _ journal: Journal, _ writer: inout Writer, now: UInt64, budget: Int = 40
  ) throws {
    for _ in 0..<200 {
      let report = try journal.maintain(now: now, budget: budget)
      #expect(report.deletedRows <= budget)
      for nav in report.needsSnapshot {
        try journal.commit([.snapshot(writer.snapshot(nav: nav, time: now))])
      }
      if !report.hasMore, report.needsSnapshot.isEmpty, report.floors.isEmpty,
        report.forgotten.isEmpty
      {
        return
      }
    }
    Issue.record("does not come to rest")
  }

  @Test(arguments: [0, 1, 2, 3] as [UInt64])
  func `what retention promises stays, and every state can be rebuilt`(seed: UInt64) throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: seed)
    let retention = Retention(
      revisions: 50, milliseconds: 10_000, bytes: 1 << 30, revisionsPerSnapshot: 10)
    let journal = try Journal.open(directory.path, retention: retention)
    _ = try journal.contents()
    for step in 0..<60 {
      let now = UInt64(step) * 500
      try journal.commit(writer.batch(20, navs: 4, time: now))
      try settle(journal, &writer, now: now)
    }
    let now: UInt64 = 59 * 500
    let reader = try JournalReader.open(directory: directory.path)
    #expect(journal.statistics.rows < 400)
    for nav in 1...4 as ClosedRange<UInt64> {
      let head = try #require(writer.heads[nav])
      let written = writer.rows.filter { $0.nav == nav }
      let floor = journal.floor(of: nav)
      // Nothing that is promised is gone.
      #expect(
        written.filter { $0.revision <= floor }.allSatisfy {
          head.revision - $0.revision >= 50 || now - $0.time >= 10_000
        })
      #expect(floor > 0 && floor < head.revision)
      #expect(try reader.snapshot(nav: nav, notAfter: floor)?.revision == floor)
      let history = try reader.history(
        of: nav, from: head.sequence, downTo: floor + 1, limit: .max)
      #expect(history == written.reversed().filter { $0.revision > floor })
      #expect(try reader.row(at: written[0].sequence) == nil)
    }
    let floors = (1...4).map { journal.floor(of: $0) }
    try journal.close()
    let again = try Journal.open(directory.path, retention: retention)
    _ = try again.contents()
    #expect((1...4).map { again.floor(of: $0) } == floors)
  }

  @Test func `too many bytes cost the oldest history`() throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: 9)
    let journal = try Journal.open(directory.path, retention: Retention(bytes: 100_000))
    _ = try journal.contents()
    for _ in 0..<50 {
      try journal.commit(writer.batch(20))
      try settle(journal, &writer, now: 2_000)
    }
    let statistics = journal.statistics
    #expect(statistics.rowBytes <= 100_000 && statistics.rowBytes > 30_000)
    try journal.close()
    #expect(try Journal.open(directory.path).contents().snapshots.count == 5)
  }

  @Test func `a closed nav is forgotten at once and its rows follow`() throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: 4)
    var journal = try Journal.open(directory.path)
    _ = try journal.contents()
    try journal.commit(writer.batch(100, navs: 3))
    try journal.commit([.snapshot(writer.snapshot(nav: 2))])
    try journal.commit([.row(writer.row(nav: 2, kind: .closed, time: 1_000))])
    try journal.commit(writer.batch(5, navs: 1))
    #expect(try journal.maintain(now: 600_000, budget: 10).forgotten.isEmpty)
    let report = try journal.maintain(now: 601_000, budget: 10)
    #expect(report.forgotten == [2] && report.hasMore && report.deletedRows < 10)

    // Killed while the rows go: the next run neither hands them out nor leaves them there.
    let copy = try directory.copy()
    let expected = writer.rows.filter { $0.nav != 2 }
    for path in [directory.path, copy.path] {
      if path == copy.path {
        journal = try Journal.open(path)
        let contents = try journal.contents()
        #expect(contents.rows == expected && contents.snapshots.isEmpty)
      }
      try settle(journal, &writer, now: 601_000, budget: 10)
      let statistics = journal.statistics
      #expect(statistics.rows == UInt64(expected.count) && statistics.navs == 2)
      try journal.close()
      #expect(try Journal.open(path).contents().rows == expected)
    }
  }

  @Test func `a new epoch after the snapshot outlives the floor`() throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: 4)
    let journal = try Journal.open(directory.path, retention: Retention(revisions: 1))
    _ = try journal.contents()
    try journal.commit(writer.batch(10, navs: 1))
    try journal.commit([.snapshot(writer.snapshot(nav: 1))])
    let head = try #require(writer.heads[1])
    var epoch = writer.row(nav: 1, kind: .epoch)
    epoch.revision = head.revision
    writer.heads[1]?.revision = head.revision
    try journal.commit([.row(epoch)])
    try journal.commit([.row(writer.row(nav: 1))])
    try settle(journal, &writer, now: 2_000)
    #expect(journal.floor(of: 1) == head.revision)
    try journal.close()
    #expect(try Journal.open(directory.path).contents().rows.first == epoch)
  }

  @Test func `an idle nav shrinks to its snapshot`() throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: 4)
    let journal = try Journal.open(directory.path)
    _ = try journal.contents()
    try journal.commit(writer.batch(10, navs: 1))
    let day: UInt64 = 24 * 3_600_000
    #expect(try journal.maintain(now: 7 * day, budget: 10).needsSnapshot.isEmpty)
    #expect(try journal.maintain(now: 8 * day, budget: 10).needsSnapshot == [1])
    try settle(journal, &writer, now: 8 * day)
    #expect(journal.statistics.rows == 10)
    try settle(journal, &writer, now: 31 * day)
    #expect(journal.statistics.rows == 0)
    #expect(journal.floor(of: 1) == 10)
    try journal.commit(writer.batch(1, navs: 1))
    try journal.close()
    #expect(try Journal.open(directory.path).contents().rows == Array(writer.rows.suffix(1)))
  }

  @Test func `free pages go back to the file system`() throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: 4)
    let journal = try Journal.open(directory.path, retention: Retention(revisions: 1))
    _ = try journal.contents()
    try journal.commit((0..<2_000).map { _ in .row(writer.row(nav: 1, bytes: 2_000)) })
    try journal.checkpoint()
    let before = journal.statistics.fileBytes
    try settle(journal, &writer, now: 2_000, budget: 500)
    try journal.commit([.row(writer.row(nav: 1))])
    try settle(journal, &writer, now: 2_000, budget: 500)
    try journal.checkpoint()
    #expect(journal.statistics.fileBytes < before / 2)
    try journal.close()
    #expect(try Journal.open(directory.path).contents().rows.count == 1)
  }
}
