import CLinux
import Journal
import NavigationSync
import RuntimePaths
import ZeroMQ

/// Why the process ends: one line for people, and the status.
package struct DaemonFailure: Sendable {
  /// What failed, on what, and what to do.
  package let text: String
  /// The status to end with.
  package let status: ExitStatus

  /// The kind of message that tells it; nil for one without an explanation.
  package var kind: LogEntry.Kind? {
    switch status {
    case .journalLocked, .journalDamaged, .journalNewer, .journalUnavailable, .syncFailed:
      .journalFailed
    case .orderly, .usage, .configuration, .endpoint: nil
    }
  }

  /// Reads any error of the daemon's parts.
  package init(_ error: any Error) {
    let known: DaemonError
    switch error {
    case let error as DaemonError: known = error
    case let error as ConfigurationError: known = .configuration(error)
    case let error as JournalError: known = .journal(error)
    case let error as HubReplayError: known = .replay("row \(error.sequence): \(error.what)")
    case let error as ZeroMQError: known = .transport(error)
    case let error as PathError: known = .path(error)
    case let error as SystemError: known = .system(error)
    default:
      text = "unexpected: \(error)"
      status = .journalUnavailable
      return
    }
    text = known.description
    status = known.exitStatus
  }
}

extension ExitStatus {
  /// Ends the process.
  package func exitProcess() -> Never { exit(rawValue) }
}
