import CLinux
import TransportGuard

/// All listening sockets, with a watch over the directories of those that have a path.
struct ListeningSockets {
  /// Readable when another file may be where clients look for ours.
  let descriptor: Int32
  private let sockets: [ListeningSocket]

  /// Takes sockets that listen, and begins to watch.
  init(_ sockets: [ListeningSocket]) {
    self.sockets = sockets
    descriptor = navd_inotify()
    precondition(descriptor >= 0, "inotify: errno=\(navd_errno())")
    for path in sockets.compactMap(\.path) {
      guard let slash = path.lastIndex(of: "/") else { continue }
      _ = unsafe navd_watch_directory(descriptor, String(path[...slash]))
    }
  }

  /// What libzmq is lent.
  var lent: [LentSocket] { sockets.map(\.lent) }

  /// Opens the files to the users of the configuration; until then only our own user can connect.
  func admit(_ configuration: Configuration) throws(DaemonError) {
    for socket in sockets { try socket.lock?.open(configuration.daemon) }
  }

  /// Removes the socket files, so that clients see at once that nobody listens.
  func removeFiles() {
    for socket in sockets { socket.lock?.removeSocket() }
  }

  /// Restores the files of our sockets that another process has replaced.
  ///
  /// A process that binds a path removes the file there without an error for navd. Connections go
  /// on, but new clients would reach the other process, or none.
  ///
  /// - Returns: the entries for the log.
  func reclaim() -> [LogEntry] {
    forgetChanges()
    return sockets.filter(\.isDisplaced).map { socket in
      do {
        try socket.takeNameBack()
        let text = "another process replaced \(socket.endpoint); navd has restored it"
        return LogEntry(.error, text, kind: .refused)
      } catch {
        let text = "cannot restore \(socket.endpoint), which another process replaced: \(error)"
        return LogEntry(.error, text, kind: .refused)
      }
    }
  }

  private func forgetChanges() {
    var bytes = [UInt8](repeating: 0, count: 4096)
    while unsafe bytes.withUnsafeMutableBytes({
      unsafe read(descriptor, $0.baseAddress, $0.count)
    }) > 0 {}
  }
}
