import CLinux

/// The kind, owner and mode of a file.
package struct FileStatus: Hashable, Sendable {
  /// The kinds of file that the rules distinguish, with their names in messages.
  package enum Kind: String, Hashable, Sendable {
    case regular = "a regular file"
    case directory = "a directory"
    case socket = "a socket"
    case symbolicLink = "a symbolic link"
    /// A device or a pipe.
    case other = "a special file"
    /// The kind is unknown, because this user cannot search a directory of the path.
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
  /// It is nil if the path does not exist, and `hidden` if this user cannot search a directory before it.
  package static func probe(_ path: String) -> FileStatus? {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else {
      return navd_errno() == EACCES ? FileStatus(kind: .hidden, owner: 0, mode: 0) : nil
    }
    return FileStatus(status)
  }

  /// Reads the status of the file to which a path leads; nil if there is none.
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

  /// The reason why a user other than root and `user` could replace this file, or the files in this
  /// directory, and a command as remedy; nil if none could.
  ///
  /// With `isShared`, it may be a directory such as /tmp, where the sticky bit keeps users from the
  /// files of others.
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
  /// The group root can have read permission: systemd passes credentials with an access list for
  /// the user of the service, and stat(2) shows such a list as permission of the group.
  package var isSecret: Bool { mode & (group == 0 ? 0o037 : 0o077) == 0 }

  /// Whether root owns the file, and besides root only the group of this process can read it.
  ///
  /// The file of a service can be so: the administrator edits it, and the service cannot.
  package var isSecretOfGroup: Bool { owner == 0 && group == getegid() && mode & 0o037 == 0 }

  /// The reason why the file is not a directory that only `user` can use; nil if it is one.
  package func reasonNotPrivate(to user: UInt32) -> String? {
    if kind != .directory { return "it is \(kind.rawValue), not a directory" }
    if owner != user { return "it belongs to user \(owner), not to user \(user)" }
    if mode & 0o077 != 0 {
      return "its mode is 0\(String(mode, radix: 8)), so others can use it; expected 0700"
    }
    return nil
  }
}

/// The names in a directory, without `.` and `..`, in byte order.
///
/// A directory that does not exist has no names.
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

/// A path without symbolic links, as far as its directories exist.
package func resolvedPath(_ path: String) -> String {
  if let resolved = unsafe realpath(path, nil) {
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved)
  }
  let parent = parentDirectory(of: path)
  guard parent != path, parent != "/" else { return path }
  return resolvedPath(parent) + path.dropFirst(parent.count)
}

/// The free and the total space of a file system.
package struct DiskSpace: Hashable, Sendable {
  /// Bytes that a process without privileges can still use.
  package var free: UInt64
  package var size: UInt64

  /// Reads the space of the file system that contains a path; nil if statvfs(3) fails.
  package static func probe(_ path: String) -> DiskSpace? {
    var space = DiskSpace(free: 0, size: 0)
    guard unsafe navd_disk_space(path, &space.free, &space.size) == 0 else { return nil }
    return space
  }
}

/// The soft limit of open file descriptors; nil if there is none.
package func descriptorLimit() -> UInt64? { UInt64(exactly: navd_limit(0)) }

/// The soft limit of the bytes of a stack, which new threads get too; nil if there is none.
package func stackByteLimit() -> UInt64? { UInt64(exactly: navd_limit(1)) }
