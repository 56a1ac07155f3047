import NavigationCore

// Single reads: the present from memory, the past from the journal through the shell.

extension Hub {
  /// Finds a nav that the sender may read; otherwise refuses and returns nil.
  mutating func readableNav(_ name: String, _ id: UInt64, for sender: Sender) -> NavSlot? {
    let slot = navs.slot(of: name)
    let rights = access.rights(of: sender.peer, on: name, owner: slot.map { navs[$0].owner })
    guard rights.contains(.read) else {
      let text = "\(sender.peer.principal) may not read \(name)"
      refuse(sender, OutgoingError(.forbidden, id: id, text), about: name)
      return nil
    }
    guard let slot else {
      refuse(sender, OutgoingError(.noNav, id: id, "there is no nav \(name)"))
      return nil
    }
    navs[slot].lastReadBatch = batches.currentNumber
    return slot
  }

  /// Answers a message while sealed batches are made durable; nil if it must wait for those
  /// batches.
  ///
  /// This is possible for `ping`, and for `get` of a present state that no sealed batch changes. No
  /// earlier message of the connection may be waiting or under way.
  package mutating func answerAhead(_ event: HubEvent, at now: Instant) -> HubOutput? {
    // The looks that a nav has yet to take over would be rows.
    guard case .message(_, _, let message) = event, sealedCount > 0, batches.current.isEmpty,
      navsLackingLooks.isEmpty
    else { return nil }
    switch message {
    case .ping: break
    case .get(let request):
      guard [.state, .bar, .top, .screen, .detached].contains(request.what), request.at == nil,
        let slot = request.nav.flatMap({ navs.slot(of: $0) }), navs[slot].directory == nil,
        !batches.sealedBatchesChange(slot, navs[slot])
      else { return nil }
    case .hello, .watch, .unwatch, .op, .delegate, .answer, .lease, .cluster, .credit, .bye:
      return nil
    }
    // The requests and notices of the sealed batches wait for their commit.
    let waiting = output
    output = HubOutput()
    watches.forgetSharedMessages()
    defer { output = waiting }
    handle(event, at: now)
    return releaseAhead(at: now)
  }

  mutating func get(_ request: GetRequest, for sender: Sender, at now: Instant) {
    switch (request.what, request.nav) {
    case (.trace, _): changeTrace(request, for: sender, at: now)
    case (.stats, nil): answer(request, nil, statistics(for: sender), to: sender)
    case (.verify, nil): answer(request, nil, connectionCountComparison, to: sender)
    case (.cluster, nil): answer(request, nil, shards.view?.json ?? Array("null".utf8), to: sender)
    case (.config, nil), (.reload, nil):
      guard administers(sender, request.id, to: "see or reload the configuration") else { return }
      let subject = request.what == .reload ? ConfigurationQuestion.Subject.reload : .values
      batches.append(.ask(.init(connection: sender.connection, id: request.id, subject: subject)))
    case (.refusals, nil):
      guard administers(sender, request.id, to: "see what was refused to others") else { return }
      let value = refusals.value(bytes: configuration.maximumReplyBytes - Self.replyHeadBytes)
      answer(request, nil, value, to: sender)
    case (.backup, nil):
      guard administers(sender, request.id, to: "make backups") else { return }
      startBackup(request, for: sender)
    case (_, nil):
      let text =
        "get needs nav, the name of a nav, unless it reads stats, verify, cluster, backup, config, reload or refusals"
      refuse(sender, OutgoingError(.invalidArgument, id: request.id, text))
    case (_, let nav?): read(request, nav, for: sender)
    }
  }

  /// Returns whether a sender is an administrator; refuses its message as `forbidden` if not.
  mutating func administers(_ sender: Sender, _ id: UInt64, to deed: String) -> Bool {
    if access.administers(sender.peer) { return true }
    refuse(sender, OutgoingError(.forbidden, id: id, "\(sender.peer.principal) may not \(deed)"))
    return false
  }

  private mutating func read(_ request: GetRequest, _ nav: String, for sender: Sender) {
    guard let slot = readableNav(nav, request.id, for: sender) else { return }
    keepVirtualRecords(slot)
    defer { dropUnwatchedVirtualRecords(slot) }
    if navs[slot].directory != nil { batches.eventCost += navs[slot].wholeStateCost }
    if request.what == .log || request.what == .diffs {
      return readLog(request, slot, for: sender)
    }
    if let at = request.at, at != navs[slot].revision {
      return readState(request, at, slot, for: sender)
    }
    if request.what == .verify { return verify(request, slot, to: sender) }
    do throws(OpFailure) {
      let value = try navs[slot].value(of: request, watchCount: watches.of(nav: slot).count)
      answer(request, slot, value, to: sender)
    } catch {
      refuse(sender, error, request.id, about: nav)
    }
  }

  /// Answers `config` and `reload`.
  mutating func answer(
    _ connection: ConnectionID, id: UInt64, configuration answer: ConfigurationAnswer
  ) {
    switch answer {
    case .value(let value):
      let body = ServerMessageWriter.value(
        id: id, nav: nil, epoch: nil, revision: nil, floor: nil, value)
      let limit = configuration.maximumReplyBytes
      guard body.count <= limit else {
        let error = OutgoingError.tooLarge(id, body.count, limit: limit)
        return send(connection, .err, ServerMessageWriter.error(error), .refusedMessage(.limit))
      }
      send(connection, .ok, body)
    case .refused(let reason):
      let error = OutgoingError(.invalidArgument, id: id, reason, reason: "config")
      send(connection, .err, ServerMessageWriter.error(error), .refusedMessage(.invalidArgument))
    }
  }

  /// Computes the digest from scratch and, if a watch gets it, the resolved bar, and compares both
  /// with what was sent.
  ///
  /// Freezes the nav if a value differs or an invariant is broken.
  private mutating func verify(_ request: GetRequest, _ slot: NavSlot, to sender: Sender) {
    batches.eventCost += navs[slot].wholeStateCost
    let (fresh, violated) = navs[slot].verified(barIsFollowed: watches.includeResolvedBar(of: slot))
    if !violated.isEmpty, navs[slot].directory == nil { freeze(slot, violated) }
    let value = JSONWriter.object { json in
      json.member("ok", violated.isEmpty)
      json.member("dig", fresh)
      json.strings("violated", violated)
    }
    answer(request, slot, value, to: sender)
  }

  mutating func answer(
    _ request: GetRequest, _ slot: NavSlot?, _ value: [UInt8], to sender: Sender
  ) {
    let entry = slot.map { navs[$0] }
    let body = ServerMessageWriter.value(
      id: request.id, nav: request.nav, epoch: entry?.epoch, revision: entry?.revision, floor: nil,
      value)
    guard body.count <= configuration.maximumReplyBytes else {
      batches.eventCost += body.count
      return refuse(
        sender, .tooLarge(request.id, body.count, limit: configuration.maximumReplyBytes))
    }
    answer(sender, sessions.slot(of: sender.connection), slot, body, .none)
  }

  // The journal's history.

  private mutating func readLog(_ request: GetRequest, _ slot: NavSlot, for sender: Sender) {
    let entry = navs[slot]
    guard entry.number > 0 else {
      let text = "\(entry.name) is virtual and has no log"
      return refuse(sender, OutgoingError(.invalidArgument, id: request.id, text))
    }
    let first = request.from ?? entry.floor
    guard first >= entry.floor else {
      return refuse(sender, .compacted(first, request.id, entry))
    }
    guard request.limit > 0, request.limit <= 1000 else {
      let text = "limit is a whole number from 1 to 1000"
      return refuse(sender, OutgoingError(.invalidArgument, id: request.id, text))
    }
    let last = first.number + request.limit - 1
    let through = min(last, entry.revision.number)
    requestHistory(
      .rows(from: first.number, through: last), request,
      request.what == .log
        ? .log(floor: entry.floor, through: through) : .diffs(floor: entry.floor, through: through),
      slot, for: sender)
  }

  private mutating func readState(
    _ request: GetRequest, _ at: Revision, _ slot: NavSlot, for sender: Sender
  ) {
    let entry = navs[slot]
    switch request.what {
    case .state, .bar, .top: break
    default:
      let text = "at goes with state, bar and top"
      return refuse(sender, OutgoingError(.invalidArgument, id: request.id, text))
    }
    guard entry.number > 0, at >= entry.floor, at <= entry.revision else {
      return refuse(sender, .compacted(at, request.id, entry))
    }
    requestHistory(.state(at: at.number), request, .state(request.what, at), slot, for: sender)
  }

  private mutating func requestHistory(
    _ part: HistoryRequest.Part, _ request: GetRequest, _ pending: PendingRead.Purpose,
    _ slot: NavSlot, for sender: Sender
  ) {
    do throws(OpFailure) {
      let request = try registerRead(pending, part, request.id, slot, for: sender)
      output.requests.append(request)
    } catch {
      refuse(sender, error, request.id, about: navs[slot].name)
    }
  }

  /// Notes a read that waits for the journal, and returns the request to the shell.
  ///
  /// Throws `busy` if too many reads of the connection wait already.
  mutating func registerRead(
    _ pending: PendingRead.Purpose, _ part: HistoryRequest.Part, _ id: UInt64, _ slot: NavSlot,
    for sender: Sender
  ) throws(OpFailure) -> HistoryRequest {
    guard reads.count(of: sender.connection) < configuration.inflight else {
      throw OpFailure(OutgoingError(.busy, "too many reads at a time", after: 10))
    }
    let entry = navs[slot]
    assert(entry.number > 0, "\(entry.name) is not in the journal")
    let token = reads.insert(
      PendingRead(
        sender: sender, id: id, purpose: pending, standing: entry.standing, owner: entry.owner))
    batches.note(.historyRequested(token: token))
    return HistoryRequest(
      token: token, nav: entry.number, newestRow: entry.lastSequence, part: part)
  }

  mutating func finishRead(_ answer: HistoryAnswer, at now: Instant) {
    // To parse an octet takes twice the time of writing it. A change has about 400 octets more as
    // JSON than as a row.
    let octets = answer.rows.reduce(answer.snapshot?.body.count ?? 0) { $0 + $1.body.count + 400 }
    let cost = 2 * octets + answer.rows.count * Self.costOfRow
    // Not of the turn's cost, which is for messages: few answers come at once, and none can wait.
    let turnCost = batches.eventCost
    defer { batches.eventCost = turnCost }
    reads.noteAnswer(to: answer.token, cost: cost)
    guard let pending = reads.take(answer.token) else { return }
    batches.note(.historyAnswered(token: answer.token, pending))
    if case .revert(let op, let revision) = pending.purpose {
      return resumeRevert(op, revision, answer, at: now)
    }
    let (sender, nav) = (pending.sender, pending.standing.nav)
    let rights = access.rights(of: sender.peer, on: nav, owner: pending.owner)
    // A reload of the rules for gateways ends the session, but not a read of it.
    guard rights.contains(.read), mayKeepSession(sender.peer) else {
      let text = "\(sender.peer.principal) may not read \(nav)"
      return refuse(sender, OutgoingError(.forbidden, id: pending.id, text), about: nav)
    }
    do throws(StoredDataError) {
      if let failure = answer.failure { throw StoredDataError(what: failure) }
      let (value, floor, next) = try value(of: pending, answer)
      let body = ServerMessageWriter.value(
        id: pending.id, nav: nav, epoch: pending.standing.epoch,
        revision: pending.standing.revision, floor: floor, next: next, value)
      if body.count > configuration.maximumReplyBytes {
        let error = ServerMessageWriter.error(
          .tooLarge(pending.id, body.count, limit: configuration.maximumReplyBytes))
        return send(sender.connection, .err, error)
      }
      self.answer(sender, sessions.slot(of: sender.connection), navs.slot(of: nav), body, .none)
    } catch {
      let text = "the history of \(nav) cannot be read: \(error.what)"
      output.notices.append(Notice(.faulty, .warning, text, nav: nav))
      let error = OutgoingError(.storage, id: pending.id, text)
      let body = ServerMessageWriter.error(error)
      send(sender.connection, .err, body, .refusedMessage(.storage))
    }
  }

  /// The most octets of a reply beside its value: the name of a nav, and numbers.
  private static let replyHeadBytes = 512

  private mutating func value(
    of pending: PendingRead, _ answer: HistoryAnswer
  ) throws(StoredDataError) -> (value: [UInt8], floor: Revision?, next: Revision?) {
    func next(_ through: UInt64) -> Revision? {
      // The journal leaves rows out if they are too many bytes.
      answer.rows.last.flatMap { $0.revision < through ? Revision($0.revision + 1) : nil }
    }
    switch pending.purpose {
    case .log(let floor, let through):
      var json = JSONWriter(reserving: 4096)
      json.beginArray()
      for row in answer.rows {
        try navs.reader.load(row)
        json.raw(navs.reader.logEntry(row))
      }
      json.endArray()
      return (json.bytes, floor, next(through))
    case .diffs(let floor, let through):
      // Room for the members beside the list.
      let page = try navs.reader.page(
        of: answer.rows, bytes: configuration.maximumReplyBytes - Self.replyHeadBytes)
      return (page.list, floor, page.next ?? next(through))
    case .revert: preconditionFailure("an op was read as a get")
    case .state(let what, let revision):
      let entry = try NavEntry.rebuilt(answer.snapshot, answer.rows, configuration, navs.reader)
      guard entry.controller.revision == revision else {
        throw StoredDataError(
          what: "it leads to revision \(entry.controller.revision.number), not \(revision.number)")
      }
      switch what {
      case .bar: return (entry.controller.encodedBar, nil, nil)
      case .top: return (entry.latestValue(.top), nil, nil)
      default: return (entry.state, nil, nil)
      }
    }
  }
}

// Answers to reads of one nav, from its entry alone.

extension NavEntry {
  /// The answer to a read of the present state.
  func value(of request: GetRequest, watchCount: Int) throws(Hub.OpFailure) -> [UInt8] {
    switch request.what {
    case .state: return state
    case .bar: return controller.encodedBar
    case .top: return latestValue(.top)
    case .screen:
      guard let text = request.screen, let id = ScreenID(text) else {
        throw Hub.OpFailure(.invalidArgument, "screen, the id of a screen, is required")
      }
      guard let screen = controller.screen(id) else {
        throw Hub.OpFailure(.unknownScreen, "there is no screen \(text)")
      }
      return JSONWriter.value { $0.screen(screen) }
    case .detached: return detachedJSON
    case .stats: return statistics(watchCount: watchCount)
    case .restoration: return JSONWriter.value { $0.restoration(of: controller) }
    case .config, .reload:
      throw Hub.OpFailure(.invalidArgument, "the configuration is not that of a nav: leave nav out")
    case .backup:
      throw Hub.OpFailure(.invalidArgument, "a backup is of all navs together: leave nav out")
    case .refusals:
      throw Hub.OpFailure(.invalidArgument, "the refusals are of all navs: leave nav out")
    case .cluster:
      throw Hub.OpFailure(.invalidArgument, "the cluster is not that of a nav: leave nav out")
    case .log, .diffs, .verify, .trace:
      preconditionFailure("\(request.what.word) is answered elsewhere")
    }
  }

  private var detachedJSON: [UInt8] {
    JSONWriter.object { json in
      json.array("screens", controller.detachedScreens) { $0.screen($1) }
      json.array("buttons", controller.detached.all) { json, record in
        if case .button(let button) = record { json.button(button) }
      }
    }
  }

  private func statistics(watchCount: Int) -> [UInt8] {
    JSONWriter.object { json in
      json.optional("owner", owner)
      json.member("depth", UInt64(standing.depth))
      json.member("detached", UInt64(controller.detached.count))
      json.member("bytes", UInt64(max(controller.byteCount, 0)))
      json.member("watches", UInt64(watchCount))
      json.object("resume") { json in
        json.member("from", ring.base.number)
        json.member("bytes", UInt64(ring.byteCount))
      }
      json.member("floor", floor.number)
    }
  }

  /// Computes the digest from scratch, and names broken invariants and derived values that differ.
  func verified(barIsFollowed: Bool) -> (digest: Digest, violated: [String]) {
    let checksum = directory?.checksum() ?? controller.checksum()
    let fresh = Digest(checksum: checksum, chain: digest.chain)
    var violated = directory == nil ? controller.violatedInvariants() : []
    if fresh != digest { violated.append("digest \(digest.text) is \(fresh.text)") }
    if barIsFollowed, !followedBar.isRight(for: controller) {
      violated.append("resolved differs from the state")
    }
    return (fresh, violated)
  }
}
