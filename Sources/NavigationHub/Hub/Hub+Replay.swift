package import NavigationCore

/// Why a journal cannot be replayed, and at which row; the daemon must not serve it.
package struct HubReplayError: Error, Hashable, Sendable {
  /// The number of the row, 0 for a snapshot.
  package var sequence: UInt64
  package var what: String
}

/// The reason why revisions may be lost, which the log shows beside the new epoch.
package enum HistoryLoss: String, Sendable {
  /// A backup replaced the journal.
  case backup
  /// The journal has fewer rows than its witness: somebody put back an older copy.
  case olderCopy = "older"
  /// The machine crashed while `durability` was `relaxed`.
  case crash
}

extension Hub {
  // A start calls `index` with the newest snapshot of each nav, then with every row in order, then
  // `setFloors`. It reads what `opRowsToRead` and `navsToReviveAtStart` ask for, and calls `finishReplay`.
  // Only navs with an open state are revived then; the others stay dormant, see Hub+Dormant.swift.

  /// Notes the newest snapshot of a nav.
  package mutating func index(_ snapshot: SnapshotRow) throws(HubReplayError) {
    do {
      try navs.index(snapshot)
    } catch {
      throw HubReplayError(
        sequence: 0, what: "snapshot of nav \(snapshot.nav) at \(snapshot.revision): \(error.what)")
    }
  }

  /// Notes a row, which must continue the history of its nav; after an error the daemon must not
  /// serve the journal.
  ///
  /// If the nav's snapshot includes the row, the row only extends the readable history. `body` is
  /// needed only if the row creates a nav or gives it an epoch. The hub forgets an op older than
  /// `rememberedIdle`, unless its row is after `remembersAllAfterRow`.
  package mutating func index(
    _ row: borrowing RowHeader, body: Span<UInt8>, at now: Instant
  ) throws(HubReplayError) {
    let shard = Shard(ofNav: row.nav)
    guard shard.number < shards.count else {
      throw HubReplayError(sequence: row.sequence, what: "a nav with the number \(row.nav)")
    }
    noteGap(before: row.sequence, of: shard)
    batches.continueNumbering(after: row.sequence, of: shard)
    let idle = configuration.rememberedIdle
    // The number counts as well as the time, because the clock may have jumped since the row.
    if let author = row.author,
      row.sequence > remembered.remembersAllAfterRow || now.wall < idle
        || row.time > now.wall - idle
    {
      let entry = RememberedOps.Entry(
        id: author.op, octets: BodyHash(bits: 0), isOk: true, reply: [], row: row.sequence)
      let key = RememberedOps.Key(
        principal: author.author.principal, client: author.client, shard: shard)
      remembered.remember(entry, of: key, row: row.sequence, at: now.boot)
    } else if row.author != nil {
      remembered.forget(upTo: row.sequence, of: shard)
    }
    do {
      try navs.index(row, body)
    } catch {
      throw HubReplayError(sequence: row.sequence, what: error.what)
    }
  }

  /// Notes that rows before `row` were pruned, so that the hub does not know their ops.
  private mutating func noteGap(before row: UInt64, of shard: Shard) {
    if row > batches.sequence(of: shard) + 1 { remembered.forget(upTo: row - 1, of: shard) }
  }

  /// Sets the oldest revision of each nav that the journal can read; to be called after the last
  /// row.
  ///
  /// `floor` gives the oldest revision by the number of a nav, or 0 for a complete history. The
  /// rows alone do not show this revision: navd may be pruning them, and a nav may have a snapshot
  /// only.
  package mutating func setFloors(_ floor: (UInt64) -> UInt64) {
    for place in navs.dormants.places {
      let revision = floor(navs.dormants[place].number)
      if revision > 0 { navs.dormants.setFloor(place, Revision(revision)) }
    }
  }

  /// The requests that revive the navs that `finishReplay` needs in memory: those with an open
  /// transition, gesture or lease, and `$appearance`.
  package var navsToReviveAtStart: [ReloadRequest] {
    let appearance = navs.dormants.place(named: NavName.appearance.text).map(navs.dormants.request)
    return navs.dormants.navsToRecover + [appearance].compactMap(\.self)
  }

  /// The rows of each shard, in ascending order, that `rememberOps` needs before `finishReplay`.
  package var opRowsToRead: [Shard: [UInt64]] { remembered.rowsToRead.mapValues { $0.sorted() } }

  /// Remembers the ops of a shard from its `opRowsToRead`; the hub forgets ops whose rows are
  /// missing.
  package mutating func rememberOps(from rows: [JournalRow], of shard: Shard = .first) {
    var entries: [UInt64: RememberedOps.Entry] = [:]
    for row in rows { entries[row.sequence] = navs.reader.entry(of: row) }
    remembered.fillIn(entries, of: shard)
  }

  /// Ends the replay; the shell makes the records of `takeRecords` durable before it serves
  /// clients.
  ///
  /// Returns the number of navs. With `renewsEpochs` every nav gets a new epoch, because revisions
  /// may have been lost. `lastSequence` is the number of the journal's newest row, which retention
  /// may have pruned.
  @discardableResult
  package mutating func finishReplay(
    renewsEpochs: Bool, because loss: HistoryLoss = .crash, lastSequence: UInt64, at now: Instant
  ) -> Int {
    precondition(shards.count == 1, "the hub of a cluster adopts shards")
    precondition(navs.dormants.navsToRecover.isEmpty, "navs in which something is open are dormant")
    precondition(remembered.rowsToRead.isEmpty, "ops are to be remembered by rows")
    noteGap(before: lastSequence + 1, of: .first)
    batches.continueNumbering(after: max(batches.sequence(of: .first), lastSequence), of: .first)
    trimRings()
    if remembered.clientCount > 0 { timer.plan(now.boot + configuration.rememberedIdle) }
    timer.advance(to: now)
    if renewsEpochs { renewEpochs([.first: loss], at: now) }
    recoverNavs()
    return navs.count
  }

  /// Ends the transitions, gestures and leases that the former run left open; the shell calls it
  /// again after a rollback.
  package mutating func recoverNavs() {
    for slot in navs.loaded where navs[slot].fault == nil { recover(slot) }
  }

  /// Gives all navs of shards new epochs, and records the reason of each shard in the rows.
  ///
  /// The next row has a number that no lost row had: clients compare the numbers of rows. In
  /// microseconds, the time of day counts faster than any shard.
  mutating func renewEpochs(_ losses: [Shard: HistoryLoss], at now: Instant) {
    if losses.isEmpty { return }
    for shard in losses.keys {
      let unused = max(batches.sequence(of: shard) + 1 << 20, min(now.wall, 1 << 42) * 1000)
      batches.continueNumbering(after: unused, of: shard)
    }
    for slot in navs.loaded {
      guard let loss = losses[navs[slot].shard] else { continue }
      let epoch = navs.makeEpoch()
      let row = appendRow(
        .epoch, of: navs[slot].number, NavHead(navs[slot]), behind: navs[slot].lastSequence,
        needsRecovery: navs[slot].controller.needsRecovery, JournalBody.epoch(epoch, because: loss),
        at: now)
      navs.renew(slot, epoch, row: row)
    }
    for (shard, loss) in losses.sorted(by: { $0.key < $1.key }) {
      for place in navs.dormants.places(of: shard) {
        let epoch = navs.makeEpoch()
        let history = navs.dormants.history(place)
        let row = appendRow(
          .epoch, of: navs.dormants[place].number, history.head, behind: history.lastSequence,
          needsRecovery: history.needsRecovery, JournalBody.epoch(epoch, because: loss), at: now)
        navs.dormants.renew(place, epoch, row: row)
      }
    }
  }

  /// Appends a row that changes neither the revision nor the stack of a nav; returns its number.
  mutating func appendRow(
    _ kind: JournalRow.Kind, of nav: UInt64, _ head: NavHead, behind previous: UInt64,
    needsRecovery: Bool,
    _ body: [UInt8], at now: Instant
  ) -> UInt64 {
    let sequence = batches.nextRow(of: Shard(ofNav: nav))
    assert(previous < sequence)
    let row = RowHeader(
      sequence: sequence, nav: nav, revision: head.revision.number, previous: previous,
      time: now.wall, kind: kind, depth: head.depth, top: head.top, needsRecovery: needsRecovery)
    batches.append(row, body: body.span)
    return sequence
  }
}

extension NavEntry {
  /// Makes an entry from a complete state; throws if the state does not have its recorded digest.
  init(_ state: JournalBodyReader.State, number: UInt64) throws(StoredDataError) {
    self.init(
      name: state.nav, number: number, owner: state.owner, epoch: state.epoch,
      controller: state.controller)
    topChange = state.topChange
    guard digest.checksum == state.digest.checksum else {
      throw StoredDataError(
        what: "checksum \(hexText(UInt64(digest.checksum), digits: 8)) of the state is not that of "
          + "digest \(state.digest.text)")
    }
    digest = state.digest
    ring = DiffRing(base: controller.revision, digest: digest)
  }

  /// Repeats a row whose body `reader` has loaded; throws if the result has not the recorded
  /// digest.
  mutating func replay(
    _ row: JournalRow, _ reader: inout JournalBodyReader, _ configuration: HubConfiguration
  ) throws(StoredDataError) {
    lastSequence = row.sequence
    switch row.kind {
    case .created: throw StoredDataError(what: "a second creation")
    case .closed, .report: return
    case .epoch:
      return renew(try reader.epoch())
    case .changed: changedAt = row.time
    }
    let (change, proof) = try reader.change()
    guard reader.digestBefore() == digest else {
      throw StoredDataError(what: "the digest before row \(row.sequence) is not \(digest.text)")
    }
    let former = change.splices.isEmpty ? nil : controller.top?.id
    try controller.replay(change)
    let lowest = change.splices.map(\.at).min()
    let edited = change.changedScreens.compactMap { controller.index(of: $0.id) }.min() ?? Int.max
    let checksum = running.update(controller, from: min(lowest ?? Int.max, edited))
    guard checksum == proof.checksum else {
      throw StoredDataError(
        what: "checksum \(hexText(UInt64(checksum), digits: 8)) is not that of digest \(proof.text)"
      )
    }
    digest = proof
    if let lowest,
      var next = TopChange(
        controller.revision, from: former, to: controller.stack, changedFrom: lowest,
        time: row.time, cause: reader.cause())
    {
      next.author = reader.author()
      topChange = next
    }
    durable = controller.revision
    ring.append(try reader.diff(), digest: digest)
    _ = ring.trim(
      revisions: configuration.resumeRevisions, bytes: configuration.resumeBytes, through: durable)
    assert(ring.last == controller.revision, "the ring ends with \(ring.last)")
    assert(lastSequence == row.sequence)
  }

  /// Gives the nav a new epoch: revisions go on, but no client can resume across the change.
  mutating func renew(_ epoch: Epoch) {
    self.epoch = epoch
    // Revisions of different epochs cannot be compared.
    topChange = nil
    digest = Digest(checksum: digest.checksum, chain: epoch.bits)
    ring = DiffRing(base: controller.revision, digest: digest)
  }
}
