import Foundation
import Testing

@testable import Journal
@testable import NavigationCore
@testable import NavigationDaemon
@testable import NavigationHub

@Suite(.timeLimit(.minutes(1))) struct HistoryAccessTests {
  /// Lends a journal of one nav with these revisions, and its directory.
  private func withJournal(
    _ revisions: ClosedRange<UInt64>, _ body: (Journal, String) throws -> Void
  ) throws {
    try withTemporaryDirectory { directory in
      let journal = try Journal.open(
        directory: directory, durability: .relaxed, bootID: "boot", retention: Retention.standard,
        holder: "test")
      try journal.replay(snapshots: { _ in }, rows: { _, _ in })
      try append(revisions, to: journal)
      try body(journal, directory)
      try journal.close()
    }
  }

  private func append(_ revisions: ClosedRange<UInt64>, to journal: Journal) throws {
    try journal.commit(
      JournalRecords(
        revisions.map {
          .row(
            JournalRow(
              RowHeader(
                sequence: $0, nav: 1, revision: $0, previous: $0 - 1, time: 0,
                kind: $0 == 1 ? .created : .changed, depth: 0, top: nil),
              body: Array("row \($0)".utf8)))
        }))
  }

  @Test func `answers come by the thread, which makes the descriptor readable`() throws {
    try withJournal(1...9) { _, directory in
      let history = HistoryReaders(JournalDirectory(directory))
      #expect(!isReadable(history.descriptor))
      #expect(history.takeAnswer()?.token == nil)
      history.ask([
        HistoryRequest(token: 5, nav: 1, newestRow: 9, part: .rows(from: 3, through: 6)),
        HistoryRequest(token: 6, nav: 1, newestRow: 9, part: .state(at: 4)),
      ])
      var answers: [HistoryAnswer] = []
      for _ in 0..<2 {
        awaitReadable(history.descriptor)
        answers.append(try #require(history.takeAnswer()))
      }
      #expect(answers.map(\.token) == [5, 6])
      #expect(answers.map { $0.rows.map(\.revision) } == [[3, 4, 5, 6], [1, 2, 3, 4]])
      #expect(answers.allSatisfy { $0.failure == nil && $0.snapshot == nil })
      #expect(answers[0].rows.first?.body == Array("row 3".utf8))
      #expect(!isReadable(history.descriptor))
    }
  }

  @Test func `navs are read before old revisions, and a nav that cannot be replayed is an error`()
    throws
  {
    try withJournal(1...9) { _, directory in
      var history = HistoryReaders(JournalDirectory(directory))
      let replayer = Hub(configuration: HubConfiguration(), seed: 1).makeReplayer()
      var pages = try history.takeFinishedReplays()
      #expect(pages.isEmpty && history.takeReplayedNavs().isEmpty)
      // The rows of this journal are no states.
      history.startReplays(of: [ReloadRequest(nav: 1, newestRow: 9)], by: replayer)
      awaitReadable(history.descriptor)
      #expect(history.takeAnswer()?.token == nil)
      #expect(throws: HubReplayError.self) { _ = try history.takeFinishedReplays() }
      pages = try history.takeFinishedReplays()
      #expect(pages.isEmpty && history.takeReplayedNavs().isEmpty)
      #expect(!isReadable(history.descriptor))
    }
  }

  @Test func `a nav that the disk fails to read delays no other request`() throws {
    let place = FailingPlace()
    var history = HistoryReaders(place)
    let replayer = Hub(configuration: HubConfiguration(), seed: 1).makeReplayer()
    history.startReplays(of: [ReloadRequest(nav: 1, newestRow: 1)], by: replayer)
    history.ask([HistoryRequest(token: 7, nav: 2, newestRow: 1, part: .state(at: 1))])
    // Both wait before the read of the first begins.
    place.begin.signal()
    place.other.wait()
    #expect(!isReadable(history.descriptor), "the first is reported before the second is read")
    place.end.signal()
    awaitReadable(history.descriptor)
    #expect(history.takeAnswer()?.token == 7)
    awaitReadable(history.descriptor)
    #expect(history.takeAnswer()?.token == nil)
    var reports = 0
    let requests = try history.takeFinishedReplays { _ in reports += 1 }
    #expect(requests.map(\.nav) == [1] && reports == 1 && history.takeReplayedNavs().isEmpty)
    history.close()
  }

  @Test func `the readers can be closed and used again`() throws {
    try withJournal(1...3) { _, directory in
      var history = HistoryReaders(JournalDirectory(directory))
      history.close()
      history.open()
      for token in 1...3 as ClosedRange<UInt64> {
        history.ask([HistoryRequest(token: token, nav: 1, newestRow: 3, part: .state(at: 2))])
        awaitReadable(history.descriptor)
        #expect(history.takeAnswer()?.rows.count == 2)
        history.close()
      }
    }
  }

  @Test func `what cannot wait is read at once, with what was committed meanwhile`() throws {
    try withJournal(1...3) { journal, directory in
      var history = HistoryReaders(JournalDirectory(directory))
      let before = try history.snapshotAndRows(of: ReloadRequest(nav: 1, newestRow: 3))
      #expect(before.rows.map(\.revision) == [1, 2, 3] && before.snapshot == nil)
      try append(4...5, to: journal)
      let after = try history.snapshotAndRows(of: ReloadRequest(nav: 1, newestRow: 5))
      #expect(after.rows.map(\.revision) == [1, 2, 3, 4, 5])
    }
  }

  @Test func `a journal that cannot be read is an error of the first read, not of the start`()
    throws
  {
    try withTemporaryDirectory { directory in
      var history = HistoryReaders(JournalDirectory(directory + "/nowhere"))
      history.open()
      #expect(throws: JournalError.self) {
        _ = try history.snapshotAndRows(of: ReloadRequest(nav: 1, newestRow: 1))
      }
      history.ask([HistoryRequest(token: 1, nav: 1, newestRow: 1, part: .state(at: 1))])
      awaitReadable(history.descriptor)
      let answer = try #require(history.takeAnswer())
      #expect(answer.token == 1)
      #expect(answer.failure?.isEmpty == false)
      #expect(answer.rows.isEmpty)
    }
  }
}

extension JournalDirectory {
  fileprivate init(_ path: String) { self.init(path: path, bootID: "boot") }
}

/// A place with nothing but nav 1, which the disk fails to read once `begin` is signalled.
///
/// The read of another nav signals `other`, and waits for `end`.
private struct FailingPlace: JournalPlace {
  let begin = DispatchSemaphore(value: 0)
  let other = DispatchSemaphore(value: 0)
  let end = DispatchSemaphore(value: 0)
  var directory: JournalDirectory? { nil }

  func openReader() throws(JournalError) -> JournalReader { JournalReader(Reader(of: self)) }

  private final class Reader: JournalEngineReader {
    let place: FailingPlace

    init(of place: FailingPlace) { self.place = place }

    var name: String { "test" }

    func reading<Value>(
      _ body: () throws(JournalError) -> Value
    ) throws(JournalError) -> Value { try body() }

    func dataVersion() throws(JournalError) -> Int64? { nil }

    func readGroup(
      from sequence: UInt64, of shard: Shard, _ consume: GroupConsumer
    ) throws(JournalError) -> Bool { false }

    func readGroups(
      from first: UInt64, through last: UInt64, of shard: Shard, _ consume: GroupConsumer
    ) throws(JournalError) -> Bool { false }

    func snapshot(nav: UInt64, notAfter revision: UInt64) throws(JournalError) -> SnapshotRow? {
      guard nav == 1 else {
        place.other.signal()
        place.end.wait()
        place.end.signal()
        return nil
      }
      place.begin.wait()
      throw .readFailed(path: "test", reason: "Input/output error")
    }
  }
}
