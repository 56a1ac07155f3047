import Navigation

// Questions to delegates: who is asked, one at a time, and what follows from the answers.

/// What the delegates said of an op.
struct DelegateDecision: Sendable {
  var animation: Animation?
  var isVetoSkipped = false
}

extension Hub {
  mutating func register(_ request: DelegateRequest, for sender: Sender, session: Int) {
    do throws(OpFailure) {
      let slot = try dialogNav(request.nav, sender)
      let ref = reference(session)
      let author = sessions[session].author
      let gaveOrientations =
        coordinations[slot]?.delegates.contains {
          $0.session == ref && $0.roles.contains(.orientation)
        }
        ?? false
      if gaveOrientations || request.roles.contains(.orientation), isStorageFailing {
        throw storageFailure()
      }
      updateCoordination(slot) { coordination in
        coordination.delegates.removeAll { $0.session == ref }
        guard !request.roles.isEmpty else { return }
        coordination.lastOrder += 1
        coordination.delegates.append(
          RegisteredDelegate(
            session: ref, author: author, roles: request.roles,
            orientations: request.orientations, order: coordination.lastOrder))
      }
      if gaveOrientations || request.roles.contains(.orientation) {
        giveOrientations(slot, by: Doing(author, op: request.id))
      }
      if !request.roles.contains(.veto), coordinations[slot]?.question?.pending?.session == ref {
        timeOut(slot)
      }
      let body = ServerMessageWriter.ok(id: request.id, nav: request.nav)
      answer(sender, session, slot, body, .none)
    } catch {
      var error = error.error
      error.id = request.id
      refuse(sender, error, about: request.nav)
    }
  }

  // Step 13.

  /// Puts an op to the delegates if they have to be asked; returns whether it waits for them.
  mutating func asksDelegates(
    _ operations: [Operation], _ op: OpContext, _ slot: Int
  ) throws(OpFailure) -> Bool {
    let delegates = coordinations.isEmpty ? [] : coordinations[slot]?.delegates ?? []
    let isRequired =
      !navs[slot].controller.settings.isDefault
      && navs[slot].controller.settings.content.veto.isRequired
    guard !delegates.isEmpty || isRequired else { return false }
    let settings = navs[slot].controller.settings.content
    var candidate = navs[slot].controller
    let result: OperationResult
    do {
      result = try candidate.perform(
        operations, isAnimated: op.request.isAnimated, in: context)
    } catch {
      throw OpFailure(OutgoingError(error))
    }
    guard let commit = result.commit else { return false }
    let subjects = subjects(of: op, commit, candidate, settings)
    let animates =
      candidate.transition.content.running.map { $0.id == commit.revision && $0.takesAnimator }
      ?? false
    let hasVeto = delegates.contains { $0.roles.contains(.veto) }
    let hasAnimator = delegates.contains { $0.roles.contains(.animator) }
    var isSkipped = false
    if !subjects.isEmpty, !hasVeto, settings.veto.isRequired {
      guard settings.veto.allowsOnTimeout else {
        throw OpFailure(.delegateTimeout, "a veto delegate is required, and none is registered")
      }
      isSkipped = true
    }
    guard isSkipped || !subjects.isEmpty && hasVeto || animates && hasAnimator else {
      return false
    }
    var question = DelegateQuestion(
      op: op, subjects: hasVeto ? subjects : [],
      cause: op.cause(of: result.outputs),
      deadline: clock.boot + settings.veto.deadline)
    question.isVetoSkipped = isSkipped
    updateCoordination(slot) { $0.question = question }
    askNext(slot)
    return true
  }

  /// The screens that go, top first, and those that come.
  private func subjects(
    of op: OpContext, _ commit: Commit, _ candidate: NavigationController, _ settings: Settings
  ) -> [DelegateQuestion.Subject] {
    var asksPops = false
    var asksPushes = false
    for operation in op.request.operations {
      switch operation.kind.vetoQuestion {
      case .never: continue
      case .always:
        asksPops = true
        asksPushes = true
      case .removals: asksPops = true
      case .removalsInScopeAll: if settings.vetoScope == .all { asksPops = true }
      }
    }
    if op.request.operations.contains(where: { $0.kind == .gestureBegin }) {
      return candidate.top.map { [DelegateQuestion.Subject(screen: $0.id, isPop: true)] } ?? []
    }
    guard let splice = commit.splice else { return [] }
    let inserted = candidate.stack[splice.at..<splice.at + splice.insertedCount].map(\.id)
    var subjects: [DelegateQuestion.Subject] = []
    if asksPops {
      for id in splice.removed.reversed() where !inserted.contains(id) {
        subjects.append(DelegateQuestion.Subject(screen: id, isPop: true))
      }
    }
    if asksPushes {
      for id in inserted where !splice.removed.contains(id) {
        subjects.append(DelegateQuestion.Subject(screen: id, isPop: false))
      }
    }
    return subjects
  }

  /// Asks the next delegate, or goes on when there is none.
  private mutating func askNext(_ slot: Int) {
    guard var question = coordinations[slot]?.question else { return }
    let delegates = coordinations[slot]?.delegates ?? []
    while question.phase == .veto {
      guard question.subject < question.subjects.count else {
        endQuestion(question.asked, "allowed", by: nil)
        question.asked = []
        question.phase = .animator
        break
      }
      let next = delegates.first {
        $0.roles.contains(.veto) && $0.order > question.lastOrder
      }
      guard let next else {
        question.subject += 1
        question.lastOrder = -1
        continue
      }
      question.lastOrder = next.order
      return ask(next.session, &question, slot)
    }
    if question.phase == .animator, question.animation == nil {
      if animates(question, slot),
        let last = delegates.last(where: { $0.roles.contains(.animator) })
      {
        let wait = navs[slot].controller.settings.content.questionDeadline
        question.deadline = clock.boot + wait
        return ask(last.session, &question, slot)
      }
    }
    if question.phase == .interaction, question.animation?.driver == nil,
      let last = delegates.last(where: { $0.roles.contains(.interaction) })
    {
      let wait = navs[slot].controller.settings.content.questionDeadline
      question.deadline = clock.boot + wait
      return ask(last.session, &question, slot)
    }
    finish(question, slot)
  }

  /// Whether the op, as things are now, begins a transition that is not a gesture's.
  private func animates(_ question: DelegateQuestion, _ slot: Int) -> Bool {
    transition(of: question, slot) != nil
  }

  private func transition(of question: DelegateQuestion, _ slot: Int) -> RunningTransition? {
    let operations = Self.readable(
      question.op.request, isStandalone: navs[slot].controller.isStandalone
    ).operations
    var candidate = navs[slot].controller
    let result = try? candidate.perform(
      operations, isAnimated: question.op.request.isAnimated, in: context)
    guard let running = candidate.transition.content.running,
      running.id == result?.commit?.revision, running.takesAnimator
    else { return nil }
    return running
  }

  private mutating func ask(_ session: SessionRef, _ question: inout DelegateQuestion, _ slot: Int)
  {
    guard isLive(session) else { return }
    sessions[session.slot].lastAsk += 1
    let pending = DelegateQuestion.Pending(session: session, ask: sessions[session.slot].lastAsk)
    question.pending = pending
    question.asked.append(pending)
    let asked = question
    updateCoordination(slot) { $0.question = asked }
    plan(asked.deadline)
    let running = asked.phase == .animator ? transition(of: asked, slot) : nil
    let body = ServerMessageWriter.ask(
      pending.ask, nav: navs[slot].name, epoch: navs[slot].epoch,
      revision: navs[slot].controller.revision,
      within: asked.deadline > clock.boot ? asked.deadline - clock.boot : 0
    ) { json in
      switch asked.phase {
      case .veto: json.veto(asked.subjects[asked.subject], asked.cause)
      case .animator: if let running { json.animatorFor(running) }
      case .interaction:
        json.name("interactionFor")
        json.beginObject()
        json.optional("animator", asked.animation?.animator)
        json.endObject()
      }
    }
    send(sessions[session.slot].connection, .ask, body)
  }

  /// Takes an answer; one to a question that is over is ignored.
  mutating func take(_ answer: DelegateAnswer, to ask: UInt64, from session: Int) {
    let ref = reference(session)
    guard
      let slot = coordinations.first(where: {
        $0.value.question?.pending?.session == ref && $0.value.question?.pending?.ask == ask
      })?.key, navs.isLive(slot), var question = coordinations[slot]?.question
    else { return }
    switch (question.phase, answer) {
    case (.veto, .verdict(true)):
      question.pending = nil
      go(on: question, slot)
    case (.veto, .verdict(false)): deny(question, slot, by: sessions[session].name)
    // Not an answer to this question; the deadline goes on.
    case (.veto, _): return
    case (.animator, .animator(let name, let duration)):
      question.animation = Animation(animator: name, duration: duration)
      question.phase = .interaction
      question.pending = nil
      go(on: question, slot)
    case (.interaction, .driver(let driver)):
      question.animation?.driver = driver
      question.pending = nil
      finish(question, slot)
    case (.animator, _), (.interaction, _):
      question.pending = nil
      finish(question, slot)
    }
  }

  private mutating func go(on question: DelegateQuestion, _ slot: Int) {
    updateCoordination(slot) { $0.question = question }
    askNext(slot)
  }

  private mutating func deny(_ question: DelegateQuestion, _ slot: Int, by name: String) {
    endQuestion(question.asked, "denied", by: name)
    updateCoordination(slot) { $0.question = nil }
    let screen = question.subjects[question.subject].screen
    var error = OutgoingError(.vetoed, "\(name) does not allow it for \(screen.text)")
    error.details = [
      ("by", JSONWriter.value { $0.string(name) }),
      ("screen", JSONWriter.value { $0.string(screen.text) }),
    ]
    fail(question.op, OpFailure(error))
    runQueue(slot)
  }

  /// Nobody answered in time, or the one who was asked is gone.
  mutating func timeOut(_ slot: Int) {
    guard var question = coordinations[slot]?.question else { return }
    endQuestion(question.asked, "timeout", by: nil)
    question.asked = []
    question.pending = nil
    guard question.phase == .veto else { return finish(question, slot) }
    guard navs[slot].controller.settings.content.veto.allowsOnTimeout else {
      updateCoordination(slot) { $0.question = nil }
      fail(
        question.op, OpFailure(.delegateTimeout, "no veto delegate answered in time"))
      return runQueue(slot)
    }
    question.isVetoSkipped = true
    question.phase = .animator
    go(on: question, slot)
  }

  /// The last answer is in: the op goes on with its arguments, which are checked again.
  private mutating func finish(_ question: DelegateQuestion, _ slot: Int) {
    if question.phase != .veto { endQuestion(question.asked, "allowed", by: nil) }
    updateCoordination(slot) { $0.question = nil }
    var op = question.op
    op.now = clock
    let decision = DelegateDecision(
      animation: question.animation, isVetoSkipped: question.isVetoSkipped)
    do throws(OpFailure) {
      try checkRights(op, slot)
      try perform(op, slot, after: decision)
    } catch {
      fail(op, error)
    }
    runQueue(slot)
  }

  mutating func endQuestion(
    _ asked: [DelegateQuestion.Pending], _ outcome: StaticString, by name: String?
  ) {
    for pending in asked where isLive(pending.session) {
      let body = ServerMessageWriter.settled(pending.ask, outcome, by: name)
      send(sessions[pending.session.slot].connection, .settled, body)
    }
  }
}

extension RunningTransition {
  /// Whether delegates are asked how to show it: a push or pop that no finger drives.
  fileprivate var takesAnimator: Bool { !isInteractive && (kind == .push || kind == .pop) }
}

extension JSONWriter {
  fileprivate mutating func veto(_ subject: DelegateQuestion.Subject, _ cause: Cause) {
    if subject.isPop { name("shouldPop") } else { name("shouldPush") }
    beginObject()
    optional("screen", subject.screen.text)
    if subject.isPop {
      name("cause")
      plain(cause.wireName)
    }
    endObject()
  }

  fileprivate mutating func animatorFor(_ running: RunningTransition) {
    name("animatorFor")
    beginObject()
    name("op")
    plain(running.kind.wireName)
    optional("from", running.from?.text)
    optional("to", running.to?.text)
    endObject()
  }
}
