// Operations on navs: the steps after the checks of OpChecks.swift, and the answers.

extension Hub {
  /// Answers a refused op; remembers the answer if its `retry` is `no` or `resync`.
  mutating func fail(_ op: OpContext, _ failure: OpFailure) {
    audit(failure.error, op.sender, about: op.request.nav, client: op.name)
    let reply = encode(failure.error, to: op.request, op.sender)
    send(op.sender.connection, .err, reply, .refused(failure.error.code))
    let retry = failure.error.code.retry
    if retry == .no || retry == .resync { remember(op, reply, isOk: false) }
  }

  /// The error of an op that a check or a rule refuses.
  ///
  /// An `OutgoingError` is large. The box keeps it out of the frames of functions that mostly
  /// succeed.
  indirect enum OpFailure: Error {
    case outgoing(OutgoingError)

    init(_ error: OutgoingError) { self = .outgoing(error) }

    init(_ code: ErrorCode, _ text: String) { self.init(OutgoingError(code, text)) }

    var error: OutgoingError {
      get {
        switch self {
        case .outgoing(let error): error
        }
      }
      set { self = .outgoing(newValue) }
    }
  }

  mutating func refuse(_ request: OpMessage, _ error: OutgoingError, _ sender: Sender) {
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

  /// Sends an `ok` after the diffs that the sender's own watch of the nav has not got yet.
  mutating func answer(
    _ sender: Sender, _ session: Int?, _ nav: Int?, _ reply: [UInt8], _ outcome: Outcome
  ) {
    guard let nav else { return send(sender.connection, .ok, reply, outcome) }
    assert(navs.isLive(nav))
    batches.append(.answer(sender.connection, session: session, nav: nav, reply, outcome))
  }

  mutating func remember(_ op: OpContext, _ reply: [UInt8], isOk: Bool) {
    assert(!reply.isEmpty, "op \(op.request.id) is not answered")
    let entry = RememberedOps.Entry(
      id: op.request.id, octets: op.octets, isOk: isOk, reply: reply)
    let evicted = remembered.remember(entry, of: op.key, at: op.now.boot)
    timer.plan(op.now.boot + configuration.rememberedIdle)
    batches.current.remembrances.append(
      Batch.Remembrance(key: op.key, op: op.request.id, evicted: evicted))
  }

  /// Returns the operations of a message from `first` on, up to the first one that cannot be
  /// performed.
  ///
  /// `failure` is the error of that operation. It counts only if the rules refuse none before it.
  static func readable(
    _ request: OpMessage, from first: Int = 0, isStandalone: Bool
  ) -> (operations: [Operation], failure: OpFailure?) {
    if request.areUsual, first == 0, !isStandalone { return (request.readable, nil) }
    for index in first..<request.kinds.count {
      guard let failure = failure(of: request.operation(index), index, isStandalone: isStandalone)
      else { continue }
      // All operations before this one can be read.
      return (Array(request.readable[..<(index - first)]), OpFailure(failure))
    }
    return (request.readable, nil)
  }

  private static func failure(
    of operation: RequestedOperation, _ index: Int, isStandalone: Bool
  ) -> OutgoingError? {
    if isStandalone, let failure = operation.standaloneFailure {
      return OutgoingError(failure, at: index)
    }
    switch operation.arguments {
    case .operation: return nil
    case .unreadable(let failure): return OutgoingError(failure, at: index)
    case .create, .close:
      var error = OutgoingError(
        .invalidArgument,
        operation.kind == .navClose
          ? "nav.close stands alone in its message" : "nav.create is the first op of its message")
      error.index = index
      return error
    }
  }

  /// Performs step 11 without the rules: returns the operations of a message.
  ///
  /// - Returns: nil if a revert among them waits for the history.
  mutating func arguments(of op: OpContext, _ slot: Int) throws(OpFailure) -> [Operation]? {
    var (operations, unreadable) = Self.readable(
      op.request, isStandalone: navs.slots[slot].controller.isStandalone)
    guard try lookBack(&operations, &unreadable, op, slot) else { return nil }
    if let unreadable {
      try checkBefore(operations, op, slot)
      throw unreadable
    }
    if op.touchesGesture { operations = operations.map { $0.signed(by: op.name) } }
    return operations
  }

  /// Performs steps 11 and 14 on an existing nav; `decision` has the delegates' answers, if any.
  mutating func perform(
    _ operations: [Operation], _ op: OpContext, _ slot: Int, after decision: DelegateDecision?
  ) throws(OpFailure) {
    assert(navs.slots[slot].fault == nil, "a frozen nav changes")
    assert(operations.count == op.request.kinds.count)
    try checkCondemned(op, slot)
    let before =
      configuration.touchedInspection == nil ? StateBefore(navs.slots[slot].controller) : nil
    let result: OperationResult
    do {
      result = try navs.slots[slot].controller.perform(
        operations, isAnimated: op.request.isAnimated, animation: decision?.animation,
        in: configuration.context)
    } catch {
      throw OpFailure(OutgoingError(error))
    }
    assert(result.outputs.count == operations.count)
    guard result.isChanged else { return answerUnchanged(op, slot, result.outputs) }
    if let before { try inspect(slot, before: before.state) }
    try inspect(result.effect, of: op, slot)
    let delivered = announce(result.outputs, of: op, slot)
    if decision?.isVetoSkipped == true {
      var op = op
      op.isVetoSkipped = true
      record(result.effect, result.outputs, delivered, op, slot)
    } else {
      record(result.effect, result.outputs, delivered, op, slot)
    }
    if result.effect.parts.contains(.transition) { noteTransition(slot, begunBy: op) }
  }

  /// Answers an op that changed nothing.
  private mutating func answerUnchanged(
    _ op: OpContext, _ slot: Int, _ outputs: ShortList<OperationOutput>
  ) {
    let delivered = announce(outputs, of: op, slot)
    let reply = ServerMessageWriter.ok(
      id: op.request.id, standing: navs.slots[slot].standing, changed: false, outputs: outputs,
      delivered: delivered)
    // Progress arrives so often that remembering it would evict all other ops.
    let isProgress = op.request.kinds.allSatisfy { $0 == .gestureUpdate }
    if !isProgress { remember(op, reply, isOk: true) }
    answer(op.sender, op.session, slot, reply, .unchanged)
  }

  /// Throws the rules' refusal of an operation before the unreadable one, because the first error
  /// counts.
  private func checkBefore(
    _ operations: [Operation], _ op: OpContext, _ slot: Int
  ) throws(OpFailure) {
    guard !operations.isEmpty else { return }
    var candidate = navs.slots[slot].controller
    do {
      _ = try candidate.perform(
        operations, isAnimated: op.request.isAnimated, in: configuration.context)
    } catch {
      throw OpFailure(OutgoingError(error))
    }
  }

  /// Sends the events that have no revision; returns the number of watches that get them.
  private mutating func announce(
    _ outputs: ShortList<OperationOutput>, of op: OpContext, _ slot: Int
  ) -> Int {
    var delivered = 0
    // Only these operations have such outputs. A look at the outputs copies each of them.
    guard !op.request.kinds.areOrdinary,
      op.request.kinds.contains(where: { $0 == .buttonActivate || $0 == .gestureUpdate })
    else { return delivered }
    for index in outputs.indices {
      switch outputs[index] {
      case .activated(let button, let action):
        delivered = audience(of: slot)
        let body = ServerMessageWriter.event(
          nav: navs.slots[slot].name, epoch: navs.slots[slot].epoch,
          revision: navs.slots[slot].controller.revision,
          button: button, action: action)
        batches.append(.event(nav: slot, body))
      case .progress(let transition, let value):
        delivered = audience(of: slot)
        publishProgress(of: slot, transition, value)
      default: break
      }
    }
    return delivered
  }

  private func audience(of slot: Int) -> Int {
    assert(watches.of(nav: slot).allSatisfy { watches.slots[$0].nav == slot })
    return watches.of(nav: slot).count {
      watches.slots[$0].view == .full && sessions.slots[watches.slots[$0].session].hasCredit
    }
  }
}

extension Operation {
  /// The same operation, with the client's name as the owner of a gesture that it begins.
  fileprivate func signed(by name: String) -> Operation {
    guard case .beginGesture(let isFullScreen, let translation, _) = self else {
      return self
    }
    return .beginGesture(isFullScreen: isFullScreen, translation: translation, owner: name)
  }
}
