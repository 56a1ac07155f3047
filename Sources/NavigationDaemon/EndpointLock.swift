import CLinux
import RuntimePaths

/// A lock file beside the path of a socket, by which only one process at a time serves the path.
final class EndpointLock {
  let path: String
  /// A hard link to the socket file, from which navd restores the path if another file replaces it.
  var secondPath: String { path + ".own" }
  private let descriptor: Int32

  private init(path: String, descriptor: Int32) {
    self.path = path
    self.descriptor = descriptor
  }

  /// Takes the lock; the error names the process that has it.
  static func take(_ path: String) throws(DaemonError) -> EndpointLock {
    let lockPath = path + ".lock"
    let descriptor = unsafe navd_open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw .endpoint(
        "ipc://" + path,
        reason: "cannot create \(lockPath): \(SystemError.text(of: navd_errno())); check that the "
          + "directory exists and belongs to the user of navd")
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      close(descriptor)
      throw .endpoint(
        "ipc://" + path, reason: "\(holder(lockPath)) serves it; stop it or use another path")
    }
    let text = Array("navd, process \(getpid())".utf8)
    // The text only informs administrators; the lock works without it, so a failure is ignored.
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

  /// Sets the group and the mode of the socket file by the configuration.
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

  func removeSocket() {
    unsafe unlink(path)
    unsafe unlink(secondPath)
  }

  deinit { close(descriptor) }
}
