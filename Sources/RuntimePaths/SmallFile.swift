import CLinux

/// Reads a whole file; throws `EFBIG` if it is longer than `maximumBytes`.
package func readSmallFile(_ path: String, maximumBytes: Int = 1 << 20) throws(SystemError)
  -> [UInt8]
{
  try readFileAndStat(path, maximumBytes: maximumBytes).contents
}

/// Reads a whole file of at most 1 MiB as a text.
package func readSmallText(_ path: String) throws(SystemError) -> String {
  String(decoding: try readSmallFile(path), as: UTF8.self)
}

/// Reads a whole file and its status; throws `EFBIG` if the file is longer than `maximumBytes`.
package func readFileAndStat(_ path: String, maximumBytes: Int = 1 << 20) throws(SystemError)
  -> (contents: [UInt8], status: FileStatus)
{
  let descriptor = retryingOnInterrupt { unsafe navd_open(path, O_RDONLY | O_CLOEXEC, 0) }
  guard descriptor >= 0 else { throw .last("open", path) }
  defer { close(descriptor) }
  var status = stat()
  guard unsafe fstat(descriptor, &status) == 0 else { throw .last("examine", path) }
  var contents: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 16384)
  while true {
    let count = retryingOnInterrupt {
      unsafe chunk.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
    }
    guard count >= 0 else { throw .last("read", path) }
    if count == 0 { return (contents, FileStatus(status)) }
    guard contents.count + count <= maximumBytes else {
      throw SystemError("read", path, code: EFBIG)
    }
    contents.append(contentsOf: chunk[..<count])
  }
}

/// Replaces a file; after a crash the file has either the old or the new contents.
///
/// The function writes a new file in the same directory, syncs it, renames it, and syncs the
/// directory. If `isSynced` is false, a crash of the machine can leave a damaged file.
package func writeFileAtomically(
  _ path: String, _ bytes: [UInt8], mode: UInt32 = 0o600, isSynced: Bool = true
) throws(SystemError) {
  let temporary = path + ".new-\(getpid())"
  // Removes the file of an earlier process with the same id that crashed here.
  unsafe unlink(temporary)
  try writeNewFile(temporary, bytes, mode: mode, skipsUmask: true, isSynced: isSynced)
  guard unsafe rename(temporary, path) == 0 else {
    let error = SystemError.last("replace", path)
    unsafe unlink(temporary)
    throw error
  }
  if isSynced { try syncDirectory(parentDirectory(of: path)) }
}

/// Makes changes to the names in a directory durable, by fsync(2).
package func syncDirectory(_ path: String) throws(SystemError) {
  let descriptor = retryingOnInterrupt {
    unsafe navd_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
  }
  guard descriptor >= 0 else { throw .last("open", path) }
  defer { close(descriptor) }
  guard fsync(descriptor) == 0 else { throw .last("sync", path) }
}

/// Writes all bytes to an open file; errors name the file by `path`.
package func writeAll(_ bytes: [UInt8], to descriptor: Int32, path: String) throws(SystemError) {
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

/// Creates a file, and makes it and its name durable; throws `EEXIST` if the path exists.
package func createFile(_ path: String, _ bytes: [UInt8], mode: UInt32) throws(SystemError) {
  try writeNewFile(path, bytes, mode: mode, skipsUmask: false)
  try syncDirectory(parentDirectory(of: path))
}

/// Creates a file and syncs it if `isSynced`; if `skipsUmask`, sets exactly `mode` by fchmod(2).
private func writeNewFile(
  _ path: String, _ bytes: [UInt8], mode: UInt32, skipsUmask: Bool, isSynced: Bool = true
) throws(SystemError) {
  let descriptor = retryingOnInterrupt {
    unsafe navd_open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
  }
  guard descriptor >= 0 else { throw .last("create", path) }
  do throws(SystemError) {
    defer { close(descriptor) }
    try writeAll(bytes, to: descriptor, path: path)
    guard !skipsUmask || fchmod(descriptor, mode) == 0 else { throw .last("set the mode of", path) }
    guard !isSynced || fsync(descriptor) == 0 else { throw .last("sync", path) }
  } catch {
    unsafe unlink(path)
    throw error
  }
}

/// Removes a file; returns false if it did not exist.
package func removeFile(_ path: String) throws(SystemError) -> Bool {
  if unsafe unlink(path) == 0 { return true }
  guard navd_errno() == ENOENT else { throw .last("remove", path) }
  return false
}
