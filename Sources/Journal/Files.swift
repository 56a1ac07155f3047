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
