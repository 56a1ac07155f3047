import CLinux
package import RuntimePaths
package import ZeroMQ

/// A listening socket that the caller lends to libzmq.
package struct LentSocket: Hashable, Sendable {
  /// How peers of a socket identify themselves, with the domain in their ZAP requests.
  package enum Kind: String, Sendable {
    /// By the user of their process, which the kernel reports.
    case local = "navd.ipc"
    /// By a CURVE key that they prove.
    case network = "navd.tcp"
  }

  package var kind: Kind
  /// The address, in libzmq's form.
  package var endpoint: String
  /// The descriptor, which the lender keeps and closes.
  package var descriptor: Int32

  package init(kind: Kind, endpoint: String, descriptor: Int32) {
    self.kind = kind
    self.endpoint = endpoint
    self.descriptor = descriptor
  }
}

/// The first step of a router's start: a child process proves that libzmq refuses strangers.
///
/// `open` waits for the proof, then makes the router.
package struct RouterPreparation: ~Copyable {
  private let identity: CurveSecretKey?
  private var proof: AdmissionProof?
  /// The maximum of queued messages of one connection; libzmq then stops reading from it.
  static let maximumQueuedMessages = 64

  /// Starts the proof; nil as `identity` means that the daemon does not serve a network.
  package init(identity: CurveSecretKey?) throws(SystemError) {
    self.identity = identity
    proof = try AdmissionProof.begin(identity)
  }

  /// Waits for the result of the proof; throws if libzmq admitted a stranger, or did not refuse one
  /// within 2 s.
  package mutating func finishProof() throws(ZeroMQError) {
    try proof?.finish()
    proof = nil
  }

  /// Makes the router, and begins to accept connections.
  ///
  /// It creates all of libzmq's sockets, because libzmq may abort a process that runs out of
  /// descriptors. libzmq closes the connection of a peer that sends a frame above the maximum.
  package consuming func open(
    _ sockets: [LentSocket], maximumFrameBytes frameBytes: Int, _ limits: GuardedRouter.Limits
  ) throws(ZeroMQError) -> GuardedRouter {
    try finishProof()
    let gate = InboundGate(
      maximumFrameBytes: frameBytes, messagesPerConnection: Self.maximumQueuedMessages,
      totalBytes: limits.unreadBytes)
    #if DEBUG
      // For demonstrations of what libzmq does alone, see docs/security.md.
      gate.isDisabled =
        unsafe getenv("TRANSPORT_GUARD").map { unsafe String(cString: $0) } == "off"
    #endif
    // Before libzmq accepts the first connection.
    gate.install()
    let context = try Context(inputOutputThreads: Self.inputOutputThreads)
    let copiesReceived = context.copyReceivedFrames()
    // Before the first bind, so that a ZAP handler answers for every peer.
    let zapHandler = try ZAPHandler.start(in: context)
    let router = try context.socket(.router)
    let options: [SocketOption] = [
      .routerMandatory(true), .routerHandover(false), .sendHighWaterMark(256),
      .receiveHighWaterMark(Int32(Self.maximumQueuedMessages)),
      .maximumFrameBytes(Int64(frameBytes)),
      .linger(milliseconds: 0), .handshakeInterval(milliseconds: 3000),
      .ipv6(true),
    ]
    for option in options { try router.set(option) }
    for socket in sockets { try Self.accept(socket, router, identity) }
    return GuardedRouter(
      socket: router, admission: zapHandler, gate: gate, listening: sockets.map(\.descriptor),
      limits: limits, copiesReceived: copiesReceived)
  }

  /// The number of libzmq's I/O threads: two, or one on a single processor.
  ///
  /// Passing a short message to an idle socket takes 8 µs of a thread's time, and a diff may go to
  /// a thousand watches. So two threads share the connections where they can run in parallel.
  private static var inputOutputThreads: Int32 { navd_processor_count() > 1 ? 2 : 1 }

  /// Begins to accept connections at a socket.
  ///
  /// It accepts for as long as the daemon runs, because unbinding would end all connections of that
  /// socket.
  private static func accept(
    _ socket: LentSocket, _ router: borrowing Socket, _ identity: CurveSecretKey?
  ) throws(ZeroMQError) {
    try setIdentification(router, socket.kind, identity)
    // libzmq closes the descriptor that it gets.
    let copy = navd_duplicate(socket.descriptor)
    guard copy >= 0 else { throw ZeroMQError("zmq_bind", code: navd_errno()) }
    do throws(ZeroMQError) {
      try router.set(.useDescriptor(copy))
      try router.bind(socket.endpoint)
      try router.set(.useDescriptor(-1))
    } catch {
      _ = CLinux.close(copy)
      throw error
    }
  }

  /// Sets how the peers of the next bind identify themselves, and how libzmq detects lost peers.
  static func setIdentification(
    _ router: borrowing Socket, _ kind: LentSocket.Kind, _ identity: CurveSecretKey?
  ) throws(ZeroMQError) {
    try router.set(.zapDomain(kind.rawValue))
    // Without this option, libzmq accepts every peer if no ZAP handler answers.
    try router.set(.zapEnforceDomain(true))
    switch kind {
    case .local:
      try router.set(.curveServer(false))
      // The kernel reports the end of a peer on this machine.
      try router.set(.heartbeatInterval(milliseconds: 0))
    case .network:
      guard let identity else { throw ZeroMQError("zmq_bind", code: EACCES) }
      try router.set(.curveServer(true))
      try router.set(.curveSecretKey(identity))
      try router.set(.heartbeatInterval(milliseconds: 5000))
      try router.set(.heartbeatTimeout(milliseconds: 15_000))
      try router.set(.heartbeatTimeToLive(milliseconds: 20_000))
      // For peers that vanish before their greeting.
      try router.set(.tcpKeepAlive(true))
      try router.set(.tcpKeepAliveIdle(seconds: 30))
    }
  }
}
