import Navigation

// Transitions in time: their deadlines, the ops that wait for them, the display lease, and what ends
// when a session or the daemon does.

extension Hub {
  /// Changes a nav's coordination, and keeps for a rollback what it was before the batch.
  mutating func updateCoordination(_ slot: Int, _ change: (inout Coordination) -> Void) {
    var coordination = coordinations[slot] ?? Coordination()
    if batch.coordinationsBefore[slot] == nil { batch.coordinationsBefore[slot] = coordination }
    change(&coordination)
    coordinations[slot] = coordination.isEmpty && coordination.lastOrder == 0 ? nil : coordination
  }

  /// Puts back what a failed batch did to the coordinations, but for sessions that are gone meanwhile.
  mutating func restoreCoordinations(_ before: [Int: Coordination]) {
    for (slot, coordination) in before {
      var coordination = coordination
      coordination.delegates.removeAll { !isLive($0.session) }
      coordination.queue.removeAll { !isAwaited($0) }
      if let question = coordination.question, !isAwaited(question.op) {
        coordination.question?.op.session = nil
      }
      if let holder = coordination.holder, !isLive(holder) { coordination.holder = nil }
      if let gesture = coordination.gesture, !isLive(gesture) {
        coordination.gesture = nil
        coordination.due = clock.boot
      }
      coordinations[slot] = coordination.isEmpty && coordination.lastOrder == 0 ? nil : coordination
      unfinished.insert(slot)
    }
    if !before.isEmpty { plan(clock.boot + Self.retryAfter) }
  }

  /// Whether there may still be somebody to answer.
  private func isAwaited(_ op: OpContext) -> Bool {
    guard let session = op.session else { return true }
    return isLive(SessionRef(slot: session, client: op.key.client))
  }

  /// Milliseconds until what the journal did not take is tried again.
  private static var retryAfter: UInt64 { 1000 }

  func isLive(_ ref: SessionRef) -> Bool {
    sessions.isLive(ref.slot) && sessions[ref.slot].client == ref.client
  }

  func reference(_ session: Int) -> SessionRef {
    SessionRef(slot: session, client: sessions[session].client)
  }

  // Step 10: what is open.

  /// Refuses an op that must not touch an open transition, or lets it wait; returns whether it waits.
  mutating func waits(_ op: OpContext, _ slot: Int) throws(OpFailure) -> Bool {
    // By far the most ops find nothing open.
    if coordinations.isEmpty, navs[slot].controller.transition.isDefault, !op.touchesGesture {
      return false
    }
    let running = navs[slot].controller.transition.content.running
    let coordination = coordinations[slot]
    guard running != nil || coordination?.question != nil || op.touchesGesture else { return false }
    try checkGesture(op, slot, running, coordination)
    guard running != nil || coordination?.question != nil,
      op.request.operations.contains(where: { waits($0, of: op.request, slot) })
    else { return false }
    guard op.request.waits else { throw inProgress(slot, running, coordination) }
    let limit = navs[slot].controller.settings.content.queue
    guard UInt64(coordination?.queue.count ?? 0) < limit else {
      var error = OutgoingError(.queueFull, "no more than \(counted(limit, "op")) may wait")
      error.after = inProgress(slot, running, coordination).error.after
      throw OpFailure(error)
    }
    updateCoordination(slot) { $0.queue.append(op) }
    let body = ServerMessageWriter.queued(
      id: op.request.id, nav: navs[slot].name, position: coordinations[slot]?.queue.count ?? 1)
    send(op.sender.connection, .queued, body)
    return true
  }

  private func waits(
    _ operation: RequestedOperation, of request: OpMessage, _ slot: Int
  ) -> Bool {
    if operation.kind.waitsForTransition { return true }
    guard case .activateButton(let id)? = request.meaning(of: operation) else { return false }
    return navs[slot].controller.isPopButton(id)
  }

  private func inProgress(
    _ slot: Int, _ running: RunningTransition?, _ coordination: Coordination?
  ) -> OpFailure {
    var error = OutgoingError(
      .transitionInProgress,
      running.map { "transition \($0.id.number) is under way" } ?? "a delegate is being asked")
    if let running {
      error.details = [("tid", JSONWriter.value { $0.integer(running.id.number) })]
    }
    let end = coordination?.question?.deadline ?? coordination?.due ?? 0
    error.after = end > clock.boot ? end - clock.boot : 100
    return OpFailure(error)
  }

  private func checkGesture(
    _ op: OpContext, _ slot: Int, _ running: RunningTransition?, _ coordination: Coordination?
  ) throws(OpFailure) {
    for operation in op.request.operations {
      switch (operation.kind, op.request.meaning(of: operation)) {
      case (.gestureBegin, .transition(.beginGesture(let isFull, let way, _))?):
        var refusal = navs[slot].controller.gestureRefusal(isFullScreen: isFull, translation: way)
        if coordination?.question != nil { refusal = .active }
        if let refusal { throw OpFailure(OutgoingError(NavigationError.gestureRefused(refusal))) }
      case (.gestureUpdate, _), (.gestureFinish, _), (.gestureCancel, _):
        guard running?.isInteractive == true, let owner = coordination?.gesture,
          owner != op.session.map(reference)
        else { continue }
        throw OpFailure(.gestureOwner, "the gesture is another session's")
      default: continue
      }
    }
  }

  /// Step 7: who may act for the display.
  mutating func checkDisplay(_ op: OpContext, _ slot: Int) throws(OpFailure) {
    guard !coordinations.isEmpty, let holder = coordinations[slot]?.holder,
      holder != op.session.map(reference),
      op.request.operations.contains(where: \.kind.needsDisplay)
    else { return }
    throw leaseLost(slot)
  }

  private func leaseLost(_ slot: Int) -> OpFailure {
    let owner = navs[slot].controller.environment.content.owner ?? ""
    var error = OutgoingError(.leaseLost, "\(owner) holds the display")
    error.details = [("owner", JSONWriter.value { $0.string(owner) })]
    return OpFailure(error)
  }

  // Transitions.

  /// Sets the clock of a transition that a commit began or ended, and lets the next op run.
  mutating func noteTransition(_ slot: Int, begunBy op: OpContext?) {
    let controller = navs[slot].controller
    guard let running = controller.transition.content.running else {
      updateCoordination(slot) {
        $0.due = nil
        $0.gesture = nil
      }
      return runQueue(slot)
    }
    // One that goes on, and only had something attached to it, keeps its time and its owner.
    guard running.id == controller.revision else { return }
    let due = clock.boot + running.deadline
    let owner = running.isInteractive ? op?.session.map(reference) : nil
    updateCoordination(slot) {
      $0.due = due
      $0.gesture = owner
    }
    plan(due)
  }

  mutating func tellProgress(of slot: Int, _ transition: Revision, _ value: Double) {
    let deadline = navs[slot].controller.settings.content.gestureDeadline
    let due = clock.boot + deadline
    updateCoordination(slot) { $0.due = due }
    plan(due)
    let body = ServerMessageWriter.progress(
      nav: navs[slot].name, epoch: navs[slot].epoch, revision: navs[slot].controller.revision,
      transition: transition, value: Array("\(value)".utf8))
    batch.effects.removeAll { if case .progress(slot, _) = $0 { true } else { false } }
    batch.effects.append(.progress(nav: slot, body))
  }

  /// Runs the ops that waited, as long as nothing is open.
  mutating func runQueue(_ slot: Int) {
    while navs.isLive(slot), navs[slot].controller.transition.content.running == nil,
      let coordination = coordinations[slot], coordination.question == nil,
      var op = coordination.queue.first
    {
      updateCoordination(slot) { $0.queue.removeFirst() }
      op.now = clock
      do throws(OpFailure) {
        if let due = op.request.due, due < clock.boot {
          throw OpFailure(.expired, "the op was due \(clock.boot - due) ms ago")
        }
        try proceedAgain(op, slot)
      } catch {
        fail(op, error)
      }
    }
  }

  /// What the daemon itself does to a nav: one revision, if it changes anything.
  ///
  /// While the journal takes none it is done later.
  mutating func commitOwn(
    _ operation: TransitionOperation, cause: Cause, by: Doing? = nil, _ slot: Int
  ) {
    guard navs[slot].fault == nil else { return }
    guard !isStorageFailing else {
      unfinished.insert(slot)
      return plan(clock.boot + Self.retryAfter)
    }
    let before = stateToInspect(slot)
    let result = try? navs[slot].controller.perform(
      [.transition(operation)], isAnimated: nil, in: context)
    guard let commit = result?.commit, (try? inspect(slot, before: before)) != nil else {
      return
    }
    write(commit, slot, cause: cause, by: by, at: clock)
    if commit.parts.contains(.transition) { noteTransition(slot, begunBy: nil) }
  }

  /// Ends what a dead daemon left open, before anybody is served.
  mutating func recover(_ slot: Int) {
    guard navs[slot].controller.isOpen else { return }
    commitOwn(.recover, cause: .recovery, slot)
  }

  /// Deadlines of transitions and questions, and endings that the journal would not take.
  mutating func tendCoordinations(at now: Instant) {
    for slot in coordinations.keys.sorted() where navs.isLive(slot) {
      if let question = coordinations[slot]?.question {
        if question.deadline <= now.boot { timeOut(slot) } else { plan(question.deadline) }
      }
      guard let due = coordinations[slot]?.due else { continue }
      guard due <= now.boot else {
        plan(due)
        continue
      }
      let isGesture = navs[slot].controller.transition.content.running?.isInteractive == true
      commitOwn(.expire, cause: isGesture ? .cancel : .timeout, slot)
    }
    guard !isStorageFailing else {
      if !unfinished.isEmpty { plan(now.boot + Self.retryAfter) }
      return
    }
    let left = unfinished.sorted()
    unfinished = []
    for slot in left where navs.isLive(slot) { finishEndings(slot) }
  }

  /// Brings the state in line with the sessions that are left.
  private mutating func finishEndings(_ slot: Int) {
    let coordination = coordinations[slot] ?? Coordination()
    if navs[slot].controller.environment.content.owner != nil, coordination.holder == nil {
      commitOwn(
        .setDisplayOwner(nil), cause: .lease, by: coordination.owner.map { Doing($0) }, slot)
    }
    if coordination.holder == nil, coordination.owner != nil {
      updateCoordination(slot) { $0.owner = nil }
    }
    if let pending = coordination.question?.pending, !isLive(pending.session) { timeOut(slot) }
    let orientations = coordination.delegates.last { $0.roles.contains(.orientation) }?.orientations
    commitOwn(.setOrientations(orientations), cause: .lease, slot)
    runQueue(slot)
  }

  // The display lease.

  mutating func lease(_ request: LeaseRequest, for sender: Sender, session: Int) {
    do throws(OpFailure) {
      let slot = try dialogNav(request.nav, sender)
      let ref = reference(session)
      let holder = coordinations[slot]?.holder
      if request.takes {
        if let holder, holder != ref { try checkTakeover(request, slot, sender) }
        if isStorageFailing { throw storageFailure() }
        let author = sessions[session].author
        updateCoordination(slot) {
          $0.holder = ref
          $0.owner = author
        }
        var doing = Doing(author, op: request.id)
        if holder != nil, holder != ref {
          doing.isForced = true
          auditTakeover(sender, author.name, slot)
          cancelGesture(slot, by: author)
        }
        commitOwn(.setDisplayOwner(author.name), cause: .lease, by: doing, slot)
        try checkFrozen(slot)
      } else if holder == ref {
        if isStorageFailing { throw storageFailure() }
        releaseDisplay(slot, by: request.id)
      }
      let owner =
        coordinations[slot]?.holder == nil ? nil : navs[slot].controller.environment.content.owner
      let body = ServerMessageWriter.leased(id: request.id, nav: request.nav, owner: owner)
      answer(sender, session, slot, body, .none)
    } catch {
      var error = error.error
      error.id = request.id
      refuse(sender, error, about: request.nav)
    }
  }

  private func checkTakeover(
    _ request: LeaseRequest, _ slot: Int, _ sender: Sender
  ) throws(OpFailure) {
    guard request.isForced else { throw leaseLost(slot) }
    let rights = access.rights(of: sender.peer, on: request.nav, owner: navs[slot].owner)
    guard rights.contains(.admin) else {
      throw OpFailure(.forbidden, "taking the display over needs the right admin")
    }
  }

  /// The nav of a lease or delegate message, whose sender may push.
  mutating func dialogNav(_ nav: String, _ sender: Sender) throws(OpFailure) -> Int {
    let slot = navSlots[nav]
    let rights = access.rights(
      of: sender.peer, on: nav, owner: slot.map { navs[$0].owner })
    guard rights.contains(.push) else {
      throw OpFailure(.forbidden, "\(sender.peer.principal) may not do this on \(nav)")
    }
    guard let slot else { throw OpFailure(.noNav, "there is no nav \(nav)") }
    guard navs[slot].directory == nil else {
      throw OpFailure(.readonly, "\(nav) is virtual and cannot be changed")
    }
    try checkFrozen(slot)
    return slot
  }

  /// The holder gives the display back: by a message, or by the end of its session.
  private mutating func releaseDisplay(_ slot: Int, by message: UInt64?) {
    let owner = coordinations[slot]?.owner
    let isDelayed = isStorageFailing
    updateCoordination(slot) {
      $0.holder = nil
      if !isDelayed { $0.owner = nil }
    }
    cancelGesture(slot, by: owner)
    let doing = owner.map { Doing($0, op: message) }
    commitOwn(.setDisplayOwner(nil), cause: .lease, by: doing, slot)
  }

  /// Cancels an open gesture, because of what `author` did or whose session ended.
  private mutating func cancelGesture(_ slot: Int, by author: Author?) {
    guard navs[slot].controller.transition.content.running?.isInteractive == true else { return }
    // Should the journal not take it now, it is overdue until it does.
    let now = clock.boot
    updateCoordination(slot) {
      $0.gesture = nil
      $0.due = now
    }
    commitOwn(.expire, cause: .cancel, by: author.map { Doing($0) }, slot)
  }

  // The end of sessions and navs.

  /// Ends everything that belongs to a session that is gone.
  mutating func endCoordinations(of ref: SessionRef) {
    for slot in coordinations.keys.sorted() where navs.isLive(slot) {
      endCoordination(of: ref, on: slot)
    }
  }

  /// Ends everything that belongs to a session on one nav.
  ///
  /// Ops of a session that lives on stay: they are judged once more when their turn comes.
  mutating func endCoordination(of ref: SessionRef, on slot: Int, keepsOps: Bool = false) {
    guard let coordination = coordinations[slot] else { return }
    let leaving = coordination.delegates.first { $0.session == ref }
    updateCoordination(slot) {
      $0.delegates.removeAll { $0.session == ref }
      if !keepsOps { $0.queue.removeAll { $0.session == ref.slot } }
    }
    if !keepsOps, let question = coordination.question, question.op.session == ref.slot {
      abandon(question, slot)
    }
    if coordination.holder == ref { releaseDisplay(slot, by: nil) }
    if coordination.gesture == ref { cancelGesture(slot, by: nil) }
    if let leaving, leaving.roles.contains(.orientation) {
      giveOrientations(slot, by: Doing(leaving.author))
    }
    if leaving != nil, coordinations[slot]?.question?.pending?.session == ref { timeOut(slot) }
  }

  /// Nobody waits for the answer to the op that is being asked about any more: it goes on, but a
  /// gesture would have no finger.
  private mutating func abandon(_ question: DelegateQuestion, _ slot: Int) {
    guard question.op.touchesGesture else {
      return updateCoordination(slot) { $0.question?.op.session = nil }
    }
    endQuestion(question.asked, "denied", by: nil)
    updateCoordination(slot) { $0.question = nil }
    runQueue(slot)
  }

  mutating func giveOrientations(_ slot: Int, by doing: Doing) {
    let value = coordinations[slot]?.delegates.last { $0.roles.contains(.orientation) }?
      .orientations
    commitOwn(.setOrientations(value), cause: doing.op == nil ? .lease : .api, by: doing, slot)
  }

  /// A nav is closed: what waits for it is told so.
  mutating func dropCoordination(of slot: Int) {
    guard let coordination = coordinations[slot] else { return }
    updateCoordination(slot) { $0 = Coordination() }
    coordinations[slot] = nil
    let failure = OpFailure(.noNav, "\(navs[slot].name) was closed")
    if let question = coordination.question {
      endQuestion(question.asked, "denied", by: nil)
      fail(question.op, failure)
    }
    for op in coordination.queue { fail(op, failure) }
  }

  /// Whether the op is on its way already; then only the place to send the answer to is new.
  mutating func repeats(_ op: OpContext) -> Bool {
    guard !coordinations.isEmpty, let slot = navSlots[op.request.nav],
      let coordination = coordinations[slot]
    else { return false }
    func isSame(_ other: OpContext) -> Bool {
      other.key == op.key && other.request.id == op.request.id
        && other.octets == op.octets
    }
    if let question = coordination.question, isSame(question.op) {
      updateCoordination(slot) {
        $0.question?.op.sender = op.sender
        $0.question?.op.session = op.session
      }
      return true
    }
    guard let index = coordination.queue.firstIndex(where: isSame) else { return false }
    updateCoordination(slot) { $0.queue[index] = op }
    let body = ServerMessageWriter.queued(
      id: op.request.id, nav: navs[slot].name, position: index + 1)
    send(op.sender.connection, .queued, body)
    return true
  }
}

extension OpContext {
  var touchesGesture: Bool {
    request.operations.contains {
      switch $0.kind {
      case .gestureBegin, .gestureUpdate, .gestureFinish, .gestureCancel: true
      default: false
      }
    }
  }
}
