import NavigationCore

// Reverting: the stack of an earlier revision is in the journal's history. So the op waits for an
// answer of the journal, and is decided then.

extension Hub {
  /// Fills in the stacks of the revisions to which an op reverts; false if the op waits for the
  /// history.
  ///
  /// `operations` has the operations before the first unreadable one, whose error is `failure`.
  /// Throws `busy` if too many reads of the connection wait already.
  mutating func fillInRevertedStacks(
    _ operations: inout [Operation], _ failure: inout OpFailure?, _ op: OpContext,
    _ slot: NavSlot
  ) throws(OpFailure) -> Bool {
    // Without this test the loop below would copy the operations, to be able to change them.
    guard !op.request.kinds.areOrdinary, op.request.kinds.contains(.revert) else { return true }
    for index in operations.indices {
      guard case .revert(let revision, nil) = operations[index] else { continue }
      let entry = navs[slot]
      var stack: [ScreenID]?
      if revision == entry.revision {
        stack = entry.controller.stack.map(\.id)
      } else if let answer = op.histories[revision] {
        stack = try earlierStack(of: slot, at: revision, from: answer)
      } else if revision >= entry.floor, revision <= entry.revision {
        try waitForHistory(op, for: revision, slot)
        return false
      }
      guard let stack else {
        var error = OutgoingError.compacted(revision, op.request.id, entry)
        error.index = index
        failure = OpFailure(error)
        operations.removeSubrange(index...)
        return true
      }
      operations[index] = .revert(to: revision, stack: stack)
    }
    return true
  }

  private mutating func waitForHistory(
    _ op: OpContext, for revision: Revision, _ slot: NavSlot
  ) throws(OpFailure) {
    let request = try registerRead(
      .revert(op, revision), .state(at: revision.number), op.request.id, slot, for: op.sender)
    batches.append(.read(request))
    assert(revision <= navs[slot].revision, "revision \(revision.number) does not exist yet")
    // The op stays in flight until it is answered.
    if let session = op.session { batches.keepOpInFlight(session) }
  }

  /// Continues an op when the journal has answered its request.
  mutating func resumeRevert(
    _ waiting: OpContext, _ revision: Revision, _ answer: HistoryAnswer, at now: Instant
  ) {
    var op = waiting
    op.now = now
    assert(op.histories[revision] == nil, "the history of \(revision.number) is known")
    op.histories[revision] = answer
    if let session = op.session { batches.note(.inFlight(session: session)) }
    do throws(OpFailure) {
      // The daemon may have begun to stop meanwhile.
      try checkStop()
      try check(op, .waited)
    } catch {
      refuse(op, error)
    }
  }

  /// The stack of an earlier revision, from the journal; nil if the revision is of another epoch of
  /// the nav.
  private mutating func earlierStack(
    of slot: NavSlot, at revision: Revision, from answer: HistoryAnswer
  ) throws(OpFailure) -> [ScreenID]? {
    do throws(StoredDataError) {
      if let failure = answer.failure { throw StoredDataError(what: failure) }
      let entry = try NavEntry.rebuilt(answer.snapshot, answer.rows, configuration, navs.reader)
      guard entry.controller.revision == revision else {
        throw StoredDataError(what: "it does not lead to revision \(revision.number)")
      }
      return entry.epoch == navs[slot].epoch ? entry.controller.stack.map(\.id) : nil
    } catch {
      let name = navs[slot].name
      let text = "the history of \(name) cannot be read: \(error.what)"
      output.notices.append(Notice(.faulty, .warning, text, nav: name))
      throw OpFailure(.storage, text)
    }
  }

  /// Forgets a request to the history; an op that waits for its answer is no longer in flight.
  mutating func dropRead(_ token: UInt64) {
    guard case .revert(let op, _)? = reads.take(token)?.purpose else { return }
    if let session = op.session { sessions.finishOp(of: session, answers: 0) }
  }

  /// Puts back a request whose answer will be handled again, unless its session has ended.
  mutating func restoreRead(_ read: PendingRead, _ token: UInt64) {
    if case .revert(let op, _) = read.purpose, let session = op.session {
      guard sessions.isLive(SessionRef(slot: session, client: op.key.client)),
        sessions[session].connection == read.sender.connection
      else { return }
      sessions.beginOp(of: session)
    }
    reads.putBack(read, token)
  }
}
