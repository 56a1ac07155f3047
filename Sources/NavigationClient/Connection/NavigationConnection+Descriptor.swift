package import ZeroMQ

// A session in the event loop of another library: nothing here waits.

extension NavigationConnection {
  /// Begins to connect and to open a session, without waiting for either.
  ///
  /// After `heartbeat` milliseconds of silence, the daemon sends a heartbeat. `serve` opens the
  /// session.
  package static func begin(
    to endpoint: String, as identity: NetworkIdentity?, name: String, heartbeat: UInt64
  ) throws(ConnectionError) -> NavigationConnection {
    var connection = try make(
      endpoint, as: identity, name: name, window: 65536, heartbeat: heartbeat, wake: nil)
    connection.hasSession = true
    return connection
  }

  /// Whether the session with the configured daemon is open.
  package var isOpen: Bool { cluster.phase == .open }

  /// The likely reason why there is no connection; nil if none is known.
  package var doubt: ConnectionRefusal? { links.doubt(.first) }

  /// The endpoint of the daemon that has a nav, as far as it is known.
  package func place(of nav: String) -> String? { cluster.place(of: nav) }

  /// Waits until the session is open; throws `unreachable` after the timeout, or the reason why the
  /// session cannot open.
  package mutating func awaitSession(timeout: Duration) throws(ConnectionError) {
    let deadline = Deadline(timeout)
    while !isOpen {
      guard !deadline.hasPassed else {
        throw doubt.map { .refused(endpoint: endpoint, $0) } ?? .unreachable(endpoint: endpoint)
      }
      try turn(until: deadline)
    }
  }

  /// Handles everything that has arrived or is due, until `limit` events wait in `takeEvent`;
  /// throws the error that ended the session for good.
  package mutating func serve(limit: Int) throws(ConnectionError) {
    var isReady = true
    while isReady, events.count < limit {
      try turn(until: Deadline(at: 0))
      // Sends read the sockets' signs too, so only a wait that finds nothing proves them read.
      do throws(ZeroMQError) {
        isReady = try links.wait(milliseconds: 0)
      } catch {
        throw .system(error)
      }
    }
  }

  /// Whether `takeEvent` has one.
  package var hasEvents: Bool { !events.isEmpty }

  /// Takes the oldest event, and handles nothing new; nil if there is none.
  package mutating func takeEvent() -> ConnectionEvent? {
    events.isEmpty ? nil : events.removeFirst()
  }

  /// Brings a descriptor up to date, after `serve` or any other call.
  ///
  /// It becomes readable as soon as `serve` or `takeEvent`, or with `isReady` the caller, has
  /// something to do.
  package mutating func update(
    _ descriptor: inout EventDescriptor, isReady: Bool
  ) throws(ConnectionError) {
    var isReady = isReady || !events.isEmpty
    do throws(ZeroMQError) {
      if descriptor.generation != links.generation {
        try descriptor.watch(try links.signs(), generation: links.generation)
      }
      // A send reads the signs of messages that have arrived, and nothing would show them again.
      if !isReady { isReady = try links.wait(milliseconds: 0) }
    } catch {
      throw .system(error)
    }
    let times = [cluster.wakeAt, links.dueAt].compactMap { $0 }
    descriptor.wake(at: times.min())
    descriptor.signal(isReady)
  }
}
