import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

@testable import Journal

@Suite struct JournalTests {
  @Test func `what was committed is replayed in order`() throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: 1)
    var journal = try Journal.open(directory.path)
    #expect(try journal.contents() == Contents())
    for size in [1, 7, 100, 3] { try journal.commit(writer.batch(size)) }
    let first = writer.snapshot(nav: 2)
    let other = writer.snapshot(nav: 1)
    try journal.commit([.snapshot(first), .snapshot(other)] + writer.batch(5))
    #expect(journal.walPages > 0)
    try journal.close()

    journal = try Journal.open(directory.path)
    let contents = try journal.contents()
    #expect(contents.rows == writer.rows)
    #expect(contents.snapshots == [other, first])
    #expect(journal.lastSequence == 116)
    try journal.commit(writer.batch(2))
    try journal.close()
  }

  @Test func `only the latest snapshot of a nav is replayed`() throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: 2)
    let journal = try Journal.open(directory.path)
    _ = try journal.contents()
    try journal.commit(writer.batch(20, navs: 1))
    try journal.commit([.snapshot(writer.snapshot(nav: 1))])
    try journal.commit(writer.batch(20, navs: 1))
    let replaced = writer.snapshot(nav: 1)
    let latest = writer.snapshot(nav: 1)
    try journal.commit([.snapshot(replaced)])
    try journal.commit([.snapshot(latest)])
    try journal.close()
    #expect(try Journal.open(directory.path).contents().snapshots == [latest])
  }

  @Test func `an empty body stays an empty body`() throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: 1)
    let journal = try Journal.open(directory.path)
    _ = try journal.contents()
    try journal.commit([.row(writer.row(nav: 1, bytes: 0))])
    try journal.close()
    #expect(try Journal.open(directory.path).contents().rows == writer.rows)
  }

  @Test func `a refusal of the consumer comes back as it is`() throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: 1)
    let journal = try Journal.open(directory.path)
    _ = try journal.contents()
    try journal.commit(writer.batch(9))
    try journal.close()
    let again = try Journal.open(directory.path)
    #expect(throws: JournalError.notReplayed(path: directory.file, row: 4, what: "w")) {
      try again.replay(
        snapshots: { _ in },
        rows: { (row, _) throws(HubReplayError) in
          if row.sequence == 4 { throw HubReplayError(sequence: 4, what: "w") }
        })
    }
  }

  @Test func `a batch that finds no space leaves nothing and succeeds later`() throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: 5)
    let journal = try Journal.open(directory.path)
    _ = try journal.contents()
    try journal.commit(writer.batch(10))
    let batch = writer.batch(400) + [.snapshot(writer.snapshot(nav: 1))]
    try journal.sqlite.execute("PRAGMA max_page_count = 30", .reading)
    for _ in 0..<3 {
      #expect(throws: JournalError.full(path: directory.file)) { try journal.commit(batch) }
      #expect(journal.lastSequence == 10)
    }
    try journal.sqlite.execute("PRAGMA max_page_count = 1000000", .reading)
    try journal.commit(batch)
    try journal.close()
    #expect(try Journal.open(directory.path).contents().rows == writer.rows)
  }

  @Test func `sequences must continue without a gap`() async throws {
    let directory = try TemporaryDirectory()
    await #expect(processExitsWith: .failure) { [path = directory.path as String] in
      var writer = Writer(seed: 5)
      let journal = try Journal.open(path)
      _ = try journal.contents()
      _ = writer.row(nav: 1)
      try journal.commit(writer.batch(1))
    }
  }

  @Test(arguments: 0..<8)
  func `a killed process leaves whole batches`(round: Int) throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: UInt64(round))
    let journal = try Journal.open(directory.path)
    _ = try journal.contents()
    var ends: Set<Int> = []
    var checkpointed = 0
    for batch in 0...(round * 3) {
      try journal.commit(writer.batch(1 + batch % 7))
      ends.insert(writer.rows.count)
      if batch == 5 {
        checkpointed = journal.walPages * 4120
        try journal.checkpoint()
      }
    }
    let copy = try TemporaryDirectory()
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: directory.file + suffix, toPath: copy.file + suffix)
    }
    #expect(try Journal.open(copy.path).contents().rows == writer.rows)

    // A log cut anywhere gives some whole batches, or is refused because the file knows of more.
    let log = try Data(contentsOf: URL(fileURLWithPath: directory.file + "-wal"))
    var random = SeededGenerator(seed: UInt64(round))
    for _ in 0..<10 {
      let cut = try TemporaryDirectory()
      try FileManager.default.copyItem(atPath: directory.file, toPath: cut.file)
      let length = Int.random(in: 0...log.count, using: &random)
      try log.prefix(length).write(to: URL(fileURLWithPath: cut.file + "-wal"))
      guard length >= checkpointed else {
        #expect(throws: JournalError.self) { try Journal.open(cut.path).contents() }
        continue
      }
      let rows = try Journal.open(cut.path).contents().rows
      #expect(rows == Array(writer.rows.prefix(rows.count)))
      #expect(rows.isEmpty || ends.contains(rows.count))
    }
  }

  @Test func `closing leaves one file and no log`() throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: 5)
    let journal = try Journal.open(directory.path)
    _ = try journal.contents()
    try journal.commit(writer.batch(100))
    let statistics = journal.statistics
    #expect(statistics.rows == 100 && statistics.walBytes > 0)
    try journal.close()
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
    #expect(names.sorted() == ["journal.sqlite", "lock"])
    let mode = try FileManager.default.attributesOfItem(atPath: directory.file)[.posixPermissions]
    #expect(mode as? Int == 0o600)
  }
}
