import Foundation
import NavigationSync
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
    try reader.checkStructure()
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
