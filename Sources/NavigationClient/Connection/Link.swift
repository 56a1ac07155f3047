import ZeroMQ
import NavigationCore
import RuntimePaths

/// A DEALER socket connected to one daemon, with the events of its connection.
///
/// With several addresses, it connects to one at a time, and to the next one after an attempt of
/// 500 ms. So it finds the active one of several daemons, because only that one listens.
///
/// Each connection has a socket of its own, because the messages for one daemon must not reach the
/// next one at the same address. Messages that libzmq cannot accept yet wait in `unsentMessages`. A
/// loss drops them, because the session repeats every message that it still needs.
struct Link: ~Copyable {
  /// An event of the connection; `disconnected` comes after all messages of the connection.
  enum Event {
    case message(ServerMessage, verb: ServerVerb?, body: [UInt8])
    /// The daemon sent a message that the client cannot read, for this reason.
    case unreadable(String)
    case connected
    case disconnected
    /// An attempt to connect has failed; the link tries again.
    case connectFailed
    /// The address is malformed, or the process has no descriptor left.
    case cannotOpenSocket
    /// The daemon refuses the connection for good; a retry would not help.
    case refused(ConnectionRefusal)
  }

  /// The addresses of the daemons; the link uses the one at `index`.
  private let endpoints: [String]
  private var index = 0
  /// When to connect anew, to the next of several addresses; nil if that is not planned.
  private var tryNextAt: UInt64?
  private var isConnected = false
  /// Whether the connection was lost: what libzmq plans then does not matter.
  private var isLost = false
  /// The number of successive rounds through all addresses, or losses, without a handshake.
  private var failedRounds = 0
  private let identity: NetworkIdentity?
  private let socket: Socket
  private var monitor: Monitor
  private let socketSlot: Poller.Slot
  private let monitorSlot: Poller.Slot
  private var received = Multipart(capacity: 4)
  private var reader = ServerMessageReader()
  private var unsentMessages: [[[UInt8]]] = []
  private var isAwaitingWritable = false
  /// The number of successive connections that ended before the first message.
  private var brokenHandshakes = 0
  /// Why file permissions denied the last attempt to connect; nil if they allowed it.
  private var denial: SocketAccessDenial?
  /// Whether a daemon has accepted a connection to this address before.
  private var wasAccepted = false
  /// The number of successive refusals because of the daemon's connection limit.
  private var limitRefusals = 0
  /// The number of successive broken handshakes at which the link reports a refusal.
  ///
  /// There is no such number for ipc, which has no keys. Over tcp, a client with the wrong server
  /// key sends a handshake that the daemon cannot read; the daemon then closes the connection.
  private var toleratedHandshakes: Int { endpoint.hasPrefix("ipc:") ? .max : 3 }
  var endpoint: String { endpoints[index] }

  private init(
    endpoints: [String], index: Int, identity: NetworkIdentity?, socket: consuming Socket,
    monitor: consuming Monitor, in poller: inout Poller
  ) {
    self.endpoints = endpoints
    self.index = index
    if endpoints.count > 1 { tryNextAt = SystemClock.bootMilliseconds() + Self.connectMilliseconds }
    self.identity = identity
    socketSlot = poller.add(socket)
    monitorSlot = poller.add(monitor.reader)
    self.socket = socket
    self.monitor = monitor
  }

  /// Removes the socket and its monitor from the poller.
  func stopWatching(_ poller: inout Poller) {
    poller.remove(socketSlot)
    poller.remove(monitorSlot)
  }

  /// Creates the socket and begins to connect; the link reports `connected` later.
  ///
  /// After `stopWatching`, `deinit` gives unsent messages 500 ms to leave.
  static func open(
    _ endpoints: [String], _ index: Int = 0, as identity: NetworkIdentity?, in poller: inout Poller
  ) throws(ZeroMQError) -> Link {
    let endpoint = endpoints[index]
    let socket = try SharedContext.get().socket(.dealer)
    try socket.set(.linger(milliseconds: 500))
    try socket.set(.neverReconnect)
    try socket.set(.connectTimeout(milliseconds: 3000))
    if endpoint.hasPrefix("tcp:") {
      try socket.set(.heartbeatInterval(milliseconds: 5000))
      try socket.set(.heartbeatTimeout(milliseconds: 15000))
      try socket.set(.ipv6(true))
    }
    try identity?.configure(socket)
    let monitor = try Monitor.start(on: socket)
    try socket.connect(endpoint)
    return Link(
      endpoints: endpoints, index: index, identity: identity, socket: socket, monitor: monitor,
      in: &poller)
  }

  /// Makes a new connection, to the next address or with one address to the same.
  mutating func connectToNextEndpoint(_ poller: inout Poller) throws(ZeroMQError) {
    let (greetings, answers, rounds) = (brokenHandshakes, limitRefusals, failedRounds)
    let former = (denial, wasAccepted)
    let next = (index + 1) % endpoints.count
    let link = try Self.open(endpoints, next, as: identity, in: &poller)
    stopWatching(&poller)
    self = link
    (brokenHandshakes, limitRefusals, failedRounds) = (greetings, answers, rounds)
    (denial, wasAccepted) = former
  }

  /// Connects to the next address; if no socket can be opened, it plans to try the one after that.
  private mutating func tryNextEndpoint(_ poller: inout Poller) {
    do throws(ZeroMQError) {
      try connectToNextEndpoint(&poller)
    } catch {
      index = (index + 1) % endpoints.count
      tryNextAt = SystemClock.bootMilliseconds() + Self.roundPauseMilliseconds.upperBound
    }
  }

  /// Plans to connect anew after a loss or a failed attempt: to the next address at once, and after the
  /// last one with a pause, in which a daemon can start or take over.
  private mutating func planRetry() {
    let now = SystemClock.bootMilliseconds()
    guard index == endpoints.count - 1 else { return tryNextAt = now }
    let pauses = endpoints.count > 1 ? Self.roundPauseMilliseconds : Self.retryPauseMilliseconds
    tryNextAt = now + Self.randomTime(about: pauses.pause(after: failedRounds))
    failedRounds += 1
  }

  /// A random time spreads the attempts of clients that lost their connection at the same time.
  private static func randomTime(about milliseconds: UInt64) -> UInt64 {
    var source = SystemRandomNumberGenerator()
    return milliseconds / 2 + source.next() % milliseconds
  }

  /// How long the link waits for a connection to one of several addresses, in milliseconds.
  private static let connectMilliseconds: UInt64 = 500
  /// How long the link waits for the rest of the handshake, in milliseconds.
  private static let handshakeMilliseconds: UInt64 = 3000
  /// The first and the longest pause after an attempt to connect to each of several addresses, in
  /// milliseconds.
  private static let roundPauseMilliseconds: ClosedRange<UInt64> = 50...1000
  /// The same with one address.
  private static let retryPauseMilliseconds: ClosedRange<UInt64> = 100...5000

  /// The likely reason why the link has no connection; nil if it knows none.
  var likelyRefusal: ConnectionRefusal? {
    if let denial { return .noPermission(denial) }
    if limitRefusals > 0 { return .tooManyConnections }
    return toleratedHandshakes < .max && brokenHandshakes > 0 ? handshakeRefusal : nil
  }

  private var handshakeRefusal: ConnectionRefusal {
    .handshake(serverKey: identity.map { "\($0.serverKey)" })
  }

  /// Handles a refusal by the daemon's ZAP handler; returns nil if the link will retry.
  private mutating func handleRefusal(zapStatus status: Int32) -> ConnectionRefusal? {
    guard status == Self.connectionLimitStatus else {
      return .unauthorised(key: identity.map { "\($0.keys.publicKey)" })
    }
    unsentMessages.removeAll()
    let pause = Self.limitPauseMilliseconds.pause(after: limitRefusals)
    tryNextAt = SystemClock.bootMilliseconds() + Self.randomTime(about: pause)
    limitRefusals += 1
    // The loss that libzmq reports now has no pause of its own.
    isConnected = false
    return nil
  }

  /// The ZAP status code of a daemon that has reached its connection limit.
  private static let connectionLimitStatus: Int32 = 500
  /// The first and the longest average pause after a refusal by the connection limit.
  private static let limitPauseMilliseconds: ClosedRange<UInt64> = 100...1600

  /// Sends a message, or queues it until libzmq can accept it.
  mutating func send(
    _ verb: ClientVerb, _ body: [UInt8], _ poller: inout Poller
  ) throws(ZeroMQError) {
    unsentMessages.append([verb.frame, body])
    try flush(&poller)
  }

  /// Drops what is unsent, and plans no attempt: the caller makes the next one.
  mutating func abandon() {
    unsentMessages.removeAll()
    tryNextAt = nil
  }

  private mutating func flush(_ poller: inout Poller) throws(ZeroMQError) {
    var sent = 0
    while sent < unsentMessages.count, try socket.send(unsentMessages[sent]) == .sent { sent += 1 }
    unsentMessages.removeFirst(sent)
    guard isAwaitingWritable == unsentMessages.isEmpty else { return }
    isAwaitingWritable = !unsentMessages.isEmpty
    poller.watch(socketSlot, for: isAwaitingWritable ? [.readable, .writable] : .readable)
  }

  /// When the caller must call `takeEvents` at the latest; nil for no limit.
  var dueAt: UInt64? { tryNextAt }

  /// Reconnects if that is due, and returns the events that libzmq has reported.
  mutating func takeEvents(_ poller: inout Poller) throws(ZeroMQError) -> [Event] {
    var events: [Event] = []
    if let due = tryNextAt, due <= SystemClock.bootMilliseconds() {
      if isConnected { events.append(.disconnected) }
      tryNextEndpoint(&poller)
    }
    // Messages first, because those of a lost connection still belong to its session.
    while try socket.receive(into: &received) {
      (brokenHandshakes, limitRefusals) = (0, 0)
      events.append(readMessage())
      guard events.count < 256 else { return events }
    }
    while let event = try monitor.next() {
      switch event.kind {
      case .connected:
        isConnected = true
        denial = nil
        let end = SystemClock.bootMilliseconds() + Self.handshakeMilliseconds
        tryNextAt = endpoints.count > 1 ? end : nil
        events.append(.connected)
      // A daemon that hangs is still connected to by its kernel.
      case .handshakeSucceeded: (tryNextAt, failedRounds, wasAccepted) = (nil, 0, true)
      case .connectRetried where isLost: break
      case .connectRetried:
        denial = SocketAccessDenial.find(endpoint)
        // A daemon that starts again opens its socket late; another address may be open.
        let isFinal = denial?.isPermanent == true && !wasAccepted && endpoints.count == 1
        let refusal = isFinal ? likelyRefusal : nil
        events.append(refusal.map { .refused($0) } ?? .connectFailed)
        planRetry()
      case .disconnected:
        unsentMessages.removeAll()
        if isConnected { planRetry() }
        (isConnected, isLost) = (false, true)
        events.append(.disconnected)
      // A daemon that ends during the handshake, for example in a restart, has not refused the
      // client. libzmq then reports a lost connection.
      case .handshakeFailed:
        brokenHandshakes += 1
        if brokenHandshakes >= toleratedHandshakes { events.append(.refused(handshakeRefusal)) }
      case .handshakeBroken: events.append(.refused(handshakeRefusal))
      case .refused:
        if let refusal = handleRefusal(zapStatus: event.value) { events.append(.refused(refusal)) }
      case .accepted: break
      }
    }
    try flush(&poller)
    return events
  }

  private mutating func readMessage() -> Event {
    guard received.count == 2, received.droppedFrames == 0 else {
      return .unreadable("a message of \(received.count + received.droppedFrames) frames")
    }
    let verb = received[0].copyBytes()
    let body = received[1].copyBytes()
    do {
      let message = try reader.read(verb: verb, body: body)
      return .message(message, verb: Self.serverVerb(verb), body: body)
    } catch {
      return .unreadable(error.text)
    }
  }

  private static func serverVerb(_ frame: [UInt8]) -> ServerVerb? {
    guard case .current(let name) = VerbFrame(frame) else { return nil }
    return ServerVerb(word: name)
  }
}

/// The one ZeroMQ context of a process, which the first use creates and nothing terminates.
///
/// All contexts share the random source of libzmq's CURVE code, and terminating any one closes it.
enum SharedContext {
  static let shared = Lock<(context: Context, forks: Int)?>(nil)

  static func get() throws(ZeroMQError) -> Context {
    let forks = Forks.count
    return try shared.withLock { shared throws(ZeroMQError) in
      if let shared, shared.forks == forks { return shared.context }
      let made = try Context()
      // The threads of a parent's context are not here, so nothing may wait for them: it stays.
      if let shared { _ = unsafe Unmanaged.passRetained(shared.context) }
      shared = (made, forks)
      return made
    }
  }
}
