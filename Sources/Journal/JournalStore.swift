package import NavigationCore
package import NavigationHub

/// All that a daemon stores: one journal, or in a cluster those of its shards, committed together.
///
/// One thread at a time uses it.
package protocol JournalStore: AnyObject {
  var place: any JournalPlace { get }
  var name: String { get }
  /// The rules by which history is kept; a change counts from the next `maintain` on.
  var retention: Retention { get set }
  /// The lease, as the last commit or checkpoint renewed it; nil if no other process can take the
  /// journal over.
  var lease: JournalLease? { get }
  /// The number of pages in the write-ahead log after the last commit; 0 if there is none.
  var walPages: Int { get }
  /// Why commits will fail, or would be lost although they succeed; nil if no reason is known. Any
  /// thread may call it.
  var problem: JournalError? { get }
  /// The sizes of the database and of its log in bytes; 0 if unknown. Any thread may call it.
  var fileSizes: (journal: Int, log: Int) { get }

  /// Writes a part of a batch, which counts only after `commitStaged` returns.
  func stage(_ records: JournalRecords) throws(JournalError)
  /// Commits the staged parts of a batch in one transaction; see `commit`.
  ///
  /// Throws `.fenced` with shards, too, if another process has taken over some of them.
  func commitStaged() throws(JournalError)
  func discardStaged()
  /// Moves rows from the write-ahead log into the file, and renews the lease, if there is either.
  func checkpoint() throws(JournalError)
  /// Counts the time until `now`, in milliseconds of the boot clock, for the ages of rows.
  func countTime(until now: UInt64)
  /// Deletes a part of the history that retention no longer keeps; see `Journal.maintain`.
  func maintain(now: UInt64, budget: Int) throws(JournalError) -> MaintenanceReport
  /// Makes everything durable, and gives the database to the next process.
  func close() throws(JournalError)
}

extension JournalStore {
  /// Stores the records of one batch, all or none; with durability `sync`, durably.
  ///
  /// The rows of the batch continue `Journal.lastSequence` without a gap, except after a loss.
  /// The revisions of a nav's snapshots never decrease; a snapshot replaces one of the same revision.
  ///
  /// Throws `.full` or `.writeFailed` if nothing was stored and the same batch may be tried again;
  /// `.syncFailed` if the process must exit.
  package func commit(_ records: JournalRecords) throws(JournalError) {
    try stage(records)
    try commitStaged()
  }
}

/// The database of a cluster.
package protocol ClusterPlace: JournalPlace {
  /// Becomes a member of the cluster, without shards.
  func join(retention: Retention) throws(JournalError) -> any ClusterJournal
}

/// The journals of the shards that a daemon of a cluster serves.
package protocol ClusterJournal: JournalStore {
  /// Reads which member owns which shard, and takes shards; a thread of its own uses it.
  var keeper: any ClusterKeeper { get }
  /// Begins to serve shards, which the keeper has taken and the caller has replayed.
  ///
  /// Throws `.fenced` with shards that the database has not given to this process, or not any more; shards
  /// that it adopted before can be among them. Throws other errors of a commit too.
  func adopt(_ taken: [Journal]) throws(JournalError)
  /// Gives shards to another member, or to nobody, and stores nothing of them from now on.
  ///
  /// It throws nothing: if the database cannot be reached, the keeper later finds what became of them.
  func release(_ shards: [Shard], to member: String?)
  /// Forgets shards that another member has taken.
  func drop(_ shards: [Shard])
}

/// Which member owns which shard, and which members an administrator wants to own them.
package struct ClusterState: Hashable, Sendable {
  package var view: ClusterView
  /// The names of the members to which an administrator has moved shards.
  package var wantedOwners: [Shard: String]

  package init(view: ClusterView, wantedOwners: [Shard: String] = [:]) {
    self.view = view
    self.wantedOwners = wantedOwners
  }
}

/// The part of a cluster's database that has the owner of each shard.
///
/// One thread uses it, beside the one that uses the journals.
package protocol ClusterKeeper: AnyObject {
  func read() throws(JournalError) -> ClusterState
  /// Takes those of `shards` that no member serves; first waits for a commit of their last owner.
  ///
  /// The caller replays the returned journals, which store nothing before `ClusterJournal.adopt`.
  func take(_ shards: [Shard]) throws(JournalError) -> [Journal]
  /// Stores a wish of an administrator; returns the reason if that is impossible, else nil.
  func store(_ wish: ClusterCommand) throws(JournalError) -> ClusterCommandFailure?
  /// Waits until another member has changed something, a descriptor is readable, or a time in
  /// milliseconds of the boot clock has come.
  func wait(for descriptor: Int32, until time: UInt64)
}
