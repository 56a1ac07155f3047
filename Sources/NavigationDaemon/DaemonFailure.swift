import CLinux
import Journal
import NavigationHub
import RuntimePaths
import ZeroMQ

/// The end of the process by an error: the text for the log and the exit status.
package struct DaemonFailure: Sendable {
  /// The error in one line: the operation, its object and a remedy.
  package let text: String
  /// The exit status.
  package let status: ExitStatus

  /// The message id of the log entry; nil for none.
  package var kind: LogEntry.Kind? {
    switch status {
    case .journalLocked, .journalDamaged, .journalNewer, .journalUnavailable, .syncFailed:
      .journalFailed
    case .orderly, .usage, .configuration, .endpoint: nil
    }
  }

  /// Makes a failure from any error of the daemon.
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
  /// Ends the process with the exit status.
  package func exitProcess() -> Never { exit(rawValue) }
}
