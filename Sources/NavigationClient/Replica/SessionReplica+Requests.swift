package import NavigationCore

extension SessionReplica {
  /// Watches a nav; replaces an earlier watch of the same view.
  ///
  /// `mirror` is a stored mirror from which to resume. Without one, `start` is the position of one
  /// that is not stored; the snapshot then says why the daemon could not resume there. A session
  /// that is not open sends the watch when it opens. One that `waits` begins when the nav exists,
  /// and again after each end of the nav.
  package mutating func watch(
    _ nav: String, view: View = .full, mirror: Mirror? = nil, start: MirrorPosition? = nil,
    waits: Bool = false
  ) -> [SessionOutput] {
    let key = WatchKey(nav: nav, view: view)
    let order = watches[key]?.order ?? takeID()
    watches[key] = Watch(
      replica: Replica(nav: nav, mirror: mirror, start: start), waits: waits, order: order)
    return phase == .open ? ask(key) : []
  }

  package mutating func unwatch(_ nav: String, view: View = .full) -> [SessionOutput] {
    let key = WatchKey(nav: nav, view: view)
    guard watches.removeValue(forKey: key) != nil, phase == .open else { return [] }
    asked = asked.filter { $0.value != key }
    let id = takeID()
    return [.send(.unwatch, ClientMessageWriter.unwatch(id: id, nav: nav, view: view))]
  }

  /// Performs operations; the session sends them again until they are answered.
  ///
  /// It sets the id of `request`, and returns that id, which the answer will have. From `until` on, an
  /// op that is not under way is `expired`.
  package mutating func perform(
    _ request: OpRequest, operations: [[UInt8]], until: UInt64? = nil
  ) -> (id: UInt64, outputs: [SessionOutput]) {
    var request = request
    request.id = takeID()
    request.client = nil
    request.name = nil
    let body = ClientMessageWriter.op(request, operations: operations)
    let flight = Flight(id: request.id, verb: .op, nav: request.nav, body: body, until: until)
    return (request.id, launch(flight))
  }

  /// Reads a value; after a loss, the session sends the request again until it is answered.
  package mutating func get(_ request: GetRequest) -> (id: UInt64, outputs: [SessionOutput]) {
    var request = request
    request.id = takeID()
    let body = ClientMessageWriter.message(request)
    return (request.id, launch(Flight(id: request.id, verb: .get, nav: request.nav, body: body)))
  }

  /// Drops a request: it is not sent again, and its answer is ignored.
  ///
  /// Returns whether it was ever sent, so that the daemon may perform it or may have done so. The
  /// outputs send the next request, which may take its place.
  package mutating func forget(_ id: UInt64) -> (wasSent: Bool, outputs: [SessionOutput]) {
    guard let index = flights.firstIndex(where: { $0.id == id }) else { return (false, []) }
    let wasSent = flights.remove(at: index).wasSent
    return (wasSent, phase == .open ? sendWaiting() : [])
  }

  /// Ends the session with `bye`; no message is expected afterwards.
  package mutating func leave() -> [SessionOutput] {
    guard phase == .open else {
      phase = .closed
      return []
    }
    phase = .closed
    return [.send(.bye, ClientMessageWriter.id(takeID()))]
  }

  /// Raises the credit if more than half of the window is used.
  ///
  /// The caller calls it after it has performed all outputs of `receive`.
  package mutating func confirm() -> [SessionOutput] {
    guard phase == .open, used + window / 2 > upTo else { return [] }
    upTo = used + window
    return [.send(.credit, ClientMessageWriter.credit(upTo: upTo))]
  }

  private mutating func launch(_ flight: Flight) -> [SessionOutput] {
    // The daemon could not name the refused request in its error. A still larger one would cost the
    // connection, again and again.
    flights.append(flight)
    return dropUnsendable(at: 0) + (phase == .open ? sendWaiting() : [])
  }

  /// Sends the requests that were not sent yet, oldest first, up to the limit of unanswered ones.
  mutating func sendWaiting() -> [SessionOutput] {
    var outputs: [SessionOutput] = []
    var probed: Set<String> = []
    var count = 0
    for index in flights.indices {
      if isDivided, let nav = flights[index].nav, !confirmed.contains(nav),
        !probed.insert(nav).inserted
      {
        continue
      }
      count += 1
      guard count <= maximumSentRequests else { break }
      guard !flights[index].isSent, flights[index].retryAt == nil else { continue }
      let flight = flights[index]
      if !flight.wasSent { flights[index].sentAs = principal }
      // Rows that the daemon has lost since do not date the op.
      let seen = min(numbers.row(of: flight.nav), flight.wasSent ? flight.seen : .max)
      flights[index].seen = seen
      let octets = ClientMessageWriter.again(
        flight.verb, flight.body, seen: flight.wasSent ? seen : nil)
      outputs.append(.send(flight.verb, octets))
      flights[index].isSent = true
      flights[index].sends += 1
    }
    return outputs
  }

  /// Ends the requests that must not be sent any more, except those that are under way.
  mutating func dropUnsendable(at now: UInt64) -> [SessionOutput] {
    let refusals = flights.compactMap { $0.isSent ? nil : obstacle(to: $0, at: now) }
    guard !refusals.isEmpty else { return [] }
    flights.removeAll { flight in refusals.contains { $0.id == flight.id } }
    return refusals.map { .event(.answered(id: $0.id ?? 0, .failure($0))) }
  }

  private func obstacle(to flight: Flight, at now: UInt64) -> ErrReply? {
    let isLate = flight.until ?? .max <= now
    // The daemons of a cluster remember ops by principal, so this one would perform it again.
    if !isLate, flight.verb == .op, flight.wasSent, let former = flight.sentAs, let principal,
      former != principal
    {
      return .sentUnderOtherPrincipal(former, flight.id)
    }
    let text = "there was no connection in time, and the op is not sent any more"
    guard isLate || flight.body.count > maximumBody else { return nil }
    var refusal =
      isLate
      ? ErrReply(byClient: OutgoingError(.expired, id: flight.id, text))
      : .tooLarge(flight.id, flight.body.count, limit: maximumBody)
    if flight.wasSent { refusal.effect = Effect.unknown.rawValue }
    return refusal
  }

  /// Notes that the daemon has a nav; returns the requests that waited for that.
  mutating func confirm(_ nav: String?) -> [SessionOutput] {
    guard isDivided, let nav, !confirmed.contains(nav) else { return [] }
    if confirmed.count >= Self.maximumConfirmed { confirmed = [] }
    confirmed.insert(nav)
    return sendWaiting()
  }

  mutating func ask(_ key: WatchKey) -> [SessionOutput] {
    guard var watch = watches[key] else { return [] }
    watch.retryAt = nil
    asked = asked.filter { $0.value != key }
    let id = takeID()
    asked[id] = key
    var request = WatchRequest()
    (request.id, request.nav, request.view, request.waits) = (id, key.nav, key.view, watch.waits)
    let (from, bad) = watch.replica.watching()
    if key.view == .full {
      request.from = from
      request.divergence = bad
    }
    watches[key] = watch
    return [.send(.watch, ClientMessageWriter.message(request))]
  }
}
