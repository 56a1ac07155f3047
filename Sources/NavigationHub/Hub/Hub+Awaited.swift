import NavigationCore

// The watches that wait for a nav that does not exist. Those that a batch decides stay until it is durable, because a rollback takes
// the creation of the nav back.

extension Hub {
  /// Keeps a watch until its nav exists, and answers `queued`; returns false if it does not wait.
  mutating func keepUntilNavExists(
    _ request: WatchRequest, for sender: Sender, session: SessionSlot
  ) -> Bool {
    sessions.forgetWaitingWatches(request.nav, request.view, of: session)
    guard request.waitsForNav, navs.slot(of: request.nav) == nil,
      access.rights(of: sender.peer, on: request.nav, owner: nil).contains(.read)
    else { return false }
    if let error = excessOfWatches(request, session) {
      refuse(sender, error, about: request.nav)
      return true
    }
    sessions[session].waitingWatches.append((request, isDecided: false))
    let body = ServerMessageWriter.queued(id: request.id, nav: request.nav, position: 0)
    send(sender.connection, .queued, body)
    return true
  }

  /// Begins or refuses the watches that waited for a nav, which now exists.
  mutating func decideWaitingWatches(_ nav: String, at now: Instant) {
    for (slot, request) in sessions.decideWaitingWatches(nav) {
      beginWatch(request, for: sessions[slot].sender, session: slot, at: now)
    }
  }

  /// Refuses the watches that wait for navs of shards that another daemon serves from now on.
  mutating func refuseMovedWatches(of leaving: Set<Shard>) {
    for slot in sessions.indices {
      for wait in sessions[slot].waitingWatches
      where leaving.contains(shards.shard(of: wait.request.nav)) {
        guard var error = misplacedError(wait.request.nav) else { continue }
        error.id = wait.request.id
        refuse(sessions[slot].sender, error)
        sessions.forgetWaitingWatches(wait.request.nav, wait.request.view, of: slot)
      }
    }
  }

  /// The error of one watch more than a connection may have; nil if there is room.
  func excessOfWatches(_ request: WatchRequest, _ session: SessionSlot) -> OutgoingError? {
    let limit = configuration.watchesPerConnection
    let waiting = sessions[session].waitingWatches.count { !$0.isDecided }
    guard watches.of(session: session).count + waiting >= limit else { return nil }
    return OutgoingError(
      .limit, id: request.id, "a connection has at most \(counted(limit, "watch"))",
      reason: "quota")
  }
}

extension Session {
  fileprivate var sender: Sender { Sender(connection: connection, peer: peer) }
}
