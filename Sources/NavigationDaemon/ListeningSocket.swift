import CLinux
import NavigationCore
import RuntimePaths
import Systemd
import TransportGuard

/// A listening socket, which navd opens or inherits and lends to libzmq.
///
/// navd opens it itself so that the file has the right mode from the beginning, and so that a
/// second hard link to the file exists.
struct ListeningSocket {
  let lent: LentSocket
  /// The lock of the path; nil for networks, and where only root can make a lock.
  ///
  /// navd holds it until the process ends. Without it, a second process could bind the path, and
  /// silently take over new clients.
  let lock: EndpointLock?

  /// Whether no interface had the address when navd began to listen on it.
  private(set) var isAddressAwaited = false

  /// The path of the socket; nil for networks.
  let path: String?
  /// The identity of the socket's file; nil for networks, or if the path led elsewhere from the start.
  private(set) var file: FileIdentity?
  /// Whether the service manager opened the socket, and keeps it after the end of navd.
  private(set) var isInherited = false
  /// Whether the file has a second name, from which navd can restore the path.
  private var hasSecondName = false

  static let backlog: Int32 = 4096

  private init(
    kind: LentSocket.Kind, endpoint: String, descriptor: Int32, path: String? = nil,
    lock: EndpointLock? = nil
  ) {
    lent = LentSocket(kind: kind, endpoint: endpoint, descriptor: descriptor)
    (self.path, self.lock) = (path, lock)
  }

  var endpoint: String { lent.endpoint }

  /// Takes a socket that the service manager has opened, and the lock of its path.
  init(_ socket: InheritedSocket) throws(DaemonError) {
    guard let path = socket.path else {
      self.init(kind: .network, endpoint: socket.endpoint, descriptor: socket.descriptor)
      return
    }
    let lock = try EndpointLock.takeIfPossible(path)
    self.init(
      kind: .local, endpoint: socket.endpoint, descriptor: socket.descriptor, path: path,
      lock: lock)
    isInherited = true
    // A file that another process left there would be taken for this socket's.
    if unsafe navd_listener(path) >= 0 { giveSecondName(path) }
  }

  /// Notes the file of the socket, and gives it a second name.
  ///
  /// The kernel forbids the name for a file of another user, such as a socket of systemd's.
  private mutating func giveSecondName(_ path: String) {
    file = FileIdentity(of: path)
    guard let lock else { return }
    hasSecondName = unsafe navd_give_name(path, lock.secondPath) == 0
  }

  /// Listens on a path; until `setPermissions`, only the daemon's own user can connect.
  static func listen(onPath path: String) throws(DaemonError) -> ListeningSocket {
    let lock = try EndpointLock.take(path)
    let descriptor = unsafe navd_listen_unix(path, backlog)
    guard descriptor >= 0 else { throw .socket(path, SystemError.text(of: navd_errno())) }
    var socket = ListeningSocket(
      kind: .local, endpoint: "ipc://" + path, descriptor: descriptor, path: path, lock: lock)
    socket.giveSecondName(path)
    return socket
  }

  /// Whether the path now leads to another file, or to none.
  var isDisplaced: Bool {
    guard let path else { return false }
    return file == nil || FileIdentity(of: path) != file
  }

  /// Restores the path of the socket, and replaces the file that is there now.
  ///
  /// Connections and the queue of the socket are not affected, because it is the same socket. Returns
  /// the reason and a remedy if that fails.
  func restorePath() -> String? {
    let remedy = isInherited ? "systemctl restart navd.socket" : "restart the daemon"
    guard let path, let lock, hasSecondName else {
      return "the socket has no second name; \(remedy)"
    }
    let isRestored = unsafe navd_give_name(lock.secondPath, path) == 0
    return isRestored ? nil : "\(SystemError.text(of: navd_errno())); \(remedy)"
  }

  /// Listens on a network address, even if no interface has it yet.
  ///
  /// Networks may come up after the service, and clients on this machine must not wait for them.
  static func listen(on address: NetworkAddress) throws(DaemonError) -> ListeningSocket {
    var isAddressAwaited: Int32 = 0
    let descriptor = unsafe navd_listen_tcp(address.host, address.port, backlog, &isAddressAwaited)
    let code = navd_errno()
    guard descriptor >= 0 else {
      // The unit forbids the address family, so the call fails for every address.
      let remedy =
        code == EAFNOSUPPORT
        ? "; where the unit keeps navd.service from networks, navd-tcp enable opens it" : ""
      throw .endpoint(address.endpoint, reason: SystemError.text(of: code) + remedy)
    }
    var socket = ListeningSocket(
      kind: .network, endpoint: address.endpoint, descriptor: descriptor)
    socket.isAddressAwaited = isAddressAwaited != 0
    return socket
  }
}

/// The identity of a file, by its device and its inode number.
struct FileIdentity: Hashable {
  private(set) var device: UInt64 = 0
  private(set) var inode: UInt64 = 0

  /// Reads the identity of the file at a path; nil if there is none.
  init?(of path: String) {
    guard unsafe navd_file_identity(path, &device, &inode) == 0 else { return nil }
  }
}

/// All listening sockets, with a watch of the directories of those that have a path.
struct ListeningSockets {
  /// The watch, whose descriptor is readable when another file may have replaced a socket's file.
  let watch = DirectoryWatch()
  private let sockets: [ListeningSocket]
  private var problems: [String] = []
  /// Why new clients cannot reach a socket by its path; nil if they can.
  var problem: String? { problems.first }

  init(_ sockets: [ListeningSocket]) {
    self.sockets = sockets
    for path in sockets.compactMap(\.path) { watch.add(parentDirectory(of: path)) }
  }

  var lent: [LentSocket] { sockets.map(\.lent) }

  /// Sets the group and the mode of the socket files that navd made; until then, only the daemon's own user can
  /// connect.
  func setFilePermissions(_ configuration: Configuration) throws(DaemonError) {
    for socket in sockets {
      guard !socket.isInherited, let file = socket.file else { continue }
      try socket.lock?.setPermissions(configuration.daemon, file)
    }
  }

  /// Removes the socket files, so that connecting clients fail at once.
  func removeFiles() {
    for socket in sockets { socket.lock?.unlinkSocket(includingPath: !socket.isInherited) }
  }

  /// Restores the socket files that another process has replaced.
  ///
  /// A process that binds a path removes the file there without an error for navd. Existing
  /// connections continue, but new clients would reach the other process, or none. `problem` names
  /// the first socket that cannot be restored. It returns one log entry for each socket.
  mutating func restorePaths() -> [LogEntry] {
    watch.drain()
    let former = problems
    problems = []
    var texts: [String] = []
    for socket in sockets where socket.isDisplaced {
      if let reason = socket.restorePath() {
        let text = "cannot restore \(socket.endpoint), which another process replaced: \(reason)"
        problems.append(text)
        if !former.contains(text) { texts.append(text) }
      } else {
        texts.append("another process replaced \(socket.endpoint); navd has restored it")
      }
    }
    return texts.map { LogEntry(.error, $0, kind: .clientRefused) }
  }
}
