import CLinux

/// Tells when something in the directory of keys, or in the one above it, may have changed.
///
/// Nothing is read of what the kernel tells: the directory is read once more.
struct KeyWatch {
  /// Readable after a change.
  let descriptor: Int32
  private var path = ""

  /// Makes a watch of nothing.
  init() {
    descriptor = navd_inotify()
    precondition(descriptor >= 0, "inotify: errno=\(navd_errno())")
  }

  /// Begins to watch a directory, or the nearest one above it that is there.
  mutating func start(_ path: String) {
    self.path = path
    renew()
  }

  /// Forgets what was told, and watches the directory that is there now.
  mutating func renew() {
    var bytes = [UInt8](repeating: 0, count: 4096)
    while unsafe bytes.withUnsafeMutableBytes({
      unsafe read(descriptor, $0.baseAddress, $0.count)
    }) > 0 {}
    var watched = path
    // One that is not there yet is made in the one above; root is always there.
    while unsafe navd_watch_directory(descriptor, watched) < 0, watched.count > 1 {
      guard let slash = watched.lastIndex(of: "/") else { return }
      watched = slash == watched.startIndex ? "/" : String(watched[..<slash])
    }
  }
}
