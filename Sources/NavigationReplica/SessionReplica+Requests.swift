package import NavigationProtocol

extension SessionReplica {
  /// Follows a nav; a watch of the same view is replaced.
  ///
  /// - Parameters:
  ///   - nav: the name of the nav.
  ///   - view: what to follow of it.
  ///   - mirror: a stored mirror to resume from.
  ///   - start: without a mirror, where one was; the snapshot then says what is wrong with it.
  /// - Returns: what must follow; nothing while the session is not open, when it will be asked.
  package mutating func watch(
    _ nav: String, view: View = .full, mirror: Mirror? = nil, start: MirrorPosition? = nil
  ) -> [SessionOutput] {
    let key = WatchKey(nav: nav, view: view)
    let order = watches[key]?.order ?? takeID()
    watches[key] = Watch(
      replica: Replica(nav: nav, mirror: mirror, start: start), order: order)
    return phase == .open ? ask(key) : []
  }

  /// Stops following a nav.
  package mutating func unwatch(_ nav: String, view: View = .full) -> [SessionOutput] {
    let key = WatchKey(nav: nav, view: view)
    guard watches.removeValue(forKey: key) != nil, phase == .open else { return [] }
    asked = asked.filter { $0.value != key }
    let id = takeID()
    return [.send(.unwatch, ClientMessageWriter.unwatch(id: id, nav: nav, view: view))]
  }

  /// Changes a nav; the octets are sent again, unchanged, until they are answered.
  ///
  /// - Parameters:
  ///   - request: all but the id and the operations, which are not looked at.
  ///   - operations: one JSON object an operation.
  /// - Returns: the id that the answer will carry, and what must follow.
  package mutating func perform(
    _ request: OpRequest, operations: [[UInt8]]
  ) -> (id: UInt64, outputs: [SessionOutput]) {
    var request = request
    request.id = takeID()
    request.client = nil
    request.name = nil
    let body = ClientMessageWriter.op(request, operations: operations)
    return (request.id, launch(Flight(id: request.id, verb: .op, body: body)))
  }

  /// Reads once; asked again after a loss until it is answered.
  package mutating func get(_ request: GetRequest) -> (id: UInt64, outputs: [SessionOutput]) {
    var request = request
    request.id = takeID()
    let body = ClientMessageWriter.get(request)
    return (request.id, launch(Flight(id: request.id, verb: .get, body: body)))
  }

  /// Forgets a request: its answer will be ignored, and it is not sent again.
  ///
  /// - Returns: whether it had been sent, so that it may have been, or may be, performed.
  package mutating func forget(_ id: UInt64) -> Bool {
    guard let index = flights.firstIndex(where: { $0.id == id }) else { return false }
    return flights.remove(at: index).isSent
  }

  /// Leaves politely; nothing more is asked.
  package mutating func leave() -> [SessionOutput] {
    guard phase == .open else {
      phase = .closed
      return []
    }
    phase = .closed
    return [.send(.bye, ClientMessageWriter.id(takeID()))]
  }

  /// Raises the credit when more than half of the window is used.
  ///
  /// Call it after everything that `receive` said was done.
  package mutating func confirm() -> [SessionOutput] {
    guard phase == .open, used + window / 2 > upTo else { return [] }
    upTo = used + window
    return [.send(.credit, ClientMessageWriter.credit(upTo: upTo))]
  }

  private mutating func launch(_ flight: Flight) -> [SessionOutput] {
    // The daemon could not even say which request it refuses, and a larger one would cost the
    // connection, again and again.
    guard flight.body.count <= maximumBody else {
      let refusal = ErrReply.tooLarge(flight.id, flight.body.count, limit: maximumBody)
      return [.event(.answered(id: flight.id, .failure(refusal)))]
    }
    flights.append(flight)
    return phase == .open ? sendWaiting() : []
  }

  /// Sends what has not been sent, oldest first, as far as the daemon takes it.
  mutating func sendWaiting() -> [SessionOutput] {
    var outputs: [SessionOutput] = []
    for index in flights.indices.prefix(Self.maximumSentRequests) where !flights[index].isSent {
      flights[index].isSent = true
      outputs.append(.send(flights[index].verb, flights[index].body))
    }
    return outputs
  }

  /// Asks for one watch.
  mutating func ask(_ key: WatchKey) -> [SessionOutput] {
    guard var watch = watches[key] else { return [] }
    watch.retryAt = nil
    asked = asked.filter { $0.value != key }
    let id = takeID()
    asked[id] = key
    var request = WatchRequest(id: id, nav: key.nav, view: key.view)
    let (from, bad) = watch.replica.watching()
    if key.view == .full {
      request.from = from
      request.bad = bad
    }
    watches[key] = watch
    return [.send(.watch, ClientMessageWriter.watch(request))]
  }
}
