import NavigationSync
import ZeroMQ

// Receiving and sending; peers that come, go or do not read.

extension ServerLoop {
  /// Takes what has arrived, up to a bound; returns whether there was anything.
  mutating func receiveMessages() throws -> Bool {
    var count = 0
    while count < Self.messagesPerTurn, try listener.router.receive(into: &received) {
      count += 1
      takeMessage()
    }
    return count > 0
  }

  // A function of its own, so that its instructions can be counted by its name.
  @inline(never)
  private mutating func takeMessage() {
    guard received.count >= 2 else { return }
    let last = received.count - 1
    let automatic = Connections.automaticID(received[0].bytes)
    let id = automatic ?? intern(received[0].copyBytes())
    if automatic == nil || !connections.contains(id) {
      guard let peer = received[last].peerAddress.flatMap({ Peer($0) }) else { return }
      if let known = connections[id], known.peer != peer {
        // The peer that had this routing id is gone; whatever it had goes with it.
        connections.remove(id)
        events.append(.closed(id))
      }
      if connections[id] == nil {
        let connection = Connections.Connection(
          routingID: received[0].copyBytes(), peer: peer,
          descriptor: received[last].sourceDescriptor)
        connections.add(id, connection)
      }
    }
    let isEnveloped = received[1].count == 0
    guard let peer = connections.note(id, isEnveloped: isEnveloped) else { return }
    let first = isEnveloped ? 2 : 1
    guard received.count == first + 2, received.droppedFrames == 0 else {
      events.append(.malformed(id, peer))
      return
    }
    events.append(
      .message(
        id, peer, verb: received[first].copyBytes(), body: received[first + 1].copyBytes()))
  }

  private mutating func intern(_ routingID: [UInt8]) -> ConnectionID {
    connections.intern(routingID)
  }

  mutating func send(_ messages: [Outgoing]) throws {
    for message in messages { try send(message) }
    shared = SharedBody()
  }

  private mutating func send(_ message: Outgoing) throws {
    let id = message.connection
    guard let connection = connections[id], !connection.isAbandoned else { return }
    guard connection.outbox.isEmpty else { return enqueue(message) }
    switch try transmit(message, connection.routingID, connection.isEnveloped) {
    case .sent: break
    case .wouldBlock: enqueue(message)
    case .unreachable: lose(id)
    }
  }

  /// Hands one message to the socket: all frames or none.
  private mutating func transmit(
    _ message: Outgoing, _ routingID: [UInt8], _ isEnveloped: Bool
  ) throws -> SendResult {
    routing.replace(copying: routingID.span)
    let admitted = try listener.router.send(&routing, more: true)
    guard admitted == .sent else { return admitted }
    if isEnveloped {
      scratch.replace(copying: [UInt8]().span)
      _ = try listener.router.send(&scratch, more: true)
    }
    scratch.replace(copying: message.verb.frame.span)
    _ = try listener.router.send(&scratch, more: true)
    if message.isShared {
      var body = shared.message(for: message.body)
      _ = try listener.router.send(&body)
    } else {
      scratch.replace(copying: message.body.span)
      _ = try listener.router.send(&scratch)
    }
    return .sent
  }

  /// Keeps a message for a peer whose queue is full; a peer that lets too much pile up is lost.
  private mutating func enqueue(_ message: Outgoing) {
    let id = message.connection
    if connections[id]?.outbox.isEmpty == true {
      waiting.append(id)
      afterthoughts.append(.blocked(id))
    }
    connections.update(id) {
      $0.outbox.append(message)
      $0.outboxBytes += message.body.count
    }
    guard let bytes = connections[id]?.outboxBytes, bytes > Self.outboxBytes else { return }
    connections.update(id) { $0.isAbandoned = true }
    connections.forgetOutbox(of: id)
    waiting.removeAll { $0 == id }
    afterthoughts.append(.closed(id))
  }

  /// What may wait for one peer beyond the socket's own queue; flow control stops the mirror's
  /// messages long before.
  private static let outboxBytes = 4 << 20

  /// Forgets a peer that is gone.
  private mutating func lose(_ id: ConnectionID) {
    connections.remove(id)
    waiting.removeAll { $0 == id }
    afterthoughts.append(.closed(id))
  }

  /// Sends what waited, as far as the sockets take it now.
  mutating func retry(at now: Instant) throws {
    guard !waiting.isEmpty || !suspects.isEmpty else { return }
    let ids = waiting
    waiting.removeAll(keepingCapacity: true)
    for id in ids { try drain(id) }
    try probeSuspects(at: now)
  }

  private mutating func drain(_ id: ConnectionID) throws {
    guard let connection = connections[id] else { return }
    var sent = 0
    while sent < connection.outbox.count {
      let message = connection.outbox[sent]
      let result = try transmit(message, connection.routingID, connection.isEnveloped)
      if result == .unreachable { return lose(id) }
      if result == .wouldBlock { break }
      sent += 1
      connections.update(id) { $0.outboxBytes -= message.body.count }
    }
    connections.update(id) { $0.outbox.removeFirst(sent) }
    if sent == connection.outbox.count {
      afterthoughts.append(.unblocked(id))
    } else {
      waiting.append(id)
    }
  }

  // Peers that go.

  /// Lets peers in, up to the limits; they are identified by the kernel.
  mutating func admit() throws {
    while let request = try listener.admission.next() {
      // Who asks was accepted before; this request may be newer than what the loop was woken by.
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
        accepted = max(0, accepted - 1)
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
  private mutating func probeSuspects(at now: Instant) throws {
    guard !suspects.isEmpty else { return }
    let asked = suspects
    suspects.removeAll(keepingCapacity: true)
    for var suspect in asked {
      guard let connection = connections[suspect.id], connection.outbox.isEmpty else { continue }
      guard suspect.due <= now.boot else {
        suspects.append(suspect)
        continue
      }
      let mark = Outgoing.signOfLife(to: suspect.id)
      switch try transmit(mark, connection.routingID, connection.isEnveloped) {
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

extension Connections {
  /// Gives up what waits for a peer.
  mutating func forgetOutbox(of id: ConnectionID) {
    update(id) {
      $0.outbox = []
      $0.outboxBytes = 0
    }
  }
}

/// The socket's message of a body that goes to many peers, so that it is copied once.
struct SharedBody: ~Copyable {
  private var body: [UInt8] = []
  private var message = Message()

  /// A reference to the message of `body`; made anew only when the body is another one.
  mutating func message(for body: [UInt8]) -> Message {
    if !isSame(body) {
      self.body = body
      message = Message(copying: body)
    }
    return message.share()
  }

  // The array is kept, so its address cannot have been given to another.
  private func isSame(_ other: [UInt8]) -> Bool {
    unsafe body.withUnsafeBufferPointer { mine in
      unsafe other.withUnsafeBufferPointer { theirs in
        unsafe mine.baseAddress == theirs.baseAddress && mine.count == theirs.count
      }
    }
  }
}
