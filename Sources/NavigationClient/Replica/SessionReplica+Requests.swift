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
    let body = ClientMessageWriter.get(request)
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
    guard flight.body.count <= maximumBody else {
      let refusal = ErrReply.tooLarge(flight.id, flight.body.count, limit: maximumBody)
      return [.event(.answered(id: flight.id, .failure(refusal)))]
    }
    flights.append(flight)
    return phase == .open ? sendWaiting() : []
  }

  /// Sends the requests that were not sent yet, oldest first, up to 64 unanswered ones.
  mutating func sendWaiting() -> [SessionOutput] {
    var outputs: [SessionOutput] = []
    var probed: Set<String> = []
    for index in flights.indices.prefix(Self.maximumSentRequests) {
      if isDivided, let nav = flights[index].nav, !confirmed.contains(nav),
        !probed.insert(nav).inserted
      {
        continue
      }
      guard !flights[index].isSent else { continue }
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

  /// Ends the ops that may have been performed under another principal.
  ///
  /// The daemons of a cluster remember ops by principal, so this one would perform them again.
  mutating func dropForeign() -> [SessionOutput] {
    guard isDivided, let principal else { return [] }
    var outputs: [SessionOutput] = []
    flights.removeAll { flight in
      guard flight.verb == .op, !flight.isSent, let former = flight.sentAs, former != principal,
        flight.wasSent
      else { return false }
      outputs.append(.event(.answered(id: flight.id, .failure(.notKnownAs(former, flight.id)))))
      return true
    }
    return outputs
  }

  /// Ends the ops whose time is up, except those that are under way.
  mutating func dropLate(at now: UInt64) -> [SessionOutput] {
    let late = flights.filter { $0.endsAt.map { $0 <= now } ?? false }
    guard !late.isEmpty else { return [] }
    flights.removeAll { flight in late.contains { $0.id == flight.id } }
    return late.map { flight in
      let text = "there was no connection in time, and the op is not sent any more"
      var refusal = ErrReply(byClient: OutgoingError(.expired, id: flight.id, text))
      if flight.wasSent { refusal.effect = Effect.unknown.rawValue }
      return .event(.answered(id: flight.id, .failure(refusal)))
    }
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
    var request = WatchRequest(id: id, nav: key.nav, view: key.view, waits: watch.waits)
    let (from, bad) = watch.replica.watching()
    if key.view == .full {
      request.from = from
      request.bad = bad
    }
    watches[key] = watch
    return [.send(.watch, ClientMessageWriter.watch(request))]
  }
}
