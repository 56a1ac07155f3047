import Foundation
import NavigationCore
import NavigationHub
import Testing

@testable import Journal

/// What a replay leaves out, and what a reader finds.
@Suite struct ReaderRangeTests {
  /// Makes records of rows, with bodies of some 300 bytes that name the row.
  private func alike(_ rows: [JournalRow]) -> [JournalRecord] {
    rows.map { row in
      var row = row
      row.body = Array(String(repeating: "row \(row.sequence) of \(row.nav); ", count: 20).utf8)
      return .row(row)
    }
  }

  @Test func `a replay leaves out navs that are being deleted`() throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: 4)
    let journal = try Journal.open(directory.path)
    _ = try journal.contents()
    try journal.commit(alike((0..<60).map { _ in writer.row(nav: 2) }))
    try journal.commit(alike((0..<20).flatMap { _ in [1, 2, 3].map { writer.row(nav: $0) } }))
    try journal.commit([.snapshot(writer.snapshot(nav: 2))])
    try journal.commit([.row(writer.row(nav: 2, kind: .closed, time: 1_000))])
    journal.countTime(until: 1_000)
    var rows: [Int] = []
    for _ in 0..<24 {
      _ = try journal.maintain(now: 601_000, budget: 10)
      let copy = try directory.copy()
      let replayed = try Journal.open(copy.path).contents()
      #expect(replayed.snapshots.isEmpty)
      #expect(!replayed.rows.contains { $0.nav == 2 })
      #expect(replayed.rows.count == 40)
      rows.append(Int(journal.statistics.rows))
    }
    // Some of them were found half deleted.
    #expect(rows.contains { $0 > 40 && $0 < 120 })
    #expect(rows.last == 40)
  }

  @Test(arguments: UInt64(1)...3)
  func `a reader's chain is the newest snapshot and what is behind it, the oldest first`(
    seed: UInt64
  ) throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: seed)
    let journal = try Journal.open(directory.path)
    _ = try journal.contents()
    let reader = try JournalReader.open(directory: directory.path)
    var snapshots: [UInt64: SnapshotRow] = [:]
    for step in 0..<12 {
      try journal.commit(writer.batch(9, navs: 3))
      if step % 4 == 3 {
        for nav in UInt64(1)...2 {
          let snapshot = writer.snapshot(nav: nav)
          snapshots[nav] = snapshot
          try journal.commit([.snapshot(snapshot)])
        }
      }
      for (nav, head) in writer.heads {
        let chain = try reader.chain(of: ReloadRequest(nav: nav, newestRow: head.sequence))
        #expect(chain.snapshot == snapshots[nav])
        let covered = snapshots[nav]?.revision ?? 0
        #expect(chain.rows == writer.rows.filter { $0.nav == nav && $0.revision >= covered })
      }
    }
    #expect(throws: JournalError.self) {
      _ = try reader.chain(of: ReloadRequest(nav: 9, newestRow: writer.sequence))
    }
  }

  @Test func `a reader gives the rows that are wanted and still there`() throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: 2)
    let journal = try Journal.open(directory.path, retention: Retention(revisions: 1))
    _ = try journal.contents()
    for _ in 0..<10 { try journal.commit(writer.batch(10, navs: 2)) }
    let reader = try JournalReader.open(directory: directory.path)
    func expect(_ sequences: [UInt64], _ expected: [UInt64], line: Int = #line) throws {
      let rows = try reader.rows(at: sequences)
      #expect(rows == expected.map { writer.rows[Int($0) - 1] }, "line \(line)")
    }
    try expect([], [])
    try expect(Array(1...100), Array(1...100))
    try expect([1, 3, 50, 100, 101, .max], [1, 3, 50, 100])
    try expect([0, 7], [7])
    for nav in UInt64(1)...2 { try journal.commit([.snapshot(writer.snapshot(nav: nav))]) }
    for nav in UInt64(1)...2 { try journal.commit([.row(writer.row(nav: nav))]) }
    while try journal.maintain(now: 2_000, budget: 500).hasMore {}
    let left = (1...writer.sequence).filter { (try? reader.row(at: $0)) != .some(nil) }
    #expect(left.count < 20)
    try expect(Array(1...writer.sequence), left)
  }
}
