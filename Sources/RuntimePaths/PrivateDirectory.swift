import CLinux

/// Creates a directory and its missing parents; does not change an existing directory.
///
/// The path must be absolute. New directories have exactly `mode`, independent of the umask.
package func createPrivateDirectory(_ path: String, mode: UInt32 = 0o700) throws(SystemError) {
  if FileStatus.probe(path)?.kind == .directory { return }
  let parent = parentDirectory(of: path)
  if parent != "/" && FileStatus.probe(parent) == nil {
    try createPrivateDirectory(parent, mode: mode)
  }
  if unsafe navd_make_directory(path, mode) == 0 { return }
  let code = navd_errno()
  // Another process created it first, or it is a link to a directory, which is permitted.
  if code == EEXIST, FileStatus.target(of: path)?.kind == .directory { return }
  throw SystemError("make directory", path, code: code)
}

/// Creates the runtime directory; throws `notPrivate` if another user could have created it.
///
/// In /tmp, an existing entry must be a directory, not a link, must belong to this user, and must
/// have no permissions for others.
package func prepareRuntimeDirectory(_ directory: PathRules.RuntimeDirectory, userID: UInt32)
  throws(PathError)
{
  let mode: UInt32 = directory.path == PathRules.systemRuntimeDirectory ? 0o755 : 0o700
  var failure: SystemError?
  do throws(SystemError) {
    try createPrivateDirectory(directory.path, mode: mode)
  } catch {
    failure = error
  }
  if directory.isInSharedDirectory {
    let status = FileStatus.probe(directory.path)
    // The status of the existing entry explains a failure better than EEXIST.
    if let reason = status?.reasonNotPrivate(to: userID) {
      throw .notPrivate(path: directory.path, reason: reason)
    }
    if status == nil { failure = failure ?? SystemError("find", directory.path, code: ENOENT) }
  }
  if let failure { throw .system(failure) }
}

/// The parent directory of a path: `/` for `/NAME`, and `.` for a name without a slash.
package func parentDirectory(of path: String) -> String {
  guard let slash = path.lastIndex(of: "/") else { return "." }
  guard slash != path.startIndex else { return "/" }
  return String(path[..<slash])
}
