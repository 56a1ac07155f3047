import CLinux
import CMicroHTTPD
import RuntimePaths

/// An HTTP server on one socket, by libmicrohttpd, on the thread that calls `run`.
///
/// It responds as soon as it has read the head of a request, and never reads a body. It closes a
/// connection that is idle for 3 s, and serves at most 64 connections.
@safe
struct HTTPServer: ~Copyable {
  private static let connections: UInt32 = 64
  private static let idleSeconds: UInt32 = 3

  private let daemon: OpaquePointer
  private let responder: Responder
  private let address: ListenAddress
  /// The listening socket; readable while a client waits to be accepted.
  let listener: Int32
  /// The epoll descriptor of libmicrohttpd; readable when `run` has work.
  let descriptor: Int32
  /// The address it listens on, with the port that the kernel chose for port 0.
  let bound: ListenAddress

  /// The closure behind the pointer that libmicrohttpd passes to the handler.
  private final class Responder {
    let answer: (_ method: String, _ path: String) -> Answer

    init(_ answer: @escaping (String, String) -> Answer) { self.answer = answer }
  }

  /// Opens the listening socket; `run` calls `answer` for each request.
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

  /// Accepts waiting connections and responds to complete requests, without blocking.
  ///
  /// The server itself accepts connections and hands them to libmicrohttpd. If libmicrohttpd
  /// accepts them and reaches its limit, it can stop polling the listening socket for ever.
  func run() {
    while hasRoom, unsafe navd_http_accept(daemon, listener) == 0 {}
    _ = unsafe MHD_run(daemon)
  }

  /// Whether the server can accept another connection, so that polling `listener` makes sense.
  var hasRoom: Bool { unsafe navd_http_connections(daemon) < Self.connections }

  /// Milliseconds until `run` must be called, at most 1000; -1 while there is no connection.
  ///
  /// `run` then closes the connections that have been idle for too long.
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
