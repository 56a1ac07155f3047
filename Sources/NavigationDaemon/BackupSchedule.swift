import NavigationCore
import NavigationHub

/// Decides when the daemon makes a backup by itself.
///
/// A backup is due one interval after the newest one, whose time is in the name of its file: a
/// restart changes nothing. The wall clock can jump; therefore a backup is due at the latest when
/// the daemon has run for an interval since the newest one or since its start. Laws: no backup is
/// due while one runs; each failure in a row doubles the pause before the next attempt.
struct BackupSchedule {
  /// Section `[backup]` of the configuration.
  struct Rules: Hashable, Sendable {
    /// The directory of the copies; nil stands for `backups` in the directory of the journal.
    var directory: String?
    /// The milliseconds between two backups; 0 for no backups.
    var intervalMilliseconds: UInt64 = 0
    var keptCount = 7
  }

  /// The milliseconds after its due time from which a backup that is not complete is overdue.
  static let overdueDelay: UInt64 = 3_600_000
  /// The pause before a retry in milliseconds: the first after a failure, and the longest.
  static let retryPauses: ClosedRange<UInt64> = 60_000...3_600_000

  private(set) var rules: Rules
  /// The time of the newest backup in milliseconds since 1970; nil if there is none.
  private(set) var newest: UInt64?
  /// The time of the boot clock at which the next backup is due, whatever the wall clock reads.
  private var dueAt: UInt64
  /// The time of the boot clock before which there is no retry.
  private var retryAt: UInt64 = 0
  private var failures = 0
  /// The time of the boot clock at which the next backup should begin; `isOverdue` compares it.
  private var expectedAt: UInt64 = 0
  private(set) var isRunning = false
  /// Whether older backups could not be removed after the newest one.
  private(set) var retentionFailed = false
  /// The numbers of backups that succeeded and that failed since the start of the daemon.
  private(set) var (madeCount, failedCount): (UInt64, UInt64) = (0, 0)

  /// Makes a schedule; `newest` is the time of the newest backup in milliseconds since 1970.
  init(_ rules: Rules, newest: UInt64?, at now: Instant) {
    // A file from the future says nothing: the clock was wrong then, or is wrong now. If it counted, a
    // machine that restarts more often than once in an interval would never make a backup.
    let newest = newest.flatMap { $0 <= now.wall ? $0 : nil }
    (self.rules, self.newest) = (rules, newest)
    dueAt = newest == nil ? now.boot : now.boot + rules.intervalMilliseconds
    expectedAt = now.boot + (timeUntilDue(at: now) ?? 0)
  }

  /// Applies other rules; `newest` is the time of the newest backup in their directory.
  mutating func apply(_ rules: Rules, newest: UInt64?, at now: Instant) {
    let former = self
    self = BackupSchedule(rules, newest: newest, at: now)
    (isRunning, madeCount, failedCount) = (former.isRunning, former.madeCount, former.failedCount)
    retentionFailed = former.retentionFailed
  }

  /// The milliseconds until a backup is due, at least 0; nil without an interval or while one runs.
  func timeUntilDue(at now: Instant) -> UInt64? {
    guard rules.intervalMilliseconds > 0, !isRunning else { return nil }
    var due = dueAt > now.boot ? dueAt - now.boot : 0
    // The clock can have been set back since that backup.
    if let newest, newest <= now.wall {
      let next = newest + rules.intervalMilliseconds
      due = min(due, next > now.wall ? next - now.wall : 0)
    }
    return max(due, retryAt > now.boot ? retryAt - now.boot : 0)
  }

  /// The time of the boot clock at which the loop must call `timeUntilDue` again; nil for never.
  ///
  /// The wall clock can jump without a wake-up, so this is at most an hour away.
  func wakeAt(_ now: Instant) -> UInt64? {
    timeUntilDue(at: now).map { now.boot + min($0, Self.retryPauses.upperBound) }
  }

  /// Whether the last attempt failed, or a backup should have been complete for an hour.
  func isOverdue(at now: Instant) -> Bool {
    rules.intervalMilliseconds > 0 && (failures > 0 || now.boot > expectedAt + Self.overdueDelay)
  }

  /// The milliseconds since the newest backup; nil if there is none, or it is from the future.
  func ageOfNewest(at now: Instant) -> UInt64? {
    newest.flatMap { $0 <= now.wall ? now.wall - $0 : nil }
  }

  mutating func noteStarted() {
    assert(!isRunning, "two backups at a time")
    isRunning = true
  }

  /// Notes that the backup that began at `time`, in milliseconds since 1970, is complete.
  mutating func noteMade(_ time: UInt64, at now: Instant, retentionFailed: Bool = false) {
    self.retentionFailed = retentionFailed
    (isRunning, newest, failures, retryAt) = (false, time, 0, 0)
    madeCount += 1
    dueAt = now.boot + rules.intervalMilliseconds
    expectedAt = dueAt
  }

  /// Plans a retry of a backup that failed; returns the milliseconds until then.
  mutating func scheduleRetry(at now: Instant) -> UInt64 {
    isRunning = false
    // No attempt before the next regular one would be late.
    let pause = min(Self.retryPauses.pause(after: failures), max(rules.intervalMilliseconds, 1000))
    failures += 1
    failedCount += 1
    retryAt = now.boot + pause
    return pause
  }
}
