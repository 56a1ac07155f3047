import CLinux
import RuntimePaths
import ZeroMQ

/// A place where peers come in: a socket of ours that listens, which libzmq is lent.
///
/// While libzmq is not lent it, who comes waits in the kernel's queue. So the daemon takes no more
/// connections than it has descriptors for: libzmq would abort the process.
struct Entrance {
  /// How peers are identified.
  enum Kind {
    /// By the kernel.
    case local
    /// By the key that they prove to have.
    case network
  }

  let kind: Kind
  /// The address, as libzmq takes it.
  let endpoint: String
  let descriptor: Int32
  /// Held for life: a second bind of the same path would silently take it over. Nil for sockets of the
  /// service manager's.
  let lock: EndpointLock?
  /// What libzmq calls it in what it reports.
  let name: String
  /// What libzmq calls it while it accepts.
  var boundAs: String?
  /// The connections that came by it and have not ended.
  var accepted = 0

  static let backlog: Int32 = 4096

  private init(kind: Kind, endpoint: String, descriptor: Int32, lock: EndpointLock?) {
    self.kind = kind
    self.endpoint = endpoint
    self.descriptor = descriptor
    self.lock = lock
    name = endpoint
  }

  /// A socket that the service manager made.
  init(_ socket: InheritedSocket) {
    let kind: Kind = if case .path = socket.place { .local } else { .network }
    self.init(kind: kind, endpoint: socket.endpoint, descriptor: socket.descriptor, lock: nil)
  }

  /// Listens on a path, which only our own user can connect to until the lock's `open`.
  static func listen(onPath path: String) throws(DaemonError) -> Entrance {
    let lock = try EndpointLock.take(path)
    let former = umask(0o177)
    let descriptor = unsafe navd_listen_unix(path, backlog)
    let code = navd_errno()
    umask(former)
    guard descriptor >= 0 else { throw .endpoint("ipc://" + path, reason: reason(code)) }
    return Entrance(kind: .local, endpoint: "ipc://" + path, descriptor: descriptor, lock: lock)
  }

  /// Listens on an address of a network.
  static func listen(on address: NetworkAddress) throws(DaemonError) -> Entrance {
    let descriptor = unsafe navd_listen_tcp(address.host, address.port, backlog)
    let code = navd_errno()
    guard descriptor >= 0 else { throw .endpoint(address.endpoint, reason: reason(code)) }
    return Entrance(
      kind: .network, endpoint: address.endpoint, descriptor: descriptor, lock: nil)
  }

  private static func reason(_ code: Int32) -> String { SystemError.text(of: code) }
}
