import Navigation

/// A nav to be read back from the journal: its last commits failed, or it is dormant.
package struct ReloadRequest: Hashable, Sendable {
  /// The nav's number.
  package var nav: UInt64
  /// Its newest durable row.
  package var head: UInt64

  /// Makes a value from its members.
  package init(nav: UInt64, head: UInt64) {
    self.nav = nav
    self.head = head
  }
}

extension Hub {
  /// Takes back everything decided since the last commit: all sealed batches and what came after.
  ///
  /// Nothing of it has been sent. The navs named are to be read back with `reload`; then the
  /// batch's events are handled again, while the hub refuses every commit with `storage`.
  package mutating func rollBack() -> [ReloadRequest] {
    if var first = sealed.first {
      for next in sealed.dropFirst() { first.absorb(next) }
      first.absorb(batch)
      batch = first
      sealed = []
    }
    for remembrance in batch.remembrances.reversed() {
      remembered.forget(remembrance.op, of: remembrance.key, restoring: remembrance.evicted)
    }
    restoreCoordinations(batch.coordinationsBefore)
    let created = Set(batch.created)
    for slot in batch.created { forgetCreated(slot) }
    for slot in batch.closed where !created.contains(slot) { navSlots[navs[slot].name] = slot }
    lastNavNumber -= UInt64(batch.created.count)
    if let before = batch.sequenceBefore { sequence = before }
    let requests = batch.touched.filter { !created.contains($0.slot) }.map { touched in
      ReloadRequest(nav: navs[touched.slot].number, head: touched.rowBefore)
    }
    noteAnswered(by: 0)
    for slot in batch.malformed where sessions.isLive(slot) { sessions[slot].malformed -= 1 }
    for read in output.requests { _ = reads.take(read.token) }
    for token in batch.waiting { dropWaiting(token) }
    for (token, read) in batch.finishedReads { putBack(read, token) }
    takeBackBackup()
    output = HubOutput()
    beginAgain()
    isStorageFailing = true
    return requests
  }

  /// Removes a nav that the journal never heard of.
  private mutating func forgetCreated(_ slot: Int) {
    for watch in navs[slot].watches { removeWatch(watch, fromSession: true) }
    if navSlots[navs[slot].name] == slot { navSlots[navs[slot].name] = nil }
    numberSlots[navs[slot].number] = nil
    ringBytes -= navs[slot].ring.byteCount
    navs.remove(slot, leaving: .vacant)
  }

  /// Empties the batch, but for what handling the events again does not bring back: sessions that
  /// ended stay ended, so their last words are kept.
  private mutating func beginAgain() {
    let farewells = batch.effects.filter { item in
      switch item {
      case .send(_, .bye, _, _), .ended, .recheck: true
      case .notice(let notice): notice.code == Self.revocation
      case .send, .answer, .start, .pump, .event, .progress, .read, .backup, .closed: false
      }
    }
    beginBatch()
    batch.effects = farewells
    // The sessions are as they became, the navs are as they were; both lists are compared anew.
    batch.changedClients = true
    publish(Self.navsSlot)
  }

  /// Puts a nav back to what the journal says, after `rollBack`.
  package mutating func reload(
    _ request: ReloadRequest, snapshot: SnapshotRow?, rows: [JournalRow]
  ) throws(HubReplayError) {
    guard let slot = numberSlots[request.nav] else { return }
    let fresh: NavEntry
    do {
      fresh = try rebuild(snapshot, rows)
    } catch {
      throw HubReplayError(sequence: request.head, what: error.what)
    }
    let revision = fresh.controller.revision
    ringBytes -= navs[slot].ring.cut(behind: revision, digest: fresh.digest)
    navs[slot].controller = fresh.controller
    navs[slot].running = fresh.running
    navs[slot].digest = fresh.digest
    navs[slot].shown = fresh.shown
    navs[slot].resolvedAt = fresh.resolvedAt
    navs[slot].topChange = fresh.topChange
    navs[slot].lastSequence = request.head
    navs[slot].durable = revision
    navs[slot].snapshotRevision = min(navs[slot].snapshotRevision, revision)
  }
}
