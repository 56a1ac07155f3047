import NavigationCore

// The checks of an op, in the order of docs/protocol.md, 9.4: the first one that fails counts. The
// comment behind a check names its errors. Step 1 is `ClientMessageReader.read`. Behind the list
// stand the checks themselves, with the same numbers, except those that stand beside their subject:
// guards in NavEntry.swift, a frozen nav in Hub+Faults.swift, delegates in Hub+Delegates.swift,
// arguments in Hub+Operations.swift, those of a revert in Hub+Revert.swift, an op that is sent again
// while it waits in Hub+Coordination.swift.

/// How an op comes to the checks; an op that waited or was answered skips some of them.
enum OpArrival: Sendable {
  case arrived
  /// The op waited for a transition, for a question to delegates, or for the history.
  case waited
  /// Delegates have answered, and one may have chosen an animation.
  case answered(Animation?)

  var isAnswered: Bool { if case .answered = self { true } else { false } }
  var animation: Animation? { if case .answered(let animation) = self { animation } else { nil } }
  /// Whether the op passes the checks for the first time.
  var isFirst: Bool { if case .arrived = self { true } else { false } }
}

extension Hub {
  /// Performs steps 2 to 4 of protocol.md §9.4 (session, load, remembered ops), then `decide`.
  ///
  /// The hub does not remember the errors of these checks.
  mutating func operate(
    _ request: OpMessage, from sender: Sender, session: SessionSlot?, at now: Instant
  ) {
    let op: OpContext
    do throws(OpFailure) {
      // 2: the session.
      if let error = fencedError(for: sender) { throw OpFailure(error) }  // fenced
      if session == nil, needsSession(sender) {
        throw OpFailure(.noSession, "a gateway says hello with an actor first")
      }
      let client = try checkClient(of: request, session)  // no-session, invalid-argument
      op = context(of: request, by: client, sender, session, at: now)
      // 3: the load, and the daemon that serves the nav, whose remembered ops count.
      try checkLoad(op)  // busy
      if !shards.areAllHere, let error = misplacedError(op.request.nav) {
        throw OpFailure(error)  // moved, busy
      }
      // 4: the remembered ops.
      if !request.isDry, try answersRepetition(op) { return }  // op-reused, op-too-old
    } catch {
      return refuse(request, error.error, sender)
    }
    decide(op, .arrived)
  }

  /// Checks and performs an op (steps 5 to 14 of protocol.md §9.4).
  ///
  /// Answers a refusal, and remembers the answer if its `retry` is `no` or `resync`.
  ///
  /// Once an op of the event was unsound, the hub decides nothing more: the whole batch is decided anew.
  mutating func decide(_ op: OpContext, _ arrival: OpArrival) {
    guard !batches.isUnsound else { return }
    let isAboutLooks = !op.request.kinds.areOrdinary && op.isAboutAppearance
    let former = isAboutLooks ? looks : nil
    do throws(OpFailure) {
      try check(op, arrival)
      if isAboutLooks, looks != former {
        navsLackingLooks = []
        noteNavsLackingLooks(navs.loaded)
        applyLooks()
      }
    } catch {
      refuse(op, error)
    }
  }

  /// Checks an op and performs it if no check fails; also for an op that waited for the history.
  mutating func check(_ op: OpContext, _ arrival: OpArrival) throws(OpFailure) {
    assert(!op.request.kinds.isEmpty, "an op without operations")
    var slot = navs.slot(of: op.request.nav)
    // 5: the time.
    if !arrival.isAnswered { try checkDue(op) }  // expired
    // 6: the rights.
    try checkRights(op, slot)  // forbidden
    // 7: the nav.
    if arrival.isFirst { try checkVirtual(op, slot) }  // shutting-down, readonly
    try checkExistence(op, slot)  // nav-exists, no-nav
    if arrival.isFirst {
      if !op.isClosing { try checkFrozen(slot) }  // frozen
      try checkStop()  // shutting-down
      try checkDisplay(op, slot)  // lease-lost
      // 8: the form of all operations.
      try checkAppearance(op)  // readonly, unsupported
      try checkForm(op, slot)  // unsupported, bar-managed, bar-delegate-managed, readonly
      try checkGuardPolicy(op, slot)  // guard-required
    }
    if slot == nil { slot = try makeAppearanceNav(op) }
    guard let slot else { return try op.request.isDry ? rehearseCreation(op) : create(op) }
    if !arrival.isAnswered {
      // 9: the guards; of an op that will wait only the epoch, and the rest when it starts.
      let isOpen = mayHaveToWait(op, slot)
      let mustWait = isOpen && mustWait(op.request, slot)
      let interrupts = mustWait && interrupts(op, slot)
      if mustWait, !interrupts, busyPolicy(of: op, slot) != .reject {
        try checkGuards(op.request.guards.epochOnly, slot)  // desync
      } else {
        try checkGuards(op.request.guards, slot)  // desync
      }
      if op.isClosing { return try op.request.isDry ? rehearseClosing(op, slot) : close(op, slot) }
      // 10: open transitions, questions and gestures.
      if !arrival.isFirst { try checkFrozen(slot) }  // frozen, since the op waits
      if isOpen { try checkGesture(op, slot) }  // gesture-refused, gesture-owner
      // transition-in-progress, queue-full
      if mustWait, !interrupts { return try queue(op, slot) }
    }
    // 11: the arguments, in order; a revert may wait for the history: compacted, busy, …
    guard let operations = try operations(of: op, slot) else { return }
    if op.request.isDry { return try rehearse(operations, op, slot) }
    // 12: the effect.
    try checkStorage(operations, op, slot)  // storage
    // 13: the delegates.
    if !arrival.isAnswered, try asksDelegates(operations, op, slot) { return }  // delegate-timeout
    // 11 and 14: the rules, operation by operation, then the commit.
    try perform(operations, op, slot, animation: arrival.animation)
  }
}

extension Hub {
  // 2: the session.

  /// The error `fenced`, if another connection has said hello with the session's client id.
  mutating func fencedError(for sender: Sender) -> OutgoingError? {
    guard sessions.isFenced(sender.connection) else { return nil }
    return OutgoingError(.fenced, "another process uses this client id")
  }

  /// Returns the client of an op: the client of the session, or without a session the client that
  /// the op names.
  mutating func checkClient(
    of request: OpMessage, _ session: SessionSlot?
  ) throws(OpFailure) -> ClientID {
    guard let client = request.client ?? session.map({ sessions[$0].client }) else {
      throw OpFailure(
        .noSession, "say hello first, then send it again, or name the client in the op")
    }
    if let session, client != sessions[session].client {
      throw OpFailure(.invalidArgument, "client is not the session's")
    }
    return client
  }

  mutating func context(
    of request: OpMessage, by client: ClientID, _ sender: Sender, _ session: SessionSlot?,
    at now: Instant
  ) -> OpContext {
    assert(session.map { sessions[$0].client } ?? client == client, "another's session")
    return OpContext(
      request: request, client: author(client, request, sender, session), sender: sender,
      session: session, now: now)
  }

  /// The client that sent an op: that of the session, in a cluster with the shard of the nav.
  private mutating func author(
    _ client: ClientID, _ request: OpMessage, _ sender: Sender, _ session: SessionSlot?
  ) -> OpClient {
    let shard = shards.count > 1 ? shards.shard(of: request.nav) : .first
    guard let session else {
      return OpClient(name: request.clientName ?? "", client, sender.peer, shard)
    }
    let known = sessions[session].opClient
    if sessions[session].peer == sender.peer, known.key.shard == shard {
      assert(known.key.client == client)
      assert(known.key.principal == sender.peer.principal)
      return known
    }
    let other = OpClient(name: known.author.name, client, sender.peer, shard)
    if sessions[session].peer == sender.peer { sessions[session].opClient = other }
    return other
  }

  // 3: the load.

  /// Counts an op against the limits of ops in flight and of ops a second; throws `busy` over a
  /// limit.
  mutating func checkLoad(_ op: OpContext) throws(OpFailure) {
    var after: UInt64?
    if let session = op.session, sessions[session].opsInFlight >= configuration.inflight {
      after = 10
    } else {
      if let session = op.session {
        batches.note(.inFlight(session: session))
        sessions.beginOp(of: session)
      }
      after = sessions.delay(
        of: op.sender.connection, over: configuration.opsPerSecond, at: op.now)
    }
    guard let after else { return }
    throw OpFailure(OutgoingError(.busy, "too many ops at a time", after: after))
  }

  // 4: the remembered ops.

  /// Returns whether the op was sent before; if so, its answer was sent again or will still come.
  mutating func answersRepetition(_ op: OpContext) throws(OpFailure) -> Bool {
    let id = op.request.id
    switch remembered.verdict(on: id, octets: op.octets, of: op.key) {
    case .new:
      if joinsWaitingOp(op) { return true }
      if let waiting = reads.op(id, of: op.key) {
        guard waiting.octets == op.octets else { throw OpFailure(.reused(id)) }
        // The op waits for the history already: forget the earlier one and decide this one.
        dropRead(waiting.token)
        return false
      }
      // The row of a change is behind the one that its client had seen. Events leave no row.
      let causesEvents = op.request.kinds.contains {
        [.buttonActivate, .uiBack, .uiBackTap].contains($0)
      }
      guard let seen = op.request.newestRowAtFirstSend else { return false }
      let forgotten = remembered.forgottenThroughRows[op.shard, default: 0]
      // A row that is not there was lost, so it says nothing about those that are.
      let isLost = forgotten > 0 && seen > batches.sequence(of: op.shard)
      guard causesEvents || seen < forgotten || isLost else { return false }
    case .decided(let entry):
      assert(entry.id == id, "op \(entry.id) for op \(id)")
      assert(!entry.reply.isEmpty, "op \(id) was decided without an answer")
      if entry.isOk {
        answer(op.sender, op.session, navs.slot(of: op.request.nav), entry.reply, .repeated)
      } else {
        send(op.sender.connection, .err, entry.reply, .repeated)
      }
      return true
    case .reused: throw OpFailure(.reused(id))
    case .tooOld: break
    }
    throw OpFailure(.opTooOld, "op \(id) may have been performed and forgotten; resynchronise")
  }

  // 5: the time.

  mutating func checkDue(_ op: OpContext) throws(OpFailure) {
    guard let due = op.request.dueBootMilliseconds else { return }
    // A time of another machine's clock means nothing here.
    if let clock = op.request.dueClockID?.utf8.filter({ $0 != UInt8(ascii: "-") }),
      let own = configuration.bootID, !own.utf8.elementsEqual(clock)
    {
      throw OpFailure(.expired, "due is a time of another machine, or of another boot of this one")
    }
    guard due < op.now.boot else { return }
    throw OpFailure(.expired, "the op was due \(op.now.boot - due) ms ago")
  }

  // 6: the rights.

  /// Throws `forbidden` unless the sender has the rights to all operations.
  ///
  /// `slot` is nil if the nav does not exist.
  mutating func checkRights(_ op: OpContext, _ slot: NavSlot?) throws(OpFailure) {
    assert(!op.request.kinds.isEmpty)
    // All rights are enough for any operation, so root and the daemon's user need no list of them.
    if access.grantsAll(to: op.sender.peer) { return }
    // A reload ends the session, but not a question to delegates about an op of it.
    guard mayKeepSession(op.sender.peer) else {
      let text = "the rules for gateways changed while an op of \(op.sender.peer.principal) waited"
      throw OpFailure(.forbidden, text)
    }
    var needed: Rights = []
    for (index, kind) in op.request.kinds.enumerated() {
      needed.formUnion(kind.rights)
      if kind == .buttonActivate { needed.formUnion(rightsToActivate(op, index, slot)) }
      if kind.isPush { needed.formUnion(op.request.decodedOperation(index)?.needs.rights ?? []) }
    }
    let nav = op.request.nav
    let owner = slot.map { navs[$0].owner }
    // Whoever may read a virtual nav is told that it cannot be changed.
    if NavName.isVirtualName(nav) { needed = .read }
    // The creator of a nav owns it already in the message that creates it.
    let isOwn = op.isCreation && owner == nil
    let rights = access.rights(
      of: op.sender.peer, on: nav, owner: isOwn ? access.owner(createdBy: op.sender.peer) : owner)
    guard rights.isSuperset(of: needed) else {
      throw OpFailure(.forbidden, "\(op.sender.peer.principal) may not do this on \(nav)")
    }
  }

  /// The rights to activate a button: `pop` if its action pops, else `push`.
  ///
  /// Both rights if earlier operations of the op could still change the button.
  private mutating func rightsToActivate(
    _ op: OpContext, _ index: Int, _ slot: NavSlot?
  ) -> Rights {
    assert(op.request.kinds[index] == .buttonActivate)
    // A nav that does not exist has no buttons.
    guard let slot else { return .push }
    guard index == 0 else { return [.push, .pop] }
    guard case .activateButton(let id, let element)? = op.request.decodedOperation(index),
      navs[slot].controller.isPop(id, element: element)
    else { return .push }
    return .pop
  }

  // 7: the nav.

  /// Refuses changes of a virtual nav.
  mutating func checkVirtual(_ op: OpContext, _ slot: NavSlot?) throws(OpFailure) {
    guard let slot, navs[slot].directory != nil else { return }
    try checkStop()
    throw OpFailure(.readonly, "\(op.request.nav) is virtual and cannot be changed")
  }

  /// Throws if a nav to create exists already, or if any other nav does not exist.
  mutating func checkExistence(_ op: OpContext, _ slot: NavSlot?) throws(OpFailure) {
    if op.isCreation {
      guard slot == nil else {
        throw OpFailure(.navExists, "\(op.request.nav) exists already")
      }
    } else if slot == nil, !op.isAboutAppearance || op.isClosing || op.request.isDry {
      throw OpFailure(.noNav, "there is no nav \(op.request.nav)")
    }
    assert(op.isCreation == (slot == nil) || op.isAboutAppearance)
  }

  /// Throws `shutting-down` while the daemon stops.
  mutating func checkStop() throws(OpFailure) {
    if isStopping { throw OpFailure(.shuttingDown) }
  }

  /// Throws `lease-lost` if an operation needs the display lease and another session holds it.
  mutating func checkDisplay(_ op: OpContext, _ slot: NavSlot?) throws(OpFailure) {
    guard !coordinations.isEmpty, let slot, let holder = coordinations[slot]?.displayHolder,
      holder != op.session.map(sessions.reference),
      op.request.kinds.contains(where: \.needsDisplayLease)
    else { return }
    throw OpFailure(.leaseLost(to: navs[slot].displayOwner))
  }

  // 8: the form.

  /// Checks that all operations of the op are well-formed and allowed on this kind of nav.
  ///
  /// `slot` is nil if the op creates the nav.
  mutating func checkForm(_ op: OpContext, _ slot: NavSlot?) throws(OpFailure) {
    try op.checkForm(
      isStandalone: slot.map { navs[$0].controller.isStandalone } ?? op.createsStandaloneBar)
  }

  /// Throws `guard-required` if the op lacks a guard that the nav's settings require.
  mutating func checkGuardPolicy(_ op: OpContext, _ slot: NavSlot?) throws(OpFailure) {
    guard let slot, !op.request.guards.any, !op.request.guards.fixesState else { return }
    assert(!op.isCreation, "the settings of a nav that is not there")
    try op.checkGuards(under: navs[slot].controller.guardPolicy)
  }

  // 9: the guards.

  /// Throws `desync` for the first guard that fails, see `NavEntry.check(_:)`.
  mutating func checkGuards(_ guards: borrowing Guards, _ slot: NavSlot) throws(OpFailure) {
    assert(navs[slot].directory == nil, "a virtual nav is not changed")
    try navs[slot].check(guards)
  }

  // 10: open transitions, questions and gestures.

  /// Whether the nav has an open transition or question, or the op is about a gesture.
  mutating func mayHaveToWait(_ op: OpContext, _ slot: NavSlot) -> Bool {
    assert(navs.isLive(slot))
    // Most ops find nothing open, so this comes first.
    if coordinations.isEmpty, navs[slot].controller.transition.isDefault {
      return op.isAboutGesture
    }
    return isBusy(slot) || op.isAboutGesture
  }

  private func isBusy(_ slot: NavSlot) -> Bool {
    navs[slot].transition != nil || coordinations[slot]?.question != nil
  }

  /// Throws if a gesture cannot begin, or belongs to another session.
  func checkGesture(_ op: OpContext, _ slot: NavSlot) throws(OpFailure) {
    let interrupts = interrupts(op, slot)
    let coordination = coordinations[slot]
    for (index, kind) in op.request.kinds.enumerated() {
      switch (kind, op.request.decodedOperation(index)) {
      case (.gestureBegin, .beginGesture(let isFull, let way, _)?):
        var refusal = navs[slot].controller.gestureRefusal(
          isFullScreen: isFull, translation: way, interrupts: interrupts)
        if coordination?.question != nil { refusal = .transitionOpen }
        if let refusal { throw OpFailure(OutgoingError(NavigationError.gestureRefused(refusal))) }
      case (.gestureUpdate, _), (.gestureFinish, _), (.gestureCancel, _):
        guard navs[slot].transition?.isInteractive == true,
          let owner = coordination?.gestureSession,
          owner != op.session.map(sessions.reference)
        else { continue }
        throw OpFailure(.gestureOwner, "the gesture is another session's")
      default: continue
      }
    }
  }

  /// Queues an op that must not run during a transition or question; throws if it does not want to
  /// wait, or if the queue is full.
  mutating func queue(_ op: OpContext, _ slot: NavSlot) throws(OpFailure) {
    guard busyPolicy(of: op, slot) != .reject else { throw OpFailure(inProgress(slot)) }
    let limit = navs[slot].controller.settings.content.waitingOpLimit
    guard UInt64(coordinations[slot]?.queue.count ?? 0) < limit else {
      throw OpFailure(
        OutgoingError(
          .queueFull, "no more than \(counted(limit, "op")) may wait",
          after: inProgress(slot).after))
    }
    if op.request.isDry { return rehearseWaiting(op, slot) }
    coordinations.update(slot, in: &batches) { $0.queue.append(op) }
    assert(UInt64(coordinations[slot]?.queue.count ?? 0) <= limit)
    let body = ServerMessageWriter.queued(
      id: op.request.id, nav: navs[slot].name, position: coordinations[slot]?.queue.count ?? 1
    )
    send(op.sender.connection, .queued, body)
  }

  /// Whether the nav has an open transition or question, and an operation must not run meanwhile.
  func mustWait(_ request: OpMessage, _ slot: NavSlot) -> Bool {
    guard isBusy(slot) else { return false }
    for index in request.kinds.indices where waits(index, of: request, slot) { return true }
    return false
  }

  private func waits(_ index: Int, of request: OpMessage, _ slot: NavSlot) -> Bool {
    if request.kinds[index].waitsForTransition { return true }
    guard case .activateButton(let id, let element)? = request.decodedOperation(index) else {
      return false
    }
    return navs[slot].controller.isPop(id, element: element)
  }

  private func inProgress(_ slot: NavSlot) -> OutgoingError {
    assert(isBusy(slot), "nothing is in progress")
    let end =
      coordinations[slot]?.question?.deadline ?? coordinations[slot]?.transitionDeadline ?? 0
    return .inProgress(navs[slot].transition, retryAfter: timer.millisecondsLeft(until: end))
  }

  // 12: the effect.

  /// Throws `storage` if the op would make a commit while the journal takes none.
  mutating func checkStorage(
    _ operations: [Operation], _ op: OpContext, _ slot: NavSlot
  ) throws(OpFailure) {
    guard batches.isStorageFailing else { return }
    assert(navs[slot].directory == nil)
    if (try? trial(operations, op, slot))?.result.commit != nil { throw OpFailure(.storage) }
  }

  /// Throws `storage` while the journal takes no commits, for a message that needs one.
  func checkStorage() throws(OpFailure) {
    if batches.isStorageFailing { throw OpFailure(.storage) }
  }
}
