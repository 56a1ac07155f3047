import Navigation

// Operations on navs, in the protocol's fixed order of checks.

extension Hub {
  mutating func operate(
    _ request: OpMessage, from sender: Sender, session: Int?, at now: Instant
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
    let key = key(of: client, sender, session)
    let op = OpContext(
      request: request, key: key, name: name, sender: sender, session: session, now: now)
    // 3: load.
    if let after = overload(session, sender.connection, at: now) {
      var error = OutgoingError(.busy, "too many ops at a time")
      error.after = after
      return refuse(op.request, error, sender)
    }
    // 4: a recorded op.
    let id = op.request.id
    switch remembered.verdict(on: id, octets: op.octets, of: op.key) {
    case .new:
      if repeats(op) { return }
      guard let waiting = reads.op(id, of: op.key) else { break }
      guard waiting.octets == op.octets else {
        return refuse(op.request, reused(op.request), sender)
      }
      // Sent again while it waits for the history: this one takes its place.
      dropWaiting(waiting.token)
    case .decided(let entry):
      guard entry.isOk else { return send(sender.connection, .err, entry.reply, .repeated) }
      return answer(sender, session, navSlots[op.request.nav], entry.reply, .repeated)
    case .reused: return refuse(op.request, reused(op.request), sender)
    case .tooOld:
      let text = "op \(id) is older than the ops remembered; resynchronise"
      return refuse(op.request, OutgoingError(.opTooOld, text), sender)
    }
    conclude(op) { hub throws(OpFailure) in try hub.decide(op) }
  }

  // Mutating, as are the checks of every op, though they change nothing: the hub is then lent to
  // them where it is, while a function that may not change it is given a copy of its kilobyte.
  private mutating func key(
    of client: ClientID, _ sender: Sender, _ session: Int?
  ) -> RememberedOps.Key {
    if let session, sessions[session].peer == sender.peer { return sessions[session].key }
    return RememberedOps.Key(principal: sender.peer.principal, client: client)
  }

  /// Decides an op; what it is refused for is answered, and remembered if that is final.
  mutating func conclude(
    _ op: OpContext, _ decision: (inout Hub) throws(OpFailure) -> Void
  ) {
    do throws(OpFailure) {
      try decision(&self)
    } catch {
      fail(op, error)
    }
  }

  private func reused(_ request: OpMessage) -> OutgoingError {
    OutgoingError(.opReused, "op \(request.id) was used with other octets; take a new id")
  }

  /// Answers an op that was refused.
  mutating func fail(_ op: OpContext, _ failure: OpFailure) {
    audit(failure.error, op.sender, about: op.request.nav, client: op.name)
    let reply = encode(failure.error, to: op.request, op.sender)
    send(op.sender.connection, .err, reply, .refused(failure.error.code))
    let retry = failure.error.code.retry
    if retry == .no || retry == .resync { remember(op, reply, isOk: false) }
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

  private mutating func overload(
    _ session: Int?, _ connection: ConnectionID, at now: Instant
  ) -> UInt64? {
    if let session {
      if sessions[session].inflight >= configuration.inflight { return 10 }
      batch.answering.append(session)
      sessions[session].inflight += 1
    }
    return excess(of: connection, at: now)
  }

  /// How long a connection has to wait that has sent too many ops in this second.
  ///
  /// It is the connection's count, not the session's: a new session is one message away.
  private mutating func excess(of connection: ConnectionID, at now: Instant) -> UInt64? {
    guard configuration.opsPerSecond > 0 else { return nil }
    let second = now.boot / 1000
    var rate = rates[connection] ?? (second, 0)
    if rate.second != second { rate = (second, 0) }
    rate.count += 1
    rates[connection] = rate
    return rate.count > configuration.opsPerSecond ? 1000 - now.boot % 1000 : nil
  }

  private mutating func refuse(_ request: OpMessage, _ error: OutgoingError, _ sender: Sender) {
    audit(error, sender, about: request.nav, client: request.name)
    send(sender.connection, .err, encode(error, to: request, sender), .refused(error.code))
  }

  /// Encodes an error, with the nav's standing if the sender may read it.
  private func encode(
    _ error: OutgoingError, to request: OpMessage, _ sender: Sender
  ) -> [UInt8] {
    var error = error
    error.id = request.id
    return ServerMessageWriter.error(placed(error, at: request.nav, for: sender))
  }

  /// Sends an ok behind what the sender's own watch of the nav is owed.
  mutating func answer(
    _ sender: Sender, _ session: Int?, _ nav: Int?, _ reply: [UInt8], _ outcome: Outcome
  ) {
    guard let nav else { return send(sender.connection, .ok, reply, outcome) }
    batch.effects.append(.answer(sender.connection, session: session, nav: nav, reply, outcome))
  }

  mutating func remember(_ op: OpContext, _ reply: [UInt8], isOk: Bool) {
    let entry = RememberedOps.Entry(
      id: op.request.id, octets: op.octets, isOk: isOk, reply: reply)
    let evicted = remembered.remember(entry, of: op.key, at: op.now.boot)
    plan(op.now.boot + configuration.rememberedIdle)
    batch.remembrances.append(
      Batch.Remembrance(key: op.key, op: op.request.id, evicted: evicted))
  }

  /// Steps 5 to 14.
  private mutating func decide(_ op: OpContext) throws(OpFailure) {
    try checkDue(op)
    let slot = navSlots.find(op.request.nav)
    try checkRights(op, slot)
    if let slot, navs[slot].directory != nil {
      try checkStop()
      throw OpFailure(.readonly, "\(op.request.nav) is virtual and cannot be changed")
    }
    if op.isCreation {
      guard slot == nil else {
        throw OpFailure(.navExists, "\(op.request.nav) exists already")
      }
      try checkStop()
      try op.checkForm(isStandalone: op.createsStandaloneBar)
      return try create(op)
    }
    guard let slot else { throw OpFailure(.noNav, "there is no nav \(op.request.nav)") }
    let closes = op.request.operations[0].kind == .navClose
    if !closes { try checkFrozen(slot) }
    try checkStop()
    try checkDisplay(op, slot)
    try op.checkForm(isStandalone: navs[slot].controller.isStandalone)
    try checkGuardPolicy(op, slot)
    try proceed(op, slot)
  }

  /// Steps 9 to 14, on an existing nav; an op that had to wait begins here again.
  mutating func proceed(_ op: OpContext, _ slot: Int) throws(OpFailure) {
    try checkGuards(op.request.guards, slot)
    if op.request.operations[0].kind == .navClose { return try close(op, slot) }
    try checkFrozen(slot)
    if try waits(op, slot) { return }
    try perform(op, slot)
  }

  /// The same for one that has waited, while the rights of its sender may have changed.
  mutating func proceedAgain(_ op: OpContext, _ slot: Int) throws(OpFailure) {
    try checkRights(op, slot)
    try proceed(op, slot)
  }

  /// The typed operations of a message, from that at `first` on; the first unreadable one is
  /// refused, unless an earlier one is refused by the rules.
  static func readable(
    _ request: OpMessage, from first: Int = 0, isStandalone: Bool
  ) -> (operations: [Operation], failure: OutgoingError?) {
    for index in first..<request.operations.count {
      guard let failure = failure(of: request.operations[index], index, isStandalone: isStandalone)
      else { continue }
      // All those before it can be read.
      return (Array(request.readable[..<(index - first)]), failure)
    }
    return (request.readable, nil)
  }

  private static func failure(
    of operation: RequestedOperation, _ index: Int, isStandalone: Bool
  ) -> OutgoingError? {
    if isStandalone, let failure = operation.standaloneFailure { return outgoing(failure, index) }
    switch operation.arguments {
    case .operation: return nil
    case .unreadable(let failure): return outgoing(failure, index)
    case .create, .close:
      var error = OutgoingError(
        .invalidArgument,
        operation.kind == .navClose
          ? "nav.close stands alone in its message" : "nav.create is the first op of its message")
      error.index = index
      return error
    }
  }

  func checkDue(_ op: OpContext) throws(OpFailure) {
    guard let due = op.request.due, due < op.now.boot else { return }
    throw OpFailure(.expired, "the op was due \(op.now.boot - due) ms ago")
  }

  /// Steps 11 to 14 on an existing nav; `decision` is what the delegates said, if they were asked.
  mutating func perform(
    _ op: OpContext, _ slot: Int, after decision: DelegateDecision? = nil
  ) throws(OpFailure) {
    var (operations, unreadable) = Self.readable(
      op.request, isStandalone: navs[slot].controller.isStandalone)
    guard try lookBack(&operations, &unreadable, op, slot) else { return }
    if let unreadable {
      try checkBefore(unreadable, operations, op, slot)
      throw OpFailure(unreadable)
    }
    if op.touchesGesture { operations = operations.map { $0.signed(by: op.name) } }
    if isStorageFailing, wouldCommit(operations, op, slot) { throw storageFailure() }
    if decision == nil, try asksDelegates(operations, op, slot) { return }
    let before = stateToInspect(slot)
    var result: OperationResult
    do {
      result = try navs[slot].controller.perform(
        operations, isAnimated: op.request.isAnimated, animation: decision?.animation,
        in: context)
    } catch {
      throw OpFailure(OutgoingError(error))
    }
    if result.commit != nil { try inspect(slot, before: before) }
    let delivered = announce(result.outputs, slot)
    // Taken out, not copied.
    guard let commit = result.commit.take() else {
      let reply = ServerMessageWriter.ok(
        id: op.request.id, standing: navs[slot].standing, changed: false,
        outputs: result.outputs, delivered: delivered)
      // Progress is told so often that remembering it would drive everything else out.
      let isProgress = op.request.operations.allSatisfy { $0.kind == .gestureUpdate }
      if !isProgress { remember(op, reply, isOk: true) }
      return answer(op.sender, op.session, slot, reply, .unchanged)
    }
    if decision?.isVetoSkipped == true {
      var op = op
      op.isVetoSkipped = true
      record(commit, result.outputs, delivered, op, slot)
    } else {
      record(commit, result.outputs, delivered, op, slot)
    }
    if commit.parts.contains(.transition) { noteTransition(slot, begunBy: op) }
  }

  /// An unreadable op may stand behind one that the rules refuse; the first one counts.
  private func checkBefore(
    _ unreadable: OutgoingError, _ operations: [Operation], _ op: OpContext, _ slot: Int
  ) throws(OpFailure) {
    guard !operations.isEmpty else { return }
    var candidate = navs[slot].controller
    do {
      _ = try candidate.perform(
        operations, isAnimated: op.request.isAnimated, in: context)
    } catch {
      throw OpFailure(OutgoingError(error))
    }
  }

  private func wouldCommit(_ operations: [Operation], _ op: OpContext, _ slot: Int) -> Bool {
    var candidate = navs[slot].controller
    let result = try? candidate.perform(
      operations, isAnimated: op.request.isAnimated, in: context)
    return result?.commit != nil
  }

  func storageFailure() -> OpFailure {
    var error = OutgoingError(
      .storage, "the journal cannot be written; nothing was changed, reads go on")
    error.after = 1000
    return OpFailure(error)
  }

  /// Sends the events that have no revision; returns how many watches they go to.
  private mutating func announce(_ outputs: [OperationOutput], _ slot: Int) -> Int {
    var delivered = 0
    for index in outputs.indices {
      switch outputs[index] {
      case .activated(let button, let action):
        delivered = audience(of: slot)
        let body = ServerMessageWriter.event(
          nav: navs[slot].name, epoch: navs[slot].epoch, revision: navs[slot].controller.revision,
          button: button, action: action)
        batch.effects.append(.event(nav: slot, body))
      case .progress(let transition, let value):
        delivered = audience(of: slot)
        tellProgress(of: slot, transition, value)
      default: break
      }
    }
    return delivered
  }

  private func audience(of slot: Int) -> Int {
    navs[slot].watches.count {
      watches[$0].view == .full && sessions[watches[$0].session].hasCredit
    }
  }
}

extension Operation {
  /// The same, with the name of the client in what it leaves behind.
  fileprivate func signed(by name: String) -> Operation {
    guard case .transition(.beginGesture(let isFullScreen, let translation, _)) = self else {
      return self
    }
    return .transition(
      .beginGesture(isFullScreen: isFullScreen, translation: translation, owner: name))
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
