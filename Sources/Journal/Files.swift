import CLinux
import Glibc
import RuntimePaths

func exists(_ path: String) throws(JournalError) -> Bool { try fileSize(path) != nil }

/// Returns the size of a file in bytes; nil if there is none.
///
/// It uses the name and never opens the file: closing any descriptor of the file would release
/// SQLite's locks.
func fileSize(_ path: String) throws(JournalError) -> Int? {
  var information = stat()
  guard unsafe stat(path, &information) != 0 else { return information.st_size }
  guard errno == ENOENT else { throw .unreadable(path) }
  return nil
}

/// The device and the number of a file; empty, with the reason in errno, if that is unknown.
func fileIdentity(_ path: String) -> [UInt] {
  var status = stat()
  return unsafe stat(path, &status) == 0 ? [status.st_dev, status.st_ino] : []
}

/// Reads up to `count` bytes of an open file; fewer only if the file ends there.
///
/// pread(2) may return fewer bytes before a bad sector; only the next call fails.
func readBytes(
  _ count: Int, at offset: Int, from descriptor: Int32, _ path: String
) throws(JournalError) -> [UInt8] {
  var (done, result) = (0, 1)
  let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
    while done < count, result != 0 {
      let rest = unsafe buffer.baseAddress?.advanced(by: done)
      result = unsafe pread(descriptor, rest, count - done, offset + done)
      if result < 0, errno == EINTR { continue }
      if result < 0 { break }
      done += result
    }
    filled = done
  }
  guard result >= 0 else {
    throw .readFailed(path: path, reason: SystemError.text(of: errno))
  }
  return bytes
}

/// Whether a path is on a file system that is mounted read-only.
func isOnReadOnlySystem(_ path: String) -> Bool {
  var system = statvfs()
  return unsafe statvfs(path, &system) == 0 && system.f_flag & UInt(ST_RDONLY) != 0
}

/// Whether the file system of a path has no free inode, so that no file can be made there.
func hasNoFreeInode(beside path: String) -> Bool {
  var system = statvfs()
  return unsafe statvfs(path, &system) == 0 && system.f_files > 0 && system.f_favail == 0
}

/// Throws `.unusable` if this process may not use a file because it belongs to another user.
func checkOwner(_ path: String, in directory: String) throws(JournalError) {
  guard unsafe access(path, R_OK | W_OK) != 0, errno == EACCES,
    let status = FileStatus.target(of: path), status.owner != geteuid()
  else { return }
  throw .unusable(
    path: path, reason: "it belongs to user \(status.owner), and navd is user \(geteuid())",
    remedy: "examine it, then type: chown -R \(geteuid()): \(directory)")
}

/// Removes a file; does nothing if there is none.
package func unlinkFile(_ path: String) throws(JournalError) {
  guard unsafe unlink(path) == 0 || errno == ENOENT else { throw DirectoryLock.writeError(path) }
}

/// Makes an empty file that only its owner can read and write.
func createPrivateFile(_ path: String) throws(JournalError) {
  let opened = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
  guard opened >= 0 else { throw DirectoryLock.writeError(path) }
  close(opened)
}

/// Renames a file atomically; replaces `target`.
func renameFile(_ path: String, _ target: String) throws(JournalError) {
  guard unsafe rename(path, target) == 0 else { throw DirectoryLock.writeError(path) }
}

/// Syncs the contents of a file that no SQLite connection has open, or the names in a directory.
func syncFile(_ path: String) throws(JournalError) {
  let opened = unsafe open(path, O_RDONLY | O_CLOEXEC)
  guard opened >= 0 else { throw DirectoryLock.writeError(path) }
  defer { close(opened) }
  guard fsync(opened) == 0 else {
    throw .syncFailed(path: path, reason: SystemError.text(of: errno))
  }
}

/// Makes a directory that only its owner can use; returns false if there is one.
@discardableResult
func makePrivateDirectory(_ path: String) throws(JournalError) -> Bool {
  guard unsafe navd_make_directory(path, 0o700) == 0 else {
    let code = navd_errno()
    if code == EEXIST { return false }
    throw DirectoryLock.writeErrorOrFull(path, code)
  }
  return true
}

/// Throws `.unusable` if a user other than root and that of the process could replace files in a
/// directory.
///
/// A sticky bit does not suffice: another user could make a file under a name that navd uses later.
func checkPrivateDirectory(_ path: String) throws(JournalError) {
  guard let status = FileStatus.target(of: path) else { throw DirectoryLock.writeError(path) }
  guard status.kind == .directory else { throw DirectoryLock.writeError(path, ENOTDIR) }
  if let found = status.distrust(of: path, by: geteuid()) {
    throw .unusable(
      path: path, reason: found.reason, remedy: "examine it, then type: \(found.remedy)")
  }
}

/// Throws `.full` unless the file system has free space for `bytes`, a sixteenth of them and 1 MiB.
func checkFreeSpace(for bytes: Int, beside path: String) throws(JournalError) {
  guard let space = DiskSpace.probe(path) else { throw DirectoryLock.writeError(path) }
  guard space.free > UInt64(bytes + bytes / 16 + 1 << 20) else { throw .full(path: path) }
}

/// The directory of a journal that is being copied and must not be served yet.
enum JournalDraft {
  /// Makes an empty directory; first removes a draft that a killed process left there.
  static func make(_ directory: String) throws(JournalError) {
    discard(directory)
    // One that is there is not the process's own: another user may have files of it open.
    guard try makePrivateDirectory(directory) else {
      throw .unusable(
        path: directory, reason: "it is there already, and is no draft of navd",
        remedy: "examine it, then move it away")
    }
  }

  /// Removes the directory and the files of a draft, and ignores errors; the next draft tries
  /// again.
  ///
  /// It follows no symbolic link: the files of another directory stay.
  static func discard(_ directory: String) {
    let opened = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard opened >= 0 else { return }
    defer { close(opened) }
    for suffix in ["", "-wal", "-journal"] {
      unsafe unlinkat(opened, Journal.fileName + suffix, 0)
    }
    unsafe unlinkat(opened, "lock", 0)
    unsafe rmdir(directory)
  }
}
