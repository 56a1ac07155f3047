import CLinux
import Journal
import RuntimePaths
import Systemd

/// Opens the journal at the start, and waits for the lease of a database if another daemon has it.
struct JournalOpening {
  let place: any JournalPlace
  let retention: Retention
  let holder: String
  let log: Log

  /// How often a waiting daemon asks for the lease, in milliseconds.
  ///
  /// A daemon that stops gives its lease back, so this is what a planned move takes.
  private static let interval: Int32 = 100

  /// Opens the journal.
  ///
  /// - Parameter signals: the descriptor of the signals to stop and to reload.
  /// - Returns: the journal; nil if a signal to stop came while this daemon waited for the lease.
  /// - Throws: the error of the journal. An unreachable database is one only before the wait.
  func open(stoppedBy signals: Int32) throws(DaemonError) -> Journal? {
    var holderNow = ""
    var isUnreachable = false
    while true {
      do throws(JournalError) {
        return try place.open(retention: retention, holder: holder)
      } catch {
        switch error {
        case .locked(_, let by) where place.directory == nil:
          if by != holderNow || isUnreachable { wait("\(by) serves \(error.path)") }
          (holderNow, isUnreachable) = (by, false)
        case .unreadable where !holderNow.isEmpty:
          // The server may be on its way to another machine.
          if !isUnreachable { log(LogEntry(.warning, "waiting: \(error)")) }
          isUnreachable = true
        default: throw .journal(error)
        }
      }
      if isStopped(by: signals) { return nil }
    }
  }

  /// Reports that this daemon waits; it is ready for its work, which is to take over.
  private func wait(_ reason: String) {
    let text = "waiting to take over: \(reason)"
    log(LogEntry(.notice, text))
    // An error is ignored: nothing depends on what the service manager shows.
    try? ServiceManager.notify(.ready, .status(text))
  }

  /// Waits until the next attempt; returns whether a signal to stop came.
  private func isStopped(by signals: Int32) -> Bool {
    var entry = pollfd(fd: signals, events: Int16(POLLIN), revents: 0)
    _ = unsafe poll(&entry, 1, Self.interval)
    // It is ready, so its watchdog runs.
    try? ServiceManager.notify(.watchdog)
    while true {
      let signal = navd_next_signal(signals)
      if signal == 0 { return false }
      // There is nothing to reload yet: the configuration counts from the take-over on.
      if signal != SIGHUP { return true }
    }
  }
}
