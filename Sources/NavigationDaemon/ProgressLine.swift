import CLinux
import RuntimePaths

/// Says on stderr how far something has come: on a terminal in one line that is written over, else
/// in one line a step.
struct ProgressLine {
  private let isTerminal = isatty(2) == 1
  private var step = ""
  private var shownAt: UInt64 = 0

  /// Milliseconds between two states of the line.
  private static let interval: UInt64 = 100

  /// Shows that a step is done in part.
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

  /// Leaves the terminal as it was.
  mutating func clear() {
    if isTerminal, !step.isEmpty { write("\r\u{1B}[K") }
    step = ""
  }

  private func write(_ text: String) {
    let bytes = Array(text.utf8)
    // Where there is no stderr there is nobody to tell.
    _ = unsafe bytes.withUnsafeBytes { unsafe CLinux.write(2, $0.baseAddress, $0.count) }
  }
}
