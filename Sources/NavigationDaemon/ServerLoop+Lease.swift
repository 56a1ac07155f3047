import CLinux
import Journal
import NavigationCore
import NavigationHub
import Systemd

// The lease of a journal that another daemon could take over. Each commit renews it, and `maintain`
// renews it in quiet times. After its end this daemon receives and answers nothing, because another
// one may have changed what a client would read here.

extension ServerLoop {
  /// Waits a moment if the lease has ended, and has it renewed; returns whether it holds.
  ///
  /// It throws `.fenced` if another daemon has taken over, and `.unreadable` if a signal to stop
  /// came.
  mutating func awaitLease(signals: Int32, _ watchdog: inout Watchdog) throws -> Bool {
    let now = Instant.now()
    guard let lease = writer.lease, lease.end <= now.boot else { return true }
    if batches.areDurable, !writer.isBusy { writer.startCheckpoint() }
    var entry = pollfd(fd: signals, events: Int16(POLLIN), revents: 0)
    _ = unsafe poll(&entry, 1, 20)
    try takeProgress(at: now)
    if watchdog.isDue(at: now.boot) { notify(.watchdog) }
    if try takeSignals(signals) {
      throw JournalError.unreadable(
        path: writer.journal.name, reason: "stopped while the server did not answer")
    }
    return false
  }
}
