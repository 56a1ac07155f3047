import Navigation
import NavigationProtocol

// What is under way between a nav and the sessions: none of it is state of the nav, all of it ends
// with the sessions or the daemon.

/// The sessions' part in one nav.
struct Coordination: Sendable {
  /// The delegates, in the order of their registration.
  var delegates: [RegisteredDelegate] = []
  /// The op that is put to delegates; stack and presentation are locked meanwhile.
  var question: DelegateQuestion?
  /// The ops that wait for a transition or question to end.
  var queue: [OpContext] = []
  /// The session that holds the display.
  var holder: SessionRef?
  /// The author of the display's lease, for the log; kept until the journal has taken its end.
  var owner: Author?
  /// The session of the open gesture; nil for a gesture that was begun without a session.
  var gesture: SessionRef?
  /// When the daemon ends the transition in flight.
  var due: UInt64?
  /// The number of the newest registration.
  var lastOrder = 0

  var isEmpty: Bool {
    delegates.isEmpty && question == nil && queue.isEmpty && holder == nil && owner == nil
      && gesture == nil && due == nil
  }

  /// The orientations that the newest delegate for them supports.
  var orientations: DelegateOrientations? {
    delegates.last { $0.roles.contains(.orientation) }?.orientations
  }

  /// Whether a session has a role.
  func has(_ role: DelegateRole, _ session: SessionRef) -> Bool {
    delegates.contains { $0.session == session && $0.roles.contains(role) }
  }

  /// Registers a session's roles in the place of its former ones; none ends its registration.
  mutating func register(
    _ roles: Set<DelegateRole>, of session: SessionRef, _ author: Author,
    _ orientations: DelegateOrientations?
  ) {
    delegates.removeAll { $0.session == session }
    guard !roles.isEmpty else { return }
    lastOrder += 1
    assert(delegates.allSatisfy { $0.order < lastOrder }, "registrations out of order")
    delegates.append(
      RegisteredDelegate(
        session: session, author: author, roles: roles, orientations: orientations,
        order: lastOrder))
  }

  /// Where an op waits.
  enum Place: Equatable {
    case asked
    case queued(Int)
  }

  /// Where the same op waits already, sent before; nil if it does not.
  func place(of op: OpContext) -> Place? {
    if let question, question.op.isSame(as: op) { return .asked }
    return queue.firstIndex { $0.isSame(as: op) }.map { .queued($0) }
  }

  /// Takes an op that was sent again in the place of the same one.
  mutating func replace(_ place: Place, by op: OpContext) {
    assert(self.place(of: op) == place, "op \(op.request.id) does not wait there")
    switch place {
    case .asked:
      question?.op.sender = op.sender
      question?.op.session = op.session
    case .queued(let index): queue[index] = op
    }
  }
}

extension OpContext {
  /// Whether another op is this one, sent again.
  fileprivate func isSame(as other: OpContext) -> Bool {
    key == other.key && request.id == other.request.id && octets == other.octets
  }
}

/// One session's roles for one nav.
struct RegisteredDelegate: Sendable {
  var session: SessionRef
  /// The session's author, for the log.
  var author: Author
  var roles: Set<DelegateRole>
  var orientations: DelegateOrientations?
  /// Registrations have increasing numbers.
  var order: Int
}

/// An op on its way past the delegates.
struct DelegateQuestion: Sendable {
  /// What the delegates are asked, one after the other.
  enum Phase: Sendable { case veto, animator, interaction }

  /// A screen that comes or goes.
  struct Subject: Sendable {
    var screen: ScreenID
    var isPop: Bool
  }

  /// An ask that is not answered yet.
  struct Pending: Sendable {
    var session: SessionRef
    var ask: UInt64
  }

  var op: OpContext
  var subjects: [Subject]
  /// What would lead to the revision.
  var cause: Cause
  var phase = Phase.veto
  /// The subject at hand, and the last delegate asked about it.
  var subject = 0
  var lastOrder = -1
  var pending: Pending?
  /// All that were asked in this phase; they get the end of the question.
  var asked: [Pending] = []
  /// When the missing answer counts as one.
  var deadline: UInt64
  var animation: Animation?
  /// Whether a delegate timed out, and the nav's settings allow the op then.
  var isVetoSkipped = false
}

extension DelegateQuestion {
  /// Goes on to the next veto delegate: all are asked about a screen before the next screen.
  ///
  /// - Parameter delegates: those registered by now, in the order of registration.
  /// - Returns: nil if there is none left.
  mutating func nextVeto(among delegates: [RegisteredDelegate]) -> SessionRef? {
    assert(phase == .veto, "asking for a veto in phase \(phase)")
    while subject < subjects.count {
      if let next = delegates.first(where: { $0.roles.contains(.veto) && $0.order > lastOrder }) {
        lastOrder = next.order
        return next.session
      }
      subject += 1
      lastOrder = -1
    }
    return nil
  }
}

extension OpContext {
  /// The screens that go, top first, and those that come.
  func subjects(
    of commit: Commit, _ candidate: NavigationController, _ settings: Settings
  ) -> [DelegateQuestion.Subject] {
    var asksPops = false
    var asksPushes = false
    for operation in request.operations {
      switch operation.kind.vetoQuestion {
      case .never: continue
      case .always:
        asksPops = true
        asksPushes = true
      case .removals: asksPops = true
      case .removalsInScopeAll: if settings.vetoScope == .all { asksPops = true }
      }
    }
    if request.operations.contains(where: { $0.kind == .gestureBegin }) {
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
}
