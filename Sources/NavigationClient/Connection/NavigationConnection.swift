package import ZeroMQ
package import NavigationCore
package import RuntimePaths

/// A blocking connection to a daemon for one thread; navctl, the exporter and tests use it.
///
/// Without a session, it performs single requests, each in one round trip. After `openSession`, it
/// can also watch navs, and continues the watches after a reconnect. `deinit` closes the connection,
/// and gives the last messages 500 ms to leave.
///
/// ```swift
/// var connection = try NavigationConnection.connect(to: "ipc:///run/navd/navd.sock")
/// let state = try connection.get(GetRequest(id: 0, nav: "kiosk"))
/// ```
package struct NavigationConnection: ~Copyable {
  /// A reply of the daemon and its bytes.
  package struct Reply: Sendable {
    package var result: Result<OkReply, ErrReply>
    /// The body of the message: a JSON object.
    package var body: [UInt8]
  }

  package static let defaultTimeout = Duration.seconds(10)

  /// The configured address of the daemon, or several, separated by commas.
  package let endpoint: String
  var links: Links
  /// The sessions, with the replicas of watched navs.
  package internal(set) var cluster: ClusterReplica
  /// The events that `next` has not returned yet.
  var events: [SessionEvent] = []
  /// The replies to requests in `awaited`, until `perform` or `get` returns them.
  var replies: [UInt64: Reply] = [:]
  /// The ids of the requests that `perform` and `get` have sent; their replies go to `replies`.
  var awaited: Set<UInt64> = []
  var hasSession = false
  private var nextID: UInt64 = 1

  /// Connects, and waits until the connection is established; it has no session.
  ///
  /// After `heartbeat` milliseconds of silence, the daemon sends a heartbeat. `next` returns while the
  /// descriptor `wake` is readable.
  package static func connect(
    to endpoint: String, as identity: NetworkIdentity? = nil, name: String = "",
    timeout: Duration = .seconds(5), heartbeat: UInt64 = 5000, wake: Int32? = nil
  ) throws(ConnectionError) -> NavigationConnection {
    var connection = try make(
      endpoint, as: identity, name: name, heartbeat: heartbeat, wake: wake)
    try connection.awaitConnection(until: Deadline(timeout))
    return connection
  }

  static func make(
    _ endpoint: String, as identity: NetworkIdentity?, name: String, heartbeat: UInt64,
    wake: Int32? = nil
  ) throws(ConnectionError) -> NavigationConnection {
    var source = SystemRandomNumberGenerator()
    let cluster = ClusterReplica(
      client: ClientID(high: source.next(), low: source.next()), name: name, heartbeat: heartbeat,
      seed: source.next())
    var links = Links(endpoint, as: identity, wake: wake)
    try asSystemError(try links.connect(.first, to: nil))
    return NavigationConnection(endpoint: endpoint, links: links, cluster: cluster)
  }

  private mutating func awaitConnection(until deadline: Deadline) throws(ConnectionError) {
    while true {
      var isConnected = false
      for event in try wait(until: deadline) {
        // The refusal can arrive in the same wait as the connection.
        if case .refused(let refusal) = event { throw .refused(endpoint: endpoint, refusal) }
        if case .connected = event { isConnected = true }
      }
      guard !isConnected else { return }
      guard !deadline.hasPassed else {
        throw refusal(or: .unreachable(endpoint: endpoint))
      }
    }
  }

  /// Performs operations on a nav; after a reconnect, the client sends them again.
  ///
  /// The function sets the id and the client of `request`. `operations` has one JSON object for
  /// each operation, such as `{"pop":{}}`. `whenQueued` gets the position at which the change waits
  /// for a transition. In a session, a change that is not under way after `limit` fails as `expired`.
  package mutating func perform(
    _ request: OpRequest, operations: [[UInt8]], timeout: Duration = defaultTimeout,
    within limit: Duration? = nil, whenQueued: (UInt64) -> Void = { _ in }
  ) throws(ConnectionError) -> Reply {
    let deadline = Deadline(timeout)
    guard !hasSession else {
      let (id, outputs) = cluster.perform(request, operations, within: limit, at: endpoint)
      return try awaitReply(
        id, outputs, until: deadline, isChange: true, whenQueued: whenQueued)
    }
    var request = request
    request.id = takeID()
    request.client = cluster.client
    if request.name == nil, !cluster.name.isEmpty { request.name = cluster.name }
    let body = ClientMessageWriter.op(request, operations: operations)
    return try exchange(.op, request.id, body, until: deadline)
  }

  /// Reads a value; the function sets the id of `request`.
  package mutating func get(
    _ request: GetRequest, timeout: Duration = defaultTimeout
  ) throws(ConnectionError) -> Reply {
    let deadline = Deadline(timeout)
    guard !hasSession else {
      let (id, outputs) = cluster.get(request)
      return try awaitReply(id, outputs, until: deadline, isChange: false)
    }
    var request = request
    request.id = takeID()
    return try exchange(.get, request.id, ClientMessageWriter.message(request), until: deadline)
  }

  /// Asks a cluster to move a shard or a nav, or to drain a daemon; needs the role `admin`.
  ///
  /// The daemon replies when the database has stored `wish`; `get` of `.cluster` shows progress.
  package mutating func reassign(
    _ wish: ClusterRequest.Wish, timeout: Duration = defaultTimeout
  ) throws(ConnectionError) -> Reply {
    let id = takeID()
    return try exchange(
      .cluster, id, ClientMessageWriter.cluster(ClusterRequest(id: id, wish: wish)),
      until: Deadline(timeout))
  }

  mutating func takeID() -> UInt64 {
    defer { nextID += 1 }
    return nextID
  }

  /// Throws the error of an event after which no reply can follow.
  func throwIfHopeless(on event: Link.Event) throws(ConnectionError) {
    switch event {
    case .refused(let refusal): throw .refused(endpoint: endpoint, refusal)
    case .unreadable(let text): throw .unreadable(text)
    case .message(.bye(why: "revoked", _), _, _): throw .closed(.dismissed(why: "revoked"))
    case .message, .connected, .disconnected, .connectFailed, .cannotOpenSocket: break
    }
  }

  /// The error after a timeout: the refusal of the connection if one is known, else `noAnswer`.
  func timeoutError(isChange: Bool) -> ConnectionError {
    refusal(or: .noAnswer(endpoint: endpoint, isChange: isChange))
  }

  /// The refusal of the connection if one is known, else the given error.
  func refusal(or error: ConnectionError) -> ConnectionError {
    links.likelyRefusal(.first).map { .refused(endpoint: endpoint, $0) } ?? error
  }

  mutating func send(_ verb: ClientVerb, _ body: [UInt8]) throws(ConnectionError) {
    try asSystemError(try links.send(.first, verb, body))
  }

  /// Waits once, until the deadline at most; returns the events of all links.
  mutating func wait(until deadline: Deadline) throws(ConnectionError) -> [Link.Event] {
    _ = try asSystemError(try links.wait(milliseconds: deadline.remainingMilliseconds))
    var events: [Link.Event] = []
    for link in links.ids { events += try asSystemError(try links.takeEvents(of: link)) }
    return events
  }
}

/// The reason why a daemon refuses a connection.
package enum ConnectionRefusal: Hashable, Sendable {
  /// The daemon grants this user or key no right; `key` is the client's public key over a network.
  case unauthorised(key: String?)
  /// The permissions of files keep this user from the socket.
  case noPermission(SocketAccessDenial)
  /// The daemon has reached its limit of connections, of all clients or of this user or key.
  case tooManyConnections
  /// The handshake failed: the daemon has another key than this one, or the program is not navd.
  case handshake(serverKey: String?)
}

/// The reason why a request got no reply; an `err` reply is not such an error.
package enum ConnectionError: Error, Sendable, CustomStringConvertible {
  /// No daemon answered at the endpoint in time.
  case unreachable(endpoint: String)
  case refused(endpoint: String, ConnectionRefusal)
  /// The reply did not arrive in time; with `isChange`, navd may have made the change.
  case noAnswer(endpoint: String, isChange: Bool)
  /// The daemon refused or ended the session.
  case closed(SessionEnd)
  /// The daemon sent a message that cannot be read.
  case unreadable(String)
  case system(ZeroMQError)

  package var description: String {
    switch self {
    case .unreachable(let endpoint): "no navd answers at \(endpoint)"
    case .refused(let endpoint, .unauthorised):
      "navd at \(endpoint) refuses the connection: this client has no right"
    case .refused(let endpoint, .noPermission(let denial)):
      "\(denial.reason), for \(endpoint). Next: \(denial.remedy)"
    case .refused(let endpoint, .tooManyConnections): "navd at \(endpoint) has too many connections"
    case .refused(let endpoint, .handshake):
      "the handshake with \(endpoint) failed: it has another server key, or is not navd"
    case .noAnswer(let endpoint, let isChange):
      "navd at \(endpoint) did not answer in time"
        + (isChange ? "; it may have made the change" : "")
    case .closed(.refused(let refusal)): "session refused: \(refusal.code): \(refusal.message)"
    case .closed(.dismissed(let why)): "session ended by navd: \(why)"
    case .unreadable(let text): "unreadable answer: \(text)"
    case .system(let error): error.description
    }
  }
}

/// Evaluates a call of libzmq, and throws its error as `ConnectionError.system`.
func asSystemError<Value>(
  _ call: @autoclosure () throws(ZeroMQError) -> Value
) throws(ConnectionError) -> Value {
  do throws(ZeroMQError) { return try call() } catch { throw .system(error) }
}
