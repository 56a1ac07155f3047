import CLinux
import RuntimePaths
import ZeroMQ

/// The daemon's ROUTER and what stands around it: admission and monitoring.
///
/// All sockets are made at start, because libzmq may abort a process that runs out of descriptors.
struct Listener: ~Copyable {
  let context: Context
  let router: Socket
  var admission: ZAPHandler
  var monitor: Monitor
  /// The endpoints bound.
  let endpoints: [String]
  // Held for life: a second bind of the same path would silently take it over.
  private let locks: [EndpointLock]

  /// Where to listen: a path to bind, or a socket that is bound already.
  enum Place {
    case path(String)
    case inherited(InheritedSocket)
  }

  /// To hand a short message to a socket that is idle takes 8 µs of a thread's time, and a diff may
  /// go to a thousand: two threads share the connections, where they can run at the same time.
  private static var inputOutputThreads: Int32 { navd_processor_count() > 1 ? 2 : 1 }

  /// Makes the sockets and binds them.
  static func open(
    _ places: [Place], _ configuration: Configuration
  ) throws(DaemonError) -> Listener {
    var locks: [EndpointLock] = []
    for case .path(let path) in places { locks.append(try EndpointLock.take(path)) }
    do throws(ZeroMQError) {
      let context = try Context.make(inputOutputThreads: Self.inputOutputThreads)
      // First, so that no peer is let in before somebody answers for it.
      let admission = try ZAPHandler.start(in: context)
      let router = try context.socket(.router)
      try setOptions(router, configuration)
      let monitor = try Monitor.start(on: router, .server)
      for place in places { try bind(router, place) }
      return Listener(
        context: context, router: router, admission: admission, monitor: monitor,
        endpoints: places.map(\.endpoint), locks: locks)
    } catch {
      throw .transport(error)
    }
  }

  private static func setOptions(
    _ router: borrowing Socket, _ configuration: Configuration
  ) throws(ZeroMQError) {
    let options: [SocketOption] = [
      .routerMandatory(true), .routerHandover(false), .sendHighWaterMark(256),
      .receiveHighWaterMark(64),
      // A frame; the hub refuses a little more than the limit itself, with an error.
      .maximumFrameBytes(Int64(configuration.limits.messageToDaemonBytes) + 4096),
      .linger(milliseconds: 0), .backlog(4096), .handshakeInterval(milliseconds: 3000),
      .zapDomain("navd.ipc"), .zapEnforceDomain(true), .heartbeatInterval(milliseconds: 0),
    ]
    for option in options { try router.set(option) }
  }

  private static func bind(
    _ router: borrowing Socket, _ place: Place
  ) throws(ZeroMQError) {
    switch place {
    case .inherited(let socket):
      try router.set(.useDescriptor(socket.descriptor))
      try router.bind(place.endpoint)
      try router.set(.useDescriptor(-1))
    case .path:
      // Nobody but the daemon's own user can connect until the lock's `open` lets them.
      let former = umask(0o177)
      defer { umask(former) }
      try router.bind(place.endpoint)
    }
  }

  /// Lets in whom the configuration lets in; until then only our own user can connect.
  func admit(_ configuration: Configuration) throws(DaemonError) {
    for lock in locks { try lock.open(configuration.daemon) }
  }

  /// Removes the socket files, so that clients see at once that nobody listens.
  func removeFiles() {
    for lock in locks { lock.removeSocket() }
  }
}

extension Listener.Place {
  var endpoint: String {
    switch self {
    case .path(let path): "ipc://" + path
    case .inherited(let socket): "ipc://" + socket.path
    }
  }
}

/// The claim of one process on the path of a socket, for as long as the process lives.
final class EndpointLock {
  private let path: String
  private let descriptor: Int32

  private init(path: String, descriptor: Int32) {
    self.path = path
    self.descriptor = descriptor
  }

  /// Takes the lock beside a socket's path, or says who has it.
  static func take(_ path: String) throws(DaemonError) -> EndpointLock {
    let lockPath = path + ".lock"
    let descriptor = unsafe navd_open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw .endpoint(
        "ipc://" + path,
        reason: "cannot create \(lockPath): \(SystemError.text(of: navd_errno())); check that the "
          + "directory exists and is ours")
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      close(descriptor)
      throw .endpoint(
        "ipc://" + path, reason: "\(holder(lockPath)) serves it; stop it or use another path")
    }
    let text = Array("navd, process \(getpid())".utf8)
    // Only for people who meet the lock; it holds whatever is written.
    _ = ftruncate(descriptor, 0)
    _ = unsafe text.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
    return EndpointLock(path: path, descriptor: descriptor)
  }

  private static func holder(_ lockPath: String) -> String {
    do {
      return String(decoding: try readSmallFile(lockPath), as: UTF8.self)
    } catch {
      return "another process"
    }
  }

  /// Lets in whom the configuration lets in.
  func open(_ configuration: Configuration.Daemon) throws(DaemonError) {
    if let group = configuration.socketGroup {
      guard let number = Self.groupID(named: group) else {
        throw .endpoint("ipc://" + path, reason: "there is no group \(group)")
      }
      guard unsafe chown(path, uid_t.max, number) == 0 else { throw failure("give to \(group)") }
    }
    guard unsafe chmod(path, configuration.effectiveSocketMode) == 0 else {
      throw failure("set the mode")
    }
  }

  private func failure(_ what: String) -> DaemonError {
    .endpoint("ipc://" + path, reason: "cannot \(what): \(SystemError.text(of: navd_errno()))")
  }

  private static func groupID(named name: String) -> gid_t? {
    if let number = UInt32(name) { return number }
    let found = unsafe navd_group_id(name)
    return found < 0 ? nil : gid_t(found)
  }

  func removeSocket() { _ = unsafe unlink(path) }

  deinit { close(descriptor) }
}
