import Navigation
package import NavigationSync
import ZeroMQ

/// A blocking connection to a daemon, for one thread: commands and tests.
///
/// Without a session it serves single requests, each one round trip. After `openSession` it
/// follows navs, and goes on doing so across reconnects. `deinit` closes it; what was handed
/// over last gets 500 ms to leave.
///
/// ```swift
/// var connection = try NavigationConnection.connect(to: "ipc:///run/navd/navd.sock")
/// let state = try connection.get(GetRequest(id: 0, nav: "kiosk"))
/// ```
package struct NavigationConnection: ~Copyable {
  /// An answer and its body as it came.
  package struct Reply: Sendable {
    /// What the daemon answered.
    package var result: Result<OkReply, ErrReply>
    /// The JSON object of the message.
    package var body: [UInt8]
  }

  /// How long a request may take unless something else is said.
  package static let defaultTimeout = Duration.seconds(10)

  /// Where the daemon is; changes when the daemon sends a session on to another place.
  package internal(set) var endpoint: String
  let identity: NetworkIdentity?
  var link: Link
  var session: SessionReplica
  /// When a connection that was given up is made again.
  var reconnectAt: UInt64?
  /// What `next` has not handed out.
  var events: [ConnectionEvent] = []
  /// Answers that nobody has taken yet.
  var replies: [UInt64: Reply] = [:]
  /// The requests whose answers somebody waits for.
  var awaited: Set<UInt64> = []
  var hasSession = false
  /// What ends a wait of `nextEvent` when it is ready.
  let wake: Int32?
  private var nextID: UInt64 = 1

  /// Connects, and waits until the daemon can be spoken to.
  ///
  /// - Parameters:
  ///   - endpoint: where the daemon is.
  ///   - identity: who we are, to a daemon on a network.
  ///   - name: what people call this client.
  ///   - timeout: how long to wait for the daemon.
  ///   - window: octets of unconfirmed state in a session.
  ///   - heartbeat: milliseconds of silence after which the daemon of a session speaks up.
  ///   - wake: a descriptor that ends a wait of `nextEvent` as long as it can be read.
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
        // It may come together with the connection that it is about.
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
  ///   - request: all but the operations; its id and client are filled in here.
  ///   - operations: one JSON object an operation, as in `{"pop":{}}`.
  ///   - timeout: how long to wait for the answer; the octets are sent again after a loss.
  ///   - whenQueued: told at which place the change waits for a transition, in a session.
  /// - Returns: what the daemon answered.
  /// - Throws: `noAnswer` when time is up, else what became of the connection.
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

  /// Reads once.
  ///
  /// - Parameters:
  ///   - request: what to read; its id is filled in here.
  ///   - timeout: how long to wait for the answer.
  /// - Returns: what the daemon answered.
  /// - Throws: `noAnswer` when time is up, else what became of the connection.
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

  /// One round trip without a session; the same octets go again after a loss.
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
        // What cannot be read has no id, and nothing else is under way.
        case .message(.err(let refusal), _, let body) where refusal.id == id || refusal.id == nil:
          return Reply(result: .failure(refusal), body: body)
        case .connected: try send(verb, body)
        case .message, .unreadable, .disconnected, .refused: try endRequest(on: event)
        }
      }
      guard !deadline.hasPassed else { throw timeUp(isChange: verb == .op) }
    }
  }

  /// Ends a request without a session on an event after which no answer comes.
  func endRequest(on event: Link.Event) throws(ConnectionError) {
    switch event {
    case .refused(let refusal): throw .refused(endpoint: endpoint, refusal)
    case .unreadable(let text): throw .unreadable(text)
    case .message(.bye(why: "revoked", _), _, _): throw .closed(.dismissed(why: "revoked"))
    case .message, .connected, .disconnected: break
    }
  }

  /// The error where time is up; a daemon that did not serve the connection has the blame.
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
