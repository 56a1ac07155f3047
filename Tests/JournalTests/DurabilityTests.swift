import Foundation
import NavigationCore
import NavigationHub
import Testing

@testable import Journal

/// Protocol of the note on the last sync: what one run leaves, and what the next makes of it.
@Suite struct DurabilityTests {
  enum End: CaseIterable {
    case closed
    case synced
    case killed
  }

  struct Case: CustomTestStringConvertible {
    var durability: Durability
    var commits: Bool
    var end: End
    var sameBoot: Bool
    var renews: Bool
    var testDescription: String {
      "\(durability) commits \(commits) \(end) same boot \(sameBoot) gives \(renews)"
    }
  }

  static let cases: [Case] = [Durability.sync, .relaxed].flatMap { durability in
    [true, false].flatMap { commits in
      End.allCases.flatMap { end in
        [true, false].map { sameBoot in
          let isDirty = durability == .relaxed && commits && end == .killed
          return Case(
            durability: durability, commits: commits, end: end, sameBoot: sameBoot,
            renews: isDirty && !sameBoot)
        }
      }
    }
  }

  /// Leaves a copy of the files as a run of this kind leaves them.
  private func run(_ run: Case, in directory: TemporaryDirectory) throws -> TemporaryDirectory {
    var writer = Writer(seed: 1)
    let journal = try Journal.open(directory.path, durability: run.durability, bootID: "old")
    _ = try journal.contents()
    if run.commits { try journal.commit(writer.batch(3)) }
    switch run.end {
    case .closed: try journal.close()
    case .synced: try journal.syncNow()
    case .killed: break
    }
    return try directory.copy()
  }

  @Test(arguments: cases)
  func `epochs are renewed only after a possible loss`(_ run: Case) throws {
    let directory = try TemporaryDirectory()
    let copy = try self.run(run, in: directory)
    for durability in [Durability.sync, .relaxed] {
      let again = try copy.copy()
      let journal = try Journal.open(
        again.path, durability: durability, bootID: run.sameBoot ? "old" : "new")
      #expect(journal.mustRenewEpochs == run.renews)
      #expect(try journal.contents().rows.count == (run.commits ? 3 : 0))
    }
  }

  @Test(arguments: [Durability.sync, .relaxed])
  func `the need for new epochs outlives a run that did not make them`(_ new: Durability) throws {
    let directory = try TemporaryDirectory()
    let dirty = Case(
      durability: .relaxed, commits: true, end: .killed, sameBoot: false, renews: true)
    let copy = try run(dirty, in: directory)
    var journal = try Journal.open(copy.path, durability: new, bootID: "new")
    _ = try journal.contents()
    try journal.syncNow()
    try journal.close()

    journal = try Journal.open(copy.path, durability: new, bootID: "new")
    #expect(journal.mustRenewEpochs)
    _ = try journal.contents()
    let row = JournalRow(
      RowHeader(
        sequence: 4, nav: 1, revision: 1, previous: 0, time: 0, kind: .epoch, depth: 0, top: nil),
      body: [])
    try journal.commit([.row(row)])
    // Killed here, the rows are there but nobody said that they are all.
    let killed = try copy.copy()
    #expect(try Journal.open(killed.path, durability: new, bootID: "new").mustRenewEpochs)
    try journal.epochsRenewed(before: 1 << 40)
    #expect(!journal.mustRenewEpochs)
    let renewed = try copy.copy()
    journal = try Journal.open(renewed.path, durability: new, bootID: "other")
    #expect(!journal.mustRenewEpochs)
    // The numbers of rows that may be lost stay unused, although no row was stored since.
    #expect(try journal.contents().rows.last == row)
    #expect(journal.lastSequence == 1 << 40)
  }

  @Test func `after a failed sync every commit fails the same way`() throws {
    let directory = try TemporaryDirectory()
    let writer = Writer(seed: 1)
    let journal = try Journal.open(directory.path)
    _ = try journal.contents()
    let failure = JournalError.syncFailed(path: directory.file, reason: "test")
    #expect(throws: failure) {
      try journal.transaction { () throws(JournalError) in throw failure }
    }
    for _ in 0..<2 { #expect(throws: failure) { try journal.commit(writer.peek(2)) } }
    #expect(throws: failure) { try journal.checkpoint() }
    #expect(throws: failure) { try journal.close() }
    #expect(try Journal.open(directory.path).contents() == Contents())
  }

  @Test func `codes of SQLite become what a caller can act on`() {
    func error(_ code: Int32, _ attempt: DatabaseAction) -> JournalError {
      unsafe JournalError(code: code, connection: nil, path: "/j", action: attempt)
    }
    #expect(error(13, .writing) == .full(path: "/j"))
    for code: Int32 in [10 | 4 << 8, 10 | 5 << 8] {
      guard case .syncFailed = error(code, .writing) else {
        Issue.record("\(code)")
        continue
      }
    }
    for code: Int32 in [11, 26, 11 | 1 << 8] {
      guard case .damaged = error(code, .writing) else {
        Issue.record("\(code)")
        continue
      }
    }
    for code: Int32 in [5, 7, 8, 10 | 3 << 8] {
      guard case .writeFailed = error(code, .writing) else {
        Issue.record("\(code)")
        continue
      }
    }
    guard case .unwritable = error(8, .opening), case .unreadable = error(14, .opening) else {
      Issue.record("opening")
      return
    }
  }
}
