package import NavigationCore

// The shards of a cluster: which navs this hub serves, and what it answers about the others. A shard
// comes with all of its navs, replayed by a hub of its own, and goes with all of them. Both happen
// between two batches, when nothing is under way.

extension Hub {
  /// The bounds of the milliseconds after which a client retries a request for a nav that has no
  /// owner.
  ///
  /// A shard that moves to this daemon usually arrives within some milliseconds. So the client
  /// waits as long as the nav has already been without an owner, within these bounds.
  private static let retryMillisecondsWithoutOwner: ClosedRange<UInt64> = 10...100

  /// The number of navs, without the virtual ones.
  package var navCount: Int { navs.count }

  /// The shards that this hub serves, ascending.
  package var shardsHere: [Shard] { shards.here }

  /// The number of a shard's newest row, or the one that the next row follows after a loss.
  package func newestRow(of shard: Shard) -> UInt64 { batches.sequence(of: shard) }

  /// The error of a message about a nav that another daemon serves; nil if this one does.
  func misplacedError(_ nav: String) -> OutgoingError? {
    guard !shards.areAllHere, !NavName.isVirtualName(nav) else { return nil }
    let shard = shards.shard(of: nav)
    return shards.isHere(shard) ? nil : movedError(nav, shard)
  }

  private func movedError(_ nav: String, _ shard: Shard) -> OutgoingError {
    guard let owner = shards.owner(of: shard) else {
      let range = Self.retryMillisecondsWithoutOwner
      let waited = shards.ownedSince(shard).map { timer.now.boot - min($0, timer.now.boot) }
      return OutgoingError(
        .busy, "shard \(shard.number), which has \(nav), has no owner yet", reason: "no-owner",
        after: min(max(waited ?? range.upperBound, range.lowerBound), range.upperBound))
    }
    var error = OutgoingError(.moved, "\(owner.name) serves \(nav)")
    let details: [(StaticString, String?)] = [
      ("nav", nav), ("endpoint", owner.endpoint), ("key", owner.key), ("web", owner.web),
    ]
    error.details = details.compactMap { name, value in
      value.map { value in (name, JSONWriter.value { $0.string(value) }) }
    }
    return error
  }
}

// A shard comes.

extension Hub {
  /// Makes a hub that replays shards of this hub's cluster; `adopt` takes over the replayed navs.
  package func makeReplayingHub(seed: UInt64) -> Hub {
    Hub(configuration: configuration, access: access, shards: shards.count, seed: seed)
  }

  /// Begins to serve shards; returns the number of navs.
  ///
  /// The shell makes the records of `adopt` durable before it sends any answer; if that fails, it
  /// calls `rollBack`, then `release`.
  ///
  /// `shards` has the number of each shard's newest row, which retention may have pruned. `replayed`
  /// is a hub of `makeReplayingHub`, through which the rows of these shards went as at a start, up to
  /// `finishReplay`.
  @discardableResult
  package mutating func adopt(
    _ shards: [Shard: UInt64], from replayed: Hub, losses: [Shard: HistoryLoss] = [:],
    at now: Instant
  ) -> Int {
    precondition(batches.changeNoNav, "shards come while a batch is under way")
    assert(!shards.keys.contains { self.shards.isHere($0) }, "a shard comes twice")
    timer.advance(to: now)
    let slots = navs.absorb(replayed.navs)
    remembered.absorb(replayed.remembered, at: now.boot)
    for (shard, sequence) in shards {
      let known = replayed.batches.sequence(of: shard)
      batches.continueNumbering(after: max(sequence, known), of: shard)
      if sequence > known { remembered.forget(upTo: sequence, of: shard) }
    }
    if remembered.clientCount > 0 { timer.plan(now.boot + configuration.rememberedIdle) }
    self.shards.set(shards.keys, here: true, at: now.boot)
    renewEpochs(losses, at: now)
    for slot in slots { noteLoaded(slot) }
    // Before changes that are not durable.
    publishAllHeads()
    for slot in slots where navs[slot].fault == nil { recover(slot) }
    trimRings()
    publishVirtualNav(Navs.navsSlot)
    return replayed.navs.count
  }
}

// A shard goes.

extension Hub {
  /// Whether no transition, question or gesture is open in the navs of these shards, and no op
  /// waits.
  package func isQuiet(_ leaving: [Shard]) -> Bool {
    let leaving = Set(leaving)
    return !coordinations.slots.contains {
      navs.isLive($0) && leaving.contains(navs[$0].shard)
        && coordinations[$0]?.isBusy == true
    }
  }

  /// Stops serving shards, which another daemon owns from now on; no batch with changes of them is
  /// under way.
  ///
  /// Watches end as `moved`. Roles, leases, gestures and questions end, and waiting ops are refused
  /// as `moved` or `busy`. The new owner ends open transitions, as after a start. The
  /// next `committed` returns the messages to the clients.
  ///
  /// `owner` is nil if the new owner's name is not known.
  package mutating func release(_ leaving: [Shard], to owner: String?, at now: Instant) {
    precondition(batches.changeNoNav, "shards go while a batch is under way")
    timer.advance(to: now)
    shards.set(leaving, here: false, at: now.boot)
    if let owner { shards.note(owner, has: leaving) }
    let leaving = Set(leaving)
    for op in reads.takeOps(where: { leaving.contains($0.shard) }) {
      if let session = op.session { sessions.finishOp(of: session, answers: 0) }
      refuseMoved(op)
    }
    let slots = navs.loaded.filter { leaving.contains(navs[$0].shard) }
    for slot in slots { removeMovedNav(slot, at: now) }
    refuseMovedWatches(of: leaving)
    navs.dormants.drop(leaving)
    publishAllHeads()
    remembered.drop(leaving)
    batches.forget(leaving, Set(slots))
    publishVirtualNav(Navs.navsSlot)
    assert(!shards.areAllHere || leaving.isEmpty)
  }

  /// Removes a loaded nav that another daemon serves from now on.
  private mutating func removeMovedNav(_ slot: NavSlot, at now: Instant) {
    // No note for a rollback, which does not bring the nav back.
    let coordination = coordinations.forget(slot)
    let question = coordination?.question
    if let question { sendSettled(question.sentAsks, "denied", by: nil) }
    let details = misplacedError(navs[slot].name)?.details.filter { "\($0.name)" != "nav" } ?? []
    let watching = Set(watches.of(nav: slot).map { watches[$0].session })
    for index in watches.of(nav: slot) { endWatch(index, why: "moved", details, at: now) }
    let others = (coordination?.delegates.map(\.session) ?? []) + [coordination?.displayHolder]
    for case let ref? in others where sessions.isLive(ref) && !watching.contains(ref.slot) {
      endRoles(of: ref.slot, slot, details)
    }
    if navs.hasName(slot) { navs.releaseName(of: slot) }
    navs.remove(slot)
    // Not before: an error about a nav that is here has its position.
    for op in [question?.op].compactMap({ $0 }) + (coordination?.queue ?? []) { refuseMoved(op) }
  }

  /// Sends `end` to a session that has roles or a lease in a moved nav, and no watch.
  private mutating func endRoles(
    of session: SessionSlot, _ slot: NavSlot, _ details: [(name: StaticString, json: [UInt8])]
  ) {
    let body = ServerMessageWriter.end(
      nav: navs[slot].name, view: .full, epoch: navs[slot].epoch,
      revision: navs[slot].durable, why: "moved", details)
    send(sessions[session].connection, .end, body)
  }

  /// Answers an op that waited, because its nav has moved; it was not decided.
  private mutating func refuseMoved(_ op: OpContext) {
    refuse(op.request, movedError(op.request.nav, op.shard), op.sender)
  }
}

// Administration.

extension Hub {
  /// Passes an administrator's request for the cluster to the shell, which answers by
  /// `HubEvent.clusterCommandResult`.
  mutating func requestClusterCommand(_ request: ClusterRequest, from sender: Sender) {
    guard administers(sender, request.id, to: "change the cluster") else { return }
    guard shards.count > 1 else {
      let text = "this daemon serves all navs itself; a cluster needs navd-cluster"
      return refuse(sender, OutgoingError(.unsupported, id: request.id, text))
    }
    let command: ClusterCommand
    switch request.wish {
    case .move(let shard, let member):
      guard shard < shards.count else {
        let text = "there are the shards 0 to \(shards.count - 1)"
        return refuse(sender, OutgoingError(.invalidArgument, id: request.id, text))
      }
      command = .move(Shard(shard), to: member)
    case .moveNav(let nav, let member): command = .move(shards.shard(of: nav), to: member)
    case .drain(let member, let isOn): command = .drain(member, on: isOn)
    }
    batches.append(
      .clusterCommand(.init(connection: sender.connection, id: request.id, command: command)))
  }

  mutating func answerClusterCommand(
    _ connection: ConnectionID, id: UInt64, failure: ClusterCommandFailure?
  ) {
    switch failure {
    case nil: send(connection, .ok, ServerMessageWriter.ok(id: id))
    case .noMember(let name):
      let error = OutgoingError(.invalidArgument, id: id, "the cluster has no member \(name)")
      send(connection, .err, ServerMessageWriter.error(error), .refusedMessage(.invalidArgument))
    case .storage(let reason):
      let error = OutgoingError(.storage, id: id, reason)
      send(connection, .err, ServerMessageWriter.error(error), .refusedMessage(.storage))
    }
  }
}

/// The reason why the database has not stored an administrator's request.
package enum ClusterCommandFailure: Hashable, Sendable {
  /// No daemon of this name was ever in the cluster.
  case noMember(String)
  /// The database could not be written.
  case storage(String)
}
