import ZeroMQ
import NavigationCore
import RuntimePaths

/// A DEALER socket connected to one daemon, with the events of its connection.
///
/// With several addresses, separated by commas, it connects to one at a time: to the next one if it
/// has no connection for a while. The daemons of a cluster are reached like this, because only the
/// one that serves listens.
///
/// libzmq connects, and reconnects after a loss. Messages that libzmq cannot accept yet wait in
/// `outbox`. A loss drops them, because the session sends everything again that it still needs.
struct Link: ~Copyable {
  /// An event of the connection; messages come before the event that ends their connection.
  enum Event {
    case message(ServerMessage, verb: ServerVerb?, body: [UInt8])
    /// A message that cannot be read, with the reason.
    case unreadable(String)
    case connected
    case disconnected
    /// An attempt to connect has failed; libzmq or the link tries again.
    case failed
    /// The address is malformed, or the process has no descriptor left.
    case impossible
    /// The daemon refuses the connection for good; a retry would not help.
    case refused(ConnectionRefusal)
  }

  /// The addresses, and the one in use.
  private let places: [String]
  private var place = 0
  /// When to try the next address; nil while there is a connection, or only one address.
  private var nextAt: UInt64?
  private var isConnected = false
  /// The number of successive rounds through all addresses without a handshake.
  private var fruitlessRounds = 0
  private let identity: NetworkIdentity?
  private let socket: Socket
  private var monitor: Monitor
  private let socketSlot: Poller.Slot
  private let monitorSlot: Poller.Slot
  private var parts = Multipart(capacity: 4)
  private var reader = ServerMessageReader()
  private var outbox: [[[UInt8]]] = []
  private var isAwaitingRoom = false
  /// The number of successive connections that ended before the first message.
  private var brokenGreetings = 0
  /// Why the permissions of files do not let this user connect, at the last attempt.
  private var denial: AccessDenial?
  /// Whether a daemon has accepted a connection to this address before.
  private var wasAccepted = false
  /// The number of successive attempts that the daemon refused because of its connection limit.
  private var fullAnswers = 0
  /// When to connect again after such a refusal; nil while no retry is planned.
  private var retryAt: UInt64?
  /// After how many successive broken handshakes the link reports a refusal.
  ///
  /// A daemon on this machine always answers. Over tcp, a client with the wrong server key sends a
  /// handshake that the daemon cannot read; the daemon then closes the connection without a reply.
  private var patience: Int { endpoint.hasPrefix("ipc:") ? .max : 3 }
  var endpoint: String { places[place] }

  private init(
    places: [String], place: Int, identity: NetworkIdentity?, socket: consuming Socket,
    monitor: consuming Monitor, in poller: inout Poller
  ) {
    self.places = places
    self.place = place
    if places.count > 1 { nextAt = SystemClock.bootMilliseconds() + Self.attemptMilliseconds }
    self.identity = identity
    socketSlot = poller.add(socket)
    monitorSlot = poller.add(monitor)
    self.socket = socket
    self.monitor = monitor
  }

  func leave(_ poller: inout Poller) {
    poller.remove(socketSlot)
    poller.remove(monitorSlot)
  }

  /// Creates the socket and begins to connect; the link reports `connected` later.
  ///
  /// `deinit` gives unsent messages 500 ms to leave; the caller calls `leave` before.
  static func open(
    _ places: [String], _ place: Int = 0, as identity: NetworkIdentity?, in poller: inout Poller
  ) throws(ZeroMQError) -> Link {
    let endpoint = places[place]
    let socket = try SharedContext.get().context.socket(.dealer)
    // Messages queued for one daemon must not reach the next daemon at the same address.
    try socket.set(.immediate(true))
    try socket.set(.linger(milliseconds: 500))
    try socket.set(.reconnectInterval(milliseconds: 100))
    try socket.set(.reconnectIntervalMaximum(milliseconds: 5000))
    try socket.set(.connectTimeout(milliseconds: 3000))
    if endpoint.hasPrefix("tcp:") {
      try socket.set(.heartbeatInterval(milliseconds: 5000))
      try socket.set(.heartbeatTimeout(milliseconds: 15000))
      try socket.set(.ipv6(true))
    }
    try identity?.configure(socket)
    let monitor = try Monitor.start(on: socket, .client)
    try socket.connect(endpoint)
    return Link(
      places: places, place: place, identity: identity, socket: socket, monitor: monitor,
      in: &poller)
  }

  /// Connects again after a refusal for the connection limit, where libzmq does not retry itself.
  private mutating func renew(_ poller: inout Poller) throws(ZeroMQError) {
    let answers = fullAnswers
    try replace(place, &poller)
    fullAnswers = answers
  }

  private mutating func replace(_ place: Int, _ poller: inout Poller) throws(ZeroMQError) {
    let link = try Self.open(places, place, as: identity, in: &poller)
    leave(&poller)
    self = link
  }

  /// Connects anew, because a daemon has not answered for long: to the next address, or with one
  /// address to that one again.
  mutating func advance(_ poller: inout Poller) throws(ZeroMQError) {
    let (greetings, answers, rounds) = (brokenGreetings, fullAnswers, fruitlessRounds)
    let former = (denial, wasAccepted)
    try replace((place + 1) % places.count, &poller)
    (brokenGreetings, fullAnswers, fruitlessRounds) = (greetings, answers, rounds)
    (denial, wasAccepted) = former
  }

  /// Connects to the next address, or plans to connect to the one after it if that is not possible.
  private mutating func tryNext(_ poller: inout Poller) {
    do throws(ZeroMQError) {
      try advance(&poller)
    } catch {
      // The address is malformed, or the process has no descriptor left.
      place = (place + 1) % places.count
      nextAt = SystemClock.bootMilliseconds() + Self.pauses.upperBound
    }
  }

  /// How long the link waits for a connection to one of several addresses, in milliseconds.
  private static let attemptMilliseconds: UInt64 = 500
  /// How long the link waits for the rest of the handshake, in milliseconds.
  private static let handshakeMilliseconds: UInt64 = 3000
  /// The first and the longest pause after an attempt to connect to each of several addresses, in
  /// milliseconds.
  private static let pauses: ClosedRange<UInt64> = 50...1000

  /// The likely reason why there is no connection; nil if none is known.
  var doubt: ConnectionRefusal? {
    if let denial { return .noPermission(denial) }
    if fullAnswers > 0 { return .full }
    return patience < .max && brokenGreetings > 0 ? brokenHandshake : nil
  }

  private var brokenHandshake: ConnectionRefusal {
    .handshake(serverKey: identity.map { "\($0.serverKey)" })
  }

  /// Handles the status code of the daemon's ZAP handler; returns nil if the link will retry.
  private mutating func refusal(status: Int32) -> ConnectionRefusal? {
    guard status == Self.statusFull else {
      return .unauthorised(key: identity.map { "\($0.keys.publicKey)" })
    }
    outbox.removeAll()
    var source = SystemRandomNumberGenerator()
    // A random pause spreads the retries of clients that were refused at the same time.
    let pause = Self.fullPauses.pause(after: fullAnswers)
    retryAt = SystemClock.bootMilliseconds() + pause / 2 + source.next() % pause
    fullAnswers += 1
    return nil
  }

  /// The ZAP status code of a daemon that has reached its connection limit.
  private static let statusFull: Int32 = 500
  /// The average pauses between retries, in milliseconds.
  private static let fullPauses: ClosedRange<UInt64> = 100...1600

  /// Sends a message, or queues it until libzmq can accept it.
  mutating func send(
    _ verb: ClientVerb, _ body: [UInt8], _ poller: inout Poller
  ) throws(ZeroMQError) {
    outbox.append([verb.frame, body])
    try flush(&poller)
  }

  mutating func dropUnsent() { outbox.removeAll() }

  private mutating func flush(_ poller: inout Poller) throws(ZeroMQError) {
    var sent = 0
    while sent < outbox.count, try socket.send(outbox[sent]) == .sent { sent += 1 }
    outbox.removeFirst(sent)
    guard isAwaitingRoom == outbox.isEmpty else { return }
    isAwaitingRoom = !outbox.isEmpty
    poller.watch(socketSlot, for: isAwaitingRoom ? [.readable, .writable] : .readable)
  }

  /// When to call `takeEvents` at the latest; nil while nothing is planned.
  var dueAt: UInt64? { [retryAt, nextAt].compactMap { $0 }.min() }

  /// Connects again if that is due, and returns what has happened, after a wait of the poller.
  mutating func takeEvents(_ poller: inout Poller) throws(ZeroMQError) -> [Event] {
    var events: [Event] = []
    if let due = dueAt, due <= SystemClock.bootMilliseconds() {
      if due == nextAt {
        if isConnected { events.append(.disconnected) }
        tryNext(&poller)
      } else {
        try renew(&poller)
      }
    }
    // Messages first, because those of a lost connection still belong to its session.
    while events.count < 256, try socket.receive(into: &parts) {
      (brokenGreetings, fullAnswers) = (0, 0)
      events.append(readMessage())
    }
    while let event = try monitor.next() {
      switch event.kind {
      case .connected:
        isConnected = true
        denial = nil
        if places.count > 1 { nextAt = SystemClock.bootMilliseconds() + Self.handshakeMilliseconds }
        events.append(.connected)
      // A daemon that hangs is still connected to by its kernel.
      case .handshakeSucceeded: (nextAt, fruitlessRounds, wasAccepted) = (nil, 0, true)
      case .connectRetried:
        denial = AccessDenial.find(endpoint)
        // A daemon that starts again opens its socket late; another address may be open.
        let isFinal = denial?.isPermanent == true && !wasAccepted && places.count == 1
        events.append(isFinal ? doubt.map { .refused($0) } ?? .failed : .failed)
        guard places.count > 1 else { break }
        // A pause after each round, in which a daemon can take over.
        let isLast = place == places.count - 1
        let pause = isLast ? Self.pauses.pause(after: fruitlessRounds) : 0
        nextAt = SystemClock.bootMilliseconds() + pause
        if isLast { fruitlessRounds += 1 }
      case .disconnected:
        isConnected = false
        outbox.removeAll()
        if places.count > 1 { nextAt = SystemClock.bootMilliseconds() + Self.attemptMilliseconds }
        events.append(.disconnected)
      // A daemon that ends during the handshake, for example in a restart, has not refused the
      // client. libzmq then reports a lost connection and reconnects.
      case .handshakeFailed:
        brokenGreetings += 1
        if brokenGreetings >= patience { events.append(.refused(brokenHandshake)) }
      case .handshakeBroken: events.append(.refused(brokenHandshake))
      case .refused:
        if let refusal = refusal(status: event.value) { events.append(.refused(refusal)) }
      case .accepted, .acceptFailed: break
      }
    }
    try flush(&poller)
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
    return ServerVerb(word: name)
  }
}

/// The one ZeroMQ context of a process, created on first use and never terminated.
///
/// libzmq's CURVE code shares one random source, which the end of any context closes for all.
final class SharedContext: Sendable {
  let context: Context
  private let forks = Forks.count
  static let shared = Lock<SharedContext?>(nil)

  private init(_ context: consuming Context) { self.context = context }

  static func get() throws(ZeroMQError) -> SharedContext {
    let forks = Forks.count
    return try shared.withLock { shared throws(ZeroMQError) in
      if let shared, shared.forks == forks { return shared }
      let made = SharedContext(try Context.make())
      // The threads of a parent's context are not here, so nothing may wait for them: it stays.
      if let shared { _ = unsafe Unmanaged.passRetained(shared) }
      shared = made
      return made
    }
  }
}
