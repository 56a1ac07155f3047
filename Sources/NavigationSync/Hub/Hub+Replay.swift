import Navigation

/// Why a journal cannot be replayed; the daemon must not serve it.
package struct HubReplayError: Error, Hashable, Sendable {
  /// The row, 0 for a snapshot.
  package var sequence: UInt64
  /// What is wrong.
  package var what: String
}

/// Why revisions may have been lost before a start; the log says so beside the new epoch.
package enum EpochLoss: String, Sendable {
  /// A backup was put in the place of the journal.
  case backup
  /// The machine crashed in mode `relaxed`.
  case crash
}

extension Hub {
  // Start: the newest snapshot of each nav, every row in order, what the two questions ask for,
  // then `finishReplay`. No state is read meanwhile but of navs in which something is open: the
  // others stay dormant until somebody wants them, see Hub+Dormant.swift.

  /// Takes note of the newest snapshot of a nav.
  package mutating func index(_ snapshot: SnapshotRow) throws(HubReplayError) {
    do {
      let head = try bodyReader.head(of: snapshot.body)
      lastNavNumber = max(lastNavNumber, snapshot.nav)
      dormants.insert(
        DormantNav(number: snapshot.nav, head: head),
        DormantHistory(
          revision: Revision(snapshot.revision), sequence: snapshot.sequence, isOpen: head.isOpen))
    } catch {
      throw HubReplayError(
        sequence: 0, what: "snapshot of nav \(snapshot.nav) at \(snapshot.revision): \(error.what)")
    }
  }

  /// Takes note of a row, which must continue its nav; rows at or before their nav's snapshot only
  /// tell how far back its history goes.
  ///
  /// - Parameters:
  ///   - row: the next row.
  ///   - body: its body, needed of rows that create a nav or give it an epoch.
  ///   - now: ops decided long before it are not remembered.
  /// - Throws: what does not fit; the journal must not be served.
  package mutating func index(
    _ row: RowHeader, body: Span<UInt8>, at now: Instant
  ) throws(HubReplayError) {
    // The journal could not keep the numbers behind it.
    guard row.nav <= Int64.max else {
      throw HubReplayError(sequence: row.sequence, what: "a nav with the number \(row.nav)")
    }
    sequence = row.sequence
    lastNavNumber = max(lastNavNumber, row.nav)
    let idle = configuration.rememberedIdle
    // By number as well as by the clock, which may have jumped since the row was written.
    if let author = row.author,
      row.sequence > remembersBehind || now.wall < idle || row.time > now.wall - idle
    {
      let entry = RememberedOps.Entry(
        id: author.op, octets: BodyHash(bits: 0), isOk: true, reply: [], row: row.sequence)
      let key = RememberedOps.Key(principal: author.principal, client: author.client)
      remembered.remember(entry, of: key, at: now.boot)
    }
    do {
      try continueNav(row, body)
    } catch {
      throw HubReplayError(sequence: row.sequence, what: error.what)
    }
  }

  private mutating func continueNav(
    _ row: RowHeader, _ body: Span<UInt8>
  ) throws(JournalBodyError) {
    guard let place = dormants.place(of: row.nav) else {
      // The rows of a closed nav may be gone but for its closing.
      if row.kind == .closed { return }
      guard row.kind == .created else {
        throw JournalBodyError(what: "row of nav \(row.nav), which was never created")
      }
      return dormants.insert(
        DormantNav(number: row.nav, head: try bodyReader.head(of: [UInt8](copying: body))),
        DormantHistory(
          revision: Revision(row.revision), sequence: row.sequence, isOpen: row.isOpen))
    }
    try dormants.extend(place, by: row)
    switch row.kind {
    case .closed: dormants.remove(place)
    case .epoch:
      // One that a snapshot covers is not newer than the snapshot's.
      guard dormants.history(place).lastSequence == row.sequence else { return }
      dormants.renew(place, try bodyReader.epoch(in: [UInt8](copying: body)))
    case .created, .changed, .report: break
    }
  }

  /// Takes how far back the journal can read each nav; to be called behind the last row.
  ///
  /// - Parameter floor: the oldest revision of the nav with a number, 0 for its first one. Rows alone
  ///   do not tell: those below may be on their way out, and a snapshot may be all there is.
  package mutating func takeFloors(_ floor: (UInt64) -> UInt64) {
    for place in dormants.places {
      let revision = floor(dormants[place].number)
      if revision > 0 { dormants.setFloor(place, Revision(revision)) }
    }
  }

  /// The navs that must be revived before `finishReplay`, because it ends what is open in them.
  package var openNavs: [ReloadRequest] { dormants.openNavs }

  /// The rows, in ascending order, whose bodies `remember` needs before `finishReplay`.
  package var rememberedRows: [UInt64] { remembered.rows.sorted() }

  /// Takes the bodies of the `rememberedRows`; ops whose rows are not there are forgotten.
  package mutating func remember(_ rows: [(sequence: UInt64, body: [UInt8])]) {
    var entries: [UInt64: RememberedOps.Entry] = [:]
    for (sequence, body) in rows { entries[sequence] = bodyReader.entry(of: body) }
    remembered.readRows(entries)
  }

  /// Ends the replay.
  ///
  /// - Parameters:
  ///   - renewsEpochs: whether revisions may have been lost, so that every nav gets a new epoch.
  ///   - loss: why they may have been lost.
  ///   - lastSequence: the journal's newest row, which retention may have pruned.
  ///   - now: the time of the rows that this makes.
  /// - Returns: the number of navs; `takeRecords` has what must be made durable before serving.
  @discardableResult
  package mutating func finishReplay(
    renewsEpochs: Bool, because loss: EpochLoss = .crash, lastSequence: UInt64, at now: Instant
  ) -> Int {
    precondition(dormants.openNavs.isEmpty, "navs in which something is open are dormant")
    precondition(remembered.rows.isEmpty, "ops are to be remembered by rows")
    sequence = max(sequence, lastSequence)
    trimRings()
    if remembered.clientCount > 0 { plan(now.boot + configuration.rememberedIdle) }
    clock = now
    if renewsEpochs { renewEpochs(because: loss, at: now) }
    for slot in navs.indices.dropFirst(2) where navs[slot].fault == nil { recover(slot) }
    return navs.count - 2 + dormants.count
  }

  private mutating func renewEpochs(because loss: EpochLoss, at now: Instant) {
    for slot in navs.indices.dropFirst(2) {
      let epoch = Epoch(bits: random.next())
      let row = epochRow(
        JournalBody.epoch(epoch, because: loss), navs[slot].number,
        navs[slot].controller.revision, navs[slot].lastSequence,
        isOpen: navs[slot].controller.isOpen, at: now)
      navs[slot].lastSequence = row
      ringBytes -= navs[slot].ring.byteCount
      navs[slot].renew(epoch)
    }
    for place in dormants.places {
      let epoch = Epoch(bits: random.next())
      let history = dormants.history(place)
      let row = epochRow(
        JournalBody.epoch(epoch, because: loss), dormants[place].number, history.revision,
        history.lastSequence, isOpen: history.isOpen, at: now)
      dormants.renew(place, epoch, row: row)
    }
  }

  /// Records a new epoch; returns the number of its row.
  private mutating func epochRow(
    _ body: [UInt8], _ nav: UInt64, _ revision: Revision, _ previous: UInt64, isOpen: Bool,
    at now: Instant
  ) -> UInt64 {
    sequence += 1
    batch.records.append(
      .row(
        JournalRow(
          sequence: sequence, nav: nav, revision: revision.number, previous: previous,
          time: now.wall, kind: .epoch, isOpen: isOpen, body: body)))
    return sequence
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
      entry.topChange = .creation(at: first.time, by: reader.author())
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
    topChange = state.topChange
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
    let former = change.splices.isEmpty ? nil : controller.top?.id
    do {
      try controller.replay(change)
    } catch {
      throw JournalBodyError(what: error.what)
    }
    let lowest = change.splices.map(\.at).min()
    let edited = change.screens.compactMap { controller.index(of: $0.id) }.min() ?? Int.max
    updateDigest(from: min(lowest ?? Int.max, edited))
    guard digest == proof else {
      throw JournalBodyError(what: "digest \(digest.text) is not \(proof.text)")
    }
    if let lowest,
      var next = TopChange(
        controller.revision, from: former, to: controller.stack, changedFrom: lowest,
        time: row.time, cause: reader.cause())
    {
      next.author = reader.author()
      topChange = next
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
    // Revisions of different epochs say nothing about each other.
    topChange = nil
    ring = DiffRing(base: controller.revision, digest: digest)
  }
}
