import Navigation

// Operations on navs, in the protocol's fixed order of checks.

extension Hub {
  mutating func operate(
    _ request: OpRequest, _ octets: [UInt8], from sender: Sender, session: Int?, at now: Instant
  ) {
    // 2: the session.
    if let error = fence(sender) { return refuse(request, error, sender) }
    guard let client = request.client ?? session.map({ sessions[$0].client }) else {
      let text = "say hello first, then send it again, or name the client in the op"
      return refuse(request, OutgoingError(.noSession, text), sender)
    }
    if let session, client != sessions[session].client {
      let text = "client is not the session's"
      return refuse(request, OutgoingError(.invalidArgument, text), sender)
    }
    let name = session.map { sessions[$0].name } ?? request.name ?? ""
    let attempt = Attempt(
      request: request, sender: sender, session: session,
      key: RememberedOps.Key(principal: sender.peer.principal, client: client), name: name,
      octets: OctetsHash(octets), now: now)
    // 3: load.
    if let after = overload(session, at: now) {
      var error = OutgoingError(.busy, "too many ops at a time")
      error.after = after
      return refuse(request, error, sender)
    }
    // 4: a recorded op.
    switch remembered.verdict(on: request.id, octets: attempt.octets, of: attempt.key) {
    case .new:
      guard let waiting = waitingOp(request.id, of: attempt.key) else { break }
      guard waiting.octets == attempt.octets else {
        return refuse(request, reused(request), sender)
      }
      // Sent again while it waits for the history: this one takes its place.
      dropWaiting(waiting.token)
    case .decided(let entry):
      guard entry.isOk else { return send(sender.connection, .err, entry.reply) }
      return answer(sender, session, navSlots[request.nav], entry.reply)
    case .reused: return refuse(request, reused(request), sender)
    case .tooOld:
      let text = "op \(request.id) is older than the ops remembered; resynchronise"
      return refuse(request, OutgoingError(.opTooOld, text), sender)
    }
    conclude(attempt) { hub throws(OpFailure) in try hub.decide(attempt) }
  }

  /// Decides an op; what it is refused for is answered, and remembered if that is final.
  mutating func conclude(
    _ attempt: Attempt, _ decision: (inout Hub) throws(OpFailure) -> Void
  ) {
    do throws(OpFailure) {
      try decision(&self)
    } catch {
      let reply = encode(error.error, to: attempt.request, attempt.sender)
      send(attempt.sender.connection, .err, reply)
      let retry = error.error.code.retry
      if retry == .no || retry == .resync { remember(attempt, reply, isOk: false) }
    }
  }

  private func reused(_ request: OpRequest) -> OutgoingError {
    OutgoingError(.opReused, "op \(request.id) was used with other octets; take a new id")
  }

  /// The error of every op on a connection whose client id was taken over.
  func fence(_ sender: Sender) -> OutgoingError? {
    guard !fenced.isEmpty, fenced.contains(sender.connection) else { return nil }
    return OutgoingError(.fenced, "another process uses this client id")
  }

  /// The error of an op that got as far as its nav.
  struct OpFailure: Error {
    var error: OutgoingError

    init(_ error: OutgoingError) { self.error = error }

    init(_ code: ErrorCode, _ text: String) { error = OutgoingError(code, text) }
  }

  private mutating func overload(_ session: Int?, at now: Instant) -> UInt64? {
    guard let session else { return nil }
    if sessions[session].inflight >= configuration.inflight { return 10 }
    batch.answering.append(session)
    sessions[session].inflight += 1
    guard configuration.opsPerSecond > 0 else { return nil }
    let second = now.boot / 1000
    if sessions[session].rateSecond != second {
      sessions[session].rateSecond = second
      sessions[session].rateCount = 0
    }
    sessions[session].rateCount += 1
    return sessions[session].rateCount > configuration.opsPerSecond ? 1000 - now.boot % 1000 : nil
  }

  private mutating func refuse(_ request: OpRequest, _ error: OutgoingError, _ sender: Sender) {
    send(sender.connection, .err, encode(error, to: request, sender))
  }

  /// Encodes an error, with the nav's standing if the sender may read it.
  private func encode(
    _ error: OutgoingError, to request: OpRequest, _ sender: Sender
  ) -> [UInt8] {
    var error = error
    error.id = request.id
    if let slot = navSlots[request.nav],
      configuration.rights(of: sender.peer, on: request.nav, owner: navs[slot].owner)
        .contains(.read)
    {
      error.standing = navs[slot].standing
    }
    return ServerMessageWriter.error(error)
  }

  /// Sends an ok behind what the sender's own watch of the nav is owed.
  mutating func answer(_ sender: Sender, _ session: Int?, _ nav: Int?, _ reply: [UInt8]) {
    guard let nav else { return send(sender.connection, .ok, reply) }
    batch.held.append(.answer(sender.connection, session: session, nav: nav, reply))
  }

  mutating func remember(_ attempt: Attempt, _ reply: [UInt8], isOk: Bool) {
    let entry = RememberedOps.Entry(
      id: attempt.request.id, octets: attempt.octets, isOk: isOk, reply: reply)
    let evicted = remembered.remember(entry, of: attempt.key, at: attempt.now.boot)
    plan(attempt.now.boot + configuration.rememberedIdle)
    batch.remembrances.append(
      Batch.Remembrance(key: attempt.key, op: attempt.request.id, evicted: evicted))
  }

  /// Steps 5 to 14.
  private mutating func decide(_ attempt: Attempt) throws(OpFailure) {
    let request = attempt.request
    try checkDue(attempt)
    let slot = navSlots.find(request.nav)
    try checkRights(attempt, owner: slot.map { navs[$0].owner })
    if let slot, navs[slot].directory != nil {
      try checkStop()
      throw OpFailure(.readonly, "\(request.nav) is virtual and cannot be changed")
    }
    if attempt.isCreation {
      guard slot == nil else { throw OpFailure(.navExists, "\(request.nav) exists already") }
      try checkStop()
      try checkForm(attempt, isStandalone: attempt.createsStandaloneBar)
      return try create(attempt)
    }
    guard let slot else { throw OpFailure(.noNav, "there is no nav \(request.nav)") }
    try checkStop()
    try checkForm(attempt, isStandalone: navs[slot].controller.isStandalone)
    try checkGuardPolicy(attempt, slot)
    try proceed(attempt, slot)
  }

  /// Steps 9 to 14, on an existing nav; an op that had to wait begins here again.
  mutating func proceed(_ attempt: Attempt, _ slot: Int) throws(OpFailure) {
    let request = attempt.request
    try checkGuards(request.guards, slot)
    if request.operations[0].kind == .navClose { return try close(attempt, slot) }
    try perform(attempt, slot)
  }

  func checkDue(_ attempt: Attempt) throws(OpFailure) {
    guard let due = attempt.request.due, due < attempt.now.boot else { return }
    throw OpFailure(.expired, "the op was due \(attempt.now.boot - due) ms ago")
  }

  func checkStop() throws(OpFailure) {
    guard isStopping else { return }
    var error = OutgoingError(.shuttingDown, "the daemon is stopping")
    error.after = 500
    throw OpFailure(error)
  }

  private func checkRights(_ attempt: Attempt, owner: String?) throws(OpFailure) {
    var needed: Rights = []
    for operation in attempt.request.operations { needed.formUnion(operation.kind.rights) }
    let nav = attempt.request.nav
    if nav == NavName.navs.text || nav == NavName.clients.text { needed = .read }
    var rights = configuration.rights(of: attempt.sender.peer, on: nav, owner: owner)
    // Who creates a nav owns it, in the same message already.
    if attempt.isCreation, owner == nil, rights.contains(.push) { rights = .all }
    guard rights.isSuperset(of: needed) else {
      throw OpFailure(.forbidden, "\(attempt.sender.peer.principal) may not do this on \(nav)")
    }
  }

  /// Step 8, of the whole message before any op runs: `unsupported` before `bar-managed` before
  /// `bar-delegate-managed` before `readonly`.
  private func checkForm(_ attempt: Attempt, isStandalone: Bool) throws(OpFailure) {
    for code: ErrorCode in [.unsupported, .barManaged, .barDelegateManaged, .readonly] {
      for (index, operation) in attempt.request.operations.enumerated() {
        guard let failure = operation.formFailure(isStandalone: isStandalone), failure.code == code
        else { continue }
        throw OpFailure(outgoing(failure, index))
      }
    }
  }

  func outgoing(_ failure: ReadFailure, _ index: Int) -> OutgoingError {
    var error = OutgoingError(failure.code, failure.text)
    error.reason = failure.reason
    error.index = index
    return error
  }

  private func checkGuardPolicy(_ attempt: Attempt, _ slot: Int) throws(OpFailure) {
    let guards = attempt.request.guards
    if guards.any { return }
    let policy = navs[slot].controller.settings.content.guardPolicy
    guard policy != .none else { return }
    let hasStackGuard = guards.revision != nil || guards.digest != nil || guards.stack != nil
    for (index, operation) in attempt.request.operations.enumerated() {
      let isGuarded =
        switch operation.kind.neededGuard {
        case .wholeStack: hasStackGuard
        case .position: hasStackGuard || guards.top != nil
        case .none: policy != .all || hasStackGuard || guards.top != nil
        }
      guard !isGuarded else { continue }
      let names =
        operation.kind.neededGuard == .wholeStack ? "rev, dig or stack" : "top, rev, dig or stack"
      var error = OutgoingError(
        .guardRequired,
        "\(operation.kind.name) removes what is there: say in \"if\" what you saw, by \(names), "
          + "or {\"any\":true}")
      error.index = index
      throw OpFailure(error)
    }
  }

  /// Step 9: the first guard that fails, in the order of the table.
  private func checkGuards(_ guards: Guards, _ slot: Int) throws(OpFailure) {
    let stack = navs[slot].controller.stack
    let actualEpoch = navs[slot].epoch
    let actualRevision = navs[slot].controller.revision
    if let epoch = guards.epoch, epoch != actualEpoch {
      throw desync("epoch", "epoch is \(actualEpoch.text)", JSONWriter.value { $0.hex(epoch.bits) })
    }
    if let revision = guards.revision, revision != actualRevision {
      var failure = desync(
        "rev", "rev is \(actualRevision.number), not \(revision.number)",
        JSONWriter.value { $0.integer(revision.number) })
      failure.error.isFuture = revision > actualRevision
      throw failure
    }
    if let digest = guards.digest, digest != navs[slot].digest {
      throw desync(
        "digest", "dig is \(navs[slot].digest.text)", JSONWriter.value { $0.hex(digest.bits) })
    }
    if let top = guards.top, top != stack.last?.id.text {
      let actual = stack.last?.id.text ?? "no screen"
      throw desync(
        "top", "top is \(actual), not \(top ?? "no screen")",
        JSONWriter.value { if let top { $0.string(top) } else { $0.null() } })
    }
    if let depth = guards.depth, depth != UInt64(stack.count) {
      throw desync(
        "depth", "depth is \(stack.count), not \(depth)", JSONWriter.value { $0.integer(depth) })
    }
    if let ids = guards.stack, ids != stack.map(\.id.text) {
      throw desync(
        "stack", "the stack is [\(stack.map(\.id.text).joined(separator: ", "))]",
        JSONWriter.value { json in
          json.beginArray()
          for id in ids { json.string(id) }
          json.endArray()
        })
    }
    for id in guards.has ?? [] where !stack.contains(where: { $0.id.text == id }) {
      throw desync("has", "\(id) is not on the stack", JSONWriter.value { $0.string(id) })
    }
  }

  private func desync(_ reason: String, _ text: String, _ expected: [UInt8]) -> OpFailure {
    var error = OutgoingError(.desync, text)
    error.reason = reason
    error.expected = expected
    return OpFailure(error)
  }

  /// The typed operations of a message; the first unreadable one is refused, unless an earlier one
  /// is refused by the rules.
  func readable(
    _ requested: ArraySlice<RequestedOperation>, isStandalone: Bool
  ) -> (operations: [Operation], failure: OutgoingError?) {
    var operations: [Operation] = []
    operations.reserveCapacity(requested.count)
    for (index, operation) in zip(requested.indices, requested) {
      if isStandalone, let failure = operation.standaloneFailure {
        return (operations, outgoing(failure, index))
      }
      switch operation.arguments {
      case .operation(let value): operations.append(value)
      case .unreadable(let failure): return (operations, outgoing(failure, index))
      case .create, .close:
        var error = OutgoingError(
          .invalidArgument,
          operation.kind == .navClose
            ? "nav.close stands alone in its message" : "nav.create is the first op of its message")
        error.index = index
        return (operations, error)
      }
    }
    return (operations, nil)
  }

  var context: NavigationContext {
    NavigationContext(
      limits: configuration.nav, classes: configuration.classes,
      routeTemplates: RouteReader.checked)
  }

  /// Steps 11 to 14 on an existing nav.
  private mutating func perform(_ attempt: Attempt, _ slot: Int) throws(OpFailure) {
    var (operations, unreadable) = readable(
      attempt.request.operations[...], isStandalone: navs[slot].controller.isStandalone)
    guard try lookBack(&operations, &unreadable, attempt, slot) else { return }
    if let unreadable {
      try checkBefore(unreadable, operations, attempt, slot)
      throw OpFailure(unreadable)
    }
    if isStorageFailing, wouldCommit(operations, attempt, slot) { throw storageFailure() }
    let performance: Performance
    do {
      performance = try navs[slot].controller.perform(
        operations, isAnimated: attempt.request.isAnimated, in: context)
    } catch {
      throw OpFailure(OutgoingError(error))
    }
    let delivered = announce(performance, slot)
    guard let commit = performance.commit else {
      let reply = ServerMessageWriter.ok(
        id: attempt.request.id, standing: navs[slot].standing, changed: false,
        outputs: performance.outputs, delivered: delivered)
      remember(attempt, reply, isOk: true)
      return answer(attempt.sender, attempt.session, slot, reply)
    }
    record(commit, performance.outputs, delivered, attempt, slot)
  }

  /// An unreadable op may stand behind one that the rules refuse; the first one counts.
  private func checkBefore(
    _ unreadable: OutgoingError, _ operations: [Operation], _ attempt: Attempt, _ slot: Int
  ) throws(OpFailure) {
    guard !operations.isEmpty else { return }
    var candidate = navs[slot].controller
    do {
      _ = try candidate.perform(
        operations, isAnimated: attempt.request.isAnimated, in: context)
    } catch {
      throw OpFailure(OutgoingError(error))
    }
  }

  private func wouldCommit(_ operations: [Operation], _ attempt: Attempt, _ slot: Int) -> Bool {
    var candidate = navs[slot].controller
    let performance = try? candidate.perform(
      operations, isAnimated: attempt.request.isAnimated, in: context)
    return performance?.commit != nil
  }

  func storageFailure() -> OpFailure {
    var error = OutgoingError(
      .storage, "the journal cannot be written; nothing was changed, reads go on")
    error.after = 1000
    return OpFailure(error)
  }

  /// Sends the events that have no revision; returns how many watches they go to.
  private mutating func announce(_ performance: Performance, _ slot: Int) -> Int {
    var delivered = 0
    for case .activated(let button, let action) in performance.outputs {
      let entry = navs[slot]
      delivered = entry.watches.count {
        watches[$0].view == .full && sessions[watches[$0].session].hasCredit
      }
      let body = ServerMessageWriter.event(
        nav: entry.name, epoch: entry.epoch, revision: entry.controller.revision, button: button,
        action: action)
      batch.held.append(.event(nav: slot, body))
    }
    return delivered
  }

  private mutating func record(
    _ commit: Commit, _ outputs: [OperationOutput], _ delivered: Int, _ attempt: Attempt,
    _ slot: Int
  ) {
    touch(slot)
    let previous = navs[slot].lastSequence
    let before = navs[slot].digest
    advance()
    let lowest = min(commit.splice?.at ?? Int.max, commit.changedScreens.first ?? Int.max)
    let resolved = NavEntry.encodeResolved(navs[slot].controller)
    let isResolvedNew = resolved != navs[slot].resolved
    if isResolvedNew {
      navs[slot].resolved = resolved
      navs[slot].resolvedAt = commit.revision
    }
    navs[slot].updateDigest(from: lowest)
    let frame = DiffFrame(
      nav: navs[slot].name, epoch: navs[slot].epoch,
      base: Revision(commit.revision.number - 1), revision: commit.revision, sequence: sequence,
      cause: attempt.cause(of: outputs), by: (attempt.name, attempt.request.id))
    let diff = frame.encode(
      commit, of: navs[slot].controller, resolved: isResolvedNew ? resolved : nil,
      digest: navs[slot].digest)
    let standing = navs[slot].standing
    let ok = ServerMessageWriter.encodedOk(
      id: attempt.request.id, standing: standing, changed: true, outputs: outputs,
      delivered: delivered)
    let reply = ok.bytes
    let recorded = RecordedReply.besideDiff(
      top: standing.top, outputs: Array(reply[ok.outputs]))
    let body = JournalBody.changed(
      diff: diff, commit: commit, origin: attempt.origin(recorded), before: before)
    batch.records.append(
      .row(
        JournalRow(
          sequence: sequence, nav: navs[slot].number, revision: commit.revision.number,
          previous: previous, time: attempt.now.wall, kind: .changed, body: body)))
    navs[slot].lastSequence = sequence
    keep(diff.bytes, slot)
    remember(attempt, reply, isOk: true)
    answer(attempt.sender, attempt.session, slot, reply)
    if commit.revision.number >= navs[slot].snapshotRevision.number + configuration.snapshotEvery {
      recordSnapshot(of: slot, at: attempt.now)
    }
  }

  /// Puts a diff into the ring; `trim` brings it back within its limits once it has been sent.
  mutating func keep(_ diff: [UInt8], _ slot: Int) {
    ringBytes += diff.count
    navs[slot].ring.append(diff, digest: navs[slot].digest)
    // Only a snapshot can tell of this one, and that of a state that is durable as it stands.
    if diff.count > configuration.maximumReplyBytes { wantsStandstill = true }
  }

  /// Drops the diffs beyond the limits, which nobody is owed.
  mutating func trim(_ slot: Int) {
    ringBytes -= navs[slot].ring.trim(
      revisions: configuration.resumeRevisions, bytes: configuration.resumeBytes,
      through: navs[slot].durable)
  }

  mutating func advance() {
    if batch.sequenceBefore == nil { batch.sequenceBefore = sequence }
    sequence += 1
  }

  /// Notes that a nav is about to change in this batch.
  mutating func touch(_ slot: Int) {
    guard navs[slot].touchedBy != batchNumber else { return }
    navs[slot].touchedBy = batchNumber
    batch.touched.append(Batch.Touched(slot: slot, rowBefore: navs[slot].lastSequence))
  }

  mutating func recordSnapshot(of slot: Int, at now: Instant) {
    let entry = navs[slot]
    guard entry.number > 0, !isStorageFailing else { return }
    let body = JournalBody.state(
      nav: entry.name, epoch: entry.epoch, owner: entry.owner, controller: entry.controller,
      digest: entry.digest, resolvedAt: entry.resolvedAt, origin: nil)
    batch.records.append(
      .snapshot(
        SnapshotRow(
          nav: entry.number, revision: entry.controller.revision.number,
          sequence: entry.lastSequence, time: now.wall, body: body)))
    navs[slot].snapshotRevision = entry.controller.revision
  }
}

extension NavEntry {
  /// Brings the digest up to date after a change that left the screens below `index` alone.
  mutating func updateDigest(from index: Int) {
    digest = running.update(controller, from: index)
  }
}

extension JSONWriter {
  /// The bytes of one value.
  static func value(_ write: (inout JSONWriter) -> Void) -> [UInt8] {
    var json = JSONWriter(reserving: 64)
    write(&json)
    return json.bytes
  }
}
