import NavigationCore

/// A request to read a nav from the journal, because a commit failed or the nav is dormant.
package struct ReloadRequest: Hashable, Sendable {
  /// The number of the nav.
  package var nav: UInt64
  /// The number of the nav's newest durable row.
  package var newestRow: UInt64

  package init(nav: UInt64, newestRow: UInt64) {
    self.nav = nav
    self.newestRow = newestRow
  }
}

extension Hub {
  /// Undoes everything decided since the last commit: all sealed batches and the batch at hand.
  ///
  /// The hub has sent no message about these decisions. The shell reloads each nav named by a
  /// request with `reload`. Then it handles the events of the batches again, while the hub refuses
  /// every commit as `storage`.
  ///
  /// If only some shards were lost, `isStorageFailing` is false: the events are then decided as
  /// before.
  package mutating func rollBack(isStorageFailing: Bool = true) -> [ReloadRequest] {
    undoBatch(batches.rollBack(isStorageFailing: isStorageFailing))
  }

  /// Undoes everything decided since the last commit, because an op broke an invariant
  /// (`isUnsound`).
  ///
  /// The shell reloads the named navs with `reload`, then handles the batch's events again. The hub
  /// then refuses the ops that broke an invariant as `internal`, and freezes their navs.
  package mutating func rollBackUnsound() -> [ReloadRequest] {
    undoBatch(batches.takeUnsound())
  }

  private mutating func undoBatch(_ batch: Batch) -> [ReloadRequest] {
    for change in batch.undo.reversed() { undo(change) }
    // A nav that the batch created is gone.
    let requests = batch.changedNavs.filter { navs.isLive($0.slot) }.map { changed in
      ReloadRequest(nav: navs[changed.slot].number, newestRow: changed.rowBefore)
    }
    output = HubOutput()
    beginBatch(after: batch)
    assert(!isUnsound)
    assert(Set(requests.map(\.nav)).count == requests.count, "a nav is to be read back twice")
    return requests
  }

  private mutating func undo(_ change: Undo) {
    switch change {
    case .row(let shard, let before): batches.resetSequence(of: shard, to: before)
    case .inFlight(let session): sessions.finishOp(of: session, answers: 0)
    case .remembered(let client, let op, let evicted):
      remembered.forget(op, of: client.key, restoring: evicted)
    case .created(let slot): removeCreatedNav(slot)
    case .closed(let slot): navs.restoreName(of: slot)
    case .frozen(let slot): navs[slot].fault = nil
    case .coordination(let slot, let before):
      coordinations.restore(before, slot, among: sessions, at: timer.now)
      timer.plan(timer.now.boot + Self.endingRetryMilliseconds)
    case .malformed(let session):
      if sessions.isLive(session) { sessions[session].malformedCount -= 1 }
    case .historyRequested(let token): dropRead(token)
    case .historyAnswered(let token, let read): restoreRead(read, token)
    case .backup(let before): reads.backup = before
    }
  }

  /// Removes a nav whose creation was rolled back.
  private mutating func removeCreatedNav(_ slot: NavSlot) {
    sessions.undecideWaitingWatches(navs[slot].name)
    for watch in watches.of(nav: slot) { removeWatch(watch) }
    assert(watches.of(nav: slot).isEmpty)
    noteGone(slot)
    coordinations.forget(slot)
    navs.removeCreated(slot)
    assert(!navs.isLive(slot))
  }

  /// Begins the next batch with the effects that must survive a rollback.
  ///
  /// Sessions that ended stay ended, so the `bye` of each is kept.
  private mutating func beginBatch(after failed: Batch) {
    batches.current.effects = failed.effects.filter { item in
      switch item {
      case .send(_, .bye, _, _), .ended, .recheckRights: true
      case .notice(let notice): notice.code == Self.revocationCode
      case .send, .answer, .start, .serve, .event, .progress, .read, .backup, .closed,
        .clusterCommand,
        .ask:
        false
      }
    }
    // Sessions keep their changes and navs lose theirs, so both directories are compared again.
    batches.current.mayChangeClientList = true
    publishVirtualNav(Navs.navsSlot)
  }

  /// Restores a nav from the journal after `rollBack`.
  package mutating func reload(
    _ request: ReloadRequest, snapshot: SnapshotRow?, rows: [JournalRow]
  ) throws(HubReplayError) {
    guard let slot = navs.slot(numbered: request.nav) else { return }
    let fresh: NavEntry
    do {
      fresh = try NavEntry.rebuilt(snapshot, rows, configuration, navs.reader)
    } catch {
      throw HubReplayError(sequence: request.newestRow, what: error.what)
    }
    navs.reload(slot, fresh, head: request.newestRow)
    noteHead(slot)
    noteIfLackingLooks(slot)
    if watches.includeResolvedBar(of: slot) { navs.followBar(of: slot) }
    assert(navs[slot].durable == navs[slot].revision)
    assert(navs[slot].ring.last == navs[slot].revision)
  }
}
