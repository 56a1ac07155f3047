import Foundation
import NavigationCore
import NavigationHub
import Synchronization
import Testing

@testable import Journal

@Suite struct ReaderTests {
  @Test func `a reader sees what is committed, row by row`() throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: 1)
    let journal = try Journal.open(directory.path)
    _ = try journal.contents()
    let reader = try JournalReader.open(directory: directory.path)
    #expect(try reader.row(at: 1) == nil)
    for _ in 0..<10 {
      try journal.commit(writer.batch(20, navs: 3))
      #expect(try reader.row(at: writer.sequence) == writer.rows.last)
      try journal.checkpoint()
    }
    for row in writer.rows { #expect(try reader.row(at: row.sequence) == row) }
    #expect(try reader.row(at: .max) == nil)
    let database = try Database(path: directory.file, readOnly: true)
    let check = try database.prepare("PRAGMA quick_check(1)")
    #expect(try check.step(.reading) && check.text(0) == "ok")
    database.close()
  }

  /// What a reader on another thread did.
  private final class Reading: Sendable {
    let mustEnd = Atomic<Bool>(false)
    let found = Atomic<Int>(0)
    let failure = Mutex<String?>(nil)
    let ended = DispatchSemaphore(value: 0)

    /// Reads rows and histories until told to end; `rows` has them all, in order.
    func run(_ directory: String, _ rows: [JournalRow]) {
      defer { ended.signal() }
      var random = SeededGenerator(seed: 5)
      do {
        let reader = try JournalReader.open(directory: directory)
        while !mustEnd.load(ordering: .relaxed) {
          let expected = rows[Int.random(in: 0..<rows.count, using: &random)]
          guard let row = try reader.row(at: expected.sequence) else { continue }
          let history = try reader.history(
            of: row.nav, from: row.sequence, downTo: 0, limit: 20)
          let isRight = history.allSatisfy { $0 == rows[Int($0.sequence) - 1] }
          guard row == expected, isRight else {
            return failure.withLock { $0 = "row \(expected.sequence) is not as written" }
          }
          found.add(1, ordering: .relaxed)
        }
      } catch {
        failure.withLock { $0 = "\(error)" }
      }
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `a reader on another thread sees what was written, or nothing`() throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: 4)
    let retention = Retention(revisions: 30, revisionsPerSnapshot: 20)
    let journal = try Journal.open(directory.path, retention: retention)
    _ = try journal.contents()
    var plan = writer
    let batches = (0..<150).map { plan.batch($0 % 5 == 0 ? 1 : $0 % 90 + 1, navs: 4) }
    let reading = Reading()
    Thread.detachNewThread { [path = directory.path, rows = plan.rows] in reading.run(path, rows) }
    for (index, batch) in batches.enumerated() {
      try journal.commit(batch)
      for case .row(let row) in batch { writer.heads[row.nav] = (row.sequence, row.revision) }
      if index % 7 == 0 { try journal.checkpoint() }
      let report = try journal.maintain(now: 2_000, budget: 60)
      for nav in report.needsSnapshot {
        try journal.commit([.snapshot(writer.snapshot(nav: nav))])
      }
    }
    while reading.found.load(ordering: .relaxed) < 20, reading.failure.withLock({ $0 == nil }) {
      try journal.checkpoint()
    }
    reading.mustEnd.store(true, ordering: .relaxed)
    reading.ended.wait()
    #expect(reading.failure.withLock { $0 } == nil)
    #expect(journal.statistics.rows < UInt64(plan.rows.count) / 2)
  }

  @Test func `history walks one nav from its head down`() throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: 2)
    let journal = try Journal.open(directory.path)
    _ = try journal.contents()
    try journal.commit(writer.batch(90, navs: 3))
    let reader = try JournalReader.open(directory: directory.path)
    let head = try #require(writer.heads[2])
    let written = Array(writer.rows.filter { $0.nav == 2 }.reversed())
    let all = try reader.history(of: 2, from: head.sequence, downTo: 0, limit: .max)
    #expect(all == written)
    let few = try reader.history(of: 2, from: head.sequence, downTo: 0, limit: 4)
    #expect(few == Array(written.prefix(4)))
    let low = try reader.history(of: 2, from: head.sequence, downTo: 5, limit: .max)
    #expect(low.last?.revision == 5)
    let error = #expect(throws: JournalError.self) {
      try reader.history(of: 1, from: head.sequence, downTo: 0, limit: 1)
    }
    guard case .damaged = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func `the newest snapshot not after a revision is found`() throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: 2)
    let journal = try Journal.open(directory.path)
    _ = try journal.contents()
    var snapshots: [SnapshotRow] = []
    for _ in 0..<3 {
      try journal.commit(writer.batch(10, navs: 1))
      snapshots.append(writer.snapshot(nav: 1))
      try journal.commit([.snapshot(snapshots[snapshots.count - 1])])
    }
    let reader = try JournalReader.open(directory: directory.path)
    #expect(try reader.snapshot(nav: 1, notAfter: 9) == nil)
    #expect(try reader.snapshot(nav: 1, notAfter: 10) == snapshots[0])
    #expect(try reader.snapshot(nav: 1, notAfter: 29) == snapshots[1])
    #expect(try reader.snapshot(nav: 1, notAfter: .max) == snapshots[2])
    #expect(try reader.snapshot(nav: 2, notAfter: .max) == nil)
  }

  /// Counts the groups that a reader reads.
  private final class CountingReader: JournalEngineReader {
    private let reader: SQLiteReader
    var groups = 0

    init(_ directory: String) throws { reader = try SQLiteReader(directory: directory) }

    var name: String { reader.name }

    func reading<Value>(
      _ body: () throws(JournalError) -> Value
    ) throws(JournalError) -> Value { try reader.reading(body) }

    func dataVersion() throws(JournalError) -> Int64? { try reader.dataVersion() }

    func readGroup(
      from sequence: UInt64, of shard: Shard, _ consume: GroupConsumer
    ) throws(JournalError) -> Bool {
      groups += 1
      return try reader.readGroup(from: sequence, of: shard, consume)
    }

    func readGroups(
      from first: UInt64, through last: UInt64, of shard: Shard, _ consume: GroupConsumer
    ) throws(JournalError) -> Bool {
      try reader.readGroups(from: first, through: last, of: shard, consume)
    }

    func snapshot(nav: UInt64, notAfter revision: UInt64) throws(JournalError) -> SnapshotRow? {
      try reader.snapshot(nav: nav, notAfter: revision)
    }
  }

  @Test func `a state of the past costs what lies between two snapshots, however old it is`() throws
  {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: 6)
    let journal = try Journal.open(directory.path)
    _ = try journal.contents()
    for _ in 0..<20 {
      try journal.commit(writer.batch(1000, navs: 1))
      try journal.commit([.snapshot(writer.snapshot(nav: 1))])
    }
    let engine = try CountingReader(directory.path)
    let head = try #require(writer.heads[1])
    for revision: UInt64 in [1, 999, 1000, 5500, 18_999, 19_999, 20_000] {
      let reader = JournalReader(engine)
      engine.groups = 0
      let (snapshot, rows) = try reader.chain(
        of: ReloadRequest(nav: 1, newestRow: head.sequence), through: revision)
      #expect(snapshot?.revision ?? 0 == revision / 1000 * 1000)
      let expected = writer.rows.filter {
        $0.revision <= revision && $0.revision >= snapshot?.revision ?? 0
      }
      #expect(rows == expected, "revision \(revision)")
      // At most 2,024 rows, in groups of 64.
      #expect(engine.groups <= 34, "revision \(revision): \(engine.groups) groups")
    }
  }

  @Test func `checksums may be fed in pieces`() {
    let text = Array("123456789".utf8)
    #expect(crc32(text) == 0xcbf4_3926)
    #expect(crc32([]) == 0)
    for split in 0...text.count {
      let first = crc32(Array(text[..<split]))
      #expect(crc32(Array(text[split...]), seed: first) == 0xcbf4_3926)
    }
  }
}
