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
  ///
  /// It refuses a directory in which another user could replace the socket, and follows no link.
  static func take(_ path: String) throws(DaemonError) -> EndpointLock {
    let (lockPath, directory) = (path + ".lock", parentDirectory(of: path))
    let found = FileStatus.target(of: directory)?
      .distrust(of: directory, by: effectiveUserID(), isShared: true)
    let lock = found == nil ? try takeIfPossible(path) : nil
    let code = navd_errno()
    if let listener = listener(path) {
      throw .socket(path, "\(listener); or use another path")
    }
    if let found {
      throw .socket(
        path, "\(directory) is not safe: \(found.reason); examine it, then type: \(found.remedy)")
    }
    guard let lock else {
      let remedy =
        code == EPERM || code == ELOOP
        ? "somebody else made it: remove it"
        : "check that the directory exists and belongs to the user of navd"
      throw .socket(path, "cannot create \(lockPath): \(SystemError.text(of: code)); \(remedy)")
    }
    return lock
  }

  /// Takes the lock; nil, with the reason in errno, if this user cannot make a lock file.
  ///
  /// The directory of a socket that the service manager opened can belong to root.
  static func takeIfPossible(_ path: String) throws(DaemonError) -> EndpointLock? {
    let lockPath = path + ".lock"
    let descriptor = unsafe navd_open_lock(lockPath)
    guard descriptor >= 0 else { return nil }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      close(descriptor)
      let holder = (try? readSmallText(lockPath)) ?? "another process"
      throw .socket(path, "\(holder) serves it; stop it or use another path")
    }
    // The text only informs administrators; the lock works without it, so a failure is ignored.
    _ = ftruncate(descriptor, 0)
    writeText("navd, process \(getpid())", to: descriptor)
    return EndpointLock(path: path, descriptor: descriptor)
  }

  /// The process that listens at a path, and a remedy; nil if none does.
  ///
  /// systemd may be that process: its socket listens while no navd has the lock.
  private static func listener(_ path: String) -> String? {
    let process = unsafe navd_listener(path)
    guard process >= 0 else { return nil }
    let name = process > 0 ? "process \(process) listens" : "another user's process may listen"
    return "\(name) there: stop that process, or use another path. If it is systemd, type: "
      + "systemctl start navd"
  }

  /// Sets the configured group and mode of the socket file, unless the path has left `file`.
  func setPermissions(_ configuration: Configuration.Daemon, _ file: FileIdentity)
    throws(DaemonError)
  {
    var number = gid_t.max
    if let group = configuration.socketGroup {
      guard let found = Self.groupID(named: group) else {
        throw .socket(path, "there is no group \(group)")
      }
      number = found
    }
    let mode = configuration.effectiveSocketMode
    guard unsafe navd_admit(path, file.device, file.inode, number, mode) == 0 else {
      let reason = SystemError.text(of: navd_errno())
      let group = configuration.socketGroup.map { "the group \($0) and " } ?? ""
      throw .socket(path, "cannot set \(group)the mode of the socket: \(reason)")
    }
  }

  /// The number of a group by its name or number; nil if there is none.
  static func groupID(named name: String) -> gid_t? {
    // chown(2) takes the greatest number as an order to change nothing.
    if let number = UInt32(name) { return number == .max ? nil : number }
    let found = unsafe navd_group_id(name)
    return found < 0 ? nil : gid_t(found)
  }

  /// Removes the second name of the socket, and the path unless the service manager keeps it.
  func unlinkSocket(includingPath: Bool) {
    if includingPath { unsafe unlink(path) }
    unsafe unlink(secondPath)
  }

  deinit { close(descriptor) }
}
