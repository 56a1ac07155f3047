import CLinux
import NavigationSync
import RuntimePaths
import ZeroMQ

// Peers that come and go.

extension ServerLoop {
  /// Answers the peers that ask for admission, as the kernel or a key identifies them.
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
      // A request comes behind the acceptance of its connection.
      takeConnectionEvents()
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
      guard gate.isInPlace(isSealed: !Connection.Origin(peer).isLocal) else {
        log(
          LogEntry(.error, "navd refuses everybody: libzmq does not call its recv", kind: .refused))
        return .fail(reason: "the daemon cannot see what its peers send")
      }
      let number = gate.nextAdmission()
      switch connections.admit(peer, as: number, limits) {
      case .admitted: return .allow(userID: Self.writeUserID(number, userID))
      case .ended: return .fail(reason: "the connection has ended")
      case .tooMany(let ofPrincipal):
        let whose = ofPrincipal ? " of \(peer.principal)" : ": \(peer.principal) is refused"
        log(LogEntry(.warning, "too many connections\(whose)", kind: .limited))
        // Not a refusal of the peer, which may find room the next time.
        return .fail(reason: "too many connections\(ofPrincipal ? " of one user or key" : "")")
      }
    }
  }

  private var limits: Connections.Limits {
    Connections.Limits(
      all: configuration.limits.connections,
      principal: configuration.limits.connectionsPerPrincipal)
  }

  // What ZAP calls the user id comes with every message of the connection.

  private static func writeUserID(_ admission: UInt64, _ userID: String) -> String {
    "\(admission) \(userID)"
  }

  static func readUserID(_ text: String) -> (admission: UInt64, userID: String)? {
    let parts = text.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, let number = UInt64(parts[0]) else { return nil }
    return (number, String(parts[1]))
  }

  /// Takes what libzmq's threads have accepted and closed.
  mutating func takeConnectionEvents() {
    reportCuts()
    let changes = gate.events.take()
    guard !changes.isEmpty else { return }
    let now = Self.now().boot
    audit.noteChange(at: now)
    for change in changes {
      switch change {
      case .accepted(let acceptance): bound(connections.noteAccepted(acceptance, at: now))
      case .closed(let descriptor, let cookie):
        connections.noteClosed(descriptor, cookie: cookie, at: now)
      case .shortage: reportShortage()
      }
    }
  }

  /// Ends a connection that was just accepted if there are far too many.
  private mutating func bound(_ slot: Int) {
    let excess = connections.excess(of: slot, limits)
    guard excess.count > 0 else { return }
    shutDown(slot)
    guard excess.count == 1 else { return }
    let origin = connections[slot].acceptance.origin
    let whose =
      excess.isOfUser
      ? origin.user.map { " of uid:\($0)" } ?? "" : origin.isLocal ? "" : " over the network"
    log(
      LogEntry(.warning, "too many connections: some\(whose) are disconnected", kind: .limited))
  }

  /// Ends connections whose time is up.
  mutating func takeDueConnections(at now: Instant) {
    guard let wakeAt = connections.wakeAt, wakeAt <= now.boot else { return }
    let due = connections.takeDue(at: now.boot)
    for id in due.ended { end(id) }
    // After a standstill of the loop a first message may have come and wait to be read.
    let isLate = now.boot >= wakeAt + 250
    for slot in due.silent {
      let descriptor = connections[slot].acceptance.descriptor
      let isHeard = navd_arrived_bytes(descriptor) > 0 || gate.holds(descriptor)
      if isLate || isHeard, connections.postpone(slot, at: now.boot) { continue }
      shutDown(slot)
      log(
        LogEntry(
          .notice, "a connection over the network is closed: no message came in 10 s",
          kind: .limited))
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
      let known = cut.descriptor.flatMap { connections.slot(behind: $0) }
        .flatMap { connections[$0].id == nil ? nil : $0 }
      let principal =
        cut.user.map { "uid:\($0)" } ?? known.map { connections[$0].peer.principal }
      var entry = LogEntry(
        .warning, "\(principal ?? "somebody") is cut off: \(cut.reason.text)", kind: .limited)
      entry.principal = principal
      log(entry)
    }
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
    for (id, slot) in connections.speaking {
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
}
