import CLinux

/// Watches the directory of keys by inotify(7).
///
/// The events are not evaluated: after any event, the daemon reads the whole directory again.
struct KeyWatch {
  /// Readable after a change.
  let descriptor: Int32
  private var path = ""

  /// Makes a watch without a directory.
  init() {
    descriptor = navd_inotify()
    precondition(descriptor >= 0, "inotify: errno=\(navd_errno())")
  }

  /// Watches a directory, or its nearest existing parent.
  mutating func start(_ path: String) {
    self.path = path
    renew()
  }

  /// Discards pending events, and watches the directory that exists now.
  mutating func renew() {
    var bytes = [UInt8](repeating: 0, count: 4096)
    while unsafe bytes.withUnsafeMutableBytes({
      unsafe read(descriptor, $0.baseAddress, $0.count)
    }) > 0 {}
    var watched = path
    // A missing directory will be created in its parent; the root directory always exists.
    while unsafe navd_watch_directory(descriptor, watched) < 0, watched.count > 1 {
      guard let slash = watched.lastIndex(of: "/") else { return }
      watched = slash == watched.startIndex ? "/" : String(watched[..<slash])
    }
  }
}
