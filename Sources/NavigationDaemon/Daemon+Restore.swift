import Journal
import Navigation
package import RuntimePaths

extension Daemon {
  /// Puts a backup in the place of the journal, while no daemon has it.
  ///
  /// The file is copied and read whole first; until then nothing is changed. The next start gives
  /// every nav a new epoch, so that every client takes a snapshot.
  /// - Parameters:
  ///   - file: the backup.
  ///   - configuration: says where the state is.
  ///   - rules: say so where it does not.
  ///   - log: told how it went; progress goes to stderr.
  /// - Throws: `DaemonError`; the journal is as it was.
  package static func restore(
    _ file: String, _ configuration: Configuration, rules: PathRules, log: Log
  ) throws {
    let directory = try stateDirectory(configuration, rules)
    let boot = try boot(rules)
    let restoration = try JournalRestoration.begin(
      in: directory, holder: "navd restoring \(file)")
    var line = ProgressLine()
    let former: String?
    let (navs, sequence): (Int, UInt64)
    do {
      try restoration.copy(file) { line.show("copying", $0, of: $1) }
      (navs, sequence) = try check(restoration.draft, boot) { line.show("checking", $0, of: $1) }
      former = try restoration.finish()
    } catch {
      line.clear()
      restoration.discard()
      throw refusal(of: file, error, isReady: restoration.isReady)
    }
    line.clear()
    var text =
      "restored \(counted(navs, "nav")), up to row \(sequence), from \(file) into \(directory)"
    if let former { text += "; the former journal is \(former)" }
    log(LogEntry(.notice, text, kind: .backedUp))
  }

  /// Reads the copy whole, and has it renew the epochs.
  private static func check(
    _ draft: String, _ boot: String, progress: (Int, Int) -> Void
  ) throws -> (navs: Int, sequence: UInt64) {
    let journal = try Journal.open(
      directory: draft, durability: .sync, bootID: boot, retention: Retention(),
      holder: "navd checking a backup")
    let navs = try check(journal) { row, newest in
      progress(Int(clamping: row), Int(clamping: newest))
    }
    let sequence = journal.lastSequence
    try journal.renewEpochsAtNextStart()
    try journal.close()
    return (navs, sequence)
  }

  /// The error about the copy, told of what was to be restored.
  private static func refusal(
    of file: String, _ error: any Error, isReady: Bool
  ) -> DaemonError {
    let failure = DaemonFailure(error)
    let text =
      switch error {
      case JournalError.damaged(_, let what), DaemonError.journal(.damaged(_, let what)):
        "\(file) is damaged: \(what)"
      case DaemonError.replay(let what): "\(file) cannot be replayed: \(what)"
      case JournalError.newer(_, let found, let supported),
        DaemonError.journal(.newer(_, let found, let supported)):
        "\(file) has format \(found), this version reads up to \(supported); upgrade navd"
      default: failure.text
      }
    let outcome =
      isReady ? "the copy is whole, and the next start tries again" : "nothing was restored"
    return .notRestored("\(text); \(outcome)", failure.status)
  }
}
