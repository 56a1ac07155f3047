import NavigationCore

// Single reads: the present from memory, the past from the journal through the shell.

extension Hub {
  /// Finds a nav that the sender may read; otherwise refuses and returns nil.
  mutating func readable(_ name: String, _ id: UInt64, for sender: Sender) -> Int? {
    let slot = navs.slot(of: name)
    let rights = access.rights(
      of: sender.peer, on: name, owner: slot.map { navs.slots[$0].owner })
    guard rights.contains(.read) else {
      let text = "\(sender.peer.principal) may not read \(name)"
      refuse(sender, OutgoingError(.forbidden, id: id, text), about: name)
      return nil
    }
    guard let slot else {
      refuse(sender, OutgoingError(.noNav, id: id, "there is no nav \(name)"))
      return nil
    }
    navs.slots[slot].readBy = batches.number
    return slot
  }

  /// Answers a message while sealed batches are made durable; nil for one that must wait for them.
  ///
  /// It answers `ping`, and a `get` of the present if no batch under way concerns the nav. No earlier message
  /// of the connection may be waiting or under way.
  package mutating func answerAhead(_ event: HubEvent, at now: Instant) -> HubOutput? {
    // The looks that a nav has yet to take over would be rows.
    guard case .message(_, _, let message) = event, sealedCount > 0, batches.current.isEmpty,
      followers.isEmpty
    else { return nil }
    switch message {
    case .ping: break
    case .get(let request):
      guard [.state, .bar, .top, .screen, .detached].contains(request.what), request.at == nil,
        let slot = request.nav.flatMap({ navs.slot(of: $0) }), navs.slots[slot].directory == nil,
        !batches.concern(slot, navs.slots[slot])
      else { return nil }
    case .hello, .watch, .unwatch, .op, .delegate, .answer, .lease, .cluster, .credit, .bye:
      return nil
    }
    // The requests and notices of the sealed batches wait for their commit.
    let waiting = output
    output = HubOutput()
    defer { output = waiting }
    handle(event, at: now)
    return releaseAhead(at: now)
  }

  mutating func get(_ request: GetRequest, for sender: Sender, at now: Instant) {
    if request.what == .trace { return changeTrace(request, for: sender, at: now) }
    guard let name = request.nav else {
      switch request.what {
      case .stats:
        return answer(request, nil, statistics(for: sender), to: sender)
      case .verify:
        return answer(request, nil, verifiedConnections, to: sender)
      case .cluster:
        return answer(request, nil, clusterValue ?? Array("null".utf8), to: sender)
      case .config, .reload:
        guard access.administers(sender.peer) else {
          let text = "\(sender.peer.principal) may not see or reload the configuration"
          return refuse(sender, OutgoingError(.forbidden, id: request.id, text))
        }
        let subject = request.what == .reload ? ConfigurationQuestion.Subject.reload : .values
        return batches.append(
          .ask(.init(connection: sender.connection, id: request.id, subject: subject)))
      case .refusals:
        guard access.administers(sender.peer) else {
          let text = "\(sender.peer.principal) may not see what was refused to others"
          return refuse(sender, OutgoingError(.forbidden, id: request.id, text))
        }
        // 512 octets are enough for the rest of the answer.
        let value = refusals.value(bytes: configuration.maximumReplyBytes - 512)
        return answer(request, nil, value, to: sender)
      case .backup:
        guard access.administers(sender.peer) else {
          let text = "\(sender.peer.principal) may not make backups"
          return refuse(sender, OutgoingError(.forbidden, id: request.id, text))
        }
        return startBackup(request, for: sender)
      default:
        let text =
          "get needs nav, the name of a nav, unless it reads stats, verify, cluster, backup, config, reload or refusals"
        return refuse(sender, OutgoingError(.invalidArgument, id: request.id, text))
      }
    }
    guard let slot = readable(name, request.id, for: sender) else { return }
    activate(slot)
    defer { deactivateIfUnwatched(slot) }
    if navs.slots[slot].directory != nil { batches.work += navs.slots[slot].scope }
    if request.what == .log || request.what == .diffs {
      return readLog(request, slot, for: sender)
    }
    if let at = request.at, at != navs.slots[slot].revision {
      return readState(request, at, slot, for: sender)
    }
    if request.what == .verify { return verify(request, slot, to: sender) }
    do throws(OpFailure) {
      let value = try navs.slots[slot].value(
        of: request, watchCount: watches.of(nav: slot).count)
      answer(request, slot, value, to: sender)
    } catch {
      var outgoing = error.error
      outgoing.id = request.id
      refuse(sender, outgoing, about: navs.slots[slot].name)
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
      var error = OutgoingError(.invalidArgument, id: id, reason)
      error.reason = "config"
      send(connection, .err, ServerMessageWriter.error(error), .refusedMessage(.invalidArgument))
    }
  }

  /// Computes all derived values from scratch and compares them with those kept.
  ///
  /// Freezes the nav if a value differs or an invariant is broken.
  private mutating func verify(_ request: GetRequest, _ slot: Int, to sender: Sender) {
    batches.work += navs.slots[slot].scope
    let (fresh, violated) = navs.slots[slot].verified()
    if !violated.isEmpty, navs.slots[slot].directory == nil { freeze(slot, violated) }
    let value = JSONWriter.value { json in
      json.beginObject()
      json.member("ok", violated.isEmpty)
      json.member("dig", fresh)
      json.list("violated", violated)
      json.endObject()
    }
    answer(request, slot, value, to: sender)
  }

  mutating func answer(
    _ request: GetRequest, _ slot: Int?, _ value: [UInt8], to sender: Sender
  ) {
    let entry = slot.map { navs.slots[$0] }
    let body = ServerMessageWriter.value(
      id: request.id, nav: request.nav, epoch: entry?.epoch, revision: entry?.revision, floor: nil,
      value)
    guard body.count <= configuration.maximumReplyBytes else {
      batches.work += body.count
      return refuse(
        sender, .tooLarge(request.id, body.count, limit: configuration.maximumReplyBytes))
    }
    answer(sender, sessions.slot(of: sender.connection), slot, body, .none)
  }

  // The journal's history.

  private mutating func readLog(_ request: GetRequest, _ slot: Int, for sender: Sender) {
    let entry = navs.slots[slot]
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
    ask(
      .rows(from: first.number, through: last), request,
      request.what == .log
        ? .log(floor: entry.floor, through: through) : .diffs(floor: entry.floor, through: through),
      slot, for: sender)
  }

  private mutating func readState(
    _ request: GetRequest, _ at: Revision, _ slot: Int, for sender: Sender
  ) {
    let entry = navs.slots[slot]
    switch request.what {
    case .state, .bar, .top: break
    default:
      let text = "at goes with state, bar and top"
      return refuse(sender, OutgoingError(.invalidArgument, id: request.id, text))
    }
    guard entry.number > 0, at >= entry.floor, at <= entry.revision else {
      return refuse(sender, .compacted(at, request.id, entry))
    }
    ask(.state(at: at.number), request, .state(request.what, at), slot, for: sender)
  }

  mutating func ask(
    _ what: HistoryRequest.What, _ request: GetRequest, _ pending: PendingRead.What, _ slot: Int,
    for sender: Sender
  ) {
    guard reads.count(of: sender.connection) < configuration.inflight else {
      var error = OutgoingError(.busy, id: request.id, "too many reads at a time")
      error.after = 10
      return refuse(sender, error, about: navs.slots[slot].name)
    }
    let token = reads.insert(
      PendingRead(
        connection: sender.connection, id: request.id, what: pending,
        standing: navs.slots[slot].standing,
        owner: navs.slots[slot].owner, peer: sender.peer))
    batches.current.undo.append(.asked(token: token))
    assert(navs.slots[slot].number > 0, "\(navs.slots[slot].name) is not in the journal")
    output.requests.append(
      HistoryRequest(
        token: token, nav: navs.slots[slot].number, head: navs.slots[slot].lastSequence, what: what)
    )
  }

  mutating func finishRead(_ answer: HistoryAnswer, at now: Instant) {
    // To parse an octet takes twice the time of writing it.
    let octets = answer.rows.reduce(answer.snapshot?.body.count ?? 0) { $0 + $1.body.count }
    let cost = 2 * octets + answer.rows.count * Self.workOfRow
    // Not of the turn's work, which is for messages: few answers come at once, and none can wait.
    let work = batches.work
    defer { batches.work = work }
    reads.noteAnswer(to: answer.token, cost: cost)
    guard let pending = reads.take(answer.token) else { return }
    batches.current.undo.append(.answered(token: answer.token, pending))
    if case .revert(let op, let revision) = pending.what {
      return resume(op, revision, answer, at: now)
    }
    let sender = Sender(connection: pending.connection, peer: pending.peer)
    let rights = access.rights(
      of: pending.peer, on: pending.standing.nav, owner: pending.owner)
    // A reload of the rules for gateways ends the session, but not a read of it.
    guard rights.contains(.read), mayGoOn(pending.peer) else {
      let text = "\(pending.peer.principal) may not read \(pending.standing.nav)"
      return refuse(
        sender, OutgoingError(.forbidden, id: pending.id, text), about: pending.standing.nav)
    }
    do throws(StoredDataError) {
      if let failure = answer.failure { throw StoredDataError(what: failure) }
      let (value, floor, next) = try value(of: pending, answer)
      let body = ServerMessageWriter.value(
        id: pending.id, nav: pending.standing.nav, epoch: pending.standing.epoch,
        revision: pending.standing.revision, floor: floor, next: next, value)
      if body.count > configuration.maximumReplyBytes {
        let error = ServerMessageWriter.error(
          .tooLarge(pending.id, body.count, limit: configuration.maximumReplyBytes))
        return send(pending.connection, .err, error)
      }
      let slot = navs.slot(of: pending.standing.nav)
      self.answer(sender, sessions.slot(of: pending.connection), slot, body, .none)
    } catch {
      let text = "the history of \(pending.standing.nav) cannot be read: \(error.what)"
      var notice = Notice(.faulty, .warning, text)
      notice.nav = pending.standing.nav
      output.notices.append(notice)
      let error = OutgoingError(.storage, id: pending.id, text)
      let body = ServerMessageWriter.error(error)
      send(pending.connection, .err, body, .refusedMessage(.storage))
    }
  }

  /// What the members beside the value take at most: the name of a nav, and numbers.
  private static let replyHeadBytes = 512

  private mutating func value(
    of pending: PendingRead, _ answer: HistoryAnswer
  ) throws(StoredDataError) -> (value: [UInt8], floor: Revision?, next: Revision?) {
    func next(_ through: UInt64) -> Revision? {
      // The journal leaves rows out if they are too many bytes.
      answer.rows.last.flatMap { $0.revision < through ? Revision($0.revision + 1) : nil }
    }
    switch pending.what {
    case .log(let floor, let through):
      var json = JSONWriter(reserving: 4096)
      json.beginArray()
      for row in answer.rows {
        try navs.reader.load(row.body)
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
      let entry = try navs.rebuild(answer.snapshot, answer.rows, configuration)
      guard entry.controller.revision == revision else {
        throw StoredDataError(
          what: "it leads to revision \(entry.controller.revision.number), not \(revision.number)")
      }
      switch what {
      case .bar: return (entry.resolved, nil, nil)
      case .top: return (entry.latestValue(.top), nil, nil)
      default: return (entry.snapshot(why: "join").part(from: 0, limit: Int.max / 4).body, nil, nil)
      }
    }
  }
}

// Answers to reads of one nav, from its entry alone.

extension NavEntry {
  /// The answer to a read of the present state.
  func value(
    of request: GetRequest, watchCount: Int
  ) throws(Hub.OpFailure) -> [UInt8] {
    switch request.what {
    case .state:
      let (body, next) = snapshot(why: "join").part(from: 0, limit: Int.max / 4)
      guard next == nil else { throw Hub.OpFailure(.limit, "the state is too large; use a watch") }
      return body
    case .bar: return resolved
    case .top: return latestValue(.top)
    case .screen:
      guard let text = request.screen, let id = ScreenID(text) else {
        throw Hub.OpFailure(.invalidArgument, "screen, the id of a screen, is required")
      }
      guard let screen = controller.screen(id) else {
        throw Hub.OpFailure(.unknownScreen, "there is no screen \(text)")
      }
      return JSONWriter.value { $0.screen(screen) }
    case .detached: return detachedRecords
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
      preconditionFailure("\(request.what.rawValue) is answered elsewhere")
    }
  }

  private var detachedRecords: [UInt8] {
    JSONWriter.value { json in
      json.beginObject()
      json.name("screens")
      json.beginArray()
      for screen in controller.detachedScreens { json.screen(screen) }
      json.endArray()
      json.name("buttons")
      json.beginArray()
      for case .button(let button) in controller.detached.all { json.button(button) }
      json.endArray()
      json.endObject()
    }
  }

  private func statistics(watchCount: Int) -> [UInt8] {
    JSONWriter.value { json in
      json.beginObject()
      json.optional("owner", owner)
      json.member("depth", UInt64(standing.depth))
      json.member("detached", UInt64(controller.detached.count))
      json.name("bytes")
      json.integer(UInt64(max(controller.byteCount, 0)))
      json.member("watches", UInt64(watchCount))
      json.name("resume")
      json.beginObject()
      json.member("from", ring.base.number)
      json.member("bytes", UInt64(ring.byteCount))
      json.endObject()
      json.member("floor", floor.number)
      json.endObject()
    }
  }

  /// Computes the digest from scratch, and names broken invariants and derived values that differ.
  func verified() -> (digest: Digest, violated: [String]) {
    let checksum = directory?.checksum() ?? controller.checksum()
    let fresh = Digest(checksum: checksum, chain: digest.chain)
    var violated = directory == nil ? controller.violatedInvariants() : []
    if fresh != digest { violated.append("digest \(digest.text) is \(fresh.text)") }
    if directory == nil, !shown.isRight(for: controller) {
      violated.append("resolved differs from the state")
    }
    return (fresh, violated)
  }
}
