import NavigationCore

// Questions to delegates: the choice of the next delegate, and the effects of the answers.

extension Hub {
  mutating func register(_ request: DelegateRequest, for sender: Sender, session: SessionSlot) {
    do throws(OpFailure) {
      let slot = try coordinatedNav(request.nav, sender)
      let ref = sessions.reference(to: session)
      let author = sessions[session].author
      let gaveOrientations = coordinations[slot]?.has(.orientation, ref) ?? false
      if gaveOrientations || request.roles.contains(.orientation) { try checkStorage() }
      coordinations.update(slot, in: &batches) {
        $0.register(request.roles, of: ref, author, request.orientations)
      }
      if gaveOrientations || request.roles.contains(.orientation) {
        commitOrientations(slot, by: ChangeOrigin(author: author, op: request.id))
      }
      if !request.roles.contains(.veto), coordinations[slot]?.question?.pendingAsk?.session == ref {
        timeOutQuestion(slot, "\(author.name) is no veto delegate any more")
      }
      let body = ServerMessageWriter.ok(id: request.id, nav: request.nav)
      answer(sender, session, slot, body, .none)
      if request.roles.contains(.veto) { askReturnedDelegate(slot) }
    } catch {
      refuse(sender, error, request.id, about: request.nav)
    }
  }

  // Step 13 of protocol §9.4.

  /// Asks the delegates about an op if the nav's settings require it; returns whether the op waits
  /// for their answers.
  mutating func asksDelegates(
    _ operations: [Operation], _ op: OpContext, _ slot: NavSlot
  ) throws(OpFailure) -> Bool {
    guard mayAskDelegates(slot) else { return false }
    let settings = navs[slot].controller.settings.content
    let (candidate, result) = try trial(operations, op, slot)
    guard let commit = result.commit else { return false }
    let inquiry = inquiry(about: commit, candidate, op, slot)
    var question = DelegateQuestion(
      op: op, subjects: inquiry.subjects, cause: op.cause(of: result.outputs),
      deadline: timer.now.boot + settings.veto.deadlineMilliseconds)
    // What a former question of the op was spared does not count for this one.
    question.op.isVetoSkipped = false
    if !inquiry.hasVeto {
      if !question.subjects.isEmpty, settings.veto.requiresDelegate {
        if let end = delegateDeadlineAfterMove(
          of: slot, graceMilliseconds: settings.veto.deadlineMilliseconds)
        {
          (question.deadline, question.awaitsVetoDelegate) = (end, true)
          coordinations.update(slot, in: &batches) { $0.question = question }
          timer.plan(end)
          return true
        }
        guard settings.veto.allowsOnTimeout else {
          throw OpFailure(.delegateTimeout, "a veto delegate is required, and none is registered")
        }
        question.op.isVetoSkipped = true
      }
      question.subjects = []
    }
    guard question.op.isVetoSkipped || !question.subjects.isEmpty || inquiry.takesAnimator else {
      return false
    }
    assert(coordinations[slot]?.question == nil, "two questions at a time")
    continueAsking(question, slot)
    return true
  }

  /// Whether a nav has delegates, or its settings require one.
  @inline(__always)
  private mutating func mayAskDelegates(_ slot: NavSlot) -> Bool {
    if coordinations.isEmpty, navs[slot].controller.settings.isDefault { return false }
    let isRequired =
      !navs[slot].controller.settings.isDefault
      && navs[slot].controller.settings.content.veto.requiresDelegate
    return coordinations[slot]?.delegates.isEmpty == false || isRequired
  }

  /// Returns the screens about which an op that leads to `candidate` asks veto delegates, whether there
  /// are any, and whether an animator is asked.
  func inquiry(
    about commit: Commit, _ candidate: NavigationController, _ op: OpContext, _ slot: NavSlot
  ) -> (subjects: [DelegateQuestion.Subject], hasVeto: Bool, takesAnimator: Bool) {
    let delegates = coordinations[slot]?.delegates ?? []
    let current = navs[slot].controller
    let subjects = op.subjects(
      of: commit, current.presentedScreens.map(\.id), candidate, current.settings.content)
    let animates =
      candidate.transition.content.running.map { $0.id == commit.revision && $0.takesAnimator }
      ?? false
    let hasVeto = delegates.contains { $0.roles.contains(.veto) }
    let hasAnimator = delegates.contains { $0.roles.contains(.animator) }
    return (subjects, hasVeto, animates && hasAnimator)
  }

  /// The time until which delegates may register again at a nav that has just moved to this daemon;
  /// nil if there is none, or it has passed.
  func delegateDeadlineAfterMove(of slot: NavSlot, graceMilliseconds grace: UInt64) -> UInt64? {
    guard let arrival = shards.arrival(of: navs[slot].shard) else { return nil }
    return arrival + grace > timer.now.boot ? arrival + grace : nil
  }

  /// Asks about the op that waited for a veto delegate, which has registered now.
  private mutating func askReturnedDelegate(_ slot: NavSlot) {
    guard var question = coordinations[slot]?.question, question.awaitsVetoDelegate else { return }
    question.awaitsVetoDelegate = false
    question.deadline =
      timer.now.boot + navs[slot].controller.settings.content.veto.deadlineMilliseconds
    continueAsking(question, slot)
  }

  /// Asks the next delegate; if there is none, begins the next phase or finishes the question.
  private mutating func askNextDelegate(_ slot: NavSlot) {
    guard var question = coordinations[slot]?.question else { return }
    let delegates = coordinations[slot]?.delegates ?? []
    if question.phase == .veto {
      if let next = question.nextVeto(among: delegates) {
        return ask(next, question.vetoQuestion, &question, slot)
      }
      sendSettled(question.sentAsks, "allowed", by: nil)
      question.sentAsks = []
      question.phase = .animator
    }
    let wait = navs[slot].controller.settings.content.questionDeadlineMilliseconds
    if question.phase == .animator, question.animation == nil,
      let last = delegates.last(where: { $0.roles.contains(.animator) }),
      let running = transition(of: question, slot)
    {
      question.deadline = timer.now.boot + wait
      let animatorFor = Question.animatorFor(
        operation: running.kind.word, from: running.from?.text, to: running.to?.text)
      return ask(last.session, animatorFor, &question, slot)
    }
    if question.phase == .interaction, let animation = question.animation,
      animation.driver == nil,
      let last = delegates.last(where: { $0.roles.contains(.interaction) })
    {
      question.deadline = timer.now.boot + wait
      return ask(last.session, .interactionFor(animator: animation.animator), &question, slot)
    }
    finishQuestion(question, slot)
  }

  /// The push or pop transition that the op would now begin; nil for none, or one of a gesture.
  private func transition(of question: DelegateQuestion, _ slot: NavSlot) -> RunningTransition? {
    let operations = Self.readableOperations(
      question.op.request, isStandalone: navs[slot].controller.isStandalone
    ).operations
    guard let (candidate, result) = try? trial(operations, question.op, slot),
      let running = candidate.transition.content.running,
      running.id == result.commit?.revision, running.takesAnimator
    else { return nil }
    return running
  }

  private mutating func ask(
    _ session: SessionRef, _ wording: Question, _ question: inout DelegateQuestion, _ slot: NavSlot
  ) {
    assert(question.pendingAsk == nil, "two delegates are asked at a time")
    guard sessions.isLive(session) else { return }
    sessions[session.slot].lastAsk += 1
    let pending = DelegateQuestion.SentAsk(session: session, ask: sessions[session.slot].lastAsk)
    question.pendingAsk = pending
    question.sentAsks.append(pending)
    assert(question.phase != .veto || question.subjectIndex < question.subjects.count)
    let asked = question
    coordinations.update(slot, in: &batches) { $0.question = asked }
    timer.plan(asked.deadline)
    let body = ServerMessageWriter.ask(
      pending.ask, nav: navs[slot].name, epoch: navs[slot].epoch,
      revision: navs[slot].controller.revision,
      within: timer.millisecondsLeft(until: asked.deadline) ?? 0, wording)
    send(sessions[session.slot].connection, .ask, body)
  }

  /// Takes a delegate's answer; ignores an answer to a question that has ended.
  mutating func receive(_ answer: DelegateAnswer, to ask: UInt64, from session: SessionSlot) {
    let ref = sessions.reference(to: session)
    guard
      let slot = coordinations.slot(asking: ref, ask), navs.isLive(slot),
      var question = coordinations[slot]?.question
    else { return }
    assert(question.pendingAsk?.session == ref)
    assert(navs.slot(of: question.op.request.nav) == slot, "a question about another nav")
    switch (question.phase, answer) {
    case (.veto, .verdict(true)):
      question.pendingAsk = nil
      continueAsking(question, slot)
    case (.veto, .verdict(false)): deny(question, slot, by: sessions[session].name)
    case (.veto, _): timeOutQuestion(slot, "a veto delegate could not answer")
    case (.animator, .animator(let name, let duration)):
      question.animation = Animation(animator: name, durationMilliseconds: duration)
      question.phase = .interaction
      question.pendingAsk = nil
      continueAsking(question, slot)
    case (.interaction, .driver(let driver)):
      question.animation?.driver = driver
      question.pendingAsk = nil
      finishQuestion(question, slot)
    case (.animator, _), (.interaction, _):
      question.pendingAsk = nil
      finishQuestion(question, slot)
    }
  }

  private mutating func continueAsking(_ question: DelegateQuestion, _ slot: NavSlot) {
    coordinations.update(slot, in: &batches) { $0.question = question }
    askNextDelegate(slot)
  }

  private mutating func deny(_ question: DelegateQuestion, _ slot: NavSlot, by name: String) {
    assert(question.phase == .veto, "a denial in phase \(question.phase)")
    sendSettled(question.sentAsks, "denied", by: name)
    coordinations.update(slot, in: &batches) { $0.question = nil }
    let screen = question.subjects[question.subjectIndex].screen
    var error = OutgoingError(.vetoed, "\(name) does not allow it for \(screen.text)")
    error.details = [
      ("by", JSONWriter.value { $0.string(name) }),
      ("screen", JSONWriter.value { $0.string(screen.text) }),
    ]
    refuse(question.op, OpFailure(error))
    runQueue(slot)
  }

  /// Handles a missing answer: the deadline has passed, or the delegate is gone.
  mutating func timeOutQuestion(_ slot: NavSlot, _ reason: String? = nil) {
    guard var question = coordinations[slot]?.question else { return }
    let asked = question.pendingAsk.flatMap { pending in
      sessions.isLive(pending.session) ? sessions[pending.session.slot].name : nil
    }
    let why =
      reason ?? asked.map { "\($0), the veto delegate, did not answer in time" }
      ?? "no veto delegate answered in time"
    sendSettled(question.sentAsks, "timeout", by: nil)
    question.sentAsks = []
    question.pendingAsk = nil
    guard question.phase == .veto else { return finishQuestion(question, slot) }
    guard navs[slot].controller.settings.content.veto.allowsOnTimeout else {
      coordinations.update(slot, in: &batches) { $0.question = nil }
      refuse(question.op, OpFailure(.delegateTimeout, why))
      return runQueue(slot)
    }
    question.op.isVetoSkipped = true
    question.phase = .animator
    continueAsking(question, slot)
  }

  /// Decides the op after the last answer; its arguments are checked again.
  private mutating func finishQuestion(_ question: DelegateQuestion, _ slot: NavSlot) {
    if question.phase != .veto { sendSettled(question.sentAsks, "allowed", by: nil) }
    coordinations.update(slot, in: &batches) { $0.question = nil }
    var op = question.op
    op.now = timer.now
    decide(op, .answered(question.animation))
    runQueue(slot)
  }

  mutating func sendSettled(
    _ asks: [DelegateQuestion.SentAsk], _ outcome: String, by name: String?
  ) {
    for pending in asks where sessions.isLive(pending.session) {
      let body = ServerMessageWriter.settled(pending.ask, outcome, by: name)
      send(sessions[pending.session.slot].connection, .settled, body)
    }
  }
}

extension RunningTransition {
  /// Whether delegates choose an animator: true for a push or pop that no gesture drives.
  fileprivate var takesAnimator: Bool { !isInteractive && (kind == .push || kind == .pop) }
}

extension DelegateQuestion {
  /// The question to the next veto delegate.
  fileprivate var vetoQuestion: Question {
    let (screen, cause) = (subjects[subjectIndex].screen.text, cause.word)
    return switch subjects[subjectIndex].change {
    case .push: .shouldPush(screen: screen)
    case .pop: .shouldPop(screen: screen, cause: cause)
    case .dismiss: .shouldDismiss(screen: screen, cause: cause)
    }
  }
}
