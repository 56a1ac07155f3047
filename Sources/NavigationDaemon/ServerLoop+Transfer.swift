import NavigationSync
import ZeroMQ

// Receiving and sending, and peers that do not read.

extension ServerLoop {
  /// Takes what has arrived, up to a bound; returns whether there was anything.
  ///
  /// `isAwaited` says that there was nothing when the socket was last read.
  mutating func receiveMessages(isAwaited: Bool) throws -> Bool {
    var count = 0
    while count < Self.messagesPerTurn, eventBytes < Self.bytesPerTurn {
      guard try listener.router.receive(into: &received) else {
        gate.noteEmpty()
        for id in connections.noteEmpty() { end(id) }
        break
      }
      count += 1
      eventBytes += received.byteCount
      takeMessage()
      // To look in vain costs two calls of the kernel, so where messages come one at a time each is
      // handled without looking for more. What has come meanwhile is found in the next turn.
      if count == 1, isAwaited, isOneAtATime { return true }
    }
    if count > 0 { isOneAtATime = isAwaited && count == 1 }
    return count > 0
  }

  // A function of its own, so that its instructions can be counted by its name.
  @inline(never)
  private mutating func takeMessage() {
    guard received.count >= 2 else { return }
    // A peer that names its routing id is cut off before it can send anything.
    guard let id = Connections.automaticID(received[0].bytes) else { return }
    let known = connections.slot(of: id) ?? firstMessage(id)
    noteTaken(known)
    guard let slot = known, connections[slot].isHeard else { return }
    let isEnveloped = received[1].count == 0
    if connections[slot].isEnveloped != isEnveloped { connections[slot].isEnveloped = isEnveloped }
    let peer = connections[slot].peer
    let first = isEnveloped ? 2 : 1
    guard received.count == first + 2, received.droppedFrames == 0 else {
      events.append(.unreadable(id, peer, .frameCount))
      return
    }
    takeVerb(first)
    // Read here, where messages are received: the hub goes over those at hand without a reader's
    // code and buffers in the processor's caches between two of them.
    events.append(
      HubEvent(
        frame: verb, body: received[first + 1].copyBytes(), from: id, peer, reader: &messageReader))
  }

  /// Enters the peer of a first message; nil for one that may not speak, or has ended.
  private mutating func firstMessage(_ id: ConnectionID) -> Int? {
    // Whatever it tells of was accepted before.
    takeConnectionEvents()
    let last = received.count - 1
    guard let descriptor = received[last].sourceDescriptor,
      let address = received[last].peerAddress,
      let (admission, userID) = received[last].userID.flatMap(Self.readUserID),
      let (peer, key) = access.peer(address, userID: userID)
    else { return nil }
    return connections.noteFirstMessage(
      id, received[0].copyBytes(), from: peer, key: key, admission: admission,
      descriptor: descriptor)
  }

  /// Tells the gate that the message is off the socket.
  @inline(__always)
  private func noteTaken(_ slot: Int?) {
    let descriptor: Int32
    let cookie: UInt64
    if let slot {
      (descriptor, cookie) = (
        connections[slot].acceptance.descriptor, connections[slot].acceptance.cookie
      )
    } else {
      guard let source = received[received.count - 1].sourceDescriptor else { return }
      (descriptor, cookie) = (source, gate.cookie(of: source))
    }
    // The first frame is the socket's.
    gate.noteTaken(
      descriptor, cookie: cookie, bytes: received.byteCount - Connections.automaticIDBytes,
      frames: received.count + received.droppedFrames - 1)
  }

  /// Copies a verb, unless it is the one before, as most are.
  private mutating func takeVerb(_ index: Int) {
    if !received[index].hasBytes(of: verb.span) { verb = received[index].copyBytes() }
  }

  mutating func send(_ output: HubOutput) throws {
    // The body that is in `shared`; what goes to many is copied for the socket once.
    var sharedBody = -1
    for index in output.deliveries.indices {
      let delivery = output.deliveries[index]
      let body = delivery.body
      let next = index + 1
      if body != sharedBody, next < output.deliveries.count, output.deliveries[next].body == body {
        shared = Message(copying: output.bodies[body])
        sharedBody = body
      }
      guard let slot = connections.slot(of: delivery.connection), !connections[slot].isAbandoned
      else { continue }
      var result = SendResult.wouldBlock
      if connections[slot].outbox.isEmpty, !isBehind(slot) {
        result = try transmit(
          delivery.verb, output.bodies[body], isShared: body == sharedBody, to: slot)
      }
      switch result {
      case .sent: noteUnsent(output.bodies[body].count, handedTo: slot)
      case .wouldBlock: enqueue(output.message(delivery), slot)
      // The peer is gone: its `closed` event is queued.
      case .unreachable: break
      }
    }
    if sharedBody >= 0 { shared = Message() }
  }

  /// Hands one message to the socket, all frames or none; `isShared` says that the body is in `shared`.
  mutating func transmit(
    _ verb: ServerVerb, _ body: [UInt8], isShared: Bool = false, to slot: Int
  ) throws -> SendResult {
    let routingID = connections[slot].routingID
    let isEnveloped = connections[slot].isEnveloped
    let head = verb.frame
    if isShared {
      return try listener.router.send(
        to: routingID.span, isEnveloped: isEnveloped, head: head.span, sharing: &shared)
    }
    return try listener.router.send(
      to: routingID.span, isEnveloped: isEnveloped, head: head.span, body: body.span)
  }

  /// Keeps a message for a peer whose queue is full; a peer that lets too much pile up is lost.
  private mutating func enqueue(_ message: Outgoing, _ slot: Int) {
    let id = message.connection
    if connections[slot].outbox.isEmpty {
      waiting.append(id)
      afterthoughts.append(.blocked(id))
    }
    connections[slot].outbox.append(message)
    connections[slot].outboxBytes += message.body.count
    if connections[slot].outboxBytes > Self.outboxBytes { return cutOff(id, slot) }
    noteUnsent(message.body.count, handedTo: nil)
  }

  /// What may wait for one peer beyond the socket's own queue; flow control stops the mirror's
  /// messages long before.
  private static let outboxBytes = 4 << 20

  /// Has the hub handle the end of a connection, of which nothing more can come.
  mutating func end(_ id: ConnectionID) {
    waiting.removeAll { $0 == id }
    events.append(.closed(id))
  }

  /// Sends what waited, as far as the sockets take it now.
  mutating func retry() throws {
    guard !waiting.isEmpty else { return }
    let ids = waiting
    waiting.removeAll(keepingCapacity: true)
    for id in ids { try drain(id) }
  }

  private mutating func drain(_ id: ConnectionID) throws {
    guard let slot = connections.slot(of: id) else { return }
    var sent = 0
    while sent < connections[slot].outbox.count, !isBehind(slot) {
      let message = connections[slot].outbox[sent]
      let result = try transmit(message.verb, message.body, to: slot)
      if result == .unreachable { return connections.forgetOutbox(of: id) }
      if result == .wouldBlock { break }
      sent += 1
      connections[slot].outboxBytes -= message.body.count
      connections[slot].handedBytes += message.body.count
    }
    connections[slot].outbox.removeFirst(sent)
    if connections[slot].outbox.isEmpty {
      afterthoughts.append(.unblocked(id))
    } else {
      waiting.append(id)
    }
  }
}
