import CLinux
import NavigationSync
import RuntimePaths
import ZeroMQ

// Peers that come and go.

extension ServerLoop {
  /// Lets peers in whom the kernel or a key identifies, up to the limits.
  ///
  /// No more at a time than there is room for what they may send; the others wait for their answers.
  mutating func admit() throws {
    var room = gate.roomForConnections
    while true {
      guard room > 0 else {
        hasWaitingAdmissions = true
        return
      }
      guard let request = try listener.admission.next() else { break }
      room -= 1
      // Who asks was mostly accepted before, though this request may be newer than what the loop was
      // woken by. With two I/O threads his acceptance may come after it: then the limit is passed by
      // those who are being accepted.
      try watchPeers()
      try listener.admission.answer(request, answer(to: request))
    }
    hasWaitingAdmissions = false
  }

  private mutating func answer(to request: ZAPRequest) -> ZAPAnswer {
    switch access.admit(request) {
    case .failure(let refusal):
      report(refusal)
      return .refuse(reason: refusal.reason)
    case .success(let (peer, userID)):
      let kind: Entrance.Kind = if case .local = peer { .local } else { .network }
      guard gate.isInPlace(isSealed: kind == .network) else {
        log(LogEntry(.error, "nobody is let in: libzmq does not read by the gate", kind: .refused))
        return .fail(reason: "the daemon cannot see what its peers send")
      }
      guard listener.accepted(kind) <= configuration.limits.connections else {
        log(
          LogEntry(.warning, "too many connections: \(peer.principal) is refused", kind: .limited))
        return .refuse(reason: "too many connections")
      }
      guard count(of: peer) < configuration.limits.connectionsPerPrincipal else {
        log(LogEntry(.warning, "too many connections of \(peer.principal)", kind: .limited))
        return .refuse(reason: "too many connections of one user or key")
      }
      if case .local(let user, _, let process) = peer {
        connections.attendance.noteAdmitted(Attendance.Process(user: user, number: process))
      }
      return .allow(userID: userID)
    }
  }

  /// The connections that somebody has, without the one that he asks for.
  private func count(of peer: Peer) -> Int {
    let speaking = connections.count(of: peer)
    guard case .local(let user, _, _) = peer else { return speaking }
    // Who says nothing takes a descriptor too.
    return max(speaking, connections.attendance.admitted(of: user))
  }

  /// Notes whose connection was accepted; who takes far too many is not waited for.
  ///
  /// libzmq waits seconds for a greeting, while there would be no room for others.
  private mutating func noteAccepted(_ descriptor: Int32, at entrance: Int?) {
    guard let entrance else { return }
    let limits = configuration.limits
    var excess = listener.entrances[entrance].accepted - limits.connections - Self.tolerance
    var who = listener.entrances[entrance].endpoint
    var process: Int32 = 0
    let user =
      listener.entrances[entrance].kind == .local
      ? unsafe navd_peer_user(descriptor, &process) : -1
    if user >= 0, let number = UInt32(exactly: user) {
      connections.attendance.noteAccepted(
        Attendance.Process(user: number, number: process), behind: descriptor)
      let own =
        connections.attendance.open(of: number) - limits.connectionsPerPrincipal
        - Self.tolerance
      if own > excess { (excess, who) = (own, "uid:\(number)") }
    }
    guard excess > 0 else { return }
    navd_cut(descriptor)
    guard excess == 1 else { return }
    log(LogEntry(.warning, "too many connections: some of \(who) are cut off", kind: .limited))
  }

  /// How many more connections are refused rightly before they are just ended.
  private static let tolerance = 64

  /// Cuts off who is connected over a network and has said nothing for too long.
  mutating func cutSilent(at now: Instant) {
    guard let wakeAt = newcomers.wakeAt, wakeAt <= now.boot else { return }
    // Who waits for a loop that stood still has said something, perhaps.
    let isLate = now.boot >= wakeAt + 250
    for descriptor in newcomers.takeDue(at: now.boot)
    where connections.connection(behind: descriptor) == nil {
      let isHeard = navd_arrived_bytes(descriptor) > 0 || gate.holds(descriptor)
      if isLate || isHeard, newcomers.grantMore(descriptor, at: now.boot) { continue }
      navd_cut(descriptor)
      log(
        LogEntry(
          .notice, "somebody on a network is cut off: nothing was said for 10 s", kind: .limited))
    }
  }

  private func report(_ refusal: AccessControl.Refusal) {
    let who = refusal.peer?.principal ?? refusal.address ?? "somebody"
    var entry = LogEntry(.warning, "\(who) is not let in: \(refusal.reason)", kind: .refused)
    entry.principal = refusal.peer?.principal
    entry.code = "not-admitted"
    log(entry)
  }

  /// Says who was cut off by the gate, and why.
  private func reportCuts() {
    for cut in gate.takeCuts() {
      let known = cut.descriptor.flatMap { connections.connection(behind: $0) }
        .flatMap { connections.slot(of: $0) }
      let principal =
        cut.user.map { "uid:\($0)" } ?? known.map { connections[$0].peer.principal }
      var entry = LogEntry(
        .warning, "\(principal ?? "somebody") is cut off: \(cut.reason.text)", kind: .limited)
      entry.principal = principal
      log(entry)
    }
  }

  /// Follows the monitor: counts connections, and asks after peers whose descriptor was closed.
  mutating func watchPeers() throws {
    reportCuts()
    while let event = try listener.monitor.next() {
      switch event.kind {
      case .accepted:
        let entrance = listener.count(1, at: event.endpoint)
        noteAccepted(event.value, at: entrance)
        if let entrance, listener.entrances[entrance].kind == .network {
          newcomers.noteAccepted(event.value, at: Self.now().boot)
        }
      case .disconnected:
        connections.attendance.noteEnded(event.value)
        newcomers.forget(event.value)
        // Below 0 for a moment if the two come in the wrong order.
        _ = listener.count(-1, at: event.endpoint)
        if let id = connections.connection(behind: event.value), !isOpen(id, event.value) {
          if let slot = connections.slot(of: id) { connections[slot].isDoubted = true }
          suspects.append(Suspect(id: id))
        }
      // Each of these is followed by a disconnection, which is what counts.
      case .handshakeFailed, .handshakeBroken, .refused: break
      case .acceptFailed: reportShortage()
      case .connected: break
      }
    }
  }

  /// Whether a connection is still behind its descriptor, so that it is another one that has ended.
  private func isOpen(_ id: ConnectionID, _ descriptor: Int32) -> Bool {
    guard let slot = connections.slot(of: id) else { return false }
    let cookie = connections[slot].cookie
    return cookie != 0 && cookie == navd_socket_cookie(descriptor)
  }

  /// Says that somebody was closed for want of descriptors, once in a while: there may be thousands.
  private mutating func reportShortage() {
    let now = SystemClock.monotonicMilliseconds()
    guard now >= shortageReportDue else { return }
    shortageReportDue = now + 1000
    log(
      LogEntry(
        .warning, "connections are closed: nearly all descriptors are in use", kind: .limited))
  }

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
