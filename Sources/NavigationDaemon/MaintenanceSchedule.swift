import Journal

/// Decides when the loop does work that no client requested: checkpoints, pruning, measurements.
///
/// The loop prefers a quiet moment for it: 100 ms without an event. Times are in milliseconds of
/// the boot clock. Law: at `wakeAt` work is due, and none is due before.
struct MaintenanceSchedule {
  /// Milliseconds without an event that make a quiet moment.
  static let quietTime: UInt64 = 100
  /// The number of pages above which the log is checkpointed in a quiet moment.
  static let quietPages = 250
  /// The number of pages above which navd checkpoints the log at once, after small commits of the loop.
  static let busyPages = 1000
  /// The milliseconds for which pruning waits for a quiet moment.
  static let maximumPruningWait: UInt64 = 10_000

  private var lastEventAt: UInt64
  private var pruningDue: UInt64?
  private var checkpointDue: UInt64 = 0
  private var figuresDue: UInt64 = 0
  private var examinationDue: UInt64 = 0
  /// The problem that the last examination of the journal's files found; nil if it found none.
  private(set) var problem: JournalError?
  /// The error of the last commit, if it failed.
  private var commitFailure: JournalError?

  /// Why the journal takes no commits; nil if it takes them.
  var storageProblem: String? { (problem ?? commitFailure)?.description }

  /// Begins at the start of the daemon, which counts as an event, because clients reconnect then.
  init(at now: UInt64) { lastEventAt = now }

  // Due work.

  func isQuiet(at now: UInt64) -> Bool { now >= lastEventAt + Self.quietTime }

  /// Whether to checkpoint a write-ahead log of this many pages.
  func mustCheckpoint(_ pages: Int, at now: UInt64) -> Bool {
    pages > (isQuiet(at: now) ? Self.quietPages : Self.busyPages) && checkpointDue <= now
  }

  func mustPrune(at now: UInt64) -> Bool {
    guard let pruningDue, pruningDue <= now else { return false }
    return isQuiet(at: now) || isOverdue(at: now)
  }

  /// Whether pruning has waited longer than `maximumPruningWait` for a quiet moment.
  func isOverdue(at now: UInt64) -> Bool {
    pruningDue.map { $0 + Self.maximumPruningWait <= now } ?? false
  }

  /// Whether to examine the files of the journal; true at most once a second.
  mutating func mustExamineFiles(at now: UInt64) -> Bool {
    guard now >= examinationDue else { return false }
    examinationDue = now + 1000
    return true
  }

  /// Whether to read figures from the file system; true at most ten times a second.
  mutating func mustReadFileFigures(at now: UInt64) -> Bool {
    guard now >= figuresDue else { return false }
    figuresDue = now + 100
    return true
  }

  /// The time at which work is due next; nil for never.
  ///
  /// `pages` is the size of the log; 0 while the writer has batches, as it then checkpoints the log itself.
  /// `soonest` is the earliest time at which the journal can be used.
  func wakeAt(pages: Int, soonest: UInt64) -> UInt64? {
    let quiet = lastEventAt + Self.quietTime
    var due: [UInt64] = []
    if let pruningDue {
      due.append(max(pruningDue, min(quiet, pruningDue + Self.maximumPruningWait), soonest))
    }
    if pages > Self.quietPages { due.append(max(quiet, checkpointDue, soonest)) }
    return due.min()
  }

  // Results.

  mutating func noteEvents(at now: UInt64) { lastEventAt = now }

  /// Notes that a batch became durable; returns whether the commit before it had failed.
  mutating func noteStored(at now: UInt64) -> Bool {
    defer { commitFailure = nil }
    if pruningDue == nil { pruningDue = now + 30_000 }
    return commitFailure != nil
  }

  /// Notes that a commit failed; returns whether it is the first failure since the journal last
  /// took changes.
  mutating func noteFailedCommit(_ error: JournalError) -> Bool {
    defer { commitFailure = error }
    return commitFailure == nil
  }

  /// Notes the result of an examination of the files; returns whether it differs from the last one.
  mutating func noteExamined(_ found: JournalError?) -> Bool {
    defer { problem = found }
    return problem != found
  }

  mutating func notePruned(hasMore: Bool, at now: UInt64) {
    pruningDue = hasMore ? now + 100 : nil
  }

  mutating func noteFailedMaintenance(at now: UInt64) {
    pruningDue = now + 10_000
    checkpointDue = now + 10_000
  }

  /// Notes that a reader prevented a checkpoint from emptying the log.
  mutating func noteLogReader(at now: UInt64) { checkpointDue = now + 1000 }

  /// Notes that the retention has changed, so that more history may have to be pruned.
  mutating func noteRetentionChange(at now: UInt64) { pruningDue = now }
}
