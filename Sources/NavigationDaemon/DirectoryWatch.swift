import CLinux
import Glibc

/// Watches directories by inotify(7).
///
/// After any event, the daemon looks at everything that it watches. The kernel limits the inotify
/// instances of a user (`fs.inotify.max_user_instances`). Without an instance, navd serves too, and
/// the descriptor is never readable.
final class DirectoryWatch: Sendable {
  /// The file descriptor, which is readable after a change in a watched directory.
  let descriptor: Int32
  /// Whether the kernel gave no inotify instance, so that navd notices no change.
  let isBlind: Bool

  init() {
    let instance = navd_inotify()
    isBlind = instance < 0
    descriptor = isBlind ? eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC)) : instance
    precondition(descriptor >= 0, "eventfd: errno=\(navd_errno())")
  }

  deinit { _ = CLinux.close(descriptor) }

  /// Watches a directory too; returns false if there is none.
  @discardableResult
  func add(_ directory: String) -> Bool {
    if isBlind { return true }
    return unsafe navd_watch_directory(descriptor, directory) >= 0
  }

  func drain() {
    var bytes = [UInt8](repeating: 0, count: 4096)
    while unsafe bytes.withUnsafeMutableBytes({
      unsafe read(descriptor, $0.baseAddress, $0.count)
    }) > 0 {}
  }
}
