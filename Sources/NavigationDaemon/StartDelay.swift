import CLinux
import NavigationCore

/// Delays a start after failed ones, so that repeated failures do not load the machine.
///
/// systemd restarts navd after a short pause, so that a crash interrupts clients as briefly as
/// possible. A file in the runtime directory has a byte for each start since the last that became
/// ready.
struct StartDelay {
  private static let delays: ClosedRange<UInt64> = 100...5000
  private let path: String?

  /// Makes a pause for a runtime directory; with nil, as for a start by hand, it never waits.
  init(runtimeDirectory: String?) {
    path = runtimeDirectory.map { $0 + "/navd.starting" }
  }

  /// Notes the beginning of a start; returns the milliseconds to wait, more after each failed start.
  func noteStart() -> Int {
    guard let path else { return 0 }
    let file = unsafe navd_open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0o600)
    // If the file cannot be written, the start waits, except if the directory does not exist.
    guard file >= 0 else { return navd_errno() == ENOENT ? 0 : Int(Self.delays.lowerBound) }
    defer { close(file) }
    let failures = lseek(file, 0, SEEK_END)
    guard unsafe write(file, "x", 1) == 1 else { return Int(Self.delays.upperBound) }
    return Self.milliseconds(after: failures)
  }

  /// The pause after a number of failures: 0.1 s after the first, and each further one doubles it.
  static func milliseconds(after failures: Int) -> Int {
    failures == 0 ? 0 : Int(delays.pause(after: failures - 1))
  }

  /// Waits until the pause is over or a signal arrives; returns whether that asks to stop.
  func isStopped(within milliseconds: Int, signals: Int32) -> Bool {
    var entry = pollfd(fd: signals, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&entry, 1, Int32(milliseconds)) > 0 else { return false }
    let signal = navd_next_signal(signals)
    return signal != 0 && signal != SIGHUP
  }

  /// Removes the file, when a start is ready or must stop, so that the next start does not wait.
  func forgetFailures() {
    // If the removal fails, the next start only waits without need.
    if let path { _ = unsafe unlink(path) }
  }
}
