import NavigationCore

// Changes of rights while clients are served, and log entries about refusals and overrides.

extension Hub {
  /// Installs new access rules, by which the hub judges every message from now on.
  ///
  /// Ends sessions of gateways that may no longer speak for actors, or that now must name an actor.
  /// Sessions that lose a right lose delegate roles and the display lease now, and watches when the
  /// batch is durable.
  mutating func installAccess(_ access: Access) {
    self.access = access
    for slot in sessions.indices where !mayKeepSession(sessions[slot].peer) {
      endWithBye(slot, why: "revoked")
    }
    if sessions.renewRoles(by: access) { batches.current.mayChangeClientList = true }
    for slot in coordinations.slots where navs.isLive(slot) {
      guard let coordination = coordinations[slot] else { continue }
      var refs = coordination.delegates.map(\.session)
      if let holder = coordination.displayHolder { refs.append(holder) }
      for ref in refs where sessions.isLive(ref) {
        let rights = rights(of: sessions[ref.slot].peer, onNavAt: slot)
        if !rights.contains(.push) { endCoordination(of: ref, on: slot, keepsOps: true) }
      }
    }
    batches.append(.recheckRights)
  }

  /// Whether the rules for gateways still allow a peer a session and answers to its requests.
  mutating func mayKeepSession(_ peer: Peer) -> Bool {
    if case .actor(_, let gateway) = peer { return access.maySpeakForActors(gateway) }
    return !access.speaksForActorsOnly(peer)
  }

  /// Ends the session of a connection whose key is not authorised any more.
  mutating func revoke(_ connection: ConnectionID) {
    guard let slot = sessions.slot(of: connection) else {
      send(connection, .bye, ServerMessageWriter.bye(why: "revoked", after: nil))
      return batches.append(.ended(connection))
    }
    let name = sessions[slot].name
    // An effect of the batch, like the `bye`: a rollback keeps both.
    batches.append(
      .notice(
        Notice(
          .refused, .warning, "the key of \(name) is not authorised any more", client: name,
          principal: sessions[slot].peer.principal, code: Self.revocationCode)))
    endWithBye(slot, why: "revoked")
  }

  /// Ends the watches whose sessions may not read the nav any more.
  mutating func recheckWatches(at now: Instant) {
    for session in sessions.indices {
      let peer = sessions[session].peer
      for index in watches.of(session: session) {
        let nav = watches[index].nav
        guard !rights(of: peer, onNavAt: nav).contains(.read) else { continue }
        // `finishClosing` ends the watches of a nav that is closed.
        guard navs.hasName(nav) else { continue }
        endWatch(index, why: "forbidden", at: now)
      }
    }
  }

  func rights(of peer: Peer, onNavAt slot: NavSlot) -> Rights {
    access.rights(of: peer, on: navs[slot].name, owner: navs[slot].owner)
  }

  // Log entries for the administrator.

  /// Notes a refusal for `get refusals`, unless it is of a dry run; logs `forbidden` and `fenced`.
  ///
  /// `op` is the refused op; nil for a message that is none. `client` is the name in the op.
  mutating func noteRefusal(
    _ error: OutgoingError, of sender: Sender, about nav: String?, op: OpMessage? = nil,
    client: String? = nil
  ) {
    let client = client ?? sessions.slot(of: sender.connection).map { sessions[$0].name }
    if error.code == .forbidden || error.code == .fenced {
      output.notices.append(
        Notice(
          .refused, .warning, error.text, nav: nav, client: client,
          principal: sender.peer.principal, code: error.code.rawValue))
    }
    if op?.isDry == true { return }
    batches.current.refusals.append(
      Refusals.Refusal(
        time: timer.now.wall, code: error.code, reason: error.reason,
        text: Refusals.clipped(error.text), nav: nav, operations: op?.kinds.map(\.name) ?? [],
        id: op?.id ?? error.id, principal: sender.peer.principal,
        process: sender.peer.process, name: client ?? ""))
  }

  /// Logs, after the commit, an op that ran without a guard or without a delegate's answer.
  mutating func logOverride(_ op: OpContext, _ slot: NavSlot) {
    let isForced = op.request.guards.any
    guard isForced || op.isVetoSkipped else { return }
    assert(navs.isLive(slot))
    let names = op.request.kinds.map(\.name).joined(separator: ", ")
    let what = isForced ? "without a guard" : "without the delegates' answer"
    let nav = navs[slot].name
    batches.append(
      .notice(
        Notice(
          .overridden, .info, "\(names) on \(nav) \(what)", nav: nav,
          revision: navs[slot].controller.revision, client: op.name,
          principal: op.sender.peer.principal, code: isForced ? "override" : "veto-skipped")))
  }

  /// The code of the log entry about a key that is not authorised any more.
  static let revocationCode = "revoked"

  /// Logs, after the commit, that a client took the display lease from another one.
  mutating func logTakeover(_ sender: Sender, _ name: String, _ slot: NavSlot) {
    assert(navs[slot].directory == nil, "a virtual nav has no display")
    let nav = navs[slot].name
    batches.append(
      .notice(
        Notice(
          .overridden, .info, "\(name) takes the display of \(nav)", nav: nav, client: name,
          principal: sender.peer.principal, code: "forced")))
  }
}
