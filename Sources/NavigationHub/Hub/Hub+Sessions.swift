import NavigationCore

// Sessions: their beginning, their end, and what is due in them with time.

extension Hub {
  mutating func openSession(_ hello: Hello, for gateway: Sender, at now: Instant) {
    var author = gateway
    // Others keep their own name in the log: its limits count by principal.
    if let actor = hello.actor, access.maySpeakForActors(gateway.peer) {
      author.peer = .actor(actor, of: gateway.peer)
      // Before any refusal: what follows a refused hello must not run with the gateway's rights.
      if sessions.actor(of: gateway.connection) == nil {
        sessions.note(actor, of: gateway.connection)
      }
    }
    var error: OutgoingError?
    if !hello.versions.contains(1) {
      let (low, high) = (hello.versions.lowerBound, hello.versions.upperBound)
      let asked = low == high ? "NSP/\(low)" : "NSP/\(low) to NSP/\(high)"
      error = OutgoingError(.version, "the client speaks \(asked), this daemon NSP/1")
    } else if isStopping {
      error = .shuttingDown
    } else if let reason = reasonAgainstActor(hello, gateway) {
      error = OutgoingError(.forbidden, reason)
    } else if let other = sessions.slot(of: hello.client),
      sessions[other].peer.principal != author.peer.principal
    {
      error = OutgoingError(.forbidden, "this client id is in use by another principal")
    } else if !sessions.hasRoom(
      for: hello.client, of: author.peer.principal, on: author.connection, configuration)
    {
      error = OutgoingError(.limit, "too many sessions", reason: "quota")
    }
    if var error {
      error.nonce = hello.nonce
      return refuse(author, error)
    }
    if let own = sessions.slot(of: author.connection) { endSession(own, .repeatedHello) }
    if let other = sessions.slot(of: hello.client) {
      let connection = sessions[other].connection
      endWithBye(other, why: "fenced")
      sessions.fence(connection)
    }
    assert(sessions.slot(of: author.connection) == nil)
    assert(sessions.slot(of: hello.client) == nil)
    let slot = sessions.insert(
      Session(
        connection: author.connection,
        window: min(max(hello.window, 16384), configuration.maximumWindow),
        hasNoFlowControl: hello.hasNoFlowControl, at: now.boot, peer: author.peer,
        role: access.role(of: author.peer), client: hello.client, name: hello.name,
        heartbeat: min(max(hello.heartbeat ?? configuration.defaultHeartbeat, 1000), 60000)))
    if let actor = hello.actor { sessions.note(actor, of: author.connection) }
    measurements.count(.sessionsOpened)
    batches.current.mayChangeClientList = true
    timer.plan(now.boot + sessions[slot].heartbeat)
    send(author.connection, .welcome, welcome(hello, slot))
  }

  /// Why a `hello` is refused: its actor is not permitted, or a required one is missing; else nil.
  private func reasonAgainstActor(_ hello: Hello, _ sender: Sender) -> String? {
    if hello.actor != nil {
      guard !access.maySpeakForActors(sender.peer) else { return nil }
      return "\(sender.peer.principal) may not speak for others; see gateways in [access]"
    }
    if access.speaksForActorsOnly(sender.peer) {
      return "\(sender.peer.principal) is a gateway, so its hello needs actor"
    }
    // Otherwise a page could get the rights of its gateway by another hello.
    guard sessions.actor(of: sender.connection) == nil else {
      return "this connection is that of an actor, so its hello needs actor"
    }
    return nil
  }

  private func welcome(_ hello: Hello, _ slot: SessionSlot) -> [UInt8] {
    let session = sessions[slot]
    assert(session.client == hello.client)
    return JSONWriter.object(reserving: 512) { json in
      json.member("ver", 1)
      json.optional("nonce", hello.nonce)
      json.member("boot", hex: boot.bits)
      json.optional("server", configuration.server)
      json.strings("features", shards.count > 1 ? ["shards"] : [])
      json.member("hb", session.heartbeat)
      json.object("you") { json in
        json.peer(session.peer)
        json.optional("role", session.role.name)
        // A client compares it before it sends an op again to another daemon.
        if shards.count > 1 { json.member("principal", session.peer.principal) }
      }
      json.object("ops") { json in
        json.member("last", remembered.lastOpID(of: session.key, in: shards.here))
        json.newestRows(shards.here.map { ($0, batches.sequence(of: $0)) })
      }
      json.object("limits") { json in
        json.member("message", UInt64(configuration.maximumRequestBytes))
        json.member("inflight", UInt64(configuration.inflight))
        json.member("watches", UInt64(configuration.watchesPerConnection))
        json.member("depth", UInt64(configuration.nav.stackDepth))
        json.member("window", session.window)
      }
    }
  }

  /// Ends a session and sends its connection `bye`.
  mutating func endWithBye(_ slot: SessionSlot, why: String, retryAfter: UInt64? = nil) {
    assert(sessions.isLive(slot))
    let connection = sessions[slot].connection
    send(connection, .bye, ServerMessageWriter.bye(why: why, after: retryAfter))
    batches.append(.ended(connection))
    // A reason that `SessionEndReason` does not have is counted as `connectionLost`.
    endSession(slot, SessionEndReason(rawValue: "\(why)") ?? .connectionLost)
  }

  /// Ends a session with its watches, waiting ops, delegate roles, leases and gestures.
  mutating func endSession(_ slot: SessionSlot, _ endReason: SessionEndReason) {
    measurements.count(endReason)
    let ref = sessions.reference(to: slot)
    _ = reads.takeOps { $0.session == slot }
    for watch in watches.of(session: slot) { removeWatch(watch) }
    sessions.remove(slot)
    batches.current.mayChangeClientList = true
    endCoordinations(of: ref)
    assert(!sessions.isLive(ref))
    assert(watches.of(session: slot).isEmpty, "a watch without a session")
  }

  mutating func stop() {
    guard !isStopping else { return }
    isStopping = true
    for slot in sessions.indices { endWithBye(slot, why: "shutting-down", retryAfter: 500) }
    assert(sessions.count == 0, "\(sessions.count) sessions outlive the daemon")
  }

  // Time.

  mutating func wake(at now: Instant) {
    timer.fire()
    applyLooks()
    // Not always the same sessions first, because a turn may have no room for all that wait.
    let slots = sessions.indices
    let first = slots.isEmpty ? 0 : Int(batches.currentNumber % UInt64(slots.count))
    for slot in slots[first...] + slots[..<first] { checkSession(slot, at: now) }
    expireCoordinations(at: now)
    sweep.wake(at: now.boot)
    if !sweep.isDue { timer.plan(sweep.dueAt) }
    planVirtualNavRevisions()
    remembered.expire(at: now.boot)
    if remembered.clientCount > 0 { timer.plan(now.boot + configuration.rememberedIdle) }
  }

  /// Ends a session that has no credit if its client has sent nothing for `configuration.stall`
  /// milliseconds.
  ///
  /// Sends `mark` to any other session if its heartbeat is due.
  private mutating func checkSession(_ slot: SessionSlot, at now: Instant) {
    assert(sessions.isLive(slot))
    let session = sessions[slot]
    // The flag stays until the effect: a batch that is rolled back is decided again.
    if session.waitsForTurn { resumeWatches(of: slot) }
    if !session.hasCredit {
      let deadline = session.lastHeardAt + configuration.stall
      guard deadline > now.boot else { return endWithBye(slot, why: "stalled", retryAfter: 100) }
      timer.plan(deadline)
    }
    if session.lastSentAt + session.heartbeat <= now.boot {
      send(session.connection, .mark, encodedMark(to: slot, at: now))
      timer.plan(now.boot + session.heartbeat)
    } else {
      timer.plan(session.lastSentAt + session.heartbeat)
    }
  }

  private func encodedMark(to session: SessionSlot, at now: Instant) -> [UInt8] {
    var positions: [(nav: String, Revision, Digest)] = []
    for index in watches.of(session: session) {
      let watch = watches[index]
      let entry = navs[watch.nav]
      assert(watches.of(nav: watch.nav).contains(index), "\(entry.name) does not know its watch")
      // A mark may confirm a position only if it is durable and all its diffs were sent. Behind this
      // mark, another nav can have the name of one that is being closed.
      guard watch.isCaughtUp(with: entry.revision), entry.durable == entry.revision,
        navs.hasName(watch.nav)
      else { continue }
      positions.append((entry.name, watch.cursor, entry.digest))
    }
    // A cluster has too many shards to report all of them.
    let here = shards.count > 1 ? positions.map { shards.shard(of: $0.nav) } : [.first]
    let rows = here.filter { shards.isHere($0) }.map { ($0, batches.sequence(of: $0)) }
    return ServerMessageWriter.mark(time: now.wall, positions, rows: rows)
  }
}

extension JSONWriter {
  /// Writes the identity of a peer as members of the current object.
  mutating func peer(_ peer: Peer) {
    switch peer {
    case .local(let user, let group, let process, _):
      member("via", word: "ipc")
      member("uid", UInt64(user))
      member("gid", UInt64(group))
      member("pid", UInt64(max(process, 0)))
    case .key(let name, let address):
      member("via", word: "tcp")
      optional("key", name)
      optional("address", address)
    case .actor(let actor, let gateway):
      self.peer(gateway)
      member("actor", actor.name)
    }
  }
}
