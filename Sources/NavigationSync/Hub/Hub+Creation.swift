import Navigation

// Creating and closing navs: steps 11 to 14 for the operations that a nav's own rules do not know.

extension Hub {
  mutating func create(_ op: OpContext) throws(OpFailure) {
    let request = op.request
    guard case .create(let creation) = request.operations[0].arguments else {
      guard case .unreadable(let failure) = request.operations[0].arguments else {
        preconditionFailure("nav.create read as \(request.operations[0].arguments)")
      }
      throw OpFailure(Self.outgoing(failure, 0))
    }
    let (operations, unreadable) = Self.readable(
      request, from: 1, isStandalone: op.createsStandaloneBar)
    let controller: NavigationController
    let result: OperationResult
    do {
      (controller, result) = try NavigationController.create(
        creation, then: operations, isAnimated: request.isAnimated, in: context)
    } catch {
      throw OpFailure(OutgoingError(error))
    }
    if let unreadable { throw OpFailure(unreadable) }
    let faults = configuration.inspection?(controller) ?? []
    guard faults.isEmpty else { throw internalFault(request.nav, faults) }
    guard navs.count - 2 + dormants.count < configuration.navs else {
      var error = OutgoingError(.limit, "navd holds \(counted(configuration.navs, "nav")) at most")
      error.reason = "quota"
      throw OpFailure(error)
    }
    if isStorageFailing { throw storageFailure() }
    lastNavNumber += 1
    let entry = NavEntry(
      name: request.nav, number: lastNavNumber, owner: op.sender.peer.principal,
      epoch: Epoch(bits: random.next()), controller: controller)
    let slot = navs.insert(entry)
    navs[slot].shown.share(&barFrames)
    navSlots[request.nav] = slot
    numberSlots[lastNavNumber] = slot
    batch.created.append(slot)
    touch(slot)
    advance()
    navs[slot].lastSequence = sequence
    navs[slot].topChange = .creation(at: op.now.wall, by: author(of: op))
    let reply = ServerMessageWriter.ok(
      id: request.id, standing: navs[slot].standing, changed: true,
      outputs: [.nothing] + result.outputs, delivered: 0)
    let body = JournalBody.state(
      nav: request.nav, epoch: entry.epoch, owner: entry.owner, controller: controller,
      digest: entry.digest, resolvedAt: entry.resolvedAt
    ) { $0.origin(op, .whole(reply)) }
    batch.records.append(
      .row(
        JournalRow(
          sequence: sequence, nav: entry.number, revision: 1, previous: 0, time: op.now.wall,
          kind: .created, isOpen: controller.isOpen, author: op.author, body: body)))
    remember(op, reply, isOk: true)
    send(op.sender.connection, .ok, reply, .ok)
  }

  mutating func close(_ op: OpContext, _ slot: Int) throws(OpFailure) {
    guard op.request.operations.count == 1 else {
      throw OpFailure(.invalidArgument, "nav.close stands alone in its message")
    }
    if case .unreadable(let failure) = op.request.operations[0].arguments {
      throw OpFailure(Self.outgoing(failure, 0))
    }
    if isStorageFailing { throw storageFailure() }
    touch(slot)
    advance()
    auditOverride(op, slot)
    let reply = ServerMessageWriter.ok(
      id: op.request.id, standing: navs[slot].standing, changed: true, outputs: [.nothing],
      delivered: 0)
    batch.records.append(
      .row(
        JournalRow(
          sequence: sequence, nav: navs[slot].number,
          revision: navs[slot].controller.revision.number, previous: navs[slot].lastSequence,
          time: op.now.wall, kind: .closed,
          author: op.author, body: JournalBody.closed { $0.origin(op, .whole(reply)) })))
    dropCoordination(of: slot)
    // The entry stays in its slot until the closing is durable; only its name is gone.
    navSlots[navs[slot].name] = nil
    batch.closed.append(slot)
    batch.effects.append(.closed(nav: slot))
    remember(op, reply, isOk: true)
    send(op.sender.connection, .ok, reply, .ok)
  }
}
