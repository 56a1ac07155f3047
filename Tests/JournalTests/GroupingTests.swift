import Foundation
import NavigationCore
import NavigationHub
import Testing

@testable import Journal

/// Rows lie in groups, and nobody who reads them can tell.
@Suite struct GroupingTests {
  /// The keys of the groups and their last rows.
  private static func groups(_ directory: TemporaryDirectory) throws -> [ClosedRange<UInt64>] {
    let database = try Database(path: directory.file, readOnly: true)
    let select = try database.prepare("SELECT seq, last FROM log ORDER BY seq")
    var groups: [ClosedRange<UInt64>] = []
    while try select.step(.reading) {
      groups.append(try #require(select.unsigned(0))...(try #require(select.unsigned(1))))
    }
    return groups
  }

  @Test func `the rows of a commit share groups, those of two commits do not`() throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: 1)
    let journal = try Journal.open(directory.path)
    _ = try journal.contents()
    func commit(_ count: Int, _ bytes: Int) throws {
      try journal.commit((0..<count).map { _ in .row(writer.row(nav: 1, bytes: bytes)) })
    }
    try commit(1, 100)
    try commit(64, 100)
    try commit(65, 100)
    try commit(3, 30_000)
    var expected: [ClosedRange<UInt64>] = [1...1, 2...65, 66...129, 130...130]
    expected += [131...131, 132...132, 133...133]
    #expect(try Self.groups(directory) == expected)

    // Parts of a batch are one batch; a snapshot does not end a group.
    try journal.stage(writer.batch(3))
    try journal.stage([.snapshot(writer.snapshot(nav: 1))])
    try journal.stage(writer.batch(4))
    try journal.commitStaged()
    #expect(try Self.groups(directory).last == 134...140)
    try journal.close()
    #expect(try Journal.open(directory.path).contents().rows == writer.rows)
  }

  /// What a journal must hold, from what was written to it and what it says it keeps.
  private struct Twin {
    var writer: Writer
    var forgotten: Set<UInt64> = []
    var closed: Set<UInt64> = []
    var nextNav: UInt64 = 6

    init(seed: UInt64) { writer = Writer(seed: seed) }

    mutating func batch(_ count: Int, now: UInt64, _ random: inout SeededGenerator)
      -> [JournalRecord]
    {
      var records: [JournalRecord] = []
      for _ in 0..<count {
        let open = (1..<nextNav).filter { !closed.contains($0) }
        guard let nav = open.randomElement(using: &random) else { continue }
        switch Int.random(in: 0..<60, using: &random) {
        case 0 where open.count > 2:
          closed.insert(nav)
          records.append(.row(writer.row(nav: nav, kind: .closed, time: now)))
        case 1:
          records.append(.row(writer.row(nav: nextNav, time: now)))
          nextNav += 1
        case 2:
          records.append(.row(writer.row(nav: nav, time: now, bytes: 20_000)))
        case 3 where writer.heads[nav] != nil:
          records.append(.snapshot(writer.snapshot(nav: nav, time: now)))
        default: records.append(.row(writer.row(nav: nav, time: now)))
        }
      }
      return records
    }

    /// Compares what is stored with what was written.
    func check(_ journal: Journal, _ rows: [JournalRow], _ note: String) {
      let stored = Set(rows.map(\.sequence))
      #expect(rows == writer.rows.filter { stored.contains($0.sequence) }, "\(note)")
      for nav in 1..<nextNav where !forgotten.contains(nav) {
        let written = writer.rows.filter { $0.nav == nav }
        let kept = written.drop { !stored.contains($0.sequence) }
        // Only a beginning may be gone, and only what the floor lets go.
        #expect(kept.allSatisfy { stored.contains($0.sequence) }, "\(note): nav \(nav)")
        let deletionEnd = journal.ledger.entry(nav)?.deletionEnd ?? 0
        if let first = kept.first, first != written.first {
          #expect(first.previous <= deletionEnd, "\(note): nav \(nav)")
        }
      }
    }
  }

  private static func rows(_ reader: JournalReader, _ twin: Twin) throws -> [JournalRow] {
    guard twin.writer.sequence > 0 else { return [] }
    return try (1...twin.writer.sequence).compactMap { try reader.row(at: $0) }
  }

  /// Fewer on PostgreSQL, where reading row by row takes long.
  private static let courses: [(TestedEngine, UInt64)] =
    (0..<12).map { (.sqlite, $0) } + (12..<16).map { (.postgres, $0) }

  @Test(arguments: courses)
  func `any course of commits, crashes and pruning keeps what was promised`(
    engine: TestedEngine, seed: UInt64
  ) throws {
    let stage = try engine.stage()
    var twin = Twin(seed: seed)
    var random = SeededGenerator(seed: seed &* 31)
    let retention = Retention(
      revisions: 20, milliseconds: 50_000, bytes: 800_000, revisionsPerSnapshot: 10,
      closedMilliseconds: 1_000)
    var journal = try stage.open(retention: retention)
    _ = try journal.contents()
    for step in 0..<60 {
      let now = UInt64(step) * 500
      let note = "\(engine) seed \(seed) step \(step)"
      switch Int.random(in: 0..<10, using: &random) {
      case 0...4:
        let size = [1, 2, 63, 64, 65, 140].randomElement(using: &random) ?? 1
        try journal.commit(twin.batch(size, now: now, &random))
      case 5:
        for _ in 0..<3 { try journal.stage(twin.batch(16, now: now, &random)) }
        try journal.commitStaged()
      case 6, 7:
        let budget = Int.random(in: 1...100, using: &random)
        let report = try journal.maintain(now: now, budget: budget)
        #expect(report.deletedRows <= budget)
        twin.forgotten.formUnion(report.forgotten)
        for nav in report.needsSnapshot {
          try journal.commit([.snapshot(twin.writer.snapshot(nav: nav, time: now))])
        }
      case 8: try journal.checkpoint()
      default:
        // Killed, with a batch that is not committed, or closed.
        if Bool.random(using: &random) {
          var copy = twin
          var other = random
          try journal.stage(copy.batch(40, now: now, &other))
          try stage.crash()
        } else {
          try journal.close()
        }
        journal = try stage.open(retention: retention)
        let contents = try journal.contents()
        twin.check(journal, contents.rows, note)
        #expect(!contents.rows.contains { twin.forgotten.contains($0.nav) }, "\(note)")
      }
      // Row by row it takes a while.
      guard step % 12 == 11 else { continue }
      let reader = try stage.reader()
      let stored = try Self.rows(reader, twin)
      twin.check(journal, stored, note)
      #expect(journal.statistics.rows == UInt64(stored.count), "\(note)")
      for nav in 1..<twin.nextNav {
        guard let head = twin.writer.heads[nav] else { continue }
        let history = try reader.history(of: nav, from: head.sequence, downTo: 0, limit: .max)
        #expect(history == stored.reversed().filter { $0.nav == nav }, "\(note): nav \(nav)")
      }
    }
  }

  @Test func `pruning looks at no more rows than it may, within a group too`() throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: 2)
    let journal = try Journal.open(directory.path, retention: Retention(revisions: 1))
    _ = try journal.contents()
    // Two navs take turns in one group; the first of them is given up.
    try journal.commit((0..<20).map { .row(writer.row(nav: $0 % 2 + 1, bytes: 10)) })
    try journal.commit([.snapshot(writer.snapshot(nav: 1))])
    try journal.commit([.row(writer.row(nav: 1)), .row(writer.row(nav: 2))])
    var deleted: [Int] = []
    while true {
      let report = try journal.maintain(now: 1_000, budget: 3)
      deleted.append(report.deletedRows)
      guard report.hasMore else { break }
      let reader = try JournalReader.open(directory: directory.path)
      for row in writer.rows {
        let isGone = row.nav == 1 && row.sequence <= 3 * UInt64(deleted.count)
        #expect(try reader.row(at: row.sequence) == (isGone ? nil : row))
      }
    }
    #expect(deleted == [2, 1, 2, 1, 2, 1, 1])
    #expect(try Self.groups(directory) == [1...20, 21...22])
    try journal.close()
    let rows = try Journal.open(directory.path).contents().rows
    #expect(rows == writer.rows.filter { $0.nav == 2 || $0.sequence > 20 })
  }
}
