import CLinux
package import Journal
import NavigationCore
import NavigationHub
package import RuntimePaths
package import ZeroMQ

/// The reason why the daemon cannot start or continue, with its exit status.
package enum DaemonError: Error, CustomStringConvertible {
  case configuration(ConfigurationError)
  case path(PathError)
  /// The journal cannot be opened, read or written.
  case journal(JournalError)
  /// The rows of the journal cannot be replayed.
  case replay(String)
  /// A backup cannot be restored; the reason and the exit status.
  case notRestored(String, ExitStatus)
  /// The daemon cannot listen on an address.
  case endpoint(String, reason: String)
  case transport(ZeroMQError)
  case system(SystemError)

  /// The error in one line: the operation, its object and a remedy.
  package var description: String {
    switch self {
    case .configuration(let error): error.description
    case .path(let error): error.description
    case .journal(let error): error.description
    case .replay(let what):
      "the journal cannot be replayed: \(what); restore a backup, or move the state directory away "
        + "to start empty"
    case .notRestored(let text, _): text
    case .endpoint(let endpoint, let reason): "cannot listen on \(endpoint): \(reason)"
    case .transport(let error): error.description
    case .system(let error): error.description
    }
  }

  var exitStatus: ExitStatus {
    switch self {
    case .configuration(let error): error.exitStatus
    case .journal(let error):
      switch error {
      case .locked: .journalLocked
      case .damaged: .journalDamaged
      case .newer, .older: .journalFormat
      case .unreadable, .readFailed, .unwritable, .readOnly, .unusable, .full, .writeFailed:
        .journalUnavailable
      case .syncFailed: .syncFailed
      case .fenced: .fenced
      }
    case .replay: .journalDamaged
    case .notRestored(_, let status): status
    case .endpoint, .transport: .endpoint
    case .path(let error):
      switch error {
      case .noStateDirectory: .journalUnavailable
      case .notPrivate, .socketPathTooLong, .noEndpoint, .system: .endpoint
      }
    case .system: .journalUnavailable
    }
  }
}

/// The end of the process by an error: the text for the log and the exit status.
struct DaemonFailure: Sendable {
  /// The error in one line: the operation, its object and a remedy.
  let text: String
  let status: ExitStatus

  /// The message id of the log entry; nil for none.
  var kind: LogEntry.Kind? {
    switch status {
    case .journalLocked, .journalDamaged, .journalFormat, .journalUnavailable, .syncFailed, .fenced:
      .journalFailed
    case .orderly, .due, .usage, .configuration, .endpoint: nil
    }
  }

  init(_ error: any Error) {
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
  package func exitProcess() -> Never { exit(rawValue) }
}

/// The exit statuses of navd; navd.service and scripts depend on them.
package enum ExitStatus: Int32, CaseIterable, Error, Sendable {
  /// An orderly stop.
  case orderly = 0
  /// A dry run found something to do; nothing is wrong.
  case due = 1
  /// The command line is wrong.
  case usage = 2
  /// The configuration has a fault.
  case configuration = 3
  /// Another process holds the journal.
  case journalLocked = 4
  /// The journal is damaged.
  case journalDamaged = 5
  /// The journal has a format of another version.
  case journalFormat = 6
  /// The journal cannot be read or written: full disk, permissions.
  case journalUnavailable = 7
  /// navd cannot listen on an address.
  case endpoint = 8
  /// A sync failed while serving.
  case syncFailed = 9
  /// Another navd has taken the database over while this one served it.
  case fenced = 10
}
