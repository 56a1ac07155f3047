import CLinux
import RuntimePaths
import ZeroMQ

/// Proof that libzmq lets nobody in for whom nobody answers.
///
/// A library that does not know the option, or takes it and does nothing, would let everybody in
/// whenever the daemon's own answers fail. So before anything is served, strangers knock at a socket
/// with the same options, in a context without anybody who answers, and must be refused.
///
/// A process of its own does this while the journal is read: the parts of libraries that only a
/// connection needs are then not in the memory of a daemon that has none.
struct AdmissionProof {
  private let process: pid_t

  /// Begins; call it while the process has one thread.
  static func begin(_ identity: CurveSecretKey?) throws(SystemError) -> AdmissionProof {
    let knocks = Knocks(identity: identity)
    let context = unsafe Unmanaged.passUnretained(knocks).toOpaque()
    let process = withExtendedLifetime(knocks) {
      unsafe navd_start_child(
        { context in
          guard let context = unsafe context else { return EINVAL }
          let knocks = unsafe Unmanaged<Knocks>.fromOpaque(context).takeUnretainedValue()
          return knocks.errorCode()
        }, context)
    }
    guard process > 0 else { throw SystemError("start a process", "", code: navd_errno()) }
    return AdmissionProof(process: process)
  }

  /// Waits for the end.
  ///
  /// - Throws: that somebody was let in, or was not refused in time; or what else failed.
  func finish() throws(ZeroMQError) {
    let result = navd_await_child(process)
    guard result != 0 else { return }
    throw ZeroMQError(.bind, code: result > 0 && result < 256 ? result : EPERM)
  }

  /// What the other process is given.
  private final class Knocks {
    let identity: CurveSecretKey?

    init(identity: CurveSecretKey?) { self.identity = identity }

    /// 0, or why it failed.
    func errorCode() -> Int32 {
      do throws(ZeroMQError) {
        try AdmissionProof.run(in: try Context.make(), identity)
        return 0
      } catch {
        // Numbers of libzmq's own do not fit the status of a process.
        return error.code < 256 ? error.code : EPERM
      }
    }
  }

  /// How long a stranger may take to be refused, in milliseconds.
  private static let patience: UInt64 = 2000

  /// Lets strangers knock.
  ///
  /// - Throws: `EPERM` if one was let in, or was not refused in time; or what else failed.
  static func run(
    in context: borrowing Context, _ identity: CurveSecretKey?
  ) throws(ZeroMQError) {
    try knock(in: context, .local, nil, stranger: nil)
    guard let identity else { return }
    try knock(in: context, .network, identity, stranger: nil)
    try knock(in: context, .network, identity, stranger: try CurveKeyPair.generate())
  }

  private static func knock(
    in context: borrowing Context, _ kind: LentSocket.Kind, _ identity: CurveSecretKey?,
    stranger: CurveKeyPair?
  ) throws(ZeroMQError) {
    let router = try context.socket(.router)
    try RouterPreparation.setIdentification(router, kind, identity)
    guard try isTurnedDown(by: router, in: context, identity, stranger: stranger) else {
      throw ZeroMQError(.bind, code: EPERM)
    }
  }

  /// Whether a stranger who connects to a socket, which is not bound yet, is refused.
  ///
  /// - Parameters:
  ///   - router: the socket, with its options.
  ///   - context: where nobody answers for the stranger.
  ///   - identity: the socket's key, if it has one.
  ///   - stranger: the key that it proves; nil for one that proves nothing.
  /// - Returns: false if it is let in, or nothing becomes of it in time.
  /// - Throws: what libzmq refused.
  static func isTurnedDown(
    by router: borrowing Socket, in context: borrowing Context, _ identity: CurveSecretKey?,
    stranger: CurveKeyPair?
  ) throws(ZeroMQError) -> Bool {
    try router.set(.linger(milliseconds: 0))
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
    return try awaitsRefusal(router, &monitor)
  }

  /// Waits until the monitor tells of a refusal, or a message says that there was none.
  private static func awaitsRefusal(
    _ router: borrowing Socket, _ monitor: inout Monitor
  ) throws(ZeroMQError) -> Bool {
    var poller = Poller()
    _ = poller.add(router)
    _ = poller.add(monitor)
    var parts = Multipart(capacity: 2)
    let end = SystemClock.monotonicMilliseconds() + patience
    while true {
      if try router.receive(into: &parts) { return false }
      while let event = try monitor.next() {
        switch event.kind {
        case .handshakeFailed, .handshakeBroken, .refused, .disconnected: return true
        case .accepted, .acceptFailed, .connected: break
        }
      }
      let now = SystemClock.monotonicMilliseconds()
      guard now < end else { return false }
      _ = try poller.wait(milliseconds: Int(end - now))
    }
  }
}
