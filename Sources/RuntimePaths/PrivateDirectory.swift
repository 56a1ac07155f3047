import CLinux

/// Makes a directory, with the parents it lacks, if it is not there yet.
///
/// The new directories have exactly `mode`, whatever the umask. One that exists is left as it is.
/// - Parameters:
///   - path: An absolute path.
///   - mode: Permission bits for every directory made, 0o700 unless a group shares it.
/// - Throws: The system call that failed.
package func createPrivateDirectory(_ path: String, mode: UInt32 = 0o700) throws(SystemError) {
  if FileStatus.probe(path)?.kind == .directory { return }
  let parent = parentDirectory(of: path)
  if parent != "/" && FileStatus.probe(parent) == nil {
    try createPrivateDirectory(parent, mode: mode)
  }
  if unsafe mkdir(path, mode) == 0 {
    // mkdir takes the umask away from the mode.
    guard unsafe chmod(path, mode) == 0 else { throw .last("set the mode of", path) }
    return
  }
  let code = navd_errno()
  var status = stat()
  // Somebody was faster, or it is a link to a directory, which an administrator may want.
  if code == EEXIST, unsafe stat(path, &status) == 0, Int32(status.st_mode) & S_IFMT == S_IFDIR {
    return
  }
  throw SystemError("make directory", path, code: code)
}

/// Makes the runtime directory, and refuses one that somebody else could have planted.
///
/// In a directory that everybody can write to, the one that is there must be a directory, not a
/// link, owned by this user, without any permission for others.
package func prepareRuntimeDirectory(_ directory: PathRules.RuntimeDirectory, userID: UInt32)
  throws(PathError)
{
  let mode: UInt32 = directory.path == PathRules.systemRuntimeDirectory ? 0o755 : 0o700
  do throws(SystemError) {
    try createPrivateDirectory(directory.path, mode: mode)
  } catch {
    // What is in the way tells more than the system call does.
    guard directory.isInSharedDirectory, let status = FileStatus.probe(directory.path),
      let reason = status.reasonNotPrivate(to: userID)
    else { throw .system(error) }
    throw .notPrivate(path: directory.path, reason: reason)
  }
  guard directory.isInSharedDirectory else { return }
  guard let status = FileStatus.probe(directory.path) else {
    throw .system(SystemError("find", directory.path, code: ENOENT))
  }
  if let reason = status.reasonNotPrivate(to: userID) {
    throw .notPrivate(path: directory.path, reason: reason)
  }
}

/// The directory a path lies in: `/` for one without a parent.
package func parentDirectory(of path: String) -> String {
  guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
  return String(path[..<slash])
}
