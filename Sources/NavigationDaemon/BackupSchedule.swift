import NavigationCore
import NavigationHub

/// Decides when the daemon makes a backup by itself.
///
/// A backup is due `every` milliseconds after the newest one. The newest one is known by the name
/// of its file, so a restart changes nothing. The wall clock can jump; therefore a backup is due at
/// the latest when the daemon has run for `every` since the newest one or since its start. Laws: no
/// backup is due while one runs; after a failure, the next attempt is due after a pause that
/// doubles.
struct BackupSchedule {
  /// Section `[backup]` of the configuration.
  struct Rules: Hashable, Sendable {
    /// The directory of the copies; nil stands for `backups` in the directory of the journal.
    var directory: String?
    /// The milliseconds between two backups; 0 for no backups.
    var every: UInt64 = 0
    var keep = 7
  }

  /// The milliseconds after its due time at which a backup that is not complete counts as overdue.
  static let patience: UInt64 = 3_600_000
  /// The pause before a retry in milliseconds: after the first failure, and at most.
  static let pauses: ClosedRange<UInt64> = 60_000...3_600_000

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
  private(set) var (made, failed): (UInt64, UInt64) = (0, 0)

  /// Makes a schedule; `newest` is the time of the newest backup in milliseconds since 1970, if it
  /// is not later than now.
  init(_ rules: Rules, newest: UInt64?, at now: Instant) {
    // A file from the future says nothing: the clock was wrong then, or is wrong now. If it counted, a
    // machine that restarts more often than `every` would never make a backup.
    let newest = newest.flatMap { $0 <= now.wall ? $0 : nil }
    (self.rules, self.newest) = (rules, newest)
    dueAt = newest == nil ? now.boot : now.boot + rules.every
    expectedAt = now.boot + (due(at: now) ?? 0)
  }

  /// Applies other rules; `newest` is the time of the newest backup in their directory.
  mutating func follow(_ rules: Rules, newest: UInt64?, at now: Instant) {
    let former = self
    self = BackupSchedule(rules, newest: newest, at: now)
    (isRunning, made, failed) = (former.isRunning, former.made, former.failed)
    retentionFailed = former.retentionFailed
  }

  /// The milliseconds until a backup is due, 0 if one is due; nil if the rules want none, or while
  /// a backup runs.
  func due(at now: Instant) -> UInt64? {
    guard rules.every > 0, !isRunning else { return nil }
    var due = dueAt > now.boot ? dueAt - now.boot : 0
    // The clock can have been set back since that backup.
    if let newest, newest <= now.wall {
      let next = newest + rules.every
      due = min(due, next > now.wall ? next - now.wall : 0)
    }
    return max(due, retryAt > now.boot ? retryAt - now.boot : 0)
  }

  /// The time of the boot clock at which the loop must call `due` again; nil for never.
  ///
  /// The wall clock can jump without a wake-up, so this is at most an hour away.
  func wakeAt(_ now: Instant) -> UInt64? {
    due(at: now).map { now.boot + min($0, Self.pauses.upperBound) }
  }

  /// Whether the last attempt failed, or a backup should have been complete for an hour.
  func isOverdue(at now: Instant) -> Bool {
    rules.every > 0 && (failures > 0 || now.boot > expectedAt + Self.patience)
  }

  /// The milliseconds since the newest backup; nil if there is none, or it is from the future.
  func age(at now: Instant) -> UInt64? {
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
    made += 1
    dueAt = now.boot + rules.every
    expectedAt = dueAt
  }

  /// Notes that a backup failed; returns the milliseconds until the next attempt.
  mutating func noteFailed(at now: Instant) -> UInt64 {
    isRunning = false
    // No attempt before the next regular one would be late.
    let pause = min(Self.pauses.pause(after: failures), max(rules.every, 1000))
    failures += 1
    failed += 1
    retryAt = now.boot + pause
    return pause
  }
}
