import CLinux
import RuntimePaths
import Systemd
import TransportGuard

/// A listening socket, which navd opens or inherits and lends to libzmq.
///
/// navd opens it itself so that the file has the right mode from the beginning, and so that a
/// second hard link to the file exists.
struct ListeningSocket {
  let lent: LentSocket
  /// The lock of the path; nil for sockets of the service manager and of networks.
  ///
  /// It is held until the process ends. Without it, a second process could bind the same path and
  /// take it over silently.
  let lock: EndpointLock?

  /// Whether no interface had the address when navd began to listen on it.
  private(set) var isAwaited = false

  /// The identity of the socket's file; nil for sockets of the service manager and of networks.
  private(set) var file: FileIdentity?

  /// The path of the socket; nil for sockets of the service manager and of networks.
  var path: String? { lock?.path }

  static let backlog: Int32 = 4096

  private init(
    kind: LentSocket.Kind, endpoint: String, descriptor: Int32, lock: EndpointLock?
  ) {
    lent = LentSocket(kind: kind, endpoint: endpoint, descriptor: descriptor)
    self.lock = lock
  }

  var endpoint: String { lent.endpoint }

  /// Takes a socket that the service manager has opened.
  init(_ socket: InheritedSocket) {
    let kind: LentSocket.Kind = if case .path = socket.place { .local } else { .network }
    self.init(kind: kind, endpoint: socket.endpoint, descriptor: socket.descriptor, lock: nil)
  }

  /// Listens on a path; until the lock's `open`, only the daemon's own user can connect.
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

  /// Whether the path now leads to another file, or to none.
  var isDisplaced: Bool {
    guard let path, let file else { return false }
    return FileIdentity(of: path) != file
  }

  /// Restores the path of the socket, and replaces the file that is there now.
  ///
  /// Connections and the queue of the socket are not affected, because it is the same socket.
  func takeNameBack() throws(DaemonError) {
    guard let path, let lock else { return }
    guard unsafe navd_give_name(lock.secondPath, path) == 0 else {
      throw .endpoint(endpoint, reason: Self.reason(navd_errno()) + "; restart the daemon")
    }
  }

  /// Listens on a network address, even if no interface has it yet.
  ///
  /// Networks may come up after the service, and clients on this machine must not wait for them.
  static func listen(on address: NetworkAddress) throws(DaemonError) -> ListeningSocket {
    var isAwaited: Int32 = 0
    let descriptor = unsafe navd_listen_tcp(address.host, address.port, backlog, &isAwaited)
    let code = navd_errno()
    guard descriptor >= 0 else {
      // The unit forbids the address family, so the call fails for every address.
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

/// The identity of a file, by its device and its inode number.
struct FileIdentity: Hashable {
  private(set) var device: UInt64 = 0
  private(set) var number: UInt64 = 0

  /// Reads the identity of the file at a path; nil if there is none.
  init?(of path: String) {
    guard unsafe navd_file_identity(path, &device, &number) == 0 else { return nil }
  }
}

/// All listening sockets, with a watch of the directories of those that have a path.
struct ListeningSockets {
  /// Its descriptor is readable when another file may have replaced a socket's file.
  let watch = DirectoryWatch()
  private let sockets: [ListeningSocket]

  /// Takes listening sockets, and starts the watch.
  init(_ sockets: [ListeningSocket]) {
    self.sockets = sockets
    for path in sockets.compactMap(\.path) {
      guard let slash = path.lastIndex(of: "/") else { continue }
      watch.add(String(path[...slash]))
    }
  }

  var lent: [LentSocket] { sockets.map(\.lent) }

  /// Sets the group and the mode of all socket files; until then, only the daemon's own user can
  /// connect.
  func admit(_ configuration: Configuration) throws(DaemonError) {
    for socket in sockets {
      if let file = socket.file { try socket.lock?.open(configuration.daemon, file) }
    }
  }

  /// Removes the socket files, so that connecting clients fail at once.
  func removeFiles() {
    for socket in sockets { socket.lock?.removeSocket() }
  }

  /// Restores the socket files that another process has replaced.
  ///
  /// A process that binds a path removes the file there without an error for navd. Existing
  /// connections continue, but new clients would reach the other process, or none.
  func reclaim() -> [LogEntry] {
    watch.drain()
    return sockets.filter(\.isDisplaced).map { socket in
      do {
        try socket.takeNameBack()
        let text = "another process replaced \(socket.endpoint); navd has restored it"
        return LogEntry(.error, text, kind: .refused)
      } catch {
        let text = "cannot restore \(socket.endpoint), which another process replaced: \(error)"
        return LogEntry(.error, text, kind: .refused)
      }
    }
  }
}
