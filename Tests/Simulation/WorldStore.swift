import NavigationCore
package import NavigationHub

/// What became of an action of a store.
package enum StoreOutcome: Equatable, Sendable {
  case done
  /// Nothing was stored, and the daemon goes on.
  case refused
  /// The process has ended. Whether the action was stored shows at the next start.
  case dead
  /// A promise is broken.
  case broken(String)
}

/// The journal that ships, on a simulated disk.
///
/// A world without one has only its `JournalModel`. With one, the model says what must be stored, and
/// the store is what the daemon reads. The store draws its faults itself. One thread uses it.
package protocol WorldStore: AnyObject, Sendable {
  /// Whether calls fail, and processes die within them; false from the end of the faults on.
  var isFaulty: Bool { get set }
  /// The faults that happened so far.
  var faults: Int { get }
  /// The sequence of the newest stored row.
  var lastSequence: UInt64 { get }
  /// Whether acknowledged rows may be missing, so that every nav needs a new epoch.
  var hasLostRows: Bool { get }

  /// Starts a process on what is on the disk, and gives the hub what it notes of that.
  func open(into hub: inout Hub, at now: Instant) -> StoreOutcome
  /// Stores the parts of batches in one commit.
  func commit(_ parts: [JournalRecords]) -> StoreOutcome
  func epochsRenewed(before lastSequence: UInt64) -> StoreOutcome
  /// Makes everything durable, also in mode `relaxed`.
  func sync() -> StoreOutcome
  /// Checkpoints the log, or deletes what the rules of retention no longer keep.
  ///
  /// Appends what the hub must be told.
  func maintain(at now: Instant, _ events: inout [HubEvent]) -> StoreOutcome
  /// Reads what leads to a nav's row; nil if the disk failed to read it.
  func chain(of request: ReloadRequest) -> (snapshot: SnapshotRow?, rows: [JournalRow])?
  func answer(_ request: HistoryRequest) -> HistoryAnswer
  /// Closes the journal, as an orderly end does.
  func close() -> StoreOutcome
  /// Ends the process; if the machine fails, what was not synced may be lost.
  ///
  /// Returns whether the machine failed, which the store may have decided itself.
  @discardableResult
  func end(withMachine isMachineLost: Bool) -> Bool
  /// Puts the files of an earlier end back; returns false if there are none.
  func putBack() -> Bool
}
