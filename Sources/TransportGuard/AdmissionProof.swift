import CLinux
import RuntimePaths
import ZeroMQ

/// Proof that libzmq refuses every peer when no ZAP handler answers.
///
/// A libzmq that does not know the option ZMQ_ZAP_ENFORCE_DOMAIN, or ignores it, would admit every
/// peer whenever the daemon's own handler fails. So before navd serves anybody, strangers connect
/// to a socket with the same options, in a context without a handler. libzmq must refuse them.
///
/// A child process does this while the daemon reads the journal. Otherwise the parts of the
/// libraries that only connections need would stay in the daemon's memory.
struct AdmissionProof {
  private let process: pid_t

  /// Starts the child process; the calling process must have one thread only.
  static func begin(_ identity: CurveSecretKey?) throws(SystemError) -> AdmissionProof {
    var identity = identity
    let process = unsafe withUnsafeMutablePointer(to: &identity) { identity in
      unsafe navd_start_child(
        { context in
          guard let context = unsafe context else { return EINVAL }
          return AdmissionProof.exitStatus(
            unsafe context.assumingMemoryBound(to: CurveSecretKey?.self).pointee)
        }, identity)
    }
    guard process > 0 else { throw SystemError("start a process", "", code: navd_errno()) }
    return AdmissionProof(process: process)
  }

  /// Waits until the child process ends; throws `EPERM` if libzmq admitted a stranger, or did not
  /// refuse one within 2 s.
  func finish() throws(ZeroMQError) {
    let result = navd_await_child(process)
    guard result != 0 else { return }
    throw ZeroMQError("zmq_bind", code: result > 0 && result < 256 ? result : EPERM)
  }

  /// Runs the proof in the child process; returns 0, or the `errno` of its failure.
  private static func exitStatus(_ identity: CurveSecretKey?) -> Int32 {
    do throws(ZeroMQError) {
      try run(in: try Context(), identity)
      return 0
    } catch {
      // libzmq's own error numbers do not fit into the exit status of a process.
      return error.code < 256 ? error.code : EPERM
    }
  }

  /// The milliseconds within which libzmq must refuse a stranger.
  private static let timeLimit: UInt64 = 2000

  /// Connects strangers to sockets: one over ipc, and with an identity two over CURVE.
  ///
  /// One of those two proves no key; the other proves a key that is not authorised.
  static func run(
    in context: borrowing Context, _ identity: CurveSecretKey?
  ) throws(ZeroMQError) {
    try prove(in: context, .local, nil, stranger: nil)
    guard let identity else { return }
    try prove(in: context, .network, identity, stranger: nil)
    try prove(in: context, .network, identity, stranger: try CurveKeyPair.generate())
  }

  /// Throws unless a socket of a kind refuses a stranger.
  private static func prove(
    in context: borrowing Context, _ kind: LentSocket.Kind, _ identity: CurveSecretKey?,
    stranger: CurveKeyPair?
  ) throws(ZeroMQError) {
    let router = try context.socket(.router)
    try RouterPreparation.setIdentification(router, kind, identity)
    guard try isRefused(by: router, in: context, identity, stranger: stranger) else {
      throw ZeroMQError("zmq_bind", code: EPERM)
    }
  }

  /// Whether libzmq refuses a stranger within 2 s.
  ///
  /// `router` has its options and is not bound yet; `context` has no ZAP handler. A nil `identity`
  /// means a socket without CURVE, a nil `stranger` a peer that proves nothing.
  static func isRefused(
    by router: borrowing Socket, in context: borrowing Context, _ identity: CurveSecretKey?,
    stranger: CurveKeyPair?
  ) throws(ZeroMQError) -> Bool {
    try router.set(.linger(milliseconds: 0))
    var monitor = try Monitor.start(on: router)
    // An abstract socket name leaves no file, and needs no address family that a hardened unit
    // forbids.
    var source = SystemRandomNumberGenerator()
    let endpoint = "ipc://@navd-proof-\(String(source.next(), radix: 36))"
    try router.bind(endpoint)
    let dealer = try context.socket(.dealer)
    try dealer.set(.linger(milliseconds: 0))
    try dealer.set(.neverReconnect)
    if let stranger, let identity {
      try NetworkIdentity(serverKey: try identity.publicKey(), keys: stranger).configure(dealer)
    }
    try dealer.connect(endpoint)
    _ = try dealer.send([[0x21]])
    return try awaitsRefusal(router, &monitor)
  }

  /// Waits for a monitor event that reports a refusal; returns false for a message or after 2 s.
  private static func awaitsRefusal(
    _ router: borrowing Socket, _ monitor: inout Monitor
  ) throws(ZeroMQError) -> Bool {
    var poller = Poller()
    _ = poller.add(router)
    _ = poller.add(monitor.reader)
    var parts = Multipart(capacity: 2)
    let end = SystemClock.monotonicMilliseconds() + timeLimit
    while true {
      if try router.receive(into: &parts) { return false }
      while let event = try monitor.next() {
        switch event.kind {
        case .handshakeFailed, .handshakeBroken, .refused, .disconnected: return true
        case .accepted, .connected, .connectRetried, .handshakeSucceeded: break
        }
      }
      let now = SystemClock.monotonicMilliseconds()
      guard now < end else { return false }
      _ = try poller.wait(milliseconds: Int(end - now))
    }
  }
}
