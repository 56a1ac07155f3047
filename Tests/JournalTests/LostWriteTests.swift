import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

@testable import Journal

/// Disks that lose writes, or write to the wrong place, each page by itself sound.
@Suite struct LostWriteTests {
  /// The file of a journal at two times, and what it held then.
  private struct Times {
    var before: Data
    var after: Data
    var contents: [Contents]
    var pages: Int { min(before.count, after.count) / 4096 }
  }

  private static func times() throws -> Times {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: 11)
    let url = URL(fileURLWithPath: directory.file)
    var contents: [Contents] = []
    func run(_ batches: Int) throws -> Data {
      let journal = try Journal.open(directory.path, retention: Retention(revisions: 10))
      _ = try journal.contents()
      for _ in 0..<batches { try journal.commit(writer.batch(12, navs: 3)) }
      try journal.commit((1...3).map { .snapshot(writer.snapshot(nav: $0)) })
      for _ in 0..<5 { _ = try journal.maintain(now: 2_000, budget: 20) }
      try journal.close()
      let again = try Journal.open(directory.path)
      contents.append(try again.contents())
      try again.close()
      return try Data(contentsOf: url)
    }
    let before = try run(14)
    return Times(before: before, after: try run(6), contents: contents)
  }

  /// What a journal of these bytes holds; nil if it is refused as damaged.
  private static func read(_ bytes: Data, log: Data? = nil) throws -> Contents? {
    let directory = try TemporaryDirectory()
    try bytes.write(to: URL(fileURLWithPath: directory.file))
    if let log { try log.write(to: URL(fileURLWithPath: directory.file + "-wal")) }
    do throws(JournalError) {
      return try Journal.open(directory.path).contents()
    } catch {
      guard case .damaged = error else {
        Issue.record("refused with \(error)")
        return nil
      }
      return nil
    }
  }

  private static func replacing(_ page: Int, of bytes: Data, by other: Data, _ from: Int) -> Data {
    var result = bytes
    result.replaceSubrange(
      page * 4096..<page * 4096 + 4096, with: other[from * 4096..<from * 4096 + 4096])
    return result
  }

  @Test func `a page as it was before, or will be, is refused or changes nothing`() throws {
    let times = try Self.times()
    var refused = 0
    for page in stride(from: 0, to: times.pages, by: 2) {
      for (bytes, other, contents) in [
        (times.before, times.after, times.contents[0]),
        (times.after, times.before, times.contents[1]),
      ] {
        let mixed = Self.replacing(page, of: bytes, by: other, page)
        guard mixed != bytes else { continue }
        let read = try Self.read(mixed)
        #expect(read == nil || read == contents, "page \(page)")
        if read == nil { refused += 1 }
      }
    }
    #expect(refused > 5)
  }

  @Test(arguments: [0, 1] as [UInt64])
  func `a page written to the place of another is refused or changes nothing`(seed: UInt64) throws {
    let times = try Self.times()
    var random = SeededGenerator(seed: seed)
    var refused = 0
    for _ in 0..<15 {
      let page = Int.random(in: 0..<times.after.count / 4096, using: &random)
      let other = Int.random(in: 0..<times.after.count / 4096, using: &random)
      let read = try Self.read(Self.replacing(page, of: times.after, by: times.after, other))
      #expect(read == nil || read == times.contents[1], "page \(other) in place of \(page)")
      if read == nil { refused += 1 }
    }
    #expect(refused > 2)
  }

  /// A journal with commits in its log: the file, the log, and for each commit the end of its last
  /// frame and the number of rows.
  private static func logged() throws -> (
    file: Data, log: Data, rows: [JournalRow], commits: [(end: Int, rows: Int)]
  ) {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: 5)
    let journal = try Journal.open(directory.path)
    _ = try journal.contents()
    var commits: [(end: Int, rows: Int)] = [(0, 0)]
    for count in [1, 30, 7, 64, 2, 90] {
      try journal.commit(writer.batch(count))
      commits.append((32 + journal.walPages * 4120, writer.rows.count))
    }
    let file = try Data(contentsOf: URL(fileURLWithPath: directory.file))
    let log = try Data(contentsOf: URL(fileURLWithPath: directory.file + "-wal"))
    // The rest is reserved.
    return (file, log.prefix(commits.last?.end ?? 0), writer.rows, commits)
  }

  @Test func `a log cut anywhere has exactly the commits that are whole in it`() throws {
    let (file, log, rows, commits) = try Self.logged()
    #expect(commits.last?.end == log.count)
    var ends = [0, 1, 31, 32, 33]
    for commit in commits.dropFirst() {
      ends += [-4120, -1, 0, 24].map { commit.end + $0 }
    }
    for end in ends where end <= log.count {
      let whole = commits.last { $0.end <= end }?.rows ?? 0
      #expect(
        try Self.read(file, log: log.prefix(end))?.rows == Array(rows.prefix(whole)),
        "\(end) bytes")
    }
  }

  @Test func `a log whose frames are swapped, repeated or zero never loses an older commit`() throws
  {
    let (file, log, rows, commits) = try Self.logged()
    let head = log.prefix(32)
    let frames = (0..<(log.count - 32) / 4120).map {
      log[(32 + $0 * 4120)..<(32 + ($0 + 1) * 4120)]
    }
    let last = commits[commits.count - 2].rows
    var refused = 0
    // The frames about the end of each commit, and some others.
    let ends = commits.map { ($0.end - 32) / 4120 }
    let chosen = frames.indices.filter { $0 % 9 == 0 || ends.contains($0) || ends.contains($0 + 1) }
    for frame in chosen {
      var swapped = frames
      swapped.swapAt(frame, (frame + 1) % frames.count)
      var repeated = frames
      repeated.insert(frames[frame], at: frame)
      var zero = frames
      // Without its mark, the end of a commit is not told from the middle of the next one.
      let isEnd = commits.contains { $0.end == 32 + (frame + 1) * 4120 }
      if !isEnd { zero[frame] = Data(count: 4120)[...] }
      for other in [swapped, repeated, zero] {
        let read = try Self.read(file, log: other.reduce(head) { $0 + $1 })
        // At most the commit whose end the disk may not have promised is missing.
        let isSound =
          read == nil || read?.rows == rows || read?.rows == Array(rows.prefix(last))
        #expect(isSound, "frame \(frame)")
        if read == nil { refused += 1 }
      }
    }
    #expect(refused > chosen.count)
  }

  @Test func `the log of another journal is refused, or everything is that journal's`() throws {
    let (file, log, rows, _) = try Self.logged()
    let times = try Self.times()
    let read = try Self.read(times.after, log: log)
    #expect(read == nil || read?.rows == rows)
    let empty = try TemporaryDirectory()
    try Journal.open(empty.path).close()
    let fresh = try Data(contentsOf: URL(fileURLWithPath: empty.file))
    #expect(try Self.read(fresh, log: log)?.rows == rows)
    #expect(try Self.read(file, log: log)?.rows == rows)
  }
}
