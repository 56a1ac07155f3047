/// Decides which thread commits, and how long a commit waits for ops that are about to arrive.
///
/// On a slow disk, clients with many ops in flight split into two halves. One half waits for the
/// running sync; the other half has just been answered, and sends its next ops during it. Each sync
/// then has half of the ops. A commit that waits for the answered half has all of them, so each
/// sync makes twice as many ops durable.
///
/// A commit waits only if ops arrived during the last syncs, or if the last wait brought some, and
/// never longer than half a sync. After a wait that brought too little, some commits do not wait.
///
/// Counts are of journal records, times in nanoseconds. The lock of ``JournalWriter`` guards it.
struct CommitPolicy {
  /// The records that the next commit can have: those that were waiting at the end of the last
  /// commit, and as many as the last commit had.
  private(set) var expectedRecords = 0
  /// The duration of the shorter of the last two syncs.
  private var shorterSyncDuration: UInt64 = 0
  private var lastSyncDuration: UInt64 = 0
  /// A score from 0 to `waitingScore`: how often records arrived during the last syncs.
  private var overlapScore = 0
  /// Whether the wait before the running commit brought records.
  ///
  /// After such a wait, a commit has all ops of the clients; none arrive then, and `overlapScore`
  /// must not fall.
  private var hasGathered = false
  /// Counts the commits that do not wait, after a wait that brought less than half of the awaited
  /// records: 8 after the first such wait, twice as many after each further one, up to 1024.
  ///
  /// A wait that brought more halves the number.
  private var pause = BackOff(from: 8, to: 1024)

  /// The smoothed duration of commits; a commit counts with 4 ms at most.
  private var smoothedDuration: UInt64 = 1_000_000
  /// Whether commits are so short that passing them to another thread costs more than it overlaps.
  private(set) var commitsAreShort = false

  /// The value of `overlapScore` from which a commit waits.
  private static let waitingScore = 3

  /// The time that the next commit may wait, counted from the end of the last one; 0 for none.
  var maximumWait: UInt64 {
    overlapScore >= Self.waitingScore && pause.isOver ? shorterSyncDuration / 2 : 0
  }

  /// Records the duration of a commit by either thread.
  mutating func noteDuration(_ duration: UInt64) {
    smoothedDuration = (smoothedDuration * 7 + min(duration, 4_000_000)) / 8
    // Both ways cost the same at 0.3 to 0.5 ms.
    commitsAreShort = smoothedDuration < (commitsAreShort ? 500_000 : 350_000)
  }

  /// Records the end of a commit of at least 1 record; `waiting` records arrived during it.
  mutating func noteCommit(of records: Int, waiting: Int, duration: UInt64) {
    assert(records > 0, "a commit of nothing needs no sync")
    expectedRecords = records + waiting
    shorterSyncDuration = min(duration, lastSyncDuration)
    lastSyncDuration = duration
    if waiting > 0 {
      overlapScore = min(overlapScore + 1, Self.waitingScore)
    } else if !hasGathered {
      overlapScore = max(overlapScore - 1, 0)
    }
    hasGathered = false
    pause.noteTurn()
  }

  /// Records the end of a wait, from `waiting` records, at least 1, to `gathered`.
  mutating func noteWait(from waiting: Int, to gathered: Int) {
    assert(waiting > 0 && gathered >= waiting, "\(gathered) records of \(waiting)")
    hasGathered = gathered > waiting
    // Without waits, two syncs store `expectedRecords` records: an op that arrives during a sync is stored
    // by the next one. With a wait, one sync and at most half of another store more than that rate,
    // if at least half of the awaited records arrive.
    if 2 * (gathered - waiting) >= expectedRecords - waiting {
      pause.noteSuccess(divisor: 2)
    } else {
      pause.noteFailure()
    }
  }
}
