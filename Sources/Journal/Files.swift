import Glibc

/// Whether there is something with this name.
func exists(_ path: String) throws(JournalError) -> Bool {
  guard let size = try fileSize(path) else { return false }
  return size >= 0
}

/// The size of a file in bytes, `nil` when there is none.
///
/// By name, never by opening it: closing any descriptor of the file would drop SQLite's locks.
func fileSize(_ path: String) throws(JournalError) -> Int? {
  var information = stat()
  guard unsafe stat(path, &information) != 0 else { return information.st_size }
  guard errno == ENOENT else {
    throw .unreadable(path: path, reason: unsafe String(cString: strerror(errno)))
  }
  return nil
}

/// Removes a file, if there is one.
func removeFile(_ path: String) throws(JournalError) {
  guard unsafe unlink(path) == 0 || errno == ENOENT else { throw DirectoryLock.failure(path) }
}

/// Makes an empty file that only its owner may read.
func createPrivateFile(_ path: String) throws(JournalError) {
  let opened = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
  guard opened >= 0 else { throw DirectoryLock.failure(path) }
  close(opened)
}

/// Gives a file another name, in one step.
func renameFile(_ path: String, _ target: String) throws(JournalError) {
  guard unsafe rename(path, target) == 0 else { throw DirectoryLock.failure(path) }
}

/// Makes what is in a file durable; nobody may have it open with SQLite.
func syncFile(_ path: String) throws(JournalError) {
  let opened = unsafe open(path, O_RDONLY | O_CLOEXEC)
  guard opened >= 0 else { throw DirectoryLock.failure(path) }
  defer { close(opened) }
  guard fsync(opened) == 0 else {
    throw .syncFailed(path: path, reason: unsafe String(cString: strerror(errno)))
  }
}

/// Makes a directory that only its owner may use, unless it is there.
func makePrivateDirectory(_ path: String) throws(JournalError) {
  guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else {
    throw errno == ENOSPC || errno == EDQUOT ? .full(path: path) : DirectoryLock.failure(path)
  }
}

/// Checks that so many bytes more fit beside a file, and some that others need meanwhile.
func checkRoom(for bytes: Int, beside path: String) throws(JournalError) {
  var information = statvfs()
  guard unsafe statvfs(path, &information) == 0 else { throw DirectoryLock.failure(path) }
  let available = Int(information.f_bavail) * Int(information.f_frsize)
  guard available > bytes + bytes / 16 + 1 << 20 else { throw .full(path: path) }
}

/// A journal in a directory of its own that is not to be served yet.
enum JournalDraft {
  /// Makes an empty directory, in the place of what a process left there that was killed.
  static func make(_ directory: String) throws(JournalError) {
    discard(directory)
    try makePrivateDirectory(directory)
  }

  /// Removes the directory with what a draft may hold; what cannot be removed now can be later.
  static func discard(_ directory: String) {
    let journal = directory + "/" + Journal.fileName
    for suffix in ["", "-wal", "-shm", "-journal"] { unsafe unlink(journal + suffix) }
    unsafe unlink(directory + "/lock")
    unsafe rmdir(directory)
  }
}
