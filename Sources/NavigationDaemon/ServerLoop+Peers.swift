import NavigationSync
import ZeroMQ

// Peers that come and go.

extension ServerLoop {
  /// Lets peers in, up to the limits; they are identified by the kernel.
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
    guard request.domain == "navd.ipc", request.mechanism == .null,
      case .process(let user, _, _) = request.address
    else { return .refuse(reason: "only local peers are served") }
    guard accepted <= configuration.limits.connections else {
      return .refuse(reason: "too many connections")
    }
    guard connections.count(of: user) < configuration.limits.connectionsPerPrincipal else {
      return .refuse(reason: "too many connections of one user")
    }
    return .allow(userID: "uid:\(user)")
  }

  /// Follows the monitor: counts connections, and asks after peers whose descriptor was closed.
  mutating func watchPeers() throws {
    while let event = try listener.monitor.next() {
      switch event.kind {
      case .accepted: accepted += 1
      case .disconnected:
        // Below 0 for a moment if the two come in the wrong order.
        accepted -= 1
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
