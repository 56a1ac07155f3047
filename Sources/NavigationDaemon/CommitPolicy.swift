/// Decides how long a commit waits for ops that are about to arrive.
///
/// Clients that keep a number of ops in flight split into two halves on a slow disk: one half waits
/// for the sync under way, the other half is answered and comes back during it. Each sync then has
/// half of the ops. A commit that waits for the answered half has all of them, so the disk does twice
/// the work with each sync.
///
/// It waits only when ops arrived during the last syncs, or the last wait brought some, and never
/// longer than half a sync. A wait in vain is followed by commits without one, more of them each time.
///
/// Counts are of journal records, times in nanoseconds. Not thread-safe; ``JournalWriter`` guards it.
struct CommitPolicy {
  /// The records that the next commit can have: those that were waiting when the last one ended, and as
  /// many as the last one answered.
  private(set) var expected = 0
  /// The shorter of the last two syncs.
  private var duration: UInt64 = 0
  private var lastDuration: UInt64 = 0
  /// Signs that records arrive while others become durable, 0 … `usual`.
  private var overlap = 0
  /// Whether the wait before the commit under way brought records: once all are in one commit, none
  /// arrive during it.
  private var hasGathered = false
  /// The commits that are still to go without a wait, and how many it will be the next time.
  private var rest = 0
  private var nextRest = shortestRest

  /// Signs that make it likely that records will arrive again.
  private static let usual = 3
  /// Commits without a wait behind one that did not pay, at first and at most.
  private static let shortestRest = 8
  private static let longestRest = 1024

  /// How long the next commit may wait, reckoned from the end of the last one; 0 for not at all.
  var limit: UInt64 { overlap >= Self.usual && rest == 0 ? duration / 2 : 0 }

  /// Notes a commit that has ended.
  ///
  /// - Parameters:
  ///   - records: what it made durable, 1 or more.
  ///   - waiting: the records that arrived during it.
  ///   - duration: how long it took.
  mutating func noteCommit(of records: Int, waiting: Int, duration: UInt64) {
    assert(records > 0, "a commit of nothing needs no sync")
    expected = records + waiting
    self.duration = min(duration, lastDuration)
    lastDuration = duration
    if waiting > 0 {
      overlap = min(overlap + 1, Self.usual)
    } else if !hasGathered {
      overlap = max(overlap - 1, 0)
    }
    hasGathered = false
    if rest > 0 { rest -= 1 }
  }

  /// Notes a wait that has ended.
  ///
  /// - Parameters:
  ///   - waiting: the records that were there when it began, 1 or more.
  ///   - gathered: the records that were there when it ended.
  mutating func noteWait(from waiting: Int, to gathered: Int) {
    assert(waiting > 0 && gathered >= waiting, "\(gathered) records of \(waiting)")
    hasGathered = gathered > waiting
    // An op that is answered at the end of one sync and comes during the next is stored with the one
    // after that, so without waits two syncs store `expected`. One sync and at most half of another
    // store more, if most of those come that are waited for.
    if 2 * (gathered - waiting) >= expected - waiting {
      nextRest = max(Self.shortestRest, nextRest / 2)
    } else {
      rest = nextRest
      nextRest = min(nextRest * 2, Self.longestRest)
    }
  }
}
