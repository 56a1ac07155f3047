import CLinux
import RuntimePaths

/// Delays a start after a failed one by 0.1 s, so that repeated failures do not load the machine.
///
/// systemd restarts navd without a pause, so that a crash interrupts clients as briefly as
/// possible. A file in the runtime directory exists from the beginning of a start until it is
/// ready. If a start finds the file, the one before never became ready, and this start waits.
struct StartPause {
  private static let milliseconds: UInt64 = 100
  private let path: String?

  /// Makes a pause for a runtime directory; with nil, as for a start by hand, it never waits.
  init(runtimeDirectory: String?) {
    path = runtimeDirectory.map { $0 + "/navd.starting" }
  }

  /// Creates the file at the beginning of a start; returns whether to wait, because it existed
  /// already.
  func begin() -> Bool {
    guard let path else { return false }
    do throws(SystemError) {
      try createFile(path, [], mode: 0o600)
      return false
    } catch {
      // If the file cannot be created, the start waits, except if the directory does not exist.
      return error.code != ENOENT
    }
  }

  /// Waits for 0.1 s.
  func wait() { usleep(useconds_t(Self.milliseconds * 1000)) }

  /// Removes the file, because this start is ready; the next start then does not wait.
  func end() {
    // If the removal fails, the next start only waits 0.1 s without need.
    if let path { _ = unsafe unlink(path) }
  }
}
