// Messages, sessions, and everything that is not an operation on a nav.

extension Hub {
  mutating func receive(_ message: ClientMessage, from sender: Sender, at now: Instant) {
    handle(message, from: sender, session: hear(sender, at: now), at: now)
  }

  /// Answers a message that cannot be read; the third malformed frame of a session ends it.
  mutating func answer(_ failure: MessageFailure, to sender: Sender, at now: Instant) {
    let session = hear(sender, at: now)
    guard failure.code == .badFrame else {
      return refuse(sender, outgoing(failure, session, sender), isOp: failure.verb == .op)
    }
    refuse(sender, OutgoingError(.badFrame, failure.text))
    guard let session else { return }
    sessions.slots[session].malformed += 1
    batches.current.malformed.append(session)
    assert(sessions.slots[session].malformed <= 3, "a session goes on after its third")
    if sessions.slots[session].malformed >= 3 { end(session, why: "protocol", after: nil) }
  }

  /// Counts the message and notes when its session was heard; returns the session.
  private mutating func hear(_ sender: Sender, at now: Instant) -> Int? {
    batches.current.messages += 1
    return sessions.hear(sender.connection, at: now)
  }

  /// The error that answers a message that cannot be read.
  ///
  /// A wrong argument counts only after the checks of the session, so their errors take precedence.
  private func outgoing(
    _ failure: MessageFailure, _ session: Int?, _ sender: Sender
  ) -> OutgoingError {
    var error = OutgoingError(failure.code, id: failure.id, failure.text)
    if failure.code == .limit { error.reason = "size" }
    guard failure.code == .limit || failure.code == .invalidArgument else { return error }
    switch failure.verb {
    case .op:
      guard var fenced = fence(sender) else { return error }
      fenced.id = failure.id
      return fenced
    case .watch, .unwatch, .credit, .delegate, .answer, .lease, .bye:
      return session == nil ? .noSession(failure.id) : error
    case .hello, .get, .ping, nil: return error
    }
  }

  mutating func refuse(
    _ sender: Sender, _ error: OutgoingError, about nav: String? = nil, isOp: Bool = false
  ) {
    audit(error, sender, about: nav, client: nil)
    let error = nav.map { placed(error, at: $0, for: sender) } ?? error
    let outcome: Outcome = isOp ? .refused(error.code) : .refusedMessage(error.code)
    batches.append(.send(sender.connection, .err, ServerMessageWriter.error(error), outcome))
  }

  /// Adds the nav's standing to an error if the sender may read the nav.
  ///
  /// Else removes what the error says about the nav's state.
  func placed(_ error: OutgoingError, at nav: String, for sender: Sender) -> OutgoingError {
    guard let slot = navs.slot(of: nav) else { return error }
    var error = error
    guard access.rights(of: sender.peer, on: nav, owner: navs.slots[slot].owner).contains(.read)
    else {
      return error.withoutState
    }
    error.standing = navs.slots[slot].standing
    return error
  }

  mutating func send(
    _ connection: ConnectionID, _ verb: ServerVerb, _ body: [UInt8], _ outcome: Outcome = .none
  ) {
    batches.append(.send(connection, verb, body, outcome))
  }

  private mutating func handle(
    _ message: ClientMessage, from sender: Sender, session: Int?, at now: Instant
  ) {
    switch message {
    case .hello(let hello): return open(hello, for: sender, at: now)
    case .ping(let id):
      let body = ServerMessageWriter.pong(id: id, boot: boot, time: now.wall)
      return send(sender.connection, .pong, body)
    case .get(let request): return get(request, for: sender)
    case .op(let request):
      return operate(request, from: sender, session: session, at: now)
    case .watch, .unwatch, .credit, .delegate, .answer, .lease, .bye: break
    }
    guard let session else { return refuse(sender, .noSession(message.id)) }
    switch message {
    case .watch(let request): watch(request, for: sender, session: session, at: now)
    case .unwatch(let id, let nav, let view):
      unwatch(nav, view, session: session)
      send(sender.connection, .ok, ServerMessageWriter.ok(id: id, nav: nav))
    case .credit(let limit):
      // After a rollback this message is handled again, when the limit has been raised already.
      sessions.slots[session].upTo = max(limit, sessions.slots[session].upTo)
      batches.append(.pump(session: session))
    case .delegate(let request): register(request, for: sender, session: session)
    case .lease(let request): lease(request, for: sender, session: session)
    case .answer(let ask, let answer): take(answer, to: ask, from: session)
    case .bye(let id):
      send(sender.connection, .ok, ServerMessageWriter.ok(id: id))
      endSession(session, .bye)
    case .hello, .ping, .get, .op: break
    }
  }

  // Sessions.

  private mutating func open(_ hello: Hello, for sender: Sender, at now: Instant) {
    var error: OutgoingError?
    if !hello.versions.contains(1) {
      error = OutgoingError(.version, "this daemon speaks NSP/1")
    } else if isStopping {
      error = OutgoingError(.shuttingDown, "the daemon is stopping")
      error?.after = 500
    } else if let other = sessions.slot(of: hello.client),
      sessions.slots[other].peer.principal != sender.peer.principal
    {
      error = OutgoingError(.forbidden, "this client id is in use by another principal")
    } else if !sessions.hasRoom(
      for: hello.client, of: sender.peer.principal, on: sender.connection, configuration)
    {
      error = OutgoingError(.limit, "too many sessions")
      error?.reason = "quota"
    }
    if var error {
      error.nonce = hello.nonce
      return refuse(sender, error)
    }
    if let own = sessions.slot(of: sender.connection) { endSession(own, .renewed) }
    if let other = sessions.slot(of: hello.client) {
      let connection = sessions.slots[other].connection
      end(other, why: "fenced", after: nil)
      sessions.fence(connection)
    }
    assert(sessions.slot(of: sender.connection) == nil)
    assert(sessions.slot(of: hello.client) == nil)
    let slot = sessions.insert(session(hello, of: sender, at: now))
    measurements.count(.opened)
    batches.current.changedClients = true
    timer.plan(now.boot + sessions.slots[slot].heartbeat)
    send(sender.connection, .welcome, welcome(hello, slot))
  }

  private func session(_ hello: Hello, of sender: Sender, at now: Instant) -> Session {
    let window = min(max(hello.window, 16384), configuration.maximumWindow)
    return Session(
      connection: sender.connection, window: window, isUncontrolled: hello.isUncontrolled,
      at: now.boot, peer: sender.peer, role: access.role(of: sender.peer), client: hello.client,
      name: hello.name,
      heartbeat: min(max(hello.heartbeat ?? configuration.defaultHeartbeat, 1000), 60000))
  }

  private func welcome(_ hello: Hello, _ slot: Int) -> [UInt8] {
    let session = sessions.slots[slot]
    var json = JSONWriter(reserving: 512)
    assert(session.client == hello.client)
    json.beginObject()
    json.member("ver", 1)
    json.optional("nonce", hello.nonce)
    json.member("boot", hex: boot.bits)
    json.optional("server", configuration.server)
    json.name("features")
    json.beginArray()
    json.endArray()
    json.member("hb", session.heartbeat)
    json.name("you")
    json.beginObject()
    json.peer(session.peer)
    json.optional("role", session.role.name)
    json.endObject()
    json.name("ops")
    json.beginObject()
    json.member("last", remembered.last(of: session.key))
    json.endObject()
    json.name("limits")
    json.beginObject()
    json.member("message", UInt64(configuration.maximumRequestBytes))
    json.member("inflight", UInt64(configuration.inflight))
    json.member("watches", UInt64(configuration.watchesPerConnection))
    json.member("depth", UInt64(configuration.nav.stackDepth))
    json.member("window", session.window)
    json.endObject()
    json.endObject()
    return json.bytes
  }

  /// Ends a session and sends its connection `bye`.
  mutating func end(_ slot: Int, why: StaticString, after: UInt64?) {
    assert(sessions.isLive(slot))
    let connection = sessions.slots[slot].connection
    send(connection, .bye, ServerMessageWriter.bye(why: why, after: after))
    batches.append(.ended(connection))
    // A reason that `SessionEndReason` does not have is counted as `lost`.
    endSession(slot, SessionEndReason(rawValue: "\(why)") ?? .lost)
  }

  /// Ends a session with its watches, waiting ops, delegate roles, leases and gestures.
  mutating func endSession(_ slot: Int, _ endReason: SessionEndReason) {
    measurements.count(endReason)
    let ref = sessions.reference(to: slot)
    reads.dropOps(of: slot)
    for watch in watches.of(session: slot) { removeWatch(watch) }
    sessions.remove(slot)
    batches.current.changedClients = true
    endCoordinations(of: ref)
    assert(!sessions.isLive(ref))
    assert(watches.of(session: slot).isEmpty, "a watch without a session")
  }

  mutating func stop() {
    guard !isStopping else { return }
    isStopping = true
    for slot in sessions.indices { end(slot, why: "shutting-down", after: 500) }
    assert(sessions.count == 0, "\(sessions.count) sessions outlive the daemon")
  }

  // Time.

  mutating func wake(at now: Instant) {
    timer.fire()
    for slot in sessions.indices { checkSession(slot, at: now) }
    expireCoordinations(at: now)
    remembered.expire(at: now.boot)
    if remembered.clientCount > 0 { timer.plan(now.boot + configuration.rememberedIdle) }
  }

  /// Ends a session that has no credit if its client has sent nothing for `configuration.stall`
  /// milliseconds.
  ///
  /// Otherwise sends the session's `mark` if it is due.
  private mutating func checkSession(_ slot: Int, at now: Instant) {
    assert(sessions.isLive(slot))
    let session = sessions.slots[slot]
    if !session.hasCredit {
      let deadline = session.lastHeardAt + configuration.stall
      guard deadline > now.boot else { return end(slot, why: "stalled", after: 100) }
      timer.plan(deadline)
    }
    if session.lastSentAt + session.heartbeat <= now.boot {
      send(session.connection, .mark, mark(slot, at: now))
      timer.plan(now.boot + session.heartbeat)
    } else {
      timer.plan(session.lastSentAt + session.heartbeat)
    }
  }

  private func mark(_ session: Int, at now: Instant) -> [UInt8] {
    var positions: [(nav: String, Revision, Digest)] = []
    for index in watches.of(session: session) {
      let watch = watches.slots[index]
      let entry = navs.slots[watch.nav]
      assert(watches.of(nav: watch.nav).contains(index), "\(entry.name) does not know its watch")
      // A mark may confirm a position only if it is durable and all its diffs were sent.
      guard watch.isCaughtUp(with: entry.revision), entry.durable == entry.revision else {
        continue
      }
      positions.append((entry.name, watch.cursor, entry.digest))
    }
    return ServerMessageWriter.mark(time: now.wall, positions)
  }
}

extension ClientMessage {
  /// The id that the answer to this message repeats; nil for messages without one.
  var id: UInt64? {
    switch self {
    case .watch(let request): request.id
    case .unwatch(let id, _, _), .ping(let id), .bye(let id): id
    case .delegate(let request): request.id
    case .lease(let request): request.id
    case .op(let request): request.id
    case .get(let request): request.id
    case .hello, .answer, .credit: nil
    }
  }
}

extension JSONWriter {
  /// Writes the identity of a peer as members of the current object.
  mutating func peer(_ peer: Peer) {
    switch peer {
    case .local(let user, let group, let process):
      name("via")
      plain("ipc")
      name("uid")
      integer(UInt64(user))
      name("gid")
      integer(UInt64(group))
      name("pid")
      integer(UInt64(max(process, 0)))
    case .key(let name, let address):
      member("via", plain: "tcp")
      optional("key", name)
      optional("address", address)
    }
  }
}
