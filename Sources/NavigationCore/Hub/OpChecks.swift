// The checks of an op, in the order of docs/protocol.md, 9.4: the first one that fails counts.
// The comment behind a check names its errors. Step 1 is `ClientMessageReader.read`.

/// The stage of an op: an op that waited skips some checks when it continues.
enum OpStage: Sendable {
  /// The op has just arrived.
  case arrived
  /// The op waited for a transition, for a question to delegates, or for the history.
  case waited
  /// The op waited for delegates, whose answers are in.
  case answered(DelegateDecision)

  /// The delegates' decision; nil if they have not been asked yet.
  var decision: DelegateDecision? {
    if case .answered(let decision) = self { decision } else { nil }
  }

  /// Whether the op passes the checks for the first time.
  var isFirst: Bool { if case .arrived = self { true } else { false } }
}

extension Hub {
  /// Performs steps 2 to 4, then decides the op.
  ///
  /// The errors of these steps are not remembered.
  mutating func operate(
    _ request: OpMessage, from sender: Sender, session: Int?, at now: Instant
  ) {
    let op: OpContext
    do throws(OpFailure) {
      // 2: the session.
      try checkFence(sender)  // fenced
      let client = try checkClient(of: request, session)  // no-session, invalid-argument
      op = context(of: request, by: client, sender, session, at: now)
      // 3: the load.
      try checkLoad(op)  // busy
      // 4: the remembered ops.
      if try isAnswered(op) { return }  // op-reused, op-too-old
    } catch {
      return refuse(request, error.error, sender)
    }
    decide(op, .arrived)
  }

  /// Performs steps 5 to 14 of protocol.md §9.4.
  ///
  /// Answers a refusal, and remembers the answer if its `retry` is `no` or `resync`.
  mutating func decide(_ op: OpContext, _ stage: OpStage) {
    do throws(OpFailure) {
      try check(op, stage)
    } catch {
      fail(op, error)
    }
  }

  /// Performs steps 5 to 14; called by `decide`, and by `resume` for an op that waited.
  mutating func check(_ op: OpContext, _ stage: OpStage) throws(OpFailure) {
    assert(!op.request.kinds.isEmpty, "an op without operations")
    let slot = navs.slot(of: op.request.nav)
    let decision = stage.decision
    // 5: the time.
    if decision == nil { try checkDue(op) }  // expired
    // 6: the rights.
    try checkRights(op, slot)  // forbidden
    // 7: the nav.
    if stage.isFirst { try checkVirtual(op, slot) }  // shutting-down, readonly
    try checkExistence(op, slot)  // nav-exists, no-nav
    if stage.isFirst {
      if !op.isClosing { try checkFrozen(slot) }  // frozen
      try checkStop()  // shutting-down
      try checkDisplay(op, slot)  // lease-lost
      // 8: the form of all operations.
      try checkForm(op, slot)  // unsupported, bar-managed, bar-delegate-managed, readonly
      try checkGuardPolicy(op, slot)  // guard-required
    }
    guard let slot else { return try create(op) }
    if decision == nil {
      // 9: the guards.
      try checkGuards(op.request.guards, slot)  // desync
      if op.isClosing { return try close(op, slot) }
      // 10: open transitions, questions and gestures.
      if !stage.isFirst { try checkFrozen(slot) }  // frozen, since the op waits
      if isOpen(slot, to: op) {
        try checkGesture(op, slot)  // gesture-refused, gesture-owner
        if try waits(op, slot) { return }  // transition-in-progress, queue-full
      }
    }
    // 11: the arguments, in order; a revert may wait for the history.
    guard let operations = try arguments(of: op, slot) else { return }  // compacted, busy, …
    // 12: the effect.
    try checkStorage(operations, op, slot)  // storage
    // 13: the delegates.
    if decision == nil, try asksDelegates(operations, op, slot) { return }  // delegate-timeout
    // 11 and 14: the rules, operation by operation, then the commit.
    try perform(operations, op, slot, after: decision)
  }
}

/// The connection and the peer that sent a message.
struct Sender {
  var connection: ConnectionID
  var peer: Peer
}

/// An op on its way through the checks, with its sender and its session.
struct OpContext: Sendable {
  let request: OpMessage
  let client: OpClient
  var sender: Sender
  var session: Int?
  var now: Instant
  /// What the history tells of the revisions that the op goes back to.
  var histories: [Revision: HistoryAnswer] = [:]
  /// Whether a veto answer is missing, and the nav's settings allow the op then.
  var isVetoSkipped = false

  var octets: BodyHash { request.octets }
  /// The key by which the hub remembers the op.
  var key: RememberedOps.Key { client.key }
  /// The name that the client gave itself; empty for none.
  var name: String { client.author.name }
  /// The key by which the op's row lets a start remember the op.
  var author: RowAuthor {
    RowAuthor(principal: key.principal, client: key.client, op: request.id)
  }

  var isCreation: Bool { !request.kinds.areOrdinary && request.kinds.first == .navCreate }
  var isClosing: Bool { !request.kinds.areOrdinary && request.kinds.first == .navClose }
}

extension OpContext {
  /// The cause of the revision: that of the first operation that has one.
  ///
  /// The activation of a button that pops has the cause of a tap on the back button.
  func cause(of outputs: ShortList<OperationOutput>) -> Cause {
    assert(outputs.count <= request.kinds.count)
    for index in outputs.indices {
      let kind = request.kinds[index]
      if kind == .buttonActivate, case .activated = outputs[index] { continue }
      if let cause = kind.cause { return cause }
    }
    return .api
  }

  /// Whether the message creates a standalone bar.
  var createsStandaloneBar: Bool {
    if case .create(.standalone) = request.operation(0).arguments { true } else { false }
  }
}

extension OpContext {
  /// Checks the form of all operations before any of them runs.
  ///
  /// Errors take precedence in this order: `unsupported`, `bar-managed`, `bar-delegate-managed`,
  /// `readonly`.
  func checkForm(isStandalone: Bool) throws(Hub.OpFailure) {
    // What `isWellFormed` says of each operation of nearly all messages.
    if request.areUsual, request.kinds.areOrdinary { return }
    guard
      request.kinds.indices.contains(where: {
        !request.operation($0).isWellFormed(isStandalone: isStandalone)
      })
    else { return }
    let operations = request.operations
    for code: ErrorCode in [.unsupported, .barManaged, .barDelegateManaged, .readonly] {
      for (index, operation) in operations.enumerated() {
        guard let failure = operation.formFailure(isStandalone: isStandalone), failure.code == code
        else { continue }
        throw Hub.OpFailure(OutgoingError(failure, at: index))
      }
    }
  }
}

extension RequestedOperation {
  /// Whether `formFailure` is nil; in the usual case found without making an error.
  func isWellFormed(isStandalone: Bool) -> Bool {
    if case .operation = arguments { return isStandalone || !kind.isForItems }
    return formFailure(isStandalone: isStandalone) == nil
  }

  /// The error of an operation that is refused before any runs, by the kind of nav; nil for none.
  func formFailure(isStandalone: Bool) -> ReadFailure? {
    if kind.isForItems, !isStandalone {
      return ReadFailure(
        .barManaged,
        "cannot call \(kind.name) directly on a bar managed by a controller; use push, pop or "
          + "setStack")
    }
    guard case .unreadable(let failure) = arguments else { return nil }
    return isStandalone && standaloneFailure != nil ? nil : failure
  }

  /// The error of an operation that a standalone bar does not have; nil if it has it.
  var standaloneFailure: ReadFailure? {
    guard kind.suitsStandaloneBars else {
      return ReadFailure(.invalidArgument, "\(kind.name) is not for a nav of kind bar")
    }
    guard case .unreadable(let failure) = arguments, failure.code == .barDelegateManaged else {
      return nil
    }
    return ReadFailure(.invalidArgument, "a bar's delegate registers by the verb delegate")
  }
}
