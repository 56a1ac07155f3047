import Navigation

/// Why a journal cannot be replayed; the daemon must not serve it.
package struct HubReplayError: Error, Hashable, Sendable {
  /// The row, 0 for a snapshot.
  package var sequence: UInt64
  /// What is wrong.
  package var what: String
}

extension Hub {
  // Start: snapshots first, then every row in order, then `finishReplay`.

  /// Takes the newest snapshot of a nav.
  package mutating func replay(_ snapshot: SnapshotRow) throws(HubReplayError) {
    do {
      var entry = try rebuild(snapshot, [])
      entry.lastSequence = snapshot.sequence
      adopt(entry, number: snapshot.nav)
    } catch {
      throw HubReplayError(
        sequence: 0, what: "snapshot of nav \(snapshot.nav) at \(snapshot.revision): \(error.what)")
    }
  }

  /// Takes a row; rows at or before their nav's snapshot only tell which ops were decided.
  ///
  /// - Parameters:
  ///   - row: the next row.
  ///   - now: ops decided long before it are not remembered.
  /// - Throws: what does not fit; the journal must not be served.
  package mutating func replay(_ row: JournalRow, at now: Instant) throws(HubReplayError) {
    sequence = row.sequence
    lastNavNumber = max(lastNavNumber, row.nav)
    do {
      try replayBody(row, at: now)
    } catch {
      throw HubReplayError(sequence: row.sequence, what: error.what)
    }
  }

  private mutating func replayBody(
    _ row: JournalRow, at now: Instant
  ) throws(JournalBodyError) {
    let slot = numberSlots[row.nav]
    let isOld = slot.map { row.sequence <= navs[$0].lastSequence } ?? false
    // By number as well as by the clock, which may have jumped since the row was written.
    let isRecent =
      row.sequence > remembersBehind || row.time + configuration.rememberedIdle > now.wall
    if isOld, !isRecent {
      // Still needed to read history: the floor is the oldest row's revision.
      lowerFloor(row)
      return
    }
    try bodyReader.load(row.body)
    if isRecent, let (key, op) = bodyReader.author() {
      let entry = RememberedOps.Entry(
        id: op, octets: OctetsHash(bits: 0), isOk: true, reply: row.body, isRow: true)
      remembered.remember(entry, of: key, at: now.boot)
    }
    if isOld { return lowerFloor(row) }
    if row.kind == .created {
      guard slot == nil else { throw JournalBodyError(what: "nav \(row.nav) is created twice") }
      let state = try bodyReader.state()
      var entry = try NavEntry(state, number: row.nav)
      entry.lastSequence = row.sequence
      return adopt(entry, number: row.nav)
    }
    // The rows of a closed nav may be gone but for its closing.
    guard let slot else {
      if row.kind == .closed { return }
      throw JournalBodyError(what: "row of nav \(row.nav), which was never created")
    }
    guard row.previous == navs[slot].lastSequence else {
      throw JournalBodyError(
        what: "follows row \(row.previous), but the nav's last is \(navs[slot].lastSequence)")
    }
    let bytes = navs[slot].ring.byteCount
    try navs[slot].replay(row, &bodyReader, configuration)
    ringBytes += navs[slot].ring.byteCount - bytes
    if row.kind == .closed {
      // A later nav may have taken the name already: snapshots are read before the rows.
      if navSlots[navs[slot].name] == slot { navSlots[navs[slot].name] = nil }
      numberSlots[row.nav] = nil
      ringBytes -= navs[slot].ring.byteCount
      navs.remove(slot, leaving: .vacant)
    }
  }

  private mutating func lowerFloor(_ row: JournalRow) {
    guard let slot = numberSlots[row.nav] else { return }
    navs[slot].floor = min(navs[slot].floor, Revision(row.revision))
  }

  private mutating func adopt(_ entry: NavEntry, number: UInt64) {
    lastNavNumber = max(lastNavNumber, number)
    let slot = navs.insert(entry)
    navs[slot].shown.share(&barFrames)
    numberSlots[number] = slot
    if let other = navSlots[entry.name], navs[other].number > number { return }
    navSlots[entry.name] = slot
  }

  /// Ends the replay.
  ///
  /// - Parameters:
  ///   - renewsEpochs: whether revisions may have been lost, so that every nav gets a new epoch.
  ///   - lastSequence: the journal's newest row, which retention may have pruned.
  ///   - now: the time of the rows that this makes.
  /// - Returns: the number of navs; `takeRecords` has what must be made durable before serving.
  @discardableResult
  package mutating func finishReplay(
    renewsEpochs: Bool, lastSequence: UInt64, at now: Instant
  ) -> Int {
    sequence = max(sequence, lastSequence)
    remembered.readRows { bodyReader.entry(of: $0) }
    trimRings()
    if remembered.clientCount > 0 { plan(now.boot + configuration.rememberedIdle) }
    clock = now
    defer {
      for slot in navs.indices.dropFirst(2) {
        let violated = navs[slot].controller.violatedInvariants()
        if violated.isEmpty { recover(slot) } else { freeze(slot, violated) }
      }
    }
    guard renewsEpochs else { return navs.count - 2 }
    for slot in navs.indices.dropFirst(2) {
      let epoch = Epoch(bits: random.next())
      sequence += 1
      batch.records.append(
        .row(
          JournalRow(
            sequence: sequence, nav: navs[slot].number,
            revision: navs[slot].controller.revision.number, previous: navs[slot].lastSequence,
            time: now.wall, kind: .epoch, body: JournalBody.epoch(epoch))))
      navs[slot].lastSequence = sequence
      ringBytes -= navs[slot].ring.byteCount
      navs[slot].renew(epoch)
    }
    return navs.count - 2
  }

  /// A nav as the journal tells it.
  func rebuild(
    _ snapshot: SnapshotRow?, _ rows: [JournalRow]
  ) throws(JournalBodyError) -> NavEntry {
    var reader = bodyReader
    var rows = rows[...]
    var entry: NavEntry
    if let snapshot {
      try reader.load(snapshot.body)
      entry = try NavEntry(try reader.state(), number: snapshot.nav)
      entry.lastSequence = snapshot.sequence
      rows = rows.drop { $0.sequence <= snapshot.sequence }
    } else {
      guard let first = rows.popFirst(), first.kind == .created else {
        throw JournalBodyError(what: "neither a snapshot nor the creation is there")
      }
      try reader.load(first.body)
      entry = try NavEntry(try reader.state(), number: first.nav)
      entry.lastSequence = first.sequence
    }
    for row in rows {
      try reader.load(row.body)
      try entry.replay(row, &reader, configuration)
    }
    return entry
  }
}

extension NavEntry {
  /// An entry from a complete state, whose digest must prove it.
  init(_ state: JournalBodyReader.State, number: UInt64) throws(JournalBodyError) {
    self.init(
      name: state.nav, number: number, owner: state.owner, epoch: state.epoch,
      controller: state.controller)
    resolvedAt = state.resolvedAt
    guard digest == state.digest else {
      throw JournalBodyError(what: "digest \(digest.text) of the state is not \(state.digest.text)")
    }
  }

  /// Repeats a row, whose body is loaded; its digest must prove the result.
  mutating func replay(
    _ row: JournalRow, _ reader: inout JournalBodyReader, _ configuration: HubConfiguration
  ) throws(JournalBodyError) {
    lastSequence = row.sequence
    switch row.kind {
    case .created: throw JournalBodyError(what: "a second creation")
    case .closed, .report: return
    case .epoch:
      guard let epoch = reader.epoch() else { throw JournalBodyError(what: "no epoch") }
      return renew(epoch)
    case .changed: break
    }
    let (change, proof) = try reader.change()
    do {
      try controller.replay(change)
    } catch {
      throw JournalBodyError(what: error.what)
    }
    let lowest = change.splices.map(\.at).min() ?? Int.max
    let edited = change.screens.compactMap { controller.index(of: $0.id) }.min() ?? Int.max
    updateDigest(from: min(lowest, edited))
    guard digest == proof else {
      throw JournalBodyError(what: "digest \(digest.text) is not \(proof.text)")
    }
    if reader.changesResolved() {
      var json = JSONWriter(reserving: 384)
      shown.follow(controller, &json)
      resolvedAt = controller.revision
    }
    durable = controller.revision
    if let diff = reader.diff(resolved: resolved) {
      ring.append(diff, digest: digest)
    } else {
      ring = DiffRing(base: controller.revision, digest: digest)
    }
    _ = ring.trim(
      revisions: configuration.resumeRevisions, bytes: configuration.resumeBytes, through: durable)
  }

  /// Begins a new life: revisions go on, but nobody can resume across it.
  mutating func renew(_ epoch: Epoch) {
    self.epoch = epoch
    ring = DiffRing(base: controller.revision, digest: digest)
  }
}
