import NavigationSync
import RuntimePaths
import ZeroMQ

// Peers that come and go.

extension ServerLoop {
  /// Lets peers in whom the kernel or a key identifies, up to the limits.
  mutating func admit() throws {
    while let request = try listener.admission.next() {
      // Who asks was mostly accepted before, though this request may be newer than what the loop was
      // woken by. With two I/O threads his acceptance may come after it: then the limit is passed by
      // those who are being accepted.
      try watchPeers()
      try listener.admission.answer(request, answer(to: request))
    }
  }

  private func answer(to request: ZAPRequest) -> ZAPAnswer {
    switch access.admit(request) {
    case .failure(let refusal):
      report(refusal)
      return .refuse(reason: refusal.reason)
    case .success(let (peer, userID)):
      let kind: Entrance.Kind = if case .local = peer { .local } else { .network }
      guard listener.accepted(kind) <= configuration.limits.connections else {
        log(
          LogEntry(.warning, "too many connections: \(peer.principal) is refused", kind: .limited))
        return .refuse(reason: "too many connections")
      }
      guard connections.count(of: peer) < configuration.limits.connectionsPerPrincipal else {
        log(LogEntry(.warning, "too many connections of \(peer.principal)", kind: .limited))
        return .refuse(reason: "too many connections of one user or key")
      }
      return .allow(userID: userID)
    }
  }

  private func report(_ refusal: AccessControl.Refusal) {
    let who = refusal.peer?.principal ?? refusal.address ?? "somebody"
    var entry = LogEntry(.warning, "\(who) is not let in: \(refusal.reason)", kind: .refused)
    entry.principal = refusal.peer?.principal
    entry.code = "not-admitted"
    log(entry)
  }

  /// Follows the monitor: counts connections, and asks after peers whose descriptor was closed.
  mutating func watchPeers() throws {
    while let event = try listener.monitor.next() {
      switch event.kind {
      case .accepted: try admitMore(listener.count(1, at: event.endpoint))
      case .disconnected:
        // Below 0 for a moment if the two come in the wrong order.
        try admitMore(listener.count(-1, at: event.endpoint))
        if let id = connections.connection(behind: event.value) {
          suspects.append(Suspect(id: id))
        }
      // Each of these is followed by a disconnection, which is what counts.
      case .handshakeFailed, .handshakeBroken, .refused: break
      case .acceptFailed:
        log(LogEntry(.warning, "a connection could not be accepted", kind: .limited))
      case .connected: break
      }
    }
  }

  /// Lets no more in by an entrance while there are as many as there is room for.
  ///
  /// They wait in the kernel's queue: with more connections than descriptors libzmq would abort.
  private mutating func admitMore(_ entrance: Int?) throws {
    guard let entrance else { return }
    let limit = connectionRoom
    if listener.entrances[entrance].accepted >= limit {
      guard listener.entrances[entrance].boundAs != nil else { return }
      try listener.pause(at: entrance)
      let endpoint = listener.entrances[entrance].endpoint
      log(LogEntry(.warning, "\(endpoint) has \(limit) connections: others wait", kind: .limited))
    } else if listener.entrances[entrance].boundAs == nil {
      try listener.open(at: entrance)
    }
  }

  /// The connections that one entrance may have, those in their handshake too.
  ///
  /// A few more than the limit, so that who is too many is told so; but descriptors are left for the
  /// others and for ourselves.
  private var connectionRoom: Int {
    // Without a limit, or one that cannot be told, that of the configuration is all there is.
    let descriptors = descriptorLimit().map { Int(clamping: $0) } ?? .max
    let share = (descriptors - Self.ownDescriptors) / max(listener.entrances.count, 1)
    return max(1, min(configuration.limits.connections + 64, share))
  }

  /// Descriptors for the journal, sockets, threads and what is accepted before the loop hears of it.
  private static let ownDescriptors = 128

  // Keys that change.

  /// Reads the keys again, and ends the sessions of those that are not authorised any more.
  mutating func rereadKeys() {
    keyWatch.renew()
    var control = access
    control.readKeys()
    takeOver(control)
  }

  /// Judges by other roles, grants and keys from now on.
  mutating func takeOver(_ control: AccessControl) {
    let former = access.access
    access = control
    reportKeys()
    for (id, slot) in connections.keyed {
      guard !connections[slot].isRevoked, let key = connections[slot].key,
        case .key(let name, _) = connections[slot].peer,
        access.name(of: key) != name
      else { continue }
      // What it sends from now on is not even read.
      connections[slot].isRevoked = true
      events.append(.revoked(id))
    }
    if access.access != former { events.append(.access(access.access)) }
  }

  /// Says which keys cannot be used.
  func reportKeys() {
    for problem in access.problems {
      log(LogEntry(.warning, "a key is left out: \(problem)", kind: .refused))
    }
  }

  /// Asks peers that may be gone by sending a sign of life: the socket knows who is.
  ///
  /// A descriptor's number may belong to another peer by now, and the socket may learn of the end
  /// a moment after the monitor, so a peer is asked a few times and otherwise left alone. A busy
  /// loop turns many times in that moment: it is the time between two questions that counts.
  mutating func probeSuspects(at now: Instant) throws {
    guard !suspects.isEmpty else { return }
    let asked = suspects
    suspects.removeAll(keepingCapacity: true)
    for var suspect in asked {
      guard let slot = connections.slot(of: suspect.id), connections[slot].outbox.isEmpty else {
        continue
      }
      guard suspect.due <= now.boot else {
        suspects.append(suspect)
        continue
      }
      let mark = Outgoing.signOfLife(to: suspect.id)
      switch try transmit(mark.verb, mark.body, to: slot) {
      case .unreachable: lose(suspect.id)
      case .sent, .wouldBlock:
        guard suspect.attempts < Self.patienceWithSuspects.count else { continue }
        suspect.due = now.boot + Self.patienceWithSuspects[suspect.attempts]
        suspect.attempts += 1
        suspects.append(suspect)
      }
    }
  }

  /// Milliseconds between one question to a peer that may be gone and the next.
  private static let patienceWithSuspects: [UInt64] = [1, 10, 100, 1000]
}
