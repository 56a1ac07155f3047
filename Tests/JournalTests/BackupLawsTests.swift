import Foundation
import NavigationCore
import NavigationHub
import Testing

@testable import Journal

/// A backup that is restored is the journal as it was, whatever had become of it before.
@Suite struct BackupLawsTests {
  private static let retention = Retention(
    revisions: 15, revisionsPerSnapshot: 8, closedMilliseconds: 1_000)

  /// A journal after a random course, with its last rows in the log only.
  private static func course(
    _ seed: UInt64, in directory: TemporaryDirectory
  ) throws -> (Journal, Writer) {
    var writer = Writer(seed: seed)
    var random = SeededGenerator(seed: seed &* 77)
    let journal = try Journal.open(directory.path, retention: retention)
    _ = try journal.contents()
    for step in 0..<12 as Range<UInt64> {
      let now = step * 500
      let count = Int.random(in: 1..<50, using: &random)
      try journal.commit(writer.batch(count, navs: 3, time: now))
      if step == 3 { try journal.commit([.row(writer.row(nav: 8, time: now))]) }
      if step == 5 { try journal.commit([.row(writer.row(nav: 8, kind: .closed, time: now))]) }
      let report = try journal.maintain(
        now: now, budget: Int.random(in: 1..<40, using: &random))
      for nav in report.needsSnapshot {
        try journal.commit([.snapshot(writer.snapshot(nav: nav, time: now))])
      }
      if Bool.random(using: &random) { try journal.checkpoint() }
    }
    return (journal, writer)
  }

  private static func backUp(_ directory: String, as name: String) throws -> String {
    let backup = JournalBackup(of: directory)
    try backup.copy { _, _ in }
    let draft = try Journal.open(backup.draft)
    _ = try draft.contents()
    try draft.close()
    return try backup.finish(as: name).path
  }

  @discardableResult
  private static func restore(_ file: String, in directory: String) throws -> String? {
    let restoration = try JournalRestoration(in: directory, holder: "test")
    do {
      try restoration.copy(file) { done, total in #expect(done <= total) }
      let draft = try Journal.open(restoration.draft)
      _ = try draft.contents()
      try draft.renewEpochsAtNextStart()
      try draft.close()
    } catch {
      let isReady = restoration.nextStartCompletes
      #expect(!isReady)
      restoration.discard()
      throw error
    }
    return try restoration.finish()
  }

  private func names(_ directory: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
  }

  /// All that is in the files of a directory.
  private func bytes(_ directory: String) throws -> [String: Data] {
    try names(directory).reduce(into: [:]) { all, name in
      all[name] = FileManager.default.contents(atPath: directory + "/" + name)
    }
  }

  @Test(arguments: 0..<2 as Range<UInt64>)
  func `what was backed up is restored, with its floors, and goes on`(seed: UInt64) throws {
    let directory = try TemporaryDirectory()
    let (journal, _) = try Self.course(seed, in: directory)
    let file = try Self.backUp(directory.path, as: "a.db")
    let before = try directory.copy()
    try journal.close()
    let other = try TemporaryDirectory()
    #expect(try Self.restore(file, in: other.path) == nil, "nothing was there before")
    #expect(try names(other.path) == ["journal.sqlite", "lock"])

    let original = try Journal.open(before.path, retention: Self.retention)
    let restored = try Journal.open(other.path, retention: Self.retention)
    let contents = try original.contents()
    #expect(try restored.contents() == contents && !contents.rows.isEmpty)
    #expect(!contents.rows.contains { $0.nav == 8 }, "it was forgotten")
    #expect(restored.isRestored && restored.mustRenewEpochs && !original.isRestored)
    #expect(restored.lastSequence == original.lastSequence)
    #expect(
      (1...3).map { restored.floorRevision(of: $0) }
        == (1...3).map { original.floorRevision(of: $0) })
    #expect(restored.statistics.rows == original.statistics.rows)
    var next = Writer(seed: 9)
    next.sequence = restored.lastSequence
    try restored.commit(next.batch(5))
    #expect(restored.isRestored, "until somebody has made new epochs")
    try restored.epochsRenewed(before: 0)
    #expect(!restored.isRestored)
    try restored.close()
    let rows = try Journal.open(other.path).contents().rows
    #expect(rows == contents.rows + next.rows)
    try original.close()
  }

  @Test func `a backup with its log beside it is restored with the log`() throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: 4)
    let journal = try Journal.open(directory.path)
    _ = try journal.contents()
    try journal.commit(writer.batch(10))
    let killed = try directory.copy()
    let other = try TemporaryDirectory()
    try Self.restore(killed.file, in: other.path)
    #expect(try Journal.open(other.path).contents().rows == writer.rows)
    // Without its log it is the journal before the rows.
    try FileManager.default.removeItem(atPath: killed.file + "-wal")
    try Self.restore(killed.file, in: other.path)
    #expect(try Journal.open(other.path).contents().rows.isEmpty)
  }

  @Test func `of a damaged backup nothing is restored, and the journal stays as it was`() throws {
    let directory = try TemporaryDirectory()
    let (source, _) = try Self.course(7, in: directory)
    let file = try Self.backUp(directory.path, as: "a.db")
    try source.close()
    let sound = try Data(contentsOf: URL(fileURLWithPath: file))
    let target = try TemporaryDirectory()
    let (journal, writer) = try Self.course(8, in: target)
    try journal.close()
    let before = try bytes(target.path).filter { $0.key != "lock" }
    var refused = 0
    for page in stride(from: 0, to: sound.count / 4096, by: 3) {
      var damaged = sound
      damaged[page * 4096 + (page * 509) % 4096] ^= 0x10
      damaged[page * 4096 + 7] ^= 0x80
      let path = directory.path + "/damaged.db"
      try damaged.write(to: URL(fileURLWithPath: path))
      do {
        try Self.restore(path, in: target.path)
        // The page is free, so what it holds means nothing: the former journal goes back.
        let former = try #require(try names(target.path).first { $0.hasPrefix("journal-") })
        try FileManager.default.removeItem(atPath: target.file)
        try FileManager.default.moveItem(
          atPath: target.path + "/" + former, toPath: target.file)
      } catch let error as JournalError {
        guard case .damaged = error else { throw error }
        refused += 1
      }
      #expect(try bytes(target.path).filter { $0.key != "lock" } == before, "page \(page)")
    }
    #expect(refused > sound.count / 4096 / 6)
    let rows = try Journal.open(target.path).contents().rows
    #expect(rows == writer.rows.suffix(rows.count) || rows.count < writer.rows.count)
  }

  @Test func `a second backup of the same name replaces the first, others stay`() throws {
    let directory = try TemporaryDirectory()
    var (journal, writer) = try Self.course(2, in: directory)
    _ = try Self.backUp(directory.path, as: "a.db")
    let second = try Self.backUp(directory.path, as: "b.db")
    let former = try Data(contentsOf: URL(fileURLWithPath: second))
    try journal.commit(writer.batch(40, navs: 3, time: 6_000))
    let first = try Self.backUp(directory.path, as: "a.db")
    #expect(try names(JournalBackup.folder(of: directory.path)) == ["a.db", "b.db"])
    #expect(try Data(contentsOf: URL(fileURLWithPath: second)) == former)
    let other = try TemporaryDirectory()
    try FileManager.default.copyItem(atPath: first, toPath: other.file)
    #expect(try Journal.open(other.path).lastSequenceAfterReplay() == journal.lastSequence)
    try journal.close()
  }

  @Test func `a backup of what is no journal is refused before a folder has a copy`() throws {
    let directory = try TemporaryDirectory()
    try Data("no journal".utf8).write(to: URL(fileURLWithPath: directory.file))
    let backup = JournalBackup(of: directory.path)
    let error = #expect(throws: JournalError.self) { try backup.copy { _, _ in } }
    guard case .damaged = error else {
      Issue.record("refused with \(String(describing: error))")
      return
    }
    backup.discard()
    #expect(try names(JournalBackup.folder(of: directory.path)).isEmpty)
    let none = JournalBackup(of: directory.path + "/none")
    #expect(throws: JournalError.self) { try none.copy { _, _ in } }
  }

  @Test func `the draft that a killed restoration left is gone after the next start`() throws {
    let directory = try TemporaryDirectory()
    let (journal, _) = try Self.course(3, in: directory)
    try journal.close()
    let draft: String
    do {
      let restoration = try JournalRestoration(in: directory.path, holder: "test")
      try restoration.copy(directory.file) { _, _ in }
      draft = restoration.draft
      let isReady = restoration.nextStartCompletes
      #expect(!isReady)
    }
    #expect(try names(draft) == ["journal.sqlite"])
    let mode = try FileManager.default.attributesOfItem(atPath: draft)[.posixPermissions] as? Int
    #expect(mode == 0o700)
    let again = try Journal.open(directory.path)
    _ = try again.contents()
    try again.close()
    #expect(try names(directory.path) == ["journal.sqlite", "lock"])
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give a directory away"))
  func `root restores nothing into a directory of another user, and is told the command`() throws {
    let directory = try TemporaryDirectory()
    let (journal, _) = try Self.course(5, in: directory)
    try journal.close()
    let other = try TemporaryDirectory()
    #expect(unsafe chown(other.path, 1, 1) == 0)
    let error = #expect(throws: JournalError.self) {
      try Self.restore(directory.file, in: other.path)
    }
    let command = "type: runuser -u daemon -- COMMAND"
    #expect(error?.description.hasSuffix(command) == true, "\(error as Any)")
    #expect(try names(other.path).isEmpty)
  }
}

extension Journal {
  fileprivate func lastSequenceAfterReplay() throws -> UInt64 {
    _ = try contents()
    return lastSequence
  }
}
