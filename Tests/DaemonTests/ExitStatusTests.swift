import Foundation
import Journal
import RuntimePaths
import Testing
import ZeroMQ

@testable import NavigationCore
@testable import NavigationDaemon
@testable import NavigationHub

/// How navd ends, by the table of navd(8).
@Suite struct ExitStatusTests {
  /// An error of each sort, and the status that the table names for it.
  private static let errors: [(error: any Error & Sendable, status: Int32)] = [
    (ConfigurationError(file: "/f", line: 2, message: "m"), 3),
    (JournalError.locked(path: "/j", by: "navd (pid 7)"), 4),
    (JournalError.damaged(path: "/j", what: "w"), 5),
    (HubReplayError(sequence: 9, what: "w"), 5),
    (JournalError.newer(path: "/j", found: 9, supported: 4), 6),
    (JournalError.older(path: "/j", found: 3, supported: 4), 6),
    (JournalError.unreadable(path: "/j", reason: "r"), 7),
    (JournalError.unwritable(path: "/j", reason: "r"), 7),
    (JournalError.unusable(path: "/j", reason: "r", remedy: "m"), 7),
    (JournalError.full(path: "/j"), 7),
    (JournalError.writeFailed(path: "/j", reason: "r"), 7),
    (PathError.noStateDirectory, 7),
    (SystemError("read", "/x", code: ENOENT), 7),
    (PathError.notPrivate(path: "/tmp/navd-1", reason: "r"), 8),
    (PathError.socketPathTooLong(path: "/x", byteCount: 120), 8),
    (DaemonError.endpoint("ipc:///x", reason: "r"), 8),
    (ZeroMQError("zmq_bind", subject: "ipc:///x", code: EADDRINUSE), 8),
    (JournalError.syncFailed(path: "/j", reason: "r"), 9),
    (JournalError.fenced(path: "PostgreSQL db/navd"), 10),
  ]

  @Test(arguments: errors.indices)
  func `each error ends navd with the status of the manual`(index: Int) {
    let (error, status) = Self.errors[index]
    let failure = DaemonError(error)
    #expect(failure.exitStatus.rawValue == status)
    #expect(!failure.description.isEmpty && !failure.description.contains("\n"))
    // The catalog explains what is wrong with a journal.
    let isJournal = [4, 5, 6, 7, 9, 10].contains(status)
    #expect(failure.kind == (isJournal ? .journalFailed : nil))
  }

  @Test func `the texts say what was attempted, on what, and what to do`() {
    func text(_ error: any Error) -> String { DaemonError(error).description }
    #expect(
      text(HubReplayError(sequence: 9, what: "it has no nav"))
        == "the journal cannot be replayed: row 9: it has no nav; restore a backup, or move the "
        + "state directory away to start empty")
    #expect(
      text(DaemonError.endpoint("tcp://192.0.2.7:1", reason: "Address already in use"))
        == "cannot listen on tcp://192.0.2.7:1: Address already in use")
    #expect(
      text(DaemonError("/b is damaged: x; nothing was restored", .journalDamaged))
        == "/b is damaged: x; nothing was restored")
    #expect(
      text(SystemError("read", "/x", code: ENOENT)) == "cannot read /x: No such file or directory")
    struct Other: Error {}
    #expect(text(Other()) == "unexpected: Other()")
    #expect(DaemonError(Other()).exitStatus == .journalUnavailable)
    #expect(
      DaemonError("", .journalLocked).exitStatus == .journalLocked)
  }

  @Test func `the manual has every status, and no others`() throws {
    let manual = try String(
      contentsOf: packageRoot.appendingPathComponent("man/navd.8.scd"), encoding: .utf8)
    let section = try #require(
      manual.split(separator: "# EXIT STATUS").last?.split(separator: "\n# ").first)
    let numbers = section.matches(of: /\|\[?\s+\*(\d+)\*/).compactMap { Int32($0.1) }
    #expect(numbers == ExitStatus.allCases.map(\.rawValue))
  }
}

/// Starts that fail one after the other.
@Suite struct StartDelayTests {
  @Test func `a start after others that never became ready waits, at most 5 s`() throws {
    try withTemporaryDirectory { root in
      let file = root + "/navd.starting"
      func pause() -> StartDelay { StartDelay(runtimeDirectory: root) }
      #expect(pause().noteStart() == 0)
      #expect(FileManager.default.fileExists(atPath: file))
      let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
      #expect(mode == 0o600)
      // It failed, and so do the next.
      let waits = (1...8).map { _ in pause().noteStart() }
      #expect(waits == [100, 200, 400, 800, 1600, 3200, 5000, 5000])
      #expect(StartDelay.milliseconds(after: .max) == 5000)
      pause().forgetFailures()
      #expect(!FileManager.default.fileExists(atPath: file))
      pause().forgetFailures()
      #expect(pause().noteStart() == 0)
    }
  }

  @Test func `a start by hand, and one whose directory is not there yet, never wait`() throws {
    let byHand = StartDelay(runtimeDirectory: nil)
    #expect(byHand.noteStart() == 0 && byHand.noteStart() == 0)
    byHand.forgetFailures()
    let early = StartDelay(runtimeDirectory: "/nowhere/navd")
    #expect(early.noteStart() == 0 && early.noteStart() == 0)
    early.forgetFailures()
    try withTemporaryDirectory { root in
      // Where the file cannot be made, nobody knows how the start before ended.
      try "x".write(toFile: root + "/file", atomically: false, encoding: .utf8)
      #expect(StartDelay(runtimeDirectory: root + "/file").noteStart() == 100)
    }
  }

  @Test func `a wait takes its time`() {
    let clock = ContinuousClock()
    let delay = StartDelay(runtimeDirectory: nil)
    let time = clock.measure { #expect(!delay.isStopped(within: 100, signals: -1)) }
    #expect(time >= .milliseconds(100))
  }
}
