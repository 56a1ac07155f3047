import CLinux
import Journal
import NavigationCore
import NavigationHub
import RuntimePaths
import ZeroMQ

/// A reason of the daemon's own why it cannot start; `DaemonFailure` knows those of other modules.
package enum DaemonError: Error, CustomStringConvertible {
  /// A backup cannot be restored; the reason and the exit status.
  case notRestored(String, ExitStatus)
  case endpoint(String, reason: String)

  /// The error in one line: the operation, its object and a remedy.
  package var description: String {
    switch self {
    case .notRestored(let text, _): text
    case .endpoint(let endpoint, let reason): "cannot listen on \(endpoint): \(reason)"
    }
  }

  var exitStatus: ExitStatus {
    switch self {
    case .notRestored(_, let status): status
    case .endpoint: .endpoint
    }
  }
}

extension JournalError {
  fileprivate var exitStatus: ExitStatus {
    switch self {
    case .locked: .journalLocked
    case .damaged, .notReplayed: .journalDamaged
    case .newer, .older: .journalFormat
    case .unreadable, .readFailed, .unwritable, .readOnly, .unusable, .full, .writeFailed:
      .journalUnavailable
    case .syncFailed: .syncFailed
    case .fenced: .fenced
    }
  }
}

extension PathError {
  fileprivate var exitStatus: ExitStatus {
    switch self {
    case .noStateDirectory: .journalUnavailable
    case .notPrivate, .socketPathTooLong, .noEndpoint, .system: .endpoint
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
    switch error {
    case let error as DaemonError: (text, status) = (error.description, error.exitStatus)
    case let error as ConfigurationError: (text, status) = (error.description, error.exitStatus)
    case let error as JournalError: (text, status) = (error.description, error.exitStatus)
    case let error as HubReplayError:
      let error = JournalError(error, in: "")
      (text, status) = (error.description, error.exitStatus)
    case let error as ZeroMQError: (text, status) = (error.description, .endpoint)
    case let error as PathError: (text, status) = (error.description, error.exitStatus)
    case let error as SystemError: (text, status) = (error.description, .journalUnavailable)
    default: (text, status) = ("unexpected: \(error)", .journalUnavailable)
    }
  }
}

extension ExitStatus {
  package func exitProcess() -> Never { exit(rawValue) }
}

/// The exit statuses of navd; navd.service and scripts depend on them.
package enum ExitStatus: Int32, CaseIterable, Error, Sendable {
  case orderly = 0
  /// A dry run found something to do; nothing is wrong.
  case due = 1
  case usage = 2
  case configuration = 3
  case journalLocked = 4
  case journalDamaged = 5
  /// The journal has a format of another version.
  case journalFormat = 6
  /// The journal cannot be read or written: full disk, permissions.
  case journalUnavailable = 7
  case endpoint = 8
  /// A sync failed while serving.
  case syncFailed = 9
  /// Another navd has taken the database over while this one served it.
  case fenced = 10
}
