package import NavigationCore

extension SessionReplica {
  /// Handles a new connection: sends `hello`.
  package mutating func connected(at now: UInt64) -> [SessionOutput] {
    guard phase != .closed else { return [] }
    let outputs = disconnected()
    let nonce = String(random.next(), radix: 16)
    phase = .greeting(nonce: nonce)
    lastMessageAt = now
    heartbeat = requestedHeartbeat
    var hello = Hello()
    (hello.client, hello.name, hello.nonce) = (client, name, nonce)
    (hello.window, hello.heartbeat) = (requestedWindow, requestedHeartbeat)
    return outputs + [.send(.hello, ClientMessageWriter.message(hello))]
  }

  /// Handles deadlines: detects a silent daemon, and repeats requests that the daemon has put off.
  package mutating func tick(at now: UInt64) -> [SessionOutput] {
    let late = dropUnsendable(at: now)
    switch phase {
    case .unconnected, .closed: return late
    case .greeting:
      return late + (now >= silenceEndsAt ? reconnectLater(at: now, after: 0) : [])
    case .open:
      if now >= silenceEndsAt { return late + reconnectLater(at: now, after: 0) }
      let duties = tickDuties(at: now)
      let due = watches.filter { $0.value.retryAt.map { $0 <= now } ?? false }
      let asks = due.sorted { $0.value.order < $1.value.order }.flatMap { sendWatch($0.key) }
      for index in pending.indices where pending[index].retryAt ?? .max <= now {
        pending[index].retryAt = nil
      }
      return late + duties + asks + sendWaiting()
    }
  }

  /// Handles a message of the daemon, with a body of `octets` octets.
  ///
  /// `verb` is nil if this client does not know the verb.
  package mutating func receive(
    _ message: ServerMessage, verb: ServerVerb?, octets: Int, at now: UInt64
  ) -> [SessionOutput] {
    switch phase {
    case .unconnected, .closed: return []
    case .greeting(let nonce): return receiveGreeting(message, nonce: nonce, at: now)
    case .open:
      lastMessageAt = now
      if verb?.usesCredit == true { usedCreditTotal += UInt64(octets) }
      return receiveOpen(message, at: now)
    }
  }

  /// Handles an unreadable message: ends the session, and connects again.
  package mutating func receiveUnreadable(at now: UInt64) -> [SessionOutput] {
    phase == .closed ? [] : reconnectLater(at: now, after: 0)
  }

  private mutating func receiveGreeting(
    _ message: ServerMessage, nonce: String, at now: UInt64
  ) -> [SessionOutput] {
    switch message {
    case .welcome(let welcome) where welcome.nonce == nonce:
      return open(welcome, at: now)
    // The error to a `hello` that the daemon cannot read has no nonce.
    case .err(let refusal) where refusal.nonce ?? nonce == nonce:
      return refusal.isRetryable
        ? reconnectLater(at: now, after: refusal.after ?? 0) : close(.refused(refusal))
    default: return []
    }
  }

  private mutating func open(_ welcome: Welcome, at now: UInt64) -> [SessionOutput] {
    phase = .open
    lastMessageAt = now
    reconnectAttempts = 0
    heartbeat = max(welcome.heartbeat, 1)
    // The daemon reports the clamped window of the session. The client never uses a larger one than
    // it asked for.
    window = min(requestedWindow, welcome.window)
    maximumBody = Int(clamping: welcome.maximumBody) - ErrReply.bytesForAgainMember
    maximumSentRequests = Int(clamping: welcome.maximumRequests)
    principal = welcome.principal
    isInCluster = isInCluster || welcome.isInCluster
    usedCreditTotal = 0
    grantedCreditTotal = window
    // Only a hint: the answer to the same octets decides what became of an op in flight.
    counters.nextID = max(counters.nextID, welcome.lastOp + 1)
    counters.shardCount = welcome.isInCluster ? Shard.count : 1
    counters.newestRows.merge(welcome.newestRows, uniquingKeysWith: max)
    var outputs: [SessionOutput] = [.event(.opened(welcome))]
    // Watches first, so that the diff of an op in flight comes before its answer.
    for (key, _) in watches.sorted(by: { $0.value.order < $1.value.order }) {
      outputs.append(contentsOf: sendWatch(key))
    }
    // Roles before ops, because the ops may be allowed only with them.
    outputs.append(contentsOf: resumeDuties())
    outputs.append(contentsOf: dropUnsendable(at: now) + sendWaiting())
    return outputs
  }

  /// Handles the loss of the connection; the caller then connects again.
  package mutating func disconnected() -> [SessionOutput] {
    switch phase {
    case .unconnected, .closed: return []
    case .greeting, .open: break
    }
    let wasOpen = phase == .open
    phase = .unconnected
    confirmedNavs = []
    watchRequests = [:]
    for key in watches.keys {
      watches[key]?.replica.disconnect()
      watches[key]?.retryAt = nil
    }
    for index in pending.indices { pending[index].markUnsent() }
    return wasOpen ? [.event(.lost)] + loseDuties() : []
  }

  private mutating func reconnectLater(at now: UInt64, after least: UInt64) -> [SessionOutput] {
    let outputs = disconnected()
    let wait = backOff(reconnectAttempts)
    reconnectAttempts += 1
    return outputs + [.reconnect(at: now + max(wait, least))]
  }

  private mutating func close(_ end: SessionEnd) -> [SessionOutput] {
    guard !hasSuccessor else {
      let outputs = disconnected()
      phase = .closed
      return outputs + [.handOverAll(after: end)]
    }
    let duties = loseDuties(forGood: true)
    _ = disconnected()
    phase = .closed
    self.duties = Duties()
    pending = []
    watches = [:]
    return duties + [.event(.closed(end))]
  }

  private mutating func receiveOpen(
    _ message: ServerMessage, at now: UInt64
  ) -> [SessionOutput] {
    switch message {
    case .ok(let reply): return receiveReply(reply, at: now)
    case .err(let refusal): return receiveRefusal(refusal, at: now)
    case .queued(let id, let position):
      return [.event(.queued(id: id, position: position))] + noteOwner(nav(of: id))
    case .snap(let part): return passToReplica(part.nav, at: now) { $0.receive(part) }
    case .diffs(let diffs):
      counters.noteRow(diffs.last?.journalRow, of: diffs.last?.nav)
      return diffs.flatMap { diff in passToReplica(diff.nav, at: now) { $0.receive(diff) } }
    case .mark(let mark):
      counters.newestRows.merge(mark.newestRows, uniquingKeysWith: max)
      return mark.positions.flatMap { position in
        passToReplica(position.nav, at: now, proves: true) { $0.receive(position) }
      }
    case .latest(let latest):
      guard let view = View(word: latest.view),
        (watches[WatchKey(nav: latest.nav, view: view)]?.faults = 0) != nil
      else { return [] }
      return [.event(.latest(latest))]
    case .event(let event):
      return replica(of: event.nav)?.isSynced == true ? [.event(.ephemeral(event))] : []
    case .ask(let ask): return receive(ask, at: now)
    case .settled(let settlement): return receive(settlement)
    case .lost(let loss): return receive(loss)
    case .traced(let messages): return [.event(.traced(messages))]
    case .end(let end): return receive(end, at: now)
    case .bye(let why, let after):
      switch why {
      case "fenced", "revoked": return close(.dismissed(why: why))
      default: return reconnectLater(at: now, after: after ?? 0)
      }
    case .welcome, .pong, .unknown: return []
    }
  }

  private mutating func receive(_ end: WatchEnd, at now: UInt64) -> [SessionOutput] {
    if end.why == "moved" {
      let key = View(word: end.view).map { WatchKey(nav: end.nav, view: $0) }
      // If a watch is unanswered, this ends the one before; the answer is still to come. Roles and a
      // lease that the daemon has confirmed have ended in any case.
      let isWatched = key.map { watches[$0] != nil && !watchRequests.values.contains($0) } ?? false
      guard isWatched || duties.hasConfirmedDuty(for: end.nav) else { return [] }
      isInCluster = true
      return [.navElsewhere(nav: end.nav, .moved(to: end.daemon))]
    }
    guard end.view != View.full.text else {
      return passToReplica(end.nav, at: now) { $0.receive(end) }
    }
    guard let key = View(word: end.view).map({ WatchKey(nav: end.nav, view: $0) }),
      !watchRequests.values.contains(key), let watch = watches.removeValue(forKey: key)
    else { return [] }
    return self.end(WatchOutcome(end), of: key, watch)
  }

  /// Reports the end of a watch, which is no longer in `watches`.
  ///
  /// If the nav was closed and the watch `waits`, it begins anew for the next nav of that name.
  private mutating func end(
    _ outcome: WatchOutcome, of key: WatchKey, _ watch: Watch
  ) -> [SessionOutput] {
    watchRequests = watchRequests.filter { $0.value != key }
    let event = SessionOutput.event(.watchEnded(nav: key.nav, view: key.view, outcome))
    guard watch.waits, case .ended("closed", _) = outcome else { return [event] }
    watches[key] = Watch(replica: Replica(nav: key.nav), waits: true, order: watch.order)
    return [event] + sendWatch(key)
  }

  private mutating func receiveReply(_ reply: OkReply, at now: UInt64) -> [SessionOutput] {
    counters.noteRow(reply.journalRow, of: reply.nav)
    if let key = watchRequests.removeValue(forKey: reply.id) {
      let waiting = noteOwner(key.nav)
      guard key.view == .full else { return waiting }
      return passToReplica(key.nav, at: now) { $0.receive(reply) } + waiting
    }
    if let request = duties.requests.removeValue(forKey: reply.id) {
      return receive(reply, to: request) + noteOwner(request.dutyKey.nav)
    }
    return finishRequest(reply.id, with: .success(reply))
  }

  private mutating func receiveRefusal(_ refusal: ErrReply, at now: UInt64) -> [SessionOutput] {
    if refusal.knownCode == .noSession {
      // The daemon does not know the session any more. A new `hello` requests everything again.
      return reconnectLater(at: now, after: 0)
    }
    guard let id = refusal.id else {
      if refusal.hasVerb { return [] }
      // It answers one of these, and the daemon could not read which.
      let sent = pending.filter(\.isUnderWay).map(\.id)
      let open = sent + Array(watchRequests.keys) + Array(duties.requests.keys)
      var each = refusal
      each.effect = Effect.unknown.rawValue
      return open.sorted().flatMap { id in
        each.id = id
        return receiveRefusal(each, at: now)
      }
    }
    if let whereabouts = refusal.whereabouts, let nav = nav(of: id) {
      isInCluster = true
      if let at = pending.firstIndex(where: { $0.id == id }) { pending[at].unrefusedSends -= 1 }
      return [.navElsewhere(nav: nav, whereabouts)]
    }
    // The daemon looks at the load before it looks at what it remembers.
    if refusal.knownCode == .busy,
      let index = pending.firstIndex(where: { $0.id == id && $0.unrefusedSends > 1 })
    {
      pending[index].markUnsent()
      pending[index].retryAt = now + (refusal.after ?? 200)
      return sendWaiting()
    }
    if let request = duties.requests.removeValue(forKey: id) {
      return receive(refusal, to: request, at: now)
    }
    guard let key = watchRequests.removeValue(forKey: id) else {
      return finishRequest(id, with: .failure(refusal))
    }
    guard refusal.isRetryable else {
      _ = watches.removeValue(forKey: key)
      return [.event(.watchEnded(nav: key.nav, view: key.view, .refused(refusal)))]
    }
    _ = watches[key]?.replica.receive(refusal)
    let faults = watches[key]?.faults ?? 0
    watches[key]?.faults = faults + 1
    let wait = max(refusal.after ?? 0, backOff(faults))
    watches[key]?.retryAt = now + wait
    return []
  }

  private mutating func finishRequest(
    _ id: UInt64, with result: Result<OkReply, ErrReply>
  ) -> [SessionOutput] {
    guard let index = pending.firstIndex(where: { $0.id == id }) else { return [] }
    let request = pending.remove(at: index)
    // A daemon that has decided the request has the nav.
    let isPostponed = if case .failure(let refusal) = result { refusal.isRetryable } else { false }
    let waiting = isPostponed ? [] : noteOwner(request.nav)
    return [.event(.answered(id: id, result))] + waiting + sendWaiting()
  }

  /// Passes a message to the replica of a full watch, and returns the outputs.
  ///
  /// With `proves`, a message that the replica ignores has confirmed that the mirror is right.
  private mutating func passToReplica(
    _ nav: String, at now: UInt64, proves confirmsMirror: Bool = false,
    _ receive: (inout Replica) -> ReplicaAction
  ) -> [SessionOutput] {
    let key = WatchKey(nav: nav, view: .full)
    // Taken out, so that the change does not copy the replica.
    guard var watch = watches.removeValue(forKey: key) else { return [] }
    let change: MirrorChange
    switch (receive(&watch.replica), watch.replica.mirror) {
    case (.ended(let outcome), _): return end(outcome, of: key, watch)
    case (.applied(let diff), let mirror?):
      watch.faults = 0
      change = .applied(mirror, diff)
    case (.replaced(let why), let mirror?): change = .replaced(mirror, why: why)
    case (.resumed, let mirror?): change = .resumed(mirror)
    case (.ignore, let mirror?) where confirmsMirror && watch.replica.isSynced:
      watch.faults = 0
      change = .proven(mirror)
    case (.rewatch, _):
      watch.faults += 1
      change = .suspect
    default:
      watches[key] = watch
      return []
    }
    watches[key] = watch
    let outputs: [SessionOutput] = [.event(.changed(nav: nav, change))]
    guard case .suspect = change else { return outputs }
    // At once for the first fault. After repeated faults, the pauses grow.
    guard watch.faults > 1 else { return outputs + sendWatch(key) }
    let wait = backOff(watch.faults - 1)
    watches[key]?.retryAt = now + wait
    return outputs
  }
}
