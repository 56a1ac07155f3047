import Foundation
import NavigationCore
import NavigationHub
import RuntimePaths
import Testing

@testable import Journal
@testable import NavigationDaemon

@Suite(.timeLimit(.minutes(1))) struct JournalWriterTests {
  private static func open(_ directory: String) throws -> (Journal, rows: Int) {
    let journal = try Journal.open(
      directory: directory, durability: .sync, bootID: "boot", retention: Retention.standard,
      holder: "test")
    var rows = 0
    try journal.replay(snapshots: { _ in }, rows: { _, _ in rows += 1 })
    return (journal, rows)
  }

  /// Rows that packing makes no smaller.
  private static func batch(_ sequences: ClosedRange<UInt64>) -> JournalRecords {
    var random = SeededGenerator(seed: sequences.lowerBound)
    return JournalRecords(
      sequences.map {
        .row(
          JournalRow(
            RowHeader(
              sequence: $0, nav: 1, revision: $0, previous: $0 - 1, time: 0,
              kind: $0 == 1 ? .created : .changed, depth: 0, top: nil),
            body: (0..<2000).map { _ in UInt8.random(in: 0...255, using: &random) }))
      })
  }

  @Test func `a commit of the loop is followed by a checkpoint once the log has grown`() throws {
    try withTemporaryDirectory { directory in
      let (journal, _) = try Self.open(directory)
      let writer = JournalWriter(journal: journal)
      var (largest, checkpoints) = (0, 0)
      for batch in 0..<60 as Range<UInt64> {
        try writer.commit(Self.batch(batch * 20 + 1...batch * 20 + 20))
        largest = max(largest, writer.walPages)
        if writer.isCheckpointing { checkpoints += 1 }
        writer.awaitCheckpoint()
        #expect(writer.takeProgress().checkpointFailure == nil)
      }
      #expect(largest > 100 && largest < JournalWriter.busyPages + 100)
      #expect(writer.walPages <= JournalWriter.busyPages && checkpoints <= 12)
      try journal.close()
    }
  }

  @Test func `the log is checkpointed between commits, when it has grown and on demand`() throws {
    try withTemporaryDirectory { directory in
      let (journal, _) = try Self.open(directory)
      let writer = JournalWriter(journal: journal)
      let start = SystemClock.monotonicNanoseconds()
      var (completed, timings): (Int, [CommitMeasurement]) = (0, [])
      var largest = 0
      for batch in 0..<60 as Range<UInt64> {
        writer.stage(Self.batch(batch * 20 + 1...batch * 20 + 10))
        writer.submit(Self.batch(batch * 20 + 11...batch * 20 + 20))
        while completed <= batch {
          writer.awaitProgress()
          let progress = writer.takeProgress()
          completed += progress.completedBatches
          timings += progress.timings
          #expect(progress.checkpointFailure == nil && !progress.hasLogReader)
        }
        largest = max(largest, writer.walPages)
      }
      writer.awaitCheckpoint()
      let rest = writer.takeProgress()
      #expect(rest.timings.isEmpty && rest.checkpointFailure == nil && !rest.hasLogReader)
      #expect(timings.map(\.records).reduce(0, +) == 1200)
      // The commits follow each other, and each lies between the start and now.
      var last = start
      for timing in timings {
        #expect(timing.durableAt - timing.duration >= last)
        last = timing.durableAt
      }
      #expect(last <= SystemClock.monotonicNanoseconds())
      // A commit goes over the limit by what it writes, and the next one finds the log empty.
      #expect(largest > 100 && largest < JournalWriter.busyPages + 100)
      #expect(writer.walPages <= JournalWriter.busyPages)
      #expect(journal.fileSizes.journal > 1 << 20)

      #expect(try writer.commit(Self.batch(1201...1202))?.records == 2)
      #expect(try writer.commit(JournalRecords()) == nil)
      #expect(writer.walPages > 0)
      writer.startCheckpoint()
      writer.awaitCheckpoint()
      #expect(writer.walPages == 0 && !writer.isCheckpointing)
      // The loop may commit by itself at once: it waits for its turn.
      writer.startCheckpoint()
      try writer.commit(Self.batch(1203...1203))
      writer.submit(Self.batch(1204...1204))
      writer.awaitProgress()
      #expect(writer.takeProgress().completedBatches == 1)
      try journal.close()
      #expect(try Self.open(directory).rows == 1204)
    }
  }

  @Test func `the parts of a batch are dropped, and nothing of the batches before`() throws {
    try withTemporaryDirectory { directory in
      let (journal, _) = try Self.open(directory)
      let writer = JournalWriter(journal: journal)
      // Nothing is staged.
      writer.discard()
      for last in stride(from: 10 as UInt64, through: 100, by: 10) {
        writer.submit(Self.batch(last - 9...last))
        for part in 0..<last / 10 { writer.stage(Self.batch(last + 1 + part...last + 1 + part)) }
        var completed = 0
        while completed == 0 {
          writer.awaitProgress()
          let progress = writer.takeProgress()
          completed += progress.completedBatches
          #expect(progress.failure == nil)
        }
        writer.discard()
        #expect(writer.takeProgress().failure == nil)
      }
      try writer.commit(Self.batch(101...102))
      try journal.close()
      #expect(try Self.open(directory).rows == 102)
    }
  }

  @Test func `a batch that is stored has not failed, whatever a renewal of the lease would find`() {
    let cluster = ScriptedCluster()
    cluster.lease = JournalLease(renewAt: 0, end: 0)
    cluster.failure = .fenced(path: "test", shards: [Shard(9)])
    let writer = JournalWriter(journal: cluster)
    writer.submit(Self.batch(1...1))
    writer.awaitProgress()
    var progress = writer.takeProgress()
    #expect(progress.completedBatches == 1 && progress.failure == nil)
    writer.stage(Self.batch(2...2))
    writer.submit(JournalRecords())
    writer.awaitProgress()
    progress = writer.takeProgress()
    #expect(progress.completedBatches == 1 && progress.failure == nil)
    // Without records, no commit has proven that this process may still answer.
    writer.submit(JournalRecords())
    writer.awaitProgress()
    progress = writer.takeProgress()
    #expect(progress.completedBatches == 0 && progress.failure == cluster.failure)
  }

  @Test func `a failure is taken behind the batches that were stored before it`() {
    let cluster = ScriptedCluster()
    cluster.lease = JournalLease(renewAt: 0, end: 0)
    cluster.failure = .fenced(path: "test", shards: [Shard(9)])
    let writer = JournalWriter(journal: cluster)
    writer.submit(Self.batch(1...1))
    writer.awaitProgress()
    writer.submit(JournalRecords())
    // However long it has failed: what was stored before it comes first, or with it.
    _ = poll(nil, 0, 50)
    var progress = writer.takeProgress()
    #expect(progress.completedBatches == 1)
    if progress.failure == nil {
      writer.awaitProgress(milliseconds: 10_000)
      progress = writer.takeProgress()
      #expect(progress.completedBatches == 0)
    }
    #expect(progress.failure == cluster.failure)
  }

  @Test func `what a reader is at work in stays in the log until it has ended`() throws {
    try withTemporaryDirectory { directory in
      let (journal, _) = try Self.open(directory)
      let writer = JournalWriter(journal: journal)
      try writer.commit(Self.batch(1...2))
      let reader = try Database(path: directory + "/" + Journal.fileName, readOnly: true)
      try reader.execute("BEGIN; SELECT * FROM log", .reading)
      try writer.commit(Self.batch(3...4))
      writer.startCheckpoint()
      writer.awaitCheckpoint()
      #expect(writer.takeProgress().hasLogReader)
      #expect(!writer.takeProgress().hasLogReader)
      #expect(writer.walPages > 0)
      try reader.execute("COMMIT", .reading)
      writer.startCheckpoint()
      writer.awaitCheckpoint()
      #expect(!writer.takeProgress().hasLogReader && writer.walPages == 0)
      try journal.close()
    }
  }
}
