import NavigationCore

// Ops with `dry` (protocol §9.8): all checks of protocol §9.4 but those of the journal and of the
// remembered ops, then the answer that the op would get. Nothing is changed, remembered or written.

extension Hub {
  /// Answers a dry run of an op on an existing nav.
  mutating func rehearse(
    _ operations: [Operation], _ op: OpContext, _ slot: NavSlot
  ) throws(OpFailure) {
    var entry = navs[slot]
    batches.eventCost += entry.wholeStateCost
    let result: OperationResult
    (entry.controller, result) = try trial(operations, op, slot)
    var delegates: [(name: String, roles: [String])] = []
    if let commit = result.commit {
      let faults = inspections.stateInspection(entry.controller)
      guard faults.isEmpty else { throw OpFailure(.fault(op.request.nav, faults)) }
      entry.digest = Digest(checksum: entry.controller.checksum(), chain: entry.digest.chain)
      delegates = try askedDelegates(about: commit, entry.controller, op, slot)
    }
    answer(op, entry, changed: result.isChanged, result.outputs, delegates, isNew: false)
  }

  /// Answers a dry run of an op that creates a nav; the epoch in the answer is 0.
  mutating func rehearseCreation(_ op: OpContext) throws(OpFailure) {
    let (controller, result) = try stateCreated(by: op)
    let entry = NavEntry(
      name: op.request.nav, number: 0, owner: access.owner(createdBy: op.sender.peer) ?? "",
      epoch: Epoch(bits: 0), controller: controller)
    answer(op, entry, changed: true, ShortList([.nothing] + result.outputs), [], isNew: true)
  }

  /// Answers a dry run of an op that closes a nav.
  mutating func rehearseClosing(_ op: OpContext, _ slot: NavSlot) throws(OpFailure) {
    try checkClosing(op)
    let body = ServerMessageWriter.dryRunResult(
      id: op.request.id, standing: navs[slot].standing, changed: true, outputs: [.nothing])
    answer(op.sender, op.session, slot, body, .none)
  }

  /// Answers a dry run of an op that would wait, with its position in the queue.
  mutating func rehearseWaiting(_ op: OpContext, _ slot: NavSlot) {
    let body = ServerMessageWriter.dryRunResult(
      id: op.request.id, standing: navs[slot].standing, changed: false, outputs: [],
      position: (coordinations[slot]?.queue.count ?? 0) + 1)
    answer(op.sender, op.session, slot, body, .none)
  }

  private mutating func answer(
    _ op: OpContext, _ entry: NavEntry, changed: Bool, _ outputs: ShortList<OperationOutput>,
    _ delegates: [(name: String, roles: [String])], isNew: Bool
  ) {
    let rights = access.rights(of: op.sender.peer, on: op.request.nav, owner: entry.owner)
    // The real answer does not name delegates, so their names take the right to read.
    let delegates =
      rights.contains(.read) ? delegates : delegates.map { (name: "", roles: $0.roles) }
    func body(_ state: [UInt8]?) -> [UInt8] {
      ServerMessageWriter.dryRunResult(
        id: op.request.id, standing: entry.standing, changed: changed, outputs: outputs,
        delegates: delegates, state: state)
    }
    var reply = body(rights.contains(.read) ? entry.state : nil)
    // A larger message than a client takes: the answer goes without the state.
    if reply.count > configuration.maximumReplyBytes { reply = body(nil) }
    answer(op.sender, op.session, isNew ? nil : navs.slot(of: op.request.nav), reply, .none)
  }

  /// The delegates that would be asked about an op; throws if one is required, and none is there.
  private func askedDelegates(
    about commit: Commit, _ candidate: NavigationController, _ op: OpContext, _ slot: NavSlot
  ) throws(OpFailure) -> [(name: String, roles: [String])] {
    let inquiry = inquiry(about: commit, candidate, op, slot)
    let veto = navs[slot].controller.settings.content.veto
    if !inquiry.subjects.isEmpty, !inquiry.hasVeto, veto.requiresDelegate, !veto.allowsOnTimeout,
      delegateDeadlineAfterMove(of: slot, graceMilliseconds: veto.deadlineMilliseconds) == nil
    {
      throw OpFailure(.delegateTimeout, "a veto delegate is required, and none is registered")
    }
    let delegates = coordinations[slot]?.delegates ?? []
    let lastAnimator = delegates.last { $0.roles.contains(.animator) }
    return delegates.compactMap { delegate in
      var roles: [String] = []
      if !inquiry.subjects.isEmpty, delegate.roles.contains(.veto) {
        roles.append(DelegateRole.veto.rawValue)
      }
      if inquiry.takesAnimator, delegate.session == lastAnimator?.session {
        roles.append(DelegateRole.animator.rawValue)
      }
      return roles.isEmpty ? nil : (delegate.author.name, roles)
    }
  }
}
