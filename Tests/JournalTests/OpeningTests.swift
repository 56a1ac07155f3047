import ChildProcess
import Foundation
import NavigationCore
import Testing

@testable import Journal

@Suite struct OpeningTests {
  @Test func `a second opener learns who holds the journal`() throws {
    let directory = try TemporaryDirectory()
    let holder = "navd serving ipc:///run/navd/navd.sock"
    let journal = try Journal.open(
      directory: directory.path, durability: .sync, bootID: "b", retention: Retention(),
      holder: holder)
    let pid = ProcessInfo.processInfo.processIdentifier
    #expect(
      throws: JournalError.locked(path: directory.path + "/lock", by: "\(holder) (pid \(pid))")
    ) { try Journal.open(directory.path) }
    try journal.close()
    try Journal.open(directory.path).close()
  }

  @Test func `a lock of another process counts too`() throws {
    let directory = try TemporaryDirectory()
    let lock = directory.path + "/lock"
    let input = Pipe()
    let output = Pipe()
    let process = try ChildProcess(
      "/bin/sh",
      ["-c", "exec 9>'\(lock)'; flock 9; echo 'someone else' >&9; echo held; read line"],
      input: .descriptor(input.fileHandleForReading.fileDescriptor),
      output: .descriptor(output.fileHandleForWriting.fileDescriptor))
    #expect(output.fileHandleForReading.availableData == Data("held\n".utf8))
    #expect(throws: JournalError.locked(path: lock, by: "someone else")) {
      try Journal.open(directory.path)
    }
    try input.fileHandleForWriting.close()
    process.awaitEnd()
    try Journal.open(directory.path).close()
  }

  @Test func `the lock ends with the journal, even unclosed`() throws {
    let directory = try TemporaryDirectory()
    do {
      let journal = try Journal.open(directory.path)
      let error = #expect(throws: JournalError.self) { try Journal.open(directory.path) }
      guard case .locked = error else {
        Issue.record("refused with \(String(describing: error))")
        return
      }
      #expect(try journal.contents().rows.isEmpty)
    }
    try Journal.open(directory.path).close()
  }

  @Test func `the lock ends with the journal, even if a process being started has a copy of it`()
    throws
  {
    let directory = try TemporaryDirectory()
    let journal = try Journal.open(directory.path)
    let lock = URL(fileURLWithPath: directory.path + "/lock").resolvingSymlinksInPath().path
    let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
    let copies = descriptors.compactMap { Int32($0) }.filter {
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == lock
    }.map { dup($0) }
    defer { for copy in copies { close(copy) } }
    #expect(copies.count == 1)
    try journal.close()
    try Journal.open(directory.path).close()
  }

  @Test func `a directory that cannot be made is unwritable`() throws {
    let directory = try TemporaryDirectory()
    let file = directory.path + "/file"
    try Data().write(to: URL(fileURLWithPath: file))
    for path in [file, file + "/state", directory.path + "/absent/state"] {
      let error = #expect(throws: JournalError.self) { try Journal.open(path) }
      guard case .unwritable = error else {
        Issue.record("\(path) refused with \(String(describing: error))")
        continue
      }
    }
  }

  @Test func `a directory is made for its owner alone`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/state"
    try Journal.open(path).close()
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
    #expect(mode as? Int == 0o700)
  }

  @Test func `a draft left by a power cut is replaced`() throws {
    let directory = try TemporaryDirectory()
    try Data("half a file".utf8).write(to: URL(fileURLWithPath: directory.file + ".new"))
    #expect(try Journal.open(directory.path).contents() == Contents())
  }

  @Test func `every error says which file and what to do`() {
    let errors: [JournalError] = [
      .locked(path: "/j", by: "x"), .damaged(path: "/j", what: "x"),
      .newer(path: "/j", found: 2, supported: 1), .older(path: "/j", found: 1, supported: 2),
      .unreadable(path: "/j", reason: "x"),
      .unwritable(path: "/j", reason: "x"), .unusable(path: "/j", reason: "x", remedy: "y"),
      .full(path: "/j"),
      .writeFailed(path: "/j", reason: "x"), .syncFailed(path: "/j", reason: "x"),
    ]
    for error in errors {
      #expect(error.description.contains("/j"))
      #expect(error.description.contains(";"))
    }
  }
}
