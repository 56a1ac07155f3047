import Navigation

// Creating and closing navs: steps 11 to 14 for the operations that a nav's own rules do not know.

extension Hub {
  mutating func create(_ attempt: Attempt) throws(OpFailure) {
    let request = attempt.request
    guard case .create(let creation) = request.operations[0].arguments else {
      guard case .unreadable(let failure) = request.operations[0].arguments else {
        preconditionFailure("nav.create read as \(request.operations[0].arguments)")
      }
      throw OpFailure(Self.outgoing(failure, 0))
    }
    let (operations, unreadable) = Self.readable(
      request, from: 1, isStandalone: attempt.createsStandaloneBar)
    let controller: NavigationController
    let performance: Performance
    do {
      (controller, performance) = try NavigationController.create(
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
      name: request.nav, number: lastNavNumber, owner: attempt.sender.peer.principal,
      epoch: Epoch(bits: random.next()), controller: controller)
    let slot = navs.insert(entry)
    navs[slot].shown.share(&barFrames)
    navSlots[request.nav] = slot
    numberSlots[lastNavNumber] = slot
    batch.created.append(slot)
    touch(slot)
    advance()
    navs[slot].lastSequence = sequence
    navs[slot].topChange = .creation(at: attempt.now.wall, by: author(of: attempt))
    let reply = ServerMessageWriter.ok(
      id: request.id, standing: navs[slot].standing, changed: true,
      outputs: [.nothing] + performance.outputs, delivered: 0)
    let body = JournalBody.state(
      nav: request.nav, epoch: entry.epoch, owner: entry.owner, controller: controller,
      digest: entry.digest, resolvedAt: entry.resolvedAt
    ) { $0.origin(attempt, .whole(reply)) }
    batch.records.append(
      .row(
        JournalRow(
          sequence: sequence, nav: entry.number, revision: 1, previous: 0, time: attempt.now.wall,
          kind: .created, isOpen: controller.isOpen, author: attempt.author, body: body)))
    remember(attempt, reply, isOk: true)
    send(attempt.sender.connection, .ok, reply, .ok)
  }

  mutating func close(_ attempt: Attempt, _ slot: Int) throws(OpFailure) {
    guard attempt.request.operations.count == 1 else {
      throw OpFailure(.invalidArgument, "nav.close stands alone in its message")
    }
    if case .unreadable(let failure) = attempt.request.operations[0].arguments {
      throw OpFailure(Self.outgoing(failure, 0))
    }
    if isStorageFailing { throw storageFailure() }
    touch(slot)
    advance()
    auditOverride(attempt, slot)
    let reply = ServerMessageWriter.ok(
      id: attempt.request.id, standing: navs[slot].standing, changed: true, outputs: [.nothing],
      delivered: 0)
    batch.records.append(
      .row(
        JournalRow(
          sequence: sequence, nav: navs[slot].number,
          revision: navs[slot].controller.revision.number, previous: navs[slot].lastSequence,
          time: attempt.now.wall, kind: .closed,
          author: attempt.author, body: JournalBody.closed { $0.origin(attempt, .whole(reply)) })))
    dropDialog(of: slot)
    // The entry stays in its slot until the closing is durable; only its name is gone.
    navSlots[navs[slot].name] = nil
    batch.closed.append(slot)
    batch.held.append(.closed(nav: slot))
    remember(attempt, reply, isOk: true)
    send(attempt.sender.connection, .ok, reply, .ok)
  }
}
