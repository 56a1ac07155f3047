package import Journal
package import RuntimePaths
package import ZeroMQ

/// Why the daemon cannot start or go on, with the status it ends with.
package enum DaemonError: Error, CustomStringConvertible {
  /// The configuration is refused.
  case configuration(ConfigurationError)
  /// A path cannot be used.
  case path(PathError)
  /// The journal cannot be used.
  case journal(JournalError)
  /// The journal's content cannot be repeated.
  case replay(String)
  /// A file cannot be restored; why, and the status.
  case notRestored(String, ExitStatus)
  /// The endpoint cannot be bound.
  case endpoint(String, reason: String)
  /// A call of libzmq failed.
  case transport(ZeroMQError)
  /// A call of the system failed.
  case system(SystemError)

  /// One line for people: what failed, on what, and what to do.
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

  /// The status that the process ends with.
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
