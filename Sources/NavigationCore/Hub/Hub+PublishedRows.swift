// The device's side of published navs: the rows of its journal, for the program that carries them to
// another daemon, and the navs with a history that is kept until that daemon has it.

extension Hub {
  /// Reads the rows behind a position, or with `at` the complete state at a revision.
  mutating func readRows(_ request: GetRequest, _ slot: Int, for sender: Sender) {
    let entry = navs.slots[slot]
    guard rights(of: sender.peer, onNavAt: slot).contains(.admin) else {
      let text = "\(sender.peer.principal) may not read the rows of \(entry.name)"
      return refuse(
        sender, OutgoingError(.forbidden, id: request.id, text), about: entry.name)
    }
    guard entry.number > 0, request.limit > 0, request.limit <= 1000 else {
      let text = "rows are those of a nav that is not virtual; limit is from 1 to 1000"
      return refuse(sender, OutgoingError(.invalidArgument, id: request.id, text))
    }
    let offset = Int(request.offset)
    if let at = request.at {
      guard at >= entry.floor, at <= entry.revision else {
        return refuse(sender, .compacted(at, request.id, entry))
      }
      return ask(
        .state(at: at.number), request, .publishedState(at, offset: offset), slot, for: sender)
    }
    let from = request.from ?? Revision(0)
    guard let epoch = request.epoch, from >= entry.floor, from <= entry.revision else {
      return refuse(sender, .compacted(from, request.id, entry))
    }
    let position = NavPosition(epoch: epoch, revision: from)
    if epoch == entry.epoch, from == entry.revision {
      return answer(request, slot, Array("[]".utf8), to: sender)
    }
    ask(
      .rows(from: from.number, through: from.number + request.limit), request,
      .rows(behind: position, offset: offset, floor: entry.floor), slot, for: sender)
  }

  /// Answers a read of rows; returns whether the read was one.
  mutating func finishRows(
    _ pending: PendingRead, _ answer: HistoryAnswer, for sender: Sender
  ) throws(StoredDataError) -> Bool {
    let rows: [PublishedRow]
    switch pending.what {
    case .log, .diffs, .state, .revert: return false
    case .publishedState(let revision, let offset):
      rows = [try publishedState(at: revision, answer).piece(at: offset)]
    case .rows(let position, let offset, let floor):
      guard let found = try publishedRows(behind: position, answer.rows) else {
        var error = OutgoingError(
          .compacted, id: pending.id, "no row continues revision \(position.revision.number)")
        error.details = [("floor", JSONWriter.value { $0.integer(floor.number) })]
        error.standing = pending.standing
        let body = ServerMessageWriter.error(error)
        send(pending.connection, .err, body, .refusedMessage(.compacted))
        return true
      }
      rows = Self.fitting(found, offset)
    }
    let value = JSONWriter.value { json in
      json.beginArray()
      for row in rows { json.publishedRow(row) }
      json.endArray()
    }
    let body = ServerMessageWriter.value(
      id: pending.id, nav: pending.standing.nav, epoch: pending.standing.epoch,
      revision: pending.standing.revision, floor: nil, value)
    let slot = navs.slot(of: pending.standing.nav)
    self.answer(sender, sessions.slot(of: pending.connection), slot, body, .none)
    return true
  }

  private mutating func publishedState(
    at revision: Revision, _ answer: HistoryAnswer
  ) throws(StoredDataError) -> PublishedRow {
    if answer.snapshot == nil, answer.rows.count == 1, let row = answer.rows.first {
      return PublishedRow(
        revision: revision, time: row.time, kind: .created, body: .whole(row.body))
    }
    let entry = try navs.rebuild(answer.snapshot, answer.rows, configuration)
    guard entry.revision == revision else {
      throw StoredDataError(
        what: "it leads to revision \(entry.revision.number), not \(revision.number)")
    }
    let body = JournalBody.state(
      nav: entry.name, epoch: entry.epoch, owner: entry.owner, controller: entry.controller,
      digest: entry.digest, resolvedAt: entry.resolvedAt
    ) { json in
      guard let change = entry.topChange else { return }
      json.name("since")
      json.topChange(change)
    }
    let time = answer.rows.last?.time ?? answer.snapshot?.time ?? 0
    return PublishedRow(revision: revision, time: time, kind: .state, body: .whole(body))
  }

  /// The changes and epochs behind a position; nil if no row continues it.
  private mutating func publishedRows(
    behind position: NavPosition, _ rows: [JournalRow]
  ) throws(StoredDataError) -> ArraySlice<PublishedRow>? {
    var start: Int?
    var index = 0
    while index < rows.count, rows[index].revision <= position.revision.number + 1 {
      let row = rows[index]
      if row.kind != .report, row.kind != .closed {
        try navs.reader.load(row.body)
        let isOfEpoch = navs.reader.statedEpoch == position.epoch
        if isOfEpoch, row.revision == position.revision.number { start = index + 1 }
        // The row before may have been pruned.
        if start == nil, isOfEpoch, row.kind == .changed { start = index }
      }
      index += 1
    }
    guard let start else { return nil }
    let behind = rows[start...].filter { $0.kind != .report }
      .prefix { $0.kind == .changed || $0.kind == .epoch }
    if behind.isEmpty, rows[start...].contains(where: { $0.kind == .replaced }) { return nil }
    return behind.map {
      PublishedRow(
        revision: Revision($0.revision), time: $0.time, kind: $0.kind == .epoch ? .epoch : .changed,
        body: .whole($0.body))
    }[...]
  }

  /// The first rows that fit into a message, or a piece of the first one.
  private static func fitting(_ rows: ArraySlice<PublishedRow>, _ offset: Int) -> [PublishedRow] {
    var count = 0
    var fitting: [PublishedRow] = []
    for row in rows {
      guard case .whole(let body) = row.body else { break }
      count += body.count
      if fitting.isEmpty, body.count > PublishedRow.bytesPerMessage {
        return [row.piece(at: offset)]
      }
      guard count <= PublishedRow.bytesPerMessage else { break }
      fitting.append(row)
    }
    return fitting
  }

  /// The navs with a history that is kept for a program that publishes it.
  ///
  /// By number: the revision up to which the history is not needed any more, 0 if nothing is known.
  ///
  /// O(navs), if there are any patterns.
  package var pins: [UInt64: UInt64] {
    let patterns = configuration.publishedNavs
    guard !patterns.isEmpty else { return [:] }
    var pins: [UInt64: UInt64] = [:]
    for slot in navs.loaded where !navs.slots[slot].isPublished && navs.hasName(slot) {
      guard patterns.contains(where: { $0.matches(navs.slots[slot].name) }) else { continue }
      pins[navs.slots[slot].number] = publications.acknowledged[navs.slots[slot].number] ?? 0
    }
    for nav in navs.dormants.named where !nav.isPublished {
      guard patterns.contains(where: { $0.matches(nav.name) }) else { continue }
      pins[nav.number] = publications.acknowledged[nav.number] ?? 0
    }
    return pins
  }

  /// Takes the acknowledged revisions that the journal stored, by the numbers of the navs.
  package mutating func restore(acknowledged: [UInt64: UInt64]) {
    publications.restore(acknowledged)
  }
}
