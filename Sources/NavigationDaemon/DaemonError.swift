import CLinux
import Journal
import NavigationCore
import NavigationHub
import RuntimePaths
import Systemd
import ZeroMQ

/// The end of the process by an error: the text for the log and the exit status.
package struct DaemonError: Error, CustomStringConvertible {
  /// The error in one line: the operation, its object and a remedy.
  package let description: String
  let exitStatus: ExitStatus

  package init(_ description: String, _ exitStatus: ExitStatus) {
    (self.description, self.exitStatus) = (description, exitStatus)
  }

  static func endpoint(_ endpoint: String, reason: String) -> DaemonError {
    DaemonError("cannot listen on \(endpoint): \(reason)", .endpoint)
  }

  /// The error of a Unix socket on which navd cannot listen.
  static func socket(_ path: String, _ reason: String) -> DaemonError {
    .endpoint("ipc://" + path, reason: reason)
  }

  /// Converts an error of any module that the daemon uses.
  init(_ error: any Error) {
    switch error {
    case let error as DaemonError: self = error
    case let error as ConfigurationError: self.init(error.description, error.exitStatus)
    case let error as JournalError: self.init(error.description, error.exitStatus)
    case let error as HubReplayError: self.init(JournalError(error, in: ""))
    case let error as PassedSocketError:
      self = .endpoint("the service manager's socket", reason: error.description)
    case let error as ZeroMQError: self.init(error.description, .endpoint)
    case let error as PathError: self.init(error.description, error.exitStatus)
    case let error as SystemError: self.init(error.description, .journalUnavailable)
    default: self.init("unexpected: \(error)", .journalUnavailable)
    }
  }

  /// The message id of the log entry; nil for none.
  var kind: LogEntry.Kind? {
    switch exitStatus {
    case .journalLocked, .journalDamaged, .journalFormat, .journalUnavailable, .syncFailed, .fenced:
      .journalFailed
    case .orderly, .migrationDue, .usage, .configuration, .endpoint: nil
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

/// The exit statuses of navd; navd.service and scripts depend on them.
package enum ExitStatus: Int32, CaseIterable, Error, Sendable {
  case orderly = 0
  /// The dry run of a migration found that a start would change the journal's format.
  case migrationDue = 1
  case usage = 2
  case configuration = 3
  case journalLocked = 4
  case journalDamaged = 5
  case journalFormat = 6
  /// The journal cannot be read or written: full disk, permissions.
  case journalUnavailable = 7
  case endpoint = 8
  case syncFailed = 9
  /// Another navd has taken the database over while this one served it.
  case fenced = 10

  package func exitProcess() -> Never { exit(rawValue) }
}
