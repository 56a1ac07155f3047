import Foundation
import NavigationCore
import Testing

@testable import Journal

/// A write-ahead log in SQLite's format, made by hand.
private struct HandmadeLog {
  static let frameBytes = 24 + 4096
  var bytes: [UInt8] = []
  /// The commit that each frame belongs to.
  var commits: [Int] = []
  private var sum: (UInt32, UInt32) = (0, 0)
  private let salts: [UInt8]

  init(salt: UInt32 = 0x5a5a_0001) {
    salts = Self.big(salt) + Self.big(salt &+ 1)
    bytes = Self.big(0x377f_0682) + Self.big(3_007_000) + Self.big(4096) + Self.big(0) + salts
    add(bytes)
    bytes += Self.big(sum.0) + Self.big(sum.1)
  }

  /// Appends the frames of a commit; the last one has the size of the database.
  mutating func commit(frames: Int, _ random: inout SeededGenerator) {
    let number = (commits.last ?? -1) + 1
    for frame in 1...frames {
      let head = Self.big(UInt32(frame)) + Self.big(frame == frames ? 77 : 0)
      var page = [UInt8](repeating: 0, count: 4096)
      for place in stride(from: 0, to: 4096, by: 64) {
        page[place] = UInt8.random(in: 0...255, using: &random)
      }
      add(head)
      add(page)
      bytes += head + salts + Self.big(sum.0) + Self.big(sum.1) + page
      commits.append(number)
    }
  }

  private mutating func add(_ bytes: [UInt8]) {
    var place = 0
    while place < bytes.count {
      sum.0 = sum.0 &+ Self.little(bytes, place) &+ sum.1
      sum.1 = sum.1 &+ Self.little(bytes, place + 4) &+ sum.0
      place += 8
    }
  }

  private static func little(_ bytes: [UInt8], _ place: Int) -> UInt32 {
    (0..<4).reversed().reduce(0) { $0 << 8 | UInt32(bytes[place + $1]) }
  }

  private static func big(_ number: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
  }
}

/// Damage in the log is told apart from a commit that a power failure cut off.
@Suite struct LogScanTests {
  private func damage(_ bytes: [UInt8]) throws -> String? {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/log"
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    return try LogScan.damage(path: path)
  }

  private func log(_ seed: UInt64, salt: UInt32 = 0x5a5a_0001) -> (HandmadeLog, SeededGenerator) {
    var random = SeededGenerator(seed: seed)
    var log = HandmadeLog(salt: salt)
    for _ in 0..<Int.random(in: 1...5, using: &random) {
      log.commit(frames: Int.random(in: 1...3, using: &random), &random)
    }
    return (log, random)
  }

  @Test func `SQLite's own log is sound, and one like it is`() throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: 1)
    let journal = try Journal.open(directory.path)
    _ = try journal.contents()
    for _ in 0..<3 { try journal.commit(writer.batch(30)) }
    #expect(try LogScan.damage(path: directory.file + "-wal") == nil)
    #expect(try LogScan.damage(path: directory.file + "-none") == nil)
    // The scan would be blind, if its sums were not SQLite's.
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: directory.file + "-wal")))
    bytes[32 + 30] ^= 1
    #expect(try damage(bytes) == "frame 1 of its write-ahead log is wrong")
    #expect(try damage(log(1).0.bytes) == nil)
  }

  @Test(arguments: 0..<8 as Range<UInt64>)
  func `a log that ends anywhere is sound, since its last commit was not acknowledged`(
    seed: UInt64
  ) throws {
    var (log, random) = log(seed)
    for _ in 0..<4 {
      let end = Int.random(in: 0...log.bytes.count, using: &random)
      #expect(try damage(Array(log.bytes.prefix(end))) == nil, "seed \(seed): \(end) bytes")
    }
    // The log of a former life, which SQLite writes over from the start, lies behind it.
    let (former, _) = self.log(seed + 50, salt: 7)
    let stale = Array(former.bytes.dropFirst(32))
    #expect(try damage(log.bytes + stale) == nil)
    #expect(try damage(log.bytes + Array(repeating: 0, count: 3 * HandmadeLog.frameBytes)) == nil)
  }

  @Test(arguments: 0..<16 as Range<UInt64>)
  func `a wrong frame is damage where another commit follows its own, and else a torn end`(
    seed: UInt64
  ) throws {
    var (log, random) = log(seed)
    for _ in 0..<4 {
      let frame = Int.random(in: 0..<log.commits.count, using: &random)
      var place = Int.random(in: 0..<HandmadeLog.frameBytes, using: &random)
      // The size is the mark of a commit's last frame, which is not to be forged here.
      if (4..<8).contains(place) { place += 4 }
      var bytes = log.bytes
      bytes[32 + frame * HandmadeLog.frameBytes + place] ^=
        1 << UInt8.random(in: 0..<8, using: &random)
      let isFollowed = log.commits.last != log.commits[frame]
      let wanted = isFollowed ? "frame \(frame + 1) of its write-ahead log is wrong" : nil
      #expect(try damage(bytes) == wanted, "seed \(seed): byte \(place) of frame \(frame)")
    }
  }

  /// A log of small commits and a large last one, whose first frames are `former` where it is torn.
  ///
  /// The log of the former generation has a commit in each frame.
  private func torn(
    _ small: Int, _ random: inout SeededGenerator
  ) -> (log: [UInt8], former: [UInt8], last: Range<Int>) {
    var (log, former) = (HandmadeLog(), HandmadeLog(salt: 7))
    for _ in 0..<small + 20 { former.commit(frames: 1, &random) }
    for _ in 0..<small { log.commit(frames: 1, &random) }
    let start = log.bytes.count
    log.commit(frames: 10, &random)
    return (log.bytes, former.bytes, start..<log.bytes.count)
  }

  @Test(arguments: 0..<4 as Range<UInt64>)
  func `a torn commit is no damage, whichever of its frames a former generation still has`(
    seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    let (log, former, last) = torn(5, &random)
    let frames = stride(from: last.lowerBound, to: last.upperBound, by: HandmadeLog.frameBytes)
    for lost in frames.map({ [$0] })
      + (0..<10).map({ _ in frames.filter { _ in Bool.random(using: &random) } })
    {
      var bytes = log
      for place in lost {
        let frame = place..<place + HandmadeLog.frameBytes
        bytes.replaceSubrange(frame, with: former[frame])
      }
      #expect(try damage(bytes) == nil, "seed \(seed): lost \(lost)")
    }
  }

  @Test(arguments: 0..<4 as Range<UInt64>)
  func `a torn commit is no damage, whichever of its sectors a former generation still has`(
    seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    // Frame 42 has its mark in another sector than its salts.
    let (log, former, last) = torn(38, &random)
    let sectors = last.lowerBound / 512...last.upperBound / 512
    for round in 0..<20 {
      var bytes = log
      for sector in sectors where round > 15 ? Bool.random(using: &random) : sector % 16 == round {
        let place = (sector * 512..<sector * 512 + 512).clamped(to: last)
        bytes.replaceSubrange(place, with: former[place])
      }
      #expect(try damage(bytes) == nil, "seed \(seed): round \(round)")
    }
    // Where only the mark of frame 42 is lost, it looks like the end of a commit.
    var bytes = log
    let place = 32 + 41 * HandmadeLog.frameBytes
    bytes.replaceSubrange(place..<place + 8, with: former[place..<place + 8])
    #expect(try damage(bytes) == nil, "seed \(seed)")
  }

  @Test(arguments: 0..<4 as Range<UInt64>)
  func `what a failed commit left behind the log is no damage where the next one is torn`(
    seed: UInt64
  ) throws {
    var (log, random) = log(seed)
    let start = log.bytes.count
    var failed = log
    failed.commit(frames: 8, &random)
    log.commit(frames: 4, &random)
    let bytes = log.bytes + failed.bytes.dropFirst(log.bytes.count)
    for lost in 0..<16 {
      var torn = bytes
      for frame in 0..<4 where lost & 1 << frame != 0 {
        let place = start + frame * HandmadeLog.frameBytes
        let frame = place..<place + HandmadeLog.frameBytes
        torn.replaceSubrange(frame, with: failed.bytes[frame])
      }
      #expect(try damage(torn) == nil, "seed \(seed): lost \(lost)")
    }
  }

  @Test func `every bit of the header counts`() throws {
    let (log, _) = log(3)
    for place in 0..<32 {
      for bit in [0, 7] as [UInt8] {
        var bytes = log.bytes
        bytes[place] ^= 1 << bit
        #expect(
          try damage(bytes) == "the header of its write-ahead log is wrong", "byte \(place)")
      }
    }
    // The system made the file longer before it wrote to it.
    #expect(try damage(Array(repeating: 0, count: log.bytes.count)) == nil)
    // Without a whole frame nothing was committed.
    var short = Array(log.bytes.prefix(32 + HandmadeLog.frameBytes - 1))
    short[9] ^= 1
    #expect(try damage(short) == nil)
  }

  @Test func `a log without its first page is damaged if a commit in it was synced`() throws {
    var random = SeededGenerator(seed: 1)
    var log = HandmadeLog(salt: 0x5a5a_0001)
    log.commit(frames: 2, &random)
    func lost(_ bytes: [UInt8]) -> [UInt8] { Array(repeating: 0, count: 4096) + bytes[4096...] }
    #expect(try damage(lost(log.bytes)) == nil, "the power failed in the first commit")
    log.commit(frames: 1, &random)
    #expect(try damage(lost(log.bytes)) == "the header of its write-ahead log is wrong")
  }

  @Test func `a log that cannot be opened is unreadable`() throws {
    let directory = try TemporaryDirectory()
    let loop = directory.path + "/loop"
    try FileManager.default.createSymbolicLink(atPath: loop, withDestinationPath: loop)
    #expect(
      throws: JournalError.unreadable(path: loop, reason: "Too many levels of symbolic links")
    ) { try LogScan.damage(path: loop) }
  }
}
