// Navs that a device publishes here: protocol.md §18. The hub replays the rows of the device's
// journal with the code that replays its own, compares each digest, and journals them under numbers
// of its own. Epochs, revisions and digests are those of the device.

extension Hub {
  /// Handles `publish`; refuses it with the position that the nav has.
  mutating func publish(
    _ request: PublishRequest, from sender: Sender, session: Int?, at now: Instant
  ) {
    do throws(OpFailure) {
      let slot = try publish(request, from: sender, at: now)
      let body = JSONWriter.object(reserving: 160) { json in
        json.member("id", request.id)
        json.member("nav", request.nav)
        guard let slot else { return }
        json.place(navs.slots[slot].epoch, navs.slots[slot].revision)
        json.member("dig", hex: navs.slots[slot].digest.bits)
      }
      answer(sender, session, slot, body)
    } catch {
      var error = error.error
      error.id = request.id
      refuse(sender, error, about: request.nav)
    }
  }

  private mutating func answer(
    _ sender: Sender, _ session: Int?, _ slot: Int?, _ body: [UInt8]
  ) {
    guard let slot else { return send(sender.connection, .ok, body) }
    answer(sender, session, slot, body, .none)
  }

  /// Carries out a message; returns the slot of the nav, if it is there afterwards.
  private mutating func publish(
    _ request: PublishRequest, from sender: Sender, at now: Instant
  ) throws(OpFailure) -> Int? {
    try checkFence(sender)
    let slot = navs.slot(of: request.nav)
    let rights = access.rights(
      of: sender.peer, on: request.nav, owner: slot.map { navs.slots[$0].owner })
    guard rights.isSuperset(of: [.read, .admin]) else {
      throw OpFailure(.forbidden, "\(sender.peer.principal) may not publish \(request.nav)")
    }
    guard slot.map({ navs.slots[$0].directory == nil }) ?? (NavName(request.nav) != nil) else {
      throw OpFailure(.readonly, "\(request.nav) is virtual and cannot be published")
    }
    if case .acknowledged(let position) = request.content {
      return try acknowledge(position, request.nav, slot)
    }
    if let slot {
      guard navs.slots[slot].isPublished else {
        throw OpFailure(.navExists, "\(request.nav) exists, and no device publishes it")
      }
      if request.content != .closed { try checkFrozen(slot) }
      navs.slots[slot].readBy = batches.number
    }
    try checkStop()
    switch request.content {
    case .acknowledged: preconditionFailure("acknowledged before")
    case .position:
      guard let slot else { throw OpFailure(.noNav, "there is no nav \(request.nav)") }
      return slot
    case .closed:
      if let slot {
        try checkStorage()
        close(published: slot, at: now)
      }
      return nil
    case .rows(let rows):
      try checkBase(request.from, slot)
      guard let rows = try collect(rows, of: request.nav) else { return slot }
      try checkStorage()
      return try take(rows, as: request.nav, slot, by: sender, at: now)
    }
  }

  /// On the device: notes up to which revision the history is not needed any more.
  private mutating func acknowledge(
    _ position: NavPosition, _ nav: String, _ slot: Int?
  ) throws(OpFailure) -> Int {
    guard let slot else { throw OpFailure(.noNav, "there is no nav \(nav)") }
    let revision = min(position.revision, navs.slots[slot].durable)
    publications.acknowledge(navs.slots[slot].number, revision)
    return slot
  }

  private mutating func checkBase(_ from: NavPosition?, _ slot: Int?) throws(OpFailure) {
    let position = slot.map {
      NavPosition(epoch: navs.slots[$0].epoch, revision: navs.slots[$0].controller.revision)
    }
    guard from != position else { return }
    var error = OutgoingError(.desync, "these rows do not continue what is here")
    error.reason = "base"
    throw OpFailure(error)
  }

  /// Returns the complete rows of a message; nil if pieces of a body are still to come.
  private mutating func collect(
    _ rows: [PublishedRow], of nav: String
  ) throws(OpFailure) -> [PublishedRow]? {
    guard case .piece(let bytes, let offset, let count) = rows[0].body else {
      publications.drop(nav)
      return rows
    }
    guard rows.count == 1 else {
      throw OpFailure(.invalidArgument, "a piece of a row stands alone in its message")
    }
    guard count <= 2 * nav.utf8.count + 2 * configuration.nav.stateBytes + (1 << 20) else {
      var error = OutgoingError(.limit, "a row of \(count) octets")
      error.reason = "size"
      throw OpFailure(error)
    }
    switch publications.collect(bytes, at: offset, of: count, rows[0], of: nav) {
    case .waiting: return nil
    case .complete(let body):
      var row = rows[0]
      row.body = .whole(body)
      return [row]
    case .misplaced:
      var error = OutgoingError(.desync, "the piece at \(offset) does not follow what is here")
      error.reason = "piece"
      throw OpFailure(error)
    }
  }

  /// Replays rows, and journals them; a refusal leaves the nav as it was.
  private mutating func take(
    _ rows: [PublishedRow], as nav: String, _ slot: Int?, by sender: Sender, at now: Instant
  ) throws(OpFailure) -> Int {
    var publication = Publication(
      nav: nav, owner: sender.peer.principal, entry: slot.map { navs.slots[$0] },
      sequence: batches.sequence(of: shards.shard(of: nav)), time: now.wall, configuration)
    do throws(StoredDataError) {
      for row in rows { try publication.replay(row) }
    } catch {
      throw OpFailure(.invalidArgument, "the rows cannot be replayed: \(error.what)")
    }
    guard !publication.isOlder else {
      var error = OutgoingError(.desync, "this state is not newer than what is here")
      error.reason = "older"
      throw OpFailure(error)
    }
    guard let entry = publication.entry else {
      throw OpFailure(.invalidArgument, "no row makes the nav")
    }
    guard entry.controller.byteCount <= configuration.nav.stateBytes else {
      throw OpFailure(OutgoingError(NavigationError.sizeLimit(configuration.nav.stateBytes)))
    }
    let faults = configuration.inspection(entry.controller)
    guard faults.isEmpty else {
      throw OpFailure(.invalidArgument, "the state is unsound: \(faults.joined(separator: ", "))")
    }
    if let slot, !publication.isNew {
      store(publication, entry, in: slot)
      if publication.isReplaced { batches.append(.restart(nav: slot)) }
      snapshotIfDue(slot, at: now)
      return slot
    }
    guard navs.count < configuration.navs else {
      var error = OutgoingError(.limit, "navd holds \(counted(configuration.navs, "nav")) at most")
      error.reason = "quota"
      throw OpFailure(error)
    }
    if let slot { close(published: slot, at: now) }
    let new = navs.create(published: entry)
    noteLoaded(new)
    batches.current.created.append(new)
    store(publication, navs.slots[new], in: new)
    return new
  }

  private mutating func store(_ publication: Publication, _ entry: NavEntry, in slot: Int) {
    batches.touch(&navs.slots[slot], slot)
    for (header, body) in publication.rows {
      var header = header
      header.nav = entry.number
      let sequence = batches.advance(entry.shard)
      precondition(header.sequence == sequence, "row \(header.sequence) has number \(sequence)")
      batches.append(header, body: body.span)
    }
    navs.install(entry, in: slot)
    // Watches that cannot be served by diffs get a state, of which everything must be durable.
    if publication.isReplaced { batches.requestStandstill() }
  }

  private mutating func snapshotIfDue(_ slot: Int, at now: Instant) {
    let entry = navs.slots[slot]
    guard entry.revision.number >= entry.snapshotRevision.number + configuration.snapshotEvery
    else { return }
    recordSnapshot(of: slot, at: now)
  }

  /// Closes a published nav, as its device did.
  private mutating func close(published slot: Int, at now: Instant) {
    batches.touch(&navs.slots[slot], slot)
    let row = RowHeader(
      sequence: batches.advance(navs.slots[slot].shard), nav: navs.slots[slot].number,
      revision: navs.slots[slot].controller.revision.number,
      previous: navs.slots[slot].lastSequence, time: now.wall, kind: .closed)
    batches.append(row, body: JournalBody.closed { _ in }.span)
    publications.drop(navs.slots[slot].name)
    navs.releaseName(of: slot)
    batches.current.closed.append(slot)
    batches.append(.closed(nav: slot))
  }

  /// Sends the state of a nav to its full watches, because no diff leads to it.
  mutating func restartWatches(of nav: Int, at now: Instant) {
    guard navs.isLive(nav) else { return }
    for index in watches.of(nav: nav) {
      watches.restart(index, from: navs.slots[nav])
    }
    pumpWatches(of: nav, at: now)
  }
}

/// Rows of a device, replayed on a copy of the nav before anything of them counts.
private struct Publication {
  let nav: String
  let owner: String
  /// The nav after the rows; nil while it does not exist.
  var entry: NavEntry?
  /// The rows for the journal, which have no number of the nav yet.
  var rows: [(header: RowHeader, body: [UInt8])] = []
  /// Whether a nav begins with these rows, in place of one that is there or not.
  var isNew: Bool
  /// Whether a state is of the nav's epoch, and not newer than the nav; then nothing counts.
  private(set) var isOlder = false
  /// Whether no diff leads to the new state.
  var isReplaced = false
  private var sequence: UInt64
  private let time: UInt64
  private let configuration: HubConfiguration
  private var reader = JournalBodyReader()

  /// Begins at a nav; `sequence` is the newest row of its shard.
  init(
    nav: String, owner: String, entry: NavEntry?, sequence: UInt64, time: UInt64,
    _ configuration: HubConfiguration
  ) {
    self.nav = nav
    self.owner = owner
    self.entry = entry
    self.sequence = sequence
    self.time = time
    self.configuration = configuration
    isNew = entry == nil
  }

  mutating func replay(_ row: PublishedRow) throws(StoredDataError) {
    guard case .whole(let body) = row.body else {
      throw StoredDataError(what: "a piece among other rows")
    }
    try reader.load(body)
    switch row.kind {
    case .created, .state: try takeState(row)
    case .changed:
      guard let entry, reader.statedEpoch == entry.epoch else {
        throw StoredDataError(what: "a change of another epoch")
      }
      guard let body = reader.republished(as: nav, row: sequence + 1) else {
        throw StoredDataError(what: "a change without its diff")
      }
      try append(.changed, row, body)
    case .epoch:
      guard let entry, entry.revision == row.revision else {
        throw StoredDataError(what: "an epoch at another revision")
      }
      guard let body = reader.republishedEpoch() else {
        throw StoredDataError(what: "no epoch")
      }
      try append(.epoch, row, body)
      isReplaced = true
    }
  }

  /// Replays and records a row of the nav that is there.
  private mutating func append(
    _ kind: JournalRow.Kind, _ row: PublishedRow, _ body: [UInt8]
  ) throws(StoredDataError) {
    guard var entry else { throw StoredDataError(what: "a row of a nav that is not there") }
    let previous = entry.lastSequence
    sequence += 1
    let stored = JournalRow(
      sequence: sequence, nav: entry.number, revision: row.revision.number, previous: previous,
      time: row.time, kind: kind, body: body)
    // The copy must be the only one, so that its ring is changed in place.
    self.entry = nil
    try reader.load(body)
    try entry.replay(stored, &reader, configuration, isDurable: false)
    guard entry.revision == row.revision else {
      throw StoredDataError(
        what: "revision \(row.revision.number) leads to \(entry.revision.number)")
    }
    self.entry = entry
    rows.append((RowHeader(stored), body))
  }

  /// Takes a complete state: of a new nav, or behind a gap.
  private mutating func takeState(_ row: PublishedRow) throws(StoredDataError) {
    guard rows.isEmpty else { throw StoredDataError(what: "a state behind other rows") }
    let position = entry.map { NavPosition(epoch: $0.epoch, revision: $0.revision) }
    if let position, reader.statedEpoch == position.epoch, row.revision <= position.revision {
      isOlder = true
      return
    }
    let body = reader.republishedState(
      as: nav, owner: owner, gap: position,
      behindNothing: position == nil && row.revision > Revision(1))
    try reader.load(body)
    let state = try reader.state()
    guard state.controller.revision == row.revision else {
      throw StoredDataError(what: "the state is of revision \(state.controller.revision.number)")
    }
    var new = try NavEntry(state, number: entry?.number ?? 0)
    isReplaced = true
    // A device that has created its nav anew gets a new nav here, too.
    if let entry, row.kind == .state, row.revision >= entry.revision,
      new.controller.isStandalone == entry.controller.isStandalone
    {
      return try append(.replaced, row, body)
    }
    // The journal of a nav does not go back, so that another nav of this name begins.
    isNew = true
    // The row that closes the former nav comes first.
    sequence += entry == nil ? 1 : 2
    new.number = 0
    new.lastSequence = sequence
    new.changedAt = row.time
    if row.kind == .created { new.topChange = .creation(at: row.time, by: reader.author()) }
    entry = new
    rows.append(
      (
        RowHeader(
          sequence: sequence, nav: 0, revision: row.revision.number, previous: 0, time: row.time,
          kind: .created), body
      ))
  }
}
