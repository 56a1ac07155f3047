extension Journal {
  /// Before the first commit that is not synced, notes durably that there are such.
  func prepareUnsynced() throws(JournalError) {
    // While epochs must be renewed the note of the lost boot stays, and commits are synced.
    guard durability == .relaxed, !mustRenewEpochs else { return try setSynchronous(true) }
    let dirty = SyncState.dirty(bootID: bootID)
    if state != dirty { try store(dirty) }
    try setSynchronous(false)
  }

  /// Tells the journal that the new epochs, which `mustRenewEpochs` asked for, are committed.
  package func epochsRenewed() throws(JournalError) {
    guard mustRenewEpochs else { return }
    try store(.clean)
    mustRenewEpochs = false
  }

  /// Notes durably that every nav needs a new epoch at the next start; nothing may be committed
  /// behind it but `close`.
  package func renewEpochsAtNextStart() throws(JournalError) {
    try store(Self.restored)
    mustRenewEpochs = true
  }

  /// Whether `mustRenewEpochs` because the journal was restored from a backup.
  package var isRestored: Bool { mustRenewEpochs && state == Self.restored }

  /// The state with the id of no boot.
  private static let restored = SyncState.dirty(bootID: "")

  /// Makes everything committed durable, in mode `relaxed` too.
  package func syncNow() throws(JournalError) {
    if let poison { throw poison }
    guard !mustRenewEpochs, state != .clean else { return }
    try store(.clean)
  }

  /// Moves rows from the write-ahead log into the file; to be called off the commit path.
  ///
  /// It writes and syncs the file, so it takes some milliseconds per thousand pages. A reader at
  /// work may leave a part for the next call.
  package func checkpoint() throws(JournalError) {
    try checkpoint(emptying: false)
  }

  func checkpoint(emptying: Bool) throws(JournalError) {
    precondition(isReplayed, "checkpoint before replay")
    try transaction { () throws(JournalError) in try metadata.write(census.stored) }
    do throws(JournalError) {
      let (pages, moved) = try database.checkpoint(emptying: emptying)
      if moved >= pages { database.walPages = 0 }
    } catch {
      if case .syncFailed = error { poison = error }
      throw error
    }
  }

  /// Syncs everything, notes that all is clean, and gives up the lock; nothing may be called after.
  package func close() throws(JournalError) {
    var isTidy = false
    defer {
      // Without a census of what it moves, SQLite must not move anything as it closes.
      database.close(tidy: isTidy)
      lock = nil
    }
    if let poison { throw poison }
    guard isReplayed else { return }
    try setSynchronous(true)
    try syncNow()
    try checkpoint(emptying: true)
    isTidy = true
  }

  /// Notes the state in a synced commit, which syncs everything written before it too.
  private func store(_ new: SyncState) throws(JournalError) {
    try setSynchronous(true)
    try transaction { () throws(JournalError) in try metadata.write(new) }
    state = new
  }

  func setSynchronous(_ on: Bool) throws(JournalError) {
    guard on != isSynchronous else { return }
    try database.execute("PRAGMA synchronous=\(on ? "FULL" : "NORMAL")", .writing)
    isSynchronous = on
  }
}
