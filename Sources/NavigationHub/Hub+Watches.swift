import Navigation
import NavigationProtocol

// Watches: answering the request, and serving each from the nav's history while credit lasts.

extension Hub {
  mutating func watch(
    _ request: WatchRequest, for sender: Sender, session: Int, at now: Instant
  ) {
    guard let slot = readable(request.nav, request.id, for: sender) else { return }
    activate(slot)
    if let bad = request.bad { report(bad, of: slot, by: sender, session: session, at: now) }
    removeWatch(of: session, nav: slot, view: request.view, keepsDirectory: true)
    guard sessions.slots[session].watches.count < configuration.watchesPerConnection else {
      deactivateIfUnwatched(slot)
      var error = OutgoingError(
        .limit, id: request.id,
        "a connection has at most \(counted(configuration.watchesPerConnection, "watch"))")
      error.reason = "quota"
      return refuse(sender, error, about: request.nav)
    }
    let entry = navs.slots[slot]
    var watch = Watch(session: session, nav: slot, view: request.view, cursor: entry.revision)
    watch.hasResolved = request.hasResolved
    var mode: StaticString = "latest"
    var why: String?
    if request.view == .full {
      why = entry.reasonForSnapshot(request)
      if let why {
        mode = "snap"
        watch.snapshot = SnapshotOnItsWay(entry.snapshot(why: why))
      } else {
        mode = "resume"
        watch.cursor = request.from?.revision ?? entry.revision
      }
    }
    let index = watches.insert(watch)
    sessions.slots[session].watches.append(index)
    navs.slots[slot].watches.append(index)
    batches.current.changedClients = true
    let reply = ServerMessageWriter.watching(
      id: request.id, nav: request.nav, mode: mode, why: why, epoch: entry.epoch,
      revision: entry.revision)
    answer(sender, session, slot, reply, .none)
    batches.append(.start(watch: index))
  }

  /// Writes a client's report of divergence into the log.
  private mutating func report(
    _ bad: MirrorPosition, of slot: Int, by sender: Sender, session: Int, at now: Instant
  ) {
    let entry = navs.slots[slot]
    let name = sessions.slots[session].name
    let ours = entry.ring.digest(at: bad.revision)
    var notice = Notice(
      .diverged, .warning,
      "\(name) reports divergence of \(entry.name) at revision \(bad.revision.number): "
        + "its digest \(bad.digest.text), ours \(ours?.text ?? "no longer known")")
    notice.nav = entry.name
    notice.revision = bad.revision.number
    notice.client = name
    notice.principal = sender.peer.principal
    output.notices.append(notice)
    guard entry.number > 0, !batches.isStorageFailing,
      sessions.slots[session].mayReport(at: timer.now)
    else { return }
    batches.touch(&navs.slots[slot], slot)
    batches.advance()
    let process = sender.peer.process
    let body = JournalBody.report(
      bad, name: name, principal: sender.peer.principal, process: process, digest: ours)
    batches.append(
      .row(
        JournalRow(
          sequence: batches.sequence, nav: entry.number, revision: entry.controller.revision.number,
          previous: entry.lastSequence, time: now.wall, kind: .report,
          isOpen: entry.controller.isOpen, body: body)))
    navs.slots[slot].lastSequence = batches.sequence
  }

  mutating func unwatch(_ nav: String, _ view: View, session: Int) {
    guard let slot = navs.slot(of: nav) else { return }
    removeWatch(of: session, nav: slot, view: view)
  }

  private mutating func removeWatch(
    of session: Int, nav: Int, view: View, keepsDirectory: Bool = false
  ) {
    let index = sessions.slots[session].watches.first {
      watches[$0].nav == nav && watches[$0].view == view
    }
    if let index {
      removeWatch(index, fromSession: true, keepsDirectory: keepsDirectory)
    }
  }

  /// Forgets a watch, and a virtual nav's records with the last one unless another one follows.
  mutating func removeWatch(_ index: Int, fromSession: Bool, keepsDirectory: Bool = false) {
    let watch = watches[index]
    navs.slots[watch.nav].watches.removeAll { $0 == index }
    if fromSession { sessions.slots[watch.session].watches.removeAll { $0 == index } }
    // A start that waits in the batch must not hit another watch in the same slot.
    batches.current.effects.removeAll { item in
      if case .start(index) = item { true } else { false }
    }
    watches.remove(index, leaving: .vacant)
    batches.current.changedClients = true
    if !keepsDirectory { deactivateIfUnwatched(watch.nav) }
  }

  // Serving.

  /// Does what waited for the commit.
  mutating func release(_ item: Batch.Effect, at now: Instant) {
    switch item {
    case .send(let connection, let verb, let body, let outcome):
      measurements.count(outcome)
      emit(verb, body, to: connection, at: now)
    case .answer(let connection, let session, let nav, let body, let outcome):
      measurements.count(outcome)
      if let session, sessions.isLive(session), navs.isLive(nav) {
        pumpOwnWatch(of: session, nav: nav, at: now)
      }
      emit(.ok, body, to: connection, at: now)
    case .start(let index):
      watches[index].isStarted = true
      pump(index, at: now)
    case .pump(let session):
      guard sessions.isLive(session) else { return }
      for index in sessions.slots[session].watches { pump(index, at: now) }
    case .event(let nav, let body), .progress(let nav, let body):
      emitEvent(body, of: nav, at: now)
    case .read(let request): output.requests.append(request)
    case .backup: output.startsBackup = true
    case .closed(let nav): finishClosing(nav, at: now)
    case .ended(let connection): output.dropped.append(connection)
    case .recheck: recheckWatches(at: now)
    case .notice(let notice): output.notices.append(notice)
    }
  }

  private mutating func emit(
    _ verb: ServerVerb, _ body: [UInt8], to connection: ConnectionID, at now: Instant
  ) {
    if let slot = sessions.slot(of: connection) { noteSent(verb, body.count, to: slot, at: now) }
    output.append(verb, at: output.add(body), to: connection)
  }

  private mutating func emit(
    _ verb: ServerVerb, _ body: [UInt8], toSession session: Int, at now: Instant
  ) {
    noteSent(verb, body.count, to: session, at: now)
    output.append(verb, at: output.add(body), to: sessions.slots[session].connection)
  }

  private mutating func noteSent(
    _ verb: ServerVerb, _ byteCount: Int, to session: Int, at now: Instant
  ) {
    sessions.slots[session].lastSentAt = now.boot
    guard verb.usesCredit else { return }
    sessions.slots[session].sent += UInt64(byteCount)
    if !sessions.slots[session].hasCredit { timer.plan(now.boot + configuration.stall) }
  }

  private mutating func pumpOwnWatch(of session: Int, nav: Int, at now: Instant) {
    for index in sessions.slots[session].watches
    where watches[index].nav == nav && watches[index].view == .full {
      pump(index, at: now)
    }
  }

  mutating func pumpWatches(of nav: Int, at now: Instant) {
    guard !navs.slots[nav].watches.isEmpty else { return }
    for index in navs.slots[nav].watches { pump(index, at: now) }
  }

  /// Sends a watch what it is owed, while its session has credit.
  private mutating func pump(_ index: Int, at now: Instant) {
    guard watches[index].isStarted else { return }
    guard watches[index].view == .full else { return pumpLatest(index, at: now) }
    let session = watches[index].session
    let nav = watches[index].nav
    while sessions.slots[session].hasCredit {
      if watches[index].snapshot != nil {
        sendSnapshotPart(index, at: now)
        continue
      }
      let cursor = watches[index].cursor
      guard cursor.number < navs.slots[nav].durable.number else { return }
      let key = DiffsKey(
        nav: nav, from: cursor.number,
        limit: min(sessions.slots[session].diffsBytes, configuration.maximumReplyBytes / 2),
        hasResolved: watches[index].hasResolved)
      if let message = output.diffs(key) {
        sendDiffs(message, to: index, of: session, at: now)
        continue
      }
      let isReached = navs.slots[nav].ring.reaches(cursor)
      if isReached, let message = makeDiffs(key, after: cursor) {
        sendDiffs(message, to: index, of: session, at: now)
        continue
      }
      guard isSettled(nav) else { return }
      let snapshot = navs.slots[nav].snapshot(why: isReached ? "size" : "lag")
      watches[index].snapshot = SnapshotOnItsWay(snapshot)
      watches[index].nextScreen = 0
    }
  }

  /// Whether a nav's state is durable as it stands; if not, asks for a moment when it is.
  private mutating func isSettled(_ nav: Int) -> Bool {
    if navs.slots[nav].durable == navs.slots[nav].revision { return true }
    batches.requestStandstill()
    return false
  }

  private mutating func sendSnapshotPart(_ index: Int, at now: Instant) {
    guard let snapshot = watches[index].snapshot?.snapshot else { return }
    let (body, next) = snapshot.part(
      from: watches[index].nextScreen, limit: min(60 * 1024, configuration.maximumReplyBytes / 2),
      hasResolved: watches[index].hasResolved)
    emit(.snap, body, toSession: watches[index].session, at: now)
    if let next {
      watches[index].nextScreen = next
    } else {
      measurements.count(.snapshots)
      watches[index].snapshot = nil
      watches[index].nextScreen = 0
      watches[index].cursor = snapshot.revision
    }
  }

  private mutating func sendDiffs(
    _ message: DiffsMessage, to index: Int, of session: Int, at now: Instant
  ) {
    let former = watches[index].cursor.number
    measurements.count(.diffs, Int(message.last.number - former))
    watches[index].cursor = message.last
    noteSent(message.verb, message.byteCount, to: session, at: now)
    output.append(message.verb, at: message.body, to: sessions.slots[session].connection)
  }

  /// Encodes what every watch at the same position gets, as many diffs as fit into one message; nil
  /// if not even the first one does.
  private mutating func makeDiffs(_ key: DiffsKey, after cursor: Revision) -> DiffsMessage? {
    let nav = key.nav
    let first = navs.slots[nav].ring.diff(of: cursor.next)
    guard first.bytes.count <= configuration.maximumReplyBytes else { return nil }
    var byteCount = first.count(hasResolved: key.hasResolved)
    var last = cursor.next
    while last < navs.slots[nav].durable {
      let count = navs.slots[nav].ring.diff(of: last.next).count(hasResolved: key.hasResolved)
      guard byteCount + count <= key.limit else { break }
      byteCount += count + 1
      last = last.next
    }
    let isForMany = navs.slots[nav].watches.count > 1
    guard last > cursor.next else {
      let body = first.body(hasResolved: key.hasResolved)
      return output.keep(.diff, body, through: last, for: key, isForMany: isForMany)
    }
    let body = ServerMessageWriter.diffs(
      nav: navs.slots[nav].name, navs.slots[nav].ring.diffs(behind: cursor, through: last),
      hasResolved: key.hasResolved, byteCount: byteCount)
    return output.keep(.diffs, body, through: last, for: key, isForMany: isForMany)
  }

  private mutating func pumpLatest(_ index: Int, at now: Instant) {
    let watch = watches[index]
    guard sessions.slots[watch.session].hasCredit else { return }
    guard isSettled(watch.nav) else { return }
    guard let (key, value) = navs.slots[watch.nav].latest(watch.view, unless: watch.sentKey) else {
      return
    }
    watches[index].sentKey = key
    watches[index].cursor = navs.slots[watch.nav].revision
    let body = ServerMessageWriter.latest(
      nav: navs.slots[watch.nav].name, view: watch.view, epoch: navs.slots[watch.nav].epoch,
      revision: navs.slots[watch.nav].revision, value: value)
    emit(.latest, body, toSession: watch.session, at: now)
  }

  private mutating func emitEvent(_ body: [UInt8], of nav: Int, at now: Instant) {
    guard navs.isLive(nav) else { return }
    var place: Int?
    for index in navs.slots[nav].watches where watches[index].view == .full {
      pump(index, at: now)
      let session = watches[index].session
      guard watches[index].isStarted, watches[index].snapshot == nil,
        watches[index].cursor == navs.slots[nav].durable, sessions.slots[session].hasCredit
      else { continue }
      noteSent(.event, body.count, to: session, at: now)
      let shared = place ?? output.add(body)
      place = shared
      output.append(.event, at: shared, to: sessions.slots[session].connection)
    }
  }

  /// Ends a watch with a word to its session.
  mutating func endWatch(_ index: Int, why: StaticString, at now: Instant) {
    let watch = watches[index]
    let body = ServerMessageWriter.end(
      nav: navs.slots[watch.nav].name, view: watch.view, epoch: navs.slots[watch.nav].epoch,
      revision: navs.slots[watch.nav].revision, why: why)
    emit(.end, body, toSession: watch.session, at: now)
    removeWatch(index, fromSession: true)
  }

  private mutating func finishClosing(_ nav: Int, at now: Instant) {
    let entry = navs.slots[nav]
    for index in entry.watches {
      pump(index, at: now)
      endWatch(index, why: "closed", at: now)
    }
    navs.remove(nav)
  }

  /// Gives up the oldest diffs of navs in turn while all rings together are too large.
  mutating func trimRings() {
    navs.trimRings(to: configuration.resumeTotalBytes, bytes: configuration.resumeBytes)
  }
}

/// Where a watch stands that a message of diffs is for.
struct DiffsKey: Hashable, Sendable {
  var nav: Int
  var from: UInt64
  /// What a message of several diffs holds at most, in octets.
  var limit: Int
  /// Whether it tells what the bar shows.
  var hasResolved: Bool
}

extension Session {
  /// What a message of several diffs holds at most, in octets.
  ///
  /// Half a window at a time leaves room for others on the same connection. A long message costs
  /// less, by octet, than several short ones; a longer one than this would keep others waiting.
  var diffsBytes: Int {
    isUncontrolled ? 60 * 1024 : min(60 * 1024, max(32 * 1024, Int(window / 2)))
  }
}

/// A message of diffs, encoded once for all watches at the same position.
struct DiffsMessage: Sendable {
  var verb: ServerVerb
  /// The place of its body in the output, and its size.
  var body: Int
  var byteCount: Int
  var last: Revision
}

extension HubOutput {
  /// What is to be sent already to watches at a position.
  func diffs(_ key: DiffsKey) -> DiffsMessage? {
    // The watches of a nav are served in a row, and most of them stand at the same place.
    if let lastDiffs, lastDiffs.key == key { return lastDiffs.message }
    return diffs[key]
  }

  /// Adds the body of a message of diffs.
  mutating func keep(
    _ verb: ServerVerb, _ body: [UInt8], through last: Revision, for key: DiffsKey, isForMany: Bool
  ) -> DiffsMessage {
    let message = DiffsMessage(verb: verb, body: add(body), byteCount: body.count, last: last)
    lastDiffs = (key, message)
    if isForMany { diffs[key] = message }
    return message
  }
}
