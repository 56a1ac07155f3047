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
    /// The daemon does not let us in.
    case refused
  }

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
  /// How many of them are a refusal.
  ///
  /// A daemon on this machine always says that it refuses; one elsewhere may drop whom it does not
  /// know, without a word.
  private let patience: Int

  private init(
    socket: consuming Socket, monitor: consuming Monitor, wake: Int32?, patience: Int
  ) {
    var poller = Poller()
    socketSlot = poller.add(socket)
    _ = poller.add(monitor)
    if let wake { _ = poller.add(descriptor: wake) }
    self.poller = poller
    self.socket = socket
    self.monitor = monitor
    self.patience = patience
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
      socket: socket, monitor: monitor, wake: wake,
      patience: endpoint.hasPrefix("ipc:") ? .max : 3)
  }

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
    _ = try poller.wait(milliseconds: milliseconds)
    var events: [Event] = []
    // Messages first: those of a lost connection still belong to its session.
    while events.count < limit, try socket.receive(into: &parts) {
      brokenGreetings = 0
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
        if brokenGreetings >= patience { events.append(.refused) }
      case .handshakeBroken, .refused: events.append(.refused)
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
