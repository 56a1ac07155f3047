import CLinux
import Journal
import NavigationSync
import RuntimePaths

/// Commits batches in the order in which they come, and puts the write-ahead log away between
/// them, on its own thread.
///
/// What has come by the time a commit ends goes into the next one, which waits for more where
/// ``CommitPolicy`` says that it pays. A small batch with nothing before it is written by the loop itself:
/// the wake-up of another thread would cost more than it saves.
///
/// Not `Sendable` by its members: one thread at a time uses `journal`. The worker does so only while
/// there are batches that it has not completed, or while `isBusy`; both know by what `lock` guards.
@safe
final class JournalWriter: @unchecked Sendable {
  /// Pages from which on the worker puts the log away between two commits.
  ///
  /// The ops that arrive meanwhile wait for as long as that takes, so it goes in small pieces; but
  /// each costs two syncs. 256 pages take 0.9 ms of processor time, 1000 take 3.3.
  static let busyPages = 256

  /// The journal; the loop may use it while every batch submitted is completed, and not `isBusy`.
  let journal: Journal
  /// Readable when a batch is completed or refused after `arm` had nothing to tell.
  let descriptor: Int32
  private let lock: UnsafeMutablePointer<pthread_mutex_t>
  private let arrived: UnsafeMutablePointer<pthread_cond_t>
  private let progressed: UnsafeMutablePointer<pthread_cond_t>
  private var queue: [Part] = []
  private var completed = 0
  private var timings: [CommitTiming] = []
  private var failure: JournalError?
  private var logPages = 0
  /// The size of the log from which on it is put away; above `busyPages` after an attempt that did
  /// not empty it, so that not every commit makes another.
  private var pagesToPutAway = JournalWriter.busyPages
  private var mustPutAway = false
  private var putAwayProblem: PutAwayProblem?
  private var isAsleep = false
  private var policy = CommitPolicy()
  /// When the last commit ended, in nanoseconds.
  private var lastEnd: UInt64 = 0
  /// Whether the loop does nothing until a batch is completed, so that nothing can arrive.
  private var isAwaited = false
  private var isArmed = false
  private var isStarted = false

  init(journal: Journal) {
    self.journal = journal
    logPages = journal.walPages
    descriptor = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC))
    precondition(descriptor >= 0, "eventfd: errno=\(navd_errno())")
    unsafe lock = .allocate(capacity: 1)
    unsafe arrived = .allocate(capacity: 1)
    unsafe progressed = .allocate(capacity: 1)
    unsafe pthread_mutex_init(lock, nil)
    var attributes = pthread_condattr_t()
    unsafe pthread_condattr_init(&attributes)
    unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    unsafe pthread_cond_init(arrived, &attributes)
    unsafe pthread_condattr_destroy(&attributes)
    unsafe pthread_cond_init(progressed, nil)
  }

  /// Commits a batch at once, every batch before it being completed; loop thread.
  ///
  /// - Throws: as `Journal.commit`; nothing of the batch is stored.
  /// - Returns: how long it took; nil if there was nothing to store.
  @discardableResult
  func commit(_ records: [JournalRecord]) throws(JournalError) -> CommitTiming? {
    rest()
    let start = records.isEmpty ? nil : SystemClock.monotonicNanoseconds()
    try journal.commit(records)
    logPages = journal.walPages
    return start.map { CommitTiming(since: $0, records: records.count) }
  }

  /// Whether a commit is better left to the worker, which waits for records that are about to arrive;
  /// loop thread.
  func expectsMore(than count: Int) -> Bool {
    guarded {
      count < policy.expected && policy.limit > 0
        && SystemClock.monotonicNanoseconds() < lastEnd + policy.limit
    }
  }

  /// Hands over a part of the batch that will be submitted next; loop thread.
  func stage(_ records: [JournalRecord]) {
    if !records.isEmpty { enqueue(Part(records: records, isLast: false)) }
  }

  /// Hands over a batch, which may be empty, behind its parts that are staged; loop thread.
  func submit(_ records: [JournalRecord]) { enqueue(Part(records: records, isLast: true)) }

  private func enqueue(_ part: Part) { wake { queue.append(part) } }

  /// Asks that the write-ahead log be put away, every batch being completed; loop thread.
  func putAway() { wake { mustPutAway = true } }

  /// Whether the log is being put away, and `journal` must be left alone; loop thread.
  var isBusy: Bool { guarded { mustPutAway } }

  /// Waits until the log is put away, if it is being; loop thread.
  func rest() {
    unsafe pthread_mutex_lock(lock)
    while mustPutAway { unsafe pthread_cond_wait(progressed, lock) }
    unsafe pthread_mutex_unlock(lock)
  }

  /// Why the log was not emptied when that was tried last.
  enum PutAwayProblem: Equatable {
    /// A reader is at work in it.
    case isRead
    case failed(JournalError)
  }

  /// Takes what prevented the log from being emptied; loop thread.
  func takePutAwayProblem() -> PutAwayProblem? {
    guarded {
      defer { putAwayProblem = nil }
      return putAwayProblem
    }
  }

  private func wake(_ change: () -> Void) {
    if !isStarted { start() }
    let mustWake = guarded {
      change()
      return isAsleep
    }
    if mustWake { unsafe pthread_cond_signal(arrived) }
  }

  /// How many batches were completed since the last call; loop thread.
  func takeCompleted() -> Int {
    guarded {
      defer { completed = 0 }
      return completed
    }
  }

  /// How long the commits took that were completed since the last call; loop thread.
  func takeTimings() -> [CommitTiming] {
    guarded {
      defer { timings = [] }
      return timings
    }
  }

  /// Why the oldest batch that is not completed was refused; loop thread.
  ///
  /// Nothing of it is stored, nor of those behind it, which are forgotten.
  func takeFailure() -> JournalError? {
    guarded {
      guard let failure else { return nil }
      self.failure = nil
      queue = []
      return failure
    }
  }

  /// Waits until there is a completed batch or a failure to take; loop thread.
  func awaitProgress() {
    unsafe pthread_mutex_lock(lock)
    isAwaited = true
    if isAsleep { unsafe pthread_cond_signal(arrived) }
    while completed == 0, failure == nil { unsafe pthread_cond_wait(progressed, lock) }
    isAwaited = false
    unsafe pthread_mutex_unlock(lock)
  }

  /// Makes the descriptor readable at the next progress; loop thread.
  ///
  /// Returns false if there is something to take already.
  func arm() -> Bool {
    guarded {
      isArmed = completed == 0 && failure == nil
      return isArmed
    }
  }

  /// Takes back what made the descriptor readable; loop thread.
  func disarm() {
    var count: eventfd_t = 0
    _ = unsafe eventfd_read(descriptor, &count)
  }

  /// Pages in the write-ahead log after the last commit; loop thread.
  var walPages: Int { guarded { logPages } }

  private func guarded<Value>(_ body: () -> Value) -> Value {
    unsafe pthread_mutex_lock(lock)
    defer { unsafe pthread_mutex_unlock(lock) }
    return body()
  }

  private func start() {
    isStarted = true
    DetachedThread.start { self.run() }
  }

  private func run() {
    var staged = 0
    unsafe pthread_mutex_lock(lock)
    while true {
      while (queue.isEmpty || failure != nil) && !mustPutAway {
        isAsleep = true
        unsafe pthread_cond_wait(arrived, lock)
        isAsleep = false
      }
      guard !mustPutAway else {
        putAwayLocked()
        continue
      }
      gather()
      // Whole batches are committed together; of one that is not complete, parts are inserted.
      let end = queue.lastIndex { $0.isLast }.map { $0 + 1 }
      let parts = Array(queue[..<(end ?? queue.count)])
      queue.removeFirst(parts.count)
      unsafe pthread_mutex_unlock(lock)
      for part in parts { staged += part.records.count }
      let start = SystemClock.monotonicNanoseconds()
      let result = write(parts, andCommit: end != nil)
      let timing = CommitTiming(since: start, records: staged)
      if result != nil || end != nil { staged = 0 }
      unsafe pthread_mutex_lock(lock)
      if let result { failure = result } else { completed += parts.count { $0.isLast } }
      if result == nil, end != nil, timing.records > 0 {
        timings.append(timing)
        lastEnd = timing.durableAt
        policy.noteCommit(
          of: timing.records, waiting: recordsWaiting, duration: timing.duration)
      }
      logPages = journal.walPages
      guard result != nil || end != nil else { continue }
      if isArmed {
        isArmed = false
        eventfd_write(descriptor, 1)
      }
      unsafe pthread_cond_signal(progressed)
      // What is committed is told first: its answers leave while the next commit waits.
      if result == nil, end != nil { mustPutAway = logPages > pagesToPutAway }
    }
  }

  private var recordsWaiting: Int { queue.reduce(0) { $0 + $1.records.count } }

  /// Waits for ops that are about to arrive; `lock` is held before and after, not meanwhile.
  private func gather() {
    let waiting = recordsWaiting
    let start = SystemClock.monotonicNanoseconds()
    let end = lastEnd + policy.limit
    guard waiting > 0, waiting < policy.expected, start < end else { return }
    var now = start
    while recordsWaiting < policy.expected, now < end, !isAwaited, !mustPutAway {
      var until = timespec(
        tv_sec: Int(end / 1_000_000_000), tv_nsec: Int(end % 1_000_000_000))
      isAsleep = true
      _ = unsafe pthread_cond_timedwait(arrived, lock, &until)
      isAsleep = false
      now = SystemClock.monotonicNanoseconds()
    }
    // A wait that the loop has cut short says nothing about the ops that arrive.
    if !isAwaited { policy.noteWait(from: waiting, to: recordsWaiting) }
  }

  /// Puts the log away; `lock` is held before and after, not meanwhile.
  private func putAwayLocked() {
    unsafe pthread_mutex_unlock(lock)
    var problem: PutAwayProblem?
    do throws(JournalError) {
      try journal.checkpoint()
      if journal.walPages > 0 { problem = .isRead }
    } catch {
      problem = .failed(error)
    }
    unsafe pthread_mutex_lock(lock)
    logPages = journal.walPages
    pagesToPutAway = logPages + Self.busyPages
    mustPutAway = false
    if let problem {
      putAwayProblem = problem
      eventfd_write(descriptor, 1)
    }
    unsafe pthread_cond_signal(progressed)
  }

  private func write(_ parts: [Part], andCommit mustCommit: Bool) -> JournalError? {
    do throws(JournalError) {
      for part in parts { try journal.stage(part.records) }
      if mustCommit { try journal.commitStaged() }
      return nil
    } catch {
      return error
    }
  }

  private struct Part {
    var records: [JournalRecord]
    /// Whether the batch is complete with it.
    var isLast: Bool
  }
}

/// What was measured of one commit.
struct CommitTiming: Equatable {
  /// What became durable with it.
  var records: Int
  /// How long it took, and when it was durable, in nanoseconds of the monotonic clock.
  var duration: UInt64
  var durableAt: UInt64

  /// A commit that began at `start` and has just ended.
  init(since start: UInt64, records: Int) {
    self.records = records
    durableAt = SystemClock.monotonicNanoseconds()
    duration = durableAt - start
  }
}
