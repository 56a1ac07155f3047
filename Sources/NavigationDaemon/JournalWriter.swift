import CLinux
import Journal
import NavigationSync

/// Writes one batch at a time, on a second thread as far as that helps.
///
/// A large batch is inserted while the loop still decides it, and committed while the loop decides
/// the next, on this class's own thread. A small one – one op at a time – is written by the loop
/// itself, because a wake-up of another thread would cost more than it saves.
///
/// Not `Sendable` by its members: one thread at a time uses `journal`. The worker does so only while
/// `isWorking`, the loop only after it has waited for that to end; both know by what `lock` guards.
@safe
final class JournalWriter: @unchecked Sendable {
  /// The journal; outside of `commit` the loop may use it while nothing is staged.
  let journal: Journal
  /// Readable when a commit that was begun has ended, until `finishCommit`.
  let descriptor: Int32
  private let lock: UnsafeMutablePointer<pthread_mutex_t>
  private let changed: UnsafeMutablePointer<pthread_cond_t>
  private var queue: [[JournalRecord]] = []
  private var isWorking = false
  private var mustCommit = false
  private var isAsleep = false
  private var isStarted = false
  private var failure: JournalError?

  init(journal: Journal) {
    self.journal = journal
    descriptor = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC))
    precondition(descriptor >= 0, "eventfd: errno=\(navd_errno())")
    unsafe lock = .allocate(capacity: 1)
    unsafe changed = .allocate(capacity: 1)
    unsafe pthread_mutex_init(lock, nil)
    unsafe pthread_cond_init(changed, nil)
  }

  /// Hands over a part of the batch being decided; loop thread.
  func stage(_ records: [JournalRecord]) {
    guard !records.isEmpty else { return }
    if !isStarted { start() }
    unsafe pthread_mutex_lock(lock)
    queue.append(records)
    let mustWake = isAsleep
    unsafe pthread_mutex_unlock(lock)
    if mustWake { unsafe pthread_cond_signal(changed) }
  }

  /// Commits what was staged and `records`, which follow it; loop thread.
  ///
  /// - Throws: as `Journal.commit`; nothing of the batch is stored.
  func commit(_ records: [JournalRecord]) throws(JournalError) {
    var rest: [[JournalRecord]] = []
    var failure: JournalError?
    if isStarted {
      unsafe pthread_mutex_lock(lock)
      rest = queue
      queue = []
      while isWorking { unsafe pthread_cond_wait(changed, lock) }
      failure = self.failure
      self.failure = nil
      unsafe pthread_mutex_unlock(lock)
    }
    if let failure { throw failure }
    for part in rest { try journal.stage(part) }
    try journal.stage(records)
    try journal.commitStaged()
  }

  /// Begins to commit what was staged and `records`, which follow it; loop thread.
  ///
  /// The journal is the worker's until `finishCommit` has returned.
  func beginCommit(_ records: [JournalRecord]) {
    if !isStarted { start() }
    unsafe pthread_mutex_lock(lock)
    if !records.isEmpty { queue.append(records) }
    mustCommit = true
    let mustWake = isAsleep
    unsafe pthread_mutex_unlock(lock)
    if mustWake { unsafe pthread_cond_signal(changed) }
  }

  /// Whether a commit that was begun is still under way; loop thread.
  var isCommitting: Bool {
    unsafe pthread_mutex_lock(lock)
    defer { unsafe pthread_mutex_unlock(lock) }
    return mustCommit || isWorking
  }

  /// Waits for the commit that was begun; loop thread.
  ///
  /// - Throws: as `Journal.commit`; nothing of the batch is stored.
  func finishCommit() throws(JournalError) {
    unsafe pthread_mutex_lock(lock)
    while mustCommit || isWorking { unsafe pthread_cond_wait(changed, lock) }
    let failure = failure
    self.failure = nil
    unsafe pthread_mutex_unlock(lock)
    var count: eventfd_t = 0
    _ = unsafe eventfd_read(descriptor, &count)
    if let failure { throw failure }
  }

  private func start() {
    isStarted = true
    var thread = pthread_t()
    // The thread keeps the writer for as long as the process lives.
    let context = unsafe Unmanaged.passRetained(self).toOpaque()
    let result = unsafe pthread_create(
      &thread, nil,
      { context in
        guard let context = unsafe context else { return nil }
        unsafe Unmanaged<JournalWriter>.fromOpaque(context).takeUnretainedValue().run()
        return nil
      }, context)
    precondition(result == 0, "pthread_create: \(result)")
    pthread_detach(thread)
  }

  private func run() {
    unsafe pthread_mutex_lock(lock)
    while true {
      awaitWork()
      let parts = queue
      let isLast = mustCommit
      queue = []
      isWorking = true
      let failure = failure
      unsafe pthread_mutex_unlock(lock)
      let result = failure ?? write(parts, isLast)
      unsafe pthread_mutex_lock(lock)
      self.failure = result
      isWorking = false
      if isLast {
        mustCommit = false
        eventfd_write(descriptor, 1)
      }
      unsafe pthread_cond_signal(changed)
    }
  }

  /// Waits for work, `lock` being held: for a moment awake, because under load the next part of a
  /// batch is never far, then asleep.
  private func awaitWork() {
    var patience = Self.turnsAwake
    while queue.isEmpty && !mustCommit {
      if patience > 0 {
        patience -= 1
        unsafe pthread_mutex_unlock(lock)
        sched_yield()
        unsafe pthread_mutex_lock(lock)
      } else {
        isAsleep = true
        unsafe pthread_cond_wait(changed, lock)
        isAsleep = false
      }
    }
  }

  /// How often the thread looks for work before it sleeps; some tens of microseconds.
  private static let turnsAwake = 100

  private func write(_ parts: [[JournalRecord]], _ isLast: Bool) -> JournalError? {
    do throws(JournalError) {
      for part in parts { try journal.stage(part) }
      if isLast { try journal.commitStaged() }
      return nil
    } catch {
      return error
    }
  }
}
