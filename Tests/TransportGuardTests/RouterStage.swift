import Foundation
@testable import NavigationCore
@testable import NavigationHub
import RuntimePaths
import ZeroMQ

@testable import TransportGuard

/// Who may connect, as a test decides it.
struct Guests: PeerAuthority {
  var names: [CurvePublicKey: String] = [:]
  var isOpen = true
  var host: String?
  /// Tells the gate of what libzmq did before it asked; nil where a test does that.
  var monitor: StageMonitor?

  func name(of key: CurvePublicKey) -> String? { names[key] }

  func admits(_ peer: Peer) -> Bool {
    monitor?.tell()
    return isOpen
  }
}

/// What libzmq's threads would tell the gate of a stage, as the events of the monitor tell it.
final class StageMonitor {
  var monitor: Monitor
  private let gate: InboundGate
  /// The descriptors of the connections, in the order in which they were accepted.
  private(set) var accepted: [Int32] = []

  init(_ monitor: consuming Monitor, _ gate: InboundGate) {
    self.monitor = monitor
    self.gate = gate
  }

  func tell() {
    while let event = try? monitor.next() {
      switch event.kind {
      case .accepted:
        _ = gate.noteAccepted(event.value)
        accepted.append(event.value)
      case .disconnected: gate.noteClosed(event.value)
      default: break
      }
    }
  }
}

struct DeadlineExpired: Error {}

extension GuardedRouter.Limits {
  init(connections: Int, ofPrincipal: Int) {
    self.init()
    (self.connections, connectionsPerPrincipal) = (connections, ofPrincipal)
  }
}

/// A router with real sockets, whose gate a test tells what libzmq's threads would tell it.
///
/// The gate is not installed, since all tests of the process share libzmq's calls. So a connection
/// is accepted for the gate, and for the router, once the test has seen the monitor's event.
struct RouterStage: ~Copyable {
  var router: GuardedRouter
  let gate: InboundGate
  let context: Context
  let monitor: StageMonitor
  var guests = Guests()
  var poller: Poller
  let endpoint: String
  var reader = ClientMessageReader()
  /// The server's key, which clients over tcp must know.
  let identity: CurveKeyPair?

  static let patience = 20_000

  init(
    _ kind: LentSocket.Kind = .local, connections: Int = 100, ofPrincipal: Int = 100,
    unsentBytes: Int = 1 << 30, isInPlace: Bool = true
  ) throws {
    let context = try Context()
    let admission = try ZAPHandler.start(in: context)
    let socket = try context.socket(.router)
    try socket.set(.routerMandatory(true))
    try socket.set(.sendHighWaterMark(4))
    let identity = kind == .network ? try CurveKeyPair.generate() : nil
    try RouterPreparation.setIdentification(socket, kind, identity?.secretKey)
    let monitor = try Monitor.start(on: socket)
    let name = "ipc://@navd-guard-\(UUID().uuidString)"
    try socket.bind(kind == .local ? name : "tcp://127.0.0.1:*")
    let endpoint = try socket.lastEndpoint()
    let gate = InboundGate(
      maximumFrameBytes: 1 << 20, messagesPerConnection: 64, totalBytes: 1 << 30)
    if isInPlace { try Self.show(gate) }
    var limits = GuardedRouter.Limits(connections: connections, ofPrincipal: ofPrincipal)
    (limits.unreadBytes, limits.unsentBytes) = (1 << 30, unsentBytes)
    var router = GuardedRouter(
      socket: socket, admission: admission, gate: gate, listening: [], limits: limits,
      copiesReceived: true)
    var poller = Poller()
    try router.watch(by: &poller)
    _ = poller.add(monitor.reader)
    self.monitor = StageMonitor(monitor, gate)
    guests.monitor = self.monitor
    self.context = context
    self.identity = identity
    self.endpoint = endpoint
    self.gate = gate
    self.poller = poller
    self.router = router
  }

  /// Shows the gate that libzmq reads by it.
  private static func show(_ gate: InboundGate) throws {
    var pair: [Int32] = [-1, -1]
    guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0 else {
      throw DeadlineExpired()
    }
    _ = gate.noteAccepted(pair[0])
    _ = gate.judge(pair[0], [0xFF].span)
    _ = gate.judgeSealed(nil)
    gate.noteClosed(pair[0])
    _ = gate.events.take()
    for end in pair { close(end) }
  }

  /// A client that connects once and sends a first message, which waits for the admission.
  func client(
    _ type: SocketType = .dealer, key: CurveKeyPair? = nil, saying frames: [[UInt8]] = [[1], [2]]
  ) throws -> Socket {
    let client = try context.socket(type)
    try client.set(.neverReconnect)
    try client.set(.receiveHighWaterMark(4))
    if let key, let identity {
      try client.set(.curveServerKey(identity.publicKey))
      try client.set(.curvePublicKey(key.publicKey))
      try client.set(.curveSecretKey(key.secretKey))
    }
    try client.connect(endpoint)
    _ = try client.send(frames)
    return client
  }

  /// Lets the router do what there is to do, until a condition holds.
  mutating func go(until isDone: (inout RouterStage) throws -> Bool) throws {
    let end = ContinuousClock.now + .milliseconds(Self.patience)
    while true {
      monitor.tell()
      router.takeConnectionEvents()
      if !accepted.isEmpty { try router.admit(guests) }
      if try isDone(&self) { return }
      guard ContinuousClock.now < end else { throw DeadlineExpired() }
      _ = try poller.wait(milliseconds: 1)
    }
  }

  /// The next message as the hub would get it; nil for one that it does not get.
  mutating func event() throws -> HubEvent? {
    try go { try $0.router.receive() }
    return router.readEvent(&reader, guests)
  }

  /// The id of the connection of the next message, which must be heard.
  mutating func id() throws -> ConnectionID {
    switch try event() {
    case .message(let id, _, _), .unreadable(let id, _, _): return id
    default: throw DeadlineExpired()
    }
  }

  /// The lines for the log, which are then gone.
  mutating func takeIncidents() -> [Notice] {
    defer { router.notices = [] }
    return router.notices
  }

  /// The events for the hub in words, which are then gone.
  mutating func takeEvents() -> [String] {
    defer { router.events = [] }
    return router.events.map { event in
      switch event {
      case .closed(let id): "closed \(id.number)"
      case .blocked(let id): "blocked \(id.number)"
      case .unblocked(let id): "unblocked \(id.number)"
      default: "other"
      }
    }
  }

  /// The descriptors of the connections, in the order in which they were accepted.
  var accepted: [Int32] { monitor.accepted }

  func wakeAt(_ now: UInt64) -> UInt64? { router.wakeAt(now) }

  mutating func measure(at now: UInt64) -> GuardedRouter.Figures { router.measure(at: now) }

  /// What the hub sends to some connections: one body for all of them.
  func output(_ body: [UInt8], to ids: [ConnectionID], _ verb: ServerVerb = .ok) -> HubOutput {
    var output = HubOutput()
    let place = output.add(body)
    for id in ids { output.append(verb, at: place, to: id) }
    return output
  }
}

/// Waits for a whole message of a client.
func receive(_ socket: borrowing Socket) throws -> [[UInt8]] {
  var parts = Multipart(capacity: 8)
  var poller = Poller()
  _ = poller.add(socket)
  while try !socket.receive(into: &parts) {
    guard try poller.wait(milliseconds: RouterStage.patience) > 0 else { throw DeadlineExpired() }
  }
  return parts.copyFrames()
}

/// A connection without libzmq.
final class RawPeer {
  let descriptor: Int32

  /// Connects to a path, or to an abstract name behind an `@`.
  init(_ path: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
    let isAbstract = path.hasPrefix("@")
    if isAbstract { address.sun_path.0 = 0 }
    let size = socklen_t(
      isAbstract ? 2 + path.utf8.count : MemoryLayout<sockaddr_un>.size)
    let result = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(descriptor, $0, size)
      }
    }
    guard result == 0 else { throw DeadlineExpired() }
  }

  func send(_ bytes: ArraySlice<UInt8>) throws {
    var rest = Array(bytes)[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes {
        unsafe write(descriptor, $0.baseAddress, $0.count)
      }
      guard count > 0 else { throw DeadlineExpired() }
      rest = rest.dropFirst(count)
    }
  }

  /// Waits for the greeting of libzmq and its READY; before that, libzmq takes no message.
  func awaitReady() throws {
    var poller = Poller()
    _ = poller.add(descriptor: descriptor)
    while !isReady {
      guard try poller.wait(milliseconds: RouterStage.patience) > 0 else { throw DeadlineExpired() }
    }
  }

  /// Whether libzmq has sent its greeting and its READY, of which it reads one byte at a time.
  var isReady: Bool {
    var byte: UInt8 = 0
    while !hasAll, unsafe recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT)) == 1 {
      received.append(byte)
    }
    return hasAll
  }

  private var received: [UInt8] = []
  private var hasAll: Bool { received.count > 65 && received.count == 66 + Int(received[65]) }

  deinit { close(descriptor) }
}
