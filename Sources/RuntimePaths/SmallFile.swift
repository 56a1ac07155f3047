import CLinux

/// Reads a whole file that is expected to be small.
/// - Parameters:
///   - path: The file.
///   - maximumBytes: A longer file is refused with `EFBIG`, never read in part.
/// - Returns: The contents.
/// - Throws: The system call that failed.
package func readSmallFile(_ path: String, maximumBytes: Int = 1 << 20) throws(SystemError)
  -> [UInt8]
{
  let descriptor = retryingOnInterrupt { unsafe navd_open(path, O_RDONLY | O_CLOEXEC, 0) }
  guard descriptor >= 0 else { throw .last("open", path) }
  defer { close(descriptor) }
  var contents: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 16384)
  while true {
    let count = retryingOnInterrupt {
      unsafe chunk.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
    }
    guard count >= 0 else { throw .last("read", path) }
    if count == 0 { return contents }
    guard contents.count + count <= maximumBytes else {
      throw SystemError("read", path, code: EFBIG)
    }
    contents.append(contentsOf: chunk[..<count])
  }
}

/// Replaces a file so that after a crash either the old or the new contents are there, whole.
///
/// The bytes go to a new file beside it, are made durable, and take its name; then the name is
/// made durable.
package func writeFileAtomically(_ path: String, _ bytes: [UInt8], mode: UInt32 = 0o600)
  throws(SystemError)
{
  let temporary = path + ".new-\(getpid())"
  // A leftover of a crash under the same process id is of no use to anyone.
  unsafe unlink(temporary)
  let descriptor = retryingOnInterrupt {
    unsafe navd_open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
  }
  guard descriptor >= 0 else { throw .last("create", temporary) }
  do throws(SystemError) {
    defer { close(descriptor) }
    try writeAll(bytes, to: descriptor, path: temporary)
    guard fchmod(descriptor, mode) == 0 else { throw .last("set the mode of", temporary) }
    guard fsync(descriptor) == 0 else { throw .last("sync", temporary) }
  } catch {
    unsafe unlink(temporary)
    throw error
  }
  guard unsafe rename(temporary, path) == 0 else {
    let error = SystemError.last("replace", path)
    unsafe unlink(temporary)
    throw error
  }
  try syncDirectory(parentDirectory(of: path))
}

/// Makes the names in a directory durable.
package func syncDirectory(_ path: String) throws(SystemError) {
  let descriptor = retryingOnInterrupt {
    unsafe navd_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
  }
  guard descriptor >= 0 else { throw .last("open", path) }
  defer { close(descriptor) }
  guard fsync(descriptor) == 0 else { throw .last("sync", path) }
}

private func writeAll(_ bytes: [UInt8], to descriptor: Int32, path: String) throws(SystemError) {
  var offset = 0
  while offset < bytes.count {
    let start = offset
    let count = retryingOnInterrupt {
      unsafe bytes.withUnsafeBytes { buffer in
        unsafe write(descriptor, buffer.baseAddress?.advanced(by: start), buffer.count - start)
      }
    }
    guard count >= 0 else { throw .last("write", path) }
    offset += count
  }
}

/// Makes a file that is not there yet, durable with its name.
///
/// - Throws: `EEXIST` if there is one, or another system call that failed.
package func createFile(_ path: String, _ bytes: [UInt8], mode: UInt32) throws(SystemError) {
  let descriptor = retryingOnInterrupt {
    unsafe navd_open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
  }
  guard descriptor >= 0 else { throw .last("create", path) }
  do throws(SystemError) {
    defer { close(descriptor) }
    try writeAll(bytes, to: descriptor, path: path)
    guard fsync(descriptor) == 0 else { throw .last("sync", path) }
  } catch {
    unsafe unlink(path)
    throw error
  }
  try syncDirectory(parentDirectory(of: path))
}

/// Removes a file; returns false if it was not there.
package func removeFile(_ path: String) throws(SystemError) -> Bool {
  if unsafe unlink(path) == 0 { return true }
  guard navd_errno() == ENOENT else { throw .last("remove", path) }
  return false
}

/// Whether nobody but its owner and root can read or write what a path leads to; false if that cannot
/// be told.
///
/// The group of root may read it: so an access list for the owner of a service looks, by which the
/// service manager passes credentials.
package func isSecret(_ path: String) -> Bool {
  var status = stat()
  guard unsafe stat(path, &status) == 0 else { return false }
  return status.st_mode & (status.st_gid == 0 ? 0o037 : 0o077) == 0
}
