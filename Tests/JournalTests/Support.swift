import Foundation
import NavigationCore
import NavigationHub

@testable import Journal

/// A directory of a test's own, removed when the test lets go of it.
final class TemporaryDirectory {
  let path: String

  init() throws {
    let base = FileManager.default.temporaryDirectory
    path = base.appendingPathComponent("journal-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The files as a kill would leave them.
  func copy() throws -> TemporaryDirectory {
    let copy = try TemporaryDirectory()
    for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: file + suffix) {
      try FileManager.default.copyItem(atPath: file + suffix, toPath: copy.file + suffix)
    }
    return copy
  }

  var file: String { path + "/" + Journal.fileName }
}

/// Everything a replay hands out.
struct Contents: Equatable {
  var snapshots: [SnapshotRow] = []
  var rows: [JournalRow] = []
}

extension Journal {
  static func open(
    _ directory: String, durability: Durability = .sync, bootID: String = "boot-1",
    retention: Retention = Retention()
  ) throws(JournalError) -> Journal {
    try open(
      directory: directory, durability: durability, bootID: bootID, retention: retention,
      holder: "test")
  }

  /// The database of the SQLite engine.
  var sqlite: Database {
    guard let engine = engine as? SQLiteEngine else { fatalError("not in SQLite") }
    return engine.database
  }

  func commit(_ records: [JournalRecord]) throws(JournalError) {
    try commit(JournalRecords(records))
  }

  func stage(_ records: [JournalRecord]) throws(JournalError) {
    try stage(JournalRecords(records))
  }

  struct Statistics: Hashable {
    var fileBytes: Int
    var walBytes: Int
    var rows: UInt64
    var snapshots: UInt64
    /// The number of navs with rows or snapshots.
    var navs: Int
    var rowBytes: Int
  }

  var statistics: Statistics {
    Statistics(
      fileBytes: fileSizes.journal, walBytes: fileSizes.log, rows: census.stored.rows,
      snapshots: census.stored.snapshots, navs: ledger.entries.count, rowBytes: rowBytes)
  }

  /// Replays into memory.
  func contents() throws(JournalError) -> Contents {
    var contents = Contents()
    try replay(
      snapshots: { contents.snapshots.append($0) },
      rows: { contents.rows.append(JournalRow($0, body: [UInt8](copying: $1))) })
    return contents
  }
}

extension JournalReader {
  func row(at sequence: UInt64, of shard: Shard = .first) throws(JournalError) -> JournalRow? {
    try rows(at: [sequence], in: shard).first
  }
}

extension Journal {
  var isRestored: Bool { engine.rowLoss == .backup }
}

extension JournalReader {
  /// Opens the journal of a directory, after a `Journal` has opened it.
  static func open(directory: String) throws(JournalError) -> JournalReader {
    JournalReader(try SQLiteReader(directory: directory))
  }
}

extension RowGroup {
  mutating func append(_ row: JournalRow) { append(row.header, row.body.span) }
}

/// Writes the rows that a daemon with some navs would write.
struct Writer {
  var sequence: UInt64 = 0
  var heads: [UInt64: (sequence: UInt64, revision: UInt64)] = [:]
  var random: SeededGenerator
  var rows: [JournalRow] = []

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  mutating func row(
    nav: UInt64, kind: JournalRow.Kind? = nil, time: UInt64 = 1_000, bytes: Int? = nil
  ) -> JournalRow {
    sequence += 1
    let head = heads[nav] ?? (0, 0)
    let kind = kind ?? (head.revision == 0 ? .created : .changed)
    let count = bytes ?? Int.random(in: 0...600, using: &random)
    var body: [UInt8] = []
    // Eight octets at a time: one by one they took a quarter of the time of all tests of this module.
    while body.count < count {
      unsafe withUnsafeBytes(of: random.next()) { octets in unsafe body.append(contentsOf: octets) }
    }
    body.removeLast(body.count - count)
    let row = JournalRow(
      RowHeader(
        sequence: sequence, nav: nav, revision: head.revision + 1, previous: head.sequence,
        time: time, kind: kind, depth: 0, top: nil), body: body)
    heads[nav] = (sequence, row.revision)
    rows.append(row)
    return row
  }

  mutating func batch(_ count: Int, navs: UInt64 = 5, time: UInt64 = 1_000) -> [JournalRecord] {
    (0..<count).map { _ in
      .row(row(nav: UInt64.random(in: 1...navs, using: &random), time: time))
    }
  }

  /// A batch like the next, without going on.
  func peek(_ count: Int) -> [JournalRecord] {
    var copy = self
    return copy.batch(count)
  }

  func snapshot(nav: UInt64, time: UInt64 = 1_000) -> SnapshotRow {
    let head = heads[nav] ?? (0, 0)
    let body = (0..<200).map { UInt8(truncatingIfNeeded: head.revision &* 31 &+ UInt64($0)) }
    return SnapshotRow(
      nav: nav, revision: head.revision, sequence: head.sequence, time: time, body: body)
  }
}

extension Metadata {
  init(_ database: Database) throws(JournalError) { self.init(try FactTable(database)) }
}
