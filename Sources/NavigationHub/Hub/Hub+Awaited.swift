import NavigationCore

// The watches that wait for a nav that does not exist. Those that a batch decides stay until it is durable, because a rollback takes
// the creation of the nav back.

extension Hub {
  /// Keeps a watch until its nav exists, and answers `queued`; returns false if it does not wait.
  mutating func awaitNav(_ request: WatchRequest, for sender: Sender, session: Int) -> Bool {
    forgetAwaited(request.nav, request.view, session: session)
    guard request.waits, navs.slot(of: request.nav) == nil,
      access.rights(of: sender.peer, on: request.nav, owner: nil).contains(.read)
    else { return false }
    if let error = excessOfWatches(request, session) {
      refuse(sender, error, about: request.nav)
      return true
    }
    sessions.slots[session].awaited.append((request, isDecided: false))
    let body = ServerMessageWriter.queued(id: request.id, nav: request.nav, position: 0)
    send(sender.connection, .queued, body)
    return true
  }

  mutating func forgetAwaited(_ nav: String, _ view: View, session: Int) {
    sessions.slots[session].awaited.removeAll { $0.request.nav == nav && $0.request.view == view }
  }

  /// Decides the watches that have waited for a nav, which the batch at hand has created.
  mutating func decideAwaited(_ nav: String, at now: Instant) {
    for slot in sessions.indices {
      for (index, wait) in sessions.slots[slot].awaited.enumerated()
      where wait.request.nav == nav && !wait.isDecided {
        decidesAwaited = true
        sessions.slots[slot].awaited[index].isDecided = true
        follow(wait.request, for: sessions.slots[slot].sender, session: slot, at: now)
      }
    }
  }

  /// Forgets the decided watches when everything is durable.
  mutating func settleAwaited() {
    guard decidesAwaited else { return }
    decidesAwaited = false
    for slot in sessions.indices { sessions.slots[slot].awaited.removeAll(where: \.isDecided) }
  }

  /// Makes the watches of a nav wait again after a rollback of its creation.
  mutating func awaitAgain(_ nav: String) {
    guard decidesAwaited else { return }
    for slot in sessions.indices {
      for index in sessions.slots[slot].awaited.indices
      where sessions.slots[slot].awaited[index].request.nav == nav {
        sessions.slots[slot].awaited[index].isDecided = false
      }
    }
  }

  /// Refuses the watches that wait for navs of shards that another daemon serves from now on.
  mutating func moveAwaited(of leaving: Set<Shard>) {
    for slot in sessions.indices {
      for wait in sessions.slots[slot].awaited
      where leaving.contains(shards.shard(of: wait.request.nav)) {
        guard var error = misplaced(wait.request.nav) else { continue }
        error.id = wait.request.id
        refuse(sessions.slots[slot].sender, error)
        forgetAwaited(wait.request.nav, wait.request.view, session: slot)
      }
    }
  }

  /// The error of one watch more than a connection may have; nil if there is room.
  func excessOfWatches(_ request: WatchRequest, _ session: Int) -> OutgoingError? {
    let limit = configuration.watchesPerConnection
    let waiting = sessions.slots[session].awaited.count { !$0.isDecided }
    guard watches.of(session: session).count + waiting >= limit else { return nil }
    var error = OutgoingError(
      .limit, id: request.id, "a connection has at most \(counted(limit, "watch"))")
    error.reason = "quota"
    return error
  }
}

extension Session {
  fileprivate var sender: Sender { Sender(connection: connection, peer: peer) }
}
