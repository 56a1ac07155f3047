import CLinux
import CurveKeys
import RuntimePaths
import ZeroMQ

/// The daemon's ROUTER, and the socket that answers for admission.
///
/// All sockets are made at start, because libzmq may abort a process that runs out of descriptors.
struct Listener: ~Copyable {
  let context: Context
  let router: Socket
  var admission: ZAPHandler
  /// Where it listens.
  let sockets: [ListeningSocket]
  /// What peers on a network are met with; nil where there are none.
  private let identity: CurveSecretKey?
  /// Whether messages that wait take about the memory that they are counted for.
  let copiesReceived: Bool

  /// The ZAP domain of peers whom the kernel vouches for.
  static let localDomain = "navd.ipc"
  /// The ZAP domain of peers who prove a key.
  static let networkDomain = "navd.tcp"

  /// To hand a short message to a socket that is idle takes 8 µs of a thread's time, and a diff may
  /// go to a thousand: two threads share the connections, where they can run at the same time.
  private static var inputOutputThreads: Int32 { navd_processor_count() > 1 ? 2 : 1 }

  /// Makes the sockets and binds them.
  ///
  /// - Parameters:
  ///   - sockets: where to listen.
  ///   - identity: the daemon's secret key, without which no network is served.
  ///   - configuration: the limits.
  /// - Returns: what listens, but lets only our own user in.
  /// - Throws: what libzmq refused.
  static func open(
    _ sockets: [ListeningSocket], identity: CurveSecretKey?, _ configuration: Configuration
  ) throws(DaemonError) -> Listener {
    do throws(ZeroMQError) {
      let context = try Context.make(inputOutputThreads: Self.inputOutputThreads)
      let copiesReceived = context.copyReceived()
      // Before the first bind, so that no peer is let in before somebody answers for it.
      let admission = try ZAPHandler.start(in: context)
      let router = try context.socket(.router)
      try setOptions(router, configuration)
      let listener = Listener(
        context: context, router: router, admission: admission, sockets: sockets,
        identity: identity, copiesReceived: copiesReceived)
      for socket in sockets { try listener.open(socket) }
      return listener
    } catch {
      throw .transport(error)
    }
  }

  private init(
    context: consuming Context, router: consuming Socket, admission: consuming ZAPHandler,
    sockets: [ListeningSocket], identity: CurveSecretKey?, copiesReceived: Bool
  ) {
    self.copiesReceived = copiesReceived
    self.context = context
    self.router = router
    self.admission = admission
    self.sockets = sockets
    self.identity = identity
  }

  /// The messages of one connection that wait to be read, at most; beyond, it is not read from.
  static let waitingMessages = 64

  /// The longest frame that is read; the hub refuses a little more than the limit itself, with an
  /// error.
  static func frameBytes(_ configuration: Configuration) -> Int {
    configuration.limits.messageToDaemonBytes + 4096
  }

  private static func setOptions(
    _ router: borrowing Socket, _ configuration: Configuration
  ) throws(ZeroMQError) {
    let options: [SocketOption] = [
      .routerMandatory(true), .routerHandover(false), .sendHighWaterMark(256),
      .receiveHighWaterMark(Int32(waitingMessages)),
      .maximumFrameBytes(Int64(frameBytes(configuration))),
      .linger(milliseconds: 0), .backlog(ListeningSocket.backlog),
      .handshakeInterval(milliseconds: 3000), .ipv6(true),
    ]
    for option in options { try router.set(option) }
  }

  /// How peers identify themselves who come by the next bind, and how it is noticed that they go.
  static func prepare(
    _ router: borrowing Socket, _ kind: ListeningSocket.Kind, _ identity: CurveSecretKey?
  ) throws(ZeroMQError) {
    // Without the second one libzmq lets everybody in should nobody answer.
    try router.set(.zapDomain(kind == .local ? localDomain : networkDomain))
    try router.set(.zapEnforceDomain(true))
    switch kind {
    case .local:
      try router.set(.curveServer(false))
      // The kernel tells when a peer is gone.
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

  /// Begins to accept at a socket.
  ///
  /// It goes on for as long as the daemon lives: to unbind ends all connections that came by it.
  private func open(_ socket: ListeningSocket) throws(ZeroMQError) {
    try Self.prepare(router, socket.kind, identity)
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

  /// The sockets' addresses, for people.
  var endpoints: [String] { sockets.map(\.endpoint) }

  /// Lets in whom the configuration lets in; until then only our own user can connect.
  func admit(_ configuration: Configuration) throws(DaemonError) {
    for socket in sockets { try socket.lock?.open(configuration.daemon) }
  }

  /// Removes the socket files, so that clients see at once that nobody listens.
  func removeFiles() {
    for socket in sockets { socket.lock?.removeSocket() }
  }
}
