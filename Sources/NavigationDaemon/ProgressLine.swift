import CLinux
import RuntimePaths

/// Shows the progress of a command on stderr: on a terminal in one line with a percentage,
/// elsewhere with one line for each step.
struct ProgressLine {
  private let isTerminal = isatty(2) == 1
  private var step = ""
  private var shownAt: UInt64 = 0

  /// The minimum time between two updates of the line, in milliseconds.
  private static let interval: UInt64 = 100

  /// Shows the progress of a step.
  mutating func show(_ step: String, _ done: Int, of total: Int) {
    let isNew = step != self.step
    self.step = step
    guard isTerminal else {
      if isNew { write("navd: \(step)\n") }
      return
    }
    let now = SystemClock.monotonicMilliseconds()
    guard isNew || now >= shownAt + Self.interval else { return }
    shownAt = now
    let percent = total > 0 ? min(100, Int(Double(done) / Double(total) * 100)) : 0
    write("\rnavd: \(step) \(percent) %\u{1B}[K")
  }

  /// Clears the line.
  mutating func clear() {
    if isTerminal, !step.isEmpty { write("\r\u{1B}[K") }
    step = ""
  }

  private func write(_ text: String) {
    let bytes = Array(text.utf8)
    // Errors are ignored: progress on a closed stderr has no reader.
    _ = unsafe bytes.withUnsafeBytes { unsafe CLinux.write(2, $0.baseAddress, $0.count) }
  }
}
