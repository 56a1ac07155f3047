import CLinux
import Glibc
import RuntimePaths

/// Shows the progress of a piece of work on stderr, in the form that `ProgressDisplay` decides.
package struct ProgressLine {
  private var display: ProgressDisplay

  package init(_ subject: ProgressSubject, as form: ProgressDisplay.Form) {
    display = ProgressDisplay(subject, as: form, at: SystemClock.monotonicMilliseconds())
  }

  /// Records how much is done, and shows it unless the last text is too recent.
  package mutating func show(_ done: UInt64, of total: UInt64) {
    guard display.form != .none else { return }
    write(
      display.update(
        done, of: total, at: SystemClock.monotonicMilliseconds(), columns: Self.columns))
  }

  /// Records that everything is done, if any progress was shown.
  package mutating func complete() {
    let total = display.estimate.total
    guard display.isShown else { return }
    write(display.update(total, of: total, at: SystemClock.monotonicMilliseconds()))
  }

  /// Erases the line of a terminal, or writes the last line of JSON.
  package mutating func end() { write(display.end()) }

  /// Erases the line of a terminal, so that other text can be written; the next report shows it again.
  package func pause() { if display.form == .line { write(display.isShown ? "\r\u{1B}[K" : nil) } }

  package var isShown: Bool { display.form != .none }

  package static var isTerminal: Bool { isatty(2) == 1 }

  private static var columns: Int {
    var size = winsize()
    let result = unsafe ioctl(2, UInt(TIOCGWINSZ), &size)
    return result == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
  }

  private func write(_ text: String?) { if let text { writeText(text) } }
}
