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
  static func begin(_ identity: CurveSecretKey?) throws(DaemonError) -> AdmissionProof {
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
    guard process > 0 else {
      throw .system(SystemError("start a process", "", code: navd_errno()))
    }
    return AdmissionProof(process: process)
  }

  /// Waits for the end.
  ///
  /// - Throws: that somebody was let in, or was not refused in time; or what else failed.
  func finish() throws(DaemonError) {
    let result = navd_await_child(process)
    guard result != 0 else { return }
    throw .transport(ZeroMQError(.bind, code: result > 0 && result < 256 ? result : EPERM))
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
  private static let patience: Int32 = 2000

  /// Lets strangers knock.
  ///
  /// - Throws: `EPERM` if one was let in, or was not refused in time; or what else failed.
  static func run(
    in context: borrowing Context, _ identity: CurveSecretKey?
  ) throws(ZeroMQError) {
    try knock(in: context, .local, nil) { name, _, _ throws(ZeroMQError) in
      try isSentAway(from: name)
    }
    guard let identity else { return }
    try knock(in: context, .network, identity) { name, _, _ throws(ZeroMQError) in
      try isSentAway(from: name)
    }
    let stranger = try CurveKeyPair.generate()
    let key = try identity.publicKey()
    let dealer = try context.socket(.dealer)
    try dealer.set(.linger(milliseconds: 0))
    try dealer.set(.reconnectInterval(milliseconds: -1))
    try dealer.set(.curveServerKey(key))
    try dealer.set(.curvePublicKey(stranger.publicKey))
    try dealer.set(.curveSecretKey(stranger.secretKey))
    try knock(in: context, .network, identity) { name, router, monitor throws(ZeroMQError) in
      try dealer.connect("ipc://@" + name)
      _ = try dealer.send([[0x21]])
      return try isRefused(router, &monitor)
    }
  }

  private static func knock(
    in context: borrowing Context, _ kind: Entrance.Kind, _ identity: CurveSecretKey?,
    _ isTurnedDown: (String, borrowing Socket, inout Monitor) throws(ZeroMQError) -> Bool
  ) throws(ZeroMQError) {
    let router = try context.socket(.router)
    try router.set(.linger(milliseconds: 0))
    try Listener.prepare(router, kind, identity)
    var monitor = try Monitor.start(on: router, .server)
    // An abstract name: no file, and no address family that a hardened unit forbids.
    var source = SystemRandomNumberGenerator()
    let name = "navd-proof-\(String(source.next(), radix: 36))"
    try router.bind("ipc://@" + name)
    guard try isTurnedDown(name, router, &monitor) else {
      throw ZeroMQError(.bind, code: EPERM)
    }
    var parts = Multipart(capacity: 2)
    guard try !router.receive(into: &parts) else { throw ZeroMQError(.bind, code: EPERM) }
  }

  /// Whether somebody who greets without any mechanism is hung up on, and not greeted as a peer.
  ///
  /// By hand, ZMTP 3.0 (RFC 23): a socket of libzmq's would bring in parts of it that the daemon has
  /// no other use for, and half a megabyte.
  static func isSentAway(from name: String) throws(ZeroMQError) -> Bool {
    let descriptor = unsafe navd_connect_abstract(name, patience)
    guard descriptor >= 0 else { throw ZeroMQError(.connect, code: navd_errno()) }
    defer { close(descriptor) }
    let mechanism = Array("NULL".utf8) + Array(repeating: 0, count: 16 + 1 + 31)
    let greeting: [UInt8] = [0xFF, 0, 0, 0, 0, 0, 0, 0, 1, 0x7F, 3, 0] + mechanism
    let ready = [5] + Array("READY".utf8)
    let properties = [11] + Array("Socket-Type".utf8) + [0, 0, 0, 6] + Array("DEALER".utf8)
    let hello = greeting + [4, UInt8(ready.count + properties.count)] + ready + properties
    let sent = unsafe hello.withUnsafeBytes {
      unsafe send(descriptor, $0.baseAddress, $0.count, navd_no_signal())
    }
    // Who hangs up before everything was said has sent us away too.
    guard sent == hello.count || navd_errno() == EPIPE else { return false }
    var answer: [UInt8] = []
    var bytes = [UInt8](repeating: 0, count: 256)
    while true {
      let count = unsafe bytes.withUnsafeMutableBytes {
        unsafe recv(descriptor, $0.baseAddress, $0.count, 0)
      }
      if count == 0 || count < 0 && navd_errno() == ECONNRESET { break }
      // Nothing came in time, or more than a refusal is.
      guard count > 0, answer.count < 1024 else { return false }
      answer += bytes[..<count]
    }
    // A command is its flag, its length and its name.
    return !answer.dropFirst(greeting.count + 2).starts(with: ready)
  }

  /// Whether the monitor tells of a refusal.
  private static func isRefused(
    _ router: borrowing Socket, _ monitor: inout Monitor
  ) throws(ZeroMQError) -> Bool {
    var poller = Poller()
    _ = poller.add(router)
    _ = poller.add(monitor)
    let end = SystemClock.monotonicMilliseconds() + UInt64(patience)
    while true {
      let now = SystemClock.monotonicMilliseconds()
      guard now < end else { return false }
      _ = try poller.wait(milliseconds: Int(end - now))
      while let event = try monitor.next() {
        switch event.kind {
        case .handshakeFailed, .handshakeBroken, .refused, .disconnected: return true
        case .accepted, .acceptFailed, .connected: break
        }
      }
    }
  }
}
