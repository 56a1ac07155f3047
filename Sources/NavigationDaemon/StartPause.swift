import CLinux
import RuntimePaths

/// Keeps a start that fails from being repeated without end.
///
/// The service manager starts navd again at once, so that clients hardly notice a crash. A start
/// whose predecessor never became ready waits for a tenth of a second. What tells is a file in the
/// runtime directory, there from the beginning of a start until it is ready.
struct StartPause {
  private static let milliseconds: UInt64 = 100
  private let path: String?

  /// Makes a value for a runtime directory; without one, as on a command line, nothing waits.
  init(runtimeDirectory: String?) {
    path = runtimeDirectory.map { $0 + "/navd.starting" }
  }

  /// Notes that a start has begun; returns whether the one before never became ready.
  func begin() -> Bool {
    guard let path else { return false }
    do throws(SystemError) {
      try createFile(path, [], mode: 0o600)
      return false
    } catch {
      // One that cannot be written counts as there; nobody promised us the directory itself.
      return error.code != ENOENT
    }
  }

  /// Waits for as long as a failed start is not to be repeated.
  func wait() { usleep(useconds_t(Self.milliseconds * 1000)) }

  /// Notes that the start was ready, or that there is no other one to come.
  func end() {
    // Should it stay, the next start is a tenth of a second later.
    if let path { _ = unsafe unlink(path) }
  }
}
