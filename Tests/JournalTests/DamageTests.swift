import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

@testable import Journal

/// What is done to a file may be refused, but never believed.
@Suite struct DamageTests {
  /// A cleanly closed journal with navs, snapshots, pruned rows, and free pages.
  private static func original() throws -> (bytes: Data, contents: Contents) {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: 7)
    var journal = try Journal.open(directory.path, retention: Retention(revisions: 20))
    _ = try journal.contents()
    for _ in 0..<20 { try journal.commit(writer.batch(10)) }
    try journal.commit((1...5).map { .snapshot(writer.snapshot(nav: $0)) })
    try journal.commit(writer.batch(120))
    _ = try journal.maintain(now: 2_000, budget: 50)
    try journal.commit(writer.batch(30))
    try journal.close()
    journal = try Journal.open(directory.path)
    let contents = try journal.contents()
    #expect(contents.rows.count < 350)
    try journal.close()
    return (try Data(contentsOf: URL(fileURLWithPath: directory.file)), contents)
  }

  /// Opens a journal with these bytes; `nil` when it was refused as it should be.
  private static func read(_ bytes: Data, _ note: String = "") throws -> Contents? {
    let directory = try TemporaryDirectory()
    try bytes.write(to: URL(fileURLWithPath: directory.file))
    do throws(JournalError) {
      return try Journal.open(directory.path).contents()
    } catch {
      switch error {
      case .damaged, .newer, .older, .unreadable, .unwritable: return nil
      default:
        Issue.record("refused with \(error) \(note)")
        return nil
      }
    }
  }

  @Test(arguments: 0..<4)
  func `a flipped byte is refused or changes nothing`(part: Int) throws {
    let (bytes, contents) = try Self.original()
    var random = SeededGenerator(seed: UInt64(part) + 100)
    var refused = 0
    for round in 0..<150 {
      var damaged = bytes
      // Half of the flips go where the structure of the file is.
      let place =
        round.isMultiple(of: 2)
        ? Int.random(in: 0..<bytes.count, using: &random)
        : Int.random(in: 0..<bytes.count / 4096, using: &random) * 4096
          + Int.random(in: 0..<128, using: &random)
      damaged[place] ^= UInt8.random(in: 1...255, using: &random)
      guard let read = try Self.read(damaged, "byte \(place) \(damaged[place])") else {
        refused += 1
        continue
      }
      #expect(read == contents, "part \(part) round \(round): byte \(place)")
    }
    #expect(refused > 30)
  }

  @Test func `a flipped bit in a body is refused`() throws {
    let (bytes, contents) = try Self.original()
    var flipped = 0
    for row in contents.rows where row.body.count > 100 {
      // The few that a page ends in are left out.
      guard let place = bytes.firstRange(of: Data(row.body.prefix(60)))?.lowerBound else {
        continue
      }
      flipped += 1
      var damaged = bytes
      damaged[place + 7] ^= 1 << (row.sequence % 8)
      #expect(try Self.read(damaged) == nil, "row \(row.sequence)")
    }
    #expect(flipped > contents.rows.count / 2)
  }

  @Test(arguments: 0..<8)
  func `every bit of a stored group and of what SQLite says of it counts`(bit: Int) throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: 7)
    var journal = try Journal.open(directory.path)
    _ = try journal.contents()
    try journal.commit([.row(writer.row(nav: 1, bytes: 12))])
    try journal.commit([.row(writer.row(nav: 1, bytes: 12)), .row(writer.row(nav: 2, bytes: 12))])
    try journal.close()
    journal = try Journal.open(directory.path)
    let contents = try journal.contents()
    try journal.close()
    let bytes = try Data(contentsOf: URL(fileURLWithPath: directory.file))
    // The group of two: 17 bytes of SQLite's, with its size, key and other columns; then the heads
    // of both records with a byte before them, and the bodies.
    let first = try #require(bytes.firstRange(of: Data(writer.rows[1].body))).lowerBound - 35
    let last = try #require(bytes.firstRange(of: Data(writer.rows[2].body))).upperBound
    var refused = 0
    for place in first..<last {
      var damaged = bytes
      damaged[place] ^= 1 << bit
      let read = try Self.read(damaged, "byte \(place)")
      #expect(read == nil || read == contents, "byte \(place) bit \(bit)")
      if read == nil { refused += 1 }
    }
    // All, but for one bit of a column's type that changes nothing.
    #expect(refused >= last - first - 1)
  }

  @Test func `a file cut short is refused`() throws {
    let (bytes, _) = try Self.original()
    for length in [0, 1, 15, 16, 99, 100, 4095, 4096, 4097, 8192, bytes.count / 2]
      + [bytes.count - 4096, bytes.count - 1]
    {
      #expect(try Self.read(bytes.prefix(length)) == nil, "\(length) bytes")
    }
  }

  @Test func `a block of zeros is refused or changes nothing`() throws {
    let (bytes, contents) = try Self.original()
    for page in 0..<bytes.count / 4096 {
      var damaged = bytes
      damaged.replaceSubrange(page * 4096..<page * 4096 + 4096, with: Data(count: 4096))
      let read = try Self.read(damaged)
      #expect(read == nil || read == contents, "page \(page)")
    }
  }

  @Test func `something else than a journal is refused`() throws {
    #expect(try Self.read(Data("this is not a journal".utf8)) == nil)
    #expect(try Self.read(Data(count: 8192)) == nil)
  }

  @Test(arguments: [
    "DELETE FROM log WHERE seq = 5", "DELETE FROM snapshot WHERE nav = 2",
    "DELETE FROM log WHERE seq = 13", "UPDATE log SET last = 14 WHERE seq = 13",
    "UPDATE log SET last = 8 WHERE seq = 9", "UPDATE log SET bodies = NULL WHERE seq = 9",
    "UPDATE log SET heads = NULL WHERE seq = 9", "UPDATE log SET heads = x'00' WHERE seq = 9",
    "UPDATE log SET last = x'09' WHERE seq = 9", "UPDATE log SET sum = 0 WHERE seq = 9",
    "UPDATE log SET seq = 21 WHERE seq = 9", "DELETE FROM log WHERE seq = 12",
    "UPDATE log SET sum = (SELECT sum FROM log WHERE seq = 8) WHERE seq = 9",
    "INSERT INTO log SELECT 99, last, sum, heads, bodies FROM log WHERE seq = 9",
    "UPDATE meta SET value = x'00' WHERE key = 'state'", "DELETE FROM meta WHERE key = 'census'",
    "CREATE INDEX i ON log(last)", "DROP TABLE snapshot", "PRAGMA application_id = 1",
    "PRAGMA user_version = 0", "UPDATE log SET seq = 99 WHERE seq = 12",
    "CREATE TABLE more(x)",
  ])
  func `a change behind its back is refused`(sql: String) throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: 3)
    let journal = try Journal.open(directory.path)
    _ = try journal.contents()
    for _ in 0..<12 { try journal.commit(writer.batch(1)) }
    try journal.commit(writer.batch(7))
    try journal.commit([.snapshot(writer.snapshot(nav: 2))])
    try journal.close()
    let database = try Database(path: directory.file)
    try database.execute(sql, .writing)
    database.close()
    let error = #expect(throws: JournalError.self) {
      try Journal.open(directory.path).contents()
    }
    guard case .damaged = error else {
      Issue.record("refused with \(String(describing: error))")
      return
    }
  }

  @Test func `a newer format is refused by number`() throws {
    let directory = try TemporaryDirectory()
    try Journal.open(directory.path).close()
    let database = try Database(path: directory.file)
    try database.execute("PRAGMA user_version = 8", .writing)
    database.close()
    #expect(throws: JournalError.newer(path: directory.file, found: 8, supported: 7)) {
      try Journal.open(directory.path)
    }
  }

  @Test func `an older format is refused by number`() throws {
    let directory = try TemporaryDirectory()
    try Journal.open(directory.path).close()
    let database = try Database(path: directory.file)
    try database.execute("PRAGMA user_version = 1", .writing)
    database.close()
    #expect(throws: JournalError.older(path: directory.file, found: 1, supported: 7)) {
      try Journal.open(directory.path)
    }
  }

  @Test(arguments: 0..<4)
  func `a flipped byte in the log never loses more than the last batch`(part: Int) throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: 3)
    let journal = try Journal.open(directory.path)
    _ = try journal.contents()
    for _ in 0..<20 { try journal.commit(writer.batch(5)) }
    let log = try Data(contentsOf: URL(fileURLWithPath: directory.file + "-wal"))
    // The rest is reserved: zeros.
    let used = LogScan.headerBytes + journal.walPages * LogScan.frameBytes
    #expect(log.dropFirst(used).allSatisfy { $0 == 0 })
    var random = SeededGenerator(seed: UInt64(part))
    var refused = 0
    for round in 0..<100 {
      let copy = try directory.copy()
      var damaged = log
      // One in four where the headers are.
      let place =
        round.isMultiple(of: 4)
        ? Int.random(in: 0..<used / 4120, using: &random) * 4120
          + Int.random(in: 0..<56, using: &random)
        : Int.random(in: 0..<used, using: &random)
      damaged[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      try damaged.write(to: URL(fileURLWithPath: copy.file + "-wal"))
      do throws(JournalError) {
        let rows = try Journal.open(copy.path).contents().rows
        #expect(rows == writer.rows || rows == writer.rows.dropLast(5), "round \(round): \(place)")
      } catch {
        guard case .damaged = error else {
          Issue.record("refused with \(error)")
          continue
        }
        refused += 1
      }
    }
    #expect(refused > 50)
  }

  @Test func `a log without its file is refused`() throws {
    let directory = try TemporaryDirectory()
    try Data(count: 10).write(to: URL(fileURLWithPath: directory.file + "-wal"))
    let error = #expect(throws: JournalError.self) { try Journal.open(directory.path) }
    guard case .damaged = error else {
      Issue.record("refused with \(String(describing: error))")
      return
    }
  }
}
