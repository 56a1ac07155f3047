import NavigationCore

// Operations on navs: the steps after the checks of OpChecks.swift, from the arguments (step 11 of
// protocol §9.4) to the revision (step 14), and the answers.

extension Hub {
  /// Answers a refused op; remembers the answer if its `retry` is `no` or `resync`.
  mutating func refuse(_ op: OpContext, _ failure: OpFailure) {
    noteRefusal(
      failure.error, of: op.sender, about: op.request.nav, op: op.request, client: op.name)
    let reply = encode(failure.error, to: op.request, op.sender)
    send(op.sender.connection, .err, reply, .refused(failure.error.code))
    if op.request.isDry { return }
    reportAttemptedPopOrDismiss(failure.error, of: op)
    let retry = failure.error.code.retry
    if retry == .no || retry == .resync { remember(op, reply, isOk: false) }
  }

  /// The error of an op that a check or a rule refuses.
  ///
  /// An `OutgoingError` is large. As the enum is indirect, functions that mostly succeed have small
  /// stack frames.
  indirect enum OpFailure: Error {
    case outgoing(OutgoingError)

    init(_ error: OutgoingError) { self = .outgoing(error) }

    init(_ code: ErrorCode, _ text: String) { self.init(OutgoingError(code, text)) }

    init(_ refusal: Refusal) { self.init(OutgoingError(refusal)) }

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
    noteRefusal(error, of: sender, about: request.nav, op: request, client: request.clientName)
    send(sender.connection, .err, encode(error, to: request, sender), .refused(error.code))
  }

  /// Encodes an error, with the nav's standing if the sender may read it.
  private func encode(_ error: OutgoingError, to request: OpMessage, _ sender: Sender) -> [UInt8] {
    var error = error
    error.id = request.id
    return ServerMessageWriter.error(addingStanding(to: error, of: request.nav, for: sender))
  }

  /// Sends an `ok` after the diffs that the sender's own watch of the nav has not got yet.
  mutating func answer(
    _ sender: Sender, _ session: SessionSlot?, _ nav: NavSlot?, _ reply: [UInt8], _ outcome: Outcome
  ) {
    guard let nav else { return send(sender.connection, .ok, reply, outcome) }
    assert(navs.isLive(nav))
    batches.append(.answer(sender.connection, session: session, nav: nav, reply, outcome))
  }

  mutating func remember(_ op: OpContext, _ reply: [UInt8], isOk: Bool) {
    assert(!reply.isEmpty, "op \(op.request.id) is not answered")
    let entry = RememberedOps.Entry(id: op.request.id, octets: op.octets, isOk: isOk, reply: reply)
    let evicted = remembered.remember(
      entry, of: op.key, row: batches.sequence(of: op.shard), at: op.now.boot)
    timer.plan(op.now.boot + configuration.rememberedIdle)
    batches.note(.remembered(op.client, op: op.request.id, evicted: evicted))
  }

  /// Returns the operations of a message from `first` on, up to the first one that cannot be
  /// performed.
  ///
  /// `failure` is the error of that operation. The caller throws it only if the rules refuse no
  /// earlier operation.
  static func readableOperations(
    _ request: OpMessage, from first: Int = 0, isStandalone: Bool
  ) -> (operations: [Operation], failure: OpFailure?) {
    if request.areDecodedWithoutSender, first == 0, !isStandalone {
      return (request.decoded, nil)
    }
    for index in first..<request.kinds.count {
      guard let failure = failure(of: request.operation(index), index, isStandalone: isStandalone)
      else { continue }
      // All operations before this one can be read.
      return (Array(request.decoded[..<(index - first)]), OpFailure(failure))
    }
    return (request.decoded, nil)
  }

  private static func failure(
    of operation: RequestedOperation, _ index: Int, isStandalone: Bool
  ) -> OutgoingError? {
    if isStandalone, let failure = operation.standaloneFailure {
      return OutgoingError(failure, at: index)
    }
    switch operation.arguments {
    case .decoded: return nil
    case .unreadable(let failure): return OutgoingError(failure, at: index)
    case .create, .close:
      return OutgoingError(
        .invalidArgument,
        operation.kind == .navClose
          ? "nav.close stands alone in its message" : "nav.create is the first op of its message",
        index: index)
    }
  }

  /// Returns the operations of an op with all arguments; nil if a revert among them waits for the
  /// history.
  mutating func operations(of op: OpContext, _ slot: NavSlot) throws(OpFailure) -> [Operation]? {
    let isStandalone = navs[slot].controller.isStandalone
    // Nearly all messages have nothing that the rest is about.
    if op.request.areDecodedWithoutSender, op.request.kinds.areOrdinary, !isStandalone {
      return op.request.decoded
    }
    var (operations, unreadable) = Self.readableOperations(op.request, isStandalone: isStandalone)
    if op.isAboutGesture || op.request.kinds.contains(.open) {
      operations = namingClient(operations, by: op)
    }
    guard try fillInRevertedStacks(&operations, &unreadable, op, slot) else { return nil }
    if let unreadable {
      // A refusal of an operation before the unreadable one counts, because the first error does.
      if !operations.isEmpty { _ = try trial(operations, op, slot) }
      throw unreadable
    }
    return operations
  }

  /// Performs operations of an op on a copy of the nav's state; throws the rules' refusal.
  func trial(
    _ operations: [Operation], _ op: OpContext, _ slot: NavSlot
  ) throws(OpFailure) -> (state: NavigationController, result: OperationResult) {
    var state = navs[slot].controller
    do {
      if wouldInterrupt(op, slot) {
        _ = try state.perform(
          [.interruptTransition(progress: nil)], isAnimated: nil, in: context)
      }
      let result = try state.perform(operations, isAnimated: op.request.isAnimated, in: context)
      return (state, result)
    } catch {
      throw OpFailure(error)
    }
  }

  /// Adds the client's name to operations that begin a gesture, and its role to those that open a
  /// route.
  func namingClient(_ operations: [Operation], by op: OpContext) -> [Operation] {
    operations.map { operation in
      switch operation {
      case .beginGesture(let isFullScreen, let translation, _):
        .beginGesture(isFullScreen: isFullScreen, translation: translation, owner: op.name)
      case .open(let route, _, let isOver):
        .open(
          route: route, role: access.role(of: op.sender.peer).name, dismissesFirst: isOver)
      default: operation
      }
    }
  }

  /// Performs and commits operations on a nav; `animation` is a delegate's choice, nil without one.
  mutating func perform(
    _ operations: [Operation], _ op: OpContext, _ slot: NavSlot, animation: Animation?
  ) throws(OpFailure) {
    assert(navs[slot].fault == nil, "a frozen nav changes")
    assert(operations.count == op.request.kinds.count)
    try checkUnsound(op, slot)
    let interrupts = interrupts(op, slot)
    if interrupts {
      // An op that is refused or changes nothing leaves the transition alone.
      let trial = try trial(operations, op, slot).result
      guard trial.isChanged else { return answerUnchanged(op, slot, trial.outputs) }
      try interruptTransition(before: op, slot)
    }
    let before = inspections.commitInspection == nil ? StateBefore(navs[slot].controller) : nil
    let result: OperationResult
    do {
      result = try navs[slot].controller.perform(
        operations, isAnimated: op.request.isAnimated, animation: animation, in: context)
    } catch {
      throw OpFailure(error)
    }
    assert(result.outputs.count == operations.count)
    guard result.isChanged else { return answerUnchanged(op, slot, result.outputs) }
    if let before { try freezeIfUnsound(slot, restoring: before.state) }
    try checkSound(result.effect, of: op, slot)
    let delivered = sendEvents(result.outputs, of: op, slot)
    record(result.effect, result.outputs, delivered, op, slot)
    if interrupts || result.effect.parts.contains(.transition) {
      updateTransitionDeadline(slot, begunBy: op)
    }
  }

  /// Answers an op that changed nothing.
  private mutating func answerUnchanged(
    _ op: OpContext, _ slot: NavSlot, _ outputs: ShortList<OperationOutput>
  ) {
    let delivered = sendEvents(outputs, of: op, slot)
    let reply = ServerMessageWriter.ok(
      id: op.request.id, standing: navs[slot].standing, sequence: nil, outputs: outputs,
      delivered: delivered)
    // Progress arrives so often that remembering it would evict all other ops.
    let isProgress = op.request.kinds.allSatisfy { $0 == .gestureUpdate }
    if !isProgress { remember(op, reply, isOk: true) }
    answer(op.sender, op.session, slot, reply, .unchanged)
  }

  /// Sends the events of an op that need no revision; returns the number of watches that get them.
  private mutating func sendEvents(
    _ outputs: ShortList<OperationOutput>, of op: OpContext, _ slot: NavSlot
  ) -> Int {
    var delivered = 0
    // Only these operations have such outputs. A look at the outputs copies each of them.
    guard !op.request.kinds.areOrdinary,
      op.request.kinds.contains(where: {
        [.buttonActivate, .gestureUpdate, .gestureFinish, .uiBack, .uiBackTap].contains($0)
      })
    else { return delivered }
    for index in outputs.indices {
      switch outputs[index] {
      case .activated(let button, let element, let action):
        delivered = eventReceiverCount(of: slot)
        let body = ServerMessageWriter.event(
          nav: navs[slot].name, epoch: navs[slot].epoch, revision: navs[slot].controller.revision,
          button: button, element: element, action: action)
        batches.append(.event(nav: slot, body))
      case .gestureProgress(let transition, let value):
        delivered = eventReceiverCount(of: slot)
        publishProgress(of: slot, transition, value)
      case .popped(nil) where op.request.kinds[index] == .uiBack:
        appendEvent("backAtRoot", of: slot)
      case .popped(nil) where op.request.kinds[index] == .gestureFinish:
        if let screen = blockedTop(of: slot) { appendEvent("popBlocked", screen: screen, of: slot) }
      default: break
      }
    }
    return delivered
  }

  /// Reports to the watches that a person tried to pop or to dismiss a screen that does not allow it.
  ///
  /// A repetition of the op gets the remembered answer, and no event.
  private mutating func reportAttemptedPopOrDismiss(_ error: OutgoingError, of op: OpContext) {
    let isDismissal = error.code == .dismissBlocked
    let isBlocked =
      error.code == .popBlocked || isDismissal
      || error.code == .gestureRefused && error.reason == GestureRefusal.popBlocked.rawValue
    guard isBlocked, let slot = navs.slot(of: op.request.nav) else { return }
    assert(navs[slot].directory == nil, "a virtual nav has no screens")
    // The error names the screen, unless a gesture was blocked: that is about the top screen.
    let named = error.details.first { "\($0.name)" == "screen" }?.json
    guard let screen = named ?? blockedTop(of: slot) else { return }
    appendEvent(isDismissal ? "dismissAttempted" : "popBlocked", screen: screen, of: slot)
  }

  /// The id, as JSON, of the top if a person cannot pop it.
  private func blockedTop(of slot: NavSlot) -> [UInt8]? {
    guard let top = navs[slot].controller.top, !top.details.canPop else { return nil }
    return JSONWriter.value { $0.string(top.id.text) }
  }

  /// Sends an event of a person's action that changed nothing to the watches of the nav.
  private mutating func appendEvent(
    _ name: StaticString, screen: [UInt8]? = nil, of slot: NavSlot
  ) {
    let nav = navs[slot]
    let body = ServerMessageWriter.event(
      nav: nav.name, epoch: nav.epoch, revision: nav.controller.revision, name, screen: screen)
    batches.append(.event(nav: slot, body))
  }

  private func eventReceiverCount(of slot: NavSlot) -> Int {
    assert(watches.of(nav: slot).allSatisfy { watches[$0].nav == slot })
    return watches.of(nav: slot).count {
      watches[$0].view == .full && sessions[watches[$0].session].hasCredit
    }
  }
}

extension OpContext {
  /// The cause of the revision: the cause of the first operation that has one.
  ///
  /// The activation of a button that pops has the cause of a tap on the back button.
  func cause(of outputs: ShortList<OperationOutput>) -> Cause {
    assert(outputs.count <= request.kinds.count)
    for index in outputs.indices {
      let kind = request.kinds[index]
      if case .activated = outputs[index] { continue }
      if let cause = kind.cause { return cause }
    }
    return .api
  }
}

// Step 14 of protocol §9.4: making a revision of a commit: its diff, its row, its place in the ring,
// its answer.

extension Hub {
  /// Makes a revision of an op's commit: writes diff and row, fills the ring, answers the op.
  mutating func record(
    _ commit: Commit, _ outputs: ShortList<OperationOutput>, _ delivered: Int, _ op: OpContext,
    _ slot: NavSlot
  ) {
    // All JSON of the commit is written into one scratch buffer, and copied from there.
    JSONWriter.withStackMemory { json in record(commit, outputs, delivered, op, slot, &json) }
  }

  private mutating func record(
    _ commit: Commit, _ outputs: ShortList<OperationOutput>, _ delivered: Int, _ op: OpContext,
    _ slot: NavSlot, _ json: inout JSONWriter
  ) {
    assert(!commit.isEmpty, "a revision without a change")
    assert(outputs.count <= op.request.kinds.count)
    let cause = op.cause(of: outputs)
    let row = beginRow(commit, slot, cause: cause, by: (op.name, op.request.id), &json)
    let standing = navs[slot].controllerStanding()
    let ok = ServerMessageWriter.encodedOk(
      id: op.request.id, standing: standing, sequence: navs[slot].lastSequence,
      outputs: outputs, delivered: delivered, &json)
    ChangedBody.write(row.change, commit, by: op, outputs, answeredBy: ok, &json)
    endRow(commit, slot, row, json.writtenWithComma, op.author, at: op.now)
    if commit.changesStackOrder {
      navs[slot].updateTopChange(commit, by: op.client.author, cause: cause, time: op.now.wall)
    }
    if op.request.guards.any || op.isVetoSkipped { logOverride(op, slot) }
    remember(op, ok.bytes, isOk: true)
    answer(op.sender, op.session, slot, ok.bytes, .ok)
    if commit.revision.number >= navs[slot].snapshotRevision.number
      + configuration.snapshotEvery
    {
      recordSnapshot(of: slot, at: op.now)
    }
  }

  /// Makes a revision of a commit by navd itself: writes diff and row, fills the ring.
  ///
  /// The diff names `by`, the session for which navd acts, only if a message asked for the change.
  mutating func recordDaemonCommit(
    _ commit: Commit, _ slot: NavSlot, cause: Cause, by: ChangeOrigin?, at now: Instant
  ) {
    assert(!commit.isEmpty, "a revision without a change")
    assert(cause != .api || by != nil, "a client's change without the client")
    var json = JSONWriter(reserving: 1000)
    let message = by.flatMap { by in by.op.map { (by.author.name, $0) } }
    let row = beginRow(commit, slot, cause: cause, by: message, &json)
    ChangedBody.write(row.change, commit, &json) {
      if let by { $0.origin(by) }
    }
    endRow(commit, slot, row, json.writtenWithComma, nil, at: now)
    navs[slot].updateTopChange(commit, by: by?.author, cause: cause, time: now.wall)
  }

  /// The values of a new row that `beginRow` passes to `endRow`.
  fileprivate struct BegunRow: ~Copyable {
    var change: ChangedBody.Change
    var needsRecovery: Bool
    /// The number of the nav's row before this one.
    var previousRow: UInt64
  }

  private mutating func beginRow(
    _ commit: Commit, _ slot: NavSlot, cause: Cause, by: (name: String, op: UInt64)?,
    _ json: inout JSONWriter
  ) -> BegunRow {
    assert(navs[slot].fault == nil, "a frozen nav changes")
    assert(!batches.isUnsound, "a revision of an unsound batch")
    batches.noteChange(of: &navs[slot], slot)
    let sequence = batches.nextRow(of: navs[slot].shard)
    return navs[slot].updateDerivedValues(
      after: commit, sequence: sequence, cause: cause, by: by,
      mayIncludeBar: watches.includeResolvedBar(of: slot), &json)
  }

  private mutating func endRow(
    _ commit: Commit, _ slot: NavSlot, _ row: consuming BegunRow, _ body: Span<UInt8>,
    _ author: RowAuthor?, at now: Instant
  ) {
    let sequence = navs[slot].lastSequence
    assert(row.previousRow < sequence, "row \(sequence) follows row \(row.previousRow)")
    assert(sequence == batches.sequence(of: navs[slot].shard))
    navs[slot].changedAt = now.wall
    batches.append(
      RowHeader(
        sequence: sequence, nav: navs[slot].number,
        revision: commit.revision.number, previous: row.previousRow, time: now.wall, kind: .changed,
        depth: row.change.depth, top: row.change.top, needsRecovery: row.needsRecovery,
        author: author), body: body)
    appendToRing(row.change.diff, slot)
    batches.eventCost += watches.of(nav: slot).count * Self.costOfWatch
  }

  /// Appends a diff to a nav's ring; `trimRing` later drops old diffs.
  mutating func appendToRing(_ diff: consuming EncodedDiff, _ slot: NavSlot) {
    let byteCount = diff.bytes.count
    navs.appendToRing(diff, slot)
    assert(navs[slot].ring.last <= navs[slot].revision.next)
    // This diff exceeds a message, so watches get a snapshot, for which everything must be durable.
    if byteCount > configuration.maximumReplyBytes { batches.forbidSealing() }
  }

  /// Drops the oldest durable diffs of a nav that exceed the limits of its ring.
  mutating func trimRing(of slot: NavSlot) {
    navs.trimRing(slot, revisions: configuration.resumeRevisions, bytes: configuration.resumeBytes)
  }

  mutating func recordSnapshot(of slot: NavSlot, at now: Instant) {
    let entry = navs[slot]
    guard entry.number > 0, !batches.isStorageFailing else { return }
    // If the snapshot cannot be stored, the rollback must find the nav.
    batches.noteChange(of: &navs[slot], slot)
    assert(entry.snapshotRevision <= entry.controller.revision)
    let body = JournalBody.state(of: entry) { json in
      guard let change = entry.topChange else { return }
      json.name("since")
      json.topChange(change)
    }
    batches.append(
      SnapshotRow(
        nav: entry.number, revision: entry.controller.revision.number,
        sequence: entry.lastSequence, time: now.wall, body: body))
    navs[slot].snapshotRevision = entry.controller.revision
  }
}

extension NavEntry {
  /// Updates digest and row number after the controller made a commit; encodes the diff.
  ///
  /// The diff has the resolved bar if the bar changed and `mayIncludeBar`.
  fileprivate mutating func updateDerivedValues(
    after commit: Commit, sequence: UInt64, cause: Cause, by: (name: String, op: UInt64)?,
    mayIncludeBar: Bool, _ json: inout JSONWriter
  ) -> Hub.BegunRow {
    assert(commit.revision == controller.revision, "the commit of another state")
    assert(ring.last.next == commit.revision, "the ring ends with \(ring.last)")
    assert(sequence > lastSequence, "row \(sequence) behind row \(lastSequence)")
    let (previous, before) = (lastSequence, digest)
    lastSequence = sequence
    let frame = DiffEnvelope(
      nav: name, epoch: epoch, base: Revision(commit.revision.number - 1),
      revision: commit.revision, sequence: sequence, cause: cause, by: by)
    let (encoded, needsRecovery) = Self.encode(
      commit, of: controller, in: frame, &digest, &running, &followedBar,
      mayIncludeBar: mayIncludeBar,
      &json)
    let change = ChangedBody.Change(
      envelope: frame, digestBefore: before, digest: digest, diff: encoded.diff,
      changes: encoded.changes, depth: controller.stack.count, top: controller.stack.last?.id)
    return Hub.BegunRow(change: change, needsRecovery: needsRecovery, previousRow: previous)
  }

  /// Computes the digest of the state after a commit, and encodes the diff.
  ///
  /// Returns also whether the state is open. Swift copies the 192 bytes of the controller for each
  /// use by the entry. As this function is never inlined, it copies them once for three uses.
  @inline(never)
  private static func encode(
    _ commit: Commit, of controller: borrowing NavigationController,
    in frame: borrowing DiffEnvelope, _ digest: inout Digest, _ running: inout RunningDigest,
    _ followed: inout FollowedBar, mayIncludeBar: Bool, _ json: inout JSONWriter
  ) -> (encoded: (diff: EncodedDiff, changes: Range<Int>), needsRecovery: Bool) {
    let checksum = running.update(
      controller, from: min(commit.splice?.at ?? .max, commit.changedScreenIndexes.first ?? .max))
    let encoded = frame.encode(
      commit, of: controller, followed: &followed, mayIncludeBar: mayIncludeBar, checksum: checksum,
      digest: &digest, &json)
    return (encoded, controller.needsRecovery)
  }

  /// The name, epoch, revision, digest and top of a nav that is not virtual.
  fileprivate mutating func controllerStanding() -> NavStanding {
    assert(directory == nil, "a virtual nav has another standing")
    return NavStanding(
      nav: name, epoch: epoch, revision: controller.revision, digest: digest,
      depth: controller.stack.count, top: controller.stack.last?.id.text)
  }

  /// Notes author, time and cause of a change of the top, if the commit changed the top.
  fileprivate mutating func updateTopChange(
    _ commit: Commit, by author: Author?, cause: Cause, time: UInt64
  ) {
    guard
      let change = TopChange(commit, to: controller.stack, by: author, time: time, cause: cause)
    else { return }
    // An assignment to the optional would go through the value witnesses of its type, and a
    // comparison with nil would copy it.
    switch topChange {
    case .none: topChange = consume change
    case .some: topChange?.replace(by: consume change)
    }
  }
}

extension TopChange {
  fileprivate mutating func replace(by other: consuming TopChange) { self = consume other }
}
