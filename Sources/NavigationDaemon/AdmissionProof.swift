import CLinux
import RuntimePaths
import ZeroMQ

/// Proof that libzmq lets nobody in for whom nobody answers.
///
/// A library that does not know the option, or takes it and does nothing, would let everybody in
/// whenever the daemon's own answers fail. So before anything is served, strangers knock at a socket
/// with the same options, in a context without anybody who answers, and must be refused.
enum AdmissionProof {
  /// How long a stranger may take to be refused, in milliseconds.
  private static let patience: UInt64 = 2000

  /// Lets strangers knock.
  ///
  /// - Throws: `EPERM` if one was let in, or was not refused in time; or what else failed.
  static func run(
    in context: borrowing Context, _ identity: CurveSecretKey?
  ) throws(ZeroMQError) {
    try knock(in: context, .local, identity, stranger: nil)
    guard let identity else { return }
    try knock(in: context, .network, identity, stranger: nil)
    try knock(in: context, .network, identity, stranger: try CurveKeyPair.generate())
  }

  private static func knock(
    in context: borrowing Context, _ kind: Entrance.Kind, _ identity: CurveSecretKey?,
    stranger: CurveKeyPair?
  ) throws(ZeroMQError) {
    let router = try context.socket(.router)
    try router.set(.linger(milliseconds: 0))
    try Listener.prepare(router, kind, identity)
    var monitor = try Monitor.start(on: router, .server)
    // An abstract name: no file, and no address family that a hardened unit forbids.
    var source = SystemRandomNumberGenerator()
    let endpoint = "ipc://@navd-proof-\(String(source.next(), radix: 36))"
    try router.bind(endpoint)
    let dealer = try context.socket(.dealer)
    try dealer.set(.linger(milliseconds: 0))
    try dealer.set(.reconnectInterval(milliseconds: -1))
    if let stranger, let identity {
      try dealer.set(.curveServerKey(try identity.publicKey()))
      try dealer.set(.curvePublicKey(stranger.publicKey))
      try dealer.set(.curveSecretKey(stranger.secretKey))
    }
    try dealer.connect(endpoint)
    _ = try dealer.send([[0x21]])
    guard try isRefused(router, &monitor) else { throw ZeroMQError(.bind, code: EPERM) }
  }

  private static func isRefused(
    _ router: borrowing Socket, _ monitor: inout Monitor
  ) throws(ZeroMQError) -> Bool {
    var poller = Poller()
    _ = poller.add(router)
    _ = poller.add(monitor)
    var parts = Multipart(capacity: 2)
    let end = SystemClock.monotonicMilliseconds() + patience
    var isRefused = false
    while true {
      let now = SystemClock.monotonicMilliseconds()
      guard !isRefused, now < end else { break }
      _ = try poller.wait(milliseconds: Int(end - now))
      while let event = try monitor.next() {
        switch event.kind {
        case .handshakeFailed, .handshakeBroken, .refused, .disconnected: isRefused = true
        case .accepted, .acceptFailed, .connected: break
        }
      }
    }
    let hasMessage = try router.receive(into: &parts)
    return isRefused && !hasMessage
  }
}
