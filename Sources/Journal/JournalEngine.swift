package import NavigationCore
package import NavigationHub

/// The database that keeps a journal: SQLite by default.
///
/// `Journal` decides what to store and what to delete; an engine stores it, all or nothing. The
/// laws of an engine are tests, `JournalEngineLaws`, which every engine passes:
///
/// 1. After `commit` returns, reads find what the transaction wrote, also in another process after
///    a crash of this one; with durability `sync`, also after a crash of the machine.
/// 2. If `commit` or a write throws, nothing of the transaction is stored, except after
///    `.syncFailed`, when this is unknown. The journal uses the engine no more after that error.
/// 3. After `rollBack`, nothing of the transaction is stored.
/// 4. At most one engine of a place can commit. If another has taken the place over, `commit` throws
///    `.fenced`, and stores nothing.
/// 5. Groups are read in the order of their keys, snapshots in that of their navs and revisions.
///
/// One thread at a time uses an engine. A transaction never reads what it wrote itself.
package protocol JournalEngine: JournalFacts, AnyObject {
  /// The shard to which its rows belong.
  var shard: Shard { get }
  /// Why committed rows may be missing, so that every nav needs a new epoch; nil if none can be.
  var rowLoss: HistoryLoss? { get }
  /// Notes that the new epochs are committed, after which `rowLoss` is nil.
  func epochsRenewed() throws(JournalError)
  /// In the open transaction: the next row follows this number.
  func skip(to lastSequence: UInt64)
  /// Stores durably that every nav needs a new epoch at the next start.
  func renewEpochsAtNextStart() throws(JournalError)

  /// The lease; nil if no other process can take over the journal.
  var lease: JournalLease? { get }

  /// The sequence of the last stored row; 0 if there is none.
  func newestSequence() throws(JournalError) -> UInt64
  func readSnapshots(
    _ consume: (SnapshotRow) throws(JournalError) -> Void
  ) throws(JournalError)
  /// Passes on all groups, with their bodies as stored; the checksum of each is verified.
  func readGroups(_ consume: GroupConsumer) throws(JournalError)
  /// Passes on the group that covers a sequence, or else the next one; returns false if there is
  /// neither.
  func readGroup(from sequence: UInt64, _ consume: GroupConsumer) throws(JournalError) -> Bool
  /// Makes durable what an earlier process wrote, and what `facts` stores.
  ///
  /// With `emptyingLog` it moves everything from the write-ahead log into the file, if there is
  /// one. `facts` calls `store` for each fact; the engine runs it in a transaction of its own.
  func checkpoint(
    emptyingLog: Bool, _ facts: () throws(JournalError) -> Void
  ) throws(JournalError)
  /// Makes every commit durable, also with durability `relaxed`.
  func syncNow() throws(JournalError)

  /// Begins a transaction; none is open.
  func begin() throws(JournalError)
  /// Stores a new group, whose key is higher than every stored key; or replaces the group with the
  /// same key.
  func store(
    _ group: StoredGroup, _ heads: Span<UInt8>, _ bodies: Span<UInt8>, replacing: Bool
  ) throws(JournalError)
  func deleteGroup(_ first: UInt64) throws(JournalError)
  /// Stores a snapshot, which replaces one of the same nav and revision.
  func insert(_ snapshot: SnapshotRow, checksum: UInt64) throws(JournalError)
  func deleteSnapshot(nav: UInt64, revision: UInt64) throws(JournalError)
  func commit() throws(JournalError)
  /// Ends the open transaction without its changes; does nothing if none is open.
  func rollBack()

  /// The number of pages in the write-ahead log after the last commit; 0 if there is none.
  var walPages: Int { get }
  /// Gives a slice of the free pages back to the file system; returns their number.
  func vacuumSlice() throws(JournalError) -> Int
  /// Why commits will fail, or would be lost although they succeed; nil if no reason is known. Any
  /// thread may call it.
  var problem: JournalError? { get }
  /// The sizes of the database and of its write-ahead log in bytes; 0 if unknown. Any thread may
  /// call it.
  var fileSizes: (journal: Int, log: Int) { get }
  /// Closes the database, so that another process can open it; `isCheckpointed` if a checkpoint has just
  /// moved everything into the file.
  func close(isCheckpointed: Bool)
}

/// Takes a group of rows, with the heads and the bodies of its rows.
package typealias GroupConsumer = (
  StoredGroup, _ heads: Span<UInt8>, _ bodies: Span<UInt8>
) throws(JournalError) -> Void

/// The right of a process to answer for a journal that another process could take over.
///
/// Each commit and each checkpoint renews it. Times are in milliseconds of the boot clock.
package struct JournalLease: Hashable, Sendable {
  /// When a checkpoint should renew the lease, if no commit has.
  package var renewAt: UInt64
  /// When the lease ends, and the process must stop answering.
  package var end: UInt64

  package init(renewAt: UInt64, end: UInt64) {
    self.renewAt = renewAt
    self.end = end
  }
}

/// The facts of a journal besides its rows and snapshots, each with a checksum; see ``Metadata``.
package protocol JournalFacts {
  /// The name of the database in errors, such as its path.
  var name: String { get }
  /// Returns the stored bytes of a fact; nil if there are none.
  func fact(_ key: JournalFact) throws(JournalError) -> [UInt8]?
  /// Stores the bytes of a fact in the open transaction.
  func store(_ key: JournalFact, _ bytes: [UInt8]) throws(JournalError)
}

/// The name of a fact; its number is part of the checksum.
package enum JournalFact: UInt64, CaseIterable, Sendable {
  /// The sums over all rows and snapshots; see `Census`.
  case census = 1
  /// Whether everything committed is known to be durable.
  case syncState = 2
  /// The closed navs with rows that are still to be deleted.
  case deletedNavs = 3
  /// The time for which daemons had the journal open, and which rows were stored when; see `RowAges`.
  case rowAges = 4
  /// How many pages the next start must find in the write-ahead log; empty after an orderly end.
  case minimumLogPages = 5

  /// The key of the fact in the database.
  package var key: String { ["census", "state", "closing", "ages", "log"][Int(rawValue) - 1] }
}

/// A connection that only reads, for one thread beside the engine's; it sees what is committed.
package protocol JournalEngineReader: AnyObject {
  /// The name of the database in errors.
  var name: String { get }
  /// Performs several reads in one transaction, if that is cheaper with this engine.
  ///
  /// Calls do not nest.
  func reading<Value>(
    _ body: () throws(JournalError) -> Value
  ) throws(JournalError) -> Value
  /// A number that changes whenever another connection deletes or rewrites rows; nil if unknown.
  func dataVersion() throws(JournalError) -> Int64?
  /// Passes on the group of a shard that covers a sequence, or else the next one; returns false if
  /// there is neither.
  func readGroup(
    from sequence: UInt64, of shard: Shard, _ consume: GroupConsumer
  ) throws(JournalError) -> Bool
  /// Passes on all groups of a shard with rows from one sequence through another, if that costs less
  /// than to read each by `readGroup`; returns false if it does not.
  func readGroups(
    from first: UInt64, through last: UInt64, of shard: Shard, _ consume: GroupConsumer
  ) throws(JournalError) -> Bool
  /// Returns a nav's newest snapshot at `revision` or below; nil if there is none.
  func snapshot(nav: UInt64, notAfter revision: UInt64) throws(JournalError) -> SnapshotRow?
}
