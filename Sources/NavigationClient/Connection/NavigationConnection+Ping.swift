package import NavigationCore

/// The reply of the daemon to a ping.
package struct Pong: Hashable, Sendable {
  /// The id of the daemon's run, which changes with each start.
  package var boot: Epoch
  /// The daemon's wall clock, in milliseconds since 1970.
  package var time: UInt64
}

extension NavigationConnection {
  /// Checks that the daemon's loop runs; not within a session, which sends heartbeats by itself.
  package mutating func ping(
    timeout: Duration = defaultTimeout
  ) throws(ConnectionError) -> Pong {
    precondition(!hasSession, "a ping within a session")
    let deadline = Deadline(timeout)
    let id = takeID()
    let body = ClientMessageWriter.id(id)
    try send(.ping, body)
    while true {
      for event in try wait(until: deadline) {
        switch event {
        case .message(.pong(id, let boot, let time), _, _): return Pong(boot: boot, time: time)
        case .connected: try send(.ping, body)
        case .message, .unreadable, .disconnected, .refused, .failed, .impossible:
          try endRequest(on: event)
        }
      }
      guard !deadline.hasPassed else { throw timeUp(isChange: false) }
    }
  }
}
