import CLinux
import CommandLineOptions
import RuntimePaths
import Systemd

/// Shows the progress of a start, on a terminal and in the status of the service, and ends the process
/// if it is asked to stop meanwhile.
struct StartProgress {
  /// The milliseconds after which a start shows a line on a terminal.
  private static let lineDelay: UInt64 = 100

  private let form: ProgressDisplay.Form
  private let log: Log
  private let startTime = SystemClock.monotonicMilliseconds()
  private var line: ProgressLine
  private var status = WorkStatus()

  init(as form: ProgressDisplay.Form, log: Log) {
    (self.form, self.log) = (form, log)
    line = ProgressLine(.journalReplay, as: form)
  }

  mutating func show(_ done: UInt64, of total: UInt64) {
    let now = SystemClock.monotonicMilliseconds()
    if form == .json || now >= startTime + Self.lineDelay { line.show(done, of: total) }
    if let text = status.note(.journalReplay, done, of: total, at: now), now > startTime {
      Daemon.extendTimeout(text)
    }
    guard navd_pending_stop() != 0 else { return }
    line.end()
    // A replay writes nothing.
    log(.notice, "stopped while it replayed the journal, which is as it was", kind: .stopped)
    log.flush()
    ExitStatus.orderly.exitProcess()
  }

  mutating func end(isComplete: Bool) {
    if isComplete { line.complete() }
    line.end()
  }
}
