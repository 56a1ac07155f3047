/// How navd ends, as its exit status says; the unit and scripts decide by it.
package enum ExitStatus: Int32, CaseIterable, Error, Sendable {
  /// An orderly stop.
  case orderly = 0
  /// The command line is wrong.
  case usage = 2
  /// The configuration was refused.
  case configuration = 3
  /// Another process holds the journal.
  case journalLocked = 4
  /// The journal is damaged.
  case journalDamaged = 5
  /// The journal was written by a newer version.
  case journalNewer = 6
  /// The journal cannot be read or written: full disk, permissions.
  case journalUnavailable = 7
  /// The endpoint cannot be bound.
  case endpoint = 8
  /// A sync failed while serving.
  case syncFailed = 9

  /// Whether starting again without a person's help could end differently.
  ///
  /// The unit's `RestartPreventExitStatus=` lists those that could not.
  package var isWorthRestarting: Bool {
    switch self {
    case .usage, .configuration, .journalDamaged, .journalNewer: false
    case .orderly, .journalLocked, .journalUnavailable, .endpoint, .syncFailed: true
    }
  }
}
