import Foundation
@testable import NavigationCore
@testable import NavigationHub
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
      // What the daemon goes by.
      if !report.hasMore, report.needsSnapshot.isEmpty { return }
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
      let floor = journal.floorRevision(of: nav)
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
    let floors = (1...4).map { journal.floorRevision(of: $0) }
    try journal.close()
    let again = try Journal.open(directory.path, retention: retention)
    _ = try again.contents()
    #expect((1...4).map { again.floorRevision(of: $0) } == floors)
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

  @Test func `a round of maintenance examines all navs, however many`() throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: 9)
    let journal = try Journal.open(directory.path, retention: Retention(bytes: 100_000))
    _ = try journal.contents()
    try journal.commit((1...300).map { .row(writer.row(nav: $0, bytes: 1000)) })
    try journal.commit((1...300).map { .row(writer.row(nav: $0, bytes: 1000)) })
    try settle(journal, &writer, now: 2_000)
    // One row of each nav, behind its snapshot, would be kept without a limit.
    #expect(journal.statistics.rowBytes <= 100_000)
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
    #expect(try journal.maintain(now: 1_000, budget: 10).forgotten.isEmpty)
    #expect(try journal.maintain(now: 600_999, budget: 10).forgotten.isEmpty)
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
    #expect(journal.floorRevision(of: 1) == head.revision)
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
    journal.countTime(until: 0)
    #expect(try journal.maintain(now: 7 * day, budget: 10).needsSnapshot.isEmpty)
    #expect(try journal.maintain(now: 8 * day, budget: 10).needsSnapshot == [1])
    try settle(journal, &writer, now: 8 * day)
    #expect(journal.statistics.rows == 10)
    try settle(journal, &writer, now: 31 * day)
    #expect(journal.statistics.rows == 0)
    #expect(journal.floorRevision(of: 1) == 10)
    try journal.commit(writer.batch(1, navs: 1))
    try journal.close()
    #expect(try Journal.open(directory.path).contents().rows == Array(writer.rows.suffix(1)))
  }

  /// One hour of boot time, and a day of them.
  private static let (hour, day) = (3_600_000 as UInt64, 24 * 3_600_000 as UInt64)

  /// A wall clock that is right, or jumps by days and decades in both directions.
  private static func clocks(_ seed: UInt64) -> (UInt64) -> UInt64 {
    var random = SeededGenerator(seed: seed)
    let jumps = [0, day, 40 * day, 36_500 * day]
    return { truth in
      guard seed > 0 else { return truth }
      let jump = jumps.randomElement(using: &random) ?? 0
      return Bool.random(using: &random) ? truth + jump : truth - min(jump, truth)
    }
  }

  /// Runs 60 days of a device that is switched off, without an orderly stop, every few hours.
  ///
  /// Returns the floor after each run, and whether one was above a revision younger than 30 days.
  private func course(
    _ clock: (UInt64) -> UInt64, seed: UInt64
  ) throws -> (floors: [UInt64], isWrong: Bool) {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: seed)
    var random = SeededGenerator(seed: seed)
    var truth = 20_000 * Self.day
    var births: [UInt64: UInt64] = [:]
    var (floors, isWrong): ([UInt64], Bool) = ([], false)
    for _ in 0..<60 {
      let journal = try Journal.open(directory.path, retention: Retention(revisionsPerSnapshot: 4))
      _ = try journal.contents()
      var boot = UInt64.random(in: 1...Self.hour, using: &random)
      journal.countTime(until: boot)
      for _ in 0..<24 {
        let passed = UInt64.random(in: 1...Self.hour, using: &random)
        (truth, boot) = (truth + passed, boot + passed)
        let row = writer.row(nav: 1, time: clock(truth), bytes: 10)
        try journal.commit([.row(row)])
        births[row.revision] = truth
        try settle(journal, &writer, now: boot)
      }
      let floor = journal.floorRevision(of: 1)
      isWrong = isWrong || births.contains { $0 <= floor && truth - $1 < 30 * Self.day }
      floors.append(floor)
      truth += UInt64.random(in: 0...Self.day, using: &random)
      if Bool.random(using: &random) { try journal.close() }
    }
    return (floors, isWrong)
  }

  @Test(arguments: 1..<4 as Range<UInt64>)
  func `a clock that jumps by days and decades, at run and at boot, deletes nothing`(
    seed: UInt64
  ) throws {
    let right = try course(Self.clocks(0), seed: seed)
    let wrong = try course(Self.clocks(seed), seed: seed)
    #expect(!right.isWrong && !wrong.isWrong)
    #expect(right.floors == wrong.floors)
  }

  @Test func `rows die by age once navd has run for so long, over many starts`() throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: 4)
    for start in 0..<50 as Range<UInt64> {
      let journal = try Journal.open(directory.path)
      _ = try journal.contents()
      // Each boot begins with the same clocks.
      journal.countTime(until: 1_000)
      if start == 0 {
        try journal.commit(writer.batch(10, navs: 1, time: 0))
        try settle(journal, &writer, now: 2_000)
      }
      journal.countTime(until: 1_000 + Self.day)
      try settle(journal, &writer, now: 1_000 + Self.day)
      let floor = journal.floorRevision(of: 1)
      #expect(start < 29 ? floor == 0 : start < 35 || floor == 10, "start \(start)")
      try journal.close()
    }
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
