import NavigationCore

// Requests for watches, and what leaves once a batch is durable. `Watches` decides what each watch
// gets next.

extension Hub {
  /// Begins a watch of a nav that exists; refuses any other.
  mutating func beginWatch(
    _ request: WatchRequest, for sender: Sender, session: SessionSlot, at now: Instant
  ) {
    guard let slot = readableNav(request.nav, request.id, for: sender) else { return }
    keepVirtualRecords(slot)
    if let bad = request.divergence { recordDivergence(bad, slot, by: sender, session, at: now) }
    let isBarWanted = watches.includeResolvedBar(of: slot)
    if let former = watches.find(session: session, nav: slot, request.view) {
      removeWatch(former, keepsVirtualRecords: true)
    }
    if let error = excessOfWatches(request, session) {
      dropUnwatchedVirtualRecords(slot)
      return refuse(sender, error, about: request.nav)
    }
    let entry = navs[slot]
    var watch = Watch(session: session, nav: slot, view: request.view, cursor: entry.revision)
    var mustAddBar = false
    watch.includesResolvedBar = request.deliversResolvedBar
    var mode = "latest"
    var why: String?
    if request.view == .full {
      why = entry.reasonForSnapshot(request)
      if let from = request.from, why == "ahead" || why == "digest" {
        noticeOtherHistory(from, of: entry, by: sessions[session].name)
      }
      if let why {
        mode = "snap"
        batches.eventCost += entry.wholeStateCost
        watch.snapshot = SnapshotBox(entry.snapshot(why: why))
      } else {
        mode = "resume"
        watch.cursor = request.from?.revision ?? entry.revision
        // While no watch wanted the bar, diffs were without it.
        let barsSince = isBarWanted ? entry.barsSince : entry.revision
        mustAddBar = watch.includesResolvedBar && watch.cursor < barsSince
      }
    }
    let index = watches.insert(watch)
    batches.current.mayChangeClientList = true
    noteHead(slot)
    let reply = ServerMessageWriter.watching(
      id: request.id, nav: request.nav, mode: mode, why: why, epoch: entry.epoch,
      revision: entry.revision)
    answer(sender, session, slot, reply, .none)
    batches.append(.start(watch: index))
    guard navs[slot].directory == nil else { return }
    if mustAddBar { navs.addBarToNewestDiff(slot) }
    if !isBarWanted, watches.includeResolvedBar(of: slot) { navs.beginFollowingBar(of: slot) }
  }

  /// Logs, once in the life of the hub, that a client has seen a revision that the journal lacks, or
  /// has with other contents.
  private mutating func noticeOtherHistory(
    _ position: MirrorPosition, of entry: NavEntry, by name: String
  ) {
    guard !navs.isOlderJournalReported else { return }
    navs.isOlderJournalReported = true
    output.notices.append(
      Notice(
        .faulty, .warning,
        "\(name) has seen revision \(position.revision.number) of \(entry.name) with the digest "
          + "\(position.digest.text), which the journal does not have: was an older copy of the "
          + "state directory put back? It gets a snapshot",
        nav: entry.name, revision: position.revision, client: name))
  }

  /// Logs a client's report of divergence, and records it in the journal.
  private mutating func recordDivergence(
    _ bad: MirrorPosition, _ slot: NavSlot, by sender: Sender, _ session: SessionSlot,
    at now: Instant
  ) {
    let entry = navs[slot]
    let name = sessions[session].name
    let ours = entry.ring.digest(at: bad.revision)
    output.notices.append(
      Notice(
        .diverged, .warning,
        "\(name) reports divergence of \(entry.name) at revision \(bad.revision.number): "
          + "its digest \(bad.digest.text), ours \(ours?.text ?? "no longer known")",
        nav: entry.name, revision: bad.revision, client: name, principal: sender.peer.principal))
    guard entry.number > 0, !batches.isStorageFailing,
      sessions[session].mayRecordDivergence(at: timer.now)
    else { return }
    batches.noteChange(of: &navs[slot], slot)
    let body = JournalBody.report(
      bad, name: name, principal: sender.peer.principal, process: sender.peer.process, digest: ours)
    navs[slot].lastSequence = appendRow(
      .report, of: entry.number, NavHead(entry), behind: entry.lastSequence,
      needsRecovery: entry.controller.needsRecovery, body, at: now)
  }

  mutating func unwatch(_ nav: String, _ view: View, session: SessionSlot) {
    sessions.forgetWaitingWatches(nav, view, of: session)
    guard let slot = navs.slot(of: nav),
      let index = watches.find(session: session, nav: slot, view)
    else { return }
    removeWatch(index)
  }

  /// Removes a watch; a virtual nav stops keeping records with its last watch, unless
  /// `keepsVirtualRecords` is set.
  mutating func removeWatch(_ index: WatchSlot, keepsVirtualRecords: Bool = false) {
    let nav = watches[index].nav
    // A `.start` that waits in the batch must not start a later watch in the same slot.
    batches.current.effects.removeAll { item in
      if case .start(index) = item { true } else { false }
    }
    watches.remove(index)
    if navs.isLive(nav) { navs[nav].lastReadBatch = batches.currentNumber }
    batches.current.mayChangeClientList = true
    noteHead(nav)
    if !keepsVirtualRecords { dropUnwatchedVirtualRecords(nav) }
  }

  // Serving.

  /// Serves the watches of a session, which may have credit again, when the batch is durable.
  ///
  /// A watch whose next diff the ring has dropped needs a snapshot; for it the hub forbids sealing
  /// until everything is durable.
  mutating func resumeWatches(of session: SessionSlot) {
    batches.append(.serve(session: session))
    let needsSnapshot = watches.of(session: session).contains { index in
      let watch = watches[index]
      return watch.view == .full && !navs[watch.nav].ring.reaches(watch.cursor)
    }
    if needsSnapshot { batches.forbidSealing() }
  }

  /// Carries out the effects of the batch at hand, whose commit has succeeded, in order.
  mutating func releaseEffects(at now: Instant) {
    // A copy, because an effect can end watches, which removes other effects.
    let effects = batches.current.effects
    output.reserve(effects.count)
    for effect in effects { release(effect, at: now) }
  }

  private mutating func release(_ item: Batch.Effect, at now: Instant) {
    switch item {
    case .send(let connection, let verb, let body, let outcome):
      measurements.count(outcome)
      emit(verb, body, to: connection, at: now)
    case .answer(let connection, let session, let nav, let body, let outcome):
      measurements.count(outcome)
      if let session, sessions.isLive(session), navs.isLive(nav) {
        sendToOwnWatch(of: session, nav: nav, at: now)
      }
      emit(.ok, body, to: connection, at: now)
    case .start(let index):
      watches.markStarted(index)
      sendToWatch(index, at: now)
    case .serve(let session):
      guard sessions.isLive(session) else { return }
      sessions[session].waitsForTurn = false
      for index in watches.of(session: session) { sendToWatch(index, at: now) }
    case .event(let nav, let body), .progress(let nav, let body):
      emitEvent(body, of: nav, at: now)
    case .read(let request): output.requests.append(request)
    case .backup: output.startsBackup = true
    case .closed(let nav): finishClosing(nav, at: now)
    case .ended(let connection): output.endedConnections.append(connection)
    case .recheckRights: recheckWatches(at: now)
    case .notice(let notice): output.notices.append(notice)
    case .clusterCommand(let command): output.clusterCommands.append(command)
    case .ask(let question): output.questions.append(question)
    }
  }

  private mutating func emit(
    _ verb: ServerVerb, _ body: [UInt8], to connection: ConnectionID, at now: Instant
  ) {
    if let slot = sessions.slot(of: connection) { noteSent(verb, body.count, to: slot, at: now) }
    output.append(verb, at: output.add(body), to: connection)
  }

  mutating func noteSent(
    _ verb: ServerVerb, _ byteCount: Int, to session: SessionSlot, at now: Instant
  ) {
    sessions[session].lastSentAt = now.boot
    guard verb.usesCredit else { return }
    sessions[session].sentOctets += UInt64(byteCount)
    if !sessions[session].hasCredit { timer.plan(now.boot + configuration.stall) }
  }

  private mutating func sendToOwnWatch(of session: SessionSlot, nav: NavSlot, at now: Instant) {
    for index in watches.of(session: session)
    where watches[index].nav == nav && watches[index].view == .full {
      sendToWatch(index, at: now)
    }
  }

  mutating func sendToWatches(of nav: NavSlot, at now: Instant) {
    for index in watches.of(nav: nav) { sendToWatch(index, at: now) }
  }

  /// Sends the diffs or the snapshot that a watch has not got yet, while its session has credit.
  private mutating func sendToWatch(_ index: WatchSlot, at now: Instant) {
    let (session, nav) = (watches[index].session, watches[index].nav)
    let limit = configuration.maximumReplyBytes
    while true {
      if output.bodyOctets > Self.octetsPerTurn {
        sessions[session].waitsForTurn = true
        return timer.plan(now.boot)
      }
      let maximum = sessions[session].maximumDiffsOctets.map { min($0, limit / 2) }
      switch watches.next(
        of: index, from: &navs[nav], maximumDiffsOctets: maximum, limit: limit, into: &output)
      {
      case .nothing: return
      case .waitsForDurability: return batches.forbidSealing()
      case .message(let message):
        if message.revisionCount > 0 { measurements.count(.diffs, message.revisionCount) }
        if message.endsSnapshot { measurements.count(.snapshots) }
        noteSent(message.verb, message.byteCount, to: session, at: now)
        output.append(message.verb, at: message.bodyIndex, to: sessions[session].connection)
      }
    }
  }

  /// The most octets in one output; watches with more to send wait for the next wake.
  ///
  /// It limits a turn in which a thousand watches get credit. The shell disconnects a peer if 4 MiB wait for
  /// it beyond the socket's own queue, and reports a full socket only after the turn. One turn may
  /// release several batches, so the remaining messages wait for the next wake.
  private static let octetsPerTurn = 2 << 20

  private mutating func emitEvent(_ body: [UInt8], of nav: NavSlot, at now: Instant) {
    guard navs.isLive(nav) else { return }
    var place: Int?
    for index in watches.of(nav: nav) where watches[index].view == .full {
      sendToWatch(index, at: now)
      let session = watches[index].session
      guard watches[index].isCaughtUp(with: navs[nav].durable),
        sessions[session].hasCredit
      else { continue }
      noteSent(.event, body.count, to: session, at: now)
      let shared = place ?? output.add(body)
      place = shared
      output.append(.event, at: shared, to: sessions[session].connection)
    }
  }

  /// Sends `end` to the session of a watch, and removes the watch.
  mutating func endWatch(
    _ index: WatchSlot, why: String, _ details: [(name: StaticString, json: [UInt8])] = [],
    at now: Instant
  ) {
    let watch = watches[index]
    let body = ServerMessageWriter.end(
      nav: navs[watch.nav].name, view: watch.view, epoch: navs[watch.nav].epoch,
      revision: navs[watch.nav].revision, why: why, details)
    emit(.end, body, to: sessions[watch.session].connection, at: now)
    removeWatch(index)
  }

  private mutating func finishClosing(_ nav: NavSlot, at now: Instant) {
    for index in watches.of(nav: nav) {
      sendToWatch(index, at: now)
      endWatch(index, why: "closed", at: now)
    }
    coordinations.forget(nav)
    navs.remove(nav)
  }

  /// Drops the oldest diffs of one nav after the other, while all rings together exceed their
  /// limit.
  mutating func trimRings() {
    navs.trimRings(to: configuration.resumeTotalBytes, bytes: configuration.resumeBytes)
  }
}
