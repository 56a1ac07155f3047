import Foundation
import NavigationCore
import Testing

@testable import Journal

/// The zeros behind the end of the write-ahead log.
@Suite struct LogReserveTests {
  private static func used(_ pages: Int) -> Int {
    LogScan.headerBytes + pages * LogScan.frameBytes
  }

  @Test func `the log is as long before a commit as after it, but for one commit in many`() throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: 1)
    let journal = try Journal.open(directory.path)
    _ = try journal.contents()
    try journal.commit(writer.batch(1))
    var lengthened = 0
    for _ in 0..<200 {
      let before = journal.fileSizes.log
      #expect(before >= Self.used(journal.walPages + 1))
      try journal.commit(writer.batch(1))
      if journal.fileSizes.log > before { lengthened += 1 }
    }
    // 200 commits of one or two frames each, 64 frames reserved at a time.
    #expect((1...8).contains(lengthened), "\(lengthened)")
  }

  @Test func `what SQLite has written stays, and zeros follow it`() throws {
    let directory = try TemporaryDirectory()
    var random = SeededGenerator(seed: 2)
    let path = directory.path + "/log"
    var reserve = LogReserve(path: path)
    var written = Data()
    for pages in 1...300 where Int.random(in: 0..<3, using: &random) > 0 {
      // A commit: frames behind the former ones, over zeros or behind the end.
      let frames = Data(
        (written.count..<Self.used(pages)).map { UInt8(truncatingIfNeeded: $0 | 1) })
      if !FileManager.default.fileExists(atPath: path) {
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
      }
      let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
      try file.seek(toOffset: UInt64(written.count))
      try file.write(contentsOf: frames)
      try file.close()
      written += frames
      reserve.extend(pages: pages)
      let log = try Data(contentsOf: URL(fileURLWithPath: path))
      #expect(log.prefix(written.count) == written)
      #expect(log.count >= Self.used(pages + 1), "\(pages) pages")
      #expect(log.count <= Self.used(pages + 65), "\(pages) pages")
      #expect(log.dropFirst(written.count).allSatisfy { $0 == 0 })
    }
  }

  @Test func `a log that starts again is not lengthened`() throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: 3)
    let journal = try Journal.open(directory.path)
    _ = try journal.contents()
    for _ in 0..<100 { try journal.commit(writer.batch(1)) }
    let longest = journal.fileSizes.log
    for _ in 0..<10 {
      try journal.checkpoint()
      for _ in 0..<50 { try journal.commit(writer.batch(1)) }
      #expect(journal.fileSizes.log == longest)
    }
    try journal.close()
    #expect(try Journal.open(directory.path).contents().rows == writer.rows)
  }

  @Test func `a log without its file is left alone`() throws {
    let directory = try TemporaryDirectory()
    var reserve = LogReserve(path: directory.path + "/none/log")
    reserve.extend(pages: 1)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [])
  }

  @Test func `a reserve that could not be made is made after the next commit`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/log"
    var reserve = LogReserve(path: path)
    reserve.extend(pages: 1)
    try Data(count: Self.used(1)).write(to: URL(fileURLWithPath: path))
    reserve.extend(pages: 1)
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)).count > Self.used(1))
  }

  @Test(arguments: 0..<3)
  func `a log that ends within the reserve is read to its last commit`(part: Int) throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: UInt64(part))
    let journal = try Journal.open(directory.path)
    _ = try journal.contents()
    for _ in 0..<20 { try journal.commit(writer.batch(2)) }
    let used = Self.used(journal.walPages)
    let log = try Data(contentsOf: URL(fileURLWithPath: directory.file + "-wal"))
    #expect(log.count > used)
    var random = SeededGenerator(seed: UInt64(part))
    for _ in 0..<20 {
      // A power failure may keep any part of the zeros, and not even all of their blocks.
      let copy = try directory.copy()
      let length = Int.random(in: used...log.count, using: &random)
      try log.prefix(length).write(to: URL(fileURLWithPath: copy.file + "-wal"))
      #expect(try LogScan.damage(path: copy.file + "-wal") == nil)
      #expect(try Journal.open(copy.path).contents().rows == writer.rows, "\(length) bytes")
    }
  }
}
