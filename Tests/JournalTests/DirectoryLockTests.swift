import Foundation
import Testing

@testable import Journal

/// The lock of a directory, and the words of its file.
@Suite struct DirectoryLockTests {
  private func text(_ directory: TemporaryDirectory) throws -> String {
    try String(contentsOfFile: directory.path + "/lock", encoding: .utf8)
  }

  /// How a second process would be refused.
  private func refusal(_ directory: TemporaryDirectory) -> JournalError? {
    do throws(JournalError) {
      _ = try DirectoryLock(directory: directory.path, holder: "second")
      return nil
    } catch {
      return error
    }
  }

  @Test func `the file names the present holder, and nobody before`() throws {
    let directory = try TemporaryDirectory()
    let me = " (pid \(getpid()))\n"
    for holder in ["navd serving ipc:///a/very/long/path/of/a/socket", "x", "", "navd"] {
      let lock = try DirectoryLock(directory: directory.path, holder: holder)
      #expect(try text(directory) == holder + me)
      let named = (holder + me).dropLast()
      #expect(refusal(directory) == .locked(path: directory.path + "/lock", by: String(named)))
      // Who was refused changed nothing.
      #expect(try text(directory) == holder + me)
      _ = consume lock
    }
    #expect(refusal(directory) == nil)
  }

  @Test func `a holder of several lines, of none or of too many bytes is one line`() throws {
    let directory = try TemporaryDirectory()
    let file = directory.path + "/lock"
    let lock = try DirectoryLock(directory: directory.path, holder: "test")
    let long = String(repeating: "n", count: 5_000)
    let silent = "a process that has not said who it is"
    for (content, named) in [
      ("", silent), ("\nlater", silent), ("first\nsecond\n", "first"),
      (long, String(long.prefix(1024))),
    ] {
      let handle = try #require(FileHandle(forWritingAtPath: file))
      try handle.truncate(atOffset: 0)
      try handle.write(contentsOf: Data(content.utf8))
      try handle.close()
      #expect(refusal(directory) == .locked(path: file, by: named))
    }
    _ = consume lock
  }

  @Test func `a link in place of the file is not followed`() throws {
    let directory = try TemporaryDirectory()
    let target = directory.path + "/target"
    try Data("precious".utf8).write(to: URL(fileURLWithPath: target))
    try FileManager.default.createSymbolicLink(
      atPath: directory.path + "/lock", withDestinationPath: target)
    #expect(
      refusal(directory)
        == .unwritable(
          path: directory.path + "/lock", reason: "Too many levels of symbolic links"))
    #expect(FileManager.default.contents(atPath: target) == Data("precious".utf8))
  }

  @Test func `only its owner can read the file, and it stays when the lock ends`() throws {
    let directory = try TemporaryDirectory()
    for _ in 0..<2 {
      let lock = try DirectoryLock(directory: directory.path, holder: "test")
      _ = consume lock
      let mode =
        try FileManager.default.attributesOfItem(
          atPath: directory.path + "/lock")[.posixPermissions] as? Int
      #expect(mode == 0o600)
    }
  }

  @Test func `a directory that is not there cannot be synced`() {
    #expect(
      throws: JournalError.unwritable(path: "/nowhere", reason: "No such file or directory")
    ) { try syncFile("/nowhere") }
  }
}
