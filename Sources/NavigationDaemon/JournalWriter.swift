import CLinux
import Journal
import NavigationCore
import NavigationHub
import RuntimePaths

/// Commits batches on a thread of its own, in their order, and checkpoints the write-ahead log
/// between commits.
///
/// All batches that wait at the end of a commit go into the next one, which can wait for more; see
/// ``CommitPolicy``. If none is before it, the loop itself commits a batch while commits are short,
/// and a small one always, because waking another thread would cost more than it saves.
///
/// `@unchecked Sendable`: one thread at a time uses `journal`: the worker while batches are
/// incomplete or `isCheckpointing`, else the loop. `lock` guards the members that decide this.
@safe
final class JournalWriter: BatchWriter, @unchecked Sendable {
  /// The size of the log, in pages, from which the worker checkpoints it after a commit.
  ///
  /// Ops that arrive during a checkpoint wait for its end, so it should be small; but each
  /// one costs two syncs. 256 pages take 0.9 ms of processor time, 1000 pages 3.3 ms.
  static let busyPages = 256

  /// The number of records from which a commit of the loop is followed by a checkpoint at
  /// `busyPages`: after fewer, one op in seventy would wait for it.
  static let largeBatch = 8

  /// The milliseconds from which a commit is slow, so that the loop leaves commits to the worker.
  static let slowCommitMilliseconds: Int32 = 50

  /// The journal; the loop can use it while all batches are complete and no checkpoint runs.
  let journal: any JournalStore
  /// The file descriptor, which is readable after progress since `arm`: a batch is complete or has
  /// failed.
  let descriptor: Int32
  private let lock: UnsafeMutablePointer<pthread_mutex_t>
  private let workArrived: UnsafeMutablePointer<pthread_cond_t>
  private let progressMade: UnsafeMutablePointer<pthread_cond_t>
  private var queue: [Part] = []
  private var progress = CommitProgress()
  private var walPageCount = 0
  private var presentLease: JournalLease?
  /// The size in pages above which the worker starts the next checkpoint.
  ///
  /// After a checkpoint that could not empty the log it is above `busyPages`, so that not every
  /// commit tries again.
  private var checkpointPages = JournalWriter.busyPages
  private var mustCheckpoint = false
  private var mustDiscard = false
  private var isWorkerAsleep = false
  /// `lock` guards it.
  var policy = CommitPolicy()
  /// The end of the last commit, in nanoseconds of the monotonic clock.
  private var lastCommitEnd: UInt64 = 0
  /// Whether the loop is blocked in `awaitProgress`, so that no further records can arrive.
  private var isLoopWaiting = false
  private var isArmed = false
  private var isStarted = false
  private var isSlow = false

  init(journal: any JournalStore) {
    self.journal = journal
    presentLease = journal.lease
    walPageCount = journal.walPages
    descriptor = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC))
    precondition(descriptor >= 0, "eventfd: errno=\(navd_errno())")
    unsafe lock = .allocate(capacity: 1)
    unsafe workArrived = .allocate(capacity: 1)
    unsafe progressMade = .allocate(capacity: 1)
    unsafe pthread_mutex_init(lock, nil)
    var attributes = pthread_condattr_t()
    unsafe pthread_condattr_init(&attributes)
    unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    unsafe pthread_cond_init(workArrived, &attributes)
    unsafe pthread_cond_init(progressMade, &attributes)
    unsafe pthread_condattr_destroy(&attributes)
  }

  /// Commits a batch on the loop thread; all batches before it must be complete.
  ///
  /// After `.syncFailed`, nobody knows whether the journal has the batch; after any other error, it
  /// has no record of it. The result is nil if the batch is empty.
  @discardableResult
  func commit(_ records: JournalRecords) throws(JournalError) -> CommitMeasurement? {
    awaitCheckpoint()
    let start = records.isEmpty ? nil : SystemClock.monotonicNanoseconds()
    try journal.commit(records)
    (walPageCount, presentLease) = (journal.walPages, journal.lease)
    let timing = start.map { CommitMeasurement(since: $0, records: records.count) }
    if let timing {
      isSlow = timing.isSlow
      let mustCheckpoint = withLock {
        policy.noteDuration(timing.duration)
        return timing.records >= Self.largeBatch
          && walPageCount > checkpointPages
      }
      // It runs while the loop sends the answers; from the next turn on, it would delay ops.
      if mustCheckpoint { startCheckpoint() }
    }
    return timing
  }

  /// Whether the loop should commit a batch of any size, if none is before it; loop thread.
  var commitsAreShort: Bool { withLock { policy.commitsAreShort } }

  /// Whether the worker should commit this many records instead of the loop; loop thread.
  ///
  /// It should while it checkpoints the log, or if it would wait for records that are about to
  /// arrive.
  func workerShouldCommit(_ count: Int) -> Bool {
    withLock {
      mustCheckpoint || isSlow
        || count < policy.expectedRecords && policy.maximumWait > 0
          && SystemClock.monotonicNanoseconds() < lastCommitEnd + policy.maximumWait
    }
  }

  /// Passes a part of the next batch to the worker; loop thread.
  func stage(_ records: JournalRecords) {
    if !records.isEmpty { wake { queue.append(Part(records: records, isLast: false)) } }
  }

  /// Passes the last part of a batch to the worker, which can be empty; loop thread.
  func submit(_ records: JournalRecords) {
    wake { queue.append(Part(records: records, isLast: true)) }
  }

  /// Drops the parts of the next batch, which has no last part yet; all batches before it must be
  /// complete; loop thread.
  func discard() {
    wake {
      queue = []
      mustDiscard = true
    }
    wait { mustDiscard }
  }

  /// Starts a checkpoint; all batches must be complete; loop thread.
  func startCheckpoint() { wake { mustCheckpoint = true } }

  /// Whether a checkpoint is running, so that the loop must not use `journal`; loop thread.
  var isCheckpointing: Bool { withLock { mustCheckpoint } }

  /// Waits until a running checkpoint ends; loop thread.
  func awaitCheckpoint() { wait { mustCheckpoint } }

  private func wait(while isBusy: () -> Bool) {
    withLock { while isBusy() { unsafe pthread_cond_wait(progressMade, lock) } }
  }

  private func wake(_ change: () -> Void) {
    if !isStarted {
      isStarted = true
      Thread.start { self.run() }
    }
    let mustWake = withLock {
      change()
      return isWorkerAsleep
    }
    if mustWake { unsafe pthread_cond_signal(workArrived) }
  }

  /// Takes the progress since the last call; loop thread.
  func takeProgress() -> CommitProgress {
    withLock {
      defer { progress = CommitProgress() }
      if progress.failure != nil { queue = [] }
      return progress
    }
  }

  /// Waits until a batch is complete or has failed, or the time is over; loop thread.
  func awaitProgress(milliseconds: Int32 = .max) {
    let end = SystemClock.monotonicMilliseconds() + UInt64(milliseconds)
    var until = timespec(tv_sec: Int(end / 1000), tv_nsec: Int(end % 1000) * 1_000_000)
    unsafe pthread_mutex_lock(lock)
    isLoopWaiting = true
    if isWorkerAsleep { unsafe pthread_cond_signal(workArrived) }
    while !hasProgress,
      unsafe pthread_cond_timedwait(progressMade, lock, &until) != ETIMEDOUT
    {}
    isLoopWaiting = false
    unsafe pthread_mutex_unlock(lock)
  }

  /// Lets the next progress make the descriptor readable; loop thread.
  ///
  /// Returns false if there is progress already.
  func arm() -> Bool {
    withLock {
      isArmed = !hasProgress
      return isArmed
    }
  }

  /// Whether a batch is complete or has failed; the caller holds `lock`.
  private var hasProgress: Bool { progress.completedBatches > 0 || progress.failure != nil }

  /// Makes the descriptor unreadable; loop thread.
  func disarm() {
    var count: eventfd_t = 0
    _ = unsafe eventfd_read(descriptor, &count)
  }

  /// Pages in the write-ahead log after the last commit; loop thread.
  var walPages: Int { withLock { walPageCount } }

  /// The lease after the last commit or checkpoint; nil if no other process can take over; loop
  /// thread.
  var lease: JournalLease? { withLock { presentLease } }

  private func withLock<Value>(_ body: () -> Value) -> Value {
    unsafe pthread_mutex_lock(lock)
    defer { unsafe pthread_mutex_unlock(lock) }
    return body()
  }

  private func run() {
    var staged = 0
    var stagingNanoseconds: UInt64 = 0
    unsafe pthread_mutex_lock(lock)
    while true {
      while (queue.isEmpty || progress.failure != nil) && !mustCheckpoint && !mustDiscard {
        isWorkerAsleep = true
        unsafe pthread_cond_wait(workArrived, lock)
        isWorkerAsleep = false
      }
      guard !mustCheckpoint else {
        checkpointLocked()
        continue
      }
      guard !mustDiscard else {
        journal.discardStaged()
        (staged, stagingNanoseconds, progress.failure, mustDiscard) = (0, 0, nil, false)
        unsafe pthread_cond_signal(progressMade)
        continue
      }
      awaitRecords()
      // Commits all complete batches together; of an incomplete one it only inserts the parts.
      let end = queue.lastIndex { $0.isLast }.map { $0 + 1 }
      let parts = Array(queue[..<(end ?? queue.count)])
      queue.removeFirst(parts.count)
      unsafe pthread_mutex_unlock(lock)
      for part in parts { staged += part.records.count }
      let start = SystemClock.monotonicNanoseconds()
      let result = write(parts, andCommit: end != nil, records: staged)
      let timing = CommitMeasurement(since: start, records: staged)
      unsafe pthread_mutex_lock(lock)
      if let result {
        progress.failure = result
      } else {
        progress.completedBatches += parts.count { $0.isLast }
      }
      if result == nil, end != nil, timing.records > 0 {
        progress.timings.append(timing)
        (lastCommitEnd, isSlow) = (timing.durableAt, timing.isSlow)
        policy.noteDuration(stagingNanoseconds + timing.duration)
        policy.noteCommit(
          of: timing.records, waiting: recordsWaiting, duration: timing.duration)
      }
      (walPageCount, presentLease) = (journal.walPages, journal.lease)
      guard result != nil || end != nil else {
        stagingNanoseconds += timing.duration
        continue
      }
      (staged, stagingNanoseconds) = (0, 0)
      if isArmed {
        isArmed = false
        eventfd_write(descriptor, 1)
      }
      unsafe pthread_cond_signal(progressMade)
      // Reports progress before the next commit waits, so that the answers leave in that time.
      if result == nil, end != nil { mustCheckpoint = walPageCount > checkpointPages }
    }
  }

  private var recordsWaiting: Int { queue.reduce(0) { $0 + $1.records.count } }

  /// Waits for further ops; the caller holds `lock`, which is released during the wait.
  private func awaitRecords() {
    let waiting = recordsWaiting
    let start = SystemClock.monotonicNanoseconds()
    let end = lastCommitEnd + policy.maximumWait
    guard waiting > 0, waiting < policy.expectedRecords, start < end else { return }
    var now = start
    while recordsWaiting < policy.expectedRecords, now < end, !isLoopWaiting, !mustCheckpoint,
      !mustDiscard
    {
      var until = timespec(
        tv_sec: Int(end / 1_000_000_000), tv_nsec: Int(end % 1_000_000_000))
      isWorkerAsleep = true
      _ = unsafe pthread_cond_timedwait(workArrived, lock, &until)
      isWorkerAsleep = false
      now = SystemClock.monotonicNanoseconds()
    }
    // A wait that the loop has shortened is no evidence about arriving ops.
    if !isLoopWaiting, !mustDiscard { policy.noteWait(from: waiting, to: recordsWaiting) }
  }

  /// Checkpoints the log; the caller holds `lock`, which is released meanwhile.
  private func checkpointLocked() {
    unsafe pthread_mutex_unlock(lock)
    var failure: JournalError?
    do throws(JournalError) { try journal.checkpoint() } catch { failure = error }
    unsafe pthread_mutex_lock(lock)
    (walPageCount, presentLease) = (journal.walPages, journal.lease)
    checkpointPages = walPageCount + Self.busyPages
    mustCheckpoint = false
    let hasLogReader = failure == nil && walPageCount > 0
    if failure != nil || hasLogReader {
      (progress.checkpointFailure, progress.hasLogReader) = (failure, hasLogReader)
    }
    // With a lease, the loop has to plan the next renewal.
    if failure != nil || hasLogReader || presentLease != nil { eventfd_write(descriptor, 1) }
    unsafe pthread_cond_signal(progressMade)
  }

  private func write(_ parts: [Part], andCommit mustCommit: Bool, records: Int) -> JournalError? {
    do throws(JournalError) {
      for part in parts { try journal.stage(part.records) }
      if mustCommit {
        try journal.commitStaged()
        // A batch without records was not proven by a commit: after the lease, another daemon may
        // have changed what its answers say. One with records is stored, and so has not failed.
        if records == 0, let lease = journal.lease, lease.end <= SystemClock.bootMilliseconds() {
          try journal.checkpoint()
        }
      }
      return nil
    } catch {
      return error
    }
  }

  private struct Part {
    var records: JournalRecords
    var isLast: Bool
  }
}

/// How long one commit of the journal took, when it ended, and how many records it wrote.
package struct CommitMeasurement: Equatable {
  var records: Int
  /// Its duration and its end, in nanoseconds of the monotonic clock.
  var duration: UInt64
  var durableAt: UInt64

  var isSlow: Bool { duration >= UInt64(JournalWriter.slowCommitMilliseconds) * 1_000_000 }

  /// Measures a commit that began at `start` and has just ended.
  init(since start: UInt64, records: Int) {
    self.records = records
    durableAt = SystemClock.monotonicNanoseconds()
    duration = durableAt - start
  }
}
