import NavigationCore

// Deadlines of transitions, the ops that wait for them, and the display lease. Also the effects on
// a nav when a session ends, a nav is closed or the daemon stops.

extension Hub {
  /// Milliseconds after which the hub retries to record an ending, while commits fail.
  static var endingRetryMilliseconds: UInt64 { 1000 }

  // Transitions.

  /// Sets the deadline of a transition that has begun, or runs the waiting ops if it has ended, unless an
  /// op that interrupted it is still to be performed.
  mutating func updateTransitionDeadline(
    _ slot: NavSlot, begunBy op: OpContext?, isInterrupted: Bool = false
  ) {
    guard let running = navs[slot].transition else {
      coordinations.update(slot, in: &batches) {
        $0.transitionDeadline = nil
        $0.gestureSession = nil
      }
      return isInterrupted ? () : runQueue(slot)
    }
    assert(running.id <= navs[slot].revision, "a transition that has not begun")
    // A transition that began earlier keeps its deadline and its owner.
    guard running.id == navs[slot].revision else { return }
    let due = timer.now.boot + running.timeLimitMilliseconds
    let owner = running.isInteractive ? op?.session.map(sessions.reference) : nil
    coordinations.update(slot, in: &batches) {
      $0.transitionDeadline = due
      $0.gestureSession = owner
      $0.gestureProgress = 0
    }
    timer.plan(due)
  }

  /// Whether an op ends the open transition instead of waiting for its end; a question it waits for.
  func interrupts(_ op: OpContext, _ slot: NavSlot) -> Bool {
    wouldInterrupt(op, slot) && coordinations[slot]?.question == nil
  }

  func wouldInterrupt(_ op: OpContext, _ slot: NavSlot) -> Bool {
    navs[slot].transition != nil && busyPolicy(of: op, slot) == .interrupt
      && (op.request.kinds.contains(.gestureBegin) || mustWait(op.request, slot))
  }

  func busyPolicy(of op: OpContext, _ slot: NavSlot) -> BusyPolicy {
    op.request.onBusy ?? navs[slot].controller.settings.content.onBusy
  }

  /// Commits the end of the transition before an op that begins from there; throws if the journal does
  /// not take it.
  mutating func interruptTransition(before op: OpContext, _ slot: NavSlot) throws(OpFailure) {
    let end = Operation.interruptTransition(progress: transitionProgress(slot))
    let author = op.session.map { sessions[$0].author }
    commitDaemonOperation(end, cause: .interrupt, by: author.map { ChangeOrigin(author: $0) }, slot)
    try checkFrozen(slot)
    guard navs[slot].transition == nil else { throw OpFailure(.storage) }
  }

  /// How far the transition has come, from 0 to 1, in thousandths; nil if nobody said how long it takes.
  private func transitionProgress(_ slot: NavSlot) -> Double? {
    guard let running = navs[slot].transition, let coordination = coordinations[slot],
      let end = coordination.transitionDeadline
    else { return nil }
    guard !running.isInteractive else { return coordination.gestureProgress }
    guard let duration = running.durationMilliseconds, duration > 0 else { return nil }
    let latest = timer.now.boot + running.timeLimitMilliseconds
    return Double(min(1000, (latest - min(end, latest)) * 1000 / duration)) / 1000
  }

  mutating func publishProgress(of slot: NavSlot, _ transition: Revision, _ value: Double) {
    assert(value >= 0 && value <= 1, "\(value) of the way")
    assert(navs[slot].transition?.id == transition)
    let due = timer.now.boot + navs[slot].controller.settings.content.gestureDeadlineMilliseconds
    coordinations.update(slot, in: &batches) {
      $0.transitionDeadline = due
      $0.gestureProgress = value
    }
    timer.plan(due)
    let body = ServerMessageWriter.progress(
      nav: navs[slot].name, epoch: navs[slot].epoch, revision: navs[slot].controller.revision,
      transition: transition, value: Array("\(value)".utf8))
    batches.current.effects.removeAll { if case .progress(slot, _) = $0 { true } else { false } }
    batches.append(.progress(nav: slot, body))
  }

  /// Decides the waiting ops in order, until one opens a transition or a question.
  mutating func runQueue(_ slot: NavSlot) {
    while navs.isLive(slot), navs[slot].transition == nil, let coordination = coordinations[slot],
      coordination.question == nil, var op = coordination.queue.first
    {
      coordinations.update(slot, in: &batches) { $0.queue.removeFirst() }
      assert(navs.slot(of: op.request.nav) == slot, "an op waits for another nav")
      op.now = timer.now
      decide(op, .waited)
    }
  }

  /// Performs an operation of navd itself, as one revision if it changes anything; none at a nav that
  /// is being closed, because no row may follow the closing.
  ///
  /// While the journal takes no commits, the hub only notes the nav, and retries later.
  mutating func commitDaemonOperation(
    _ operation: Operation, cause: Cause, by: ChangeOrigin? = nil, _ slot: NavSlot
  ) {
    assert(navs.isLive(slot))
    assert(navs[slot].directory == nil, "a virtual nav is not changed")
    guard navs[slot].fault == nil, navs.hasName(slot), !batches.isUnsound else { return }
    guard !batches.isStorageFailing else {
      coordinations.postponeEnding(slot)
      return timer.plan(timer.now.boot + Self.endingRetryMilliseconds)
    }
    let before = navs[slot].controller
    let result = try? navs[slot].controller.perform([operation], isAnimated: nil, in: context)
    guard let commit = result?.commit, (try? freezeIfUnsound(slot, restoring: before)) != nil else {
      return
    }
    recordDaemonCommit(commit, slot, cause: cause, by: by, at: timer.now)
    guard commit.parts.contains(.transition) else { return }
    // The ops that wait run after the one that interrupts.
    updateTransitionDeadline(slot, begunBy: nil, isInterrupted: cause == .interrupt)
  }

  /// Ends the transition, gesture and display lease that the last run of the daemon left open in a
  /// nav.
  mutating func recover(_ slot: NavSlot) {
    guard navs[slot].controller.needsRecovery else { return }
    commitDaemonOperation(.recoverAfterRestart, cause: .recovery, slot)
    assert(
      !navs[slot].controller.needsRecovery || navs[slot].fault != nil || batches.isStorageFailing)
  }

  /// Times out transitions and questions, and retries endings that the journal did not take.
  mutating func expireCoordinations(at now: Instant) {
    for slot in coordinations.slots where navs.isLive(slot) {
      if let deadline = coordinations[slot]?.question?.deadline {
        if deadline <= now.boot { timeOutQuestion(slot) } else { timer.plan(deadline) }
      }
      guard let due = coordinations[slot]?.transitionDeadline else { continue }
      guard due <= now.boot else {
        timer.plan(due)
        continue
      }
      let isGesture = navs[slot].transition?.isInteractive == true
      commitDaemonOperation(.expireTransition, cause: isGesture ? .cancel : .timeout, slot)
    }
    guard !batches.isStorageFailing else {
      if coordinations.hasUnrecordedEndings { timer.plan(now.boot + Self.endingRetryMilliseconds) }
      return
    }
    for slot in coordinations.takeUnrecordedEndings(in: &batches) where navs.isLive(slot) {
      recordPostponedEndings(slot)
    }
  }

  /// Commits the endings of transition, lease and orientations that could not be recorded before.
  private mutating func recordPostponedEndings(_ slot: NavSlot) {
    assert(!batches.isStorageFailing)
    let coordination = coordinations[slot] ?? Coordination()
    // A former run left it open, and the journal took no commits at the start.
    if navs[slot].transition != nil, coordination.transitionDeadline == nil {
      commitDaemonOperation(.expireTransition, cause: .recovery, slot)
    }
    if navs[slot].controller.environment.content.owner != nil, coordination.displayHolder == nil {
      commitDaemonOperation(
        .setDisplayOwner(nil), cause: .lease,
        by: coordination.displayAuthor.map { ChangeOrigin(author: $0) }, slot
      )
    }
    if coordination.displayHolder == nil, coordination.displayAuthor != nil {
      coordinations.update(slot, in: &batches) { $0.displayAuthor = nil }
    }
    if let pending = coordination.question?.pendingAsk, !sessions.isLive(pending.session) {
      timeOutQuestion(slot)
    }
    commitDaemonOperation(.setOrientations(coordination.orientations), cause: .lease, slot)
    runQueue(slot)
  }

  // The display lease.

  mutating func lease(_ request: LeaseRequest, for sender: Sender, session: SessionSlot) {
    do throws(OpFailure) {
      let slot = try coordinatedNav(request.nav, sender)
      let ref = sessions.reference(to: session)
      let holder = coordinations[slot]?.displayHolder
      if request.action != .release {
        if let holder, holder != ref { try checkTakeover(request, slot, sender) }
        try checkStorage()
        let author = sessions[session].author
        coordinations.update(slot, in: &batches) {
          $0.displayHolder = ref
          $0.displayAuthor = author
        }
        var doing = ChangeOrigin(author: author, op: request.id)
        if holder != nil, holder != ref {
          doing.isForced = true
          logTakeover(sender, author.name, slot)
          cancelGesture(slot, by: author)
        }
        commitDaemonOperation(.setDisplayOwner(author.name), cause: .lease, by: doing, slot)
        if let holder, holder != ref {
          sendLost(
            "lease", slot, .leaseLost, "another session has taken the display",
            owner: author.name, to: holder)
        }
        try checkFrozen(slot)
      } else if holder == ref {
        try checkStorage()
        releaseDisplay(slot, by: request.id)
      }
      let owner =
        coordinations[slot]?.displayHolder == nil
        ? nil : navs[slot].controller.environment.content.owner
      let body = ServerMessageWriter.leased(id: request.id, nav: request.nav, owner: owner)
      answer(sender, session, slot, body, .none)
    } catch {
      refuse(sender, error, request.id, about: request.nav)
    }
  }

  private func checkTakeover(
    _ request: LeaseRequest, _ slot: NavSlot, _ sender: Sender
  ) throws(OpFailure) {
    assert(coordinations[slot]?.displayHolder != nil, "nobody to take over from")
    guard request.action == .force else {
      throw OpFailure(.leaseLost(to: navs[slot].displayOwner))
    }
    guard rights(of: sender.peer, onNavAt: slot).contains(.admin) else {
      throw OpFailure(.forbidden, "taking the display over needs the right admin")
    }
  }

  /// Returns the nav of a lease or delegate message; throws unless the sender may push there.
  mutating func coordinatedNav(_ nav: String, _ sender: Sender) throws(OpFailure) -> NavSlot {
    let slot = navs.slot(of: nav)
    let rights = access.rights(of: sender.peer, on: nav, owner: slot.map { navs[$0].owner })
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

  /// Ends the display lease: its holder released it by `message`, or its session ended if nil.
  private mutating func releaseDisplay(_ slot: NavSlot, by message: UInt64?) {
    let owner = coordinations[slot]?.displayAuthor
    let isDelayed = batches.isStorageFailing
    coordinations.update(slot, in: &batches) {
      $0.displayHolder = nil
      if !isDelayed { $0.displayAuthor = nil }
    }
    cancelGesture(slot, by: owner)
    assert(coordinations[slot]?.displayHolder == nil)
    let doing = owner.map { ChangeOrigin(author: $0, op: message) }
    commitDaemonOperation(.setDisplayOwner(nil), cause: .lease, by: doing, slot)
  }

  /// Cancels an open gesture; the row names `author`, if given.
  private mutating func cancelGesture(_ slot: NavSlot, by author: Author?) {
    guard navs[slot].transition?.isInteractive == true else { return }
    // If the journal takes no commit now, the gesture stays overdue until one succeeds.
    let now = timer.now.boot
    coordinations.update(slot, in: &batches) {
      $0.gestureSession = nil
      $0.transitionDeadline = now
    }
    commitDaemonOperation(
      .expireTransition, cause: .cancel, by: author.map { ChangeOrigin(author: $0) }, slot)
  }

  // The end of sessions and navs.

  /// Ends the roles, lease, gesture and waiting ops of an ended session in all navs.
  mutating func endCoordinations(of ref: SessionRef) {
    for slot in coordinations.slots where navs.isLive(slot) {
      endCoordination(of: ref, on: slot)
    }
  }

  /// Ends the roles, lease, gesture and waiting ops of a session in one nav.
  ///
  /// `keepsOps` is for a session that goes on: its waiting ops stay, and are checked again when
  /// their turn comes.
  mutating func endCoordination(of ref: SessionRef, on slot: NavSlot, keepsOps: Bool = false) {
    guard let coordination = coordinations[slot] else { return }
    let leaving = coordination.delegates.first { $0.session == ref }
    coordinations.update(slot, in: &batches) {
      $0.delegates.removeAll { $0.session == ref }
      if !keepsOps { $0.queue.removeAll { $0.session == ref.slot } }
    }
    if !keepsOps, let question = coordination.question, question.op.session == ref.slot {
      detachRequester(from: question, slot)
    }
    // A session that goes on has lost the right `push`.
    if keepsOps {
      sendLosses(of: coordination, slot, .forbidden, "the right push has ended") { $0 == ref }
    }
    if coordination.displayHolder == ref { releaseDisplay(slot, by: nil) }
    if coordination.gestureSession == ref { cancelGesture(slot, by: nil) }
    if let leaving, leaving.roles.contains(.orientation) {
      commitOrientations(slot, by: ChangeOrigin(author: leaving.author))
    }
    assert(coordinations[slot]?.displayHolder != ref, "who has left holds the display")
    assert(coordinations[slot]?.delegates.contains { $0.session == ref } != true)
    if let leaving, coordinations[slot]?.question?.pendingAsk?.session == ref {
      timeOutQuestion(slot, "\(leaving.author.name) is no veto delegate any more")
    }
  }

  /// Handles the end of the session that sent the op about which delegates are being asked.
  ///
  /// The op goes on without a session; an op that begins a gesture is dropped.
  private mutating func detachRequester(from question: DelegateQuestion, _ slot: NavSlot) {
    assert(coordinations[slot]?.question != nil)
    guard question.op.isAboutGesture else {
      return coordinations.update(slot, in: &batches) { $0.question?.op.session = nil }
    }
    sendSettled(question.sentAsks, "denied", by: nil)
    coordinations.update(slot, in: &batches) { $0.question = nil }
    runQueue(slot)
  }

  mutating func commitOrientations(_ slot: NavSlot, by doing: ChangeOrigin) {
    let value = coordinations[slot]?.orientations
    commitDaemonOperation(
      .setOrientations(value), cause: doing.op == nil ? .lease : .api, by: doing, slot)
  }

  /// Sends `lost` to sessions for their delegate roles and their display lease in a nav.
  private mutating func sendLosses(
    of coordination: Coordination, _ slot: NavSlot, _ code: ErrorCode, _ text: String,
    to isMeant: (SessionRef) -> Bool
  ) {
    for delegate in coordination.delegates where isMeant(delegate.session) {
      sendLost("delegate", slot, code, text, to: delegate.session)
    }
    guard let holder = coordination.displayHolder, isMeant(holder) else { return }
    sendLost("lease", slot, code, text, to: holder)
  }

  /// Sends `lost` to a session that has not ended; names `owner` only if the session may read
  /// there.
  private mutating func sendLost(
    _ what: String, _ slot: NavSlot, _ code: ErrorCode, _ text: String, owner: String? = nil,
    to ref: SessionRef
  ) {
    guard sessions.isLive(ref) else { return }
    let session = sessions[ref.slot]
    let mayRead = owner != nil && rights(of: session.peer, onNavAt: slot).contains(.read)
    let body = ServerMessageWriter.lost(
      what, of: navs[slot].name, code, text, owner: mayRead ? owner : nil)
    send(session.connection, .lost, body)
  }

  /// Refuses the ops that wait at a nav which is closed, and ends its question.
  mutating func dropCoordination(of slot: NavSlot) {
    guard let coordination = coordinations.remove(slot, in: &batches) else { return }
    let failure = OpFailure(.noNav, "\(navs[slot].name) was closed")
    sendLosses(of: coordination, slot, .noNav, failure.error.text) { _ in true }
    if let question = coordination.question {
      sendSettled(question.sentAsks, "denied", by: nil)
      refuse(question.op, failure)
    }
    assert(coordinations[slot] == nil, "something is under way to a nav that is closed")
    for op in coordination.queue { refuse(op, failure) }
  }

  /// Returns whether the same op, sent before, waits already; if so, the new sender gets its
  /// answer.
  mutating func joinsWaitingOp(_ op: OpContext) -> Bool {
    guard !coordinations.isEmpty, let slot = navs.slot(of: op.request.nav),
      let position = coordinations[slot]?.queuePosition(of: op)
    else { return false }
    coordinations.update(slot, in: &batches) { $0.replaceWaitingOp(at: position, by: op) }
    if position > 0 {
      let body = ServerMessageWriter.queued(
        id: op.request.id, nav: navs[slot].name, position: position)
      send(op.sender.connection, .queued, body)
    }
    return true
  }
}

extension OpContext {
  var isAboutGesture: Bool {
    !request.kinds.areOrdinary
      && request.kinds.contains {
        switch $0 {
        case .gestureBegin, .gestureUpdate, .gestureFinish, .gestureCancel: true
        default: false
        }
      }
  }
}
