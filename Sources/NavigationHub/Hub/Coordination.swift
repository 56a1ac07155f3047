import NavigationCore

// A coordination is not part of a nav's state: all of it ends with the sessions or the daemon.

/// The delegate roles, the question, the waiting ops and the display lease of sessions at one nav.
struct Coordination: Sendable {
  /// The delegates, in the order of their registration.
  var delegates: [RegisteredDelegate] = []
  /// The op about which delegates are being asked; it blocks other ops on stack and presentation.
  var question: DelegateQuestion?
  /// The ops that wait for a transition or question to end.
  var queue: [OpContext] = []
  /// The session that holds the display lease.
  var displayHolder: SessionRef?
  /// The author of the display lease, for the log; kept until the journal records the lease's end.
  var displayAuthor: Author?
  /// The session of the open gesture; nil for a gesture that was begun without a session.
  var gestureSession: SessionRef?
  /// The time at which navd ends the transition in flight, in milliseconds of CLOCK_BOOTTIME.
  var transitionDeadline: UInt64?
  /// How far the gesture has come, from 0 to 1, by its last update.
  var gestureProgress = 0.0
  /// The number of the newest registration.
  var lastRegistration = 0
  /// The number of the newest batch that changed the coordination.
  var lastChangeBatch: UInt64 = 0

  var isEmpty: Bool {
    delegates.isEmpty && displayHolder == nil && displayAuthor == nil && !isBusy
  }

  /// Whether a question, a waiting op, a gesture or a transition is open at the nav.
  var isBusy: Bool {
    question != nil || !queue.isEmpty || gestureSession != nil || transitionDeadline != nil
  }

  /// The orientations of the newest delegate with the role `orientation`; nil without such one.
  var orientations: DelegateOrientations? {
    delegates.last { $0.roles.contains(.orientation) }?.orientations
  }

  func has(_ role: DelegateRole, _ session: SessionRef) -> Bool {
    delegates.contains { $0.session == session && $0.roles.contains(role) }
  }

  /// Replaces a session's roles; an empty set ends its registration.
  mutating func register(
    _ roles: Set<DelegateRole>, of session: SessionRef, _ author: Author,
    _ orientations: DelegateOrientations?
  ) {
    delegates.removeAll { $0.session == session }
    guard !roles.isEmpty else { return }
    lastRegistration += 1
    assert(delegates.allSatisfy { $0.registrationNumber < lastRegistration }, "out of order")
    delegates.append(
      RegisteredDelegate(
        session: session, author: author, roles: roles, orientations: orientations,
        registrationNumber: lastRegistration))
  }

  /// The position in the queue, from 1 on, of the same op, sent before; 0 if delegates are being
  /// asked about it, nil if it does not wait.
  func queuePosition(of op: OpContext) -> Int? {
    if let question, question.op.isRepetition(of: op) { return 0 }
    return queue.firstIndex { $0.isRepetition(of: op) }.map { $0 + 1 }
  }

  /// Replaces the waiting op at a position by its repetition, whose sender then gets the answer.
  mutating func replaceWaitingOp(at position: Int, by op: OpContext) {
    assert(queuePosition(of: op) == position, "op \(op.request.id) does not wait there")
    guard position == 0 else { return queue[position - 1] = op }
    question?.op.sender = op.sender
    question?.op.session = op.session
  }
}

extension OpContext {
  /// Whether another op is a repetition of this one.
  fileprivate func isRepetition(of other: OpContext) -> Bool {
    key == other.key && request.id == other.request.id && octets == other.octets
  }
}

/// The delegate roles of one session for one nav.
struct RegisteredDelegate: Sendable {
  var session: SessionRef
  /// The session's author, for the log.
  var author: Author
  var roles: Set<DelegateRole>
  var orientations: DelegateOrientations?
  /// The number of the registration; later registrations have higher numbers.
  var registrationNumber: Int
}

/// An op about which delegates are being asked, and the state of their questions.
struct DelegateQuestion: Sendable {
  /// The questions, in this order: may the op run, which animation, who drives it interactively.
  enum Phase: Sendable { case veto, animator, interaction }

  /// A screen that the op pushes, pops or dismisses, about which veto delegates are asked.
  struct Subject: Sendable {
    enum Change: Sendable { case push, pop, dismiss }

    var screen: ScreenID
    var change: Change
  }

  /// An `ask` message: the session that got it, and its number in that session.
  struct SentAsk: Sendable {
    var session: SessionRef
    var ask: UInt64
  }

  var op: OpContext
  var subjects: [Subject]
  /// The cause that the revision would have.
  var cause: Cause
  var phase = Phase.veto
  /// The index of the screen that delegates are being asked about.
  var subjectIndex = 0
  var lastAskedRegistration = -1
  var pendingAsk: SentAsk?
  /// The asks that delegates were sent, answered or not; their sessions get the outcome.
  ///
  /// The outcome is `allowed`, `denied` or `timeout`. The list is emptied after the vetoes, before
  /// the question for an animator.
  var sentAsks: [SentAsk] = []
  /// The time at which a missing answer counts as a timeout, in milliseconds of CLOCK_BOOTTIME.
  var deadline: UInt64
  var animation: Animation?
  /// Whether the question waits until a veto delegate registers again, because the nav has just
  /// moved to this daemon.
  var awaitsVetoDelegate = false
}

extension DelegateQuestion {
  /// Returns the next veto delegate to ask; nil if all have been asked about all screens.
  ///
  /// All delegates are asked about one screen before the first is asked about the next screen.
  mutating func nextVeto(among delegates: [RegisteredDelegate]) -> SessionRef? {
    assert(phase == .veto, "asking for a veto in phase \(phase)")
    while subjectIndex < subjects.count {
      if let next = delegates.first(where: {
        $0.registrationNumber > lastAskedRegistration && $0.roles.contains(.veto)
      }) {
        lastAskedRegistration = next.registrationNumber
        return next.session
      }
      subjectIndex += 1
      lastAskedRegistration = -1
    }
    assert(subjectIndex == subjects.count)
    return nil
  }
}

extension OpContext {
  /// The screens about which veto delegates are asked: first dismissed ones, outermost first, then
  /// popped ones, top first, then pushed ones.
  ///
  /// Empty if the nav's setting `veto` does not apply to any change of the op. `chain` has the
  /// presented screens before the op, outermost last.
  func subjects(
    of commit: Commit, _ chain: [ScreenID], _ candidate: NavigationController,
    _ settings: Settings
  ) -> [DelegateQuestion.Subject] {
    var (asksPops, asksPushes, asksDismissals) = (false, false, false)
    let asksStack = settings.vetoScope != .dismiss
    for kind in request.kinds {
      // A change of the stack can take presented screens along.
      let mayDismiss = kind.vetoQuestion != .never && settings.vetoScope != .pushpop
      asksDismissals = asksDismissals || mayDismiss
      switch kind.vetoQuestion {
      case .never, .dismissals: continue
      case .always where asksStack:
        asksPops = true
        asksPushes = true
      case .removals where asksStack: asksPops = true
      case .always, .removals: continue
      case .removalsInScopeAll: if settings.vetoScope == .all { asksPops = true }
      case .removalsAndDismissals: if asksStack { asksPops = true }
      }
    }
    var subjects: [DelegateQuestion.Subject] = []
    if asksDismissals {
      let kept = candidate.presentedScreens.map(\.id)
      for id in chain.reversed() where !kept.contains(id) {
        subjects.append(DelegateQuestion.Subject(screen: id, change: .dismiss))
      }
    }
    if request.kinds.contains(.gestureBegin), asksPops, let top = candidate.top {
      return subjects + [DelegateQuestion.Subject(screen: top.id, change: .pop)]
    }
    guard let splice = commit.splice else { return subjects }
    assert(commit.revision == candidate.revision, "the commit of another state")
    assert(splice.at + splice.insertedCount <= candidate.stack.count)
    let inserted = candidate.stack[splice.at..<splice.at + splice.insertedCount].map(\.id)
    if asksPops {
      for id in splice.removed.reversed() where !inserted.contains(id) {
        subjects.append(DelegateQuestion.Subject(screen: id, change: .pop))
      }
    }
    if asksPushes {
      for id in inserted where !splice.removed.contains(id) {
        subjects.append(DelegateQuestion.Subject(screen: id, change: .push))
      }
    }
    return subjects
  }
}
