import CLinux

/// The identity of a file: device and inode number.
struct FileIdentity: Hashable {
  private var device: UInt64 = 0
  private var number: UInt64 = 0

  /// Reads the identity of the file at a path; nil if there is none.
  init?(of path: String) {
    guard unsafe navd_file_identity(path, &device, &number) == 0 else { return nil }
  }
}

/// Watches the directories of navd's sockets by inotify(7).
struct PlaceWatch {
  /// Readable after a change.
  let descriptor: Int32

  /// Makes a watch without directories.
  init() {
    descriptor = navd_inotify()
    precondition(descriptor >= 0, "inotify: errno=\(navd_errno())")
  }

  /// Watches the directories of these files.
  func start(_ paths: [String]) {
    for path in paths {
      guard let slash = path.lastIndex(of: "/") else { continue }
      _ = unsafe navd_watch_directory(descriptor, String(path[...slash]))
    }
  }

  /// Discards pending events.
  func renew() {
    var bytes = [UInt8](repeating: 0, count: 4096)
    while unsafe bytes.withUnsafeMutableBytes({
      unsafe read(descriptor, $0.baseAddress, $0.count)
    }) > 0 {}
  }
}

extension ServerLoop {
  /// Restores the paths of navd's sockets, if another process has replaced or removed the files.
  ///
  /// libzmq in another process does that when it binds the same path: it removes the existing file.
  /// Existing connections continue, but new clients would connect to the other process.
  func reclaimPlaces() {
    placeWatch.renew()
    for socket in listener.sockets where socket.isDisplaced {
      let endpoint = socket.endpoint
      do {
        try socket.takeNameBack()
        let text = "another process replaced \(endpoint); navd has restored it"
        log(LogEntry(.error, text, kind: .refused))
      } catch {
        let text = "cannot restore \(endpoint), which another process replaced: \(error)"
        log(LogEntry(.error, text, kind: .refused))
      }
    }
  }
}
