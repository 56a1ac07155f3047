package import NavigationCore

extension SessionReplica {
  /// Watches a nav; replaces an earlier watch of the same view.
  ///
  /// The watch resumes from the stored `mirror`, or without one asks to resume at `start`; a
  /// snapshot then reports why the daemon could not. A session that is not open sends the watch on
  /// opening. A watch that `waits` begins when the nav exists, and again after each end of the nav.
  package mutating func watch(
    _ nav: String, view: View = .full, mirror: Mirror? = nil, start: MirrorPosition? = nil,
    waits: Bool = false
  ) -> [SessionOutput] {
    let key = WatchKey(nav: nav, view: view)
    let order = watches[key]?.order ?? takeID()
    watches[key] = Watch(
      replica: Replica(nav: nav, mirror: mirror, start: start), waits: waits, order: order)
    return phase == .open ? sendWatch(key) : []
  }

  package mutating func unwatch(_ nav: String, view: View = .full) -> [SessionOutput] {
    let key = WatchKey(nav: nav, view: view)
    guard watches.removeValue(forKey: key) != nil, phase == .open else { return [] }
    watchRequests = watchRequests.filter { $0.value != key }
    let id = takeID()
    return [.send(.unwatch, ClientMessageWriter.unwatch(id: id, nav: nav, view: view))]
  }

  /// Sends operations, and repeats them after each loss of the connection until the daemon answers.
  ///
  /// It sets the id of `request`, and returns that id, which the answer will have. From the time
  /// `until` on, an op that is not under way fails as `expired`.
  package mutating func perform(
    _ request: OpRequest, operations: [[UInt8]], until: UInt64? = nil
  ) -> (id: UInt64, outputs: [SessionOutput]) {
    var request = request
    request.id = takeID()
    request.client = nil
    request.name = nil
    let body = ClientMessageWriter.op(request, operations: operations)
    let pending = PendingRequest(
      id: request.id, verb: .op, nav: request.nav, body: body, sendUntil: until)
    return (request.id, enqueue(pending))
  }

  /// Requests a value, and repeats the request after each loss until the daemon answers.
  package mutating func get(_ request: GetRequest) -> (id: UInt64, outputs: [SessionOutput]) {
    var request = request
    request.id = takeID()
    let body = ClientMessageWriter.message(request)
    return (
      request.id, enqueue(PendingRequest(id: request.id, verb: .get, nav: request.nav, body: body))
    )
  }

  /// Drops a request: the session does not repeat it, and ignores its answer.
  ///
  /// `mayHaveHappened` is true if a daemon may have performed the request, or may still do so. The
  /// outputs send the next requests that waited.
  package mutating func forget(_ id: UInt64) -> (mayHaveHappened: Bool, outputs: [SessionOutput]) {
    guard let index = pending.firstIndex(where: { $0.id == id }) else { return (false, []) }
    let mayHaveHappened = pending.remove(at: index).mayBeDone
    return (mayHaveHappened, phase == .open ? sendWaiting() : [])
  }

  /// Ends the session with `bye`; no message is expected afterwards.
  package mutating func leave() -> [SessionOutput] {
    guard phase == .open else {
      phase = .closed
      return []
    }
    phase = .closed
    return [.send(.bye, ClientMessageWriter.pingOrBye(id: takeID()))]
  }

  /// Grants the daemon more credit if it has used more than half of the window.
  ///
  /// The caller calls this after it has performed all outputs of `receive`.
  package mutating func grantCredit() -> [SessionOutput] {
    guard phase == .open, usedCreditTotal + window / 2 > grantedCreditTotal else { return [] }
    grantedCreditTotal = usedCreditTotal + window
    return [.send(.credit, ClientMessageWriter.credit(upTo: grantedCreditTotal))]
  }

  private mutating func enqueue(_ request: PendingRequest) -> [SessionOutput] {
    pending.append(request)
    // The daemon could not name a request that is too large in its error, and would close the
    // connection for a still larger one.
    return dropUnsendable(at: 0) + (phase == .open ? sendWaiting() : [])
  }

  /// Sends the requests that are not under way, oldest first, up to the limit of unanswered ones.
  mutating func sendWaiting() -> [SessionOutput] {
    var outputs: [SessionOutput] = []
    var probed: Set<String> = []
    var count = 0
    for index in pending.indices {
      if isInCluster, let nav = pending[index].nav, !confirmedNavs.contains(nav),
        !probed.insert(nav).inserted
      {
        continue
      }
      count += 1
      guard count <= maximumSentRequests else { break }
      guard !pending[index].isUnderWay, pending[index].retryAt == nil else { continue }
      if !pending[index].mayBeDone {
        pending[index].sentAsPrincipal = principal
        pending[index].seenRow = counters.row(of: pending[index].nav)
      }
      let request = pending[index]
      let octets = ClientMessageWriter.repeated(
        request.verb, request.body, seenRow: request.mayBeDone ? request.seenRow : nil)
      outputs.append(.send(request.verb, octets))
      pending[index].isUnderWay = true
      pending[index].unrefusedSends += 1
    }
    return outputs
  }

  /// Fails the requests that are not under way and must not be sent any more.
  mutating func dropUnsendable(at now: UInt64) -> [SessionOutput] {
    let refusals = pending.compactMap { $0.isUnderWay ? nil : refusalToSend(to: $0, at: now) }
    guard !refusals.isEmpty else { return [] }
    pending.removeAll { request in refusals.contains { $0.id == request.id } }
    return refusals.map { .event(.answered(id: $0.id ?? 0, .failure($0))) }
  }

  private func refusalToSend(to request: PendingRequest, at now: UInt64) -> ErrReply? {
    let isLate = request.sendUntil ?? .max <= now
    // The daemons of a cluster remember ops by principal, so this one would perform it again.
    if !isLate, request.verb == .op, request.mayBeDone, let former = request.sentAsPrincipal,
      let principal, former != principal
    {
      return .sentUnderOtherPrincipal(former, request.id)
    }
    let text = "there was no connection in time, and the op is not sent any more"
    guard isLate || request.body.count > maximumBody else { return nil }
    var refusal =
      isLate
      ? ErrReply(byClient: OutgoingError(.expired, id: request.id, text))
      : .tooLarge(request.id, request.body.count, limit: maximumBody)
    if request.mayBeDone { refusal.effect = Effect.unknown.rawValue }
    return refusal
  }

  /// Notes that the daemon has a nav, and sends the requests that waited for this.
  mutating func noteOwner(_ nav: String?) -> [SessionOutput] {
    guard isInCluster, let nav, !confirmedNavs.contains(nav) else { return [] }
    if confirmedNavs.count >= Self.maximumConfirmedNavs { confirmedNavs = [] }
    confirmedNavs.insert(nav)
    return sendWaiting()
  }

  mutating func sendWatch(_ key: WatchKey) -> [SessionOutput] {
    guard var watch = watches[key] else { return [] }
    watch.retryAt = nil
    watchRequests = watchRequests.filter { $0.value != key }
    let id = takeID()
    watchRequests[id] = key
    var request = WatchRequest()
    (request.id, request.nav, request.view) = (id, key.nav, key.view)
    request.waitsForNav = watch.waits
    let (from, bad) = watch.replica.beginWatch()
    if key.view == .full {
      request.from = from
      request.divergence = bad
    }
    watches[key] = watch
    return [.send(.watch, ClientMessageWriter.message(request))]
  }
}
