import NavigationCore

// Steps 11 to 14 for `nav.create` and `nav.close`, which the rules of a nav do not include.

extension Hub {
  mutating func create(_ op: OpContext) throws(OpFailure) {
    let request = op.request
    let (controller, result) = try stateCreated(by: op)
    try checkStorage()
    let slot = addNav(
      request.nav, ownedBy: access.owner(createdBy: op.sender.peer) ?? "", controller,
      by: op.client.author, at: op.now)
    let reply = ServerMessageWriter.ok(
      id: request.id, standing: navs[slot].standing, sequence: navs[slot].lastSequence,
      outputs: ShortList([.nothing] + result.outputs), delivered: 0)
    recordCreation(of: slot, by: op.author, at: op.now) { $0.origin(op, answeredBy: reply) }
    remember(op, reply, isOk: true)
    send(op.sender.connection, .ok, reply, .ok)
    if navs[slot].transition != nil { updateTransitionDeadline(slot, begunBy: op) }
    decideWaitingWatches(request.nav, at: op.now)
  }

  /// Adds a new nav to memory, and returns its slot; `recordCreation` then writes its first row.
  mutating func addNav(
    _ name: String, ownedBy owner: String, _ controller: NavigationController, by author: Author?,
    at now: Instant
  ) -> NavSlot {
    let slot = navs.create(name, ownedBy: owner, controller)
    noteLoaded(slot)
    assert(navs.slot(of: name) == slot)
    batches.note(.created(slot))
    batches.current.mayChangeNavList = true
    batches.noteChange(of: &navs[slot], slot)
    navs[slot].lastSequence = batches.nextRow(of: navs[slot].shard)
    navs[slot].changedAt = now.wall
    navs[slot].topChange = .creation(at: now.wall, by: author)
    return slot
  }

  mutating func recordCreation(
    of slot: NavSlot, by author: RowAuthor?, at now: Instant,
    origin: (inout JSONWriter) -> Void = { _ in }
  ) {
    let entry = navs[slot]
    let body = JournalBody.state(of: entry, origin: origin)
    let row = RowHeader(
      sequence: entry.lastSequence, nav: entry.number, revision: 1, previous: 0, time: now.wall,
      kind: .created, depth: entry.controller.stack.count, top: entry.controller.top?.id,
      needsRecovery: entry.controller.needsRecovery, author: author)
    batches.append(row, body: body.span)
  }

  /// The state that the op creates; throws if a rule refuses the op, or if there are too many navs.
  mutating func stateCreated(
    by op: OpContext
  ) throws(OpFailure) -> (controller: NavigationController, result: OperationResult) {
    let request = op.request
    guard case .create(let creation) = request.operation(0).arguments else {
      guard case .unreadable(let failure) = request.operation(0).arguments else {
        preconditionFailure("nav.create read as \(request.operation(0).arguments)")
      }
      throw OpFailure(OutgoingError(failure, at: 0))
    }
    let (operations, unreadable) = Self.readableOperations(
      request, from: 1, isStandalone: op.createsStandaloneBar)
    var controller: NavigationController
    let result: OperationResult
    do {
      (controller, result) = try NavigationController.create(
        creation, then: namingClient(operations, by: op), isAnimated: request.isAnimated,
        in: context)
    } catch {
      throw OpFailure(error)
    }
    if let unreadable { throw unreadable }
    if let looks { controller.adoptLooksAtCreation(looks) }
    assert(controller.revision == Revision(1))
    let faults = inspections.stateInspection(controller)
    guard faults.isEmpty else { throw OpFailure(.fault(request.nav, faults)) }
    try checkNavQuota()
    return (controller, result)
  }

  func checkNavQuota() throws(OpFailure) {
    guard navs.count >= configuration.navs else { return }
    throw OpFailure(
      OutgoingError(
        .limit, "navd holds \(counted(configuration.navs, "nav")) at most", reason: "quota"))
  }

  /// Throws if a message that closes a nav has other operations or unreadable arguments.
  func checkClosing(_ op: OpContext) throws(OpFailure) {
    guard op.request.kinds.count == 1 else {
      throw OpFailure(.invalidArgument, "nav.close stands alone in its message")
    }
    if case .unreadable(let failure) = op.request.operation(0).arguments {
      throw OpFailure(OutgoingError(failure, at: 0))
    }
  }

  mutating func close(_ op: OpContext, _ slot: NavSlot) throws(OpFailure) {
    try checkClosing(op)
    try checkStorage()
    batches.noteChange(of: &navs[slot], slot)
    let sequence = batches.nextRow(of: navs[slot].shard)
    logOverride(op, slot)
    let reply = ServerMessageWriter.ok(
      id: op.request.id, standing: navs[slot].standing, sequence: sequence, outputs: [.nothing],
      delivered: 0)
    let head = NavHead(navs[slot])
    let row = RowHeader(
      sequence: sequence, nav: navs[slot].number, revision: head.revision.number,
      previous: navs[slot].lastSequence, time: op.now.wall, kind: .closed, depth: head.depth,
      top: head.top, author: op.author)
    batches.append(row, body: JSONWriter.object { $0.origin(op, answeredBy: reply) }.span)
    assert(navs.hasName(slot), "\(op.request.nav) was closed before")
    dropCoordination(of: slot)
    // The entry stays in its slot until the closing is durable; only its name is gone.
    navs.releaseName(of: slot)
    batches.note(.closed(slot))
    batches.current.mayChangeNavList = true
    assert(navs.slot(of: op.request.nav) == nil)
    batches.append(.closed(nav: slot))
    remember(op, reply, isOk: true)
    send(op.sender.connection, .ok, reply, .ok)
  }
}
