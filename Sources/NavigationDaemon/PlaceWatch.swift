import CLinux

/// What tells one file from any other, whatever its name.
struct FileIdentity: Hashable {
  private var device: UInt64 = 0
  private var number: UInt64 = 0

  /// Asks what is at a path; nil if nothing is.
  init?(of path: String) {
    guard unsafe navd_file_identity(path, &device, &number) == 0 else { return nil }
  }
}

/// Tells when something in the directories of our sockets may have changed.
struct PlaceWatch {
  /// Readable after a change.
  let descriptor: Int32

  /// Makes a watch of nothing.
  init() {
    descriptor = navd_inotify()
    precondition(descriptor >= 0, "inotify: errno=\(navd_errno())")
  }

  /// Begins to watch where these files are.
  func start(_ paths: [String]) {
    for path in paths {
      guard let slash = path.lastIndex(of: "/") else { continue }
      _ = unsafe navd_watch_directory(descriptor, String(path[...slash]))
    }
  }

  /// Forgets what was told.
  func renew() {
    var bytes = [UInt8](repeating: 0, count: 4096)
    while unsafe bytes.withUnsafeMutableBytes({
      unsafe read(descriptor, $0.baseAddress, $0.count)
    }) > 0 {}
  }
}

extension ServerLoop {
  /// Puts our sockets where clients look for them, if another process has put a file in their place.
  ///
  /// A library may do so without a word: whoever binds a path removes what is there. Connections go
  /// on; but who comes would find somebody else, or nobody.
  func reclaimPlaces() {
    placeWatch.renew()
    for socket in listener.sockets where socket.isDisplaced {
      let endpoint = socket.endpoint
      do {
        try socket.takeNameBack()
        let text = "\(endpoint) was taken away by another process, and is taken back"
        log(LogEntry(.error, text, kind: .refused))
      } catch {
        log(LogEntry(.error, "\(endpoint) was taken away, and stays so: \(error)", kind: .refused))
      }
    }
  }
}
