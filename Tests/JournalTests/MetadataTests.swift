import Foundation
import NavigationCore
import NavigationHub
import Testing

@testable import Journal

/// The facts about a journal, each under a checksum with its name.
@Suite struct MetadataTests {
  private static func little(_ number: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }

  /// Stores bytes as a fact, and returns how the journal is opened and read.
  private func opening(_ key: String, _ value: [UInt8]?) throws -> JournalError? {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: 2)
    let journal = try Journal.open(directory.path)
    _ = try journal.contents()
    try journal.commit(writer.batch(20))
    try journal.close()
    let database = try Database(path: directory.file)
    if let value {
      let hex = value.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
      try database.execute(
        "INSERT OR REPLACE INTO meta(key, value) VALUES('\(key)', x'\(hex)')", .writing)
    } else {
      try database.execute("DELETE FROM meta WHERE key = '\(key)'", .writing)
    }
    database.close()
    do throws(JournalError) {
      #expect(try Journal.open(directory.path).contents().rows == writer.rows)
      return nil
    } catch {
      return error
    }
  }

  private func sealed(_ key: UInt64, _ value: [UInt8]) -> [UInt8] {
    Self.little(Metadata.checksum(key, value)) + value
  }

  private func what(_ error: JournalError?) -> String? {
    if case .damaged(_, let what) = error { what } else { error.map { "\($0)" } }
  }

  @Test func `a fact that is cut short, odd, unsealed or missing is named`() throws {
    #expect(
      what(try opening("census", [1, 2, 3])) == "the fact census is cut short")
    #expect(
      what(try opening("state", Array(repeating: 0, count: 7))) == "the fact state is cut short")
    #expect(
      what(try opening("closing", Array(repeating: 9, count: 16)))
        == "the checksum of the fact closing is wrong")
    #expect(
      what(try opening("closing", sealed(3, [1, 2, 3]))) == "the fact closing has an odd length")
    #expect(
      what(try opening("census", sealed(1, Self.little(20))))
        == "the census of its rows is missing")
    #expect(what(try opening("census", nil)) == "the census of its rows is missing")
    #expect(what(try opening("state", nil)) == "the note on its last sync is missing")
    #expect(what(try opening("state", sealed(2, []))) == "the note on its last sync is missing")
    #expect(what(try opening("state", sealed(2, [2]))) == "the note on its last sync is missing")
  }

  @Test func `a fact under the name of another is no fact`() throws {
    #expect(
      what(try opening("state", sealed(3, [0]))) == "the checksum of the fact state is wrong")
    #expect(
      what(try opening("closing", sealed(1, Self.little(1))))
        == "the checksum of the fact closing is wrong")
    #expect(try opening("state", sealed(2, [0])) == nil)
    #expect(try opening("closing", sealed(3, [])) == nil)
  }

  @Test func `a census of other rows is noticed, whichever of its numbers differs`() throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: 3)
    let journal = try Journal.open(directory.path)
    _ = try journal.contents()
    try journal.commit(writer.batch(20))
    try journal.commit([.snapshot(writer.snapshot(nav: 1))])
    try journal.close()
    let census: Census
    do {
      let database = try Database(path: directory.file)
      census = try Metadata(database).census()
      database.close()
    }
    let numbers: [WritableKeyPath<Census, UInt64>] = [
      \.lastSequence, \.rows, \.rowSum, \.snapshots, \.snapshotSum,
    ]
    for number in numbers {
      // A census may count rows that are deleted now, but none is behind it.
      for difference in number == \.lastSequence ? [.max] : [1, .max] as [UInt64] {
        let copy = try directory.copy()
        let database = try Database(path: copy.file)
        var wrong = census
        wrong[keyPath: number] &+= difference
        try Metadata(database).write(wrong)
        database.close()
        #expect(throws: JournalError.self) { try Journal.open(copy.path).contents() }
      }
    }
    #expect(try Journal.open(directory.path).contents().rows == writer.rows)
  }

  @Test(arguments: ["", "a", "4f2c-boot", String(repeating: "é", count: 40)])
  func `the id of a boot is kept as it was given`(boot: String) throws {
    let directory = try TemporaryDirectory()
    try Journal.open(directory.path).close()
    let database = try Database(path: directory.file)
    let metadata = try Metadata(database)
    try metadata.write(.dirty(bootID: boot))
    #expect(try metadata.state() == .dirty(bootID: boot))
    try metadata.write(deletedNavs: [1, .max, 7])
    #expect(try metadata.deletedNavs() == [1, .max, 7])
    try metadata.write(.clean)
    #expect(try metadata.state() == .clean)
    database.close()
  }
}
