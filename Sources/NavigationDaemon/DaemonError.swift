package import Journal
package import RuntimePaths
package import ZeroMQ

/// The reason why the daemon cannot start or continue, with its exit status.
package enum DaemonError: Error, CustomStringConvertible {
  /// The configuration has a fault.
  case configuration(ConfigurationError)
  /// A path cannot be used.
  case path(PathError)
  /// The journal cannot be opened, read or written.
  case journal(JournalError)
  /// The rows of the journal cannot be replayed.
  case replay(String)
  /// A backup cannot be restored; the reason and the exit status.
  case notRestored(String, ExitStatus)
  /// The daemon cannot listen on an address.
  case endpoint(String, reason: String)
  /// A call of libzmq failed.
  case transport(ZeroMQError)
  /// A call of the system failed.
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

  /// The exit status of the process.
  package var exitStatus: ExitStatus {
    switch self {
    case .configuration: .configuration
    case .journal(let error):
      switch error {
      case .locked: .journalLocked
      case .damaged: .journalDamaged
      case .newer: .journalNewer
      case .unreadable, .unwritable, .full, .writeFailed: .journalUnavailable
      case .syncFailed: .syncFailed
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
