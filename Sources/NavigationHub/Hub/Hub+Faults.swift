import NavigationCore

// Faults of navd itself: a commit that would break an invariant is discarded, and its nav is
// frozen.

extension Hub {
  /// Whether an op has made a state that breaks an invariant.
  ///
  /// Until the rollback, the shell must neither commit the batch nor handle an event. The shell
  /// waits until the sealed batches are durable, calls `rollBackUnsound` and `reload`, and handles
  /// the events of the batch again.
  package var isUnsound: Bool { mutating get { batches.isUnsound } }

  /// Requests a rollback, and throws, if an op's commit broke an invariant.
  mutating func checkSound(_ commit: Commit, of op: OpContext, _ slot: NavSlot) throws(OpFailure) {
    guard let inspection = inspections.commitInspection else { return }
    assert(commit.revision == navs[slot].controller.revision)
    let violated = inspection(&navs[slot].controller, commit)
    guard !violated.isEmpty else { return }
    batches.noteUnsound(
      UnsoundOp(key: op.key, op: op.request.id, violated: violated),
      Batch.ChangedNav(slot: slot, rowBefore: navs[slot].lastSequence))
    throw OpFailure(.fault(navs[slot].name, violated))
  }

  /// Refuses an op whose commit broke an invariant before the rollback, and freezes its nav.
  mutating func checkUnsound(_ op: OpContext, _ slot: NavSlot) throws(OpFailure) {
    guard !batches.unsoundOps.isEmpty, let unsound = batches.unsoundOp(op)
    else { return }
    assert(navs[slot].controller.violatedInvariants().isEmpty, "not read back")
    throw freezeForUnsoundState(unsound.violated, slot)
  }

  /// Inspects the whole state of a nav; if it breaks an invariant, restores `before` and freezes
  /// the nav.
  mutating func freezeIfUnsound(_ slot: NavSlot, restoring before: NavigationController)
    throws(OpFailure)
  {
    assert(before.revision <= navs[slot].controller.revision)
    let violated = inspections.stateInspection(navs[slot].controller)
    guard !violated.isEmpty else { return }
    navs[slot].controller = before
    throw freezeForUnsoundState(violated, slot)
  }

  /// Freezes a nav because a commit would have broken its invariants.
  private mutating func freezeForUnsoundState(_ violated: [String], _ slot: NavSlot) -> OpFailure {
    freeze(slot, violated)
    batches.note(.frozen(slot))
    return OpFailure(.fault(navs[slot].name, violated))
  }

  /// Freezes a nav: clients can only read and close it.
  ///
  /// Ops that wait for the nav are refused.
  mutating func freeze(_ slot: NavSlot, _ violated: [String]) {
    assert(!violated.isEmpty, "frozen without a reason")
    assert(navs[slot].directory == nil, "a virtual nav is frozen")
    guard navs[slot].fault == nil else { return }
    let fault = violated.joined(separator: ", ")
    navs[slot].fault = fault
    let name = navs[slot].name
    output.notices.append(
      Notice(
        .faulty, .warning, "\(name) is frozen: \(fault)", nav: name, revision: navs[slot].revision))
    guard let coordination = coordinations[slot] else { return }
    coordinations.update(slot, in: &batches) {
      $0.question = nil
      $0.queue = []
    }
    let failure = OpFailure(.frozen(name, fault))
    if let question = coordination.question {
      sendSettled(question.sentAsks, "denied", by: nil)
      refuse(question.op, failure)
    }
    for op in coordination.queue { refuse(op, failure) }
  }

  /// Throws `frozen` if the nav is frozen; `nav.close` does not call this.
  mutating func checkFrozen(_ slot: NavSlot?) throws(OpFailure) {
    guard let slot, let fault = navs[slot].fault else { return }
    throw OpFailure(.frozen(navs[slot].name, fault))
  }
}
