import CLinux
package import RuntimePaths
package import ZeroMQ

/// A listening socket, which libzmq is lent.
package struct LentSocket: Hashable, Sendable {
  /// The ways in which peers identify themselves.
  package enum Kind: Hashable, Sendable {
    /// By the kernel.
    case local
    /// By the key that they prove to have.
    case network
  }

  /// How the peers identify themselves that come by it.
  package var kind: Kind
  /// The address, as libzmq takes it.
  package var endpoint: String
  /// The descriptor, which stays the lender's.
  package var descriptor: Int32

  /// Lends a socket.
  package init(kind: Kind, endpoint: String, descriptor: Int32) {
    self.kind = kind
    self.endpoint = endpoint
    self.descriptor = descriptor
  }
}

/// A router before it is open: a process of its own proves meanwhile that libzmq refuses strangers.
package struct RouterPreparation: ~Copyable {
  private let identity: CurveSecretKey?
  private var proof: AdmissionProof?
  /// The messages of one connection that wait to be read, at most; beyond, it is not read from.
  static let waitingMessages = 64

  /// Begins the proof.
  ///
  /// - Parameter identity: the daemon's secret key, without which no network is served.
  /// - Throws: what the kernel refused.
  package init(identity: CurveSecretKey?) throws(SystemError) {
    self.identity = identity
    proof = try AdmissionProof.begin(identity)
  }

  /// Waits for the end of the proof.
  ///
  /// - Throws: that libzmq accepted a stranger, or did not refuse one in time.
  package mutating func finishProof() throws(ZeroMQError) {
    try proof?.finish()
    proof = nil
  }

  /// Makes the router, and accepts connections.
  ///
  /// All sockets of libzmq's are made here, because it may abort a process that runs out of descriptors.
  ///
  /// - Parameters:
  ///   - sockets: where to listen.
  ///   - limits: what peers are kept to.
  /// - Returns: the router.
  /// - Throws: what the proof found, or libzmq refused.
  package consuming func open(
    _ sockets: [LentSocket], _ limits: GuardedRouter.Limits
  ) throws(ZeroMQError) -> GuardedRouter {
    try finishProof()
    let gate = InboundGate(
      frameBytes: limits.frameBytes, messages: Self.waitingMessages,
      totalBytes: limits.unreadBytes)
    #if DEBUG
      // Shows what libzmq does alone: docs/transport-guard.md.
      gate.isUnguarded =
        unsafe getenv("TRANSPORT_GUARD").map { unsafe String(cString: $0) } == "off"
    #endif
    // Before the first connection is accepted.
    gate.install()
    let context = try Context.make(inputOutputThreads: Self.inputOutputThreads)
    let copiesReceived = context.copyReceived()
    // Before the first bind, so that every peer finds somebody who answers for it.
    let admission = try ZAPHandler.start(in: context)
    let router = try context.socket(.router)
    try Self.setOptions(router, limits)
    for socket in sockets { try Self.accept(socket, router, identity) }
    return GuardedRouter(
      socket: router, admission: admission, gate: gate, listening: sockets.map(\.descriptor),
      limits: limits, copiesReceived: copiesReceived)
  }

  /// To hand a short message to a socket that is idle takes 8 µs of a thread's time, and a diff may
  /// go to a thousand: two threads share the connections, where they can run at the same time.
  private static var inputOutputThreads: Int32 { navd_processor_count() > 1 ? 2 : 1 }

  private static func setOptions(
    _ router: borrowing Socket, _ limits: GuardedRouter.Limits
  ) throws(ZeroMQError) {
    let options: [SocketOption] = [
      .routerMandatory(true), .routerHandover(false), .sendHighWaterMark(256),
      .receiveHighWaterMark(Int32(waitingMessages)),
      .maximumFrameBytes(Int64(limits.frameBytes)),
      .linger(milliseconds: 0), .handshakeInterval(milliseconds: 3000),
      .ipv6(true),
    ]
    for option in options { try router.set(option) }
  }

  /// Begins to accept at a socket.
  ///
  /// It goes on for as long as the daemon lives: to unbind ends all connections that came by it.
  private static func accept(
    _ socket: LentSocket, _ router: borrowing Socket, _ identity: CurveSecretKey?
  ) throws(ZeroMQError) {
    try setIdentification(router, socket.kind, identity)
    // libzmq closes what it is given.
    let copy = navd_duplicate(socket.descriptor)
    guard copy >= 0 else { throw ZeroMQError(.bind, code: navd_errno()) }
    do throws(ZeroMQError) {
      try router.set(.useDescriptor(copy))
      try router.bind(socket.endpoint)
      try router.set(.useDescriptor(-1))
    } catch {
      _ = CLinux.close(copy)
      throw error
    }
  }

  /// Sets how the peers of the next bind identify themselves, and how libzmq notices their end.
  static func setIdentification(
    _ router: borrowing Socket, _ kind: LentSocket.Kind, _ identity: CurveSecretKey?
  ) throws(ZeroMQError) {
    try router.set(.zapDomain(Domain.name(of: kind)))
    // Without it libzmq accepts everybody for whom nobody answers.
    try router.set(.zapEnforceDomain(true))
    switch kind {
    case .local:
      try router.set(.curveServer(false))
      // The kernel reports the end of a peer.
      try router.set(.heartbeatInterval(milliseconds: 0))
    case .network:
      guard let identity else { throw ZeroMQError(.bind, code: EACCES) }
      try router.set(.curveServer(true))
      try router.set(.curveSecretKey(identity))
      try router.set(.heartbeatInterval(milliseconds: 5000))
      try router.set(.heartbeatTimeout(milliseconds: 15_000))
      try router.set(.heartbeatTimeToLive(milliseconds: 20_000))
      // For peers that vanish before they greet.
      try router.set(.tcpKeepAlive(true))
      try router.set(.tcpKeepAliveIdle(seconds: 30))
    }
  }

  /// The ZAP domains.
  enum Domain {
    /// The domain of peers that the kernel identifies.
    static let local = "navd.ipc"
    /// The domain of peers that prove a key.
    static let network = "navd.tcp"

    static func name(of kind: LentSocket.Kind) -> String { kind == .local ? local : network }
  }
}
