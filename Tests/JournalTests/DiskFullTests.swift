import ChildProcess
import Foundation
import NavigationCore
import Testing

@testable import Journal

/// A disk that is really full: a small file system in memory, which only root may mount.
@Suite struct DiskFullTests {
  private static func run(_ program: String, _ arguments: [String]) throws -> Bool {
    try ChildProcess(program, arguments, errors: .null).awaitEnd() == 0
  }

  @Test(.timeLimit(.minutes(5)))
  func `a full disk loses nothing, and commits go on when space returns`() throws {
    let directory = try TemporaryDirectory()
    let mounted = try Self.run(
      "/bin/mount", ["-t", "tmpfs", "-o", "size=16m,mode=0700", "tmpfs", directory.path])
    guard mounted else { return print("skipped: a file system cannot be mounted here") }
    defer { #expect((try? Self.run("/bin/umount", ["-l", directory.path])) == true) }

    var writer = Writer(seed: 6)
    var journal = try Journal.open(directory.path)
    _ = try journal.contents()
    var refusals = 0
    for round in 0..<20 {
      let filler = directory.path + "/filler"
      try journal.commit(writer.batch(3))
      try fill(filler)
      // The log has some space of its own, so the full disk refuses a later commit.
      var batch = writer.batch(40)
      var isStored = true
      for _ in 0..<200 where isStored {
        do throws(JournalError) {
          try journal.commit(batch)
          batch = writer.batch(40)
        } catch {
          #expect(error == .full(path: directory.file))
          refusals += 1
          isStored = false
        }
      }
      try FileManager.default.removeItem(atPath: filler)
      // The file system counts its free pages per processor, and may be a moment behind.
      isStored = false
      for _ in 0..<1000 where !isStored {
        do throws(JournalError) {
          try journal.commit(batch)
          isStored = true
        } catch {
          #expect(error == .full(path: directory.file))
        }
      }
      #expect(isStored)
      if round.isMultiple(of: 4) { try journal.checkpoint() }
      if round.isMultiple(of: 7) {
        try journal.close()
        journal = try Journal.open(directory.path)
        #expect(try journal.contents().rows == writer.rows)
      }
    }
    #expect(refusals > 10)
    try journal.close()
    #expect(try Journal.open(directory.path).contents().rows == writer.rows)
  }

  /// Writes zeros until there is no space left.
  private func fill(_ path: String) throws {
    _ = FileManager.default.createFile(atPath: path, contents: nil)
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    for size in [4096, 1] {
      while (try? file.write(contentsOf: Data(count: size))) != nil {}
    }
    try file.close()
  }
}
