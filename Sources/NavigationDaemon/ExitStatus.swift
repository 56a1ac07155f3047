/// The exit statuses of navd; navd.service and scripts depend on them.
package enum ExitStatus: Int32, CaseIterable, Error, Sendable {
  /// An orderly stop.
  case orderly = 0
  /// The command line is wrong.
  case usage = 2
  /// The configuration has a fault.
  case configuration = 3
  /// Another process holds the journal.
  case journalLocked = 4
  /// The journal is damaged.
  case journalDamaged = 5
  /// The journal was written by a newer version.
  case journalNewer = 6
  /// The journal cannot be read or written: full disk, permissions.
  case journalUnavailable = 7
  /// navd cannot listen on an address.
  case endpoint = 8
  /// A sync failed while serving.
  case syncFailed = 9

  /// Whether a restart without a change by the administrator can succeed.
  ///
  /// `RestartPreventExitStatus=` of navd.service lists the statuses for which it cannot.
  package var isWorthRestarting: Bool {
    switch self {
    case .usage, .configuration, .journalDamaged, .journalNewer: false
    case .orderly, .journalLocked, .journalUnavailable, .endpoint, .syncFailed: true
    }
  }
}
