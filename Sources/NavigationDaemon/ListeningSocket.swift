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

/// All listening sockets, with a watch over the directories of those that have a path.
struct ListeningSockets {
  /// Readable when another file may be where clients look for ours.
  let descriptor: Int32
  private let sockets: [ListeningSocket]

  /// Takes sockets that listen, and begins to watch.
  init(_ sockets: [ListeningSocket]) {
    self.sockets = sockets
    descriptor = navd_inotify()
    precondition(descriptor >= 0, "inotify: errno=\(navd_errno())")
    for path in sockets.compactMap(\.path) {
      guard let slash = path.lastIndex(of: "/") else { continue }
      _ = unsafe navd_watch_directory(descriptor, String(path[...slash]))
    }
  }

  /// What libzmq is lent.
  var lent: [LentSocket] { sockets.map(\.lent) }

  /// Opens the files to the users of the configuration; until then only our own user can connect.
  func admit(_ configuration: Configuration) throws(DaemonError) {
    for socket in sockets { try socket.lock?.open(configuration.daemon) }
  }

  /// Removes the socket files, so that clients see at once that nobody listens.
  func removeFiles() {
    for socket in sockets { socket.lock?.removeSocket() }
  }

  /// Restores the files of our sockets that another process has replaced.
  ///
  /// A process that binds a path removes the file there without an error for navd. Connections go
  /// on, but new clients would reach the other process, or none.
  ///
  /// - Returns: the entries for the log.
  func reclaim() -> [LogEntry] {
    forgetChanges()
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

  private func forgetChanges() {
    var bytes = [UInt8](repeating: 0, count: 4096)
    while unsafe bytes.withUnsafeMutableBytes({
      unsafe read(descriptor, $0.baseAddress, $0.count)
    }) > 0 {}
  }
}
