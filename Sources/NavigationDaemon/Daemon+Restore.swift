import CLinux
import Journal
import NavigationCore
package import RuntimePaths

extension Daemon {
  /// Replaces the journal by a backup, while no daemon uses it.
  ///
  /// It first copies the file and replays the whole copy; until then it changes nothing. The next
  /// start gives every nav a new epoch, so that every client takes a snapshot.
  /// - Parameters:
  ///   - file: the backup.
  ///   - configuration: the configuration with the state directory.
  ///   - rules: the rules that compute the state directory if it is not configured.
  ///   - log: the log for the result; progress goes to stderr.
  /// - Throws: `DaemonError`; the journal is then unchanged.
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

  /// Replays the whole copy, and marks it so that the next start renews the epochs.
  private static func check(
    _ draft: String, _ boot: String, progress: (Int, Int) -> Void
  ) throws -> (navs: Int, sequence: UInt64) {
    let journal = try Journal.open(
      directory: draft, durability: .sync, bootID: boot, retention: Retention(),
      holder: "navd checking a backup")
    let navs = try JournalReplay.check(journal) { row, newest in
      progress(Int(clamping: row), Int(clamping: newest))
    }
    let sequence = journal.lastSequence
    try journal.renewEpochsAtNextStart()
    try journal.close()
    return (navs, sequence)
  }

  /// The error of the copy, as an error about the backup file.
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
      isReady ? "the copy is complete, and the next start tries again" : "nothing was restored"
    return .notRestored("\(text); \(outcome)", failure.status)
  }
}

/// Shows the progress of a command on stderr: on a terminal in one line with a percentage,
/// elsewhere with one line for each step.
struct ProgressLine {
  private let isTerminal = isatty(2) == 1
  private var step = ""
  private var shownAt: UInt64 = 0

  /// The minimum time between two updates of the line, in milliseconds.
  private static let interval: UInt64 = 100

  /// Shows the progress of a step.
  mutating func show(_ step: String, _ done: Int, of total: Int) {
    let isNew = step != self.step
    self.step = step
    guard isTerminal else {
      if isNew { write("navd: \(step)\n") }
      return
    }
    let now = SystemClock.monotonicMilliseconds()
    guard isNew || now >= shownAt + Self.interval else { return }
    shownAt = now
    let percent = total > 0 ? min(100, Int(Double(done) / Double(total) * 100)) : 0
    write("\rnavd: \(step) \(percent) %\u{1B}[K")
  }

  /// Erases the progress line on a terminal; the next `show` begins a new step.
  mutating func clear() {
    if isTerminal, !step.isEmpty { write("\r\u{1B}[K") }
    step = ""
  }

  private func write(_ text: String) {
    let bytes = Array(text.utf8)
    // Errors are ignored: progress on a closed stderr has no reader.
    _ = unsafe bytes.withUnsafeBytes { unsafe CLinux.write(2, $0.baseAddress, $0.count) }
  }
}
