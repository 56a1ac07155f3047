package import NavigationHub
package import NavigationProtocol
package import ZeroMQ

// Messages that peers send.

extension GuardedRouter {
  /// Takes the next message, without waiting; returns whether there was one.
  ///
  /// If there was none, nothing more can come from the connections that were closed before.
  package mutating func receive() throws(ZeroMQError) -> Bool {
    if try socket.receive(into: &received) { return true }
    gate.noteEmpty()
    for id in connections.noteEmpty() { end(id) }
    return false
  }

  /// The bytes of the message at hand.
  package var receivedBytes: Int { received.byteCount }

  /// Reads the message at hand; nil if its sender is not listened to.
  package mutating func readEvent(
    _ reader: inout ClientMessageReader, _ authority: some PeerAuthority
  ) -> HubEvent? {
    guard received.count >= 2 else { return nil }
    // A peer that names its routing id is disconnected before it can send anything.
    guard let id = Connections.automaticID(received[0].bytes) else { return nil }
    let known = connections.slot(of: id) ?? firstMessage(id, authority)
    noteTaken(known)
    guard let slot = known, connections[slot].isHeard else { return nil }
    let isEnveloped = received[1].count == 0
    if connections[slot].isEnveloped != isEnveloped { connections[slot].isEnveloped = isEnveloped }
    let peer = connections[slot].peer
    let first = isEnveloped ? 2 : 1
    guard received.count == first + 2, received.droppedFrames == 0 else {
      return .unreadable(id, peer, .frameCount)
    }
    return Self.event(received, first, from: id, peer, reader: &reader)
  }

  /// Reads the message whose verb is in the frame at `first`, where libzmq has put it.
  private static func event(
    _ received: borrowing Multipart, _ first: Int, from id: ConnectionID, _ peer: Peer,
    reader: inout ClientMessageReader
  ) -> HubEvent {
    HubEvent(
      frame: received[first].bytes, body: received[first + 1].bytes, from: id, peer,
      reader: &reader)
  }

  /// Enters the sender of a first message; nil for one that may not speak, or has ended.
  private mutating func firstMessage(
    _ id: ConnectionID, _ authority: some PeerAuthority
  ) -> Int? {
    // The connection was accepted before it sent anything.
    takeConnectionEvents()
    let last = received.count - 1
    guard let descriptor = received[last].sourceDescriptor,
      let address = received[last].peerAddress,
      let (admission, userID) = received[last].userID.flatMap(Self.readUserID),
      let (peer, key) = authority.peer(address, userID: userID)
    else { return nil }
    return connections.noteFirstMessage(
      id, received[0].copyBytes(), from: peer, key: key, admission: admission,
      descriptor: descriptor)
  }

  /// Reports to the gate that the message is off the socket.
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
}
