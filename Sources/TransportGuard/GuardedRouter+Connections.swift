import CLinux
import NavigationCore
package import NavigationHub
import RuntimePaths
package import ZeroMQ

// Connections that are accepted, closed or due.

extension GuardedRouter {
  /// The numbers of connections, for metrics.
  package struct Figures: Sendable {
    package var open = 0
    /// The number of admitted connections of each user and key, in descending order.
    package var principals: [(name: String, connections: Int)] = []
    /// The number of connections in the table at the last audit.
    package var countedConnections = 0
    /// The number of peers' sockets that the kernel had at the last audit.
    package var kernelSockets = 0
    /// The number of differences between the two that lasted 2 s, since the start.
    package var differences = 0
  }

  /// Returns the present numbers; those of the audit are at most 1 s old.
  package mutating func measure(at now: UInt64) -> Figures {
    takeConnectionEvents()
    if audit.isStale(at: now) { auditConnections(at: now) }
    figures.open = connections.openCount
    figures.principals = connections.principals
    return figures
  }

  /// Handles the events of connections that libzmq's threads and the gate have queued.
  package mutating func takeConnectionEvents() {
    let changes = gate.events.take()
    guard !changes.isEmpty else { return }
    let now = SystemClock.bootMilliseconds()
    audit.noteChange(at: now)
    for change in changes {
      switch change {
      case .accepted(let acceptance):
        enforceLimits(on: connections.noteAccepted(acceptance, at: now))
      case .closed(let descriptor, let cookie):
        connections.noteClosed(descriptor, cookie: cookie, at: now)
      case .disconnected(let disconnection): report(disconnection)
      case .descriptorShortage: reportShortage(at: now)
      }
    }
  }

  /// Shuts a new connection down if it exceeds the limits and the tolerance.
  private mutating func enforceLimits(on slot: Int) {
    let excess = connections.excess(of: slot, limits)
    guard excess.count > 0 else { return }
    shutDown(slot)
    guard excess.count == 1 else { return }
    let origin = connections[slot].acceptance.origin
    let whose =
      excess.isOfUser
      ? origin.user.map { " of uid:\($0)" } ?? "" : origin.isLocal ? "" : " over the network"
    let text = "too many connections: some\(whose) are disconnected"
    notices.append(Notice(.limitExceeded, .warning, text))
  }

  private mutating func report(_ peer: InboundGate.Disconnection) {
    let principal =
      peer.user.map { "uid:\($0)" } ?? peer.descriptor.flatMap { connections.principal(behind: $0) }
    let text = "\(principal ?? "a peer") is disconnected: \(peer.reason.text)"
    var notice = Notice(.limitExceeded, .warning, text)
    notice.principal = principal
    notices.append(notice)
  }

  /// Logs that navd closes connections for want of descriptors, at most once a second.
  private mutating func reportShortage(at now: UInt64) {
    guard now >= shortageReportDue else { return }
    shortageReportDue = now + 1000
    let text = "connections are closed: nearly all descriptors are in use"
    notices.append(Notice(.limitExceeded, .warning, text))
  }

  /// Removes closed connections, and shuts down those whose first message is late.
  mutating func takeDueConnections(at now: UInt64) {
    guard let wakeAt = connections.wakeAt, wakeAt <= now else { return }
    let due = connections.takeDue(at: now)
    for id in due.ended { end(id) }
    // After a standstill of the loop, a first message may wait to be read.
    let isLate = now >= wakeAt + 250
    for slot in due.silent {
      let descriptor = connections[slot].acceptance.descriptor
      let hasSent = navd_arrived_bytes(descriptor) > 0 || gate.hasUntakenMessages(of: descriptor)
      if isLate || hasSent, connections.postpone(slot, at: now) { continue }
      shutDown(slot)
      let text = "a connection over the network is closed: no message came in 10 s"
      notices.append(Notice(.limitExceeded, .notice, text))
    }
  }

  /// Queues the end of a connection for the hub, after its last message.
  mutating func end(_ id: ConnectionID) {
    waitingToSend.removeAll { $0 == id }
    events.append(.closed(id))
  }

  /// Shuts a connection's socket down; libzmq then closes the descriptor.
  func shutDown(_ slot: Int) {
    let acceptance = connections[slot].acceptance
    // libzmq may have closed it just now, and accepted another connection with the same number.
    guard connections[slot].isOpen, navd_socket_cookie(acceptance.descriptor) == acceptance.cookie
    else { return }
    navd_cut(acceptance.descriptor)
  }

  /// Compares the table of connections with the kernel's sockets.
  ///
  /// It logs each difference older than 2 s, and removes connections that the kernel no longer has.
  mutating func auditConnections(at now: UInt64) {
    takeConnectionEvents()
    let open = openSockets()
    let counted = connections.openCookies
    (figures.countedConnections, figures.kernelSockets) = (counted.count, open.count)
    let found = audit.compare(counted: counted, open: open, at: now)
    guard found.count > 0 else { return }
    figures.differences += found.count
    notices.append(
      Notice(
        .connectionsMiscounted, .error,
        "connections are miscounted: \(found.onlyCounted.count) have ended but were counted, "
          + "\(found.onlyOpen.count) are open but were not; this is a fault of navd, please report "
          + "it"))
    for cookie in found.onlyCounted { connections.noteClosed(cookie: cookie, at: now) }
  }

  /// The kernel's socket numbers of all connections that the listening sockets accepted.
  private func openSockets() -> [UInt64] {
    (0...gate.highestDescriptor).compactMap { descriptor in
      let isPeer = listeningDescriptors.contains { navd_was_accepted_from(descriptor, $0) != 0 }
      return isPeer ? navd_socket_cookie(descriptor) : nil
    }
  }
}

// Requests for admission, and revoked keys.

extension GuardedRouter {
  /// Answers ZAP requests, whether peers may connect.
  ///
  /// It answers only while the limit has room for what the peers may send. The other requests wait.
  package mutating func admit(_ authority: some PeerAuthority) throws(ZeroMQError) {
    var room = gate.roomForConnections
    while true {
      guard room > 0 else {
        hasWaitingAdmissions = true
        return
      }
      guard let request = try zapHandler.next() else { break }
      room -= 1
      try zapHandler.answer(request, answer(to: request, authority))
    }
    hasWaitingAdmissions = false
  }

  private mutating func answer(
    to request: ZAPRequest, _ authority: some PeerAuthority
  ) -> ZAPAnswer {
    let (peer, userID): (Peer, String)
    do throws(AdmissionRefusal) {
      (peer, userID) = try authority.admit(request)
    } catch {
      notices.append(error.notice)
      return .refuse(reason: error.reason)
    }
    // The acceptance of a connection is queued before its request.
    takeConnectionEvents()
    guard gate.isInPlace(isSealed: !Connection.Origin(peer).isLocal) else {
      let text = "navd refuses every peer: libzmq does not call navd's recv"
      notices.append(Notice(.refused, .error, text))
      return .fail(reason: "the daemon cannot see what its peers send")
    }
    let number = gate.nextAdmission()
    switch connections.admit(peer, as: number, limits) {
    case .admitted: return .allow(userID: "\(number) \(userID)")
    case .ended: return .fail(reason: "the connection has ended")
    case .tooMany(let ofPrincipal):
      let whose = ofPrincipal ? " of \(peer.principal)" : ": \(peer.principal) is refused"
      notices.append(Notice(.limitExceeded, .warning, "too many connections\(whose)"))
      // This is no refusal of the peer: it may try again and find room.
      return .fail(reason: "too many connections\(ofPrincipal ? " of one user or key" : "")")
    }
  }

  /// Splits the user id that `answer` made, which libzmq attaches to every message of the connection.
  static func readUserID(_ text: String) -> (admission: UInt64, userID: String)? {
    let parts = text.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, let number = UInt64(parts[0]) else { return nil }
    return (number, String(parts[1]))
  }

  /// Revokes the connections whose keys are no longer authorised under the same name.
  ///
  /// The router then ignores everything that they send. The hub must end the sessions of the
  /// returned ids.
  package mutating func revoke(_ authority: some PeerAuthority) -> [ConnectionID] {
    var revoked: [ConnectionID] = []
    for (id, slot) in connections.speaking {
      guard !connections[slot].isRevoked, let key = connections[slot].key,
        case .key(let name, _) = connections[slot].peer, authority.name(of: key) != name
      else { continue }
      connections[slot].isRevoked = true
      revoked.append(id)
    }
    return revoked
  }
}
