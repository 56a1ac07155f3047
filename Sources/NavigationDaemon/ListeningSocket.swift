import CLinux
import RuntimePaths
import TransportGuard

/// A place where peers come in: a socket of ours that listens, which libzmq is lent.
///
/// So it is made with our mode, and with one name more than libzmq knows of.
struct ListeningSocket {
  /// What libzmq is lent.
  let lent: LentSocket
  /// Held for life: a second bind of the same path would silently take it over.
  ///
  /// Nil for sockets of the
  /// service manager's.
  let lock: EndpointLock?

  /// Whether no interface had the address when navd began to listen on it.
  private(set) var isAwaited = false

  /// Tells our file at the path from any other; nil for sockets of the service manager's.
  private var file: FileIdentity?

  /// The path of our socket; nil for sockets of the service manager's, and of networks.
  var path: String? { lock?.path }

  static let backlog: Int32 = 4096

  private init(
    kind: LentSocket.Kind, endpoint: String, descriptor: Int32, lock: EndpointLock?
  ) {
    lent = LentSocket(kind: kind, endpoint: endpoint, descriptor: descriptor)
    self.lock = lock
  }

  /// The address, as libzmq takes it.
  var endpoint: String { lent.endpoint }

  /// A socket that the service manager made.
  init(_ socket: InheritedSocket) {
    let kind: LentSocket.Kind = if case .path = socket.place { .local } else { .network }
    self.init(kind: kind, endpoint: socket.endpoint, descriptor: socket.descriptor, lock: nil)
  }

  /// Listens on a path, which only our own user can connect to until the lock's `open`.
  static func listen(onPath path: String) throws(DaemonError) -> ListeningSocket {
    let lock = try EndpointLock.take(path)
    let descriptor = try bind(path)
    var socket = ListeningSocket(
      kind: .local, endpoint: "ipc://" + path, descriptor: descriptor, lock: lock)
    socket.file = FileIdentity(of: path)
    _ = unsafe navd_give_name(path, lock.secondPath)
    return socket
  }

  private static func bind(_ path: String) throws(DaemonError) -> Int32 {
    let former = umask(0o177)
    let descriptor = unsafe navd_listen_unix(path, backlog)
    let code = navd_errno()
    umask(former)
    guard descriptor >= 0 else { throw .endpoint("ipc://" + path, reason: reason(code)) }
    return descriptor
  }

  /// Whether clients that look for our path find another file there, or none.
  var isDisplaced: Bool {
    guard let path, let file else { return false }
    return FileIdentity(of: path) != file
  }

  /// Gives our socket its name again, in the place of what has it now.
  ///
  /// Connections go on, and so does its queue: it is the same socket.
  func takeNameBack() throws(DaemonError) {
    guard let path, let lock else { return }
    guard unsafe navd_give_name(lock.secondPath, path) == 0 else {
      throw .endpoint(endpoint, reason: Self.reason(navd_errno()) + "; restart the daemon")
    }
  }

  /// Listens on an address of a network, which an interface may be given later.
  ///
  /// Networks come up after the service, and clients of this machine do not wait for them.
  static func listen(on address: NetworkAddress) throws(DaemonError) -> ListeningSocket {
    var isAwaited: Int32 = 0
    let descriptor = unsafe navd_listen_tcp(address.host, address.port, backlog, &isAwaited)
    let code = navd_errno()
    guard descriptor >= 0 else {
      // The call is forbidden before it is asked which address it is for.
      let remedy =
        code == EAFNOSUPPORT
        ? "; where the unit keeps navd.service from networks, navd-tcp enable opens it" : ""
      throw .endpoint(address.endpoint, reason: reason(code) + remedy)
    }
    var socket = ListeningSocket(
      kind: .network, endpoint: address.endpoint, descriptor: descriptor, lock: nil)
    socket.isAwaited = isAwaited != 0
    return socket
  }

  private static func reason(_ code: Int32) -> String { SystemError.text(of: code) }
}

/// What tells one file from any other, whatever its name.
struct FileIdentity: Hashable {
  private var device: UInt64 = 0
  private var number: UInt64 = 0

  /// Asks what is at a path; nil if nothing is.
  init?(of path: String) {
    guard unsafe navd_file_identity(path, &device, &number) == 0 else { return nil }
  }
}
