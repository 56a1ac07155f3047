/// How much history the journal keeps.
///
/// A revision is kept while it is among its nav's newest `revisions` and younger than
/// `milliseconds`, unless all rows together are larger than `bytes`.
package struct Retention: Hashable, Sendable {
  /// Revisions kept for each nav.
  package var revisions: UInt64
  /// Age up to which rows are kept.
  package var milliseconds: UInt64
  /// Bytes of all rows together, from which on the oldest go first.
  package var bytes: Int
  /// A nav needs a new snapshot this many revisions after the last.
  package var revisionsPerSnapshot: UInt64
  /// Age from which on the rows of a closed nav may go.
  package var closedMilliseconds: UInt64

  /// Makes a retention; the defaults are the protocol's.
  package init(
    revisions: UInt64 = 10_000, milliseconds: UInt64 = 30 * 24 * 3_600_000, bytes: Int = 1 << 30,
    revisionsPerSnapshot: UInt64 = 1_000, closedMilliseconds: UInt64 = 600_000
  ) {
    self.revisions = revisions
    self.milliseconds = milliseconds
    self.bytes = bytes
    self.revisionsPerSnapshot = revisionsPerSnapshot
    self.closedMilliseconds = closedMilliseconds
  }
}

/// When a commit counts as done.
package enum Durability: Hashable, Sendable {
  /// When it is synced to the disk.
  case sync
  /// When it is written; a crash of the machine may lose it, a crash of the process does not.
  case relaxed
}
