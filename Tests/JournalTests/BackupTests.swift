import Foundation
@testable import NavigationCore
@testable import NavigationHub
import RuntimePaths
import Testing

@testable import Journal

@Suite struct BackupTests {
  /// A journal with some rows and snapshots, open, and what was written to it.
  private func journal(
    _ directory: TemporaryDirectory, seed: UInt64 = 1, batches: Int = 10
  ) throws -> (Journal, Writer) {
    var writer = Writer(seed: seed)
    let journal = try Journal.open(directory.path)
    _ = try journal.contents()
    for _ in 0..<batches { try journal.commit(writer.batch(20, navs: 3)) }
    for nav in writer.heads.keys.sorted() {
      try journal.commit([.snapshot(writer.snapshot(nav: nav))])
    }
    return (journal, writer)
  }

  private func files(_ path: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path).sorted()
  }

  private func mode(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  /// What a journal in a directory holds.
  private func contents(_ directory: String) throws -> Contents {
    let journal = try Journal.open(directory)
    let contents = try journal.contents()
    try journal.close()
    return contents
  }

  @Test func `a copy holds what is committed, with a census of its own`() throws {
    let directory = try TemporaryDirectory()
    let (journal, writer) = try journal(directory)
    let backup = JournalBackup(of: directory.path)
    var seen: [Int] = []
    try backup.copy { done, total in
      #expect(done <= total)
      seen.append(done)
    }
    #expect(seen == seen.sorted() && !seen.isEmpty)
    #expect(try contents(backup.draft).rows == writer.rows)
    let (path, bytes) = try backup.finish(as: "a.db")
    #expect(path == directory.path + "/backups/a.db")
    #expect(try mode(path) == 0o600)
    #expect(try mode(directory.path + "/backups") == 0o700)
    #expect(try files(directory.path + "/backups") == ["a.db"])
    #expect(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int == bytes)
    // The rows are counted in the copy though no checkpoint has counted them in the journal.
    let copy = try TemporaryDirectory()
    try FileManager.default.copyItem(atPath: path, toPath: copy.file)
    let database = try Database(path: copy.file)
    #expect(try Metadata(database).census().rows == UInt64(writer.rows.count))
    database.close()
    try journal.close()
  }

  @Test
  func `what is committed while a copy is made is not in it, and the copy does not begin again`()
    throws
  {
    let directory = try TemporaryDirectory()
    var (journal, writer) = try journal(directory, batches: 400)
    let before = writer.rows.count
    let backup = JournalBackup(of: directory.path)
    var steps = 0
    var failure: (any Error)?
    try backup.copy { _, _ in
      steps += 1
      do {
        try journal.commit(writer.batch(20, navs: 3))
        try journal.checkpoint()
      } catch {
        failure = error
      }
    }
    #expect(failure == nil)
    #expect(steps > 1 && steps < 100)
    #expect(try contents(backup.draft).rows.count == before)
    backup.discard()
    #expect(try files(directory.path + "/backups") == [])
    try journal.close()
    #expect(try contents(directory.path).rows == writer.rows)
  }

  @Test func `a draft of one who was killed is in nobody's way`() throws {
    let directory = try TemporaryDirectory()
    let (journal, _) = try journal(directory)
    let backup = JournalBackup(of: directory.path)
    for _ in 0..<2 { try backup.copy { _, _ in } }
    _ = try contents(backup.draft)
    _ = try backup.finish(as: "a.db")
    #expect(try files(directory.path + "/backups") == ["a.db"])
    try journal.close()
  }

  /// Restores a file as `navd --restore` does; returns where the former journal is.
  private func restore(_ file: String, in directory: String) throws -> String? {
    let restoration = try JournalRestoration(in: directory, holder: "test")
    try restoration.copy(file) { _, _ in }
    let draft = try Journal.open(restoration.draft)
    _ = try draft.contents()
    try draft.renewEpochsAtNextStart()
    try draft.close()
    return try restoration.finish()
  }

  @Test func `a copy takes the place of the journal, which stays beside it with its log`() throws {
    let directory = try TemporaryDirectory()
    let (journal, writer) = try journal(directory)
    let backup = JournalBackup(of: directory.path)
    try backup.copy { _, _ in }
    _ = try contents(backup.draft)
    let (path, _) = try backup.finish(as: "a.db")
    var later = writer
    try journal.commit(later.batch(30))
    // As a kill leaves it: the last rows are in the log only.
    let killed = try directory.copy()
    try journal.close()
    let former = try #require(try restore(path, in: killed.path))
    #expect(former.hasPrefix(killed.path + "/journal-") && former.hasSuffix("Z.sqlite"))
    #expect(
      try files(killed.path)
        == [
          (former as NSString).lastPathComponent, (former as NSString).lastPathComponent + "-wal",
        ]
        + ["journal.sqlite", "lock"])
    #expect(try mode(killed.file) == 0o600)
    let restored = try Journal.open(killed.path)
    #expect(restored.mustRenewEpochs)
    #expect(try restored.contents().rows == writer.rows)
    try restored.epochsRenewed(before: 0)
    try restored.close()
    #expect(try !Journal.open(killed.path).mustRenewEpochs)
    let other = try TemporaryDirectory()
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: former + suffix, toPath: other.file + suffix)
    }
    #expect(try contents(other.path).rows == later.rows)
  }

  @Test func `a restoration goes on from wherever one was killed`() throws {
    let directory = try TemporaryDirectory()
    let (journal, writer) = try journal(directory)
    let killed = try directory.copy()
    try journal.close()
    let other = try TemporaryDirectory()
    let (second, others) = try self.journal(other, seed: 2)
    try second.close()
    for step in 0...4 {
      let state = try killed.copy()
      let ready = state.file + ".restored"
      try FileManager.default.copyItem(atPath: other.file, toPath: ready)
      let time = Date(timeIntervalSince1970: 1_732_147_200)
      try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: ready)
      let former = state.path + "/journal-20241121T000000Z.sqlite"
      if step >= 1 { #expect(unsafe link(state.file, former) == 0) }
      if step >= 2 { #expect(unsafe rename(state.file + "-wal", former + "-wal") == 0) }
      if step >= 3 { #expect(unsafe rename(ready, state.file) == 0) }
      // A second one in the same second finds its name taken.
      if step == 4 { try FileManager.default.copyItem(atPath: other.file, toPath: ready) }
      if step == 4 {
        try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: ready)
      }
      #expect(try contents(state.path).rows == others.rows)
      #expect(FileManager.default.fileExists(atPath: former + "-wal"))
      #expect(try !files(state.path).contains { $0.hasSuffix(".restored") })
      #expect(
        FileManager.default.fileExists(atPath: state.path + "/journal-20241121T000000Z-2.sqlite")
          == (step == 4))
      let again = try TemporaryDirectory()
      for suffix in ["", "-wal"] {
        try FileManager.default.copyItem(atPath: former + suffix, toPath: again.file + suffix)
      }
      #expect(try contents(again.path).rows == writer.rows)
    }
  }

  @Test func `a journal in use is not replaced, and a file that is not there changes nothing`()
    throws
  {
    let directory = try TemporaryDirectory()
    let (journal, _) = try journal(directory)
    #expect(throws: JournalError.self) {
      _ = try JournalRestoration(in: directory.path, holder: "test")
    }
    try journal.close()
    let before = try files(directory.path)
    #expect(throws: JournalError.self) {
      _ = try self.restore(directory.path + "/none", in: directory.path)
    }
    #expect(try files(directory.path) == before)
  }

  @Test(arguments: [
    (0, "19700101T000000Z"), (951_782_399, "20000228T235959Z"), (951_782_400, "20000229T000000Z"),
    (1_709_251_199, "20240229T235959Z"), (1_735_689_599, "20241231T235959Z"),
    (1_795_283_025, "20261121T174345Z"), (4_107_542_399, "21000228T235959Z"),
    (4_107_542_400, "21000301T000000Z"), (-1, "19691231T235959Z"),
  ])
  func `a moment is written as a date`(seconds: Int, text: String) {
    #expect(Timestamp.fileName(ofSeconds: seconds) == text)
    let separators: Set<Character> = ["-", ":"]
    let day = Timestamp.rfc3339(ofSeconds: seconds).drop { $0 == "-" }
    #expect(String(day.filter { !separators.contains($0) }) == text)
  }
}
