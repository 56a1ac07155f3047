import CLinux

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
