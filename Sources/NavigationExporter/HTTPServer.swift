import CLinux
import CMicroHTTPD
import RuntimePaths

/// libmicrohttpd behind one socket, driven by the thread that calls `run`.
///
/// A request is answered when its head is read; a body is never read. Who keeps a connection without
/// asking loses it after some seconds, and there is a bound on how many there are.
@safe
struct HTTPServer: ~Copyable {
  private static let connections: UInt32 = 64
  private static let idleSeconds: UInt32 = 3

  private let daemon: OpaquePointer
  private let responder: Responder
  private let address: ListenAddress
  /// Readable when a connection waits.
  let listener: Int32
  /// Readable when `run` has something to do.
  let descriptor: Int32
  /// Where it listens, with the port that was chosen.
  let bound: ListenAddress

  /// What the library calls back.
  private final class Responder {
    let answer: (_ method: String, _ path: String) -> Answer

    init(_ answer: @escaping (String, String) -> Answer) { self.answer = answer }
  }

  /// Listens and is ready to `run`; `answer` is called on the thread that does.
  init(
    _ address: ListenAddress, answer: @escaping (_ method: String, _ path: String) -> Answer
  ) throws {
    let listener =
      switch address {
      case .network(let address, let port): unsafe navd_http_listen_network(address, port)
      case .local(let path): unsafe navd_http_listen_local(path)
      }
    guard listener >= 0 else {
      throw SystemError("listen on", address.description, code: navd_errno())
    }
    let responder = Responder(answer)
    let context = unsafe Unmanaged.passUnretained(responder).toOpaque()
    guard
      let daemon = unsafe navd_http_start(
        Self.handler, context, Self.connections + 1, Self.idleSeconds)
    else {
      close(listener)
      throw SystemError("serve HTTP on", address.description, code: navd_errno())
    }
    let descriptor = unsafe navd_http_descriptor(daemon)
    precondition(descriptor >= 0, "a server made with MHD_USE_EPOLL has a descriptor")
    unsafe self.daemon = daemon
    self.responder = responder
    self.address = address
    self.listener = listener
    self.descriptor = descriptor
    bound =
      switch address {
      case .network(let address, _): .network(address: address, port: navd_http_port(listener))
      case .local: address
      }
  }

  deinit {
    unsafe MHD_stop_daemon(daemon)
    close(listener)
    if case .local(let path) = address { _ = unsafe unlink(path) }
  }

  /// Takes connections and requests that are there, and answers them.
  ///
  /// The library is handed each connection: when it listens itself and reaches its limit, it may forget
  /// its socket for good.
  func run() {
    while hasRoom, unsafe navd_http_accept(daemon, listener) == 0 {}
    _ = unsafe MHD_run(daemon)
  }

  /// Whether another connection may be taken, and `listener` is worth a look.
  var hasRoom: Bool { unsafe navd_http_connections(daemon) < Self.connections }

  /// Milliseconds until `run` has something to do though nothing arrives; -1 for never.
  var timeout: Int32 { unsafe navd_http_timeout(daemon) }

  private static let handler: MHD_AccessHandlerCallback = {
    context, connection, url, method, _, _, _, _ in
    guard let context = unsafe context, let connection = unsafe connection,
      let url = unsafe url, let method = unsafe method
    else { return .NO }
    let responder = unsafe Unmanaged<Responder>.fromOpaque(context).takeUnretainedValue()
    let answer = unsafe responder.answer(String(cString: method), String(cString: url))
    return unsafe send(answer, on: connection)
  }

  private static func send(_ answer: Answer, on connection: OpaquePointer) -> MHD_Result {
    let body = Array(answer.body.utf8)
    return unsafe body.withUnsafeBytes { buffer in
      unsafe navd_http_answer(
        connection, answer.status, answer.type, buffer.baseAddress, buffer.count)
    }
  }
}
