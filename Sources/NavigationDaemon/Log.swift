import CLinux
import RuntimePaths
import Synchronization
import Systemd

/// Writes messages to systemd's journal or to stderr.
///
/// Any thread can call it. If stderr is a stream of the journal, messages have structured fields;
/// otherwise they are lines on stderr.
final class Log: Sendable {
  /// The destination of messages.
  enum Destination: Sendable {
    /// The journal of systemd, with fields.
    case journal
    /// Lines on stderr, each with its time.
    case standardError
    /// Lines on stderr without times, for a command that ends by itself.
    ///
    /// They have priorities if stderr is a stream of the journal. Once a process has ended, the journal
    /// finds its unit by the stream only.
    case lines(withPriorities: Bool)
    case function(@Sendable (LogEntry) -> Void)
  }

  private let destination: Destination
  /// The priority of the least important level that the log writes.
  private let priority: Atomic<Int>
  private let rateLimit = Mutex(LogRateLimit())

  /// Makes a log for messages of `level` and more important ones.
  init(level: LogLevel, destination: Destination) {
    priority = Atomic(level.priority)
    self.destination = destination
  }

  func setLevel(_ level: LogLevel) {
    priority.store(level.priority, ordering: .relaxed)
  }

  /// The destination for this process: the journal if `JOURNAL_STREAM` identifies its stderr.
  ///
  /// `isService` means the daemon, and not a command such as `--check-config`.
  static func destination(
    environment: ProcessEnvironment, isService: Bool
  ) -> Destination {
    var status = stat()
    guard let stream = environment["JOURNAL_STREAM"], unsafe fstat(2, &status) == 0,
      isJournal(stream: stream, device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    else { return isService ? .standardError : .lines(withPriorities: false) }
    return isService ? .journal : .lines(withPriorities: true)
  }

  /// Whether the text "DEVICE:INODE" identifies this file.
  static func isJournal(stream: String, device: UInt64, inode: UInt64) -> Bool {
    let parts = stream.split(separator: ":", omittingEmptySubsequences: false)
    return parts.count == 2 && UInt64(parts[0]) == device && UInt64(parts[1]) == inode
  }

  /// Writes a message, unless its level is too low or the rate limit holds it back.
  func callAsFunction(
    _ entry: LogEntry, at now: UInt64 = SystemClock.monotonicMilliseconds()
  ) {
    guard entry.level.priority <= priority.load(ordering: .relaxed) else { return }
    for entry in rateLimit.withLock({ $0.admit(entry, at: now) }) { write(entry) }
  }

  func callAsFunction(_ level: LogLevel, _ message: String, kind: LogEntry.Kind? = nil) {
    self(LogEntry(level, message, kind: kind))
  }

  /// Writes how many equal messages the rate limit held back, for each window that has ended.
  ///
  /// The loop calls it with each report to the watchdog, and the daemon when it stops. Windows that
  /// are still open at the stop get no summary.
  func flush(at now: UInt64 = SystemClock.monotonicMilliseconds()) {
    for entry in rateLimit.withLock({ $0.expire(at: now) }) { write(entry) }
  }

  private func write(_ entry: LogEntry) {
    switch destination {
    case .function(let function): function(entry)
    case .standardError: writeText(Self.withTime(entry, at: SystemClock.wallMilliseconds()) + "\n")
    case .lines(let withPriorities):
      writeText((withPriorities ? "<\(entry.level.priority)>" : "") + entry.line + "\n")
    case .journal:
      // If the journal's socket fails, stderr still leads to the journal, which adds the time.
      if !sendToJournal(entry.journalFields) { writeText(entry.line + "\n") }
    }
  }

  /// The line of an entry after its time in UTC, in the form of RFC 3339.
  static func withTime(_ entry: LogEntry, at wall: UInt64) -> String {
    "\(Timestamp.rfc3339(ofMilliseconds: wall)) \(entry.line)"
  }
}
