import CLinux
import CommandLineOptions
import Journal
import NavigationCore
import NavigationHub
import RuntimePaths

extension Daemon {
  /// Replaces the journal by a backup, while no daemon uses it.
  ///
  /// It first copies the file and replays the whole copy; until then it changes nothing. The next
  /// start gives every nav a new epoch, so that every client takes a snapshot. SIGINT and SIGTERM end
  /// the process by that signal, after it has removed the partial copy.
  ///
  /// After an error, the journal is unchanged.
  static func restore(
    _ file: String, _ configuration: Configuration, rules: PathRules,
    progress form: ProgressDisplay.Form = .none, log: Log
  ) throws {
    // From here on, a signal waits until it is looked for.
    close(try stopSignalDescriptor())
    defer { navd_unblock_stop_signals() }
    let directory = try createStateDirectory(configuration, rules)
    let boot = try bootID(environment: rules.environment)
    let restoration = try JournalRestoration(
      in: directory, holder: "navd restoring \(file)")
    var line = ProgressLine(.restore, as: form)
    var size = 0
    /// Shows progress; if a signal waits, removes the copy and ends the process.
    func report(_ done: Int) {
      line.show(UInt64(done), of: UInt64(2 * size))
      guard navd_pending_stop() != 0 else { return }
      line.end()
      restoration.discard()
      log(.notice, "interrupted: nothing was restored, the partial copy is removed")
      log.flush()
      navd_unblock_stop_signals()
    }
    let former: String?
    let (navs, sequence): (Int, UInt64)
    do {
      try restoration.copy(file) { done, total in
        size = total
        report(done)
      }
      (navs, sequence) = try JournalReplay.checkDraft(
        restoration.draft, bootID: boot, renewingEpochs: true
      ) { done, total in
        report(size + Int(Double(size) * Double(done) / Double(max(total, 1))))
      }
      report(2 * size)
      former = try restoration.finish()
    } catch {
      line.end()
      restoration.discard()
      throw restoreError(error, of: file, isCopyComplete: restoration.nextStartCompletes)
    }
    line.end()
    var text =
      "restored \(counted(navs, "nav")), up to row \(sequence), from \(file) into \(directory)"
    if let former { text += "; the former journal is \(former)" }
    log(.notice, text, kind: .backedUp)
  }

  /// Converts an error about the copy into one about the backup file that was copied.
  private static func restoreError(
    _ error: any Error, of file: String, isCopyComplete: Bool
  ) -> DaemonError {
    let failure = DaemonError(error)
    let text =
      switch error {
      case JournalError.damaged(_, let what): "\(file) is damaged: \(what)"
      case JournalError.notReplayed(_, let row, let what):
        "\(file) cannot be replayed: row \(row): \(what)"
      case JournalError.newer(_, let found, let supported):
        "\(file) has format \(found), this version reads up to \(supported); upgrade navd"
      case JournalError.older(_, let found, let supported):
        "\(file) has format \(found), this version reads from \(supported) on; use the navd that wrote it"
      default: failure.description
      }
    let outcome =
      isCopyComplete
      ? "the copy is complete, and the next start tries again" : "nothing was restored"
    return DaemonError("\(text); \(outcome)", failure.exitStatus)
  }
}
