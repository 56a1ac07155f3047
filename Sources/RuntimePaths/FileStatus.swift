import CLinux

/// The kind, owner and mode of a file.
package struct FileStatus: Hashable, Sendable {
  /// The kinds of file; the raw values are their names in messages.
  package enum Kind: String, Hashable, Sendable {
    case regular = "a regular file"
    case directory = "a directory"
    case socket = "a socket"
    case symbolicLink = "a symbolic link"
    /// A device or a pipe.
    case other = "a special file"
    /// A file of unknown kind: this user has no search permission for a directory of the path.
    case hidden = "hidden from this user"
  }

  package var kind: Kind
  package var owner: UInt32
  package var group: UInt32 = 0
  /// The permission bits, 0 to 0o7777.
  package var mode: UInt32
}

extension FileStatus {
  /// Reads the status of a path, by lstat(2): it does not follow a symbolic link.
  ///
  /// The function returns nil if the path does not exist, and the kind `hidden` if this user has no
  /// search permission for a directory of the path.
  package static func probe(_ path: String) -> FileStatus? {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else {
      return navd_errno() == EACCES ? FileStatus(kind: .hidden, owner: 0, mode: 0) : nil
    }
    return FileStatus(status)
  }

  /// Reads the status of a path by stat(2), which follows symbolic links; nil if that fails.
  package static func target(of path: String) -> FileStatus? {
    var status = stat()
    return unsafe stat(path, &status) == 0 ? FileStatus(status) : nil
  }

  init(_ status: stat) {
    let kind: Kind =
      switch Int32(status.st_mode) & S_IFMT {
      case S_IFREG: .regular
      case S_IFDIR: .directory
      case S_IFSOCK: .socket
      case S_IFLNK: .symbolicLink
      default: .other
      }
    self.init(
      kind: kind, owner: status.st_uid, group: status.st_gid, mode: status.st_mode & 0o7777)
  }

  /// Checks whether only root and `user` can replace the file, or the files of the directory.
  ///
  /// If others can, the function returns the reason, and a command as remedy; else nil. With
  /// `isShared`, it accepts directories such as /tmp, whose sticky bit protects each user's files.
  package func distrust(
    of path: String, by user: UInt32, isShared: Bool = false
  ) -> (reason: String, remedy: String)? {
    guard owner == 0 || owner == user else {
      // Root had better become the owner than make the files unusable for it.
      let name = unsafe accountName(navd_user_name, owner)
      // A number has no account that could run the command.
      let start = user == 0 && UInt32(name) == nil ? "runuser -u \(name) -- COMMAND" : nil
      return (
        "it belongs to user \(owner), not to root or user \(user)",
        start ?? "chown \(user) \(path)"
      )
    }
    guard mode & 0o022 == 0 || isShared && mode & 0o1000 != 0 else {
      return ("other users can write it", "chmod go-w \(path)")
    }
    return nil
  }

  /// Whether only its owner and root can read or write the file.
  ///
  /// The function accepts read permission for the group root: systemd sets an access list on its
  /// credentials, which stat(2) shows as permission of the group.
  package var isSecret: Bool { mode & (group == 0 ? 0o037 : 0o077) == 0 }

  /// Whether root owns the file, and besides root only the group of this process can read it.
  ///
  /// A service can read such a file, but only the administrator can change it.
  package var isSecretOfGroup: Bool { owner == 0 && group == getegid() && mode & 0o037 == 0 }

  /// Returns nil if this is a directory that only `user` can use, else the reason why it is not.
  package func reasonNotPrivate(to user: UInt32) -> String? {
    if kind != .directory { return "it is \(kind.rawValue), not a directory" }
    if owner != user { return "it belongs to user \(owner), not to user \(user)" }
    if mode & 0o077 != 0 {
      return "its mode is 0\(String(mode, radix: 8)), so others can use it; expected 0700"
    }
    return nil
  }
}

/// The names in a directory, in byte order, without `.` and `..`; none if there is no directory.
package func namesInDirectory(_ path: String) throws(SystemError) -> [String] {
  guard let directory = unsafe opendir(path) else {
    if navd_errno() == ENOENT { return [] }
    throw .last("list", path)
  }
  defer { unsafe closedir(directory) }
  var names: [String] = []
  while true {
    navd_clear_errno()
    guard let entry = unsafe readdir(directory) else {
      guard navd_errno() == 0 else { throw .last("list", path) }
      break
    }
    let name = unsafe String(cString: navd_entry_name(entry))
    if name != "." && name != ".." { names.append(name) }
  }
  return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
}

/// Resolves the symbolic links in the existing part of a path, by realpath(3).
package func resolvedPath(_ path: String) -> String {
  if let resolved = unsafe realpath(path, nil) {
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved)
  }
  guard path.dropFirst().contains("/") else { return path }
  let parent = parentDirectory(of: path)
  return resolvedPath(parent) + path.dropFirst(parent.count)
}

/// The free and the total space of a file system.
package struct DiskSpace: Hashable, Sendable {
  /// The number of bytes that a process without privileges can still use.
  package var free: UInt64
  package var size: UInt64

  /// Reads the space of the file system that contains a path; nil if statvfs(3) fails.
  package static func probe(_ path: String) -> DiskSpace? {
    var space = DiskSpace(free: 0, size: 0)
    guard unsafe navd_disk_space(path, &space.free, &space.size) == 0 else { return nil }
    return space
  }
}

/// The soft limit on open file descriptors (RLIMIT_NOFILE); nil for no limit.
package func descriptorLimit() -> UInt64? { UInt64(exactly: navd_limit(0)) }

/// The soft limit on the size of a thread's stack in bytes (RLIMIT_STACK); nil for no limit.
package func stackByteLimit() -> UInt64? { UInt64(exactly: navd_limit(1)) }
