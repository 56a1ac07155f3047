/// Decides when the loop does what is not asked for: checkpoints, pruning, revivals, measurements.
///
/// All of it is preferably done in a quiet moment: 100 ms without an event. A gap between two messages
/// is none. Times are in milliseconds of the boot clock. Law: at `wakeAt` something is due, and
/// nothing is due before.
struct MaintenanceSchedule {
  /// Milliseconds without an event that make a quiet moment.
  static let quietTime: UInt64 = 100
  /// Pages of the write-ahead log from which on it is flushed in a quiet moment.
  static let quietPages = 250
  /// Pages from which on it is flushed at once when the loop commits by itself.
  static let busyPages = 1000
  /// Milliseconds for which pruning waits for a quiet moment.
  static let patience: UInt64 = 10_000

  /// When there was an event last.
  private var busyAt: UInt64
  private var pruningDue: UInt64?
  private var checkpointDue: UInt64 = 0
  private var figuresDue: UInt64 = 0
  /// Whether the journal took no changes when that was tried last.
  private(set) var isStorageFailing = false

  /// Begins at a start, when clients come back: the rest can wait.
  init(at now: UInt64) { busyAt = now }

  // What is due.

  /// Whether the moment is quiet.
  func isQuiet(at now: UInt64) -> Bool { now >= busyAt + Self.quietTime }

  /// Whether to flush a write-ahead log of so many pages.
  func mustCheckpoint(_ pages: Int, at now: UInt64) -> Bool {
    pages > (isQuiet(at: now) ? Self.quietPages : Self.busyPages) && checkpointDue <= now
  }

  /// Whether to prune the history.
  func mustPrune(at now: UInt64) -> Bool {
    guard let pruningDue, pruningDue <= now else { return false }
    return isQuiet(at: now) || isOverdue(at: now)
  }

  /// Whether pruning has waited for too long for a quiet moment.
  func isOverdue(at now: UInt64) -> Bool {
    pruningDue.map { $0 + Self.patience <= now } ?? false
  }

  /// Whether to ask the file system for figures, at most ten times a second.
  mutating func mustMeasure(at now: UInt64) -> Bool {
    guard now >= figuresDue else { return false }
    figuresDue = now + 100
    return true
  }

  /// When something is due next.
  ///
  /// - Parameters:
  ///   - pages: of the write-ahead log; 0 while batches are with the writer, which flushes it then.
  ///   - hasDormantNavs: whether navs wait to be revived.
  ///   - soonest: when the journal can be used at the earliest.
  /// - Returns: the time; nil for never.
  func wakeAt(pages: Int, hasDormantNavs: Bool, soonest: UInt64) -> UInt64? {
    let quiet = busyAt + Self.quietTime
    var due: [UInt64] = []
    if let pruningDue { due.append(max(pruningDue, soonest)) }
    if pages > Self.quietPages { due.append(max(quiet, checkpointDue, soonest)) }
    if hasDormantNavs { due.append(quiet) }
    return due.min()
  }

  // What has happened.

  /// Notes that there were events.
  mutating func noteEvents(at now: UInt64) { busyAt = now }

  /// Notes that a batch became durable; returns whether the journal failed before.
  mutating func noteStored(at now: UInt64) -> Bool {
    defer { isStorageFailing = false }
    if pruningDue == nil { pruningDue = now + 30_000 }
    return isStorageFailing
  }

  /// Notes that a commit failed.
  ///
  /// Returns whether this is the first failure since the journal last took changes.
  mutating func noteFailedCommit() -> Bool {
    defer { isStorageFailing = true }
    return !isStorageFailing
  }

  /// Notes that pruning has ended, or a part of it.
  mutating func notePruned(hasMore: Bool, at now: UInt64) {
    pruningDue = hasMore ? now + 100 : nil
  }

  /// Notes that a checkpoint or pruning failed.
  mutating func noteFailure(at now: UInt64) {
    pruningDue = now + 10_000
    checkpointDue = now + 10_000
  }

  /// Notes that a reader kept the log from being emptied.
  mutating func noteReader(at now: UInt64) { checkpointDue = now + 1000 }

  /// Notes that there may be more to prune than before.
  mutating func noteRetention(at now: UInt64) { pruningDue = now }
}
