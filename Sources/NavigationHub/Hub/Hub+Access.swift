import NavigationCore

// Changes of rights while clients are served, and log entries about refusals and overrides.

extension Hub {
  /// Installs new access rules, by which the hub judges every message from now on.
  ///
  /// Sessions end if their gateway may not speak for actors any more, or now needs an actor.
  /// Sessions that lose a right lose delegate roles and the display lease now, and watches when the
  /// batch is durable.
  mutating func change(_ access: Access) {
    self.access = access
    for slot in sessions.indices where !mayGoOn(sessions.slots[slot].peer) {
      end(slot, why: "revoked", after: nil)
    }
    if sessions.renewRoles(by: access) { batches.current.changedClients = true }
    for slot in coordinations.slots where navs.isLive(slot) {
      guard let coordination = coordinations[slot] else { continue }
      var refs = coordination.delegates.map(\.session)
      if let holder = coordination.holder { refs.append(holder) }
      for ref in refs where sessions.isLive(ref) {
        let rights = rights(of: sessions.slots[ref.slot].peer, onNavAt: slot)
        if !rights.contains(.push) { endCoordination(of: ref, on: slot, keepsOps: true) }
      }
    }
    batches.append(.recheck)
  }

  /// Whether the rules for gateways permit that a peer has a session, and completes what it began.
  mutating func mayGoOn(_ peer: Peer) -> Bool {
    if case .actor(_, let gateway) = peer { return access.maySpeakForActors(gateway) }
    return !access.speaksForActorsOnly(peer)
  }

  /// Ends the session of a connection whose key is not authorised any more.
  mutating func revoke(_ connection: ConnectionID) {
    guard let slot = sessions.slot(of: connection) else {
      send(connection, .bye, ServerMessageWriter.bye(why: "revoked", after: nil))
      return batches.append(.ended(connection))
    }
    var notice = Notice(
      .refused, .warning, "the key of \(sessions.slots[slot].name) is not authorised any more")
    notice.client = sessions.slots[slot].name
    notice.principal = sessions.slots[slot].peer.principal
    notice.code = Self.revocation
    // An effect of the batch, like the `bye`: a rollback keeps both.
    batches.append(.notice(notice))
    end(slot, why: "revoked", after: nil)
  }

  /// Ends the watches whose sessions may not read the nav any more.
  mutating func recheckWatches(at now: Instant) {
    for session in sessions.indices {
      let peer = sessions.slots[session].peer
      for index in watches.of(session: session) {
        let nav = watches.slots[index].nav
        guard !rights(of: peer, onNavAt: nav).contains(.read) else { continue }
        // `finishClosing` ends the watches of a nav that is closed.
        guard navs.hasName(nav) else { continue }
        endWatch(index, why: "forbidden", at: now)
      }
    }
  }

  func rights(of peer: Peer, onNavAt slot: Int) -> Rights {
    access.rights(of: peer, on: navs.slots[slot].name, owner: navs.slots[slot].owner)
  }

  // Log entries for the administrator.

  /// Logs an error that is `forbidden` or `fenced`; ignores other errors.
  mutating func audit(
    _ error: OutgoingError, _ sender: Sender, about nav: String?, client: String?
  ) {
    guard error.code == .forbidden || error.code == .fenced else { return }
    let session = sessions.slot(of: sender.connection).map { sessions.slots[$0].name }
    var notice = Notice(.refused, .warning, error.text)
    notice.nav = nav
    notice.client = client ?? session
    notice.principal = sender.peer.principal
    notice.code = error.code.rawValue
    output.notices.append(notice)
  }

  /// Notes that an op is refused, for `get refusals`.
  mutating func note(
    _ error: OutgoingError, of sender: Sender, _ request: OpMessage, name: String?
  ) {
    note(
      error, of: sender, id: request.id, nav: request.nav, operations: request.kinds.map(\.name),
      name: name)
  }

  mutating func note(
    _ error: OutgoingError, of sender: Sender, id: UInt64?, nav: String?, operations: [String],
    name: String?
  ) {
    let session = sessions.slot(of: sender.connection).map { sessions.slots[$0].name }
    batches.current.refusals.append(
      Refusals.Refusal(
        time: timer.now.wall, code: error.code, reason: error.reason,
        text: Refusals.clipped(error.text), nav: nav,
        operations: operations, id: id, principal: sender.peer.principal,
        process: sender.peer.process, name: name ?? session ?? ""))
  }

  /// Logs an op that ran without a guard or without a delegate's answer, once it is durable.
  mutating func auditOverride(_ op: OpContext, _ slot: Int) {
    let isForced = op.request.guards.any
    guard isForced || op.isVetoSkipped else { return }
    assert(navs.isLive(slot))
    let names = op.request.kinds.map(\.name).joined(separator: ", ")
    let what = isForced ? "without a guard" : "without the delegates' answer"
    var notice = Notice(.overridden, .info, "\(names) on \(navs.slots[slot].name) \(what)")
    notice.nav = navs.slots[slot].name
    notice.revision = navs.slots[slot].controller.revision.number
    notice.client = op.name
    notice.principal = op.sender.peer.principal
    notice.code = isForced ? "override" : "veto-skipped"
    batches.append(.notice(notice))
  }

  /// The code of the log entry about a key that is not authorised any more.
  static let revocation = "revoked"

  /// Logs that a client took the display lease from another one, once that is durable.
  mutating func auditTakeover(_ sender: Sender, _ name: String, _ slot: Int) {
    assert(navs.slots[slot].directory == nil, "a virtual nav has no display")
    var notice = Notice(.overridden, .info, "\(name) takes the display of \(navs.slots[slot].name)")
    notice.nav = navs.slots[slot].name
    notice.client = name
    notice.principal = sender.peer.principal
    notice.code = "forced"
    batches.append(.notice(notice))
  }
}
