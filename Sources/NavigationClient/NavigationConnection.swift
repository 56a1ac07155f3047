package import NavigationCore
import NavigationReplica
import ZeroMQ

/// A blocking connection to a daemon for one thread; navctl, the exporter and tests use it.
///
/// Without a session it performs single requests, each one round trip. After `openSession` it
/// watches navs, and continues that across reconnects. `deinit` closes it, and gives the last
/// messages 500 ms to leave.
///
/// ```swift
/// var connection = try NavigationConnection.connect(to: "ipc:///run/navd/navd.sock")
/// let state = try connection.get(GetRequest(id: 0, nav: "kiosk"))
/// ```
package struct NavigationConnection: ~Copyable {
  /// A reply of the daemon and its bytes.
  package struct Reply: Sendable {
    /// The `ok` or `err` message.
    package var result: Result<OkReply, ErrReply>
    /// The body of the message: a JSON object.
    package var body: [UInt8]
  }

  /// The default timeout of a request.
  package static let defaultTimeout = Duration.seconds(10)

  /// The address of the daemon; it changes if the daemon redirects the session.
  package internal(set) var endpoint: String
  let identity: NetworkIdentity?
  var link: Link
  var session: SessionReplica
  /// When to connect again after the session dropped a connection; nil while none is planned.
  var reconnectAt: UInt64?
  /// The events that `next` has not returned yet.
  var events: [ConnectionEvent] = []
  /// The replies to awaited requests that have not been taken yet.
  var replies: [UInt64: Reply] = [:]
  /// The ids of requests in `perform` and `get`, whose replies are not events.
  var awaited: Set<UInt64> = []
  var hasSession = false
  /// A descriptor that ends a wait of `nextEvent` while it is readable.
  let wake: Int32?
  private var nextID: UInt64 = 1

  /// Connects and waits until the connection is established.
  ///
  /// - Parameters:
  ///   - endpoint: the address of the daemon.
  ///   - identity: the keys for an address at tcp://.
  ///   - name: the name of this client in logs and lists.
  ///   - timeout: how long to wait for the daemon.
  ///   - window: the credit of a session: octets that the daemon can send unconfirmed.
  ///   - heartbeat: after how many milliseconds of silence the daemon sends a heartbeat.
  ///   - wake: a descriptor that ends a wait of `nextEvent` while it is readable.
  /// - Returns: a connection without a session.
  /// - Throws: `unreachable`, `refused` or `system`.
  package static func connect(
    to endpoint: String, as identity: NetworkIdentity? = nil, name: String = "",
    timeout: Duration = .seconds(5),
    window: UInt64 = 65536, heartbeat: UInt64 = 5000, wake: Int32? = nil
  ) throws(ConnectionError) -> NavigationConnection {
    var source = SystemRandomNumberGenerator()
    let session = SessionReplica(
      client: ClientID(high: source.next(), low: source.next()), name: name, window: window,
      heartbeat: heartbeat, seed: source.next())
    var connection = NavigationConnection(
      endpoint: endpoint, identity: identity,
      link: try Self.open(endpoint, as: identity, wake: wake), session: session, wake: wake)
    try connection.awaitConnection(until: Deadline(timeout))
    return connection
  }

  private init(
    endpoint: String, identity: NetworkIdentity?, link: consuming Link, session: SessionReplica,
    wake: Int32?
  ) {
    self.identity = identity
    self.wake = wake
    self.endpoint = endpoint
    self.link = link
    self.session = session
  }

  static func open(
    _ endpoint: String, as identity: NetworkIdentity?, wake: Int32?
  ) throws(ConnectionError) -> Link {
    do throws(ZeroMQError) {
      return try Link.open(endpoint, as: identity, linger: 500, wake: wake)
    } catch {
      throw .system(error)
    }
  }

  private mutating func awaitConnection(until deadline: Deadline) throws(ConnectionError) {
    while true {
      var isConnected = false
      for event in try wait(until: deadline) {
        switch event {
        case .connected: isConnected = true
        // The refusal can arrive in the same wait as the connection.
        case .refused(let refusal): throw .refused(endpoint: endpoint, refusal)
        case .message, .unreadable, .disconnected: break
        }
      }
      guard !isConnected else { return }
      guard !deadline.hasPassed else {
        throw link.doubt.map { .refused(endpoint: endpoint, $0) }
          ?? .unreachable(endpoint: endpoint)
      }
    }
  }

  /// Changes a nav.
  ///
  /// - Parameters:
  ///   - request: the change without its operations; the function sets its id and client.
  ///   - operations: one JSON object for each operation, such as `{"pop":{}}`.
  ///   - timeout: how long to wait for the reply; after a loss, the same octets are sent again.
  ///   - whenQueued: called with the position at which the change waits for a transition.
  /// - Returns: the reply.
  /// - Throws: `noAnswer` after the timeout, or the error of the connection.
  package mutating func perform(
    _ request: OpRequest, operations: [[UInt8]], timeout: Duration = defaultTimeout,
    whenQueued: (UInt64) -> Void = { _ in }
  ) throws(ConnectionError) -> Reply {
    let deadline = Deadline(timeout)
    guard !hasSession else {
      let (id, outputs) = session.perform(request, operations: operations)
      return try awaitReply(
        id, outputs, until: deadline, isChange: true, whenQueued: whenQueued)
    }
    var request = request
    request.id = takeID()
    request.client = session.client
    if request.name == nil, !session.name.isEmpty { request.name = session.name }
    let body = ClientMessageWriter.op(request, operations: operations)
    return try exchange(.op, request.id, body, until: deadline)
  }

  /// Reads a value.
  ///
  /// - Parameters:
  ///   - request: the read; the function sets its id.
  ///   - timeout: how long to wait for the reply.
  /// - Returns: the reply.
  /// - Throws: `noAnswer` after the timeout, or the error of the connection.
  package mutating func get(
    _ request: GetRequest, timeout: Duration = defaultTimeout
  ) throws(ConnectionError) -> Reply {
    let deadline = Deadline(timeout)
    guard !hasSession else {
      let (id, outputs) = session.get(request)
      return try awaitReply(id, outputs, until: deadline, isChange: false)
    }
    var request = request
    request.id = takeID()
    return try exchange(.get, request.id, ClientMessageWriter.get(request), until: deadline)
  }

  mutating func takeID() -> UInt64 {
    defer { nextID += 1 }
    return nextID
  }

  /// One round trip without a session; after a loss, the same octets are sent again.
  private mutating func exchange(
    _ verb: ClientVerb, _ id: UInt64, _ body: [UInt8], until deadline: Deadline
  ) throws(ConnectionError) -> Reply {
    guard body.count <= ErrReply.usualMaximumBody else {
      let refusal = ErrReply.tooLarge(id, body.count, limit: ErrReply.usualMaximumBody)
      return Reply(result: .failure(refusal), body: refusal.body.bytes)
    }
    try send(verb, body)
    while true {
      for event in try wait(until: deadline) {
        switch event {
        case .message(.ok(let reply), _, let body) where reply.id == id:
          return Reply(result: .success(reply), body: body)
        // An `err` for an unreadable request has no id; it is this request's, as no other is
        // pending.
        case .message(.err(let refusal), _, let body) where refusal.id == id || refusal.id == nil:
          return Reply(result: .failure(refusal), body: body)
        case .connected: try send(verb, body)
        case .message, .unreadable, .disconnected, .refused: try endRequest(on: event)
        }
      }
      guard !deadline.hasPassed else { throw timeUp(isChange: verb == .op) }
    }
  }

  /// Throws if no reply can follow an event; for requests without a session.
  func endRequest(on event: Link.Event) throws(ConnectionError) {
    switch event {
    case .refused(let refusal): throw .refused(endpoint: endpoint, refusal)
    case .unreadable(let text): throw .unreadable(text)
    case .message(.bye(why: "revoked", _), _, _): throw .closed(.dismissed(why: "revoked"))
    case .message, .connected, .disconnected: break
    }
  }

  /// The error after a timeout: the refusal of the connection if one is known, else `noAnswer`.
  func timeUp(isChange: Bool) -> ConnectionError {
    link.doubt.map { .refused(endpoint: endpoint, $0) }
      ?? .noAnswer(endpoint: endpoint, isChange: isChange)
  }

  mutating func send(_ verb: ClientVerb, _ body: [UInt8]) throws(ConnectionError) {
    do throws(ZeroMQError) { try link.send(verb, body) } catch { throw .system(error) }
  }

  mutating func wait(until deadline: Deadline?) throws(ConnectionError) -> [Link.Event] {
    do throws(ZeroMQError) {
      return try link.wait(milliseconds: deadline?.remainingMilliseconds ?? -1)
    } catch {
      throw .system(error)
    }
  }
}
