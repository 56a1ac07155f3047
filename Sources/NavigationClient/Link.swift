import NavigationSync
import Synchronization
import ZeroMQ

/// One DEALER connected to one daemon, with what it reports about its connection.
///
/// libzmq makes the connection, and makes it again after a loss. What cannot be handed over yet
/// waits here; a loss drops it, because a session restates everything it still wants.
struct Link: ~Copyable {
  /// What happened, in an order in which no message counts for a later connection.
  enum Event {
    /// A message that could be read.
    case message(ServerMessage, verb: ServerVerb?, body: [UInt8])
    /// A message that could not.
    case unreadable(String)
    /// A connection was made.
    case connected
    /// The connection was lost.
    case disconnected
    /// The daemon does not serve us, and will not do so when asked again.
    case refused(ConnectionRefusal)
  }

  private let endpoint: String
  private let identity: NetworkIdentity?
  private let linger: Int32
  private let wake: Int32?
  private let socket: Socket
  private var monitor: Monitor
  private var poller: Poller
  private let socketSlot: Poller.Slot
  private var parts = Multipart(capacity: 4)
  private var reader = ServerMessageReader()
  private var outbox: [[[UInt8]]] = []
  private var isAwaitingRoom = false
  /// Connections in a row that ended before a message came.
  private var brokenGreetings = 0
  /// How often in a row the daemon had no room for this connection.
  private var fullAnswers = 0
  /// When to ask a daemon again that had no room.
  private var retryAt: UInt64?
  /// How many broken greetings in a row are a refusal.
  ///
  /// A daemon on this machine always answers. One elsewhere cannot read the greeting of a client
  /// that takes it for another daemon, and closes the connection without a word.
  private var patience: Int { endpoint.hasPrefix("ipc:") ? .max : 3 }

  private init(
    endpoint: String, identity: NetworkIdentity?, linger: Int32, wake: Int32?,
    socket: consuming Socket, monitor: consuming Monitor
  ) {
    self.endpoint = endpoint
    self.identity = identity
    self.linger = linger
    self.wake = wake
    var poller = Poller()
    socketSlot = poller.add(socket)
    _ = poller.add(monitor)
    if let wake { _ = poller.add(descriptor: wake) }
    self.poller = poller
    self.socket = socket
    self.monitor = monitor
  }

  /// Begins to connect.
  ///
  /// - Parameters:
  ///   - endpoint: where the daemon is.
  ///   - identity: who we are, to a daemon on a network.
  ///   - milliseconds: how long the last messages may take when this is destroyed.
  ///   - wake: a descriptor whose readiness ends a wait.
  /// - Returns: a link that says when it is connected.
  /// - Throws: `EINVAL` for an endpoint that is none, `EMFILE`.
  static func open(
    _ endpoint: String, as identity: NetworkIdentity?, linger milliseconds: Int32,
    wake: Int32? = nil
  ) throws(ZeroMQError) -> Link {
    let socket = try SharedContext.get().context.socket(.dealer)
    // Nothing queued for one daemon may reach its successor.
    try socket.set(.immediate(true))
    try socket.set(.linger(milliseconds: milliseconds))
    try socket.set(.reconnectInterval(milliseconds: 100))
    try socket.set(.reconnectIntervalMaximum(milliseconds: 5000))
    try socket.set(.connectTimeout(milliseconds: 3000))
    if endpoint.hasPrefix("tcp:") {
      try socket.set(.heartbeatInterval(milliseconds: 5000))
      try socket.set(.heartbeatTimeout(milliseconds: 15000))
      try socket.set(.ipv6(true))
    }
    if let identity {
      try socket.set(.curveServerKey(identity.serverKey))
      try socket.set(.curvePublicKey(identity.keys.publicKey))
      try socket.set(.curveSecretKey(identity.keys.secretKey))
    }
    let monitor = try Monitor.start(on: socket, .client)
    try socket.connect(endpoint)
    return Link(
      endpoint: endpoint, identity: identity, linger: milliseconds, wake: wake, socket: socket,
      monitor: monitor)
  }

  /// Asks a daemon again that had no room: libzmq does not by itself after such an answer.
  private mutating func renew() throws(ZeroMQError) {
    let answers = fullAnswers
    self = try Self.open(endpoint, as: identity, linger: linger, wake: wake)
    fullAnswers = answers
  }

  /// Why there is probably no connection, where there is none.
  var doubt: ConnectionRefusal? {
    if fullAnswers > 0 { return .full }
    return patience < .max && brokenGreetings > 0 ? brokenHandshake : nil
  }

  private var brokenHandshake: ConnectionRefusal {
    .handshake(serverKey: identity.map { "\($0.serverKey)" })
  }

  /// Takes note of the status that the daemon's ZAP handler gave; nil for one that is asked again.
  private mutating func refusal(status: Int32) -> ConnectionRefusal? {
    guard status == Self.statusFull else {
      return .unauthorised(key: identity.map { "\($0.keys.publicKey)" })
    }
    outbox.removeAll()
    var source = SystemRandomNumberGenerator()
    // Clients that were refused together do not all come back together.
    let pause = Self.pauses[min(fullAnswers, Self.pauses.count - 1)]
    retryAt = monotonicMilliseconds() + pause / 2 + source.next() % pause
    fullAnswers += 1
    return nil
  }

  /// The status of a daemon that serves as many connections as it may.
  private static let statusFull: Int32 = 500
  /// Milliseconds between one attempt at a daemon without room and the next, on average.
  private static let pauses: [UInt64] = [100, 200, 400, 800, 1600]

  /// Hands a message over, now or as soon as there is room.
  mutating func send(_ verb: ClientVerb, _ body: [UInt8]) throws(ZeroMQError) {
    outbox.append([verb.frame, body])
    try flush()
  }

  /// Whether everything was handed over.
  var isFlushed: Bool { outbox.isEmpty }

  /// Drops what was not handed over.
  mutating func dropUnsent() { outbox.removeAll() }

  private mutating func flush() throws(ZeroMQError) {
    var sent = 0
    while sent < outbox.count, try socket.send(outbox[sent]) == .sent { sent += 1 }
    outbox.removeFirst(sent)
    guard isAwaitingRoom == outbox.isEmpty else { return }
    isAwaitingRoom = !outbox.isEmpty
    poller.watch(socketSlot, for: isAwaitingRoom ? [.readable, .writable] : .readable)
  }

  /// Waits for something to happen and says what did.
  ///
  /// - Parameters:
  ///   - milliseconds: how long at most, −1 for ever.
  ///   - limit: how many messages to take at most.
  /// - Returns: nothing when time is up or the descriptor woke this.
  /// - Throws: what libzmq says, such as `ENOMEM`.
  mutating func wait(milliseconds: Int, limit: Int = 256) throws(ZeroMQError) -> [Event] {
    var milliseconds = milliseconds
    if let retryAt {
      let left = Deadline(at: retryAt).remainingMilliseconds
      if left == 0 {
        try renew()
      } else if milliseconds < 0 || milliseconds > left {
        milliseconds = left
      }
    }
    _ = try poller.wait(milliseconds: milliseconds)
    var events: [Event] = []
    // Messages first: those of a lost connection still belong to its session.
    while events.count < limit, try socket.receive(into: &parts) {
      (brokenGreetings, fullAnswers) = (0, 0)
      events.append(readMessage())
    }
    while let event = try monitor.next() {
      switch event.kind {
      case .connected: events.append(.connected)
      case .disconnected:
        outbox.removeAll()
        events.append(.disconnected)
      // A daemon that ends while it greets, as when it is restarted, says nothing against us; the
      // connection is reported as lost and made again.
      case .handshakeFailed:
        brokenGreetings += 1
        if brokenGreetings >= patience { events.append(.refused(brokenHandshake)) }
      case .handshakeBroken: events.append(.refused(brokenHandshake))
      case .refused:
        if let refusal = refusal(status: event.value) { events.append(.refused(refusal)) }
      case .accepted, .acceptFailed: break
      }
    }
    try flush()
    return events
  }

  private mutating func readMessage() -> Event {
    guard parts.count == 2, parts.droppedFrames == 0 else {
      return .unreadable("a message of \(parts.count + parts.droppedFrames) frames")
    }
    let verb = parts[0].copyBytes()
    let body = parts[1].copyBytes()
    do {
      let message = try reader.read(verb: verb, body: body)
      return .message(message, verb: Self.serverVerb(verb), body: body)
    } catch {
      return .unreadable(error.text)
    }
  }

  private static func serverVerb(_ frame: [UInt8]) -> ServerVerb? {
    guard case .current(let name) = VerbFrame(frame) else { return nil }
    return ServerVerb(rawValue: name)
  }
}

/// The process's one ZeroMQ context, made when it is first needed and never terminated.
///
/// Terminating one of several contexts pulls the random source of CURVE away from the others.
final class SharedContext: Sendable {
  let context: Context
  private static let shared = Mutex<SharedContext?>(nil)

  private init(_ context: consuming Context) { self.context = context }

  static func get() throws(ZeroMQError) -> SharedContext {
    let made: Result<SharedContext, ZeroMQError> = shared.withLock { shared in
      if let shared { return .success(shared) }
      do throws(ZeroMQError) {
        let context = SharedContext(try Context.make())
        shared = context
        return .success(context)
      } catch {
        return .failure(error)
      }
    }
    return try made.get()
  }
}
